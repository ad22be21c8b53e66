/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; long: 8; args: 400; long-args: 10000 */
/* Long accumulates, single elements, compare-and-swap and elements at odd addresses, all at a time
 * on the same memory: nothing that was added is lost. The many single elements and the long
 * accumulates take turns in being more frequent, so that the mode of the memory changes
 * (lib/rma/guard.h). */
#include "check.h"

enum { WORDS = 1200, HOT = 7 };

/* What each target has in its window. */
struct memory {
    int64_t integers[WORDS];
    double doubles[WORDS];
    char gap[1];
    char odd[WORDS * sizeof(int64_t)]; /* 64-bit integers at odd addresses */
};

static MPI_Win win;
static int64_t added[3][WORDS]; /* by this rank, to all targets together */
static int64_t ones[WORDS];
static double double_ones[WORDS];

static int drawn(int below)
{
    static unsigned state;
    if (!state)
        state = 12345u + (unsigned)rank;
    state = state * 1103515245u + 12345u;
    return (int)((state >> 8) % (unsigned)below);
}

static void add_long(int target, MPI_Aint place, int kind)
{
    int first = drawn(WORDS), count = 1 + drawn(WORDS - first);
    MPI_Datatype type = kind == 1 ? MPI_DOUBLE : MPI_INT64_T;
    CHECK_OK(MPI_Accumulate(kind == 1 ? (void *)double_ones : ones, count, type, target,
                            place + 8 * first, count, type, MPI_SUM, win));
    for (int i = 0; i < count; i++)
        added[kind][first + i]++;
}

static void add_one(int target, MPI_Aint place, int kind, int at)
{
    int64_t before = -1;
    double before_double = -1;
    void *result = kind == 1 ? (void *)&before_double : &before;
    CHECK_OK(MPI_Fetch_and_op(kind == 1 ? (void *)double_ones : ones, result,
                              kind == 1 ? MPI_DOUBLE : MPI_INT64_T, target, place + 8 * at, MPI_SUM,
                              win));
    CHECK_OK(MPI_Win_flush(target, win));
    CHECK(kind == 1 ? before_double >= 0 : before >= 0);
    added[kind][at]++;
}

static void swap_up(int target, MPI_Aint place, int at)
{
    int64_t seen = 0, before = -1;
    while (before != seen) {
        int64_t next = seen + 1;
        if (before >= 0)
            seen = before, next = seen + 1;
        CHECK_OK(MPI_Compare_and_swap(&next, &seen, &before, MPI_INT64_T, target, place + 8 * at,
                                      win));
        CHECK_OK(MPI_Win_flush(target, win));
    }
    added[0][at]++;
}

static void work(int rounds)
{
    static const MPI_Aint places[] = {offsetof(struct memory, integers),
                                      offsetof(struct memory, doubles),
                                      offsetof(struct memory, odd)};
    for (int i = 0; i < rounds; i++) {
        int target = drawn(size), kind = drawn(3), often = i / 50 % 2;
        if (drawn(often ? 20 : 2) == 0)
            add_long(target, places[kind], kind);
        else if (kind == 0 && drawn(2))
            swap_up(target, places[0], drawn(2) ? HOT : drawn(WORDS));
        else
            add_one(target, places[kind], kind, drawn(2) ? HOT : drawn(WORDS));
    }
}

/* Half of the ranks add to all words of rank 0, the others to one word. */
static void meet(int rounds)
{
    MPI_Aint place = offsetof(struct memory, integers);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < rounds; i++) {
        if (rank % 2 == 0) {
            CHECK_OK(MPI_Accumulate(ones, 64, MPI_INT64_T, 0, place, 64, MPI_INT64_T, MPI_SUM,
                                    win));
            for (int k = 0; k < 64; k++)
                added[0][k]++;
        }
        for (int k = 0; k < 2 && rank % 2; k++) {
            CHECK_OK(MPI_Accumulate(ones, 1, MPI_INT64_T, 0, place + 8 * HOT, 1, MPI_INT64_T,
                                    MPI_SUM, win));
            added[0][HOT]++;
        }
        CHECK_OK(MPI_Win_flush(0, win));
    }
}

static int64_t odd_word(const struct memory *memory, int i)
{
    int64_t word;
    memcpy(&word, memory->odd + 8 * i, sizeof word);
    return word;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    struct memory *memory;
    int rounds = argument(argc, argv, 400);
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    memset(memory, 0, sizeof *memory);
    for (int i = 0; i < WORDS; i++)
        ones[i] = 1, double_ones[i] = 1;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    work(rounds);
    meet(100 * rounds);
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    static int64_t found[3][WORDS];
    for (int i = 0; i < WORDS; i++) {
        found[0][i] = memory->integers[i];
        found[1][i] = (int64_t)memory->doubles[i];
        found[2][i] = odd_word(memory, i);
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, found, 3 * WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, added, 3 * WORDS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    for (int kind = 0; kind < 3; kind++)
        for (int i = 0; i < WORDS; i++)
            CHECK_INT(found[kind][i], added[kind][i]);
    CHECK_OK(MPI_Win_free(&win));
    return end();
}
