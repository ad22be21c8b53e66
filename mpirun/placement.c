/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/placement.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/prefix.h"
#include "lib/util/base/text.h"
#include "mpirun/base/loop.h"
#include "mpirun/left_out.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/plan/hosts/hostfile.h"
#include "mpirun/plan/job/hosts.h"
#include "mpirun/plan/hosts/this_machine.h"

static int map_ranks(struct tern_options *options, const struct tern_host *hosts, int host_count,
                     struct tern_map *ret_map)
{
    static int *np;
    np = tern_must_grow(np, options->app_count * sizeof *np);
    for (int app = 0; app < options->app_count; app++)
        np[app] = options->apps[app].np;
    options->map.np = np;
    options->map.apps = options->app_count;
    options->map.in_batch_job = tern_allocation_used() != TERN_NO_BATCH_SYSTEM;
    struct tern_map map;
    int error = tern_map_ranks(&options->map, hosts, host_count, &map);
    if (error)
        return error;
    if (options->stdin_rank >= map.size)
        error = tern_error(TERN_ERR_ARG, "--stdin names rank %d, but there are %d ranks, counted "
                                         "from 0",
                           options->stdin_rank, map.size);
    if (error)
        tern_map_free(&map);
    else
        *ret_map = map;
    return error;
}

/* --map-by seq: places the next rank on each host named, in order. */
static int place_in_sequence(struct tern_placement *p)
{
    const struct tern_host_list *list = &p->list;
    int count = list->sequence.count, last = -1;
    p->fixed = tern_must_alloc(count * sizeof *p->fixed);
    for (int i = 0; i < count; i++) {
        const char *name = list->sequence.items[i];
        /* reuse the last answer, because the resolver may be slow */
        if (last < 0 || strcmp(name, list->sequence.items[i - 1]))
            last = tern_host_list_find(list, name);
        if (last < 0)
            return tern_error(TERN_ERR_ARG, "--map-by seq names host %s, which is not among the "
                                            "hosts of this job", name);
        p->fixed[i].host = last;
    }
    p->options->map.fixed_count = count;
    return 0;
}

/* Returns true if the hostfile can be read and names a host. */
static bool names_hosts(const char *path)
{
    const char *why;
    struct tern_host_list hosts = { 0 };
    char *text = tern_read_text(path, &why);
    bool any = text && tern_hostfile_parse(path, text, &hosts) == 0 && hosts.count;
    tern_host_list_free(&hosts);
    free(text);
    return any;
}

/* Without --hostfile, reads the default hostfile: the one that the user named, or that of the
 * installation if there is no batch job. Both may consist of comments. */
static void add_default_hostfile(struct tern_options *options)
{
    const char *named = options->default_hostfile;
    if (options->hostfiles.count || (named && strcmp(named, "none") == 0))
        return;
    char *installed = tern_must_format("%s/etc/openmpi-default-hostfile", tern_prefix());
    if (named && (access(named, R_OK) < 0 || names_hosts(named)))
        tern_strings_add(&options->hostfiles, named);
    else if (!named && tern_allocation_used() == TERN_NO_BATCH_SYSTEM && names_hosts(installed))
        tern_strings_add(&options->hostfiles, installed);
    free(installed);
}

/* Host `from` becomes host `to`, which is not behind it. */
static void keep_limits(struct tern_placement *p, int from, int to)
{
    int apps = p->options->app_count;
    if (p->limits)
        memmove(p->limits + to * apps, p->limits + from * apps, apps * sizeof *p->limits);
}

/* Says which options the rankfile overrides. */
static void tell_of_overridden(const struct tern_options *options,
                               const struct tern_rankfile *rankfile)
{
    const char *bind = tern_strings_value(&options->given, "bind-to");
    const char *rank_by = tern_strings_value(&options->given, "rank-by");
    bool slots = false;
    for (int rank = 0; rank < rankfile->count; rank++)
        slots |= rankfile->ranks[rank].slots != NULL;
    if (bind && slots && !options->quiet)
        tern_log("warning: %s has no effect on ranks that the rankfile %s gives slots: these say "
                 "where they are bound",
                 bind, rankfile->path);
    if (rank_by && rankfile->count && !options->quiet)
        tern_log("warning: %s has no effect: the rankfile %s numbers the ranks", rank_by,
                 rankfile->path);
}

/* Says that the batch job's hosts are unknown, if nobody else names hosts. */
static void tell_of_unknown(const struct tern_options *options)
{
    const char *lacks = tern_allocation_lacks();
    bool named = options->hosts.count || options->hostfiles.count || options->rankfile;
    if (lacks && !named && !options->quiet)
        tern_log(
            "warning: this is a batch job, but %s is not set: its hosts are unknown, and ranks "
            "run on this one. Pass the variable on (sudo -E), or name hosts with --host",
            lacks);
}

int tern_placement_collect(struct tern_options *options, struct tern_placement *p)
{
    p->options = options;
    struct tern_host_list *list = &p->list;
    add_default_hostfile(options);
    int error = options->rankfile ? tern_rankfile_read(options->rankfile,
                                                       options->rankfile_physical, &p->rankfile)
                                  : 0;
    if (!error)
        tell_of_overridden(options, &p->rankfile);
    if (!error)
        error = tern_hosts_collect(&options->hosts, &options->hostfiles,
                                   options->rankfile ? &p->rankfile : NULL, list);
    if (!error && !options->rankfile && !options->sequential)
        error = tern_hosts_limit(options, list, &p->limits);
    if (error)
        return error;
    tell_of_unknown(options);
    const char *left_out = tern_left_out_read(&list->sequence);
    int kept = 0;
    for (int i = 0; i < list->count; i++) {
        const struct tern_host_entry *entry = &list->items[i];
        bool wanted = !options->most_hosts || kept < options->most_hosts;
        if (wanted && (!options->no_local || !entry->here) && !tern_left_out_has(entry->name)) {
            keep_limits(p, i, kept);
            list->items[kept++] = *entry;
        }
    }
    list->count = kept;
    options->map.limits = p->limits;
    if (!kept && left_out)
        return tern_error(TERN_ERR_ARG, "no host is left: nothing can be started on %s", left_out);
    if (!kept)
        return tern_error(TERN_ERR_ARG, "--nolocal excludes this machine, and there is no other "
                                        "host; name hosts by --host or --hostfile");
    if (options->rankfile) {
        error = tern_rankfile_place(&p->rankfile, list, list->where, &p->fixed);
        options->map.fixed_count = p->rankfile.count;
        options->map.fixed_by = options->rankfile;
    } else if (options->sequential) {
        error = place_in_sequence(p);
    }
    options->map.fixed = p->fixed;
    return error;
}

bool tern_placement_is_here(const struct tern_placement *p)
{
    return p->list.count == 1 && p->list.items[0].here;
}

/* Fills in what is known about the hosts so far. A host with unknown processors gets one. */
static void make_hosts(struct tern_placement *p)
{
    static struct tern_cpu one;
    p->hosts = tern_must_alloc(p->list.count * sizeof *p->hosts);
    p->here = -1;
    for (int h = 0; h < p->list.count; h++) {
        const struct tern_host_entry *entry = &p->list.items[h];
        struct tern_host *host = &p->hosts[h];
        *host = (struct tern_host){.cpus = &one, .cpu_count = 1};
        snprintf(host->name, sizeof host->name, "%s", entry->name);
        if (entry->here) {
            *host = p->own;
            p->here = h;
        }
        host->slots = entry->slots;
        host->max_slots = entry->max_slots;
        host->slots_implied = entry->implied;
        if (!host->slots)
            host->slots = p->options->default_slots.number;
        host->slots_level = p->options->default_slots.level_plus_one;
    }
}

/* Makes a first map, to find out which hosts get ranks before any host is asked for its processors.
 * Returns 0, TERN_ERR_ARG, or 1 if the map depends on those processors. */
static int map_early(struct tern_placement *p, struct tern_map *ret_map)
{
    struct tern_map_request *request = &p->options->map, asked = *request;
    bool known = !request->per_object || request->per_level == TERN_MAP_LEVEL_NODE;
    for (int h = 0; h < p->list.count; h++)
        known &= p->list.items[h].slots > 0 || p->list.items[h].here;
    if (!known && !request->fixed)
        return 1;
    struct tern_fixed_place *bare = tern_must_alloc(request->fixed_count * sizeof *bare);
    for (int rank = 0; rank < request->fixed_count; rank++)
        bare[rank].host = p->fixed[rank].host; /* without the processors, which are checked later */
    request->fixed = request->fixed ? bare : NULL;
    request->no_oversubscribe &= known;
    int error = map_ranks(p->options, p->hosts, p->list.count, ret_map);
    request->fixed = asked.fixed;
    request->no_oversubscribe = asked.no_oversubscribe;
    if (!error && known)
        p->slots = ret_map->slots;
    free(bare);
    return error;
}

/* Moves hosts that will get no rank behind the others and shortens the list, if that is known
 * already. */
static int drop_unused(struct tern_placement *p)
{
    struct tern_map map;
    int error = map_early(p, &map);
    if (error)
        return error < 0 ? error : 0;
    struct tern_host *unused = tern_must_alloc(p->list.count * sizeof *unused);
    int kept = 0;
    for (int h = 0; h < p->list.count; h++) {
        if (!tern_map_ranks_on(&map, h)) {
            unused[p->unused++] = p->hosts[h];
            continue;
        }
        for (int rank = 0; rank < p->options->map.fixed_count; rank++) {
            if (p->fixed[rank].host == h)
                p->fixed[rank].host = kept;
        }
        if (p->here == h)
            p->here = kept;
        keep_limits(p, h, kept);
        p->list.items[kept] = p->list.items[h];
        p->hosts[kept++] = p->hosts[h];
    }
    if (p->here >= kept || (p->here >= 0 && !p->list.items[p->here].here))
        p->here = -1;
    p->list.count = kept;
    memcpy(p->hosts + kept, unused, p->unused * sizeof *unused);
    free(unused);
    tern_map_free(&map);
    return 0;
}

/* Gives the other hosts this machine's processors. A dry run starts nothing, so it cannot ask
 * them. */
static void take_others_as_this(struct tern_placement *p)
{
    int others = 0;
    for (int h = 0; h < p->list.count; h++) {
        struct tern_host *host = &p->hosts[h];
        if (p->list.items[h].here)
            continue;
        host->cpus = p->own.cpus;
        host->cpu_count = p->own.cpu_count;
        host->cpu_limit = p->own.cpu_limit;
        others++;
    }
    int cores = tern_host_objects(&p->own, TERN_MAP_LEVEL_CORE);
    if (others && !p->options->quiet)
        tern_log(
            "nothing is started on other hosts, so %s%s assumed to have the processors of this "
            "machine (%d core%s)",
            others == 1 ? "the other host" : "other hosts", others == 1 ? " is" : " are", cores,
            cores == 1 ? "" : "s");
}

/* With --cpu-set, binds all ranks to the listed processors, even ranks that are otherwise not
 * bound, so that the remaining processors stay free. */
static void keep_to_listed(const struct tern_options *options, struct tern_map *map)
{
    for (int rank = 0; options->cpu_list && rank < map->size; rank++)
        map->places[rank].bound = true;
}

/* Says that this machine, which gets ranks, has no objects of a kind that the user asked for. */
static void tell_of_missing(const struct tern_placement *p, const char *option,
                            enum tern_map_level level)
{
    enum tern_map_level used = tern_topology_stand_in(p->topology, level);
    bool told_later = level == p->options->map.bind && tern_host_objects(&p->own, level) <= 1;
    if (used != level && !p->options->quiet && p->here >= 0 && !told_later)
        tern_log("%s%s: as far as hwloc knows, this machine has no %s; %s stands for it", option,
                 tern_map_level_name(level), tern_map_level_name(level), tern_map_level_name(used));
}

/* Says where Open MPI 4.1 starts other numbers of ranks on the hosts: it forgets -N beside --map-by
 * unless -np is given, too; ppr on objects within a socket ends with the last slot even if more
 * ranks than slots are allowed and forgets PE=N there; and SPAN does not heed slots. */
static void tell_of_numbers(const struct tern_placement *p)
{
    const struct tern_options *options = p->options;
    const struct tern_map *map = &p->map;
    const char *said = tern_strings_value(&options->given, "map-by");
    bool counted = options->per_source == TERN_PER_NODE || options->per_source == TERN_PER_SOCKET;
    bool mapped = options->pe_of_map ||
                  (options->map.by != TERN_MAP_LEVEL_DEFAULT && said && strstr(said, "-map-by"));
    if (options->quiet)
        return;
    if (map->per_gave_way)
        tern_log("warning: %s has no effect beside --map-by: -np %d is more, and holds, as in Open "
                 "MPI 4.1",
                 options->per_said, options->apps[0].np);
    if (counted && mapped && options->app_count == 1 && !options->apps[0].np &&
        map->size != map->slots)
        tern_log("warning: %s holds beside --map-by, too: the job has %d rank%s. Open MPI 4.1 "
                 "forgets it and starts %d, one for each slot; with -np %d both start as many",
                 options->per_said, map->size, map->size == 1 ? "" : "s", map->slots, map->size);
    bool of_slots = options->map.per_level != TERN_MAP_LEVEL_NODE &&
                    options->map.per_level != TERN_MAP_LEVEL_SOCKET;
    for (int app = 0; app < options->app_count && options->map.per_object && of_slots; app++) {
        int ranks = 0;
        for (int rank = 0; rank < map->size; rank++)
            ranks += map->places[rank].app == app;
        if (!options->apps[app].np && ranks > map->slots)
            tern_log("warning: %s makes %d ranks of program %d; Open MPI 4.1 starts no more than "
                     "there are slots (%d)",
                     options->per_said, ranks, app + 1, map->slots);
    }
    if (options->map.per_object && options->map.pe > 1 &&
        options->map.per_level <= TERN_MAP_LEVEL_CORE)
        tern_log("warning: %s with PE=%d gives each rank %d processors; Open MPI 4.1 binds it to "
                 "one %s", options->per_said, options->map.pe, options->map.pe,
                 tern_map_level_name(options->map.per_level));
    if (map->cut_ranks)
        tern_log("warning: by SPAN host %s would get %d ranks, but it has %d slots and gets no "
                 "more; Open MPI 4.1 does not heed slots there",
                 p->hosts[map->cut_host].name, map->cut_ranks,
                 tern_host_slots(&p->hosts[map->cut_host], options->map.hwthreads));
}

/* Processors of another machine can be counted, but not used. */
static void leave_unbound(struct tern_options *options)
{
    const char *file = getenv("HWLOC_XMLFILE");
    options->map.bind = TERN_MAP_LEVEL_NONE;
    if (!options->quiet)
        tern_log("warning: %s describes a machine that need not be this one: the ranks are mapped "
                 "on it, but not bound. Unset it, or set HWLOC_THISSYSTEM=1 if it is this one",
                 file && *file ? "HWLOC_XMLFILE" : "HWLOC_SYNTHETIC");
}

int tern_placement_make(struct tern_placement *p, const struct tern_start_agents_listener *listener)
{
    int error = tern_topology_read(p->options->cpu_list, &p->own, &p->topology);
    if (error)
        return error;
    if (!p->options->do_not_launch && !hwloc_topology_is_thissystem(p->topology))
        leave_unbound(p->options);
    make_hosts(p);
    bool only_here = p->list.count == 1 && p->here == 0;
    if (!only_here) {
        p->options->map.over_hosts = !p->options->map.no_oversubscribe;
        p->options->map.no_oversubscribe |= !p->options->oversubscribe;
        error = drop_unused(p);
        only_here = p->list.count == 1 && p->here == 0;
    }
    if (!error)
        error = tern_loop_open();
    if (!error && !only_here && p->options->do_not_launch)
        take_others_as_this(p);
    else if (!error && !only_here)
        error = tern_start_agents(p->options, &p->list, p->here, p->hosts, listener);
    if (!error)
        error = map_ranks(p->options, p->hosts, p->list.count, &p->map);
    if (error)
        return error;
    if (p->slots > p->map.slots)
        p->map.slots = p->slots;
    keep_to_listed(p->options, &p->map);
    tell_of_numbers(p);
    const struct tern_map_request *request = &p->options->map;
    tell_of_missing(p, "--map-by ", request->by);
    if (request->per_object)
        tell_of_missing(p, "--map-by ppr:N:", request->per_level);
    if (request->bind != request->by)
        tell_of_missing(p, "--bind-to ", request->bind);
    return 0;
}
