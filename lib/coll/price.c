/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The model is LogGP (Alexandrov et al. 1995) with two kinds of links, ranks standing on the nodes
 * in blocks. Of a message to a rank at distance d, min(d, ranks per node) ranks of a node cross to
 * another node at the same time and share its network cards. Where more ranks take part than there
 * are cores, they take turns, and every turn costs a switch.
 */
#include "lib/coll/price.h"

#include "lib/util/param.h"

#include <unistd.h>

static double most(double a, double b)
{
    return a > b ? a : b;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

void tern_stages_add(struct tern_stages *stages, struct tern_stage stage)
{
    if (stage.repeat > 0 && stages->count < TERN_STAGES_MAX)
        stages->stage[stages->count++] = stage;
}

static double link_latency(const struct tern_model *model, const struct tern_wire *link,
                           const struct tern_stage *stage)
{
    return link->latency_ns + (stage->bytes > model->eager_bytes ? link->rendezvous_ns : 0);
}

static double busy(const struct tern_wire *link, const struct tern_stage *stage, double sharing)
{
    return (double)stage->messages * (link->overhead_ns + (double)stage->bytes * link->gap_ns * sharing);
}

static double stage_price(const struct tern_model *model, double size,
                          const struct tern_stage *stage)
{
    double per_node = least((double)model->ranks_per_node, size);
    double senders = least((double)stage->senders, per_node);
    /* with their receivers; all of them when everybody takes part */
    double active = least(2 * senders, per_node);
    double turns = most(1, active / (double)model->cores_per_node);
    double work = (double)stage->reduced * model->reduce_gap_ns +
                  (double)stage->copied * model->copy_gap_ns;
    bool crosses = size > per_node && stage->distance > 0;
    bool crowded = turns > 1;
    double here = crowded ? model->switch_ns : link_latency(model, &model->node, stage);
    double node_busy = busy(&model->node, stage, 1), node = turns * (here + node_busy + work);
    if (!crosses)
        return stage->repeat * node;
    double sharing = most(1, least((double)stage->distance, senders) / (double)model->nics_per_node);
    double network_busy = turns * (busy(&model->network, stage, sharing) + work);
    double network = link_latency(model, &model->network, stage) + network_busy;
    if (!stage->relay)
        return stage->repeat * most(node, network);
    /* what goes round meets a network link once per node; the slowest link sets the pace */
    double mean = node + (network - node) / per_node;
    return stage->repeat * most(mean, network_busy);
}

double tern_price_ns(const struct tern_model *model, const struct tern_shape *shape,
                     const struct tern_stages *stages)
{
    double sum = 0;
    for (int i = 0; i < stages->count; i++)
        sum += stage_price(model, (double)shape->size, &stages->stage[i]);
    return sum;
}

static double in_thousandths(const char *name)
{
    return (double)tern_param_int(name) / 1000;
}

struct tern_model tern_model_of_parameters(int64_t ranks_per_node)
{
    struct tern_model model = {
        .node = {(double)tern_param_int("coll_node_latency"),
                 (double)tern_param_int("coll_node_overhead"), in_thousandths("coll_node_gap"),
                 (double)tern_param_int("coll_node_rendezvous")},
        .network = {(double)tern_param_int("coll_network_latency"),
                    (double)tern_param_int("coll_network_overhead"),
                    in_thousandths("coll_network_gap"),
                    (double)tern_param_int("coll_network_rendezvous")},
        .reduce_gap_ns = in_thousandths("coll_reduce_gap"),
        .copy_gap_ns = in_thousandths("coll_copy_gap"),
        .switch_ns = (double)tern_param_int("coll_switch"),
        .ranks_per_node = ranks_per_node,
        .cores_per_node = tern_param_int("coll_cores"),
        .nics_per_node = tern_param_int("coll_nics"),
        .eager_bytes = 16 << 10,
        .verbose = tern_param_int("coll_verbose") > 0,
    };
    if (model.cores_per_node < 1) /* not those of this process alone: all ranks must agree */
        model.cores_per_node = sysconf(_SC_NPROCESSORS_ONLN);
    if (model.nics_per_node < 1)
        model.nics_per_node = 1;
    return model;
}
