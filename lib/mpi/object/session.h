/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SESSION_H
#define TERN_SESSION_H

/*
 * Sessions (MPI-4.1 section 11.3). A session keeps the library running (lib/mpi/life/library.h) and
 * gives out groups. A group and every object made of it point to the session that they come from
 * (tern_group.session, tern_comm.session). The pointer is NULL for objects of the World Model.
 */

#include "lib/util/base/handle.h"

#include <mpi.h>

struct tern_send_buffer;
struct tern_errhandler;
struct tern_group;
struct tern_info;

/* A session. */
struct tern_session {
    struct tern_object obj;
    struct tern_errhandler *errhandler; /* the error handler; a reference */
    struct tern_info *info;             /* the hints in use */
    struct tern_send_buffer *buffer;    /* for buffered sends; NULL if none is attached */
};

/* Returns the session of a valid handle. */
static inline struct tern_session *tern_session_of(MPI_Session session)
{
    return ((struct tern_handle *)session)->state;
}

/* Take or drop a reference. The user's handle and every group and communicator of the session hold
 * one. Do nothing if `session` is NULL. */
void tern_session_retain(struct tern_session *session);
void tern_session_release(struct tern_session *session);

/* Checks that two objects may meet in one call (MPI-4.1 section 11.3). Returns TERN_ERR_SESSION if
 * they belong to different sessions, or if one belongs to a session and the other to the World
 * Model. Else returns 0. The names are those of the arguments. */
int tern_session_check_same(const char *name_a, const struct tern_session *a, const char *name_b,
                            const struct tern_session *b);

/* ---- process sets (session_psets.c) ---- */

/* Finds the processes of a set. The caller owns a reference to the group, which belongs to no
 * session yet. Returns 0, TERN_ERR_ARG if there is no such set, or TERN_ERR_NO_MEM. */
int tern_pset_group(const char *name, struct tern_group **ret_group);

#endif
