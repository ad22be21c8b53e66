/* SPDX-License-Identifier: BSD-3-Clause */

/* Converts the arguments that lib/mpi was called with to the arguments of plans: units instead of
 * types, and only what is significant on this rank. */
#include "lib/coll/run/coll.h"

#include "lib/btl/peer.h"
#include "lib/coll/run/plan_transport.h"
#include "lib/coll/price/topology.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/pml/request.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

/* Returns true if all ranks are on this node. If the ranks are on several nodes, this is false on
 * all of them. */
static bool on_this_node(const struct tern_peers *peers)
{
    for (int i = 0; i < peers->count; i++) {
        struct tern_process process = tern_peers_process(peers, i);
        if (process.job != 0 || tern_rte_local_rank(process.rank) < 0)
            return false;
    }
    return true;
}

/* The nodes that the parameters declare, instead of the real ones. */
struct belief {
    int64_t per_node, nodes; /* per_node < 1: the ranks are where the launcher has put them */
    bool scattered;
};

static struct belief ask_belief(void)
{
    static struct tern_param_kept per_node;
    struct belief belief = {tern_param_keep(&per_node, "coll_ranks_per_node"), 0, false};
    if (belief.per_node < 1)
        return belief;
    belief.nodes = (tern_rte.size + belief.per_node - 1) / belief.per_node;
    belief.scattered = tern_param_bool("coll_ranks_scattered");
    return belief;
}

/* Returns the node of a process; -1 if it is not known. */
static int64_t node_of(const struct belief *belief, struct tern_process process)
{
    if (process.job)
        return -1;
    if (belief->per_node < 1)
        return tern_rte_node_of(process.rank);
    return belief->scattered ? process.rank % belief->nodes : process.rank / belief->per_node;
}

/* Finds the node of each rank, unless all ranks are on one node, or the node of some rank is not
 * known. */
static int find_nodes(struct tern_coll *coll, const struct tern_peers *peers)
{
    struct belief belief = ask_belief();
    bool several = tern_rte.node_count > 1 || belief.per_node > 0;
    bool known = several && !coll->remote_size;
    int32_t *ids = known ? malloc((size_t)peers->count * sizeof *ids) : NULL;
    if (known && !ids)
        goto no_memory;
    for (int i = 0; i < peers->count && known; i++) {
        ids[i] = (int32_t)node_of(&belief, tern_peers_process(peers, i));
        known = ids[i] >= 0;
    }
    if (known) {
        coll->topology = tern_topology_make(peers->count, ids);
        if (!coll->topology)
            goto no_memory;
        coll->ranks_per_node = coll->topology->largest;
    }
    free(ids);
    return 0;

no_memory:
    free(ids);
    return tern_error(TERN_ERR_NO_MEM, "no memory for the nodes of %d ranks", peers->count);
}

int tern_coll_open(struct tern_coll *coll, uint64_t id, int rank, int size, int remote_size,
                   struct tern_peers *peers, struct tern_coll *local, void *comm)
{
    if (!tern_doubt) /* once: threads in collectives of other communicators read it */
        tern_doubt = tern_coll_doubt;
    coll->rank = rank;
    coll->size = size;
    coll->remote_size = remote_size;
    coll->local = local;
    bool here = on_this_node(peers) && (!local || on_this_node(local->context.peers));
    coll->ranks_per_node = here ? size + remote_size : 1;
    coll->plans = NULL;
    coll->board = (struct tern_board){0};
    coll->sheet = 0;
    coll->calls = size == 1 || remote_size ? TERN_BOARD_CALLS : 0;
    coll->long_calls = 0;
    coll->devices = TERN_DEVICES_UNKNOWN;
    coll->question = NULL;
    coll->next_tag = coll->next_lasting_tag = 0;
    coll->topology = NULL;
    coll->order = NULL;
    coll->told = coll->ordered = false;
    int rc = find_nodes(coll, peers);
    if (!rc)
        rc = tern_context_open(&coll->context, id, rank, peers, comm);
    if (rc) {
        tern_topology_free(coll->topology);
        coll->topology = NULL;
    }
    return rc;
}

void tern_coll_close(struct tern_coll *coll)
{
    if (!coll->context.lane) /* `coll` was never opened */
        return;
    struct tern_request *question = coll->question;
    coll->question = NULL;
    if (question && question->complete) /* else it was abandoned */
        question->kind->release(question);
    tern_context_close(&coll->context);
    tern_board_close(&coll->board);
    tern_lane_lock(coll->context.lane); /* a request that the user freed may release a plan now */
    tern_plan_cache_free(coll->plans);
    tern_lane_unlock(coll->context.lane);
    coll->plans = NULL;
    tern_device_order_free(coll->order);
    coll->order = NULL;
    tern_topology_free(coll->topology);
    coll->topology = NULL;
}

/* --- filling in --- */

static int64_t segment_bytes(void)
{
    static int64_t known; /* 0: not known yet; threads that ask at one time get equal answers */
    int64_t bytes = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (!bytes) {
        bytes = tern_param_int("coll_segment_bytes");
        __atomic_store_n(&known, bytes, __ATOMIC_RELAXED);
    }
    return bytes;
}

static void begin(struct tern_call *call, struct tern_coll *coll, enum tern_collective collective)
{
    memset(&call->args, 0, sizeof call->args);
    call->coll = coll;
    call->mark = (uint8_t)collective;
    call->args.collective = (uint8_t)collective;
    call->args.rank = coll->rank;
    call->args.size = coll->size;
    call->args.remote_size = coll->remote_size;
    call->args.commutative = true;
    call->args.ranks_per_node = coll->ranks_per_node;
    call->args.segment_bytes = segment_bytes();
    call->args.topology = coll->topology;
    call->args.node_sheet = coll->topology ? tern_coll_sheet_for(coll->topology->largest) : 0;
    call->send = NULL;
    call->recv = NULL;
    call->send_type = call->recv_type = &tern_type_bytes;
    call->let_go = NULL;
    call->permit = NULL;
    call->failed = 0;
}

/* Sets equal blocks, or one. A contiguous type becomes bytes, which may be cut anywhere. */
static void set_send(struct tern_call *call, const void *buf, int64_t count,
                     const struct tern_type *type)
{
    bool bytes = type->contiguous;
    call->send = bytes ? (const char *)buf + type->true_lb : buf;
    call->send_type = bytes ? &tern_type_bytes : type;
    call->args.send_bytes = bytes;
    call->args.send_count = bytes ? count * type->size : count;
    call->args.send_size = bytes ? 1 : type->size;
}

static void set_recv(struct tern_call *call, void *buf, int64_t count, const struct tern_type *type)
{
    bool bytes = type->contiguous;
    call->recv = bytes ? (char *)buf + type->true_lb : buf;
    call->recv_type = bytes ? &tern_type_bytes : type;
    call->args.recv_bytes = bytes;
    call->args.recv_count = bytes ? count * type->size : count;
    call->args.recv_size = bytes ? 1 : type->size;
}

static void use_blocks(struct tern_call *call)
{
    if (call->args.blocks)
        return;
    memset(&call->blocks, 0, sizeof call->blocks);
    call->blocks.send_units = call->blocks.recv_units = 1;
    call->args.blocks = &call->blocks;
}

/* Sets blocks by counts and displacements, in elements of the type; in bytes if the type is
 * contiguous. */
static void set_send_blocks(struct tern_call *call, const void *buf, struct tern_ints counts,
                            struct tern_ints displs, const struct tern_type *type)
{
    use_blocks(call);
    set_send(call, buf, 0, type);
    call->blocks.send_units = type->contiguous ? type->size : 1;
    call->blocks.send_counts = counts;
    call->blocks.send_displs = displs;
}

static void set_recv_blocks(struct tern_call *call, void *buf, struct tern_ints counts,
                            struct tern_ints displs, const struct tern_type *type)
{
    use_blocks(call);
    set_recv(call, buf, 0, type);
    call->blocks.recv_units = type->contiguous ? type->size : 1;
    call->blocks.recv_counts = counts;
    call->blocks.recv_displs = displs;
}

/* Sets the operands of a reduction. Elements stay elements, even if their type is contiguous. */
static void set_operands(struct tern_call *call, const void *sendbuf, void *recvbuf, int64_t count,
                         const struct tern_type *type, const struct tern_reduction *reduction)
{
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    call->args.commutative = reduction->commutative;
    call->send = sendbuf;
    call->recv = recvbuf;
    call->send_type = call->recv_type = type;
    call->args.send_count = call->args.recv_count = count;
    call->args.send_size = call->args.recv_size = type->size;
    call->reduction = *reduction;
}

static bool at_root(const struct tern_coll *coll, int root)
{
    return coll->remote_size ? root == TERN_ROOT_ME : root == coll->rank;
}

void tern_call_barrier(struct tern_call *call, struct tern_coll *coll)
{
    begin(call, coll, TERN_BARRIER);
}

void tern_call_bcast(struct tern_call *call, struct tern_coll *coll, void *buf, int64_t count,
                     const struct tern_type *type, int root)
{
    begin(call, coll, TERN_BCAST);
    call->args.root = root;
    if (root != TERN_ROOT_BESIDE_ME)
        set_recv(call, buf, count, type);
}

void tern_call_gather(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                      int64_t recvcount, const struct tern_type *recvtype, int root)
{
    begin(call, coll, TERN_GATHER);
    call->args.root = root;
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (root != TERN_ROOT_BESIDE_ME && root != TERN_ROOT_ME && !call->args.in_place)
        set_send(call, sendbuf, sendcount, sendtype);
    if (at_root(coll, root))
        set_recv(call, recvbuf, recvcount, recvtype);
}

void tern_call_gatherv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                       int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                       struct tern_ints recvcounts, struct tern_ints displs,
                       const struct tern_type *recvtype, int root)
{
    begin(call, coll, TERN_GATHERV);
    call->args.root = root;
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (root != TERN_ROOT_BESIDE_ME && root != TERN_ROOT_ME && !call->args.in_place)
        set_send(call, sendbuf, sendcount, sendtype);
    if (at_root(coll, root))
        set_recv_blocks(call, recvbuf, recvcounts, displs, recvtype);
}

void tern_call_scatter(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                       int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                       int64_t recvcount, const struct tern_type *recvtype, int root)
{
    begin(call, coll, TERN_SCATTER);
    call->args.root = root;
    call->args.in_place = recvbuf == MPI_IN_PLACE;
    if (root != TERN_ROOT_BESIDE_ME && root != TERN_ROOT_ME && !call->args.in_place)
        set_recv(call, recvbuf, recvcount, recvtype);
    if (at_root(coll, root))
        set_send(call, sendbuf, sendcount, sendtype);
}

void tern_call_scatterv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                        struct tern_ints sendcounts, struct tern_ints displs,
                        const struct tern_type *sendtype, void *recvbuf, int64_t recvcount,
                        const struct tern_type *recvtype, int root)
{
    begin(call, coll, TERN_SCATTERV);
    call->args.root = root;
    call->args.in_place = recvbuf == MPI_IN_PLACE;
    if (root != TERN_ROOT_BESIDE_ME && root != TERN_ROOT_ME && !call->args.in_place)
        set_recv(call, recvbuf, recvcount, recvtype);
    if (at_root(coll, root))
        set_send_blocks(call, sendbuf, sendcounts, displs, sendtype);
}

void tern_call_allgather(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                         int64_t recvcount, const struct tern_type *recvtype)
{
    begin(call, coll, TERN_ALLGATHER);
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (!call->args.in_place)
        set_send(call, sendbuf, sendcount, sendtype);
    set_recv(call, recvbuf, recvcount, recvtype);
}

void tern_call_allgatherv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                          int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                          struct tern_ints recvcounts, struct tern_ints displs,
                          const struct tern_type *recvtype)
{
    begin(call, coll, TERN_ALLGATHERV);
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (!call->args.in_place)
        set_send(call, sendbuf, sendcount, sendtype);
    set_recv_blocks(call, recvbuf, recvcounts, displs, recvtype);
}

void tern_call_alltoall(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                        int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                        int64_t recvcount, const struct tern_type *recvtype)
{
    begin(call, coll, TERN_ALLTOALL);
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (!call->args.in_place)
        set_send(call, sendbuf, sendcount, sendtype);
    set_recv(call, recvbuf, recvcount, recvtype);
}

void tern_call_alltoallv(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         struct tern_ints sendcounts, struct tern_ints sdispls,
                         const struct tern_type *sendtype, void *recvbuf,
                         struct tern_ints recvcounts, struct tern_ints rdispls,
                         const struct tern_type *recvtype)
{
    begin(call, coll, TERN_ALLTOALLV);
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (!call->args.in_place)
        set_send_blocks(call, sendbuf, sendcounts, sdispls, sendtype);
    set_recv_blocks(call, recvbuf, recvcounts, rdispls, recvtype);
}

void tern_call_alltoallw(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         struct tern_ints sendcounts, struct tern_ints sdispls,
                         const struct tern_type *const *sendtypes, void *recvbuf,
                         struct tern_ints recvcounts, struct tern_ints rdispls,
                         const struct tern_type *const *recvtypes)
{
    begin(call, coll, TERN_ALLTOALLW);
    call->args.in_place = sendbuf == MPI_IN_PLACE;
    if (!call->args.in_place) {
        set_send_blocks(call, sendbuf, sendcounts, sdispls, &tern_type_bytes);
        call->blocks.send_types = sendtypes;
    }
    set_recv_blocks(call, recvbuf, recvcounts, rdispls, &tern_type_bytes);
    call->blocks.recv_types = recvtypes;
}

void tern_call_reduce(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      void *recvbuf, int64_t count, const struct tern_type *type,
                      const struct tern_reduction *reduction, int root)
{
    begin(call, coll, TERN_REDUCE);
    call->args.root = root;
    if (root != TERN_ROOT_BESIDE_ME)
        set_operands(call, sendbuf, recvbuf, count, type, reduction);
}

void tern_call_allreduce(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                         void *recvbuf, int64_t count, const struct tern_type *type,
                         const struct tern_reduction *reduction)
{
    begin(call, coll, TERN_ALLREDUCE);
    set_operands(call, sendbuf, recvbuf, count, type, reduction);
}

void tern_call_reduce_scatter(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                              void *recvbuf, struct tern_ints recvcounts,
                              const struct tern_type *type, const struct tern_reduction *reduction)
{
    begin(call, coll, TERN_REDUCE_SCATTER);
    set_operands(call, sendbuf, recvbuf, 0, type, reduction);
    use_blocks(call);
    call->blocks.recv_counts = recvcounts;
}

void tern_call_reduce_scatter_block(struct tern_call *call, struct tern_coll *coll,
                                    const void *sendbuf, void *recvbuf, int64_t recvcount,
                                    const struct tern_type *type,
                                    const struct tern_reduction *reduction)
{
    begin(call, coll, TERN_REDUCE_SCATTER_BLOCK);
    set_operands(call, sendbuf, recvbuf, recvcount, type, reduction);
}

void tern_call_scan(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                    void *recvbuf, int64_t count, const struct tern_type *type,
                    const struct tern_reduction *reduction)
{
    begin(call, coll, TERN_SCAN);
    set_operands(call, sendbuf, recvbuf, count, type, reduction);
}

void tern_call_exscan(struct tern_call *call, struct tern_coll *coll, const void *sendbuf,
                      void *recvbuf, int64_t count, const struct tern_type *type,
                      const struct tern_reduction *reduction)
{
    begin(call, coll, TERN_EXSCAN);
    set_operands(call, sendbuf, recvbuf, count, type, reduction);
}

/* --- neighbourhoods --- */

static void begin_neighbors(struct tern_call *call, struct tern_coll *coll,
                            enum tern_collective collective, const struct tern_neighbors *neighbors)
{
    begin(call, coll, collective);
    use_blocks(call);
    call->args.size = neighbors->indegree;
    call->args.remote_size = neighbors->outdegree;
    call->args.grid = neighbors->grid;
    call->blocks.sources = neighbors->sources;
    call->blocks.destinations = neighbors->destinations;
}

void tern_call_neighbor_allgather(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  int64_t sendcount, const struct tern_type *sendtype,
                                  void *recvbuf, int64_t recvcount,
                                  const struct tern_type *recvtype)
{
    begin_neighbors(call, coll, TERN_NEIGHBOR_ALLGATHER, neighbors);
    set_send(call, sendbuf, sendcount, sendtype);
    set_recv(call, recvbuf, recvcount, recvtype);
}

void tern_call_neighbor_allgatherv(struct tern_call *call, struct tern_coll *coll,
                                   const struct tern_neighbors *neighbors, const void *sendbuf,
                                   int64_t sendcount, const struct tern_type *sendtype,
                                   void *recvbuf, struct tern_ints recvcounts,
                                   struct tern_ints displs, const struct tern_type *recvtype)
{
    begin_neighbors(call, coll, TERN_NEIGHBOR_ALLGATHERV, neighbors);
    set_send(call, sendbuf, sendcount, sendtype);
    set_recv_blocks(call, recvbuf, recvcounts, displs, recvtype);
}

void tern_call_neighbor_alltoall(struct tern_call *call, struct tern_coll *coll,
                                 const struct tern_neighbors *neighbors, const void *sendbuf,
                                 int64_t sendcount, const struct tern_type *sendtype, void *recvbuf,
                                 int64_t recvcount, const struct tern_type *recvtype)
{
    begin_neighbors(call, coll, TERN_NEIGHBOR_ALLTOALL, neighbors);
    set_send(call, sendbuf, sendcount, sendtype);
    set_recv(call, recvbuf, recvcount, recvtype);
}

void tern_call_neighbor_alltoallv(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  struct tern_ints sendcounts, struct tern_ints sdispls,
                                  const struct tern_type *sendtype, void *recvbuf,
                                  struct tern_ints recvcounts, struct tern_ints rdispls,
                                  const struct tern_type *recvtype)
{
    begin_neighbors(call, coll, TERN_NEIGHBOR_ALLTOALLV, neighbors);
    set_send_blocks(call, sendbuf, sendcounts, sdispls, sendtype);
    set_recv_blocks(call, recvbuf, recvcounts, rdispls, recvtype);
}

void tern_call_neighbor_alltoallw(struct tern_call *call, struct tern_coll *coll,
                                  const struct tern_neighbors *neighbors, const void *sendbuf,
                                  struct tern_ints sendcounts, struct tern_ints sdispls,
                                  const struct tern_type *const *sendtypes, void *recvbuf,
                                  struct tern_ints recvcounts, struct tern_ints rdispls,
                                  const struct tern_type *const *recvtypes)
{
    begin_neighbors(call, coll, TERN_NEIGHBOR_ALLTOALLW, neighbors);
    set_send_blocks(call, sendbuf, sendcounts, sdispls, &tern_type_bytes);
    set_recv_blocks(call, recvbuf, recvcounts, rdispls, &tern_type_bytes);
    call->blocks.send_types = sendtypes;
    call->blocks.recv_types = recvtypes;
}

/* --- in one call --- */

int tern_coll_barrier(struct tern_coll *coll)
{
    struct tern_call call;
    tern_call_barrier(&call, coll);
    tern_call_set_inside(&call);
    return tern_call_run(&call);
}

int tern_coll_bcast(struct tern_coll *coll, void *buf, int64_t count, const struct tern_type *type,
                    int root)
{
    struct tern_call call;
    tern_call_bcast(&call, coll, buf, count, type, root);
    tern_call_set_inside(&call);
    return tern_call_run(&call);
}

int tern_coll_allgather(struct tern_coll *coll, const void *sendbuf, int64_t sendcount,
                        const struct tern_type *sendtype, void *recvbuf, int64_t recvcount,
                        const struct tern_type *recvtype)
{
    struct tern_call call;
    tern_call_allgather(&call, coll, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype);
    tern_call_set_inside(&call);
    return tern_call_run(&call);
}
