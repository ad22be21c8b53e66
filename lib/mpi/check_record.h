/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_RECORD_H
#define TERN_CHECK_RECORD_H

/*
 * What ranks tell each other about a collective before they begin it. Private to lib/mpi/check_*.c.
 *
 * A fact is a value under a key: facts with the same key must have the same value whichever rank
 * states them. So one comparison serves all operations: a broadcast states its root and its data; a
 * gatherv states at each rank the block it sends, and at the root, under the same keys, the blocks
 * it expects.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tern_fact_kind { TERN_FACT_ROOT, TERN_FACT_OP, TERN_FACT_DATA, TERN_FACT_SAME };

struct tern_fact {
    uint64_t key;   /* tern_fact_key */
    uint64_t value;
    char text[48];  /* for people: "root 1", "sendcount 10 of MPI_INT" */
};

/* Data of group `side` (0 or 1), of block a or from a to b; an argument is number a. */
static inline uint64_t tern_fact_key(enum tern_fact_kind kind, int side, uint32_t a, uint32_t b)
{
    return (uint64_t)kind << 60 | (uint64_t)side << 56 | (uint64_t)(a & 0xfffffff) << 28 |
           (b & 0xfffffff);
}

struct tern_record {
    uint64_t comm;     /* id of the collective context */
    uint32_t number;   /* of the collective on this communicator, from 0 */
    int32_t sender;    /* rank in MPI_COMM_WORLD */
    int32_t judge;     /* rank in MPI_COMM_WORLD of the process that compares */
    int32_t members;   /* of the communicator, both groups */
    int32_t place;     /* of this rank among them: the judge's group first */
    int32_t local;     /* size of the judge's group */
    int32_t fact_count;
    char procedure[48];
    char comm_name[48];
    struct tern_fact facts[];
};

static inline size_t tern_record_size(int fact_count)
{
    return offsetof(struct tern_record, facts) + (size_t)fact_count * sizeof(struct tern_fact);
}

/* Do they all do the same? Records that have not come are NULL. True, or false with a text that says
 * which ranks differ, and in what. */
bool tern_check_judge(const struct tern_record *const records[], int members, char *text,
                      size_t room);

/* "rank 3", "ranks 0, 1, 2": places as people know them. */
void tern_check_name_ranks(const struct tern_record *any, const int places[], int count, char *text,
                           size_t room);

/* ---- the exchange (check_exchange.c) ---- */

struct tern_comm;
struct tern_permit;

/* A permit that belongs to the caller, not begun; `detached`: to nobody, once it has begun. It owns the record (malloc'ed) from here on, also on
 * failure. NULL: no memory. */
struct tern_permit *tern_permit_new(struct tern_record *record, struct tern_comm *comm, bool detached);

/* Begins it, waits for the answer and returns it. No lane is held. */
int tern_permit_wait(struct tern_permit *permit);

#endif
