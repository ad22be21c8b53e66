/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Dims_create against a search through all factorizations, and its rules for given entries. */

#include "lib/mpi/topo/dims.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <check.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS_MAX = 6, BRUTE_MAX = 2000 };

struct best {
    int count, difference;
    int factors[DIMS_MAX];
    int trial[DIMS_MAX];
};

/* The better one has the smaller difference, then the smaller numbers from the left. */
static bool better(const struct best *best)
{
    int difference = best->trial[0] - best->trial[best->count - 1];
    if (difference != best->difference)
        return difference < best->difference;
    for (int i = 0; i < best->count; i++)
        if (best->trial[i] != best->factors[i])
            return best->trial[i] < best->factors[i];
    return false;
}

/* All descending factorizations of `rest` for the places from `at` on. */
static void brute(struct best *best, int at, int rest, int most)
{
    if (at == best->count) {
        if (rest == 1 && better(best)) {
            best->difference = best->trial[0] - best->trial[best->count - 1];
            memcpy(best->factors, best->trial, sizeof best->factors);
        }
        return;
    }
    for (int factor = most < rest ? most : rest; factor >= 1; factor--)
        if (rest % factor == 0) {
            best->trial[at] = factor;
            brute(best, at + 1, rest / factor, factor);
        }
}

START_TEST(most_balanced_as_by_brute_force)
{
    int count = _i;
    for (int n = 1; n <= BRUTE_MAX; n++) {
        struct best best = {.count = count, .difference = INT_MAX};
        int dims[DIMS_MAX] = {0};
        brute(&best, 0, n, n);
        ck_assert_int_eq(tern_mpi_dims_create(n, count, dims), 0);
        for (int d = 0; d < count; d++)
            ck_assert_msg(dims[d] == best.factors[d],
                          "n %d, %d dims: dims[%d] is %d, brute force has %d", n, count, d, dims[d],
                          best.factors[d]);
    }
}
END_TEST

START_TEST(given_entries_stay)
{
    int count = _i;
    for (int n = 1; n <= 200; n++)
        for (int mask = 1; mask < 1 << count; mask++)
            for (int given = 1; given <= 4; given++) {
                int dims[DIMS_MAX] = {0}, before[DIMS_MAX], product = 1, free_count = 0, next = 0;
                for (int d = 0; d < count; d++) {
                    if (mask >> d & 1)
                        product *= dims[d] = given;
                    else
                        free_count++;
                }
                memcpy(before, dims, sizeof before);
                int rc = tern_mpi_dims_create(n, count, dims);
                if (n % product || (!free_count && product != n)) {
                    ck_assert_int_eq(rc, TERN_ERR_DIMS);
                    ck_assert_mem_eq(dims, before, sizeof before);
                    continue;
                }
                ck_assert_int_eq(rc, 0);
                struct best best = {.count = free_count, .difference = INT_MAX};
                if (free_count)
                    brute(&best, 0, n / product, n / product);
                for (int d = 0; d < count; d++)
                    ck_assert_int_eq(dims[d], before[d] ? before[d] : best.factors[next++]);
            }
}
END_TEST

START_TEST(large_numbers)
{
    static const int numbers[] = {720720,     1000000,    999983,     1048576,
                                  997920,     2095133040, 2147483647, 2147395600,
                                  1073741824, 1102701600, 1396755360, 2123581660};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int count = 1; count <= 10; count++) {
            int dims[10] = {0};
            int64_t product = 1;
            ck_assert_int_eq(tern_mpi_dims_create(numbers[i], count, dims), 0);
            for (int d = 0; d < count; d++) {
                ck_assert(d == 0 || dims[d] <= dims[d - 1]);
                product *= dims[d];
            }
            ck_assert_int_eq(product, numbers[i]);
        }
    int dims[3] = {0};
    ck_assert_int_eq(tern_mpi_dims_create(1000000, 3, dims), 0);
    ck_assert_int_eq(dims[0], 100);
    ck_assert_int_eq(dims[2], 100);
}
END_TEST

/* The table in MPI-4.1 section 8.5.2. */
START_TEST(examples_of_the_standard)
{
    int a[2] = {0, 0}, b[2] = {0, 0}, c[3] = {0, 3, 0}, d[3] = {0, 3, 0};
    ck_assert_int_eq(tern_mpi_dims_create(6, 2, a), 0);
    ck_assert_int_eq(a[0], 3);
    ck_assert_int_eq(a[1], 2);
    ck_assert_int_eq(tern_mpi_dims_create(7, 2, b), 0);
    ck_assert_int_eq(b[0], 7);
    ck_assert_int_eq(b[1], 1);
    ck_assert_int_eq(tern_mpi_dims_create(6, 3, c), 0);
    ck_assert_int_eq(c[0], 2);
    ck_assert_int_eq(c[1], 3);
    ck_assert_int_eq(c[2], 1);
    ck_assert_int_eq(tern_mpi_dims_create(7, 3, d), TERN_ERR_DIMS);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
    int dims[2] = {-1, 0}, huge[3] = {INT_MAX, INT_MAX, 0}, none[1] = {0};
    ck_assert_int_eq(tern_mpi_dims_create(4, 2, dims), TERN_ERR_DIMS);
    ck_assert_int_eq(tern_mpi_dims_create(4, 3, huge), TERN_ERR_DIMS);
    ck_assert_int_eq(tern_mpi_dims_create(0, 1, none), TERN_ERR_DIMS);
    ck_assert_int_eq(tern_mpi_dims_create(4, -1, none), TERN_ERR_DIMS);
    ck_assert_int_eq(tern_mpi_dims_create(1, 0, none), 0);
    ck_assert_int_eq(tern_mpi_dims_create(4, 0, none), TERN_ERR_DIMS);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("dims");
    TCase *tests = suite_case(suite, "dims");
    tcase_set_timeout(tests, 600);
    tcase_add_loop_test(tests, most_balanced_as_by_brute_force, 1, DIMS_MAX + 1);
    tcase_add_loop_test(tests, given_entries_stay, 1, DIMS_MAX + 1);
    tcase_add_test(tests, large_numbers);
    tcase_add_test(tests, examples_of_the_standard);
    tcase_add_test(tests, wrong_arguments_are_refused);
    return suite_run(suite);
}
