/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/system_calls.h"
#include "mpirun/agent.h"
#include "mpirun/tree/agents.h"
#include "mpirun/ranks/rank_environment.h"
#include "mpirun/ranks/guardian.h"
#include "mpirun/plan/hosts.h"
#include "mpirun/job.h"
#include "mpirun/base/loop.h"
#include "mpirun/plan/map.h"
#include "mpirun/tree/start_agents.h"
#include "mpirun/plan/command_line.h"
#include "mpirun/plan/describe.h"
#include "mpirun/plan/executable.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/session_dir.h"
#include "mpirun/run.h"
#include "mpirun/plan/rankfile.h"
#include "mpirun/plan/this_machine.h"

enum { AGENTS_END_MS = 1000 };

/* A closed standard stream would be replaced by the first file that we open. Writing to this one fails (EBADF), as it did
 * before. */
static void open_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}

/* Whoever asked for this text does not get it. An exit status. */
static int finish_printing(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    tern_log("cannot write to standard output: %s", strerror(errno));
    return 1;
}

/* libpmix overflows a small stack without a word. What it needs was measured. An exit status. */
static int check_stack(char **envp)
{
    enum { NEEDED_KIB = 240 };
    struct rlimit limit;
    char here, *end = &here;
    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return 0;
    for (; *envp; envp++)
        end = *envp + strlen(*envp) > end ? *envp + strlen(*envp) : end;
    rlim_t used_kib = (rlim_t)(end - &here) / 1024, kib = limit.rlim_cur / 1024;
    if (kib >= used_kib + NEEDED_KIB)
        return 0;
    tern_log("the limit of the stack is %llu KiB, of which %llu are taken; mpirun needs %d more: raise it (ulimit -s)",
             (unsigned long long)kib, (unsigned long long)used_kib, NEEDED_KIB);
    return 1;
}

/* Absolute working directory of a program; malloc'ed. */
static char *name_wdir(const struct tern_app *app, const char *here)
{
    return !app->wdir            ? tern_must_copy(here)
           : app->wdir[0] == '/' ? tern_must_copy(app->wdir)
                                 : tern_must_format("%s/%s", here, app->wdir);
}

static int check_wdir(const char *wdir)
{
    struct stat info;
    if (stat(wdir, &info) < 0)
        return tern_error(TERN_ERR_ARG, "cannot use the working directory %s: %s", wdir,
                          strerror(errno));
    if (!S_ISDIR(info.st_mode))
        return tern_error(TERN_ERR_ARG,
                          "cannot use the working directory %s: it is not a directory", wdir);
    return 0;
}

static int name_wdirs(struct tern_options *options, char **wdirs)
{
    char *here = getcwd(NULL, 0);
    if (!here)
        return tern_error(TERN_ERR_OTHER, "the working directory cannot be found: %s",
                          strerror(errno));
    for (int app = 0; app < options->app_count; app++)
        wdirs[app] = name_wdir(&options->apps[app], here);
    if (options->output_dir && options->output_dir[0] != '/') /* agents are elsewhere */
        options->output_dir = tern_must_format("%s/%s", here, options->output_dir);
    free(here);
    return 0;
}

/* 0, or mpirun's exit status after the sentence was said. */
static int find_programs(const struct tern_options *options, char **wdirs, char **paths)
{
    int status = 0;
    for (int app = 0; app < options->app_count && !status; app++) {
        if (check_wdir(wdirs[app]))
            status = 1;
        else
            status = tern_program_find(&options->apps[app], wdirs[app], &paths[app]);
    }
    if (status)
        tern_log("%s", tern_error_text(TERN_ERR_ARG));
    return status;
}

static int map_ranks(struct tern_options *options, const struct tern_host *hosts, int host_count,
                     struct tern_map *ret_map)
{
    static int *np;
    np = tern_must_grow(np, options->app_count * sizeof *np);
    for (int app = 0; app < options->app_count; app++)
        np[app] = options->apps[app].np;
    options->map.np = np;
    options->map.apps = options->app_count;
    struct tern_map map;
    int error = tern_map_ranks(&options->map, hosts, host_count, &map);
    if (error)
        return error;
    if (options->stdin_rank >= map.size)
        error = tern_error(TERN_ERR_ARG, "--stdin %d: the number of ranks is %d", options->stdin_rank,
                           map.size);
    if (error)
        tern_map_free(&map);
    else
        *ret_map = map;
    return error;
}

/* --cpu-set leaves processors to others also when ranks are not bound. */
static void keep_to_listed(const struct tern_options *options, struct tern_map *map)
{
    for (int rank = 0; options->cpu_list && rank < map->size; rank++)
        map->places[rank].bound = true;
}

static int ranks_on(const struct tern_map *map, int host)
{
    int ranks = 0;
    for (int rank = 0; rank < map->size; rank++)
        ranks += map->places[rank].host == host;
    return ranks;
}

static void show_map(const struct tern_options *options, const struct tern_host *hosts,
                     int host_count, const struct tern_map *map)
{
    printf(" Data for JOB [%d,1] offset 0 Total slots allocated %d\n\n", (int)getpid(), map->slots);
    printf(" ========================   JOB MAP   ========================\n");
    for (int h = 0; h < host_count; h++) {
        printf("\n Data for node: %s\tNum slots: %d\tMax slots: %d\tNum procs: %d\n", hosts[h].name,
               tern_host_slots(&hosts[h], options->map.hwthreads), hosts[h].max_slots,
               ranks_on(map, h));
        for (int rank = 0; rank < map->size; rank++) {
            if (map->places[rank].host != h)
                continue;
            char *place = tern_map_describe(&hosts[h], &map->places[rank]);
            printf(" \tProcess OMPI jobid: [%d,1] App: %d Process rank: %d Bound: %s\n",
                   (int)getpid(), map->places[rank].app, rank, place);
            free(place);
        }
    }
    printf("\n =============================================================\n");
}

/* Of hosts that were not asked (`host_count` and on) only those whose slots are known. */
static void show_allocation(const struct tern_options *options, const struct tern_host *hosts,
                            int host_count, int unused)
{
    printf("\n======================   ALLOCATED NODES   ======================\n");
    for (int h = 0; h < host_count + unused; h++)
        if (h < host_count || hosts[h].slots)
            printf("\t%s: slots=%d max_slots=%d slots_inuse=0 state=UP\n", hosts[h].name,
                   tern_host_slots(&hosts[h], options->map.hwthreads), hosts[h].max_slots);
    printf("=================================================================\n");
}

static void report_bindings(const struct tern_host *hosts, const struct tern_map *map)
{
    for (int rank = 0; rank < map->size; rank++) {
        const struct tern_host *host = &hosts[map->places[rank].host];
        char *place = tern_map_describe(host, &map->places[rank]);
        fprintf(stderr, "[%s:%d] MCW rank %d %s%s\n", host->name, (int)getpid(), rank,
                map->places[rank].bound && place[0] == 's' ? "bound to " : "is ", place);
        free(place);
    }
}

static int report_pid(const char *where)
{
    if (strcmp(where, "-") == 0) {
        printf("%d\n", (int)getpid());
        return 0;
    }
    if (strcmp(where, "+") == 0) {
        fprintf(stderr, "%d\n", (int)getpid());
        return 0;
    }
    FILE *file = fopen(where, "we");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file)) {
        tern_log("cannot write the process id to %s: %s", where, strerror(errno));
        return 1;
    }
    return 0;
}

static void advise(const struct tern_options *options, const struct tern_map *map)
{
    if (map->crowded_host < 0 || options->oversubscribe || options->quiet)
        return;
    int ranks = map->crowded_ranks, units = map->crowded_units;
    char *there = tern_must_format("%d %s%s", units, options->map.hwthreads ? "hardware thread" : "core", units == 1 ? "" : "s");
    if (options->map.pe > 1)
        tern_log("%d rank%s with PE=%d on %s: too few, so no rank is bound; --oversubscribe says that this is meant",
                 ranks, ranks == 1 ? "" : "s", options->map.pe, there);
    else
        tern_log("%d ranks share %s; --oversubscribe says that this is meant", ranks, there);
    free(there);
}

static int show(const struct tern_options *options, const struct tern_host *hosts, int host_count,
                int unused, const struct tern_map *map)
{
    if (options->report_pid && report_pid(options->report_pid))
        return 1;
    if (options->display_allocation)
        show_allocation(options, hosts, host_count, unused);
    if (options->display_map)
        show_map(options, hosts, host_count, map);
    if (options->report_bindings)
        report_bindings(hosts, map);
    advise(options, map);
    return finish_printing();
}

/* All that lasts as long as the job. */
static struct {
    struct tern_options options;
    char **paths, **wdirs;
    struct tern_rankfile rankfile; /* empty: none was given */
    struct tern_host_list list;
    struct tern_fixed_place *fixed; /* by rank, where a rankfile or a sequence says it */
    struct tern_host own; /* this machine, whether it is among them or not */
    struct tern_host *hosts;
    int unused; /* hosts behind those of the list, which get no rank */
    int here;  /* this machine among them, or -1 */
    int slots; /* of all, also of those that get no rank; 0: not known before they are asked */
    hwloc_topology_t topology;
    struct tern_map map;
    struct tern_job job;
} all;

static int fault(int error)
{
    tern_log("%s", tern_error_text(error));
    return 1;
}

/* --map-by seq: each host that was named gets the next rank. */
static int place_in_sequence(const struct tern_host_list *list)
{
    int count = list->sequence.count, last = -1;
    all.fixed = tern_must_alloc(count * sizeof *all.fixed);
    for (int i = 0; i < count; i++) {
        const char *name = list->sequence.items[i];
        if (last < 0 || strcmp(name, list->sequence.items[i - 1])) /* the resolver may be slow */
            last = tern_host_list_find(list, name);
        if (last < 0)
            return tern_error(TERN_ERR_ARG, "--map-by seq: host %s may not be used", name);
        all.fixed[i].host = last;
    }
    all.options.map.fixed_count = count;
    return 0;
}

static int collect_hosts(void)
{
    struct tern_options *options = &all.options;
    struct tern_host_list *list = &all.list;
    int error = options->rankfile ? tern_rankfile_read(options->rankfile, options->rankfile_physical,
                                                       &all.rankfile)
                                  : 0;
    if (!error)
        error = tern_hosts_collect(&options->hosts, &options->hostfiles,
                                   options->rankfile ? &all.rankfile : NULL, list);
    if (error)
        return error;
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        if (!options->no_local || !list->items[i].here)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
    if (!kept)
        return tern_error(TERN_ERR_ARG, "--nolocal leaves no host");
    if (options->rankfile) {
        error = tern_rankfile_place(&all.rankfile, list, list->where, &all.fixed);
        options->map.fixed_count = all.rankfile.count;
        options->map.fixed_by = options->rankfile;
    } else if (options->sequential) {
        error = place_in_sequence(list);
    }
    options->map.fixed = all.fixed;
    return error;
}

/* What is known of the hosts so far; in place of unknown processors stands one. */
static void make_hosts(void)
{
    static struct tern_cpu one;
    all.hosts = tern_must_alloc(all.list.count * sizeof *all.hosts);
    all.here = -1;
    for (int h = 0; h < all.list.count; h++) {
        const struct tern_host_entry *entry = &all.list.items[h];
        struct tern_host *host = &all.hosts[h];
        *host = (struct tern_host){ .cpus = &one, .cpu_count = 1 };
        snprintf(host->name, sizeof host->name, "%s", entry->name);
        if (entry->here) {
            *host = all.own;
            all.here = h;
        }
        host->slots = entry->slots;
        host->max_slots = entry->max_slots;
        host->slots_implied = entry->implied;
    }
}

/* Which host gets which ranks, as far as it can be told before the hosts are asked which processors
 * they have. 1: it can't. */
static int map_early(struct tern_map *ret_map)
{
    struct tern_map_request *request = &all.options.map, asked = *request;
    bool known = !request->per_object || request->per_level == TERN_MAP_LEVEL_NODE;
    for (int h = 0; h < all.list.count; h++)
        known &= all.list.items[h].slots > 0 || all.list.items[h].here;
    if (!known && !request->fixed)
        return 1;
    struct tern_fixed_place *bare = tern_must_alloc(request->fixed_count * sizeof *bare);
    for (int rank = 0; rank < request->fixed_count; rank++)
        bare[rank].host = all.fixed[rank].host; /* whether it has the processors is seen later */
    request->fixed = request->fixed ? bare : NULL;
    request->no_oversubscribe &= known;
    int error = map_ranks(&all.options, all.hosts, all.list.count, ret_map);
    request->fixed = asked.fixed;
    request->no_oversubscribe = asked.no_oversubscribe;
    if (!error && known)
        all.slots = ret_map->slots;
    free(bare);
    return error;
}

/* Takes the hosts that will get no rank, where that is known, from the list, and puts them behind the others. */
static int drop_unused(void)
{
    struct tern_map map;
    int error = map_early(&map);
    if (error)
        return error < 0 ? error : 0;
    struct tern_host *unused = tern_must_alloc(all.list.count * sizeof *unused);
    int kept = 0;
    for (int h = 0; h < all.list.count; h++) {
        if (!ranks_on(&map, h)) {
            unused[all.unused++] = all.hosts[h];
            continue;
        }
        for (int rank = 0; rank < all.options.map.fixed_count; rank++) {
            if (all.fixed[rank].host == h)
                all.fixed[rank].host = kept;
        }
        if (all.here == h)
            all.here = kept;
        all.list.items[kept] = all.list.items[h];
        all.hosts[kept++] = all.hosts[h];
    }
    if (all.here >= kept || (all.here >= 0 && !all.list.items[all.here].here))
        all.here = -1;
    all.list.count = kept;
    memcpy(all.hosts + kept, unused, all.unused * sizeof *unused);
    free(unused);
    tern_map_free(&map);
    return 0;
}

/* A dry run starts nothing, so the others cannot be asked. */
static void take_others_as_this(void)
{
    int others = 0;
    for (int h = 0; h < all.list.count; h++) {
        struct tern_host *host = &all.hosts[h];
        if (all.list.items[h].here)
            continue;
        host->cpus = all.own.cpus;
        host->cpu_count = all.own.cpu_count;
        host->cpu_limit = all.own.cpu_limit;
        others++;
    }
    int cores = tern_host_objects(&all.own, TERN_MAP_LEVEL_CORE);
    if (others && !all.options.quiet)
        tern_log("nothing is started, so %s%s taken to have the processors of this machine (%d core%s)",
                 others == 1 ? "the other host" : "other hosts", others == 1 ? " is" : " are", cores,
                 cores == 1 ? "" : "s");
}

static void agent_said(const char *line)
{
    tern_output_say("%s", line);
}

/* From the list of hosts to a map. Where there are others than this machine, their agents are up
 * afterwards, unless this is a dry run. */
static int place_ranks(void)
{
    static const struct tern_muster_listener listener = { tern_run_lose, tern_job_received, agent_said };
    int error = tern_topology_read(all.options.cpu_list, &all.own, &all.topology);
    if (error)
        return error;
    make_hosts();
    bool only_here = all.list.count == 1 && all.here == 0;
    if (!only_here) {
        all.options.map.over_hosts = !all.options.map.no_oversubscribe;
        all.options.map.no_oversubscribe |= !all.options.oversubscribe;
        error = drop_unused();
        only_here = all.list.count == 1 && all.here == 0;
    }
    if (!error)
        error = tern_loop_open();
    if (!error && !only_here && all.options.do_not_launch)
        take_others_as_this();
    else if (!error && !only_here)
        error = tern_muster(&all.options, &all.list, all.here, all.hosts, &listener);
    if (!error)
        error = map_ranks(&all.options, all.hosts, all.list.count, &all.map);
    if (!error && all.slots > all.map.slots)
        all.map.slots = all.slots;
    return error;
}

int main(int argc, char **argv, char **envp)
{
    open_standard_streams();
    tern_log_name("mpirun");
    if (check_stack(envp))
        return 1;
    tern_guardian_command_line(argv);
    if (argc == 2 && strcmp(argv[1], "--agent") == 0)
        return tern_agent_run(false);
    if (argc == 3 && strcmp(argv[1], "--agent") == 0 && strcmp(argv[2], "call") == 0)
        return tern_agent_run(true);
    if (argc == 3 && strcmp(argv[1], "--agent") == 0 && strcmp(argv[2], "sweep") == 0)
        return tern_session_sweep();
    struct tern_options *options = &all.options;
    int parsed = tern_options_parse(argc, argv, options);
    if (parsed)
        return parsed < 0 ? 1 : finish_printing();
    int error = tern_system_calls_try(TERN_CALLS_OF_LAUNCHER);
    if (error)
        return fault(error);
    all.paths = tern_must_alloc(options->app_count * sizeof *all.paths);
    all.wdirs = tern_must_alloc(options->app_count * sizeof *all.wdirs);
    error = collect_hosts();
    if (!error)
        error = name_wdirs(options, all.wdirs);
    if (error)
        return fault(error);
    bool only_here = all.list.count == 1 && all.list.items[0].here;
    int status = only_here ? find_programs(options, all.wdirs, all.paths) : 0;
    if (status)
        return status;
    error = place_ranks();
    if (error) {
        char *said = tern_must_copy(tern_error_text(error));
        tern_agents_end(AGENTS_END_MS);
        tern_log("%s", said);
        free(said);
        return 1;
    }
    if (!only_here && all.here >= 0 && ranks_on(&all.map, all.here))
        status = find_programs(options, all.wdirs, all.paths);
    keep_to_listed(options, &all.map);
    if (!status)
        status = show(options, all.hosts, all.list.count, all.unused, &all.map);
    if (status || options->do_not_launch) {
        tern_agents_end(AGENTS_END_MS);
        return status;
    }
    all.job = (struct tern_job){ .options = options,
                                 .hosts = all.hosts,
                                 .host_count = all.list.count,
                                 .here = all.here,
                                 .topology = all.topology,
                                 .map = &all.map,
                                 .paths = all.paths,
                                 .wdirs = all.wdirs };
    tern_environment_add_figures(&all.options);
    return tern_job_run(&all.job);
}
