/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_WIN_H
#define TERN_WIN_H

/*
 * Windows (MPI-4.1 chapter 12): the MPI object around lib/rma. A window has a communicator of its
 * own, which nobody else sees, for its messages and for the meetings of its ranks. So a user's
 * messages and windows never disturb each other, and a window may outlive its communicator.
 */

#include "lib/mpi/object/comm.h"
#include "lib/rma/window.h"
#include "lib/util/base/handle.h"

#include <mpi.h>

struct tern_attrs;
struct tern_errhandler;
struct tern_info;

/* Where the window's memory comes from. */
enum tern_win_memory {
    TERN_WIN_MEMORY_USER,   /* the user's; or none */
    TERN_WIN_MEMORY_NODE,   /* a block of the node's memory (lib/node/shared_block.h) */
    TERN_WIN_MEMORY_SHARED, /* part of a piece of the node's memory that rank 0 has taken */
    TERN_WIN_MEMORY_OWN,    /* malloc'ed: no other rank is here, or no node's memory left */
};

struct tern_win {
    struct tern_object obj;    /* first member */
    struct tern_window window; /* epochs and operations */
    struct tern_comm *comm;    /* a reference; hidden */
    struct tern_errhandler *errhandler; /* a reference */
    struct tern_attrs *attrs;           /* NULL if it has no attributes */
    struct tern_info *hints;            /* those that the user gave; owned */
    int flavor, model, disp_unit;       /* MPI_WIN_FLAVOR_..., for attributes */
    MPI_Aint size;
    int64_t unit; /* the displacement unit; disp_unit is INT_MAX if it does not fit an int */
    void *base; /* programs see NULL if tern_win_hides_base */
    enum tern_win_memory memory;
    uint64_t offset; /* SHARED: of the whole piece */
    size_t taken;    /* its bytes */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Windows of MPI_Win_allocate whose memory is this rank's own although other ranks are near. */
extern uint64_t tern_win_private_count;

/* Returns the window of a valid handle. */
static inline struct tern_win *tern_win_of(MPI_Win win)
{
    return ((struct tern_handle *)win)->state;
}

/* Returns true if programs see NULL as the base of a part of `size` bytes: it is empty, and the
 * parts do not follow each other, so that its place means nothing. */
bool tern_win_hides_base(const struct tern_win *win, MPI_Aint size);

/* Stores those hints of `info` that windows know. `info` may be NULL. Returns 0 or TERN_ERR_*. */
int tern_win_take_hints(struct tern_win *win, const struct tern_info *info);
/* Returns true if a hint is set to true. */
bool tern_win_hint(const struct tern_win *win, const char *key);

#endif
