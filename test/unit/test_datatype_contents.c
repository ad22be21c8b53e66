/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What is inside a datatype: random derived ones rebuilt from their contents, counting of elements against a list of all of
 * them, distributed arrays whose elements each have one owner.
 */
#include "datatypes.h"
#include "lib/util/base/error.h"
#include "random.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

int main(void)
{
    Suite *suite = suite_create("datatype_contents");
    TCase *tests = suite_case(suite, "datatype_contents");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, contents_rebuild_the_type, 0, 5);
    tcase_add_loop_test(tests, elements_are_counted_in_parts_of_a_type, 0, 5);
    tcase_add_test(tests, elements_of_a_type_without_data);
    tcase_add_loop_test(tests, every_element_of_a_darray_has_one_owner, 0, 3);
    tcase_add_test(tests, darrays_that_cannot_be);
    tcase_add_test(tests, large_counts_have_large_contents);
    return suite_run(suite);
}
