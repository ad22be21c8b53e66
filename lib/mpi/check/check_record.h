/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_RECORD_H
#define TERN_CHECK_RECORD_H

/*
 * What ranks tell each other about a collective before they begin it. Private to lib/mpi/check.
 *
 * A fact is a value under a key: facts with the same key must have the same value whichever rank
 * states them. So one comparison serves all operations: a broadcast states its root and its data; a
 * gatherv states at each rank the block it sends, and at the root, under the same keys, the blocks
 * it expects.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tern_fact_kind {
    TERN_FACT_ROOT,
    TERN_FACT_OP,
    TERN_FACT_DATA,
    TERN_FACT_SAME,
    TERN_FACT_EDGE, /* what a sends to b: both must state it */
};

struct tern_fact {
    uint64_t key;   /* tern_fact_key */
    uint64_t value;
    char text[64];  /* for people: "root 1", "sendcount 10 of MPI_INT" */
};

enum { TERN_FACT_SIDES = 1 << 12, TERN_FACT_RANKS = 1 << 24 };

/* Data of group `side` (0 or 1), of block a or from a to b; of edge `side` from a to b; an argument
 * is number a. */
static inline uint64_t tern_fact_key(enum tern_fact_kind kind, int side, uint32_t a, uint32_t b)
{
    return (uint64_t)kind << 60 | (uint64_t)(side & (TERN_FACT_SIDES - 1)) << 48 |
           (uint64_t)(a & (TERN_FACT_RANKS - 1)) << 24 | (b & (TERN_FACT_RANKS - 1));
}

/*
 * Which calls belong together: those of one number in a series. The collectives of a communicator
 * are one, in the order in which they are begun. The starts of a persistent one are another, and
 * those of all of a communicator whose program promises to start them in one order. Calls of a part
 * of the communicator, which name their group, have a series for each group and tag.
 */
struct tern_occasion {
    uint64_t comm;   /* id of the collective context */
    uint64_t series; /* TERN_SERIES_*, with what makes it another */
    uint32_t number; /* in the series */
};

#define TERN_SERIES_COLLECTIVES UINT64_C(0)
#define TERN_SERIES_STARTS_IN_ORDER UINT64_C(1)
#define TERN_SERIES_STARTS (UINT64_C(1) << 62)     /* with the number of the preparing */
#define TERN_SERIES_OF_GROUP (UINT64_C(1) << 63)   /* with bits of a digest */

static inline bool tern_occasion_same(const struct tern_occasion *a, const struct tern_occasion *b)
{
    return a->comm == b->comm && a->series == b->series && a->number == b->number;
}

struct tern_record {
    struct tern_occasion occasion;
    int32_t sender;    /* rank in MPI_COMM_WORLD */
    int32_t judge;     /* rank in MPI_COMM_WORLD of the process that compares */
    int32_t members;   /* of the communicator, both groups */
    int32_t place;     /* of this rank among them: the judge's group first */
    int32_t local;     /* size of the judge's group */
    int32_t awaited;   /* who has to come: that many, named behind the facts; 0: all members */
    int32_t threads;   /* may other threads of the sender make such a call now? */
    int32_t fact_count;
    char procedure[48];
    char comm_name[48];
    struct tern_fact facts[];
};

static inline size_t tern_record_size(int fact_count, int awaited)
{
    return offsetof(struct tern_record, facts) + (size_t)fact_count * sizeof(struct tern_fact) +
           (size_t)awaited * sizeof(int32_t);
}

static inline size_t tern_record_bytes(const struct tern_record *record)
{
    return tern_record_size(record->fact_count, record->awaited);
}

/* The places of those who are awaited, if it is not all. */
static inline const int32_t *tern_record_awaited(const struct tern_record *record)
{
    return (const int32_t *)&record->facts[record->fact_count];
}

/* Has this place to come? */
static inline bool tern_record_awaits(const struct tern_record *record, int place)
{
    for (int i = 0; i < record->awaited; i++)
        if (tern_record_awaited(record)[i] == place)
            return true;
    return record->awaited == 0;
}

/* Do they all do the same? Records that have not come are NULL. True, or false with a text that
 * says which ranks differ, and in what. */
bool tern_check_judge(const struct tern_record *const records[], int members, char *text,
                      size_t room);

/* "rank 3", "ranks 0, 1, 2": places as people know them. */
void tern_check_name_ranks(const struct tern_record *any, const int places[], int count, char *text,
                           size_t room);

/* ---- what the judge has heard (check_gather.c) ---- */

enum { TERN_CHECK_TEXT = 1024, TERN_SAID_BY_ANOTHER = -1 };

/* The sender of the record is told: empty text: go on, else what differs. */
typedef void tern_answer(const struct tern_record *record, const char *text);

/* One has come, and is copied; whoever can be answered now is. False: no memory, nobody will be
 * answered. */
bool tern_gather_record(const struct tern_record *record, tern_answer *answer);

/* The rank at `place` has waited for long. Answers all if those who came differ; else returns how
 * many are missing, with the places of up to `most`. 0: none, or unknown; TERN_SAID_BY_ANOTHER:
 * another one asked first, and says it. */
int tern_gather_missing(const struct tern_occasion *occasion, int place, tern_answer *answer,
                        int most, int32_t places[]);

/* The ranks at these places cannot be heard any more: answers all who came, if nobody else is
 * missing. */
void tern_gather_without(const struct tern_occasion *occasion, const bool lost[],
                         tern_answer *answer);

void tern_gather_forget(void);

/* ---- the exchange (check_exchange.c) ---- */

struct tern_comm;
struct tern_permit;

/*
 * A permit that belongs to the caller, not begun; `detached`: to nobody, once it has begun. It owns
 * the record (malloc'ed) from here on, also on failure. When it begins, a record of a series that
 * counts gets its number; that of starts may begin again when it was answered. NULL: no memory.
 */
struct tern_permit *tern_permit_new(struct tern_record *record, struct tern_comm *comm,
                                    bool detached);

/* Begins it, waits for the answer and returns it. No lane is held. */
int tern_permit_wait(struct tern_permit *permit);

#endif
