/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMM_H
#define TERN_COMM_H

/*
 * Communicators (MPI-4.1 chapter 7).
 *
 * A communicator is two contexts over a group: one for point to point and one for collectives, with
 * neighbouring ids. The contexts of an intercommunicator reach the remote group; a hidden
 * intracommunicator `local` serves its own group. Ids are unique in the job (lib/pml/context.h).
 * One process makes an id and sends it to the others: in a step that the creation needs anyway, or
 * many ids ahead (lib/mpi/comm/comm_ids.h). Communicators made by one call with disjoint groups
 * share an id: no process is in two of them.
 */

#include "lib/coll/run/coll.h"
#include "lib/mpi/object/group.h"
#include "lib/pml/context.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_attrs;
struct tern_send_buffer;
struct tern_errhandler;
struct tern_id_block;
struct tern_info;
struct tern_session;
struct tern_partitioned;
struct tern_topo;

/* What the program promises by hints (comm_hints.c). */
enum tern_comm_hint {
    TERN_COMM_NO_ANY_TAG = 1,       /* mpi_assert_no_any_tag */
    TERN_COMM_NO_ANY_SOURCE = 2,    /* mpi_assert_no_any_source */
    TERN_COMM_EXACT_LENGTH = 4,     /* mpi_assert_exact_length */
    TERN_COMM_ALLOW_OVERTAKING = 8, /* mpi_assert_allow_overtaking */
    TERN_COMM_STRICT_STARTS = 16,   /* mpi_assert_strict_start_ordering */
};

/* The supply of ids for communicators made from this one (comm_ids.h). All zero if empty. */
struct tern_comm_ids {
    struct tern_id_block *block; /* a reference; NULL if there is no block yet */
    uint32_t next, end;          /* the ids of the block that are left: next to end - 1 */
    uint32_t each;               /* ids for each communicator that is made */
    /* number of communicators that the last agreement was for; 0 if there was none */
    uint32_t agreed;
};

struct tern_comm {
    struct tern_object obj;          /* first member: handle and reference count */
    struct tern_context p2p;         /* context for point to point */
    struct tern_coll coll;           /* for collectives, with a context of its own */
    struct tern_group *group;        /* local group */
    struct tern_group *remote_group; /* NULL for an intracommunicator */
    /* hidden intracommunicator over the local group; NULL unless this is an intercommunicator */
    struct tern_comm *local;
    struct tern_errhandler *errhandler; /* the error handler; a reference */
    struct tern_attrs *attrs;           /* NULL if it has no attributes */
    struct tern_topo *topo;             /* NULL if it has no topology */
    struct tern_comm_ids ids;           /* for the communicators made from this one */
    unsigned hints;                     /* a set of enum tern_comm_hint */
    /* The session that the communicator comes from; a reference. NULL for the World Model. */
    struct tern_session *session;
    struct tern_partitioned *partitioned; /* NULL until first used */
    struct tern_send_buffer *buffer;      /* for buffered sends; NULL if none is attached */
    /* Counters for check_level full (check.h): collectives begun, persistent collectives started,
     * and persistent collectives prepared. */
    uint32_t check_number, check_starts, check_prepared;
    char name[MPI_MAX_OBJECT_NAME]; /* MPI_Comm_set_name; empty if it has none */
};

extern struct tern_comm tern_comm_world, tern_comm_self;

/* Returns the communicator of a valid handle. */
static inline struct tern_comm *tern_comm_of(MPI_Comm comm)
{
    return ((struct tern_handle *)comm)->state;
}

/* Returns true for an intercommunicator. */
static inline bool tern_comm_inter(const struct tern_comm *comm)
{
    return comm->remote_group;
}

/* Closes the contexts and frees the communicator (comm_life.c). Only for tern_comm_release. */
void tern_comm_destroy(struct tern_comm *comm);

/* Takes or drops a reference. The user's handle and every active request hold one. Dropping the
 * last one frees the communicator. Never drop one from inside progress or while holding a lane:
 * closing a context changes the list that progress walks, and takes the library's lock. */
static inline void tern_comm_retain(struct tern_comm *comm)
{
    tern_ref(&comm->obj.refs);
}

static inline void tern_comm_release(struct tern_comm *comm)
{
    if (tern_unref(&comm->obj.refs) == 0)
        tern_comm_destroy(comm);
}

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF. Call it after tern_pml_init. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_comm_init(void);
/* Deletes the attributes of MPI_COMM_SELF, then those of MPI_COMM_WORLD. MPI_Finalize calls it
 * first. Returns 0, or the error code of a callback. */
int tern_comm_finalize_attributes(void);
/* Closes MPI_COMM_WORLD and MPI_COMM_SELF. */
void tern_comm_finalize(void);

/* --- for the files that make communicators: comm_*.c, topo_*.c --- */

/* Makes a communicator over `group` and, for an intercommunicator, `remote_group`. Takes references
 * to the groups. The error handler and the session are those of `parent`. The contexts are not open
 * yet. The caller owns the one reference of `*ret_comm`. Returns 0 or TERN_ERR_NO_MEM. */
int tern_comm_new(struct tern_comm *parent, struct tern_group *group,
                  struct tern_group *remote_group, struct tern_comm **ret_comm);
/* Opens the contexts of a communicator that tern_comm_new made. Every member calls it with the
 * same id. Sends nothing. Returns 0, or TERN_ERR_NO_MEM: also for id 0, which means that no id
 * was left. */
int tern_comm_connect(struct tern_comm *comm, uint64_t id);

/* Opens both contexts of a communicator whose groups are set, with any id. Only for
 * tern_comm_connect and comm_life.c. Returns 0 or TERN_ERR_NO_MEM. */
int tern_comm_open_contexts(struct tern_comm *comm, uint64_t id);

/* Makes and connects an intracommunicator: tern_comm_new and tern_comm_connect in one. */
int tern_comm_open(struct tern_comm *parent, struct tern_group *group, uint64_t id,
                   struct tern_comm **ret_comm);

/* Makes and connects an intercommunicator. */
int tern_comm_open_inter(struct tern_comm *parent, struct tern_group *group,
                         struct tern_group *remote_group, uint64_t id,
                         struct tern_comm **ret_comm);

/* Sets the hints that `info` names. `info` may be NULL. */
void tern_comm_take_hints(struct tern_comm *comm, const struct tern_info *info);

/* Makes a communicator over `group`. Collective over the intracommunicator `comm`. The members of a
 * new group name that group; the groups are disjoint. A process that gets no communicator passes
 * NULL and gets NULL. */
int tern_comm_make(struct tern_comm *comm, struct tern_group *group, struct tern_comm **ret_comm);

/* Makes a communicator over `group` with the properties of `parent`. Collective over `group` only.
 * Its messages go over the intracommunicator `comm`. The user's `tag` tells them from the messages
 * of other such calls; all members pass the same `purpose`. Returns TERN_ERR_GROUP if the members
 * name different groups. */
int tern_comm_create_among(struct tern_comm *comm, struct tern_comm *parent,
                           struct tern_group *group, int tag, uint64_t purpose,
                           struct tern_comm **ret_comm);

/* Does MPI_Intercomm_create. `tag_text` is how messages to people name the tag
 * (tern_check_leaders). `fault` is 0, or the error that this leader has found in its arguments:
 * then the call only tells the leader's group about the failure. */
int tern_comm_join(struct tern_comm *local_comm, int local_leader, struct tern_comm *peer_comm,
                   int remote_leader, int tag, const char *tag_text, int fault,
                   struct tern_comm **ret_newintercomm);

/* Stands in for tern_comm_join on a leader that cannot join because its group has no communicator.
 * Tells the other leader, which then does not wait. */
void tern_comm_refuse_join(struct tern_comm *peer_comm, int remote_leader, int tag);

/* Does MPI_Comm_create on an intercommunicator. `group` is part of the local group. */
int tern_comm_create_inter(struct tern_comm *comm, struct tern_group *group,
                           struct tern_comm **ret_comm);

/* Does MPI_Comm_split with 64-bit colours: 0 or more, or MPI_UNDEFINED. */
int tern_comm_split(struct tern_comm *comm, int64_t color, int key, struct tern_comm **ret_comm);

/* Tags on the collective context that collectives do not use: TERN_TAG_EXCHANGE for exchanges
 * within a creation, and tern_comm_user_tag(tag) for the tag that a user gave to a creation. */
enum { TERN_TAG_EXCHANGE = -2 };
int tern_comm_user_tag(int tag);

/* Sends `send_bytes` bytes to rank `to` over the collective context, and at the same time receives
 * exactly `recv_bytes` bytes from rank `from`. Blocks. */
int tern_comm_sendrecv(struct tern_comm *comm, int tag, const void *send, int64_t send_bytes,
                       int to, void *recv, int64_t recv_bytes, int from);

/* Stands in for tern_comm_sendrecv on a rank that has failed before and has nothing to send. Tells
 * `other` about the failure. Blocks. */
void tern_comm_refuse(struct tern_comm *comm, int tag, int other, void *recv, int64_t recv_bytes);

/* Exchanges bytes between the groups of an intercommunicator. Rank 0 of each group gives
 * `send_bytes` bytes. Every process gets the `recv_bytes` bytes of the other group's rank 0.
 * Collective over both groups. Blocks. */
int tern_comm_exchange(struct tern_comm *inter, const void *send, int64_t send_bytes, void *recv,
                       int64_t recv_bytes);

/* Broadcasts `length` bytes of rank `root` over an intracommunicator. Blocks. Returns 0 or
 * TERN_ERR_*. */
int tern_comm_bcast_bytes(struct tern_comm *comm, void *bytes, int64_t length, int root);
/* Stands in for tern_comm_bcast_bytes on a rank that has failed before: it neither has the bytes
 * nor wants them. Tells the ranks that depend on it about the failure, so that they do not wait.
 * Returns `failed`, or TERN_ERR_NO_MEM. */
int tern_comm_bcast_failure(struct tern_comm *comm, int64_t length, int root, int failed);
/* Gathers `length` bytes of each process to all, over an intracommunicator. Blocks. Returns 0 or
 * TERN_ERR_*. */
int tern_comm_allgather_bytes(struct tern_comm *comm, const void *send, void *recv, int64_t length);

#endif
