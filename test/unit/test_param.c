/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters: where a value comes from, how it is read, and names that are nearly right. The values are read in a child
 * process each, as files are read once. */

#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/util/base/text.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"

#include <check.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/test_param.XXXXXX";

/* A home without parameters, whatever the one who runs the test has. */
static void empty_home(void)
{
    ck_assert_int_eq(setenv("HOME", directory, 1), 0);
    ck_assert_int_eq(setenv("OPAL_PREFIX", directory, 1), 0);
    unsetenv("OMPI_MCA_btl");
    unsetenv("OMPI_MCA_pml_eager_credit");
    unsetenv("OMPI_MCA_btl_shm_single_copy");
    unsetenv("OMPI_MCA_mpi_abort_print_stack");
    unsetenv("OMPI_MCA_btl_vader_single_copy_mechanism");
    unsetenv("OMPI_MCA_mca_param_files");
    unsetenv("OMPI_MCA_mca_base_param_files");
    unsetenv("PMIX_RANK");
}

static void write_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static void remove_file(const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    unlink(path);
}

static void use_files(const char *first, const char *second)
{
    char list[600];
    snprintf(list, sizeof list, "%s/%s:%s/%s", directory, first, directory, second);
    ck_assert_int_eq(setenv("OMPI_MCA_mca_param_files", list, 1), 0);
}

/* What `call` writes on standard error. */
static const char *said(void (*call)(void))
{
    static char text[4096];
    int pipes[2], saved = dup(STDERR_FILENO);
    ck_assert_int_eq(pipe(pipes), 0);
    dup2(pipes[1], STDERR_FILENO);
    call();
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(pipes[1]);
    size_t used = 0;
    for (ssize_t n; used < sizeof text - 1 && (n = read(pipes[0], text + used, sizeof text - 1 - used)) > 0;)
        used += (size_t)n;
    text[used] = 0;
    close(pipes[0]);
    return text;
}

START_TEST(default_is_taken)
{
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 1 << 20);
    ck_assert(!tern_param_bool("mpi_abort_print_stack"));
    ck_assert_str_eq(tern_param_string("btl"), "");
    ck_assert_str_eq(tern_param_source("btl"), "default");
}
END_TEST

static const struct {
    const char *text;
    int64_t value;
} sizes[] = {{"0", 0},         {"17", 17},           {"0x10", 16},    {"4k", 4096},           {"4K", 4096},
             {"4kb", 4096},    {"3m", 3 << 20},      {"1g", 1 << 30}, {"2G", 2ll << 30},      {"5t", 5ll << 40},
             {"-1", -1},       {"-2k", -2048},       {"100B", 100},   {"8388607t", 8388607ll << 40}};

START_TEST(sizes_have_suffixes)
{
    int64_t value;
    ck_assert(tern_param_read_value(TERN_PARAM_SIZE, sizes[_i].text, &value));
    ck_assert_int_eq(value, sizes[_i].value);
}
END_TEST

static const char *const bad_sizes[] = {"", "k", "many", "4kk", "4 k", "1.5m", "99999999999999999999", "8388608t"};

START_TEST(an_unreadable_value_is_refused)
{
    char found[100];
    setenv("OMPI_MCA_pml_eager_credit", bad_sizes[_i], 1);
    snprintf(found, sizeof found, "parameter pml_eager_credit is \"%s\" (OMPI_MCA_pml_eager_credit in the environment)",
             bad_sizes[_i]);
    ck_assert_int_eq(tern_param_check_all(), TERN_ERR_ARG);
    const char *text = tern_error_text(TERN_ERR_ARG);
    ck_assert_msg(strstr(text, found) != NULL, "%s", text);
    ck_assert_msg(strstr(text, "expected a number of bytes from 1 to 1t") != NULL, "%s", text);
    ck_assert_msg(strstr(text, "the default is 1m") != NULL, "%s", text);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 1 << 20);
}
END_TEST

/* The refusal of `text` as the value of `param` names both. */
static void refuses(const struct tern_setting *param, const char *text)
{
    char variable[200], found[500];
    snprintf(variable, sizeof variable, "OMPI_MCA_%s", param->name);
    snprintf(found, sizeof found, "parameter %s is \"%s\" (%s in the environment); expected ", param->name, text,
             variable);
    setenv(variable, text, 1);
    ck_assert_msg(tern_param_check_all() == TERN_ERR_ARG, "%s may be \"%s\"", param->name, text);
    ck_assert_msg(strstr(tern_error_text(TERN_ERR_ARG), found) != NULL, "%s", tern_error_text(TERN_ERR_ARG));
    ck_assert_int_eq(tern_param_check(param->name), TERN_ERR_ARG);
    ck_assert_int_eq(tern_param_write(param->name, text), TERN_ERR_ARG);
    unsetenv(variable);
    ck_assert_int_eq(tern_param_check_all(), 0);
}

static void allows(const struct tern_setting *param, const char *text)
{
    ck_assert_msg(tern_param_check_text(param->name, text, "here") == 0, "%s", tern_error_text(TERN_ERR_ARG));
}

static void check_range(const struct tern_setting *param)
{
    char text[32];
    ck_assert_msg(param->least < param->most, "%s has no range", param->name);
    snprintf(text, sizeof text, "%lld", (long long)param->least);
    allows(param, text);
    snprintf(text, sizeof text, "%lld", (long long)param->least - 1);
    refuses(param, text);
    snprintf(text, sizeof text, "%lld", (long long)param->most);
    allows(param, text);
    snprintf(text, sizeof text, "%llu", (unsigned long long)param->most + 1);
    refuses(param, text);
    if (param->or_zero)
        allows(param, "0");
}

START_TEST(every_parameter_refuses_what_it_cannot_be)
{
    const struct tern_setting *param;
    int checked = 0;
    for (int i = 0; (param = tern_param_at(i, NULL)); i++) {
        if (param->type == TERN_PARAM_STRING && !param->choices)
            continue;
        checked++;
        refuses(param, "much");
        refuses(param, "1x");
        if (param->least >= 0)
            refuses(param, "-1");
        refuses(param, "99999999999999999999");
        if (param->type == TERN_PARAM_INT || param->type == TERN_PARAM_SIZE)
            check_range(param);
        if (param->type == TERN_PARAM_INT) /* a tool reads and writes an int */
            ck_assert_int_le(param->most, INT_MAX);
        if (!param->choices)
            refuses(param, "");
        ck_assert_ptr_nonnull(param->preset);
        allows(param, param->preset);
    }
    ck_assert_int_gt(checked, 30);
}
END_TEST

/* Algorithms that are no more name others, and stand in no list. */
START_TEST(former_choices_mean_others)
{
    static const struct {
        const char *name, *former, *used;
    } rows[] = {{"coll_bcast_algorithm", "bine", "binomial"},
                {"coll_bcast_algorithm", "TWO_TREE", "circulant"},
                {"coll_reduce_algorithm", "bine", "binomial"},
                {"coll_reduce_algorithm", "two_tree", "circulant"},
                {"coll_allreduce_algorithm", "tree_linear", "linear"},
                {"coll_allgather_algorithm", "recursive_doubling", "bruck"},
                {"coll_alltoallv_algorithm", "frames", "linear"},
                {"coll_alltoallw_algorithm", "frames", "linear"},
                {"coll_inter_algorithm", "spread", "leaders"}};
    char used[64], text[400], name[64];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct tern_setting *param = tern_param_find(rows[i].name);
        allows(param, rows[i].former);
        ck_assert(tern_param_former_choice(param, rows[i].former, used, sizeof used));
        ck_assert_str_eq(used, rows[i].used);
        ck_assert(!tern_param_former_choice(param, used, text, sizeof text));
        ck_assert(tern_param_choice_name(param, tern_param_index_of_choice(param, rows[i].former), name,
                                         sizeof name));
        ck_assert_str_eq(name, rows[i].used);
        tern_param_describe_values(param, NULL, text, sizeof text);
        ck_assert_ptr_null(strcasestr(text, rows[i].former));
    }
}
END_TEST

/* coll_algorithm says in one list what the parameters of its collectives say one by one. */
START_TEST(a_list_sets_other_parameters)
{
    static const char list[] = "coll_algorithm", bcast[] = "coll_bcast_algorithm";
    static const struct {
        const char *value, *expected; /* NULL: it is allowed */
    } rows[] = {{"bcast:chain", NULL},
                {"allreduce:Ring,bcast:two_tree,inter:leaders,", NULL},
                {"bcast:", NULL},
                {"allreduce:ring,bcast:rong", "expected for bcast, not \"rong\", one of \"\", board, binomial, "},
                {"bcast", "for bcast, not \"bcast\", one of"},
                {"alreduce:ring", "as NAME, not \"alreduce\" but one of inter, barrier, bcast, gather, "},
                {"ring", "as NAME, not \"ring\" but one of"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int error = tern_param_check_text(list, rows[i].value, "here");
        ck_assert_int_eq(error, rows[i].expected ? TERN_ERR_ARG : 0);
        if (error)
            ck_assert_msg(strstr(tern_error_text(error), rows[i].expected) != NULL, "%s", tern_error_text(error));
    }
    int chain = tern_param_find_choice(bcast, "chain"), linear = tern_param_find_choice(bcast, "linear");
    write_file("a", "coll_bcast_algorithm = linear\n");
    use_files("a", "b");
    ck_assert_int_eq(tern_param_choice_in_list(list, bcast), linear);
    setenv("OMPI_MCA_coll_algorithm", "reduce:chain,bcast:knomial,bcast:chain", 1);
    ck_assert_int_eq(tern_param_choice_in_list(list, bcast), chain);
    ck_assert_int_eq(tern_param_choice_in_list(list, "coll_scan_algorithm"), 0);
    ck_assert_int_eq(tern_param_write(bcast, "linear"), 0);
    ck_assert_int_eq(tern_param_choice_in_list(list, bcast), linear);
    ck_assert_int_eq(tern_param_write(list, "bcast:chain"), 0);
    ck_assert_int_eq(tern_param_choice_in_list(list, bcast), chain);
    unsetenv("OMPI_MCA_coll_algorithm");
    remove_file("a");
}
END_TEST

static const struct {
    const char *name, *good, *bad, *expected;
} foreign[] = {
    { "mpi_param_check", "0 1 true No ENABLED -3 2", "perhaps 1x", "0 or 1" },
    { "btl_openib_verbose", "yes", "max", "0 or 1" },
    { "mpi_leave_pinned", "0 1 -1 true auto", "2 always", "one of auto, true, false" },
    { "mtl_ofi_av", "map 2", "3 tables", "one of map, table" },
    { "coll_libnbc_ibcast_algorithm", "knomial 4", "5 tree", "one of ignore, linear, binomial, chain, knomial" },
    { "btl_base_verbose", "100 -1 33 max", "much",
      "one of none, error, component, warn, info, trace, debug, max, or a number" },
    { "pml_base_verbose", "error", "errors", ", or a number" },
    { "mca_base_verbose", "stdout,level:5", "", "" },
    { "btl_openib_want_fork_support", "any", "", "" },
};

START_TEST(foreign_words_are_checked)
{
    int row = _i;
    char words[64], found[300], *rest = words, *word;
    snprintf(words, sizeof words, "%s", foreign[row].good);
    ck_assert_int_eq(tern_param_check_text(foreign[row].name, "", "here"), 0);
    while ((word = strsep(&rest, " ")))
        ck_assert_msg(tern_param_check_text(foreign[row].name, word, "here") == 0, "%s", word);
    snprintf(words, sizeof words, "%s", foreign[row].bad);
    for (rest = *words ? words : NULL; (word = strsep(&rest, " "));) {
        ck_assert_msg(tern_param_check_text(foreign[row].name, word, "here") == TERN_ERR_ARG, "%s", word);
        snprintf(found, sizeof found, "parameter %s is \"%s\" (here); expected ", foreign[row].name, word);
        ck_assert_msg(strstr(tern_error_text(TERN_ERR_ARG), found) != NULL, "%s", tern_error_text(TERN_ERR_ARG));
        ck_assert_msg(strstr(tern_error_text(TERN_ERR_ARG), foreign[row].expected) != NULL, "%s",
                      tern_error_text(TERN_ERR_ARG));
    }
}
END_TEST

START_TEST(a_value_of_a_file_is_refused_with_its_line)
{
    char found[300];
    write_file("a", "# comment\n\nbtl_tcp_timeout = 1\n");
    write_file("b", "btl_vader_single_copy_mechanism = zigzag\n");
    use_files("a", "b");
    snprintf(found, sizeof found, "parameter btl_tcp_timeout is \"1\" (%s/a line 3); expected a whole number from 3 to 86400",
             directory);
    ck_assert_int_eq(tern_param_check("btl_tcp_timeout"), TERN_ERR_ARG);
    ck_assert_msg(strstr(tern_error_text(TERN_ERR_ARG), found) != NULL, "%s", tern_error_text(TERN_ERR_ARG));
    /* by the name that is written there */
    snprintf(found, sizeof found,
             "parameter btl_vader_single_copy_mechanism is \"zigzag\" (%s/b line 1); expected one of auto, always, never",
             directory);
    ck_assert_int_eq(tern_param_check("btl_shm_single_copy"), TERN_ERR_ARG);
    ck_assert_msg(strstr(tern_error_text(TERN_ERR_ARG), found) != NULL, "%s", tern_error_text(TERN_ERR_ARG));
    /* the environment comes first */
    setenv("OMPI_MCA_btl_tcp_timeout", "5", 1);
    setenv("OMPI_MCA_btl_shm_single_copy", "Never", 1);
    ck_assert_int_eq(tern_param_check_all(), 0);
    unsetenv("OMPI_MCA_btl_tcp_timeout");
    remove_file("a");
    remove_file("b");
}
END_TEST

static const struct {
    const char *text;
    bool value;
} bools[] = {{"1", true},   {"true", true},   {"YES", true}, {"on", true}, {"enabled", true},
             {"0", false},  {"False", false}, {"no", false}, {"off", false}, {"n", false}};

START_TEST(bools_are_read)
{
    setenv("OMPI_MCA_mpi_abort_print_stack", bools[_i].text, 1);
    ck_assert_int_eq(tern_param_bool("mpi_abort_print_stack"), bools[_i].value);
}
END_TEST

START_TEST(open_mpi_name_means_the_same)
{
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "none");
    ck_assert_str_eq(tern_param_source("btl_shm_single_copy"), "environment");
    setenv("OMPI_MCA_btl_shm_single_copy", "always", 1); /* our own name counts more */
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "always");
}
END_TEST

/* Whatever name it has there. */
START_TEST(environment_counts_before_files)
{
    write_file("a", "btl_shm_single_copy = always\n");
    write_file("b", "");
    use_files("a", "b");
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "always");
    setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "none");
    ck_assert_str_eq(tern_param_source("btl_shm_single_copy"), "environment");
    remove_file("a");
    remove_file("b");
}
END_TEST

/* PRRTE's names are read for mpirun's own parameters alone, in its variables, too. */
START_TEST(launcher_has_more_names)
{
    static const char *const names[] = {"plm_rsh_agent", "orte_rsh_agent", "pls_rsh_agent",
                                        "plm_ssh_agent", "prte_rsh_agent"};
    const struct tern_setting *agent = tern_param_find("plm_rsh_agent");
    char name[32];
    for (int i = 0; i < 5; i++) {
        ck_assert(tern_setting_name(agent, i, name, sizeof name));
        ck_assert_str_eq(name, names[i]);
        ck_assert_ptr_eq(tern_param_find(name), agent);
    }
    ck_assert(!tern_setting_name(agent, 5, name, sizeof name));
    ck_assert(tern_setting_name(agent, 0, name, 4));
    ck_assert_str_eq(name, "plm");
    ck_assert_ptr_null(tern_param_find("prte"));
    setenv("PRTE_MCA_btl", "self", 1);
    ck_assert_str_eq(tern_param_string("btl"), "");
    setenv("PMIX_MCA_prte_rsh_agent", "b", 1);
    ck_assert_str_eq(tern_param_string("plm_rsh_agent"), "b");
    setenv("PRTE_MCA_plm_ssh_agent", "a", 1);
    ck_assert_str_eq(tern_param_string("plm_rsh_agent"), "a");
}
END_TEST

START_TEST(files_are_read)
{
    char path[256];
    write_file("a", "# comment\n\n  btl = self,shm  \npml_eager_credit=2k\n");
    write_file("b", "pml_eager_credit = 3k\nmpi_abort_print_stack = \"yes\"\n");
    use_files("a", "b");
    ck_assert_str_eq(tern_param_string("btl"), "self,shm");
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 2048); /* the first file counts */
    ck_assert(tern_param_bool("mpi_abort_print_stack"));
    snprintf(path, sizeof path, "%s/b", directory);
    ck_assert_str_eq(tern_param_source("mpi_abort_print_stack"), path);
    setenv("OMPI_MCA_pml_eager_credit", "5", 1); /* the environment counts more */
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 5);
    remove_file("a");
    remove_file("b");
}
END_TEST

/* Of any length, and the last one without its end. */
START_TEST(long_lines_are_read)
{
    char text[6000], expected[5001];
    memset(expected, 'x', 5000);
    expected[5000] = 0;
    snprintf(text, sizeof text, "btl_tcp_if_exclude = %s\npml_eager_credit=3k", expected);
    write_file("a.conf", text);
    write_file("b.conf", "");
    use_files("a.conf", "b.conf");
    ck_assert_str_eq(tern_param_string("btl_tcp_if_exclude"), expected);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 3072);
    remove_file("a.conf");
    remove_file("b.conf");
}
END_TEST

START_TEST(installed_file_is_read)
{
    char path[256];
    snprintf(path, sizeof path, "%s/etc", directory);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    write_file("etc/openmpi-mca-params.conf", "pml_eager_credit = 7k\n");
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 7 * 1024);
    remove_file("etc/openmpi-mca-params.conf");
    rmdir(path);
}
END_TEST

static void read_size(void)
{
    tern_param_int("pml_eager_credit");
}

START_TEST(last_line_of_a_file_counts)
{
    write_file("a", "pml_eager_credit = 1k\npml_eager_credit = 2k\nmpi_abort_print_stack = 1\n"
                    "mpi_abort_print_stack = 1\n");
    use_files("a", "a");
    const char *text = said(read_size);
    ck_assert_ptr_nonnull(strstr(text, "line 2: pml_eager_credit = 2k replaces the value 1k of line 1"));
    ck_assert_ptr_null(strstr(text, "mpi_abort_print_stack"));
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 2 * 1024);
    remove_file("a");
}
END_TEST

START_TEST(unknown_name_in_a_file_is_said)
{
    write_file("a", "pml_eager_credit = 1k\nbtl_shm_single_cpoy = 1\nfrobnicate = 1\nbtl_tcp_if_include = eth0\nno equals\n");
    use_files("a", "a");
    const char *text = said(read_size);
    ck_assert_ptr_nonnull(strstr(text, "btl_shm_single_cpoy; did you mean btl_shm_single_copy?"));
    ck_assert_ptr_nonnull(strstr(text, "line 2"));
    ck_assert_ptr_nonnull(strstr(text, "frobnicate"));
    ck_assert_ptr_null(strstr(text, "btl_tcp_if_include"));
    ck_assert_ptr_nonnull(strstr(text, "line 5"));
    remove_file("a");
}
END_TEST

START_TEST(only_rank_0_complains_of_a_file)
{
    write_file("a", "frobnicate = 1\n");
    use_files("a", "a");
    setenv("PMIX_RANK", "1", 1);
    ck_assert_str_eq(said(read_size), "");
    remove_file("a");
}
END_TEST

START_TEST(names_are_known_accepted_or_neither)
{
    ck_assert_ptr_nonnull(tern_param_find("btl"));
    ck_assert_ptr_nonnull(tern_param_find("pml_eager_credit"));
    ck_assert_ptr_nonnull(tern_param_find("btl_vader_single_copy_mechanism"));
    ck_assert_ptr_null(tern_param_find("btl_openib_if_include"));
    ck_assert(tern_open_mpi_accepted("btl_openib_if_include"));
    ck_assert(tern_open_mpi_accepted("orte_base_help_aggregate"));
    ck_assert(tern_open_mpi_accepted("coll"));
    ck_assert(!tern_open_mpi_accepted("collective_speed"));
    ck_assert(!tern_open_mpi_accepted("btl_shm_single_cpoy"));
    ck_assert(tern_open_mpi_accepted("btl_sm_eager_limit"));
    ck_assert(tern_open_mpi_accepted("coll_tuned_bcast_algorithm"));
    ck_assert(!tern_open_mpi_accepted(""));
    ck_assert_str_eq(tern_param_nearest("pml_eagre_credit"), "pml_eager_credit");
    ck_assert_ptr_null(tern_param_nearest("frobnicate"));
    ck_assert_ptr_null(tern_param_nearest(""));
}
END_TEST

static void unsetenv_of(const char *name)
{
    char variable[200];
    snprintf(variable, sizeof variable, "OMPI_MCA_%s", name);
    unsetenv(variable);
}

START_TEST(every_default_can_be_read)
{
    for (const struct tern_param_room *const *room = tern_param_rooms; *room; room++)
        for (int i = 0; i < (*room)->count; i++) {
            const struct tern_setting *param = &(*room)->params[i];
            ck_assert_ptr_nonnull(param->help);
            ck_assert_ptr_nonnull(param->unit);
            unsetenv_of(param->name);
            if (param->type != TERN_PARAM_STRING)
                tern_param_int(param->name); /* aborts when the default is wrong */
            ck_assert_str_eq(tern_param_source(param->name), "default");
        }
}
END_TEST

static const struct {
    const char *a, *b;
    int distance;
} distances[] = {{"", "", 0},         {"a", "", 1},        {"", "abc", 3},       {"same", "same", 0},
                 {"Same", "sAME", 0}, {"kitten", "sitting", 3}, {"ab", "ba", 1}, {"abcd", "acbd", 1},
                 {"bind-to", "bindto", 1}, {"hostfile", "hsotfile", 1}, {"np", "n", 1}, {"abc", "xyz", 3}};

START_TEST(edit_distance)
{
    ck_assert_int_eq(tern_text_distance(distances[_i].a, distances[_i].b), distances[_i].distance);
    ck_assert_int_eq(tern_text_distance(distances[_i].b, distances[_i].a), distances[_i].distance);
}
END_TEST

START_TEST(edit_distance_of_long_words)
{
    char a[1000], b[1000];
    memset(a, 'a', sizeof a);
    memset(b, 'b', sizeof b);
    a[999] = b[999] = 0;
    ck_assert_int_eq(tern_text_distance(a, a), 0);
    ck_assert_int_eq(tern_text_distance(a, b), 255);
}
END_TEST

#define COUNT(array) (int)(sizeof array / sizeof *array)

START_TEST(a_kept_value_follows_what_is_written)
{
    static struct tern_param_kept credit, copy;
    empty_home();
    setenv("OMPI_MCA_pml_eager_credit", "1000", 1);
    ck_assert_int_eq(tern_param_keep(&credit, "pml_eager_credit"), 1000);
    ck_assert_int_eq(tern_param_keep(&copy, "btl_shm_single_copy"), 0);
    setenv("OMPI_MCA_pml_eager_credit", "2000", 1); /* not looked up again */
    ck_assert_int_eq(tern_param_keep(&credit, "pml_eager_credit"), 1000);
    ck_assert_int_eq(tern_param_write("pml_eager_credit", "3k"), 0);
    ck_assert_int_eq(tern_param_keep(&credit, "pml_eager_credit"), 3072);
    ck_assert_int_eq(tern_param_write("btl_shm_single_copy", "none"), 0);
    ck_assert_int_eq(tern_param_keep(&copy, "btl_shm_single_copy"), 2);
}
END_TEST

/* What a tool writes comes before the environment; what cannot be read is refused. */
START_TEST(written_values_come_first)
{
    empty_home();
    setenv("OMPI_MCA_pml_eager_credit", "1000", 1);
    setenv("OMPI_MCA_btl_shm_single_copy", "cma", 1);
    unsigned before = tern_param_changes();
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 1000);
    ck_assert_int_eq(tern_param_write("pml_eager_credit", "2k"), 0);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 2048);
    ck_assert_str_eq(tern_param_source("pml_eager_credit"), "tool");
    ck_assert_int_ne(tern_param_write("pml_eager_credit", "many"), 0);
    ck_assert_int_ne(tern_param_write("no_such_parameter", "1"), 0);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 2048);
    ck_assert_uint_eq(tern_param_changes(), before + 1);

    ck_assert_int_eq(tern_param_choice("btl_shm_single_copy"), 1); /* always */
    ck_assert_int_ne(tern_param_write("btl_shm_single_copy", "al"), 0);
    ck_assert_int_ne(tern_param_write("btl_shm_single_copy", ""), 0);
    ck_assert_int_eq(tern_param_write("btl_shm_single_copy", "none"), 0);
    ck_assert_int_eq(tern_param_choice("btl_shm_single_copy"), 2);
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "none");

    /* by a row that somebody has found already; without one nothing is written */
    const struct tern_setting *row = tern_param_find("pml_eager_credit");
    before = tern_param_changes();
    ck_assert_int_eq(tern_param_set(row, "pml_eager_credit", "4k", "here"), 0);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 4096);
    ck_assert_int_ne(tern_param_set(row, "pml_eager_credit", "many", "here"), 0);
    ck_assert_int_eq(tern_param_set(NULL, "no_such_parameter", "1", "here"), 0);
    ck_assert_int_eq(tern_param_int("pml_eager_credit"), 4096);
    ck_assert_uint_eq(tern_param_changes(), before + 1);
    ck_assert_str_eq(tern_param_string("btl_shm_single_copy"), "none");
}
END_TEST

START_TEST(choices_have_names)
{
    const struct tern_setting *param = tern_param_at(tern_param_index("btl_shm_single_copy"), NULL);
    char name[16];
    ck_assert(tern_param_choice_name(param, 1, name, sizeof name));
    ck_assert_str_eq(name, "always");
    ck_assert(tern_param_choice_name(param, 2, name, 4));
    ck_assert_str_eq(name, "nev");
    ck_assert(!tern_param_choice_name(param, 3, name, sizeof name));
    ck_assert(!tern_param_choice_name(param, -1, name, sizeof name));
    ck_assert_ptr_null(tern_param_at(-1, NULL));
    ck_assert_ptr_null(tern_param_at(10000, NULL));
    for (int i = 0; tern_param_at(i, NULL); i++)
        ck_assert_int_eq(tern_param_index(tern_param_at(i, NULL)->name), i);
}
END_TEST

int main(void)
{
    if (!mkdtemp(directory)) {
        perror(directory);
        return 1;
    }
    Suite *suite = suite_create("param");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, empty_home, NULL);
    tcase_add_test(tcase, default_is_taken);
    tcase_add_loop_test(tcase, sizes_have_suffixes, 0, COUNT(sizes));
    tcase_add_loop_test(tcase, an_unreadable_value_is_refused, 0, COUNT(bad_sizes));
    tcase_add_test(tcase, every_parameter_refuses_what_it_cannot_be);
    tcase_add_test(tcase, a_list_sets_other_parameters);
    tcase_add_test(tcase, former_choices_mean_others);
    tcase_add_loop_test(tcase, foreign_words_are_checked, 0, COUNT(foreign));
    tcase_add_test(tcase, a_value_of_a_file_is_refused_with_its_line);
    tcase_add_test(tcase, only_rank_0_complains_of_a_file);
    tcase_add_loop_test(tcase, bools_are_read, 0, COUNT(bools));
    tcase_add_test(tcase, open_mpi_name_means_the_same);
    tcase_add_test(tcase, environment_counts_before_files);
    tcase_add_test(tcase, launcher_has_more_names);
    tcase_add_test(tcase, files_are_read);
    tcase_add_test(tcase, long_lines_are_read);
    tcase_add_test(tcase, installed_file_is_read);
    tcase_add_test(tcase, last_line_of_a_file_counts);
    tcase_add_test(tcase, unknown_name_in_a_file_is_said);
    tcase_add_test(tcase, names_are_known_accepted_or_neither);
    tcase_add_test(tcase, every_default_can_be_read);
    tcase_add_loop_test(tcase, edit_distance, 0, COUNT(distances));
    tcase_add_test(tcase, edit_distance_of_long_words);
    tcase_add_test(tcase, a_kept_value_follows_what_is_written);
    tcase_add_test(tcase, written_values_come_first);
    tcase_add_test(tcase, choices_have_names);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_FORK);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    if (rmdir(directory) != 0 && !failed) {
        perror(directory);
        return 1;
    }
    return failed ? 1 : 0;
}
