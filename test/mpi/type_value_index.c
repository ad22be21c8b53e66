/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; needs: MPI_Type_get_value_index MPI_Reduce_init */
/* MPI_Type_get_value_index finds a pair for every number and every integer index. A pair lies as a
 * C structure does; it is predefined; MPI_MINLOC and MPI_MAXLOC work on it in all reductions. */
#include "check.h"

enum { N = 20, VALUE_INDEX = 19 /* MPI_COMBINER_VALUE_INDEX */ };

static int pairs; /* that were tried, of those without a name */

static int value_of(int r, int i)
{
    return (r * 5 + i) % 4 + 3;
}

static int index_of(int r, int i)
{
    return (r * 3 + i) % 7 + 1;
}

/* Returns the rank of which element i is the lowest or the highest. */
static int winner(int i, int highest)
{
    int best = 0;
    for (int r = 1; r < size; r++) {
        int more = value_of(r, i) - value_of(best, i), better = highest ? more : -more;
        if (better > 0 || (better == 0 && index_of(r, i) < index_of(best, i)))
            best = r;
    }
    return best;
}

static void check_object(MPI_Datatype pair, MPI_Datatype value, MPI_Datatype index, size_t bytes)
{
    int integers, addresses, types, combiner, size_of_one, value_size, index_size, length;
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Datatype again, contents[2], freed = pair;
    MPI_Aint lb, extent;
    CHECK(pair != MPI_DATATYPE_NULL);
    CHECK_OK(MPI_Type_get_value_index(value, index, &again));
    CHECK(again == pair);
    CHECK_OK(MPI_Type_get_extent(pair, &lb, &extent));
    CHECK_INT(lb, 0);
    CHECK_INT(extent, bytes);
    CHECK_OK(MPI_Type_size(pair, &size_of_one));
    CHECK_OK(MPI_Type_size(value, &value_size));
    CHECK_OK(MPI_Type_size(index, &index_size));
    CHECK_INT(size_of_one, value_size + index_size);
    CHECK_OK(MPI_Type_get_envelope(pair, &integers, &addresses, &types, &combiner));
    if (combiner == MPI_COMBINER_NAMED)
        return;
    pairs++;
    CHECK_INT(combiner, VALUE_INDEX);
    CHECK(integers == 0 && addresses == 0 && types == 2);
    CHECK_OK(MPI_Type_get_contents(pair, 0, 0, 2, NULL, NULL, contents));
    CHECK(contents[0] == value && contents[1] == index);
    CHECK_OK(MPI_Type_get_name(pair, name, &length));
    CHECK_INT(length, 0);
    CHECK_CLASS(MPI_Type_free(&freed), MPI_ERR_TYPE);
    CHECK(freed == pair);
}

#define RUN(value_type, V, index_type, I) \
    do { \
        struct { V value; I at; } in[N], low[N], high[N], local[N]; \
        MPI_Datatype pair; \
        CHECK_OK(MPI_Type_get_value_index(value_type, index_type, &pair)); \
        check_object(pair, value_type, index_type, sizeof in[0]); \
        memset(in, 0, sizeof in); \
        for (int i = 0; i < N; i++) { \
            in[i].value = (V) value_of(rank, i); \
            in[i].at = (I) index_of(rank, i); \
            local[i].value = (V) value_of(0, i); \
            local[i].at = (I) index_of(0, i); \
        } \
        CHECK_OK(MPI_Allreduce(in, low, N, pair, MPI_MINLOC, MPI_COMM_WORLD)); \
        CHECK_OK(MPI_Allreduce(in, high, N, pair, MPI_MAXLOC, MPI_COMM_WORLD)); \
        CHECK_OK(MPI_Reduce_local(low, local, N, pair, MPI_MINLOC)); \
        for (int i = 0; i < N; i++) { \
            int least = winner(i, 0), most = winner(i, 1); \
            CHECK(low[i].value == (V) value_of(least, i) && low[i].at == (I) index_of(least, i)); \
            CHECK(high[i].value == (V) value_of(most, i) && high[i].at == (I) index_of(most, i)); \
            CHECK(local[i].value == low[i].value && local[i].at == low[i].at); \
        } \
        CHECK_CLASS(MPI_Allreduce(in, low, N, pair, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP); \
    } while (0)

#define ALL_INDEXES(name, value_type, V) \
    static void run_##name(void) \
    { \
        RUN(value_type, V, MPI_SIGNED_CHAR, signed char); \
        RUN(value_type, V, MPI_SHORT, short); \
        RUN(value_type, V, MPI_INT, int); \
        RUN(value_type, V, MPI_LONG, long); \
        RUN(value_type, V, MPI_UINT16_T, uint16_t); \
        RUN(value_type, V, MPI_UNSIGNED, unsigned); \
        RUN(value_type, V, MPI_UINT64_T, uint64_t); \
    }

ALL_INDEXES(schar, MPI_SIGNED_CHAR, signed char)
ALL_INDEXES(short, MPI_SHORT, short)
ALL_INDEXES(int, MPI_INT, int)
ALL_INDEXES(long, MPI_LONG, long)
ALL_INDEXES(int64, MPI_INT64_T, int64_t)
ALL_INDEXES(uint8, MPI_UINT8_T, uint8_t)
ALL_INDEXES(uint16, MPI_UINT16_T, uint16_t)
ALL_INDEXES(unsigned, MPI_UNSIGNED, unsigned)
ALL_INDEXES(ulong, MPI_UNSIGNED_LONG, unsigned long)
ALL_INDEXES(float, MPI_FLOAT, float)
ALL_INDEXES(double, MPI_DOUBLE, double)
ALL_INDEXES(long_double, MPI_LONG_DOUBLE, long double)

/* What is below 0, or too large for the signed type, is in its place. */
static void signs(void)
{
    struct { long value; unsigned char at; } a = {-1, 200}, b = {-1, 100};
    struct { unsigned long value; short at; } c = {1UL << 63, 2}, d = {1, -300};
    struct { float value; int8_t at; } e = {-0.5f, 3}, f = {-0.25f, -3};
    MPI_Datatype pair;
    CHECK_OK(MPI_Type_get_value_index(MPI_LONG, MPI_UNSIGNED_CHAR, &pair));
    CHECK_OK(MPI_Reduce_local(&b, &a, 1, pair, MPI_MINLOC));
    CHECK(a.value == -1 && a.at == 100);
    CHECK_OK(MPI_Type_get_value_index(MPI_UNSIGNED_LONG, MPI_SHORT, &pair));
    CHECK_OK(MPI_Reduce_local(&d, &c, 1, pair, MPI_MAXLOC));
    CHECK(c.value == 1UL << 63 && c.at == 2);
    CHECK_OK(MPI_Type_get_value_index(MPI_FLOAT, MPI_INT8_T, &pair));
    CHECK_OK(MPI_Reduce_local(&f, &e, 1, pair, MPI_MAXLOC));
    CHECK(e.value == -0.25f && e.at == -3);
}

struct pair {
    double value;
    uint64_t at;
};

/* `first` to `last`: the ranks whose minimum it is. */
static void check_minimum(const struct pair *got, int first, int last, const char *what)
{
    /* rank r has value 10 - r / 2 and index 2^40 - r */
    int best = first;
    for (int r = first; r <= last; r++)
        if (10 - r / 2 <= 10 - best / 2)
            best = r;
    if (got->value != 10 - best / 2 || got->at != (UINT64_C(1) << 40) - (uint64_t)best)
        check_fail(__FILE__, __LINE__, "%s: got %g at %llu, expected rank %d's", what, got->value,
                   (unsigned long long)got->at, best);
}

static void collectives(void)
{
    struct pair *in = allocate((size_t)size * sizeof *in), got = {0};
    int *counts = allocate((size_t)size * sizeof *counts);
    MPI_Datatype pair;
    MPI_Request request;
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &pair));
    for (int i = 0; i < size; i++) {
        in[i] = (struct pair){10 - rank / 2, (UINT64_C(1) << 40) - (uint64_t)rank};
        counts[i] = 1;
    }
    CHECK_OK(MPI_Reduce(in, &got, 1, pair, MPI_MINLOC, size - 1, MPI_COMM_WORLD));
    if (rank == size - 1)
        check_minimum(&got, 0, size - 1, "MPI_Reduce");
    CHECK_OK(MPI_Scan(in, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD));
    check_minimum(&got, 0, rank, "MPI_Scan");
    CHECK_OK(MPI_Exscan(in, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD));
    if (rank > 0)
        check_minimum(&got, 0, rank - 1, "MPI_Exscan");
    CHECK_OK(MPI_Reduce_scatter_block(in, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD));
    check_minimum(&got, 0, size - 1, "MPI_Reduce_scatter_block");
    CHECK_OK(MPI_Reduce_scatter(in, &got, counts, pair, MPI_MINLOC, MPI_COMM_WORLD));
    check_minimum(&got, 0, size - 1, "MPI_Reduce_scatter");
    CHECK_OK(MPI_Iallreduce(in, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD, &request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    check_minimum(&got, 0, size - 1, "MPI_Iallreduce");
    CHECK_OK(MPI_Allreduce_init(in, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
    CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
    check_minimum(&got, 0, size - 1, "MPI_Allreduce_init");
    got = in[0];
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &got, 1, pair, MPI_MINLOC, MPI_COMM_WORLD));
    check_minimum(&got, 0, size - 1, "MPI_Allreduce in place");
    free(in);
    free(counts);
}

/* Long vectors with holes inside and at the end of each element. */
static void long_vectors(void)
{
    enum { LONG = 100000 };
    struct gaps { int16_t value; int64_t at; } *in = allocate(LONG * sizeof *in),
                                               *out = allocate(LONG * sizeof *out);
    MPI_Datatype pair;
    CHECK_OK(MPI_Type_get_value_index(MPI_INT16_T, MPI_INT64_T, &pair));
    for (int i = 0; i < LONG; i++)
        in[i] = (struct gaps){(int16_t)value_of(rank, i), index_of(rank, i)};
    CHECK_OK(MPI_Allreduce(in, out, LONG, pair, MPI_MAXLOC, MPI_COMM_WORLD));
    for (int i = 0; i < LONG; i++) {
        int most = winner(i, 1);
        CHECK(out[i].value == value_of(most, i) && out[i].at == index_of(most, i));
    }
    free(in);
    free(out);
}

/* A pair is like any other datatype in messages, and matches its two elements. */
static void messages(void)
{
    struct pair out = {rank, (uint64_t)rank + 7}, in = {0};
    MPI_Datatype pair, copy;
    MPI_Status status;
    int count, elements, left = (rank + size - 1) % size, right = (rank + 1) % size, position = 0;
    char packed[32];
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &pair));
    CHECK_OK(MPI_Type_dup(pair, &copy));
    CHECK_OK(MPI_Sendrecv(&out, 1, pair, right, 0, &in, 1, copy, left, 0, MPI_COMM_WORLD, &status));
    CHECK(in.value == left && in.at == (uint64_t)left + 7);
    CHECK_OK(MPI_Get_count(&status, pair, &count));
    CHECK_OK(MPI_Get_elements(&status, pair, &elements));
    CHECK(count == 1 && elements == 2);
    CHECK_CLASS(MPI_Allreduce(&out, &in, 1, copy, MPI_MINLOC, MPI_COMM_WORLD), MPI_ERR_OP);
    CHECK_OK(MPI_Type_free(&copy));
    CHECK_OK(MPI_Pack_external("external32", &out, 1, pair, packed, 32, &(MPI_Aint){0}));
    CHECK_OK(MPI_Pack(&out, 1, pair, packed, 32, &position, MPI_COMM_WORLD));
    CHECK_INT(position, 16);
    CHECK_OK(MPI_Bcast(&out, 1, pair, 0, MPI_COMM_WORLD));
    CHECK(out.value == 0 && out.at == 7);
}

/* One-sided calls move pairs, and compare them for no swap; win_value_index.c combines them. */
static void windows(void)
{
    struct pair *memory, mine = {rank, 5}, old;
    MPI_Datatype pair;
    MPI_Win win;
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_UINT64_T, &pair));
    CHECK_OK(MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&mine, 1, pair, (rank + 1) % size, 0, 1, pair, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK(memory->value == (rank + size - 1) % size && memory->at == 5);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_CLASS(MPI_Compare_and_swap(&mine, &mine, &old, pair, 0, 0, win), MPI_ERR_TYPE);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
}

/* What has no pair. */
static void nothing(void)
{
    MPI_Datatype pair, derived;
    CHECK_OK(MPI_Type_contiguous(1, MPI_INT, &derived));
    CHECK_OK(MPI_Type_commit(&derived));
    const MPI_Datatype none[][2] = {
        {MPI_DOUBLE, MPI_CHAR},       {MPI_CHAR, MPI_INT},      {MPI_BYTE, MPI_INT},
        {MPI_DOUBLE, MPI_FLOAT},      {MPI_C_BOOL, MPI_INT},    {MPI_DOUBLE_INT, MPI_INT},
        {MPI_C_DOUBLE_COMPLEX, MPI_INT}, {MPI_DOUBLE, derived}, {derived, MPI_INT},
        {MPI_INT, MPI_DOUBLE_INT},    {MPI_PACKED, MPI_PACKED}, {MPI_WCHAR, MPI_INT}};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
        CHECK_OK(MPI_Type_get_value_index(none[i][0], none[i][1], &pair));
        CHECK(pair == MPI_DATATYPE_NULL);
    }
    CHECK_OK(MPI_Type_free(&derived));
    CHECK_OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT, &pair));
    CHECK(pair == MPI_DOUBLE_INT);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    run_schar();
    run_short();
    run_int();
    run_long();
    run_int64();
    run_uint8();
    run_uint16();
    run_unsigned();
    run_ulong();
    run_float();
    run_double();
    run_long_double();
    CHECK_INT(pairs, 12 * 7 - 6);
    RUN(MPI_REAL16, binary128, MPI_INTEGER8, int64_t);
    RUN(MPI_INTEGER, int, MPI_INTEGER, int);
    signs();
    collectives();
    long_vectors();
    messages();
    windows();
    nothing();
    return end();
}
