/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; needs: MPI_Type_get_value_index */
/* One-sided operations combine the pairs of MPI_Type_get_value_index, atomically: those with a hole
 * before the index, with a gap at the end, and with neither. */
#include "check.h"

enum { N = 50, TURNS = 40 };

/* Element i of the origins of rank r. */
static int value_of(int r, int i)
{
    return (r * 5 + i) % 4 + 3;
}

static int index_of(int r, int i)
{
    return (r * 3 + i) % 7 + 1;
}

/* Returns the rank of which element i is the lowest. */
static int winner(int i)
{
    int best = 0;
    for (int r = 1; r < size; r++) {
        int more = value_of(r, i) - value_of(best, i);
        if (more < 0 || (more == 0 && index_of(r, i) < index_of(best, i)))
            best = r;
    }
    return best;
}

static void free_window(MPI_Win *win, void *memory, int own)
{
    CHECK_OK(MPI_Win_free(win));
    if (own)
        free(memory);
}

/* Makes a window in memory that all ranks of the node have mapped, or in the rank's own. */
static void *make_window(size_t bytes, int own, MPI_Win *win)
{
    void *memory;
    if (own) {
        memory = allocate(bytes);
        CHECK_OK(MPI_Win_create(memory, (MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, win));
    } else {
        CHECK_OK(MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, win));
    }
    CHECK_OK(MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN));
    return memory;
}

/* All ranks combine with rank 0's pairs: many at a time, in another layout, and one in turns. */
#define RUN(name, value_type, V, index_type, I) \
    static void name(int own) \
    { \
        struct two { V value; I at; } in[N], old[N], one = {0}, before; \
        MPI_Datatype pair, spread; \
        MPI_Win win; \
        int bytes; \
        struct two *memory = make_window((2 * N + 1) * sizeof *memory, own, &win); \
        CHECK_OK(MPI_Type_get_value_index(value_type, index_type, &pair)); \
        CHECK_OK(MPI_Type_vector(N, 1, 2, pair, &spread)); /* every second pair */ \
        CHECK_OK(MPI_Type_commit(&spread)); \
        memset(in, 0, sizeof in); \
        for (int i = 0; i < 2 * N + 1; i++) { \
            memory[i].value = (V) 100; \
            memory[i].at = (I) 100; \
        } \
        for (int i = 0; i < N; i++) { \
            in[i].value = (V) value_of(rank, i); \
            in[i].at = (I) index_of(rank, i); \
        } \
        CHECK_OK(MPI_Win_fence(0, win)); \
        CHECK_OK(MPI_Accumulate(in, N, pair, 0, 0, 1, spread, MPI_MINLOC, win)); \
        CHECK_OK(MPI_Win_fence(0, win)); \
        CHECK_OK(MPI_Get_accumulate(NULL, 0, pair, old, N, pair, 0, 0, 1, spread, MPI_NO_OP, win)); \
        CHECK_OK(MPI_Win_fence(0, win)); \
        for (int i = 0; i < N; i++) { \
            int best = winner(i); \
            CHECK(old[i].value == (V) value_of(best, i) && old[i].at == (I) index_of(best, i)); \
            CHECK(rank || (memory[2 * i + 1].value == 100 && memory[2 * i + 1].at == 100)); \
        } \
        CHECK_OK(MPI_Win_fence(0, win)); \
        MPI_Aint last = 2 * N * (MPI_Aint) sizeof *memory; \
        CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win)); \
        for (int i = 0; i < TURNS; i++) { /* the highest is the last of rank size - 1 */ \
            one.value = (V) (i + rank + 101 - size - TURNS); \
            one.at = (I) (rank + 1); \
            if (i == 0) \
                one.value = (V) 50; \
            CHECK_OK(MPI_Fetch_and_op(&one, &before, pair, 0, last, MPI_MINLOC, win)); \
            CHECK_OK(MPI_Win_flush(0, win)); \
            CHECK(before.value == 100 || before.value == 50 || before.value < 100); \
        } \
        CHECK_OK(MPI_Win_unlock(0, win)); \
        CHECK_OK(MPI_Win_fence(0, win)); \
        if (rank == 0) { \
            int least = 50, at = 1; \
            for (int r = 0; r < size; r++) \
                for (int i = 1; i < TURNS; i++) \
                    if (i + r + 101 - size - TURNS < least) { \
                        least = i + r + 101 - size - TURNS; \
                        at = r + 1; \
                    } \
            CHECK(memory[2 * N].value == (V) least && memory[2 * N].at == (I) at); \
        } \
        CHECK_OK(MPI_Win_fence(0, win)); \
        one.value = (V) 9; \
        one.at = (I) 8; \
        if (rank == size - 1) \
            CHECK_OK(MPI_Accumulate(&one, 1, pair, 0, last, 1, pair, MPI_REPLACE, win)); \
        CHECK_OK(MPI_Win_fence(0, win)); \
        CHECK(rank || (memory[2 * N].value == 9 && memory[2 * N].at == 8)); \
        CHECK_CLASS(MPI_Accumulate(&one, 1, pair, 0, 0, 1, pair, MPI_SUM, win), MPI_ERR_OP); \
        CHECK_OK(MPI_Type_size(pair, &bytes)); \
        CHECK_CLASS(MPI_Accumulate(&one, 1, pair, 0, 0, bytes, MPI_BYTE, MPI_MINLOC, win), \
                    MPI_ERR_TYPE); \
        CHECK_OK(MPI_Win_fence(0, win)); \
        CHECK_OK(MPI_Type_free(&spread)); \
        free_window(&win, memory, own); \
    }

RUN(with_neither, MPI_DOUBLE, double, MPI_UINT64_T, uint64_t)
RUN(with_hole, MPI_INT16_T, int16_t, MPI_INT64_T, int64_t)
RUN(with_small_hole, MPI_SIGNED_CHAR, signed char, MPI_SHORT, short)
RUN(with_gap, MPI_INT64_T, int64_t, MPI_SIGNED_CHAR, signed char)
RUN(one_word, MPI_UNSIGNED, unsigned, MPI_UNSIGNED, unsigned)
RUN(two_bytes, MPI_UINT8_T, uint8_t, MPI_UINT8_T, uint8_t)
RUN(longest, MPI_LONG_DOUBLE, long double, MPI_LONG, long)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    for (int own = 0; own < 2; own++) {
        with_neither(own);
        with_hole(own);
        with_small_hole(own);
        with_gap(own);
        one_word(own);
        two_bytes(own);
        longest(own);
    }
    return end();
}
