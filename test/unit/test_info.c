/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects: order of keys, limits of length, copies, and what MPI_INFO_ENV says. */

#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"
#include "suite.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct tern_info *info;

static void make_info(void)
{
    info = NULL;
    ck_assert_int_eq(tern_mpi_info_create(&info), 0);
    ck_assert_ptr_nonnull(info);
}

static void free_info(void)
{
    ck_assert_int_eq(tern_mpi_info_free(&info), 0);
    ck_assert_ptr_null(info);
}

static void text_of(char *text, size_t length)
{
    memset(text, 'x', length);
    text[length] = 0;
}

START_TEST(keys_stand_in_the_order_of_setting)
{
    char key[MPI_MAX_INFO_KEY];
    int count;
    for (int i = 0; i < 100; i++) {
        snprintf(key, sizeof key, "key%d", i);
        ck_assert_int_eq(tern_mpi_info_set(info, key, "v"), 0);
    }
    ck_assert_int_eq(tern_mpi_info_set(info, "key7", "again"), 0); /* keeps its place */
    ck_assert_int_eq(tern_mpi_info_get_nkeys(info, &count), 0);
    ck_assert_int_eq(count, 100);
    for (int i = 0; i < 100; i++) {
        char expected[MPI_MAX_INFO_KEY];
        snprintf(expected, sizeof expected, "key%d", i);
        ck_assert_int_eq(tern_mpi_info_get_nthkey(info, i, key), 0);
        ck_assert_str_eq(key, expected);
    }
    ck_assert_str_eq(tern_info_find(info, "key7"), "again");
    ck_assert_int_eq(tern_mpi_info_get_nthkey(info, 100, key), TERN_ERR_ARG);
    ck_assert_int_eq(tern_mpi_info_get_nthkey(info, -1, key), TERN_ERR_ARG);
}
END_TEST

START_TEST(delete_closes_the_gap)
{
    char key[MPI_MAX_INFO_KEY];
    int flag, count;
    tern_mpi_info_set(info, "a", "1");
    tern_mpi_info_set(info, "b", "2");
    tern_mpi_info_set(info, "c", "3");
    ck_assert_int_eq(tern_mpi_info_delete(info, "b"), 0);
    ck_assert_int_eq(tern_mpi_info_delete(info, "b"), TERN_ERR_INFO_NOKEY);
    tern_mpi_info_get_nkeys(info, &count);
    ck_assert_int_eq(count, 2);
    tern_mpi_info_get_nthkey(info, 1, key);
    ck_assert_str_eq(key, "c");
    int length = -1;
    ck_assert_int_eq(tern_mpi_info_get_valuelen(info, "b", &length, &flag), 0);
    ck_assert_int_eq(flag, 0);
    ck_assert_int_eq(length, -1);
}
END_TEST

START_TEST(get_cuts_at_valuelen)
{
    char value[8];
    int flag;
    tern_mpi_info_set(info, "k", "abcdef");
    memset(value, '#', sizeof value);
    ck_assert_int_eq(tern_mpi_info_get(info, "k", 3, value, &flag), 0);
    ck_assert_int_eq(flag, 1);
    ck_assert_str_eq(value, "abc");
    ck_assert_int_eq(value[4], '#');
    ck_assert_int_eq(tern_mpi_info_get(info, "k", 7, value, &flag), 0);
    ck_assert_str_eq(value, "abcdef");
    ck_assert_int_eq(tern_mpi_info_get(info, "none", 7, value, &flag), 0);
    ck_assert_int_eq(flag, 0);
    ck_assert_str_eq(value, "abcdef"); /* untouched */
    ck_assert_int_eq(tern_mpi_info_get(info, "k", -1, value, &flag), TERN_ERR_INFO_VALUE);
}
END_TEST

START_TEST(get_string_says_the_room_it_needs)
{
    char value[8] = "#######";
    int flag, length = 0;
    tern_mpi_info_set(info, "k", "abcdef");
    ck_assert_int_eq(tern_mpi_info_get_string(info, "k", &length, value, &flag), 0);
    ck_assert_int_eq(flag, 1);
    ck_assert_int_eq(length, 7); /* with the final zero */
    ck_assert_str_eq(value, "#######");
    length = 4;
    tern_mpi_info_get_string(info, "k", &length, value, &flag);
    ck_assert_str_eq(value, "abc");
    ck_assert_int_eq(length, 7);
    tern_mpi_info_get_string(info, "k", &length, value, &flag);
    ck_assert_str_eq(value, "abcdef");
    length = 5;
    tern_mpi_info_get_string(info, "none", &length, value, &flag);
    ck_assert_int_eq(flag, 0);
    ck_assert_int_eq(length, 5);
}
END_TEST

/* How long keys and values may be depends on the caller's interface, so the entry point says it. */
START_TEST(keys_and_values_have_any_length)
{
    char key[2 * MPI_MAX_INFO_KEY], value[2 * MPI_MAX_INFO_VAL];
    text_of(key, sizeof key - 1);
    text_of(value, sizeof value - 1);
    ck_assert_int_eq(tern_mpi_info_set(info, key, value), 0);
    ck_assert_str_eq(tern_info_find(info, key), value);
    ck_assert_int_eq(tern_mpi_info_set(info, "k", ""), 0); /* means "none" for some keys */
    ck_assert_str_eq(tern_info_find(info, "k"), "");
}
END_TEST

START_TEST(copy_is_independent)
{
    struct tern_info *copy;
    tern_mpi_info_set(info, "a", "1");
    tern_mpi_info_set(info, "b", "2");
    ck_assert_int_eq(tern_mpi_info_dup(info, &copy), 0);
    tern_mpi_info_set(info, "a", "changed");
    tern_mpi_info_delete(info, "b");
    ck_assert_str_eq(tern_info_find(copy, "a"), "1");
    ck_assert_str_eq(tern_info_find(copy, "b"), "2");
    ck_assert_int_eq(tern_mpi_info_free(&copy), 0);
    ck_assert_ptr_null(tern_info_find(NULL, "a"));
}
END_TEST

START_TEST(environment_is_described_and_fixed)
{
    char *argv[] = {"program", "-x", "one word", NULL}, directory[PATH_MAX];
    struct tern_info *env = &tern_info_env;
    tern_info_fill_env(3, argv, MPI_THREAD_SERIALIZED);
    ck_assert_str_eq(tern_info_find(env, "command"), "program");
    ck_assert_str_eq(tern_info_find(env, "argv"), "-x one word");
    ck_assert_str_eq(tern_info_find(env, "thread_level"), "MPI_THREAD_SERIALIZED");
    ck_assert_ptr_nonnull(tern_info_find(env, "arch"));
    ck_assert_ptr_nonnull(getcwd(directory, sizeof directory));
    if (strlen(directory) < MPI_MAX_INFO_VAL)
        ck_assert_str_eq(tern_info_find(env, "wdir"), directory);
    ck_assert_int_eq(tern_mpi_info_set(env, "a", "1"), TERN_ERR_INFO);
    ck_assert_int_eq(tern_mpi_info_free(&env), TERN_ERR_INFO);
    ck_assert_ptr_eq(env, &tern_info_env);
}
END_TEST

START_TEST(long_command_lines_are_cut)
{
    char long_argument[1000], *argv[] = {long_argument, long_argument, long_argument, NULL};
    struct tern_info *env;
    text_of(long_argument, sizeof long_argument - 1);
    ck_assert_int_eq(tern_mpi_info_create_env(3, argv, &env), 0);
    ck_assert_uint_eq(strlen(tern_info_find(env, "command")), MPI_MAX_INFO_VAL - 1);
    ck_assert_uint_eq(strlen(tern_info_find(env, "argv")), MPI_MAX_INFO_VAL - 1);
    ck_assert_int_eq(tern_mpi_info_free(&env), 0);
    ck_assert_int_eq(tern_mpi_info_create_env(0, NULL, &env), 0);
    ck_assert_ptr_null(tern_info_find(env, "argv"));
    ck_assert_int_eq(tern_mpi_info_free(&env), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("info");
    TCase *tcase = suite_case(suite, "all");
    tcase_add_checked_fixture(tcase, make_info, free_info);
    tcase_add_test(tcase, keys_stand_in_the_order_of_setting);
    tcase_add_test(tcase, delete_closes_the_gap);
    tcase_add_test(tcase, get_cuts_at_valuelen);
    tcase_add_test(tcase, get_string_says_the_room_it_needs);
    tcase_add_test(tcase, keys_and_values_have_any_length);
    tcase_add_test(tcase, copy_is_independent);
    tcase_add_test(tcase, environment_is_described_and_fixed);
    tcase_add_test(tcase, long_command_lines_are_cut);
    return suite_run(suite);
}
