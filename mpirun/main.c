/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "mpirun/hosts.h"
#include "mpirun/job.h"
#include "mpirun/map.h"
#include "mpirun/options.h"
#include "mpirun/program.h"
#include "mpirun/topology.h"

/* A closed standard stream would be replaced by the first file that we open. */
static void open_standard_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= 2);
    if (fd > 2)
        close(fd);
}

/* Absolute working directory of a program; malloc'ed. TERN_ERR_ARG when it is none. */
static int find_wdir(const struct tern_app *app, const char *here, char **ret_wdir)
{
    char *wdir = !app->wdir            ? tern_must_copy(here)
                 : app->wdir[0] == '/' ? tern_must_copy(app->wdir)
                                       : tern_must_format("%s/%s", here, app->wdir);
    struct stat info;
    int error = 0;
    if (stat(wdir, &info) < 0)
        error = tern_error(TERN_ERR_ARG, "cannot use the working directory %s: %s", wdir,
                           strerror(errno));
    else if (!S_ISDIR(info.st_mode))
        error = tern_error(TERN_ERR_ARG,
                           "cannot use the working directory %s: it is not a directory", wdir);
    if (error)
        free(wdir);
    else
        *ret_wdir = wdir;
    return error;
}

/* 0, or mpirun's exit status after the sentence was said. */
static int find_programs(const struct tern_options *options, char **paths, char **wdirs)
{
    char *here = getcwd(NULL, 0);
    if (!here) {
        tern_log("the working directory cannot be found: %s", strerror(errno));
        return 1;
    }
    int status = 0;
    for (int app = 0; app < options->app_count && !status; app++) {
        if (find_wdir(&options->apps[app], here, &wdirs[app]))
            status = 1;
        else
            status = tern_program_find(&options->apps[app], wdirs[app], &paths[app]);
    }
    if (status)
        tern_log("%s", tern_error_text(TERN_ERR_ARG));
    free(here);
    return status;
}

static int map_ranks(struct tern_options *options, const struct tern_host *host, int max_slots,
                     struct tern_map *ret_map)
{
    int *np = tern_must_alloc(options->app_count * sizeof *np);
    for (int app = 0; app < options->app_count; app++)
        np[app] = options->apps[app].np;
    options->map.np = np;
    options->map.apps = options->app_count;
    struct tern_map map;
    int error = tern_map_ranks(&options->map, host, 1, &map);
    if (error)
        return error;
    if (max_slots && map.size > max_slots)
        error = tern_error(TERN_ERR_ARG, "%d ranks, and the hostfile allows at most %d", map.size,
                           max_slots);
    else if (options->stdin_rank >= map.size)
        error = tern_error(TERN_ERR_ARG, "--stdin %d: there are %d ranks", options->stdin_rank,
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

static void show_map(const struct tern_options *options, const struct tern_host *host,
                     const struct tern_map *map)
{
    printf(" Data for JOB [%d,1] offset 0 Total slots allocated %d\n\n", (int)getpid(), map->slots);
    printf(" ========================   JOB MAP   ========================\n\n");
    printf(" Data for node: %s\tNum slots: %d\tMax slots: 0\tNum procs: %d\n", host->name,
           tern_host_slots(host, options->map.hwthreads), map->size);
    for (int rank = 0; rank < map->size; rank++) {
        char *place = tern_map_describe(host, &map->places[rank]);
        printf(" \tProcess OMPI jobid: [%d,1] App: %d Process rank: %d Bound: %s\n", (int)getpid(),
               map->places[rank].app, rank, place);
        free(place);
    }
    printf("\n =============================================================\n");
}

static void show_allocation(const struct tern_options *options, const struct tern_host *host)
{
    printf("\n======================   ALLOCATED NODES   ======================\n");
    printf("\t%s: slots=%d max_slots=0 slots_inuse=0 state=UP\n", host->name,
           tern_host_slots(host, options->map.hwthreads));
    printf("=================================================================\n");
}

static void report_bindings(const struct tern_host *host, const struct tern_map *map)
{
    for (int rank = 0; rank < map->size; rank++) {
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
    if (map->crowded_host >= 0 && !options->oversubscribe && !options->quiet)
        tern_log("%d rank%s share %d %s%s; --oversubscribe says that this is meant",
                 map->crowded_ranks, map->crowded_ranks == 1 ? "" : "s", map->crowded_units,
                 options->map.hwthreads ? "hardware thread" : "core",
                 map->crowded_units == 1 ? "" : "s");
}

static int show(const struct tern_options *options, const struct tern_host *host,
                const struct tern_map *map)
{
    if (options->report_pid && report_pid(options->report_pid))
        return 1;
    if (options->display_allocation)
        show_allocation(options, host);
    if (options->display_map)
        show_map(options, host, map);
    if (options->report_bindings)
        report_bindings(host, map);
    advise(options, map);
    fflush(stdout);
    return 0;
}

/* All that lasts as long as the job. */
static struct {
    struct tern_options options;
    char **paths, **wdirs;
    struct tern_host host;
    hwloc_topology_t topology;
    struct tern_map map;
} all;

static int fault(int error)
{
    tern_log("%s", tern_error_text(error));
    return 1;
}

int main(int argc, char **argv)
{
    open_standard_streams();
    tern_log_name("mpirun");
    struct tern_options *options = &all.options;
    int parsed = tern_options_parse(argc, argv, options);
    if (parsed)
        return parsed < 0;
    int slots, max_slots;
    int error = tern_hosts_count_slots(&options->hosts, &options->hostfiles, &slots, &max_slots);
    if (error)
        return fault(error);
    all.paths = tern_must_alloc(options->app_count * sizeof *all.paths);
    all.wdirs = tern_must_alloc(options->app_count * sizeof *all.wdirs);
    int status = find_programs(options, all.paths, all.wdirs);
    if (status)
        return status;
    error = tern_topology_read(options->cpu_list, &all.host, &all.topology);
    if (error)
        return fault(error);
    all.host.slots = slots;
    error = map_ranks(options, &all.host, max_slots, &all.map);
    if (error)
        return fault(error);
    keep_to_listed(options, &all.map);
    status = show(options, &all.host, &all.map);
    if (status || options->do_not_launch)
        return status;
    struct tern_job job = { options, &all.host, all.topology, &all.map, all.paths, all.wdirs };
    return tern_job_run(&job);
}
