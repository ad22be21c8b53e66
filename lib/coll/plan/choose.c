/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Chooses the algorithm with the lowest price. Prices depend only on what is equal on all ranks:
 * sizes of groups, bytes of a block or vector, the parameters of the model. The parameters
 * coll_algorithm and coll_NAME_algorithm override the prices if the algorithm can do the call.
 */
#include "lib/coll/plan/plan.h"

#include "lib/coll/price/topology.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/settings/value.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const struct tern_algorithm *intra, *inter; /* NULL: MPI has no such collective */
} collectives[TERN_COLLECTIVES] = {
    [TERN_BARRIER] = {"barrier", tern_barrier_algorithms, tern_inter_barrier_algorithms},
    [TERN_BCAST] = {"bcast", tern_bcast_algorithms, tern_inter_bcast_algorithms},
    [TERN_GATHER] = {"gather", tern_gather_algorithms, tern_inter_gather_algorithms},
    [TERN_GATHERV] = {"gatherv", tern_gatherv_algorithms, tern_inter_gather_algorithms},
    [TERN_SCATTER] = {"scatter", tern_scatter_algorithms, tern_inter_scatter_algorithms},
    [TERN_SCATTERV] = {"scatterv", tern_scatterv_algorithms, tern_inter_scatter_algorithms},
    [TERN_ALLGATHER] = {"allgather", tern_allgather_algorithms, tern_inter_allgather_algorithms},
    [TERN_ALLGATHERV] = {"allgatherv", tern_allgatherv_algorithms, tern_inter_exchange_algorithms},
    [TERN_ALLTOALL] = {"alltoall", tern_alltoall_algorithms, tern_inter_exchange_algorithms},
    [TERN_ALLTOALLV] = {"alltoallv", tern_alltoallv_algorithms, tern_inter_exchange_algorithms},
    [TERN_ALLTOALLW] = {"alltoallw", tern_alltoallv_algorithms, tern_inter_exchange_algorithms},
    [TERN_REDUCE] = {"reduce", tern_reduce_algorithms, tern_inter_reduce_algorithms},
    [TERN_ALLREDUCE] = {"allreduce", tern_allreduce_algorithms, tern_inter_allreduce_algorithms},
    [TERN_REDUCE_SCATTER] = {"reduce_scatter", tern_reduce_scatter_algorithms,
                             tern_inter_reduce_scatter_algorithms},
    [TERN_REDUCE_SCATTER_BLOCK] = {"reduce_scatter_block", tern_reduce_scatter_block_algorithms,
                                   tern_inter_reduce_scatter_algorithms},
    [TERN_SCAN] = {"scan", tern_scan_algorithms, NULL},
    [TERN_EXSCAN] = {"exscan", tern_exscan_algorithms, NULL},
    [TERN_NEIGHBOR_ALLGATHER] = {"neighbor_allgather", tern_neighbor_algorithms, NULL},
    [TERN_NEIGHBOR_ALLGATHERV] = {"neighbor_allgatherv", tern_neighbor_algorithms, NULL},
    [TERN_NEIGHBOR_ALLTOALL] = {"neighbor_alltoall", tern_neighbor_algorithms, NULL},
    [TERN_NEIGHBOR_ALLTOALLV] = {"neighbor_alltoallv", tern_neighbor_algorithms, NULL},
    [TERN_NEIGHBOR_ALLTOALLW] = {"neighbor_alltoallw", tern_neighbor_algorithms, NULL},
};

const char *tern_plan_collective_name(enum tern_collective collective)
{
    return collectives[collective].name;
}

const struct tern_algorithm *tern_plan_algorithms(enum tern_collective collective, bool inter)
{
    return inter ? collectives[collective].inter : collectives[collective].intra;
}

/* --- by price --- */

static const struct tern_algorithm *find(const struct tern_algorithm *table, const char *name)
{
    for (; table->name; table++)
        if (!strcmp(table->name, name))
            return table;
    return NULL;
}

static int64_t total_bytes(const struct tern_plan_args *args)
{
    if (!args->blocks)
        return args->size * args->recv_count * args->recv_size;
    return tern_recv_total(args) * args->recv_size;
}

/* Returns the bytes of a block of gather or scatter. Each rank knows one side of the call, the root
 * the other. */
static int64_t block_bytes(const struct tern_plan_args *args)
{
    bool receives = (args->rank == args->root) == (args->collective == TERN_GATHER);
    return receives ? args->recv_count * args->recv_size : args->send_count * args->send_size;
}

static bool is_inter(const struct tern_plan_args *args)
{
    return args->remote_size && args->collective < TERN_NEIGHBOR_ALLGATHER;
}

/* Returns the shape for an intercommunicator: what both groups know. */
static struct tern_shape inter_shape(const struct tern_plan_args *args, struct tern_shape shape)
{
    int64_t sent = args->send_count * args->send_size,
            received = args->recv_count * args->recv_size;
    bool larger = args->size > args->remote_size;
    shape.size = larger ? args->size : args->remote_size;
    shape.other_size = larger ? args->remote_size : args->size;
    switch (args->collective) {
    case TERN_GATHER:
    case TERN_SCATTER: /* one side has set what it sends, the other what it receives */
        shape.bytes = sent ? sent : received;
        break;
    case TERN_ALLGATHER:
        shape.bytes = (sent + received) / 2;
        break;
    default:
        shape.bytes = received;
    }
    return shape;
}

static struct tern_shape shape_of(const struct tern_plan_args *args, const struct tern_model *model)
{
    struct tern_shape shape = {.size = args->size,
                               .bytes = args->recv_count * args->recv_size,
                               .segment_bytes = args->segment_bytes,
                               .unit = args->collective >= TERN_REDUCE ? args->recv_size : 1,
                               .nodes = args->topology ? args->topology->nodes : 1,
                               .node_size = args->topology ? args->topology->largest : args->size,
                               .sheet =
                                   args->topology && args->topology->nodes > 1 ? 0 : args->sheet,
                               .ordered = !args->commutative,
                               .model = model};
    /* only a node's own ranks know if the node has its board by now; it is in host memory */
    if (shape.nodes > 1 && !args->on_device)
        shape.node_sheet = args->node_sheet;
    if (is_inter(args))
        return inter_shape(args, shape);
    if (args->collective == TERN_GATHER || args->collective == TERN_SCATTER)
        shape.bytes = block_bytes(args);
    else if (args->collective == TERN_ALLGATHERV || args->collective == TERN_REDUCE_SCATTER)
        shape.bytes = total_bytes(args) / args->size;
    return shape;
}

double tern_plan_price_ns(const struct tern_algorithm *algorithm, const struct tern_model *model,
                          const struct tern_shape *shape)
{
    struct tern_stages stages;
    stages.count = 0;
    algorithm->stages(shape, &stages);
    return tern_price_ns(model, shape, &stages);
}

static bool fits(const struct tern_algorithm *algorithm, const struct tern_plan_args *args)
{
    return !algorithm->fits || algorithm->fits(args);
}

static void say_choice(const struct tern_plan_args *args, const struct tern_model *model,
                       const struct tern_shape *shape, const struct tern_algorithm *chosen)
{
    char others[512] = "";
    size_t used = 0;
    const struct tern_algorithm *row =
        tern_plan_algorithms((enum tern_collective)args->collective, is_inter(args));
    for (; row->name && used < sizeof others; row++)
        if (row != chosen && row->stages && fits(row, args))
            used += (size_t)snprintf(others + used, sizeof others - used, ", %s %.1f", row->name,
                                     tern_plan_price_ns(row, model, shape) / 1000);
    tern_log("%s of %lld bytes among %d ranks: %s, about %.1f us%s",
             collectives[args->collective].name, (long long)shape->bytes, args->size, chosen->name,
             tern_plan_price_ns(chosen, model, shape) / 1000, others);
}

/* Returns the cheapest algorithm. If no algorithm has a price: `linear`, or the only one. */
const struct tern_algorithm *tern_plan_cheapest(const struct tern_plan_args *args,
                                                const struct tern_model *model)
{
    struct tern_shape shape = shape_of(args, model);
    const struct tern_algorithm *table =
        tern_plan_algorithms((enum tern_collective)args->collective, is_inter(args));
    const struct tern_algorithm *best = NULL;
    double lowest = 0;
    for (const struct tern_algorithm *row = table; row->name; row++) {
        if (!row->stages || !fits(row, args))
            continue;
        double price = tern_plan_price_ns(row, model, &shape);
        if (best && price >= lowest)
            continue;
        best = row;
        lowest = price;
    }
    if (!best) {
        best = find(table, "linear");
        return best ? best : table;
    }
    if (model->verbose && args->rank == 0)
        say_choice(args, model, &shape, best);
    return best;
}

/* --- by name --- */

static const struct tern_algorithm *ask_param(enum tern_collective collective, bool inter)
{
    char name[64], text[64];
    /* one parameter for all collectives between groups: no algorithm is in all tables */
    snprintf(text, sizeof text, "coll_%s_algorithm",
             inter ? "inter" : collectives[collective].name);
    const struct tern_setting *param = tern_param_find(text);
    if (!param) /* the collective has only one algorithm */
        return NULL;
    bool named = tern_param_choice_name(
        param, tern_param_choice_in_list("coll_algorithm", text), name, sizeof name);
    return named ? find(inter ? collectives[collective].inter : collectives[collective].intra, name)
                 : NULL;
}

/* Returns the algorithm that the parameter names, or NULL. Reads the parameter again only when a
 * tool has changed a parameter. Threads of several lanes may ask at one time; they find equal
 * values. */
static const struct tern_algorithm *wanted(enum tern_collective collective, bool inter)
{
    static struct wish {
        unsigned asked; /* 1 + tern_param_changes() at that time */
        const struct tern_algorithm *algorithm;
    } wishes[2][TERN_COLLECTIVES];
    struct wish *wish = &wishes[inter][collective];
    unsigned now = tern_param_changes() + 1;
    /* acquire: pairs with the release below */
    if (__atomic_load_n(&wish->asked, __ATOMIC_ACQUIRE) != now) {
        __atomic_store_n(&wish->algorithm, ask_param(collective, inter), __ATOMIC_RELAXED);
        __atomic_store_n(&wish->asked, now, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&wish->algorithm, __ATOMIC_RELAXED);
}

const struct tern_algorithm *tern_plan_choose(const struct tern_plan_args *args,
                                              const struct tern_model *model)
{
    const struct tern_algorithm *algorithm =
        wanted((enum tern_collective)args->collective, is_inter(args));
    return algorithm && fits(algorithm, args) ? algorithm : tern_plan_cheapest(args, model);
}
