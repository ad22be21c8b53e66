/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FILE_H
#define TERN_FILE_H

/*
 * An open file (MPI-4.1 chapter 14). It has a communicator of its own, a duplicate of the one that
 * opened it, for the library's messages between the ranks of the file.
 */

#include "lib/coll/price/topology.h"
#include "lib/io/access/hints.h"
#include "lib/io/access/system.h"
#include "lib/io/access/view.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/errhandler.h"

#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_info;
struct tern_operation;
struct tern_shared;

/* An open file. */
struct tern_file {
    struct tern_file_head head; /* first member: handle, references, error handler */
    struct tern_comm *comm;     /* the ranks that opened the file */
    int fd;
    int amode;
    char *path;
    int folder; /* what a relative path begins at when the file is deleted; AT_FDCWD: not kept */
    struct tern_system system;
    struct tern_hints hints;
    struct tern_view view;
    bool scattered; /* some rank's view is not one run */
    bool atomic;
    bool incoherent; /* ranks are on several hosts, and each host has pages of its own */
    /* guards `position` and `split`: several threads may use a file */
    pthread_mutex_t mutex;
    int64_t position;             /* the rank's own pointer, in etypes */
    struct tern_operation *split; /* the split collective that has begun and not ended, or NULL */
    uint32_t serial;              /* number of the next operation that all ranks take part in */
    struct tern_shared *shared;   /* the common pointer and the lock of atomic mode */
};

/* Makes a file that is not open yet, with one reference. Returns NULL if there is no memory. */
struct tern_file *tern_file_new(const char *filename, int amode);
/* Take or drop a reference. The user's handle and each operation hold one. */
static inline void tern_file_retain(struct tern_file *file)
{
    tern_ref(&file->head.obj.refs);
}
void tern_file_release(struct tern_file *file);

/* Returns the rank of this process in the file's group, and the size of that group. */
static inline int tern_file_rank(const struct tern_file *file)
{
    return file->comm->p2p.rank;
}
static inline int tern_file_size(const struct tern_file *file)
{
    return file->comm->p2p.size;
}

/* Returns the number of nodes that the ranks of the file are on. */
static inline int tern_file_nodes(const struct tern_file *file)
{
    return file->comm->coll.topology ? file->comm->coll.topology->nodes : 1;
}

/* Returns the size of the file in bytes, or TERN_ERR_*, which is negative, with text. */
int64_t tern_file_bytes(const struct tern_file *file);

/* Gives the file the hints of rank 0's info. All ranks call it. Returns 0 or an error. Blocks. */
int tern_file_take_hints(struct tern_file *file, const struct tern_info *info);

/*
 * Lets the ranks of a file agree on the outcome of a call that all of them make. `error`: what this
 * rank has found, TERN_ERR_* with a recorded text, or 0. `values`: numbers that must be equal on
 * all ranks, `name` what people call them. Returns 0 on all ranks or an error on all ranks: that of
 * the lowest rank that has failed, or TERN_ERR_NOT_SAME. Blocks until all ranks have called.
 */
int tern_file_agree(struct tern_file *file, int error, const int64_t values[2], const char *name);
/* The same. Also sets *any on all ranks if it is set on one of them. */
int tern_file_agree_and_ask(struct tern_file *file, int error, const int64_t values[2],
                            const char *name, bool *any);

#endif
