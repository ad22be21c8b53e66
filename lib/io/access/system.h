/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SYSTEM_H
#define TERN_SYSTEM_H

/* What lies below a file: the file system, and the errors of the operating system. */

#include <stdbool.h>
#include <stdint.h>

/* Kinds of file systems that are used differently. */
enum tern_file_system {
    TERN_FILE_SYSTEM_LOCAL,   /* one host has it, or all hosts see the same pages */
    TERN_FILE_SYSTEM_NFS,     /* each host caches pages of its own */
    TERN_FILE_SYSTEM_LUSTRE,  /* stripes on many servers */
    TERN_FILE_SYSTEM_GENERIC, /* any other one that several hosts may share */
};

/* What is known of the file system below a file. */
struct tern_system {
    enum tern_file_system kind;
    const char *name; /* for people and hints: "ext4", "nfs" ... */
    bool caches;      /* each host has pages of its own, which may be older than the file; O_DIRECT
                       * goes around them and takes accesses of any bytes */
    int64_t block;    /* bytes of the unit in which hosts should divide a file */
    int64_t stripes;  /* number of servers or disks a file lies on; 0: not known */
};

/* Finds out what lies below an open file. */
void tern_system_look(int fd, struct tern_system *ret_system);

/* Makes the file `path` with a layout: on `stripes` servers (0: as many as usual), in pieces of
 * `unit` bytes (0: as usual). Returns true if the file was made. Returns false, and makes nothing,
 * if the file system has no layouts, or if there is such a file. */
bool tern_system_lay_out(const char *path, int64_t stripes, int64_t unit);

/* Makes accesses to an open file go around this host's pages (O_DIRECT), for a file system that
 * `caches`. Returns true if they do, false if the file system refuses. */
bool tern_system_go_direct(int fd);

/* Sends what this host's pages have of the file to the file system, and waits. Returns 0, or
 * TERN_ERR_* with text. */
int tern_system_flush(int fd, const char *path);

/* Makes this host forget its pages of the file and what it knows of the file's size, for a file
 * system that `caches`. What other hosts have flushed is seen afterwards. Flush first: pages that
 * were not flushed stay. */
void tern_system_revalidate(int fd);

/* Returns the path behind a file name: without the prefix that names a file system, as in
 * "nfs:/data/x". Only known prefixes count, in small or capital letters. */
const char *tern_system_path(const char *name);

/* Records that `action` ("open", "write" ...) on `path` failed with `error`, an errno. The text
 * names the path, the host and the errno. Returns the TERN_ERR_* that MPI has for this errno. */
int tern_system_error(const char *action, const char *path, int error);

#endif
