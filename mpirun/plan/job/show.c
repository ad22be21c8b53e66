/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/job/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/log.h"
#include "mpirun/plan/map/describe.h"
#include "mpirun/plan/job/explain.h"

static void show_map(const struct tern_options *options, const struct tern_host *hosts,
                     int host_count, const struct tern_map *map)
{
    printf(" Data for JOB [%d,1] offset 0 Total slots allocated %d\n\n", (int)getpid(), map->slots);
    printf(" ========================   JOB MAP   ========================\n");
    for (int h = 0; h < host_count; h++) {
        printf("\n Data for node: %s\tNum slots: %d\tMax slots: %d\tNum procs: %d\n", hosts[h].name,
               tern_host_slots(&hosts[h], options->map.hwthreads), hosts[h].max_slots,
               tern_map_ranks_on(map, h));
        for (int rank = 0; rank < map->size; rank++) {
            if (map->places[rank].host != h)
                continue;
            char *place = tern_map_describe(&hosts[h], &map->places[rank]);
            char *blank = strstr(place, "]: [");
            if (blank) /* Open MPI has this blank in --report-bindings alone */
                memmove(blank + 2, blank + 3, strlen(blank + 3) + 1);
            printf(" \tProcess OMPI jobid: [%d,1] App: %d Process rank: %d Bound: %s\n",
                   (int)getpid(), map->places[rank].app, rank, place);
            free(place);
        }
    }
    printf("\n =============================================================\n");
}

/* Shows the hosts. Of those that get no rank (from `host_count` on), only those with known
 * slots. */
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

static void report_bindings(const struct tern_options *options, const struct tern_host *hosts,
                            const struct tern_map *map)
{
    for (int rank = 0; rank < map->size; rank++) {
        const struct tern_host *host = &hosts[map->places[rank].host];
        char *place = tern_map_describe(host, &map->places[rank]);
        if (options->tag_output)
            fprintf(stderr, "[1,%d]<stderr>:", rank);
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

/* Says that --bind-to a cache binds nobody where the first host has no cache of that kind, or one
 * for all of its processors. */
static void tell_of_cache(const struct tern_options *options, const struct tern_host *hosts,
                          int host_count)
{
    enum tern_map_level bind = options->map.bind;
    bool cache =
        bind == TERN_MAP_LEVEL_L1 || bind == TERN_MAP_LEVEL_L2 || bind == TERN_MAP_LEVEL_L3;
    for (int h = 0; cache && !options->quiet && h < host_count; h++)
        if (hosts[h].cpu_count > 1 && tern_host_objects(&hosts[h], bind) <= 1) {
            tern_log("--bind-to %s: host %s has no more than one such cache, so its ranks are not "
                     "bound", tern_map_level_name(bind), hosts[h].name);
            return;
        }
}

static void advise(const struct tern_options *options, const struct tern_map *map)
{
    if (map->crowded_host < 0 || options->oversubscribe || options->quiet)
        return;
    int ranks = map->crowded_ranks, units = map->crowded_units;
    const char *what = map->crowded_slots       ? "slot"
                       : options->map.hwthreads ? "hardware thread"
                                                : "core";
    char *there = tern_must_format("%d %s%s", units, what, units == 1 ? "" : "s");
    if (options->map.pe > 1 && !map->crowded_slots && map->bind == TERN_MAP_LEVEL_NONE)
        tern_log("%d rank%s with PE=%d on %s: these are too few, so no rank is bound. "
                 "--oversubscribe suppresses this message",
                 ranks, ranks == 1 ? "" : "s", options->map.pe, there);
    else
        tern_log("%d ranks share %s; --oversubscribe suppresses this message", ranks, there);
    free(there);
}

int tern_show_finish(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    tern_log("cannot write to standard output: %s", strerror(errno));
    return 1;
}

int tern_show(const struct tern_options *options, const struct tern_host *hosts, int host_count,
              int unused, const struct tern_map *map)
{
    if (options->report_pid && report_pid(options->report_pid))
        return 1;
    if (options->display_allocation)
        show_allocation(options, hosts, host_count, unused);
    if (options->display_map)
        show_map(options, hosts, host_count, map);
    if (options->explain)
        tern_explain(options, hosts, host_count, map);
    if (options->report_bindings)
        report_bindings(options, hosts, map);
    if ((options->report_bindings || options->display_map) && options->cpu_list && !options->quiet)
        tern_log("sockets and cores are counted within the list of --cpu-set; --explain prints "
                 "the system's numbers of processors");
    tell_of_cache(options, hosts, host_count);
    advise(options, map);
    return tern_show_finish();
}
