/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PRICE_H
#define TERN_PRICE_H

/*
 * Computes what an algorithm costs, without building its plan. Every algorithm describes itself as
 * a few stages (a stage is a number of rounds that are alike), and a model of the machine prices
 * the stages. The functions are pure. Pricing one algorithm takes well under a microsecond, also
 * for a million ranks; somewhat more for algorithms that choose others for their parts (compose.h).
 * docs/collectives.md has the formulas.
 */

#include "lib/coll/price/device_order.h"

#include <stdbool.h>
#include <stdint.h>

/* One kind of connection between ranks. A message of b bytes keeps each end, and also the network,
 * busy for overhead + b * gap, and takes `latency` more to arrive. */
struct tern_wire {
    double latency_ns, overhead_ns;
    double gap_ns;        /* per byte */
    double rendezvous_ns; /* additional latency of a message that is announced first */
};

/* The figures that differ for two cores that share no cache. */
struct tern_far {
    double latency_ns, gap_ns;
};

/* A model of the machine. */
struct tern_model {
    struct tern_wire node, network;   /* `node`: between cores that share a cache */
    /* between cores without a common cache: in one package, and in two packages */
    struct tern_far package, machine;
    /* like node.gap_ns, for bytes that are in no core's own cache */
    double memory_gap_ns;
    double uncached_gap_ns;            /* like node.gap_ns, for bytes that are in no cache at all */
    double reduce_gap_ns, copy_gap_ns; /* per byte, in one core */
    /* switching from one rank to the other, if two share a core */
    double switch_ns;
    /* the same if sixteen ranks share a core: each finds the caches cold */
    double switch_crowded_ns;
    double cold_ns;                    /* how much longer each end of a message then takes */
    double call_ns;                    /* fixed cost of calling any collective */
    double board_latency_ns;           /* time until another rank sees a post on the board */
    double board_overhead_ns;          /* time for each further post that a rank takes */
    /* like node.gap_ns, for a byte of a post: its cache line was read by another core last time */
    double board_gap_ns;
    int64_t cache_bytes;               /* size of a core's own cache */
    int64_t last_cache_bytes;          /* size of the cache that cores share; 0: there is none */
    int64_t page_bytes;                /* size of a memory page, as the TLB sees it */
    /* number of cores that share a cache, and a package */
    int64_t cores_per_cache, cores_per_package;
    int64_t ranks_per_node, cores_per_node, nics_per_node;
    int64_t eager_bytes; /* longer messages are announced first */
    bool verbose;        /* log which algorithm was chosen */
};

/* Returns the model that the figures (lib/settings/figures.h) and parameters describe, for a
 * communicator with at most `ranks_per_node` ranks on a node. */
struct tern_model tern_model_of_parameters(int64_t ranks_per_node);

/* Returns the same machine for buffers in device memory, where a step costs a copy or a kernel.
 * `order`: of the ranks, if all are on one node, and it is known how their GPUs reach each other;
 * or NULL. Then groups of ranks are what nodes are otherwise, and share one slow way. */
struct tern_model tern_model_of_devices(const struct tern_model *model,
                                        const struct tern_device_order *order);

/* Which ranks run a stage: all, those of one node, some of every node (its leaders), or the local
 * group of an intercommunicator. */
enum tern_level { TERN_LEVEL_ALL, TERN_LEVEL_NODE, TERN_LEVEL_LEADERS, TERN_LEVEL_GROUP };

/*
 * Returns the model as one level sees it. In a node's level nothing crosses the network. Among
 * leaders, each leader is alone on its node, and the `lanes` leaders of a node share its network
 * cards. Lengths are counted in units of `unit_bytes`.
 */
struct tern_model tern_model_of_level(const struct tern_model *model, enum tern_level level,
                                      int64_t lanes, int64_t unit_bytes);

/* The collective to be priced: everything that all ranks know alike. */
struct tern_shape {
    int64_t size;
    /* intercommunicator: size of the smaller group (`size` is the larger one); 0: one group */
    int64_t other_size;
    /* length of the vector, or of one block (gather, scatter, allgather, alltoall, ...) */
    int64_t bytes;
    int64_t segment_bytes;
    /* the vector is cut only between units of `unit` bytes (an element of a reduction); 0: 1 */
    int64_t unit;
    int64_t nodes, node_size;       /* number of nodes, and ranks of the largest node */
    int32_t sheet;                  /* bytes of a post on the board of all ranks; 0: no board */
    /* several nodes: bytes of a post on the board of the largest node; 0: no board */
    int32_t node_sheet;
    bool ordered;                   /* the reduction does not commute */
    const struct tern_model *model; /* for algorithms that choose among others (compose.h) */
};

/* A number of rounds that are alike. */
struct tern_stage {
    /* number of rounds */
    double repeat;
    /* messages that the busiest rank sends or receives at the same time, per round */
    int64_t messages;
    int64_t bytes;    /* bytes of each message */
    int64_t distance; /* distance in ranks of the farthest message */
    int64_t senders;  /* number of ranks that send at the same time */
    /* bytes that each rank reduces, and copies (into posts and out of them, if there are any) */
    int64_t reduced, copied;
    bool relay; /* a ring or chain: each rank passes on what arrived in the round before */
    bool board; /* `messages` are posts on the board that a rank takes */
    bool apart; /* the rank takes a part of each post that no other rank reads */
    bool flows; /* rounds of a full pipeline: they follow each other without waiting */
    uint8_t level; /* enum tern_level: the ranks that the numbers above count */
    int32_t lanes; /* number of leaders of a node that do this at the same time */
    /* number of the phase in a sequence. A phase is priced as if the phases before had left nothing
     * in the caches */
    uint8_t phase;
};

enum { TERN_STAGES_MAX = 96 };

/* The stages of an algorithm, in their order. */
struct tern_stages {
    int count;
    struct tern_stage stage[TERN_STAGES_MAX];
};

/* Adds a stage, if it has rounds and senders. Called by algorithms. */
void tern_stages_add(struct tern_stages *stages, struct tern_stage stage);

/* Adds the cost of temporaries: each of `ranks` ranks needs `bytes` bytes besides the user's
 * buffers. Called by algorithms. */
void tern_stages_add_temporaries(struct tern_stages *stages, int64_t ranks, int64_t bytes);

/* Returns the number of units in a vector of `bytes` bytes, at least 1. */
static inline int64_t tern_units(int64_t bytes, int64_t unit)
{
    int64_t units = unit > 1 ? (bytes + unit - 1) / unit : bytes;
    return units > 1 ? units : 1;
}

/*
 * Returns `stage` for a vector of `bytes` bytes that is cut into `parts`, but never within a unit.
 * If there are fewer units than parts, some parts are empty and are not sent.
 */
struct tern_stage tern_stage_of_parts(struct tern_stage stage, int64_t bytes, int64_t unit,
                                      int64_t parts);

/* Returns the price of all stages in nanoseconds. */
double tern_price_ns(const struct tern_model *model, const struct tern_shape *shape,
                     const struct tern_stages *stages);

#endif
