/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COMM_H
#define TERN_COMM_H

/*
 * Communicators (MPI-4.1 chapter 7).
 *
 * A communicator is two contexts over a group: one for point to point, one for collectives, with
 * neighbouring ids. An intercommunicator's contexts reach the remote group; a hidden
 * intracommunicator `local` serves its own group. Ids are unique in the job (lib/pml/context.h):
 * one process makes one and tells it to the others, in a step that the creation has anyway or many
 * ids ahead (lib/mpi/comm_ids.h). Communicators made by the same call with disjoint groups share an
 * id: no process is in two.
 */

#include "lib/coll/run/coll.h"
#include "lib/mpi/group.h"
#include "lib/pml/context.h"
#include "lib/util/handle.h"

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

/* What the program promises (comm_hints.c). */
enum tern_comm_hint {
    TERN_COMM_NO_ANY_TAG = 1,
    TERN_COMM_NO_ANY_SOURCE = 2,
    TERN_COMM_EXACT_LENGTH = 4,
    TERN_COMM_ALLOW_OVERTAKING = 8,
    TERN_COMM_STRICT_STARTS = 16,
};

/* The supply of ids for communicators made from this one (comm_ids.h). Zero: empty. */
struct tern_comm_ids {
    struct tern_id_block *block; /* a reference; NULL: none yet */
    uint32_t next, end;          /* its ids that are left */
    uint32_t each;               /* ids for each communicator that is made */
    uint32_t agreed;             /* communicators the last agreement was for; 0: there was none */
};

struct tern_comm {
    struct tern_object obj;
    struct tern_context p2p;
    struct tern_coll coll;           /* collectives, with a context of their own */
    struct tern_group *group;        /* local group */
    struct tern_group *remote_group; /* NULL: intracommunicator */
    struct tern_comm *local;         /* intercommunicator only: of the local group, hidden */
    struct tern_errhandler *errhandler;
    struct tern_attrs *attrs; /* NULL: none */
    struct tern_topo *topo;   /* NULL: none */
    struct tern_comm_ids ids; /* for the communicators made from this one */
    unsigned hints;           /* enum tern_comm_hint */
    struct tern_session *session; /* it comes from; a reference. NULL: the World Model */
    struct tern_partitioned *partitioned; /* NULL: not used yet */
    struct tern_send_buffer *buffer; /* for buffered sends; NULL: none attached */
    /* check_level full (check.h): collectives begun, persistent ones started and prepared */
    uint32_t check_number, check_starts, check_prepared;
    char name[MPI_MAX_OBJECT_NAME];
};

extern struct tern_comm tern_comm_world, tern_comm_self;

static inline struct tern_comm *tern_comm_of(MPI_Comm comm)
{
    return ((struct tern_handle *)comm)->state;
}

static inline bool tern_comm_inter(const struct tern_comm *comm)
{
    return comm->remote_group;
}

/* Closes the contexts and frees (comm_life.c). Only for tern_comm_release. */
void tern_comm_destroy(struct tern_comm *comm);

/* A reference: held by the user's handle and by every active request. The last one frees. Never
 * from inside progress nor with a lane in hand: closing a context changes what progress walks over,
 * and takes the library's lock. */
static inline void tern_comm_retain(struct tern_comm *comm)
{
    tern_ref(&comm->obj.refs);
}

static inline void tern_comm_release(struct tern_comm *comm)
{
    if (tern_unref(&comm->obj.refs) == 0)
        tern_comm_destroy(comm);
}

/* Makes MPI_COMM_WORLD and MPI_COMM_SELF (after tern_pml_init). 0 or TERN_ERR_NO_MEM. */
int tern_comm_init(void);
/* At the very start of MPI_Finalize: runs the deletions of MPI_COMM_SELF's attributes, then
 * MPI_COMM_WORLD's. 0 or what a callback returned. */
int tern_comm_finalize_attributes(void);
/* Closes both. */
void tern_comm_finalize(void);

/* --- for the files that make communicators: comm_*.c, topo_*.c --- */

/* A communicator over `group` and, if it is an intercommunicator, `remote_group` (retained), with
 * `parent`'s error handler and session. Its contexts are not open. *ret_comm has one reference of
 * the caller's. 0 or TERN_ERR_NO_MEM. */
int tern_comm_new(struct tern_comm *parent, struct tern_group *group,
                  struct tern_group *remote_group, struct tern_comm **ret_comm);
/* Opens the contexts of one that tern_comm_new made. Every member does so with the same id. Nothing
 * is sent. 0 or TERN_ERR_NO_MEM, also for id 0: none was left. */
int tern_comm_connect(struct tern_comm *comm, uint64_t id);

/* Opens both contexts of a communicator whose groups are set, with any id. Only for
 * tern_comm_connect and comm_life.c. Returns 0 or TERN_ERR_NO_MEM. */
int tern_comm_open_contexts(struct tern_comm *comm, uint64_t id);

/* Both in one, for an intracommunicator. */
int tern_comm_open(struct tern_comm *parent, struct tern_group *group, uint64_t id,
                   struct tern_comm **ret_comm);

/* For an intercommunicator. */
int tern_comm_open_inter(struct tern_comm *parent, struct tern_group *group,
                         struct tern_group *remote_group, uint64_t id,
                         struct tern_comm **ret_comm);

/* Sets the hints that `info` (may be NULL) names. */
void tern_comm_take_hints(struct tern_comm *comm, const struct tern_info *info);

/* Collective over an intracommunicator: a communicator over `group`, which is NULL (then *ret_comm
 * is NULL) for processes that get none; those in one group name the same. Groups are disjoint. */
int tern_comm_make(struct tern_comm *comm, struct tern_group *group, struct tern_comm **ret_comm);

/* Collective over `group` only, each member calls: a communicator over it with `parent`'s
 * properties. Messages go over the intracommunicator `comm`, apart from those of other calls by the
 * user's `tag`; all members give the same `purpose`. TERN_ERR_GROUP: not the same group everywhere.
 */
int tern_comm_create_among(struct tern_comm *comm, struct tern_comm *parent,
                           struct tern_group *group, int tag, uint64_t purpose,
                           struct tern_comm **ret_comm);

/* MPI_Intercomm_create; `tag_text` is what people are told of the tag (tern_check_leaders).
 * `fault`: 0, or what the leader has found to be wrong with its arguments; then its group shall
 * hear of it, no more. */
int tern_comm_join(struct tern_comm *local_comm, int local_leader, struct tern_comm *peer_comm,
                   int remote_leader, int tag, const char *tag_text, int fault,
                   struct tern_comm **ret_newintercomm);

/* In its place on a leader that cannot, as its group has no communicator: the other leader does not
 * wait. */
void tern_comm_refuse_join(struct tern_comm *peer_comm, int remote_leader, int tag);

/* MPI_Comm_create on an intercommunicator; `group` is part of the local group. */
int tern_comm_create_inter(struct tern_comm *comm, struct tern_group *group,
                           struct tern_comm **ret_comm);

/* MPI_Comm_split with colours of more bits, 0 and above or MPI_UNDEFINED. */
int tern_comm_split(struct tern_comm *comm, int64_t color, int key, struct tern_comm **ret_comm);

/* Tags on the context of collectives, apart from those of collectives: for exchanges within a
 * creation, and for the tag that a user gave to one. */
enum { TERN_TAG_EXCHANGE = -2 };
int tern_comm_user_tag(int tag);

/* Sends `send_bytes` to rank `to` over the collective context and receives exactly `recv_bytes`
 * from `from`, at the same time. Blocks. */
int tern_comm_sendrecv(struct tern_comm *comm, int tag, const void *send, int64_t send_bytes,
                       int to, void *recv, int64_t recv_bytes, int from);

/* The same for a rank that has nothing to send, as it has failed before: `other` learns that. */
void tern_comm_refuse(struct tern_comm *comm, int tag, int other, void *recv, int64_t recv_bytes);

/* Collective over both groups of an intercommunicator: rank 0 of each group gives `send_bytes`
 * bytes, every process gets the `recv_bytes` bytes of the other group's rank 0. Blocks. */
int tern_comm_exchange(struct tern_comm *inter, const void *send, int64_t send_bytes, void *recv,
                       int64_t recv_bytes);

/* Broadcast and allgather (`length` of each process) of bytes over an intracommunicator. Block. */
int tern_comm_bcast_bytes(struct tern_comm *comm, void *bytes, int64_t length, int root);
/* The same on a rank that has failed before, and so neither has the bytes nor wants them: those who
 * depend on it learn that, and do not wait for it. Returns `failed`, or TERN_ERR_NO_MEM. */
int tern_comm_bcast_failure(struct tern_comm *comm, int64_t length, int root, int failed);
int tern_comm_allgather_bytes(struct tern_comm *comm, const void *send, void *recv, int64_t length);

#endif
