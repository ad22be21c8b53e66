/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef PROOF_H
#define PROOF_H

/*
 * One case of a collective among one group, all ranks of it: executed symbolically (symbolic.h), so
 * that every unit of every result is shown to be what it must be, and that no rank waits for ever
 * though every send is synchronous. Units are bytes; every second shape has a type with gaps, whose
 * units cannot be cut. Blocks of the v forms have different lengths, some of them 0.
 *
 * What wants several nodes is proven on several layouts of them, under models of which each has
 * other algorithms for its parts.
 */

#include "lib/coll/run/coll.h"
#include "symbolic.h"

enum { PROOF_INPUTS = 2 }; /* buffers that may hold inputs: of sending and receiving */

struct proof {
    enum tern_collective collective;
    const struct tern_algorithm *algorithm;
    int n, root;
    int64_t count;
    bool in_place, commutative;
    int layout; /* of nodes, below PROOF_LAYOUTS; 0: there is one, and they do not know of it */
    bool without_board;
    const struct tern_device_order *order; /* of all ranks, as for buffers on devices; NULL: none */
    /* NULL, or changes the plans before they are read and run; and what it goes by */
    void (*alter)(struct symbolic_rank *ranks, int n, void *how);
    void *how;
    /* the rest is set by proof_fault */
    const char *fault; /* that a plan has by itself */
    struct tern_topology *topology;
    struct tern_model model;
    const struct tern_type *type;
    struct tern_coll *colls;
    struct tern_call *calls;
    struct symbolic_rank *ranks;
    int *mates; /* the ranks of each node, one node after the other */
    struct content (*inputs)[PROOF_INPUTS]; /* proof_begin: what the ranks have before the plans run */
    int32_t *counts,
        *displs; /* of the v forms: per rank, n blocks each of what it sends, and gets */
};

enum { PROOF_LAYOUTS = 11 };

bool proof_reduces(enum tern_collective collective);
bool proof_has_root(enum tern_collective collective);
bool proof_has_in_place(enum tern_collective collective);
/* Does it need several nodes? */
bool proof_wants_nodes(const struct tern_algorithm *algorithm);

/* For programs that prove many cases: memory that was given back stays, for the next case needs as much. */
void proof_keep_memory(void);

/* NULL if the algorithm is right, or cannot do this case; else what is wrong. */
const char *proof_fault(struct proof proof);

/* The same in parts, for plans that are changed and run again and again. Builds them; false: it cannot be done. */
bool proof_begin(struct proof *proof);
/* Reads the plan of one rank and runs all of them. */
const char *proof_fault_again(struct proof *proof, int rank);
/* Also after false. */
void proof_end(struct proof *proof);

/* All counts, those that are given (the same as the one before is left out), in place and not,
 * commutative and not, where there is a difference: plans that are the same for both are proven for the one that
 * is not, which is more. Where nodes matter on all layouts, with a board on each node and without; in the short run, beyond
 * 16 ranks, on one of three in turn: blocks, unequal nodes, dealt out.
 * Fails the test at the first fault. */
void prove_counts(struct proof proof, const int64_t *counts, int how_many);

#endif
