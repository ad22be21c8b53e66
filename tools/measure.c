/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/measure.h"

#include "lib/rte/hardware.h"
#include "lib/settings/figure_file.h"
#include "lib/util/base/log.h"
#include "lib/util/machine/line_costs.h"
#include "tools/measure_judge.h"
#include "lib/util/base/prefix.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the cores ---- */

/* One processor of each core that this process may use. Hardware threads of one core share too much
 * to count as two places. */
struct core {
    int cpu;
    int32_t core, cache, package;
};

enum { CORES_MAX = 1024 };

struct host {
    struct core cores[CORES_MAX];
    int count;
    int per_cache, per_package; /* the largest number of cores that share a cache or a package */
};

static bool same_core(const struct host *host, const struct core *core)
{
    for (int i = 0; i < host->count; i++)
        if (core->core != TERN_HW_NOT_BOUND && host->cores[i].core == core->core)
            return true;
    return false;
}

static struct core look_at(int cpu)
{
    int32_t part[TERN_HW_KINDS];
    bool exists[TERN_HW_KINDS];
    char list[16];
    snprintf(list, sizeof list, "%d", cpu);
    tern_rte_hw_places_of("", list, part, exists);
    int32_t package = exists[TERN_HW_PACKAGE] ? part[TERN_HW_PACKAGE] : 0;
    int32_t cache = exists[TERN_HW_L3]   ? part[TERN_HW_L3]
                    : exists[TERN_HW_L2] ? part[TERN_HW_L2]
                                         : package;
    return (struct core){cpu, exists[TERN_HW_CORE] ? part[TERN_HW_CORE] : TERN_HW_NOT_BOUND, cache,
                         package};
}

static void find_cores(struct host *host)
{
    cpu_set_t set;
    host->count = host->per_cache = host->per_package = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE && host->count < CORES_MAX; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        struct core core = look_at(cpu);
        if (!same_core(host, &core))
            host->cores[host->count++] = core;
    }
    for (int i = 0; i < host->count; i++) {
        int cache = 0, package = 0;
        for (int k = 0; k < host->count; k++) {
            cache += host->cores[k].cache == host->cores[i].cache;
            package += host->cores[k].package == host->cores[i].package;
        }
        host->per_cache = cache > host->per_cache ? cache : host->per_cache;
        host->per_package = package > host->per_package ? package : host->per_package;
    }
}

enum pair { PAIR_CACHE, PAIR_PACKAGE, PAIR_MACHINE, PAIRS };

/* Finds the first two cores that are such a pair. Returns false if there are none. */
static bool find_pair(const struct host *host, enum pair kind, int ret_cpus[2])
{
    for (int i = 0; i < host->count; i++)
        for (int k = i + 1; k < host->count; k++) {
            const struct core *a = &host->cores[i], *b = &host->cores[k];
            enum pair this = a->package != b->package ? PAIR_MACHINE
                             : a->cache != b->cache   ? PAIR_PACKAGE
                                                      : PAIR_CACHE;
            if (this != kind)
                continue;
            ret_cpus[0] = a->cpu;
            ret_cpus[1] = b->cpu;
            return true;
        }
    return false;
}

/* ---- the probe ---- */

/* The values that one run of the probe has printed; -1: not printed. */
struct result {
    double latency, overhead, gap, rendezvous, memory_gap, uncached_gap, copy_gap, reduce_gap,
        barrier, board_gap, call, turn, message;
};

static void take_line(struct result *result, const char *line)
{
    const struct {
        const char *name;
        double *value;
    } values[] = {
        {"latency", &result->latency},
        {"overhead", &result->overhead},
        {"gap", &result->gap},
        {"rendezvous", &result->rendezvous},
        {"memory_gap", &result->memory_gap},
        {"uncached_gap", &result->uncached_gap},
        {"copy_gap", &result->copy_gap},
        {"reduce_gap", &result->reduce_gap},
        {"barrier", &result->barrier},
        {"board_gap", &result->board_gap},
        {"switch", &result->turn},
        {"call", &result->call},
        {"message", &result->message},
    };
    char name[32];
    double value;
    if (sscanf(line, "%31s %lf", name, &value) != 2)
        return;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(values[i].name, name) == 0)
            *values[i].value = value;
}

static void put_in_front(const char *variable, const char *directory)
{
    char value[2 * PATH_MAX];
    const char *old = getenv(variable);
    snprintf(value, sizeof value, "%s%s%s", directory, old && *old ? ":" : "", old ? old : "");
    setenv(variable, value, 1);
}

static _Noreturn void become_mpirun(int output, const char *ranks, const char *cpus,
                                    const char *what)
{
    char bin[PATH_MAX], lib[PATH_MAX], libexec[PATH_MAX], mpirun[PATH_MAX + 8], probe[PATH_MAX + 8];
    tern_prefix_directory(TERN_BINDIR, bin);
    tern_prefix_directory(TERN_LIBDIR, lib);
    tern_prefix_directory(TERN_LIBEXECDIR, libexec);
    snprintf(mpirun, sizeof mpirun, "%s/mpirun", bin);
    snprintf(probe, sizeof probe, "%s/probe", libexec);
    put_in_front("LD_LIBRARY_PATH", lib); /* the installation may have been moved */
    /* stored figures, and errors in them, must not influence the measurement */
    setenv("XDG_CONFIG_HOME", "/dev/null", 1);
    dup2(output, STDOUT_FILENO);
    execl(mpirun, "mpirun", "--bind-to", "none", "--oversubscribe", "--mca", "coll_board", "1",
          "--mca", "coll_algorithm", "", "--mca", "coll_barrier_algorithm", "", "-n", ranks, probe,
          cpus, what, (char *)NULL);
    tern_log("%s cannot be started: %s", mpirun, strerror(errno));
    _exit(127);
}

static int read_result(int input, struct result *result)
{
    FILE *file = fdopen(input, "r");
    char line[128];
    if (!file)
        return -1;
    while (fgets(line, sizeof line, file))
        take_line(result, line);
    return fclose(file);
}

/* Runs the probe with one rank on each of `cpus`. Returns 0, or -1 after a message. */
static int probe(const int *cpus, int count, const char *what, struct result *ret_result)
{
    char list[256] = "", ranks[16];
    int ends[2], status;
    size_t used = 0;
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%d", i ? "," : "", cpus[i]);
    snprintf(ranks, sizeof ranks, "%d", count);
    *ret_result = (struct result){-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
    pid_t child = pipe2(ends, O_CLOEXEC) ? -1 : fork();
    if (child < 0) {
        tern_log("no process can be started: %s", strerror(errno));
        return -1;
    }
    if (child == 0)
        become_mpirun(ends[1], ranks, list, what);
    close(ends[1]);
    read_result(ends[0], ret_result);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return 0;
    tern_log("the job that measures on processors %s has failed; nothing is stored", list);
    return -1;
}

/* ---- the figures ---- */

enum { BOARD_MOST = 8, CROWD = 16, LINES_US = 10000000 };

struct measured {
    struct result pair[PAIRS], turn, crowd, board;
    struct tern_line_costs lines;
    int board_ranks;
};

/* Measures each kind of pair. A kind that this host lacks gets the figures of the next nearer kind,
 * or of the nearest kind that the host has; it does not matter, because such pairs do not occur
 * here. */
static int measure_pairs(const struct host *host, struct measured *measured)
{
    int cpus[2], found = -1;
    for (int kind = 0; kind < PAIRS; kind++) {
        if (find_pair(host, (enum pair)kind, cpus)) {
            if (probe(cpus, 2, "pair", &measured->pair[kind]))
                return -1;
            for (int k = found + 1; found < 0 && k < kind; k++)
                measured->pair[k] = measured->pair[kind];
            found = kind;
        } else if (found >= 0) {
            measured->pair[kind] = measured->pair[found];
        }
    }
    return 0;
}

/* Measures lines between the nearest two cores. */
static int measure_lines(const struct host *host, struct tern_line_costs *ret_lines)
{
    int cpus[2], kind = 0;
    cpu_set_t before, own, other;
    while (!find_pair(host, (enum pair)kind, cpus))
        kind++;
    CPU_ZERO(&own);
    CPU_SET(cpus[0], &own);
    CPU_ZERO(&other);
    CPU_SET(cpus[1], &other);
    bool measured = !sched_getaffinity(0, sizeof before, &before) &&
                    !sched_setaffinity(0, sizeof own, &own) &&
                    tern_line_costs_measure(&other, TERN_LINE_COSTS_TIMES, LINES_US, ret_lines);
    sched_setaffinity(0, sizeof before, &before);
    if (!measured)
        tern_log("threads on processors %d and %d get no turns; nothing is stored", cpus[0],
                 cpus[1]);
    return measured ? 0 : -1;
}

static int measure_all(const struct host *host, struct measured *measured)
{
    int cpus[CROWD];
    if (measure_pairs(host, measured) || measure_lines(host, &measured->lines))
        return -1;
    for (int i = 0; i < CROWD; i++)
        cpus[i] = host->cores[0].cpu;
    if (probe(cpus, 2, "switch", &measured->turn) || probe(cpus, CROWD, "crowd", &measured->crowd))
        return -1;
    measured->board_ranks = host->count < BOARD_MOST ? host->count : BOARD_MOST;
    for (int i = 0; i < measured->board_ranks; i++)
        cpus[i] = host->cores[i].cpu;
    return probe(cpus, measured->board_ranks, "board", &measured->board);
}

static int64_t at_least(double value, int64_t least)
{
    return value > (double)least ? (int64_t)(value + 0.5) : least;
}

static int make_figures(const struct host *host, const struct measured *measured,
                        struct tern_figure *figures)
{
    const struct result *near = &measured->pair[PAIR_CACHE];
    int64_t cache = tern_rte_hw_cache_bytes("", host->cores[0].cpu, 2);
    /* A barrier of n ranks takes a call, the board's latency and 2 (n - 1) times its overhead. With
     * only two ranks, latency and overhead cannot be told apart: assume that a post costs somewhat
     * less than a message. */
    double overhead = measured->board_ranks > 2 ? (measured->board.barrier - near->barrier) /
                                                      (2.0 * (measured->board_ranks - 2))
                                                : near->overhead * 2 / 3;
    /* the latency is at least as large as the overhead */
    double beside_call = (near->barrier - near->call) / 3;
    if (overhead < 0 || overhead > beside_call)
        overhead = beside_call;
    const struct tern_figure all[] = {
        {"coll_node_latency", at_least(near->latency, 1)},
        {"coll_node_overhead", at_least(near->overhead, 1)},
        {"coll_node_gap", at_least(near->gap, 1)},
        {"coll_node_rendezvous", at_least(near->rendezvous, 0)},
        {"coll_package_latency", at_least(measured->pair[PAIR_PACKAGE].latency, 1)},
        {"coll_package_gap", at_least(measured->pair[PAIR_PACKAGE].gap, 1)},
        {"coll_machine_latency", at_least(measured->pair[PAIR_MACHINE].latency, 1)},
        {"coll_machine_gap", at_least(measured->pair[PAIR_MACHINE].gap, 1)},
        {"coll_memory_gap", at_least(near->memory_gap, 1)},
        {"coll_uncached_gap", at_least(near->uncached_gap, 1)},
        {"coll_cache_bytes", cache > 0 ? cache : 1 << 20},
        {"coll_last_cache_bytes", tern_rte_hw_cache_bytes("", host->cores[0].cpu, 3)},
        {"coll_cores_per_cache", host->per_cache},
        {"coll_cores_per_package", host->per_package},
        {"coll_board_latency", at_least(near->barrier - near->call - 2 * overhead, 1)},
        {"coll_board_overhead", at_least(overhead, 1)},
        {"coll_board_gap", at_least(near->board_gap, 1)},
        {"coll_reduce_gap", at_least(near->reduce_gap, 1)},
        {"coll_copy_gap", at_least(near->copy_gap, 1)},
        {"coll_switch", at_least(measured->turn.turn, 1)},
        {"coll_switch_crowded", at_least(measured->crowd.turn, 1)},
        {"coll_cold", at_least(measured->crowd.message / 2 - near->overhead, 0)},
        {"coll_call", at_least(near->call, 1)},
        {"shm_again_gap", measured->lines.again},
        {"shm_take_gap", measured->lines.take},
        {"shm_turns_gap", measured->lines.turns},
        {"shm_prepared", measured->lines.prepared},
    };
    memcpy(figures, all, sizeof all);
    return (int)(sizeof all / sizeof *all);
}

static void print_figures(const struct host *host, const struct tern_figure *figures, int count)
{
    char kind[160];
    tern_figure_file_host_kind(kind, sizeof kind);
    printf("Measured on %s (%d cores in use", kind, host->count);
    printf(", %d to a package, %d to a cache):\n", host->per_package, host->per_cache);
    for (int i = 0; i < count; i++) {
        const struct tern_figure_row *row = &tern_figure_rows[tern_figure_index(figures[i].name)];
        printf("  %-24s %8lld %-8s %s\n", row->name, (long long)figures[i].value, row->unit,
               row->help);
    }
}

enum { FIGURES_MOST = 32, TRIES = 5 };

/* Stores figures that can be believed: they are possible, and agree with the measurement just
 * before. Returns their number, or -1 after a message. */
static int find_figures(const struct host *host, struct tern_figure *figures)
{
    static struct measured measured;
    struct tern_figure before[FIGURES_MOST];
    char why[256] = "";
    bool possible = false; /* the figures before */
    for (int i = 0; i < TRIES; i++) {
        if (measure_all(host, &measured))
            return -1;
        int count = make_figures(host, &measured, figures);
        if (tern_judge_figures(figures, count, why, sizeof why))
            possible = false;
        else if (possible && tern_judge_agreement(before, figures, count, why, sizeof why) == 0)
            return count;
        else
            possible = true;
        memcpy(before, figures, (size_t)count * sizeof *figures);
    }
    double load[1] = {0};
    getloadavg(load, 1);
    tern_log("--measure cannot believe the figures of this machine: %s. It has measured %d times; "
             "nothing is stored. Other programs seem to use the %d cores (load average %.1f): call "
             "it again when they have ended, or give it free cores by taskset(1)",
             why, TRIES, host->count, load[0]);
    return -1;
}

int tern_measure(void)
{
    static struct host host;
    struct tern_figure figures[FIGURES_MOST];
    char path[PATH_MAX];
    if (tern_figure_file_path(path, sizeof path)) {
        tern_log("--measure has nowhere to store figures: neither XDG_CONFIG_HOME nor HOME is set");
        return 1;
    }
    find_cores(&host);
    if (host.count < 2) {
        tern_log("--measure needs two cores to send messages between, but this process may use %d; "
                 "the built-in figures stay in use",
                 host.count);
        return 1;
    }
    if (getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK")) {
        tern_log("--measure starts its own job: call it outside of a job");
        return 1;
    }
    int count = find_figures(&host, figures);
    if (count < 0)
        return 1;
    print_figures(&host, figures, count);
    if (tern_figure_file_store(path, figures, count))
        return 1;
    printf("Stored in %s: jobs use them from now on.\n", path);
    return 0;
}
