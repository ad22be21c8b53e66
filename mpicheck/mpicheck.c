/* SPDX-License-Identifier: BSD-3-Clause */

/* mpicheck: checks the hosts of a cluster and the network between them, in several short jobs of
 * the program mpicheck-probe, and writes what is wrong on one page and into files. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "lib/util/base/log.h"
#include "lib/util/base/prefix.h"
#include "mpicheck/measure/checkup.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/interfaces.h"
#include "mpicheck/data/records.h"
#include "mpicheck/data/whole_file.h"
#include "mpicheck/report/reports.h"

enum { UNMEASURED = 3, INTERRUPTED = 130, SAME_SECOND_MOST = 100 };

/* ---- directories ---- */

/* Makes a directory whose name nobody uses yet, in the working directory. Returns NULL if that is
 * impossible. */
static char *make_new_directory(void)
{
    char stamp[64];
    time_t now = time(NULL);
    struct tm local;
    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    for (int i = 1; i < SAME_SECOND_MOST; i++) {
        char *path = i == 1 ? tern_mc_format("mpicheck-%s", stamp)
                            : tern_mc_format("mpicheck-%s-%d", stamp, i);
        if (mkdir(path, 0777) == 0)
            return path;
        free(path);
        if (errno != EEXIST)
            break;
    }
    tern_log("cannot make a directory for the reports here: %s; --out names another place",
             strerror(errno));
    return NULL;
}

/* Makes a directory if it is not there. Returns false after a message. */
static bool make_directory(const char *path, bool *ret_made)
{
    *ret_made = mkdir(path, 0777) == 0;
    if (*ret_made || errno == EEXIST)
        return true;
    tern_log("cannot make the directory %s: %s; --out names another place", path, strerror(errno));
    return false;
}

/* Finds or makes the directory of the reports. Writes NULL if none is wanted. Returns false after a
 * message. The caller frees the name. */
static bool find_directory(const struct tern_mc_options *options, char **ret_directory,
                           bool *ret_made)
{
    *ret_directory = NULL;
    if (!options->out && (options->host_only || options->from))
        return true;
    if (options->out && !make_directory(options->out, ret_made))
        return false;
    *ret_directory = options->out ? tern_mc_format("%s", options->out) : make_new_directory();
    *ret_made |= !options->out && *ret_directory;
    return *ret_directory;
}

/* Begins the file of records with the hosts, which were found before it was open. Returns false
 * after a message. */
static bool begin_records(struct tern_mc_check *check, const char *directory)
{
    char *path = tern_mc_format("%s/records.txt", directory);
    check->records = fopen(path, "we");
    bool open = check->records || tern_mc_end_file(NULL, path);
    free(path);
    for (int i = 0; open && i < check->data->count; i++) {
        const struct tern_mc_host *host = &check->data->hosts[i];
        fprintf(check->records, "@ host %d %s\n", i, host->name);
        if (host->gone)
            fprintf(check->records, "@ gone %d %s\n", i, host->gone);
    }
    return open;
}

/* Ends the file of records. Returns false after a message if it is not whole. */
static bool end_records(struct tern_mc_check *check, const char *directory)
{
    tern_mc_record(check, "end %s", tern_mc_interrupted() ? "interrupted" : "done");
    if (!check->records)
        return true;
    char *path = tern_mc_format("%s/records.txt", directory);
    bool whole = tern_mc_end_file(check->records, path);
    check->records = NULL;
    free(path);
    return whole;
}

/* ---- programs ---- */

/* Builds the measuring program with another MPI library. Returns its path, or NULL after a
 * message. */
static char *build_probe(const char *prefix, const char *directory)
{
    char share[PATH_MAX], whole[PATH_MAX];
    tern_prefix_directory(TERN_SHAREDIR, share);
    if (!realpath(directory, whole))
        return NULL;
    char *probe = tern_mc_format("%s/mpicheck-probe", whole);
    char *command = tern_mc_format("'%s/bin/mpicc' -O2 -D_GNU_SOURCE -I'%s' -o '%s' "
                                   "'%s'/probe_*.c -lpthread -ldl", prefix, share, probe, share);
    int status = system(command); /* with a shell, for the pattern */
    free(command);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return probe;
    tern_log("the measuring program cannot be built with %s/bin/mpicc; --mpi names the prefix of "
             "an MPI library with its compiler wrapper", prefix);
    free(probe);
    return NULL;
}

static bool find_programs(struct tern_mc_check *check, const char *directory)
{
    const struct tern_mc_options *options = check->options;
    char bin[PATH_MAX], libexec[PATH_MAX];
    tern_prefix_directory(TERN_BINDIR, bin);
    tern_prefix_directory(TERN_LIBEXECDIR, libexec);
    check->own_mpirun = tern_mc_format("%s/mpirun", bin);
    check->mpirun = tern_mc_format("%s/mpirun", options->mpi ? options->mpi : bin);
    if (options->mpi) {
        free(check->mpirun);
        check->mpirun = tern_mc_format("%s/bin/mpirun", options->mpi);
        check->probe = build_probe(options->mpi, directory ? directory : check->work);
    } else {
        check->probe = tern_mc_format("%s/mpicheck-probe", libexec);
    }
    return check->probe;
}

static bool make_work(struct tern_mc_check *check)
{
    const char *tmp = getenv("TMPDIR");
    check->work = tern_mc_format("%s/mpicheck-XXXXXX", tmp && *tmp ? tmp : "/tmp");
    if (mkdtemp(check->work))
        return true;
    tern_log("cannot make the directory %s: %s; TMPDIR names another place", check->work,
             strerror(errno));
    free(check->work);
    check->work = NULL;
    return false;
}

/* ---- the check ---- */

static bool read_baseline(struct tern_mc_check *check)
{
    const char *directory = check->options->baseline;
    if (!directory)
        return true;
    char *path = tern_mc_format("%s/records.txt", directory);
    struct tern_mc_data *baseline = tern_mc_read(path);
    free(path);
    if (!baseline)
        return false;
    check->expected.baseline = baseline;
    bool alike = baseline->count == check->data->count;
    for (int i = 0; alike && i < baseline->count; i++)
        alike = strcmp(baseline->hosts[i].name, check->data->hosts[i].name) == 0;
    if (!alike)
        tern_log("--baseline %s is about other hosts than this check; expected the same, in the "
                 "same order", directory);
    return alike;
}

static void measure(struct tern_mc_check *check)
{
    tern_mc_phase_facts(check);
    if (!tern_mc_interrupted() && !check->options->network_only)
        tern_mc_phase_node(check);
    if (!tern_mc_interrupted() && !check->options->network_only)
        tern_mc_phase_gpus(check);
    if (!tern_mc_interrupted() && !check->options->host_only)
        tern_mc_phase_links(check);
    tern_mc_show_end(check);
}

static int answering(const struct tern_mc_data *data)
{
    int count = 0;
    for (int i = 0; i < data->count; i++)
        count += !data->hosts[i].gone && data->hosts[i].fact_count > 0;
    return count;
}

/* Returns the exit code of a check that could not do all it should. */
static int at_least_unmeasured(int code)
{
    return code < UNMEASURED ? UNMEASURED : code;
}

/* Writes the files. Then prints the page, which says if a file is missing. Returns the exit
 * code. */
static int write_all(struct tern_mc_result *result)
{
    if (result->directory)
        tern_mc_write_reports(result);
    tern_mc_print_page(result, stdout);
    bool whole = tern_mc_output_is_whole();
    return whole ? result->exit_code : at_least_unmeasured(result->exit_code);
}

/* Judges what was measured, and reports it. `unwritten`: the records could not be kept. Returns the
 * exit code. */
static int report(const struct tern_mc_check *check, const char *directory, double seconds,
                  bool unwritten)
{
    struct tern_mc_findings findings = {0};
    check->data->interrupted |= tern_mc_interrupted();
    tern_mc_judge_hosts(check->data, &findings);
    tern_mc_judge_gpus(check->data, &findings);
    tern_mc_judge_links(check->data, &findings);
    tern_mc_judge_speed(check->data, &check->expected, &findings);
    tern_mc_judge_networks(check->data, &findings);
    tern_mc_judge_good(check->data, &findings);
    int code = tern_mc_exit_code(&findings, check->options->fail_on_warning);
    if (check->data->interrupted)
        code = INTERRUPTED;
    else if (answering(check->data) == 0)
        code = UNMEASURED;
    else if (unwritten || check->malformed)
        code = at_least_unmeasured(code);
    struct tern_mc_result result = {.data = check->data,
                                    .findings = &findings,
                                    .seconds = seconds,
                                    .exit_code = code,
                                    .expected_bandwidth = check->expected.bandwidth,
                                    .expected_latency_us = check->expected.latency_us,
                                    .interrupted = check->data->interrupted,
                                    .unwritten = unwritten,
                                    .directory = directory};
    code = write_all(&result);
    tern_mc_findings_free(&findings);
    return code;
}

static int run_check(struct tern_mc_check *check, const char *directory)
{
    if (!find_programs(check, directory) || !tern_mc_find_hosts(check) || !read_baseline(check) ||
        (directory && !begin_records(check, directory))) {
        if (check->options->mpi && check->probe)
            unlink(check->probe);
        return tern_mc_interrupted() ? INTERRUPTED : UNMEASURED;
    }
    tern_mc_record(check, "begin %ld mpicheck %s", (long)time(NULL), PACKAGE_VERSION);
    measure(check);
    bool whole = end_records(check, directory);
    return report(check, directory, tern_mc_now() - check->begin, !whole);
}

static int run_recorded(struct tern_mc_check *check, const char *directory)
{
    double seconds = 0;
    if (!(check->data = tern_mc_read(check->options->from)) || !read_baseline(check))
        return UNMEASURED;
    for (int i = 0; i < check->data->phase_count; i++)
        seconds += check->data->phases[i].seconds;
    return report(check, directory, seconds, false);
}

static void end_check(struct tern_mc_check *check)
{
    if (check->work) {
        char *probe = tern_mc_format("%s/mpicheck-probe", check->work);
        unlink(probe);
        free(probe);
        rmdir(check->work);
    }
    tern_mc_data_free(check->data);
    tern_mc_data_free((struct tern_mc_data *)check->expected.baseline);
    free(check->work);
    free(check->own_mpirun);
    free(check->mpirun);
    free(check->probe);
}

/* Runs a whole check, or judges a recorded one. Returns the exit code. */
static int run(const struct tern_mc_options *options, const char *directory)
{
    struct tern_mc_check check = {.options = options, .begin = tern_mc_now()};
    int code = UNMEASURED;
    check.expected.bandwidth = options->bandwidth;
    check.expected.latency_us = options->latency_us;
    check.shows = !options->quiet && isatty(STDERR_FILENO);
    if (options->from)
        code = run_recorded(&check, directory);
    else if (make_work(&check))
        code = run_check(&check, directory);
    end_check(&check);
    return code;
}

/* ---- by each interface, by each GPU ---- */

/* Asks the hosts for their facts. Returns false if no host answers or after a message. The caller
 * ends the check. */
static bool ask_facts(struct tern_mc_check *check, const char *directory)
{
    if (!make_work(check) || !find_programs(check, directory) || !tern_mc_find_hosts(check))
        return false;
    tern_mc_phase_facts(check);
    return !tern_mc_interrupted();
}

/* Finds the interfaces that connect the hosts. Returns copies of the names, and their number; 0
 * after a message. */
static int ask_interfaces(const struct tern_mc_options *options, const char *directory,
                          char **ret_names)
{
    struct tern_mc_check check = {.options = options, .begin = tern_mc_now()};
    const char *names[TERN_MC_NICS_MOST];
    bool asked = ask_facts(&check, directory);
    int count = asked ? tern_mc_interfaces(check.data, names) : 0;
    if (asked && count == 0)
        tern_log("--per nic: no interface has an address of its own on two hosts, in one subnet");
    for (int i = 0; i < count; i++)
        ret_names[i] = tern_mc_format("%s", names[i]);
    end_check(&check);
    return count;
}

/* Returns the number of GPUs that all hosts have; 0 after a message. */
static int ask_gpus(const struct tern_mc_options *options, const char *directory)
{
    struct tern_mc_check check = {.options = options, .begin = tern_mc_now()};
    int without, count = 0;
    if (ask_facts(&check, directory)) {
        count = tern_mc_gpus_everywhere(check.data, &without);
        if (count == 0 && without >= 0)
            tern_log("--per gpu: host %s has no GPU that CUDA's driver lets a program use; -H "
                     "names hosts that have", check.data->hosts[without].name);
    }
    end_check(&check);
    return count;
}

/* Returns the worse of two exit codes: wrong data, faults, not measured, warnings, well. */
static int worse(int a, int b)
{
    static const int order[] = {INTERRUPTED, 4, 2, UNMEASURED, 1, 0};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a;
}

/* Runs a whole check with some options of its own, whose reports go into a directory of their
 * own. `what` and `name` say which. */
static int run_by(struct tern_mc_options *options, const char *directory, const char *what,
                  const char *name)
{
    char *reports = tern_mc_format("%s/%s", directory, name);
    char *baseline = options->baseline ? tern_mc_format("%s/%s", options->baseline, name) : NULL;
    int code = UNMEASURED;
    bool made = false;
    options->baseline = baseline;
    printf("%s %s\n", what, name);
    fflush(stdout);
    if (make_directory(reports, &made))
        code = run(options, reports);
    if (made)
        rmdir(reports); /* if it is empty */
    free(baseline);
    free(reports);
    return code;
}

/* Checks the network by one interface after the other; the hosts themselves are measured with the
 * first. */
static int run_per_nic(const struct tern_mc_options *options, const char *directory)
{
    char *names[TERN_MC_NICS_MOST];
    int count = ask_interfaces(options, directory, names);
    int code = count > 0 ? 0 : tern_mc_interrupted() ? INTERRUPTED : UNMEASURED;
    for (int i = 0; i < count; i++) {
        struct tern_mc_options own = *options;
        own.network_only |= i > 0;
        own.nic = names[i];
        own.mpirun = (struct tern_arguments){0};
        tern_arguments_append(&own.mpirun, &options->mpirun);
        tern_arguments_split(&own.mpirun, "--mca btl_tcp_if_include");
        tern_arguments_add(&own.mpirun, "%s", names[i]);
        if (!tern_mc_interrupted())
            code = worse(code, run_by(&own, directory, "interface", names[i]));
        tern_arguments_free(&own.mpirun);
        free(names[i]);
    }
    return code;
}

/* Checks the network with messages in the memory of one GPU of each host after the other. */
static int run_per_gpu(const struct tern_mc_options *options, const char *directory)
{
    int count = ask_gpus(options, directory);
    int code = count > 0 ? 0 : tern_mc_interrupted() ? INTERRUPTED : UNMEASURED;
    for (int gpu = 0; gpu < count && !tern_mc_interrupted(); gpu++) {
        struct tern_mc_options own = *options;
        char *name = tern_mc_format("gpu%d", gpu);
        own.network_only |= gpu > 0;
        own.gpu = gpu;
        code = worse(code, run_by(&own, directory, "GPU", name));
        free(name);
    }
    return code;
}

int main(int argc, char **argv)
{
    struct tern_mc_options options;
    char *directory = NULL;
    bool made = false;
    int code = UNMEASURED;
    tern_log_name("mpicheck");
    tern_mc_catch_signals();
    if (tern_mc_read_options(argc, argv, &options) &&
        find_directory(&options, &directory, &made)) {
        code = options.per_nic   ? run_per_nic(&options, directory)
               : options.per_gpu ? run_per_gpu(&options, directory)
                                 : run(&options, directory);
    }
    if (made)
        rmdir(directory); /* if it is empty: nothing was measured */
    tern_mc_options_free(&options);
    free(directory);
    return code;
}
