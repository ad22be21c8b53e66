/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COLL_H
#define TERN_COLL_H

/*
 * Collectives as lib/mpi sees them. Arguments are checked already; types are committed;
 * MPI_IN_PLACE comes as the MPI constant. `type`s are flat types; reductions get a struct
 * tern_reduction.
 */

#include "lib/node/board.h"
#include "lib/coll/plan/plan.h"
#include "lib/pml/context.h"
#include "lib/type/reduction.h"
#include "lib/type/type.h"
#include "lib/util/ints.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_request;

/* Per communicator. For an intercommunicator `context` reaches the remote group and `local` is the
 * local group's. */
struct tern_coll {
    struct tern_context context;
    int rank, size;                /* in the local group */
    int remote_size;               /* 0: intracommunicator */
    int ranks_per_node;            /* of the fullest node */
    struct tern_topology *topology; /* NULL: all are on one node, or it is not known */
    /* with the ranks of this node, once the communicator has been used a little */
    struct tern_board board;
    /* bytes that a post on it may have, if long sheets can be made; 0: no board */
    int32_t sheet;
    int8_t calls;            /* up to when that is; TERN_BOARD_CALLS: it is decided */
    int8_t long_calls;       /* that had use for long sheets before there were any; likewise */
    struct tern_coll *local;       /* intercommunicator only */
    struct tern_plan_cache *plans; /* recent plans; NULL: none */
    uint32_t next_tag; /* collectives are started in the same order everywhere: one tag per start */
    /* persistent ones are prepared in the same order: one tag for all starts */
    uint32_t next_lasting_tag;
};

/* What a reduction does to elements. */
struct tern_reduction {
    tern_reduce_loop
        *loop; /* predefined, on the type of this call (tern_reduce_find); NULL: `apply` */
    bool commutative;
    /* A user's function: inout[i] = in[i] op inout[i] for `count` elements of `datatype`. */
    void (*apply)(const struct tern_reduction *reduction, const void *in, void *inout,
                  int64_t count);
    void *user;     /* for apply: struct tern_op of lib/mpi */
    void *datatype; /* for apply: struct tern_datatype the user's function is given */
};

/* What a started call waits for before it communicates: leave from the other ranks, at check_level
 * full. A persistent one begins it at each start. */
struct tern_permit {
    void (*begin)(struct tern_permit *permit);
    /* 0: given; TERN_ERR_AGAIN: ask again in the next round; any other: refused, the run ends so.
     */
    int (*ask)(struct tern_permit *permit);
    void (*release)(struct tern_permit *permit);
};

/*
 * A collective about to be run, once or often: the arguments of the plan and what they stand for.
 * Filled by tern_call_*; its buffers, types and arrays stay the caller's and must stay valid until
 * the end.
 */
struct tern_call {
    struct tern_coll *coll;
    uint8_t mark; /* in its tags and posts: which procedure it is (lib/coll/run/mismatch.h) */
    struct tern_plan_args args;
    const void *send; /* first unit of the send buffer */
    void *recv;
    const struct tern_type *send_type, *recv_type; /* a unit */
    struct tern_plan_blocks blocks;
    struct tern_reduction reduction;
    /* Set by who starts or prepares the call: called with `held` when its request is released.
     * NULL: nothing to do. */
    void (*let_go)(void *held);
    void *held;
    struct tern_permit *permit; /* likewise; NULL: none is needed */
    /* 0, or the error for which this rank has nothing to give: others must not use what it sends */
    int failed;
};

static inline void tern_call_let_go(struct tern_call *call)
{
    if (call->let_go)
        call->let_go(call->held);
    call->let_go = NULL;
    if (call->permit)
        call->permit->release(call->permit);
    call->permit = NULL;
}

/* Opens the context and all else. `local` is NULL or the local group's, `comm` the struct tern_comm
 * for error handlers. 0 or TERN_ERR_NO_MEM. */
int tern_coll_open(struct tern_coll *coll, uint64_t id, int rank, int size, int remote_size,
                   struct tern_peers *peers, struct tern_coll *local, void *comm);
void tern_coll_close(struct tern_coll *coll);

/*
 * Three ways to do a call. Errors of its messages concern this communicator only; the other ranks
 * are served nevertheless.
 *
 * Run: blocks until this rank's part is done.
 */
int tern_call_run(struct tern_call *call);
/* Start: the same, not blocking; *ret_request is a fresh active request (maybe complete already),
 * released by its kind->release. The call is copied; let_go is the caller's on failure. */
int tern_call_start(const struct tern_call *call, struct tern_request **ret_request);
/* Prepare: a persistent request, inactive; kind->start starts it. The call is copied. */
int tern_call_prepare(const struct tern_call *call, struct tern_request **ret_request);

/* Says that a filled-in call is part of another procedure, such as one that makes a communicator.
 */
void tern_call_set_inside(struct tern_call *call);
/* What messages to people call the communicator `comm` of a context: set once by lib/mpi. */
extern const char *(*tern_coll_name_of)(const void *comm);

/*
 * Filling in a call. MPI_IN_PLACE is the constant. root: a rank, or of an intercommunicator one in
 * the other group, TERN_ROOT_ME or TERN_ROOT_BESIDE_ME.
 */
void tern_call_barrier(struct tern_call *call, struct tern_coll *coll);
void tern_call_bcast(struct tern_call *call, struct tern_coll *coll, void *buf, int64_t count,
                     const struct tern_type *type, int root);
void tern_call_gather(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                      int64_t recvcount, const struct tern_type *recvtype, int root);
void tern_call_gatherv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                       int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                       struct tern_ints recvcounts, struct tern_ints displs,
                       const struct tern_type *recvtype, int root);
void tern_call_scatter(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                       int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                       int64_t recvcount, const struct tern_type *recvtype, int root);
void tern_call_scatterv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                        struct tern_ints sendcounts, struct tern_ints displs,
                        const struct tern_type *sendtype, void *recvbuf, int64_t recvcount,
                        const struct tern_type *recvtype, int root);
void tern_call_allgather(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                         int64_t recvcount, const struct tern_type *recvtype);
void tern_call_allgatherv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                          int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                          struct tern_ints recvcounts, struct tern_ints displs,
                          const struct tern_type *recvtype);
void tern_call_alltoall(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                        int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                        int64_t recvcount, const struct tern_type *recvtype);
/* displacements in elements of the type */
void tern_call_alltoallv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         struct tern_ints sendcounts, struct tern_ints sdispls,
                         const struct tern_type *sendtype, void *recvbuf,
                         struct tern_ints recvcounts, struct tern_ints rdispls,
                         const struct tern_type *recvtype);
/* displacements in bytes, one type per rank */
void tern_call_alltoallw(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         struct tern_ints sendcounts, struct tern_ints sdispls,
                         const struct tern_type *const *sendtypes, void *recvbuf,
                         struct tern_ints recvcounts, struct tern_ints rdispls,
                         const struct tern_type *const *recvtypes);
void tern_call_reduce(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      void *recvbuf, int64_t count, const struct tern_type *type,
                      const struct tern_reduction *reduction, int root);
void tern_call_allreduce(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         void *recvbuf, int64_t count, const struct tern_type *type,
                         const struct tern_reduction *reduction);
void tern_call_reduce_scatter(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                              void *recvbuf, struct tern_ints recvcounts,
                              const struct tern_type *type, const struct tern_reduction *reduction);
void tern_call_reduce_scatter_block(struct tern_call *call, struct tern_coll *coll,
                                    const void *sendbuf, void *recvbuf, int64_t recvcount,
                                    const struct tern_type *type,
                                    const struct tern_reduction *reduction);
void tern_call_scan(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                    void *recvbuf, int64_t count, const struct tern_type *type,
                    const struct tern_reduction *reduction);
void tern_call_exscan(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      void *recvbuf, int64_t count, const struct tern_type *type,
                      const struct tern_reduction *reduction);

/* Who a process talks to in a neighbourhood. Ranks, negative: nobody. The arrays stay the caller's.
 */
struct tern_neighbors {
    const int *sources, *destinations;
    int indegree, outdegree;
    bool grid; /* the pairs of a Cartesian topology: lower, upper neighbour of each dimension */
};

void tern_call_neighbor_allgather(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  int64_t sendcount, const struct tern_type *sendtype,
                                  void *recvbuf, int64_t recvcount,
                                  const struct tern_type *recvtype);
void tern_call_neighbor_allgatherv(struct tern_call *call, struct tern_coll *coll,
                                   const struct tern_neighbors *neighbors, const void *sendbuf,
                                   int64_t sendcount, const struct tern_type *sendtype,
                                   void *recvbuf, struct tern_ints recvcounts,
                                   struct tern_ints displs, const struct tern_type *recvtype);
void tern_call_neighbor_alltoall(struct tern_call *call, struct tern_coll *coll,
                                 const struct tern_neighbors *neighbors, const void *sendbuf,
                                 int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                                 int64_t recvcount, const struct tern_type *recvtype);
void tern_call_neighbor_alltoallv(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  struct tern_ints sendcounts, struct tern_ints sdispls,
                                  const struct tern_type *sendtype, void *recvbuf,
                                  struct tern_ints recvcounts, struct tern_ints rdispls,
                                  const struct tern_type *recvtype);
/* displacements in bytes */
void tern_call_neighbor_alltoallw(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  struct tern_ints sendcounts, struct tern_ints sdispls,
                                  const struct tern_type *const *sendtypes, void *recvbuf,
                                  struct tern_ints recvcounts, struct tern_ints rdispls,
                                  const struct tern_type *const *recvtypes);

/*
 * A board is worth its memory when a communicator has been used a few times. All ranks make the
 * same calls in the same order, so all want it before the same one, blocking or not: nobody waits.
 */
enum { TERN_BOARD_CALLS = 3 };
/* Before each call while coll->calls < TERN_BOARD_CALLS. */
void tern_coll_count_call(struct tern_coll *coll);
/* Before a call that has use for long sheets, where there are none: makes them if such calls come
 * often. Same answer on all ranks of the node: are there any now? */
bool tern_coll_want_long_sheets(struct tern_coll *coll);
/* Bytes that a post on the board of so many ranks of a node may have, by the parameters; 0: they
 * get none. */
int32_t tern_coll_sheet_for(int64_t ranks);
/* Bytes that a post on a persistent collective's own board may have; 0: it can have none. */
int32_t tern_coll_own_sheet(const struct tern_coll *coll);
/* Opens persistent collective number `serial`'s own board, for posts of so many bytes. Same answer
 * on all ranks of the node: 0 or TERN_ERR_NO_MEM. */
int tern_coll_open_own_board(const struct tern_coll *coll, uint32_t serial, int32_t post_bytes,
                             struct tern_board *ret_board);

/* The rank in the communicator of rank `mate` on its board. */
int tern_coll_rank_of_mate(const struct tern_coll *coll, int mate);

/* Blocking ones that other rooms need. 0 or TERN_ERR_*. */
int tern_coll_barrier(struct tern_coll *coll);
int tern_coll_bcast(struct tern_coll *coll, void *buf, int64_t count, const struct tern_type *type,
                    int root);
int tern_coll_allgather(struct tern_coll *coll, const void *sendbuf, int64_t sendcount,
                        const struct tern_type *sendtype, void *recvbuf, int64_t recvcount,
                        const struct tern_type *recvtype);
#endif
