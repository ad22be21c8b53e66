/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_H
#define TERN_CHECK_H

/*
 * What check_level full compares beyond the arguments of one call (docs/checking.md): the memory of
 * calls and requests, and what the ranks of a collective do. Stands above communicators, datatypes
 * and requests; gate.h says whether it is wanted.
 */

#include "lib/util/ints.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_comm;
struct tern_datatype;
struct tern_group;
struct tern_op;
struct tern_permit;
struct tern_request;

/* Reports messages that were sent on the communicator and never received. Call it when the
 * communicator is freed. Does a round of progress. */
void tern_check_say_unreceived(struct tern_comm *comm);

/* ---- buffers (check_buffers.c) ---- */

/* A buffer and what describes it; type and types are NULL where it is not significant. */
struct tern_check_part {
    const char *name, *count_name;
    const void *buffer;
    int blocks;              /* one after the other, or as displs say */
    MPI_Count count;         /* of one block, if there are no counts */
    struct tern_ints counts; /* of each block; values NULL: `count` */
    struct tern_ints displs; /* in elements, or in bytes where there are types; values NULL: none */
    const struct tern_datatype *type;
    const MPI_Datatype *types; /* of each block; NULL: `type` */
    bool output;             /* is written */
};

/* NULL: none, or no datatype, for arrays whose lengths only a topology knows are looked at later.
 * */
const struct tern_datatype *tern_check_type_of(const struct tern_check_part *part, int block);

enum { TERN_CHECK_PARTS = 2 };

/*
 * Looks for memory that is written twice: by overlapping blocks of one buffer, by both buffers, or
 * also by a request that is not complete yet. Returns 0 or TERN_ERR_BUFFER, whose text ends with
 * `cure` if both buffers begin at one address. Parts without a name are passed over.
 */
int tern_check_buffers(const struct tern_check_part parts[TERN_CHECK_PARTS], const char *cure);

/* The request of the call uses its buffers; a persistent one as soon as it is started. */
void tern_check_request_made(struct tern_request *request,
                             const struct tern_check_part parts[TERN_CHECK_PARTS]);
/* Before a start: 0, or TERN_ERR_BUFFER as above. */
int tern_check_request_started(struct tern_request *request);
/* It was completed, or freed: its buffers are the user's again. TERN_ERR_BUFFER if the user has
 * changed what was to be sent meanwhile. */
int tern_check_request_done(struct tern_request *request, bool freed);

/* Requests named in one call: TERN_ERR_SESSION if they are of different sessions. They are requests
 * or null. */
int tern_check_requests(int64_t count, const MPI_Request requests[]);

/* What a program asserts by the hint mpi_assert_exact_length: a message is as long as its receive
 * buffer. TERN_ERR_COUNT if not. Requests are looked at when they are done, blocking receives by
 * the first. */
int tern_check_received(const struct tern_comm *comm, const struct tern_check_part *part,
                        const MPI_Status *status);
int tern_check_length(int64_t expected, const MPI_Status *status);

/* Blocks of a part that has one for each rank, or one for each neighbour. */
int tern_check_ranks(const struct tern_comm *comm);
int tern_check_neighbors(const struct tern_comm *comm, bool output);

/* ---- what ranks must agree on (check_collective.c, check_exchange.c, check_message.c) ---- */

/* An argument that must be the same on all ranks: `n` values of `size` bytes each. */
struct tern_check_same {
    const char *name; /* NULL: ends the list */
    const void *values;
    int n;
    int size;
};

/* Whose data must agree with whose. */
enum tern_check_pattern {
    TERN_CHECK_NO_DATA,
    TERN_CHECK_ONE_BLOCK, /* all blocks alike: bcast, gather, scatter, allgather, alltoall */
    TERN_CHECK_OPERANDS,  /* reductions */
    TERN_CHECK_BLOCKS,    /* one for each rank: gatherv, scatterv, allgatherv */
    TERN_CHECK_PAIRS,     /* one for each pair of ranks: alltoallv, alltoallw */
    /* reductions whose counts are the same in the whole group: reduce_scatter */
    TERN_CHECK_COUNTS,
    TERN_CHECK_NEIGHBORS, /* one for each edge of a topology */
};

enum tern_check_way {
    TERN_CHECK_BLOCKING,
    TERN_CHECK_NONBLOCKING, /* tern_check_take_permit gives what its request waits for */
    /* prepared, which blocks; tern_check_take_permit gives what each start waits for */
    TERN_CHECK_PERSISTENT,
    TERN_CHECK_DETACHED,    /* nobody waits for the answer: a difference is said, no more */
};

enum { TERN_CHECK_SAMES = 6 };

struct tern_check_call {
    enum tern_check_way way;
    enum tern_check_pattern pattern;
    bool rooted;
    int root;
    const struct tern_op *op; /* NULL: none */
    struct tern_check_part parts[TERN_CHECK_PARTS];
    struct tern_check_same same[TERN_CHECK_SAMES + 1];
};

/*
 * Compares the call with those of the other ranks of `comm`; the procedure is the one noted last.
 * No lane is held; may block and progress. 0, TERN_ERR_NOT_SAME with what differs, TERN_ERR_BUFFER,
 * TERN_ERR_NO_MEM.
 */
int tern_check_collective(struct tern_comm *comm, const struct tern_check_call *call);

/* What the nonblocking or persistent call of this thread that tern_check_collective saw last must
 * wait for before it communicates, now the caller's; NULL: nothing. */
struct tern_permit *tern_check_take_permit(void);

/*
 * The same for calls that only processes of `group` make, all of them in the intracommunicator
 * `comm`, and this one among them; or the two leaders that join two groups over `comm`. `tag` is
 * for people, "tag 5", and tells such calls apart. What differs is said as soon as ranks that have
 * no further threads wait for each other.
 */
int tern_check_group(struct tern_comm *comm, struct tern_group *group, const char *tag);
int tern_check_leaders(struct tern_comm *comm, int remote_leader, const char *tag);

/* Begins to talk to the other ranks, if the level is full. Call it after the rooms below have
 * started, with the library's lock. Returns 0 or TERN_ERR_*. */
int tern_check_open(void);
/* Waits until no message of a comparison is on its way from or to this process. */
void tern_check_flush(void);

/* A number that two types share if and only if the sequences of their basic elements are the same
 * (but for accidents, 1 in 2^64): `count` elements of `type`. */
uint64_t tern_check_signature(const struct tern_datatype *type, int64_t count);

#endif
