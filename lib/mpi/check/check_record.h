/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_RECORD_H
#define TERN_CHECK_RECORD_H

/*
 * What ranks tell each other about a collective before they begin it. Private to lib/mpi/check.
 *
 * A fact is a value under a key. Facts with equal keys must have equal values, whichever rank
 * states them. So one comparison serves all operations. A broadcast states its root and its data.
 * In a gatherv each rank states the block that it sends, and the root states under the same keys
 * the blocks that it expects.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a fact is about. */
enum tern_fact_kind {
    TERN_FACT_ROOT, /* the root of a rooted collective */
    TERN_FACT_OP,   /* the operation of a reduction */
    TERN_FACT_DATA, /* count and type of a block */
    TERN_FACT_SAME, /* an argument that must be equal on all ranks */
    TERN_FACT_EDGE, /* data that rank a sends to rank b: both must state it */
};

/* A fact that a rank states. */
struct tern_fact {
    uint64_t key;   /* made by tern_fact_key */
    /* must be equal in all facts with this key; TERN_SIGNATURE_ANY of data equals every value */
    uint64_t value;
    char text[64];  /* for people: "root 1", "sendcount 10 of MPI_INT" */
};

/* Limits of the parts of a key. */
enum { TERN_FACT_SIDES = 1 << 12, TERN_FACT_RANKS = 1 << 24 };

/* Makes the key of a fact. TERN_FACT_DATA: data that group `side` (0 or 1) sends, block `a` or the
 * block from rank `a` to rank `b`. TERN_FACT_EDGE: edge number `side` from rank `a` to rank `b`.
 * TERN_FACT_SAME: argument number `a`. */
static inline uint64_t tern_fact_key(enum tern_fact_kind kind, int side, uint32_t a, uint32_t b)
{
    return (uint64_t)kind << 60 | (uint64_t)(side & (TERN_FACT_SIDES - 1)) << 48 |
           (uint64_t)(a & (TERN_FACT_RANKS - 1)) << 24 | (b & (TERN_FACT_RANKS - 1));
}

/*
 * Tells which calls belong together: calls with equal numbers in one series. The collectives of a
 * communicator are a series, in the order in which they begin. The starts of one persistent
 * collective are another series. If the program promises to start the persistent collectives of a
 * communicator in one order, all their starts are one series. Calls that only part of the
 * communicator makes name their group; they have a series for each group and tag.
 */
struct tern_occasion {
    uint64_t comm;   /* id of the collective context */
    uint64_t series; /* TERN_SERIES_*, combined with what tells two such series apart */
    uint32_t number; /* position in the series */
};

#define TERN_SERIES_COLLECTIVES UINT64_C(0)
#define TERN_SERIES_STARTS_IN_ORDER UINT64_C(1)
#define TERN_SERIES_STARTS (UINT64_C(1) << 62)     /* combined with the number of the preparation */
#define TERN_SERIES_OF_GROUP (UINT64_C(1) << 63)   /* combined with bits of a digest */

/* Returns true if both name one call. */
static inline bool tern_occasion_same(const struct tern_occasion *a, const struct tern_occasion *b)
{
    return a->comm == b->comm && a->series == b->series && a->number == b->number;
}

/* What a rank tells the judge about its call. */
struct tern_record {
    struct tern_occasion occasion; /* the call */
    int32_t sender;                /* rank in MPI_COMM_WORLD */
    int32_t judge;                 /* rank in MPI_COMM_WORLD of the process that compares */
    int32_t members;               /* processes of the communicator, in both groups */
    /* place of this rank among the members: 0 to members - 1, the judge's group first */
    int32_t place;
    int32_t local;     /* size of the judge's group */
    /* number of ranks that must call; their places follow the facts. 0 if all members must. */
    int32_t awaited;
    int32_t threads;    /* nonzero if other threads of the sender may make such a call now */
    int32_t fact_count; /* number of elements of `facts` */
    char procedure[48]; /* name of the procedure */
    char comm_name[48]; /* name of the communicator, for people */
    struct tern_fact facts[];
};

/* Returns the bytes of a record with that many facts and places. */
static inline size_t tern_record_size(int fact_count, int awaited)
{
    return offsetof(struct tern_record, facts) + (size_t)fact_count * sizeof(struct tern_fact) +
           (size_t)awaited * sizeof(int32_t);
}

/* Returns the bytes of this record. */
static inline size_t tern_record_bytes(const struct tern_record *record)
{
    return tern_record_size(record->fact_count, record->awaited);
}

/* Returns the places of the ranks that must call. Only if not all members must. */
static inline const int32_t *tern_record_awaited(const struct tern_record *record)
{
    return (const int32_t *)&record->facts[record->fact_count];
}

/* Returns true if the rank at `place` must call. */
static inline bool tern_record_awaits(const struct tern_record *record, int place)
{
    for (int i = 0; i < record->awaited; i++)
        if (tern_record_awaited(record)[i] == place)
            return true;
    return record->awaited == 0;
}

/* Compares the records of all members; records[i] is NULL if the record of place i has not arrived.
 * Returns true if they agree. Else returns false and writes to `text` which ranks differ, and in
 * what. */
bool tern_check_judge(const struct tern_record *const records[], int members, char *text,
                      size_t room);

/* Appends names of ranks to `text`, as people know them: "rank 3", "ranks 0, 1, 2". */
void tern_check_name_ranks(const struct tern_record *any, const int places[], int count, char *text,
                           size_t room);

/* ---- the records that the judge has received (check_gather.c) ---- */

/* The longest text of an answer, with its zero; and a result of tern_gather_missing. */
enum { TERN_CHECK_TEXT = 1024, TERN_SAID_BY_ANOTHER = -1 };

/* Answers the sender of the record. An empty text lets the sender go on; else the text says what
 * differs. */
typedef void tern_answer(const struct tern_record *record, const char *text);

/* Adds a copy of a record that has arrived, and answers every rank that can be answered now.
 * Returns false if there is no memory; then no rank will be answered. */
bool tern_gather_record(const struct tern_record *record, tern_answer *answer);

/* Handles the question of the rank at `place`, which has waited for long, who is missing. If the
 * records that have arrived already differ, answers all their senders. Else returns the number of
 * missing ranks and stores the places of up to `most` of them. Returns 0 if none is missing or if
 * the occasion is unknown. Returns TERN_SAID_BY_ANOTHER if another rank asked first: that rank
 * reports it. */
int tern_gather_missing(const struct tern_occasion *occasion, int place, tern_answer *answer,
                        int most, int32_t places[]);

/* Stops waiting for the ranks at the places where `lost` is true. Answers all ranks that have
 * called, if no other rank is missing. */
void tern_gather_without(const struct tern_occasion *occasion, const bool lost[],
                         tern_answer *answer);

/* Frees all records. For tests only: the library keeps its records after the last user has left,
 * because other ranks may still wait for an answer when this rank comes back. */
void tern_gather_forget(void);

/* ---- the exchange (check_exchange.c) ---- */

struct tern_comm;
struct tern_permit;

/*
 * Makes a permit that has not begun. The caller owns the permit; if `detached` is true, the permit
 * frees itself once it has begun and is answered. Takes ownership of `record` (malloc'ed), also on
 * failure. When the permit begins, its record gets its number in the series. The permit of a
 * persistent collective may begin again after each answer. Returns NULL if there is no memory.
 */
struct tern_permit *tern_permit_new(struct tern_record *record, struct tern_comm *comm,
                                    bool detached);

/* Begins a permit, waits for the answer and returns it: 0 or TERN_ERR_NOT_SAME. Blocks; hold no
 * lane. */
int tern_permit_wait(struct tern_permit *permit);

#endif
