/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_COLL_H
#define TERN_COLL_H

/*
 * Collectives as lib/mpi sees them. Arguments have been checked. Types are flat types, and
 * committed. MPI_IN_PLACE is passed as the MPI constant. Reductions get a struct tern_reduction.
 */

#include "lib/node/board.h"
#include "lib/coll/plan/plan.h"
#include "lib/pml/context.h"
#include "lib/type/reduction.h"
#include "lib/type/type.h"
#include "lib/util/base/ints.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_request;

/* The state of a communicator's collectives. For an intercommunicator, `context` reaches the remote
 * group, and `local` belongs to the local group. */
struct tern_coll {
    struct tern_context context;
    int rank, size;                /* rank and size in the local group */
    int remote_size;               /* size of the remote group; 0: intracommunicator */
    int ranks_per_node;            /* ranks of the communicator on the fullest node */
    /* NULL: all ranks are on one node, or the nodes are not known */
    struct tern_topology *topology;
    /* of this node's ranks, if they have told where their GPUs are; made with the first plan for
     * devices (device_places.h). NULL: none */
    struct tern_device_order *order;
    bool told;      /* all ranks of all nodes have told that */
    bool ordered;   /* `order` is final */
    /* shared with the ranks of this node; made when the communicator has been used a few times */
    struct tern_board board;
    /* bytes that a post on the board can have, if long sheets can be made; 0: no board */
    int32_t sheet;
    /* calls so far, until the board is decided on; TERN_BOARD_CALLS: decided */
    int8_t calls;
    /* calls so far that would have used long sheets; TERN_BOARD_CALLS: decided */
    int8_t long_calls;
    /* whether all ranks may have buffers in device memory (on_device.h) */
    enum { TERN_DEVICES_UNKNOWN, TERN_DEVICES_NONE, TERN_DEVICES_MAYBE } devices;
    /* asks for that, if a nonblocking call was the first that wanted to know; owned */
    struct tern_request *question;
    struct tern_coll *local;       /* intercommunicator only: collectives of the local group */
    struct tern_plan_cache *plans; /* recent plans; NULL: none */
    /* number of the next collective. All ranks start collectives in one order, so one number per
     * start gives matching tags */
    uint32_t next_tag;
    /* number of the next persistent collective. They are prepared in one order; the number serves
     * all starts */
    uint32_t next_lasting_tag;
};

/* The operation of a reduction. */
struct tern_reduction {
    /* loop of a predefined operation for the type of this call (tern_reduce_find); NULL: `apply` */
    tern_reduce_loop
        *loop;
    enum tern_reduce_op op; /* of the loop */
    bool commutative;
    /* calls a user's function: inout[i] = in[i] op inout[i] for `count` elements of `datatype` */
    void (*apply)(const struct tern_reduction *reduction, const void *in, void *inout,
                  int64_t count);
    void *user;     /* for `apply`: struct tern_op of lib/mpi */
    void *datatype; /* for `apply`: struct tern_datatype that is passed to the user's function */
};

/* What a started call waits for before it communicates: permission from the other ranks, at
 * check_level full. A persistent call begins it at each start. */
struct tern_permit {
    /* starts asking for permission */
    void (*begin)(struct tern_permit *permit);
    /* Returns 0 if permission is given, TERN_ERR_AGAIN if the caller must ask again in the next
     * round, or another error with which the run ends. */
    int (*ask)(struct tern_permit *permit);
    /* frees the permit */
    void (*release)(struct tern_permit *permit);
};

/*
 * A collective call, to be run once or often: the arguments of the plan and the buffers and types
 * behind them. Filled by tern_call_*. Buffers, types and arrays belong to the caller and must stay
 * valid until the end.
 */
struct tern_call {
    struct tern_coll *coll;
    uint8_t mark; /* identifies the procedure in tags and posts (lib/coll/run/mismatch.h) */
    struct tern_plan_args args;
    const void *send; /* first unit of the send buffer */
    void *recv;
    const struct tern_type *send_type, *recv_type; /* type of a unit in each buffer */
    struct tern_plan_blocks blocks;
    struct tern_reduction reduction;
    /* set by the code that starts or prepares the call: called with `held` when the request is
     * released; NULL: nothing to do */
    void (*let_go)(void *held);
    void *held;
    struct tern_permit *permit; /* set like let_go; NULL: no permission is needed */
    /* 0, or the error for which this rank has no data to send: other ranks must not use what it
     * sends */
    int failed;
};

/* Calls let_go and releases the permit, once. */
static inline void tern_call_let_go(struct tern_call *call)
{
    if (call->let_go)
        call->let_go(call->held);
    call->let_go = NULL;
    if (call->permit)
        call->permit->release(call->permit);
    call->permit = NULL;
}

/* Opens the context and everything else. `local`: NULL, or the collectives of the local group.
 * `comm`: the struct tern_comm for error handlers. Returns 0 or TERN_ERR_NO_MEM. */
int tern_coll_open(struct tern_coll *coll, uint64_t id, int rank, int size, int remote_size,
                   struct tern_peers *peers, struct tern_coll *local, void *comm);
/* Closes the context and frees everything else. Does nothing if `coll` was never opened. */
void tern_coll_close(struct tern_coll *coll);

/*
 * Three ways to do a call. Errors of a call's messages concern this communicator only. This rank
 * still does its part for the other ranks.
 *
 * tern_call_run blocks until this rank's part is done. Returns 0 or an error.
 */
int tern_call_run(struct tern_call *call);
/* Starts the call without blocking. *ret_request is a fresh active request, maybe already complete;
 * release it by its kind->release. The call is copied. On failure the caller still owns what let_go
 * releases. */
int tern_call_start(const struct tern_call *call, struct tern_request **ret_request);
/* Makes a persistent request, inactive; kind->start starts it. The call is copied. */
int tern_call_prepare(const struct tern_call *call, struct tern_request **ret_request);

/* A collective in progress, for messages to the user. */
struct tern_coll_facts {
    const struct tern_coll *coll;
    char procedure[80]; /* "MPI_Barrier", "MPI_Ibarrier" */
    uint32_t number;    /* its place among the collectives of the communicator, from 1 on */
    const struct tern_request *awaited; /* the message that is awaited; NULL: none */
    int peer; /* without a message: the rank whose post on the board is awaited; -1: none */
};
/* Describes the run that tern_doubt gets. Call with the lane's lock held. */
void tern_coll_describe_run(const void *run, struct tern_coll_facts *ret_facts);
/* Describes a request. Returns false if the request is no collective. `held`: the lane's lock is
 * held. Without it the awaited message or post is not described. */
bool tern_coll_describe(const struct tern_request *request, bool held,
                        struct tern_coll_facts *ret_facts);

/* Marks a filled-in call as part of another procedure, such as one that makes a communicator. */
void tern_call_set_inside(struct tern_call *call);
/* Returns the name of the communicator `comm` of a context, for messages to the user. Set once by
 * lib/mpi. */
extern const char *(*tern_coll_name_of)(const void *comm);

/*
 * Functions that fill in a call. MPI_IN_PLACE is passed as the constant. `root` is a rank; for an
 * intercommunicator it is a rank of the other group, TERN_ROOT_ME or TERN_ROOT_BESIDE_ME.
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
/* The displacements are in elements of the type. */
void tern_call_alltoallv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         struct tern_ints sendcounts, struct tern_ints sdispls,
                         const struct tern_type *sendtype, void *recvbuf,
                         struct tern_ints recvcounts, struct tern_ints rdispls,
                         const struct tern_type *recvtype);
/* The displacements are in bytes; there is one type per rank. */
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

/* The neighbours of a process. Negative ranks: no neighbour. The arrays belong to the caller. */
struct tern_neighbors {
    const int *sources, *destinations;
    int indegree, outdegree;
    /* a Cartesian topology: the lower and the upper neighbour of each dimension, in pairs */
    bool grid;
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
/* The displacements are in bytes. */
void tern_call_neighbor_alltoallw(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  struct tern_ints sendcounts, struct tern_ints sdispls,
                                  const struct tern_type *const *sendtypes, void *recvbuf,
                                  struct tern_ints recvcounts, struct tern_ints rdispls,
                                  const struct tern_type *const *recvtypes);

/*
 * A board is worth its memory after a communicator has been used a few times. All ranks make the
 * same calls in the same order, so all want the board before the same call, blocking or not. So no
 * rank waits for another.
 */
enum { TERN_BOARD_CALLS = 3 };
/* Counts a call, and opens the board when there were enough. Call before each collective while
 * coll->calls < TERN_BOARD_CALLS. */
void tern_coll_count_call(struct tern_coll *coll);
/* Call before a collective that would use long sheets, if there are none: makes long sheets if such
 * calls are frequent. Returns true if there are long sheets now; all ranks of the node get the same
 * answer. */
bool tern_coll_want_long_sheets(struct tern_coll *coll);
/* Returns the bytes that a post on the board of `ranks` ranks of a node can have, by the
 * parameters; 0 if they get no board. */
int32_t tern_coll_sheet_for(int64_t ranks);
/* Returns the bytes that a post on a persistent collective's own board can have; 0 if it cannot
 * have one. */
int32_t tern_coll_own_sheet(const struct tern_coll *coll);
/* Opens the own board of persistent collective number `serial`, for posts of `post_bytes` bytes.
 * Returns 0 or TERN_ERR_NO_MEM, the same on all ranks of the node. */
int tern_coll_open_own_board(const struct tern_coll *coll, uint32_t serial, int32_t post_bytes,
                             struct tern_board *ret_board);

/* Returns the rank in the communicator of rank `mate` on the board. */
int tern_coll_rank_of_mate(const struct tern_coll *coll, int mate);

/* Blocking collectives that other rooms need. Return 0 or TERN_ERR_*. */
int tern_coll_barrier(struct tern_coll *coll);
int tern_coll_bcast(struct tern_coll *coll, void *buf, int64_t count, const struct tern_type *type,
                    int root);
int tern_coll_allgather(struct tern_coll *coll, const void *sendbuf, int64_t sendcount,
                        const struct tern_type *sendtype, void *recvbuf, int64_t recvcount,
                        const struct tern_type *recvtype);
#endif
