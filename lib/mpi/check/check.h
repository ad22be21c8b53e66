/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_H
#define TERN_CHECK_H

/*
 * Checks of check_level full that look beyond the arguments of one call (docs/checking.md): the
 * memory that calls and requests use, and whether the ranks of a collective agree. This header
 * depends on communicators, datatypes and requests. gate.h tells whether the checks are on.
 */

#include "lib/util/base/ints.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_comm;
struct tern_datatype;
struct tern_group;
struct tern_op;
struct tern_permit;
struct tern_request;

/* Reports messages that were sent on the communicator and never received. Call it when the
 * communicator is freed. Progresses once. */
void tern_check_say_unreceived(struct tern_comm *comm);

/* ---- buffers (check_buffers.c) ---- */

/* A buffer argument and the arguments that describe it. `type` and `types` are both NULL where the
 * datatype is not significant. */
struct tern_check_part {
    const char *name, *count_name; /* names of the arguments; NULL name: ignore this part */
    const void *buffer;            /* may be NULL or MPI_IN_PLACE */
    /* number of blocks; they lie one after the other, or at `displs` */
    int blocks;
    MPI_Count count;         /* elements of each block, if there are no `counts` */
    struct tern_ints counts; /* elements of each block; if values is NULL: `count` */
    /* Displacement of each block: in elements, or in bytes if there are `types`. If values is NULL
     * the blocks lie one after the other. */
    struct tern_ints displs;
    const struct tern_datatype *type; /* datatype of all blocks, or NULL */
    const MPI_Datatype *types;        /* datatype of each block; if NULL: `type` */
    bool output;                      /* true if the call writes the buffer */
};

/* Returns the datatype of a block. Returns NULL if there is none or if the handle is no datatype:
 * arrays whose lengths only a topology knows are checked later. */
const struct tern_datatype *tern_check_type_of(const struct tern_check_part *part, int block);

/* Returns the part of a packed buffer that `count` elements of `type` use from `position` on, in
 * bytes: packed as in memory without gaps, or in the form external32. */
struct tern_check_part tern_check_packed(const char *name, const void *buffer, int64_t position,
                                         const struct tern_datatype *type, int64_t count,
                                         bool external, bool output);

/* The most buffers of a call. */
enum { TERN_CHECK_PARTS = 2 };

/*
 * Looks for bytes that would be written twice, or written and read at a time: by overlapping blocks
 * of one buffer, by both buffers, or by this call and a request that is not complete yet. Ignores
 * parts without a name. Returns 0 or TERN_ERR_BUFFER. If both buffers begin at the same address,
 * the error text ends with `cure`.
 */
int tern_check_buffers(const struct tern_check_part parts[TERN_CHECK_PARTS], const char *cure);

/* Records the buffers that a new request uses. A persistent request uses them from each start
 * on. */
void tern_check_request_made(struct tern_request *request,
                             const struct tern_check_part parts[TERN_CHECK_PARTS]);
/* What is checked when a request starts and ends. */
extern const struct tern_request_checks tern_check_of_requests;

/* Checks that all requests named in one call belong to one session, and that none is named twice.
 * Each handle must be a request or null. Returns 0, TERN_ERR_SESSION or TERN_ERR_REQUEST. */
int tern_check_requests(int64_t count, const MPI_Request requests[]);

/* Check the hint mpi_assert_exact_length, by which a program promises that each message fills its
 * receive buffer. Return 0, or TERN_ERR_COUNT if the lengths differ. tern_check_received is for
 * blocking receives; requests use tern_check_length when they complete. */
int tern_check_received(const struct tern_comm *comm, const struct tern_check_part *part,
                        const MPI_Status *status);
int tern_check_length(int64_t expected, const MPI_Status *status);

/* Return the number of blocks of a part that has one block for each rank, or one for each
 * neighbour. */
int tern_check_ranks(const struct tern_comm *comm);
int tern_check_neighbors(const struct tern_comm *comm, bool output);

/* ---- what ranks must agree on (check_collective.c, check_exchange.c, check_message.c) ---- */

/* An argument that must be equal on all ranks: `n` values of `size` bytes each. */
struct tern_check_same {
    const char *name;   /* name of the argument; NULL ends the list */
    const void *values; /* n * size bytes */
    int n;              /* number of values */
    int size;           /* bytes of each value */
};

/* Which data of one rank must agree with which data of another rank. */
enum tern_check_pattern {
    TERN_CHECK_NO_DATA, /* a call without data */
    /* all blocks are alike: bcast, gather, scatter, allgather, alltoall */
    TERN_CHECK_ONE_BLOCK,
    TERN_CHECK_OPERANDS, /* reductions */
    TERN_CHECK_BLOCKS,   /* one block for each rank: gatherv, scatterv, allgatherv */
    TERN_CHECK_PAIRS,    /* one block for each pair of ranks: alltoallv, alltoallw */
    /* reductions whose counts are equal in the whole group: reduce_scatter */
    TERN_CHECK_COUNTS,
    TERN_CHECK_NEIGHBORS, /* one block for each edge of a topology */
};

/* How a call waits for the verdict of the judge. */
enum tern_check_way {
    TERN_CHECK_BLOCKING,    /* the call waits before it begins */
    TERN_CHECK_NONBLOCKING, /* its request waits for the permit (tern_check_take_permit) */
    /* Preparing the request blocks. Each start waits for the permit (tern_check_take_permit). */
    TERN_CHECK_PERSISTENT,
    /* The call does not wait for the verdict. A difference is only reported. */
    TERN_CHECK_DETACHED,
};

/* The most arguments of a call that must be equal. */
enum { TERN_CHECK_SAMES = 6 };

/* What a call states to the other ranks. */
struct tern_check_call {
    enum tern_check_way way;
    enum tern_check_pattern pattern;
    bool rooted;                                       /* true if the call has a root */
    int root;                                          /* rank, MPI_ROOT or MPI_PROC_NULL */
    const struct tern_op *op;                          /* NULL if the call has no operation */
    struct tern_check_part parts[TERN_CHECK_PARTS];    /* unused parts have no name */
    struct tern_check_same same[TERN_CHECK_SAMES + 1]; /* ends with a NULL name */
};

/*
 * Compares this call with the calls of the other ranks of `comm`. The name of the procedure is the
 * one noted last by tern_check_enter. Returns 0, TERN_ERR_NOT_SAME with a text that says what
 * differs, TERN_ERR_BUFFER or TERN_ERR_NO_MEM. Hold no lane: may block and progress.
 */
int tern_check_collective(struct tern_comm *comm, const struct tern_check_call *call);

/* Returns the permit of the last nonblocking or persistent call of this thread that
 * tern_check_collective compared. The operation must wait for the permit before it communicates.
 * Returns NULL if there is nothing to wait for. The caller owns the permit. */
struct tern_permit *tern_check_take_permit(void);

/*
 * Compare calls that only some ranks make. tern_check_group: all members of `group` call, each of
 * them a rank of the intracommunicator `comm`; this process is a member. tern_check_leaders: the
 * two leaders call that join their groups over `comm`. `tag` is a text for people, "tag 5"; calls
 * with different tags are different calls. If ranks without further threads wait for each other,
 * the difference is reported at once.
 */
int tern_check_group(struct tern_comm *comm, struct tern_group *group, const char *tag);
int tern_check_leaders(struct tern_comm *comm, int remote_leader, const char *tag);

/* Opens the communication of the checks, if the level is full. Call it with the library's lock,
 * after the layers below have started. Returns 0 or TERN_ERR_*. */
int tern_check_open(void);
/* Waits until no message of a comparison is on its way from or to this process. Blocks. */
void tern_check_flush(void);

/* The signature that matches every other: there is MPI_PACKED in it. */
#define TERN_SIGNATURE_ANY UINT64_C(0)

/* Returns a number for the signature of `count` elements of `type`. Two types have equal numbers if
 * their sequences of basic elements are equal. Different sequences have different numbers, except
 * by accident (1 in 2^64). */
uint64_t tern_check_signature(const struct tern_datatype *type, int64_t count);

#endif
