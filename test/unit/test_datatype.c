/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI datatypes as objects: the predefined ones against Open MPI's names and sizes, random derived
 * ones rebuilt from their contents, counting of elements against a list of all of them, life time,
 * errors.
 */
#include "lib/mpi/datatype_named.h"
#include "lib/mpi/procedures.h"
#include "lib/util/error.h"
#include "suite.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed;

static int64_t choose(int64_t low, int64_t high)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return low + (int64_t)(seed % (uint64_t)(high - low + 1));
}

static struct tern_ints ints(const int *values)
{
    return (struct tern_ints){values, 4};
}

static struct tern_ints aints(const int64_t *values)
{
    return (struct tern_ints){values, 8};
}

static void drop(struct tern_datatype *datatype)
{
    if (!datatype->predefined)
        ck_assert_int_eq(tern_mpi_type_free(&datatype), 0);
}

/* What Open MPI 4.1.4 answers on x86-64. */
static const struct {
    const char *name;
    int size;
    struct tern_datatype *datatype;
} facts[] = {
    {"MPI_BYTE", 1, &tern_datatype_byte},
    {"MPI_PACKED", 1, &tern_datatype_packed},
    {"MPI_UB", 0, &tern_datatype_ub},
    {"MPI_LB", 0, &tern_datatype_lb},
    {"MPI_CHARACTER", 1, &tern_datatype_character},
    {"MPI_LOGICAL", 4, &tern_datatype_logical},
    {"MPI_INTEGER", 4, &tern_datatype_integer},
    {"MPI_INTEGER1", 1, &tern_datatype_integer1},
    {"MPI_INTEGER2", 2, &tern_datatype_integer2},
    {"MPI_INTEGER4", 4, &tern_datatype_integer4},
    {"MPI_INTEGER8", 8, &tern_datatype_integer8},
    {"MPI_INTEGER16", 0, &tern_datatype_integer16},
    {"MPI_REAL", 4, &tern_datatype_real},
    {"MPI_REAL4", 4, &tern_datatype_real4},
    {"MPI_REAL8", 8, &tern_datatype_real8},
    {"MPI_REAL16", 16, &tern_datatype_real16},
    {"MPI_DOUBLE_PRECISION", 8, &tern_datatype_dblprec},
    {"MPI_COMPLEX", 8, &tern_datatype_cplex},
    {"MPI_COMPLEX8", 8, &tern_datatype_complex8},
    {"MPI_COMPLEX16", 16, &tern_datatype_complex16},
    {"MPI_COMPLEX32", 32, &tern_datatype_complex32},
    {"MPI_DOUBLE_COMPLEX", 16, &tern_datatype_dblcplex},
    {"MPI_2REAL", 8, &tern_datatype_2real},
    {"MPI_2DOUBLE_PRECISION", 16, &tern_datatype_2dblprec},
    {"MPI_2INTEGER", 8, &tern_datatype_2integer},
    {"MPI_2COMPLEX", 16, &tern_datatype_2cplex},
    {"MPI_2DOUBLE_COMPLEX", 32, &tern_datatype_2dblcplex},
    {"MPI_REAL2", 0, &tern_datatype_real2},
    {"MPI_LOGICAL1", 1, &tern_datatype_logical1},
    {"MPI_LOGICAL2", 2, &tern_datatype_logical2},
    {"MPI_LOGICAL4", 4, &tern_datatype_logical4},
    {"MPI_LOGICAL8", 8, &tern_datatype_logical8},
    {"MPI_WCHAR", 4, &tern_datatype_wchar},
    {"MPI_CHAR", 1, &tern_datatype_char},
    {"MPI_UNSIGNED_CHAR", 1, &tern_datatype_unsigned_char},
    {"MPI_SIGNED_CHAR", 1, &tern_datatype_signed_char},
    {"MPI_SHORT", 2, &tern_datatype_short},
    {"MPI_UNSIGNED_SHORT", 2, &tern_datatype_unsigned_short},
    {"MPI_INT", 4, &tern_datatype_int},
    {"MPI_UNSIGNED", 4, &tern_datatype_unsigned},
    {"MPI_LONG", 8, &tern_datatype_long},
    {"MPI_UNSIGNED_LONG", 8, &tern_datatype_unsigned_long},
    {"MPI_LONG_LONG_INT", 8, &tern_datatype_long_long_int},
    {"MPI_UNSIGNED_LONG_LONG", 8, &tern_datatype_unsigned_long_long},
    {"MPI_FLOAT", 4, &tern_datatype_float},
    {"MPI_DOUBLE", 8, &tern_datatype_double},
    {"MPI_LONG_DOUBLE", 16, &tern_datatype_long_double},
    {"MPI_FLOAT_INT", 8, &tern_datatype_float_int},
    {"MPI_DOUBLE_INT", 12, &tern_datatype_double_int},
    {"MPI_LONG_DOUBLE_INT", 20, &tern_datatype_longdbl_int},
    {"MPI_LONG_INT", 12, &tern_datatype_long_int},
    {"MPI_2INT", 8, &tern_datatype_2int},
    {"MPI_SHORT_INT", 6, &tern_datatype_short_int},
    {"MPI_CXX_BOOL", 1, &tern_datatype_cxx_bool},
    {"MPI_CXX_FLOAT_COMPLEX", 8, &tern_datatype_cxx_cplex},
    {"MPI_CXX_DOUBLE_COMPLEX", 16, &tern_datatype_cxx_dblcplex},
    {"MPI_CXX_LONG_DOUBLE_COMPLEX", 32, &tern_datatype_cxx_ldblcplex},
    {"MPI_INT8_T", 1, &tern_datatype_int8_t},
    {"MPI_UINT8_T", 1, &tern_datatype_uint8_t},
    {"MPI_INT16_T", 2, &tern_datatype_int16_t},
    {"MPI_UINT16_T", 2, &tern_datatype_uint16_t},
    {"MPI_INT32_T", 4, &tern_datatype_int32_t},
    {"MPI_UINT32_T", 4, &tern_datatype_uint32_t},
    {"MPI_INT64_T", 8, &tern_datatype_int64_t},
    {"MPI_UINT64_T", 8, &tern_datatype_uint64_t},
    {"MPI_AINT", 8, &tern_datatype_aint},
    {"MPI_OFFSET", 8, &tern_datatype_offset},
    {"MPI_C_BOOL", 1, &tern_datatype_c_bool},
    {"MPI_C_COMPLEX", 8, &tern_datatype_c_float_complex},
    {"MPI_C_DOUBLE_COMPLEX", 16, &tern_datatype_c_double_complex},
    {"MPI_C_LONG_DOUBLE_COMPLEX", 32, &tern_datatype_c_long_double_complex},
    {"MPI_COUNT", 8, &tern_datatype_count},
    {"MPI_LONG_DOUBLE_COMPLEX", 32, &tern_datatype_ldblcplex},
};

START_TEST(predefined_names_and_sizes)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length, combiner;
    MPI_Count size, counts[4];
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        struct tern_datatype *datatype = facts[i].datatype;
        ck_assert_int_eq(tern_mpi_type_get_name(datatype, name, &length), 0);
        ck_assert_str_eq(name, facts[i].name);
        ck_assert_int_eq(length, (int)strlen(name));
        ck_assert_int_eq(tern_mpi_type_size(datatype, &size), 0);
        ck_assert_msg(size == facts[i].size, "%s has %d bytes", name, (int)size);
        ck_assert_int_eq(tern_mpi_type_get_envelope(datatype, &counts[0], &counts[1], &counts[2],
                                                    &counts[3], &combiner),
                         0);
        ck_assert_int_eq(combiner, MPI_COMBINER_NAMED);
        ck_assert_int_eq(counts[0] + counts[1] + counts[2] + counts[3], 0);
        ck_assert_ptr_eq(tern_datatype_of(tern_datatype_handle(datatype)), datatype);
    }
}
END_TEST

#define PAIR(symbol, value)                                                                        \
    {                                                                                              \
        &tern_datatype_##symbol, sizeof(struct {                                                   \
            value v;                                                                               \
            int i;                                                                                 \
        }),                                                                                        \
            offsetof(                                                                              \
                struct {                                                                           \
                    value v;                                                                       \
                    int i;                                                                         \
                },                                                                                 \
                i) +                                                                               \
                sizeof(int)                                                                        \
    }

START_TEST(pairs_lie_as_in_c)
{
    static const struct {
        struct tern_datatype *datatype;
        size_t extent, true_extent;
    } pairs[] = {PAIR(float_int, float), PAIR(double_int, double),       PAIR(long_int, long),
                 PAIR(short_int, short), PAIR(longdbl_int, long double), PAIR(2int, int)};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        MPI_Count lb, extent, true_lb, true_extent;
        tern_mpi_type_get_extent(pairs[i].datatype, &lb, &extent);
        tern_mpi_type_get_true_extent(pairs[i].datatype, &true_lb, &true_extent);
        ck_assert_int_eq(lb, 0);
        ck_assert_int_eq(true_lb, 0);
        ck_assert_uint_eq((size_t)extent, pairs[i].extent);
        ck_assert_uint_eq((size_t)true_extent, pairs[i].true_extent);
    }
}
END_TEST

/* ---- random types ---- */

static struct tern_datatype *random_named(void)
{
    static struct tern_datatype *const some[] = {
        &tern_datatype_char,   &tern_datatype_short,      &tern_datatype_int,
        &tern_datatype_double, &tern_datatype_double_int, &tern_datatype_short_int,
        &tern_datatype_2real,  &tern_datatype_long_double};
    return some[choose(0, 7)];
}

/* The handle of a fresh type; what it is made from is freed at once. */
static struct tern_datatype *random_type(int depth)
{
    int kind = depth == 0 ? 99 : (int)choose(0, 12);
    int count = (int)choose(0, 4), blocklength = (int)choose(0, 3), lengths[4], places[4];
    int64_t displacements[4];
    struct tern_datatype *datatype = NULL, *olds[4] = {NULL};
    MPI_Datatype handles[4];
    int error = 0;
    if (kind > 11)
        return random_named();
    for (int i = 0; i < 4; i++) {
        olds[i] = i == 0 || kind == 7 ? random_type(depth - 1) : NULL;
        handles[i] = olds[i] ? tern_datatype_handle(olds[i]) : NULL;
        lengths[i] = (int)choose(0, 3);
        places[i] = (int)choose(-9, 9);
        displacements[i] = choose(-50, 50);
    }
    switch (kind) {
    case 0:
        error = tern_mpi_type_contiguous(false, count, olds[0], &datatype);
        break;
    case 1:
        error = tern_mpi_type_vector(false, count, blocklength, choose(-5, 5), olds[0], &datatype);
        break;
    case 2:
        error = tern_mpi_type_create_hvector(false, count, blocklength, choose(-50, 50), olds[0],
                                             &datatype);
        break;
    case 3:
        error =
            tern_mpi_type_indexed(false, count, ints(lengths), ints(places), olds[0], &datatype);
        break;
    case 4:
        error = tern_mpi_type_create_hindexed(false, count, ints(lengths), aints(displacements),
                                              olds[0], &datatype);
        break;
    case 5:
        error = tern_mpi_type_create_indexed_block(false, count, blocklength, ints(places), olds[0],
                                                   &datatype);
        break;
    case 6:
        error = tern_mpi_type_create_hindexed_block(false, count, blocklength, aints(displacements),
                                                    olds[0], &datatype);
        break;
    case 7:
        error = tern_mpi_type_create_struct(false, count, ints(lengths), aints(displacements),
                                            handles, &datatype);
        break;
    case 8: {
        int sizes[] = {3, 4}, subsizes[] = {(int)choose(1, 3), (int)choose(1, 4)},
            starts[] = {3 - subsizes[0], 0};
        error = tern_mpi_type_create_subarray(false, 2, ints(sizes), ints(subsizes), ints(starts),
                                              choose(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN,
                                              olds[0], &datatype);
        break;
    }
    case 9:
        error =
            tern_mpi_type_create_resized(false, olds[0], choose(-9, 9), choose(0, 90), &datatype);
        break;
    case 11: {
        int sizes[] = {5, 4}, grid[] = {3, 2}, dargs[] = {2, MPI_DISTRIBUTE_DFLT_DARG};
        int distributions[] = {MPI_DISTRIBUTE_CYCLIC, MPI_DISTRIBUTE_BLOCK};
        error = tern_mpi_type_create_darray(
            false, 6, (int)choose(0, 5), 2, ints(sizes), distributions, dargs, grid,
            choose(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN, olds[0], &datatype);
        break;
    }
    case 10:
        error = tern_mpi_type_dup(olds[0], &datatype);
        break;
    }
    ck_assert_int_eq(error, 0);
    for (int i = 0; i < 4; i++)
        if (olds[i])
            drop(olds[i]);
    return datatype;
}

/* What MPI_Type_get_contents tells of a type. */
struct contents {
    int combiner;
    MPI_Count integers, addresses, large, types;
    int *integer;
    MPI_Aint *address;
    MPI_Count *large_count;
    MPI_Datatype *type;
};

static struct contents get_contents(struct tern_datatype *datatype)
{
    struct contents c;
    ck_assert_int_eq(tern_mpi_type_get_envelope(datatype, &c.integers, &c.addresses, &c.large,
                                                &c.types, &c.combiner),
                     0);
    c.integer = calloc((size_t)c.integers + 1, sizeof *c.integer);
    c.address = calloc((size_t)c.addresses + 1, sizeof *c.address);
    c.large_count = calloc((size_t)c.large + 1, sizeof *c.large_count);
    c.type = calloc((size_t)c.types + 1, sizeof *c.type);
    if (c.combiner != MPI_COMBINER_NAMED)
        ck_assert_int_eq(tern_mpi_type_get_contents(datatype, c.integers, c.addresses,
                                                    c.large ? c.large : -1, c.types, c.integer,
                                                    c.address, c.large_count, c.type),
                         0);
    return c;
}

static void drop_contents(struct contents *c)
{
    for (MPI_Count i = 0; i < c->types; i++)
        drop(tern_datatype_of(c->type[i]));
    free(c->integer);
    free(c->address);
    free(c->large_count);
    free(c->type);
}

static struct tern_datatype *rebuild(struct tern_datatype *datatype)
{
    struct contents c = get_contents(datatype);
    struct tern_datatype *copy = datatype;
    MPI_Datatype olds[5];
    const int *n = c.integer;
    int error = 0;
    ck_assert_int_eq(c.large, 0);
    for (MPI_Count i = 0; i < c.types; i++)
        olds[i] = tern_datatype_handle(rebuild(tern_datatype_of(c.type[i])));
    struct tern_datatype *old = c.types ? tern_datatype_of(olds[0]) : NULL;
    struct tern_ints addresses = aints((const int64_t *)c.address);
    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
        break;
    case MPI_COMBINER_DUP:
        error = tern_mpi_type_dup(old, &copy);
        break;
    case MPI_COMBINER_CONTIGUOUS:
        error = tern_mpi_type_contiguous(false, n[0], old, &copy);
        break;
    case MPI_COMBINER_VECTOR:
        error = tern_mpi_type_vector(false, n[0], n[1], n[2], old, &copy);
        break;
    case MPI_COMBINER_HVECTOR:
        error = tern_mpi_type_create_hvector(false, n[0], n[1], c.address[0], old, &copy);
        break;
    case MPI_COMBINER_INDEXED:
        error = tern_mpi_type_indexed(false, n[0], ints(n + 1), ints(n + 1 + n[0]), old, &copy);
        break;
    case MPI_COMBINER_HINDEXED:
        error = tern_mpi_type_create_hindexed(false, n[0], ints(n + 1), addresses, old, &copy);
        break;
    case MPI_COMBINER_INDEXED_BLOCK:
        error = tern_mpi_type_create_indexed_block(false, n[0], n[1], ints(n + 2), old, &copy);
        break;
    case MPI_COMBINER_HINDEXED_BLOCK:
        error = tern_mpi_type_create_hindexed_block(false, n[0], n[1], addresses, old, &copy);
        break;
    case MPI_COMBINER_STRUCT:
        error = tern_mpi_type_create_struct(false, n[0], ints(n + 1), addresses, olds, &copy);
        break;
    case MPI_COMBINER_SUBARRAY:
        error = tern_mpi_type_create_subarray(false, n[0], ints(n + 1), ints(n + 1 + n[0]),
                                              ints(n + 1 + 2 * n[0]), n[1 + 3 * n[0]], old, &copy);
        break;
    case MPI_COMBINER_DARRAY: {
        int d = n[2];
        error = tern_mpi_type_create_darray(false, n[0], n[1], d, ints(n + 3), n + 3 + d,
                                            n + 3 + 2 * d, n + 3 + 3 * d, n[3 + 4 * d], old, &copy);
        break;
    }
    case MPI_COMBINER_RESIZED:
        error = tern_mpi_type_create_resized(false, old, c.address[0], c.address[1], &copy);
        break;
    default:
        ck_abort_msg("combiner %d", c.combiner);
    }
    ck_assert_int_eq(error, 0);
    for (MPI_Count i = 0; i < c.types; i++)
        drop(tern_datatype_of(olds[i]));
    drop_contents(&c);
    return copy;
}

/* All runs of memory in order: the typemap but for the borders between elements. */
static void assert_same_bytes(const struct tern_type *a, const struct tern_type *b)
{
    struct tern_cursor left, right;
    tern_cursor_init(&left, a, (void *)(1 << 20), 2);
    tern_cursor_init(&right, b, (void *)(1 << 20), 2);
    ck_assert_int_eq(left.length, right.length);
    while (left.offset < left.length) {
        struct iovec run, other;
        ck_assert_int_eq(tern_cursor_runs(&left, &run, 1, SIZE_MAX, NULL), 1);
        ck_assert_int_eq(tern_cursor_runs(&right, &other, 1, SIZE_MAX, NULL), 1);
        ck_assert_ptr_eq(run.iov_base, other.iov_base);
        ck_assert_uint_eq(run.iov_len, other.iov_len);
    }
}

START_TEST(contents_rebuild_the_type)
{
    seed = 12345 + (uint64_t)_i * 7919;
    for (int i = 0; i < 300; i++) {
        struct tern_datatype *datatype = random_type((int)choose(1, 4)), *copy = rebuild(datatype);
        ck_assert_int_eq(datatype->type.size, copy->type.size);
        ck_assert_int_eq(datatype->type.lb, copy->type.lb);
        ck_assert_int_eq(datatype->type.extent, copy->type.extent);
        ck_assert_int_eq(datatype->type.true_lb, copy->type.true_lb);
        ck_assert_int_eq(datatype->type.true_extent, copy->type.true_extent);
        ck_assert_int_eq(datatype->type.elements, copy->type.elements);
        ck_assert_int_eq(datatype->type.basic, copy->type.basic);
        if (datatype->type.size < 100000)
            assert_same_bytes(&datatype->type, &copy->type);
        drop(datatype);
        drop(copy);
    }
}
END_TEST

/* ---- elements ---- */

struct sizes {
    int count;
    int size[20000];
};

static void list_elements(struct tern_datatype *datatype, struct sizes *sizes)
{
    if (sizes->count > 10000)
        return;
    struct contents c = get_contents(datatype);
    const int *n = c.integer;
    int64_t repeat = 1;
    switch (c.combiner) {
    case MPI_COMBINER_NAMED:
        if (datatype->type.elements == 1) {
            sizes->size[sizes->count++] = (int)datatype->type.size;
        } else {
            int second = datatype == &tern_datatype_2real ? 4 : (int)sizeof(int);
            sizes->size[sizes->count++] = (int)datatype->type.size - second;
            sizes->size[sizes->count++] = second;
        }
        break;
    case MPI_COMBINER_STRUCT:
        for (int i = 0; i < n[0]; i++)
            for (int j = 0; j < n[1 + i]; j++)
                list_elements(tern_datatype_of(c.type[i]), sizes);
        repeat = 0;
        break;
    case MPI_COMBINER_CONTIGUOUS:
        repeat = n[0];
        break;
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        repeat = n[0] * n[1];
        break;
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        repeat = 0;
        for (int i = 0; i < n[0]; i++)
            repeat += n[1 + i];
        break;
    case MPI_COMBINER_DARRAY: {
        /* rows in blocks of 2 in turn among 3, columns 2 for each of 2; see random_type */
        static const int rows[] = {2, 2, 1};
        repeat = rows[n[1] / 2] * 2;
        break;
    }
    case MPI_COMBINER_SUBARRAY:
        repeat = n[3] * n[4];
        break;
    default:
        break;
    }
    for (int64_t i = 0; i < repeat && c.types == 1; i++)
        list_elements(tern_datatype_of(c.type[0]), sizes);
    drop_contents(&c);
}

static void check_elements(struct tern_datatype *datatype, const struct sizes *sizes)
{
    MPI_Status status = {0};
    MPI_Count got, bytes = 0, size = datatype->type.size;
    for (int element = 0; element < 2 * sizes->count; element++) {
        int next = sizes->size[element % sizes->count];
        status._ucount = 99;
        ck_assert_int_eq(tern_mpi_status_set_elements(&status, datatype, element), 0);
        ck_assert_int_eq((MPI_Count)status._ucount, bytes);
        ck_assert_int_eq(tern_mpi_get_elements(&status, datatype, &got), 0);
        ck_assert_int_eq(got, element);
        ck_assert_int_eq(tern_mpi_get_count(&status, datatype, &got), 0);
        ck_assert_int_eq(got, bytes % size ? MPI_UNDEFINED : bytes / size);
        if (next > 1) {
            status._ucount += (size_t)choose(1, next - 1);
            ck_assert_int_eq(tern_mpi_get_elements(&status, datatype, &got), 0);
            ck_assert_int_eq(got, MPI_UNDEFINED);
        }
        bytes += next;
    }
}

START_TEST(elements_are_counted_in_parts_of_a_type)
{
    seed = 4711 + (uint64_t)_i * 104729;
    struct sizes *sizes = calloc(1, sizeof *sizes);
    for (int i = 0; i < 200; i++) {
        struct tern_datatype *datatype = random_type((int)choose(1, 3));
        sizes->count = 0;
        list_elements(datatype, sizes);
        if (sizes->count <= 10000) {
            ck_assert_int_eq(datatype->type.elements, sizes->count);
            if (sizes->count > 0 && sizes->count <= 500)
                check_elements(datatype, sizes);
        }
        drop(datatype);
    }
    free(sizes);
}
END_TEST

START_TEST(elements_of_a_type_without_data)
{
    struct tern_datatype *datatype;
    MPI_Status status = {0};
    MPI_Count got = 7;
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 0, &tern_datatype_int, &datatype), 0);
    ck_assert_int_eq(tern_mpi_get_elements(&status, datatype, &got), 0);
    ck_assert_int_eq(got, 0);
    ck_assert_int_eq(tern_mpi_get_count(&status, datatype, &got), 0);
    ck_assert_int_eq(got, 0);
    ck_assert_int_eq(tern_mpi_status_set_elements(&status, datatype, 1), TERN_ERR_ARG);
    status._ucount = 4;
    ck_assert_int_eq(tern_mpi_get_count(&status, datatype, &got), 0);
    ck_assert_int_eq(got, MPI_UNDEFINED);
    drop(datatype);
}
END_TEST

/* ---- markers of MPI-1 ---- */

START_TEST(lb_and_ub_markers_stick)
{
    struct tern_datatype *marked, *twice, *around;
    MPI_Datatype types[] = {
        tern_datatype_handle(&tern_datatype_lb), tern_datatype_handle(&tern_datatype_double),
        tern_datatype_handle(&tern_datatype_char), tern_datatype_handle(&tern_datatype_ub)};
    int ones[] = {1, 1, 1, 1};
    int64_t places[] = {-3, 0, 8, 100};
    MPI_Aint lb, ub, extent;
    ck_assert_int_eq(
        tern_mpi_type_create_struct(false, 4, ints(ones), aints(places), types, &marked), 0);
    tern_mpi_type_lb(marked, &lb);
    tern_mpi_type_ub(marked, &ub);
    tern_mpi_type_extent(marked, &extent);
    ck_assert_int_eq(lb, -3);
    ck_assert_int_eq(ub, 100);
    ck_assert_int_eq(extent, 103);
    ck_assert_int_eq(marked->type.size, 9);
    ck_assert_int_eq(marked->type.true_extent, 9);

    ck_assert_int_eq(tern_mpi_type_contiguous(false, 2, marked, &twice), 0);
    ck_assert_int_eq(twice->type.lb, -3);
    ck_assert_int_eq(twice->type.extent, 206);

    /* the unmarked int far outside does not move the marks */
    MPI_Datatype mixed[] = {tern_datatype_handle(marked), tern_datatype_handle(&tern_datatype_int)};
    int64_t far[] = {0, 1000};
    ck_assert_int_eq(tern_mpi_type_create_struct(false, 2, ints(ones), aints(far), mixed, &around),
                     0);
    ck_assert_int_eq(around->type.lb, -3);
    ck_assert_int_eq(around->type.extent, 103);
    ck_assert_int_eq(around->type.true_extent, 1004);
    drop(around);
    drop(twice);
    drop(marked);
}
END_TEST

/* ---- life ---- */

START_TEST(freed_types_live_in_what_was_made_of_them)
{
    struct tern_datatype *inner, *outer, *again;
    ck_assert_int_eq(tern_mpi_type_vector(false, 3, 1, 2, &tern_datatype_int, &inner), 0);
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 2, inner, &outer), 0);
    ck_assert_int_eq(tern_mpi_type_set_name(inner, "inner"), 0);
    struct tern_datatype *freed = inner;
    ck_assert_int_eq(tern_mpi_type_free(&inner), 0);
    ck_assert_ptr_null(inner);

    struct contents c = get_contents(outer);
    again = tern_datatype_of(c.type[0]);
    ck_assert_ptr_eq(again, freed);
    ck_assert_str_eq(again->name, "inner");
    /* a request holds the outer one while the user frees it */
    tern_datatype_retain(outer);
    struct tern_datatype *held = outer;
    ck_assert_int_eq(tern_mpi_type_free(&outer), 0);
    ck_assert_int_eq(held->type.size, 24);
    outer = held;
    ck_assert_int_eq(tern_mpi_type_free(&outer), TERN_ERR_TYPE);
    tern_datatype_release(held);
    ck_assert_int_eq(again->type.size, 12);
    drop_contents(&c);
}
END_TEST

static int deleted, copied;

static int count_copy(MPI_Datatype old, int keyval, void *extra, void *value, void *new_value,
                      int *flag)
{
    (void)old, (void)keyval, (void)extra;
    copied++;
    *(void **)new_value = value;
    *flag = 1;
    return MPI_SUCCESS;
}

static int count_delete(MPI_Datatype datatype, int keyval, void *value, void *extra)
{
    (void)datatype, (void)keyval, (void)value;
    deleted++;
    return *(int *)extra;
}

START_TEST(dup_copies_attributes_and_free_deletes_them)
{
    struct tern_datatype *datatype, *copy;
    int keyval, answer = MPI_SUCCESS, flag = 0, value = 5, *found = NULL;
    copied = deleted = 0;
    ck_assert_int_eq(tern_mpi_type_create_keyval(count_copy, count_delete, &keyval, &answer), 0);
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 3, &tern_datatype_int, &datatype), 0);
    ck_assert_int_eq(tern_mpi_type_set_attr(datatype, keyval, &value), 0);
    ck_assert_int_eq(tern_mpi_type_dup(datatype, &copy), 0);
    ck_assert_int_eq(copied, 1);
    ck_assert_int_eq(tern_mpi_type_get_attr(copy, keyval, &found, &flag), 0);
    ck_assert(flag);
    ck_assert_ptr_eq(found, &value);
    /* a callback that refuses keeps the type */
    answer = MPI_ERR_OTHER;
    ck_assert_int_eq(tern_mpi_type_free(&copy), MPI_ERR_OTHER);
    ck_assert_ptr_nonnull(copy);
    answer = MPI_SUCCESS;
    deleted = 0;
    ck_assert_int_eq(tern_mpi_type_free(&copy), 0);
    ck_assert_int_eq(tern_mpi_type_free(&datatype), 0);
    ck_assert_int_eq(deleted, 2);
    ck_assert_int_eq(tern_mpi_type_free_keyval(&keyval), 0);
}
END_TEST

START_TEST(dup_is_committed_like_the_old_one)
{
    struct tern_datatype *datatype, *copy;
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 3, &tern_datatype_int, &datatype), 0);
    ck_assert(!datatype->type.committed);
    ck_assert_int_eq(tern_mpi_type_commit(&datatype), 0);
    ck_assert_int_eq(tern_mpi_type_dup(datatype, &copy), 0);
    ck_assert(copy->type.committed);
    drop(datatype);
    drop(copy);
    ck_assert_int_eq(tern_mpi_type_dup(&tern_datatype_double, &copy), 0);
    ck_assert(copy->type.committed && !copy->predefined);
    drop(copy);
}
END_TEST

/* ---- distributed arrays ---- */

struct grid {
    int dims, gsizes[3], distributions[3], dargs[3], psizes[3], blocks[3], processes, order;
};

static struct grid random_grid(void)
{
    struct grid g = {.dims = (int)choose(1, 3), .processes = 1};
    g.order = choose(0, 1) ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
    for (int i = 0; i < g.dims; i++) {
        g.gsizes[i] = (int)choose(1, 9);
        g.distributions[i] = (int)choose(0, 2);
        g.psizes[i] = g.distributions[i] == MPI_DISTRIBUTE_NONE ? 1 : (int)choose(1, 4);
        g.dargs[i] = choose(0, 1) ? MPI_DISTRIBUTE_DFLT_DARG : (int)choose(1, 4);
        int share = (g.gsizes[i] + g.psizes[i] - 1) / g.psizes[i];
        if (g.distributions[i] == MPI_DISTRIBUTE_BLOCK && g.dargs[i] > 0 && g.dargs[i] < share)
            g.dargs[i] = share;
        g.blocks[i] = g.distributions[i] == MPI_DISTRIBUTE_NONE     ? g.gsizes[i]
                      : g.dargs[i] > 0                              ? g.dargs[i]
                      : g.distributions[i] == MPI_DISTRIBUTE_CYCLIC ? 1
                                                                    : share;
        g.processes *= g.psizes[i];
    }
    return g;
}

/* Which process has the element at `place` of the array as it lies in memory? */
static int owner(const struct grid *g, int place)
{
    int coordinates[3], rank = 0;
    for (int i = 0; i < g->dims; i++) {
        int dim = g->order == MPI_ORDER_FORTRAN ? i : g->dims - 1 - i; /* fastest first */
        coordinates[dim] = place % g->gsizes[dim] / g->blocks[dim] % g->psizes[dim];
        place /= g->gsizes[dim];
    }
    for (int i = 0; i < g->dims; i++)
        rank = rank * g->psizes[i] + coordinates[i];
    return rank;
}

static void check_grid(const struct grid *g)
{
    short array[729], packed[729];
    int total = 1;
    for (int i = 0; i < g->dims; i++)
        total *= g->gsizes[i];
    for (int i = 0; i < total; i++)
        array[i] = (short)i;
    for (int rank = 0; rank < g->processes; rank++) {
        struct tern_datatype *datatype;
        MPI_Count position = 0, count = 0;
        ck_assert_int_eq(tern_mpi_type_create_darray(
                             false, g->processes, rank, g->dims, ints(g->gsizes), g->distributions,
                             g->dargs, g->psizes, g->order, &tern_datatype_short, &datatype),
                         0);
        ck_assert_int_eq(datatype->type.lb, 0);
        ck_assert_int_eq(datatype->type.extent, 2 * total);
        tern_mpi_type_commit(&datatype);
        ck_assert_int_eq(tern_mpi_pack(array, 1, datatype, packed, sizeof packed, &position, NULL),
                         0);
        for (int place = 0; place < total; place++)
            if (owner(g, place) == rank)
                ck_assert_int_eq(packed[count++], place);
        ck_assert_int_eq(position, 2 * count);
        drop(datatype);
    }
}

START_TEST(every_element_of_a_darray_has_one_owner)
{
    seed = 99 + (uint64_t)_i * 15485863;
    for (int i = 0; i < 300; i++) {
        struct grid g = random_grid();
        check_grid(&g);
    }
}
END_TEST

START_TEST(darrays_that_cannot_be)
{
    struct tern_datatype *datatype = NULL, *old = &tern_datatype_int;
    int gsizes[] = {8}, none[] = {MPI_DISTRIBUTE_NONE}, block[] = {MPI_DISTRIBUTE_BLOCK};
    int cyclic[] = {MPI_DISTRIBUTE_CYCLIC}, other[] = {7}, dfault[] = {MPI_DISTRIBUTE_DFLT_DARG};
    int zero[] = {0}, three[] = {3}, two[] = {2};
    const int order = MPI_ORDER_C;
    struct {
        int size, rank, ndims;
        const int *distribs, *dargs, *psizes;
        int order;
    } wrong[] = {
        {2, 0, 0, block, dfault, two, order}, {2, 2, 1, block, dfault, two, order},
        {3, 0, 1, block, dfault, two, order}, {2, 0, 1, none, dfault, two, order},
        {2, 0, 1, block, three, two, order},  {2, 0, 1, cyclic, zero, two, order},
        {2, 0, 1, other, dfault, two, order}, {2, 0, 1, block, dfault, zero, order},
        {2, 0, 1, block, dfault, two, 77},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_int_eq(
            tern_mpi_type_create_darray(false, wrong[i].size, wrong[i].rank, wrong[i].ndims,
                                        ints(gsizes), wrong[i].distribs, wrong[i].dargs,
                                        wrong[i].psizes, wrong[i].order, old, &datatype),
            TERN_ERR_ARG);
    ck_assert_ptr_null(datatype);
}
END_TEST

/* ---- by what they are ---- */

START_TEST(match_size_and_value_index)
{
    struct tern_datatype *datatype = NULL;
    ck_assert_int_eq(tern_mpi_type_match_size(MPI_TYPECLASS_REAL, 8, &datatype), 0);
    ck_assert_ptr_eq(datatype, &tern_datatype_real8);
    ck_assert_int_eq(tern_mpi_type_match_size(MPI_TYPECLASS_INTEGER, 2, &datatype), 0);
    ck_assert_ptr_eq(datatype, &tern_datatype_integer2);
    ck_assert_int_eq(tern_mpi_type_match_size(MPI_TYPECLASS_COMPLEX, 32, &datatype), 0);
    ck_assert_ptr_eq(datatype, &tern_datatype_complex32);
    ck_assert_int_eq(tern_mpi_type_match_size(MPI_TYPECLASS_INTEGER, 3, &datatype), TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_type_match_size(99, 8, &datatype), TERN_ERR_ARG);
    ck_assert_int_eq(
        tern_mpi_type_get_value_index(&tern_datatype_double, &tern_datatype_int, &datatype), 0);
    ck_assert_ptr_eq(datatype, &tern_datatype_double_int);
    ck_assert_int_eq(
        tern_mpi_type_get_value_index(&tern_datatype_double, &tern_datatype_char, &datatype), 0);
    ck_assert_ptr_null(datatype);
}
END_TEST

/* ---- large counts ---- */

START_TEST(large_counts_have_large_contents)
{
    struct tern_datatype *datatype;
    int64_t lengths[] = {INT64_C(3) << 31, 1}, places[] = {0, INT64_C(5) << 40};
    ck_assert_int_eq(tern_mpi_type_indexed(true, 2, aints(lengths), aints(places),
                                           &tern_datatype_short, &datatype),
                     0);
    ck_assert_int_eq(datatype->type.size, 2 * lengths[0] + 2);
    struct contents c = get_contents(datatype);
    ck_assert_int_eq(c.integers, 0);
    ck_assert_int_eq(c.large, 5);
    ck_assert_int_eq(c.large_count[0], 2);
    ck_assert_int_eq(c.large_count[1], lengths[0]);
    ck_assert_int_eq(c.large_count[4], places[1]);
    MPI_Datatype type;
    ck_assert_int_eq(
        tern_mpi_type_get_contents(datatype, 5, 5, 0, 1, c.integer, c.address, NULL, &type),
        TERN_ERR_ARG);
    /* the calls without large counts */
    ck_assert_int_eq(
        tern_mpi_type_get_contents(datatype, 5, 5, -1, 1, c.integer, c.address, NULL, &type),
        TERN_ERR_TYPE);
    ck_assert_int_eq(tern_mpi_type_get_envelope(datatype, &c.integers, &c.addresses, NULL, &c.types,
                                                &c.combiner),
                     TERN_ERR_TYPE);
    drop_contents(&c);
    drop(datatype);

    int64_t sizes[] = {INT64_C(1) << 33, 4}, subsizes[] = {2, 2}, starts[] = {INT64_C(1) << 32, 1};
    ck_assert_int_eq(tern_mpi_type_create_subarray(true, 2, aints(sizes), aints(subsizes),
                                                   aints(starts), MPI_ORDER_C, &tern_datatype_int,
                                                   &datatype),
                     0);
    ck_assert_int_eq(datatype->type.true_lb, starts[0] * 16 + 4);
    c = get_contents(datatype);
    ck_assert_int_eq(c.integers, 2);
    ck_assert_int_eq(c.integer[0], 2);
    ck_assert_int_eq(c.integer[1], MPI_ORDER_C);
    ck_assert_int_eq(c.large, 6);
    ck_assert_int_eq(c.large_count[4], starts[0]);
    drop_contents(&c);
    drop(datatype);
}
END_TEST

/* ---- pack ---- */

START_TEST(pack_and_unpack_move_the_position)
{
    struct tern_datatype *datatype;
    int numbers[] = {1, 2, 3, 4, 5, 6}, back[6] = {0};
    char packed[64];
    MPI_Count position = 3, size;
    ck_assert_int_eq(tern_mpi_type_vector(false, 3, 1, 2, &tern_datatype_int, &datatype), 0);
    ck_assert_int_eq(tern_mpi_pack(numbers, 1, datatype, packed, 64, &position, NULL),
                     TERN_ERR_TYPE);
    tern_mpi_type_commit(&datatype);
    ck_assert_int_eq(tern_mpi_pack_size(4, datatype, NULL, &size), 0);
    ck_assert_int_eq(size, 48);
    ck_assert_int_eq(tern_mpi_pack(numbers, 1, datatype, packed, 15, &position, NULL), 0);
    ck_assert_int_eq(position, 15);
    ck_assert_int_eq(tern_mpi_pack(numbers, 1, &tern_datatype_char, packed, 15, &position, NULL),
                     TERN_ERR_TRUNCATE);
    ck_assert_int_eq(position, 15);
    position = 3;
    ck_assert_int_eq(tern_mpi_unpack(packed, 14, &position, back, 1, datatype, NULL),
                     TERN_ERR_TRUNCATE);
    ck_assert_int_eq(tern_mpi_unpack(packed, 15, &position, back, 1, datatype, NULL), 0);
    ck_assert_int_eq(position, 15);
    for (int i = 0; i < 6; i++)
        ck_assert_int_eq(back[i], i % 2 ? 0 : numbers[i]);
    position = 16;
    ck_assert_int_eq(tern_mpi_unpack(packed, 15, &position, back, 0, datatype, NULL), TERN_ERR_ARG);
    drop(datatype);
}
END_TEST

/* ---- errors ---- */

START_TEST(wrong_arguments_are_named)
{
    struct tern_datatype *datatype = NULL, *named = &tern_datatype_int;
    int sizes[] = {4, 4}, subsizes[] = {2, 5}, starts[] = {0, 0};
    ck_assert_int_eq(tern_mpi_type_free(&named), TERN_ERR_TYPE);
    ck_assert_ptr_eq(named, &tern_datatype_int);
    ck_assert_ptr_nonnull(strstr(tern_error_text(TERN_ERR_TYPE), "MPI_INT"));
    ck_assert_int_eq(tern_mpi_type_vector(false, 2, 1, INT64_MAX / 2, named, &datatype),
                     TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_type_create_subarray(false, 2, ints(sizes), ints(subsizes),
                                                   ints(starts), MPI_ORDER_C, named, &datatype),
                     TERN_ERR_ARG);
    ck_assert_ptr_nonnull(strstr(tern_error_text(TERN_ERR_ARG), "array_of_subsizes[1] is 5"));
    subsizes[1] = 4;
    starts[1] = 1;
    ck_assert_int_eq(tern_mpi_type_create_subarray(false, 2, ints(sizes), ints(subsizes),
                                                   ints(starts), MPI_ORDER_C, named, &datatype),
                     TERN_ERR_ARG);
    starts[1] = 0;
    ck_assert_int_eq(tern_mpi_type_create_subarray(false, 2, ints(sizes), ints(subsizes),
                                                   ints(starts), 77, named, &datatype),
                     TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_type_create_subarray(false, 0, ints(sizes), ints(subsizes),
                                                   ints(starts), MPI_ORDER_C, named, &datatype),
                     TERN_ERR_ARG);
    ck_assert_ptr_null(datatype);
    ck_assert_int_eq(tern_mpi_type_get_contents(named, 0, 0, 0, 0, NULL, NULL, NULL, NULL),
                     TERN_ERR_TYPE);
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 2, named, &datatype), 0);
    MPI_Datatype old;
    ck_assert_int_eq(tern_mpi_type_get_contents(datatype, 0, 0, 0, 1, NULL, NULL, NULL, &old),
                     TERN_ERR_ARG);
    drop(datatype);
}
END_TEST

START_TEST(names)
{
    struct tern_datatype *datatype;
    char name[MPI_MAX_OBJECT_NAME], longer[2 * MPI_MAX_OBJECT_NAME];
    int length = -1;
    ck_assert_int_eq(tern_mpi_type_contiguous(false, 2, &tern_datatype_int, &datatype), 0);
    ck_assert_int_eq(tern_mpi_type_get_name(datatype, name, &length), 0);
    ck_assert_str_eq(name, "");
    ck_assert_int_eq(length, 0);
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    ck_assert_int_eq(tern_mpi_type_set_name(datatype, longer), 0);
    ck_assert_int_eq(tern_mpi_type_get_name(datatype, name, &length), 0);
    ck_assert_int_eq(length, MPI_MAX_OBJECT_NAME - 1);
    ck_assert_int_eq(tern_mpi_type_get_name(NULL, name, &length), 0);
    ck_assert_str_eq(name, "MPI_DATATYPE_NULL");
    drop(datatype);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("datatype");
    TCase *tests = suite_case(suite, "datatype");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, predefined_names_and_sizes);
    tcase_add_test(tests, pairs_lie_as_in_c);
    tcase_add_loop_test(tests, contents_rebuild_the_type, 0, 5);
    tcase_add_loop_test(tests, elements_are_counted_in_parts_of_a_type, 0, 5);
    tcase_add_test(tests, elements_of_a_type_without_data);
    tcase_add_test(tests, lb_and_ub_markers_stick);
    tcase_add_test(tests, freed_types_live_in_what_was_made_of_them);
    tcase_add_test(tests, dup_copies_attributes_and_free_deletes_them);
    tcase_add_test(tests, dup_is_committed_like_the_old_one);
    tcase_add_loop_test(tests, every_element_of_a_darray_has_one_owner, 0, 3);
    tcase_add_test(tests, darrays_that_cannot_be);
    tcase_add_test(tests, match_size_and_value_index);
    tcase_add_test(tests, large_counts_have_large_contents);
    tcase_add_test(tests, pack_and_unpack_move_the_position);
    tcase_add_test(tests, wrong_arguments_are_named);
    tcase_add_test(tests, names);
    return suite_run(suite);
}
