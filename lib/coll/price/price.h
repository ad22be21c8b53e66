/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PRICE_H
#define TERN_PRICE_H

/*
 * What an algorithm costs, without building its plan: every algorithm describes itself as a few
 * stages (rounds that are alike), a model of the machine prices them. Pure; takes well under a
 * microsecond per algorithm also for a million ranks, some more where parts are chosen (compose.h).
 * docs/collectives.md has the formulas.
 */

#include <stdbool.h>
#include <stdint.h>

/* One kind of way between ranks. A message of b bytes keeps either end busy for overhead + b * gap,
 * the network also, and takes latency besides. */
struct tern_wire {
    double latency_ns, overhead_ns;
    double gap_ns;        /* per byte */
    double rendezvous_ns; /* more latency of a message that is announced first */
};

/* What differs between two cores that share no cache. */
struct tern_far {
    double latency_ns, gap_ns;
};

struct tern_model {
    struct tern_wire node, network;   /* node: between cores with a common cache */
    struct tern_far package, machine; /* in one package without one, in two packages */
    double memory_gap_ns;              /* like node.gap_ns, of bytes that are in no core's cache */
    double uncached_gap_ns;            /* ... in no cache at all */
    double reduce_gap_ns, copy_gap_ns; /* per byte, in one core */
    double switch_ns;                  /* from one rank to another of two on the same core */
    double switch_crowded_ns;          /* of sixteen: each finds the caches cold */
    double cold_ns;                    /* and either end of a message takes longer */
    double call_ns;                    /* of a collective, whatever it does */
    double board_latency_ns;           /* of a post, until another rank sees it */
    double board_overhead_ns;          /* for each further one that a rank takes */
    int64_t cache_bytes;               /* of a core, its own */
    int64_t last_cache_bytes;          /* of the cache that cores share, 0: there is none */
    int64_t page_bytes;                /* what a table of translations names as one */
    int64_t cores_per_cache, cores_per_package; /* cores that share one */
    int64_t ranks_per_node, cores_per_node, nics_per_node;
    int64_t eager_bytes; /* longer messages are announced first */
    bool verbose;        /* choices are told */
};

/* The model that the parameters coll_node_..., coll_network_... describe, for a communicator with
 * up to `ranks_per_node` ranks on a node. */
struct tern_model tern_model_of_parameters(int64_t ranks_per_node);

/* Who the ranks of a stage are: all, those of one node, some of every node (its leaders), or the
 * local group of an intercommunicator. */
enum tern_level { TERN_LEVEL_ALL, TERN_LEVEL_NODE, TERN_LEVEL_LEADERS, TERN_LEVEL_GROUP };

/*
 * The model as one level sees it: nothing crosses within a node; leaders stand one on each node,
 * and `lanes` of a node share its network cards. Lengths are counted in units of `unit_bytes`.
 */
struct tern_model tern_model_of_level(const struct tern_model *model, enum tern_level level,
                                      int64_t lanes, int64_t unit_bytes);

/* What is to be done. Everything that is the same on all ranks. */
struct tern_shape {
    int64_t size;
    int64_t other_size; /* of two groups, this is the smaller and `size` the larger one; 0: one */
    int64_t bytes; /* of the vector, or of a block (gather, scatter, allgather, alltoall, ...) */
    int64_t segment_bytes;
    int64_t unit; /* bytes of the vector that are never cut: an element of a reduction; 0: 1 */
    int64_t nodes, node_size;       /* and ranks of the largest one */
    int32_t sheet;                  /* of the board of all ranks; 0: none */
    int32_t node_sheet;             /* of several nodes, of the board that the largest one has */
    bool ordered;                   /* a reduction that does not commute */
    const struct tern_model *model; /* for algorithms that choose among others (compose.h) */
};

/* Rounds that are alike. */
struct tern_stage {
    double repeat;
    int64_t messages; /* that the busiest rank sends or receives, side by side */
    int64_t bytes;    /* of each */
    int64_t distance; /* in ranks, of the farthest */
    int64_t senders;  /* ranks that send at the same time */
    int64_t reduced, copied; /* bytes, by each */
    bool relay; /* a ring or chain: neighbours hand on what came in the round before */
    bool board; /* `messages` are posts that a rank takes from the board */
    bool apart; /* it takes a part of each, that nobody else reads */
    bool flows; /* rounds of a pipeline that is full: they follow each other without waiting */
    uint8_t level; /* enum tern_level, whose ranks the numbers above count */
    int32_t lanes; /* leaders of a node that do this at the same time */
    /* of a sequence: those of a phase are priced without what passed the caches before */
    uint8_t phase;
};

enum { TERN_STAGES_MAX = 96 };

struct tern_stages {
    int count;
    struct tern_stage stage[TERN_STAGES_MAX];
};

/* For algorithms: adds a stage, if there are rounds of it and somebody sends. */
void tern_stages_add(struct tern_stages *stages, struct tern_stage stage);

/* For algorithms: `ranks` ranks need so many bytes besides the user's buffers. */
void tern_stages_add_temporaries(struct tern_stages *stages, int64_t ranks, int64_t bytes);

/* Units of a vector of `bytes` bytes, at least one. */
static inline int64_t tern_units(int64_t bytes, int64_t unit)
{
    int64_t units = unit > 1 ? (bytes + unit - 1) / unit : bytes;
    return units > 1 ? units : 1;
}

/*
 * The stage in which ranks send parts of a vector of `bytes` bytes that is cut into `parts`, but
 * nowhere within a unit: of fewer units than parts some are empty, and these are not sent.
 */
struct tern_stage tern_stage_of_parts(struct tern_stage stage, int64_t bytes, int64_t unit,
                                      int64_t parts);

double tern_price_ns(const struct tern_model *model, const struct tern_shape *shape,
                     const struct tern_stages *stages);

#endif
