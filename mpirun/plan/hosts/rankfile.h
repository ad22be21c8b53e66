/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_RANKFILE_H
#define TERN_MPIRUN_PLAN_RANKFILE_H

/* Rankfiles: a line "rank N=HOST slot=SLOTS" says where one rank runs. HOST may be +nX, the host at
 * index X (from 0) of those that the job may use. slots.h describes SLOTS. Without "slot=" the rank
 * is bound as --bind-to says. */

#include "mpirun/plan/hosts/host_list.h"
#include "mpirun/plan/map/map.h"

/* What the file says about one rank. */
struct tern_rank_line {
    char *host;  /* NULL if no line names this rank */
    char *slots; /* NULL if not given */
    int line;    /* line number in the file */
};

/* A rankfile. */
struct tern_rankfile {
    const char *path; /* owned by the caller */
    struct tern_rank_line *ranks; /* by rank; owned */
    int count; /* 1 + the highest rank named */
};

/* Read a rankfile. With `physical`, all its slots are the operating system's numbers, as if written
 * after p. tern_rankfile_parse takes the file's contents; `path` is for messages. Both return 0, or
 * TERN_ERR_ARG with file and line if the file is unreadable, breaks the syntax, or places a rank
 * twice or not at all. The caller frees the result with tern_rankfile_free. */
int tern_rankfile_read(const char *path, bool physical, struct tern_rankfile *ret_file);
int tern_rankfile_parse(const char *path, const char *text, bool physical,
                        struct tern_rankfile *ret_file);
/* Frees the ranks' lines. */
void tern_rankfile_free(struct tern_rankfile *file);

/* Adds the hosts that the file names, with one slot per line. Skips hosts written +nX: if all are,
 * the list stays empty and the job runs on this machine. */
void tern_rankfile_hosts(const struct tern_rankfile *file, struct tern_host_list *list);

/* Finds each rank's host among `list`; `where` names the list in messages. *ret_fixed has
 * file->count places, refers to the file, and is freed by the caller. Returns 0, or TERN_ERR_ARG if
 * the list lacks a host. */
int tern_rankfile_place(const struct tern_rankfile *file, const struct tern_host_list *list,
                        const char *where, struct tern_fixed_place **ret_fixed);

#endif
