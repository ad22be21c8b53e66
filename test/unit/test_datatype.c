/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI datatypes as objects: the predefined ones against Open MPI's names and sizes, life time, packing,
 * errors.
 */
#include "datatypes.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, predefined_names_and_sizes);
    tcase_add_test(tests, pairs_lie_as_in_c);
    tcase_add_test(tests, lb_and_ub_markers_stick);
    tcase_add_test(tests, freed_types_live_in_what_was_made_of_them);
    tcase_add_test(tests, dup_copies_attributes_and_free_deletes_them);
    tcase_add_test(tests, dup_is_committed_like_the_old_one);
    tcase_add_test(tests, match_size_and_value_index);
    tcase_add_test(tests, pack_and_unpack_move_the_position);
    tcase_add_test(tests, wrong_arguments_are_named);
    tcase_add_test(tests, names);
    return suite_run(suite);
}
