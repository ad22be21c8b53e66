/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of collectives. `mpi_info --param all all` prints them. What algorithms cost is no
 * parameter: coll_figures.c. */

#include "lib/settings/setting.h"

/* A row omits members it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* What a pair of coll_algorithm sets. Each was a parameter of its own, and still is. */
#define ALGORITHM(collective, words) \
    {"coll_" collective "_algorithm", TERN_PARAM_STRING, "", "", \
     "The algorithm of this collective alone; coll_algorithm does the same.", words, \
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL, .internal = true}

static const struct tern_setting coll[] = {
    {"coll_verbose", TERN_PARAM_INT, "0", "",
     "1: rank 0 prints which algorithm each collective uses, and the predicted times of this and "
     "the other algorithms.",
     .least = 0, .most = 100},
    {"coll_model_file", TERN_PARAM_STRING, "", "",
     "File of the figures by which collectives choose their algorithms (mpi_info(1)); empty: what "
     "`mpi_info --measure` has stored for this user and kind of host, else the built-in figures.",
     NULL, TERN_PARAM_AT_START, TERN_PARAM_ALL_EQUAL},
    {"coll_nics", TERN_PARAM_INT, "1", "",
     "Network cards of a node that can send at the same time. Algorithms called multi_leader use "
     "as many leaders on each node.",
     NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL,
     .least = 1, .most = 1024},
    {"coll_ranks_per_node", TERN_PARAM_INT, "0", "",
     "For tests: collectives assume that each node has this number of ranks, wherever the ranks "
     "are; 0: the real nodes.",
     NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL,
     .least = 0, .most = 1 << 24, .internal = true},
    {"coll_ranks_scattered", TERN_PARAM_BOOL, "0", "",
     "For tests, with coll_ranks_per_node: assume that ranks are placed on the nodes in turn, as "
     "with --map-by node.",
     NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL,
     .internal = true},
    {"coll_board", TERN_PARAM_BOOL, "1", "",
     "Use the board for short collectives within a node: shared memory on which each rank posts "
     "its data; no messages are sent.",
     .internal = true},
    {"coll_board_bytes", TERN_PARAM_SIZE, "16m", "bytes",
     "Shared memory that the board of a communicator may use for long posts; 0: only short posts.",
     .least = 0, .most = 1ll << 40, .internal = true},
    {"coll_segment_bytes", TERN_PARAM_SIZE, "64k", "bytes",
     "Size of the pieces in which pipelined algorithms (chain, circulant) pass on the data.",
     .least = 1, .most = 1 << 30, .internal = true},
    {"coll_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithms of collectives, such as allreduce:ring,bcast:chain; inter: of all collectives on "
     "intercommunicators. A collective that is not named, or whose algorithm cannot do a call, "
     "takes the cheapest.",
     NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL, .pairs = "coll_*_algorithm"},
    ALGORITHM("inter", "|linear|leaders,~spread"),
    ALGORITHM("barrier", "|board|dissemination|k_dissemination|tree|linear|hierarchical"),
    ALGORITHM("bcast", "|board|binomial,~bine|knomial|linear|chain|circulant,~two_tree|"
              "scatter_doubling|scatter_ring|scatter_linear|scatter_circulant|hierarchical|"
              "multi_leader"),
    ALGORITHM("gather", "|board|binomial|linear|allgather|hierarchical"),
    ALGORITHM("scatter", "|board|binomial|linear|bcast|hierarchical"),
    ALGORITHM("allgather", "|board|bruck,~recursive_doubling|k_bruck|ring|neighbor_exchange|linear|"
              "gather_bcast|hierarchical|multi_leader"),
    ALGORITHM("allgatherv", "|board|ring|bruck|linear|hierarchical"),
    ALGORITHM("alltoall", "|board|linear|pairwise|bruck|k_bruck|hierarchical"),
    ALGORITHM("alltoallv", "|linear,~frames|pairwise"),
    ALGORITHM("alltoallw", "|linear,~frames|pairwise"),
    ALGORITHM("reduce", "|board|slices|binomial,~bine|knomial|linear|chain|circulant,~two_tree|"
              "halving|ring|scatter_gather|allreduce|hierarchical|multi_leader"),
    ALGORITHM("allreduce", "|board|slices|recursive_doubling|recursive_multiplying|ring|"
              "halving_doubling|swing|circulant|tree|knomial|linear,~tree_linear|reduce_bcast|"
              "scatter_allgather|hierarchical|multi_leader"),
    ALGORITHM("reduce_scatter", "|board|recursive_doubling|pairwise|circulant|knomial|linear|"
              "reduce_then_scatter|hierarchical"),
    ALGORITHM("scan", "|board|recursive_doubling|chain|hierarchical"),
    ALGORITHM("exscan", "|board|recursive_doubling|chain|hierarchical"),
    ALGORITHM("reduce_scatter_block", "|board|recursive_doubling|pairwise|circulant|knomial|linear|"
              "reduce_then_scatter|allreduce|hierarchical"),
};

const struct tern_param_room tern_params_coll = {"coll", TERN_PARAM_ROWS(coll),
                                                 "Collective operations and their algorithms."};
