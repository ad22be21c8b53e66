/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Job-level facts stand directly in the list, facts about a program in a PMIX_APP_INFO_ARRAY, facts
 * about the node in a PMIX_NODE_INFO_ARRAY, facts about a rank in a PMIX_PROC_INFO_ARRAY whose
 * first entry is the rank. The key names and their types are PMIx's (pmix_common.h); a wrong
 * integer width is not converted but lost.
 */
#include "mpirun/server_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/launcher.h"
#include "mpirun/strings.h"

static pmix_value_t *add(struct tern_infos *list, const char *key, pmix_data_type_t type)
{
    if (list->count == list->room) {
        list->room = list->room ? 2 * list->room : 16;
        list->items = tern_must_grow(list->items, list->room * sizeof *list->items);
    }
    pmix_info_t *info = &list->items[list->count++];
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value.type = type;
    return &info->value;
}

void tern_infos_string(struct tern_infos *list, const char *key, const char *value)
{
    add(list, key, PMIX_STRING)->data.string = (char *)value;
}

void tern_infos_number(struct tern_infos *list, const char *key, uint32_t value)
{
    add(list, key, PMIX_UINT32)->data.uint32 = value;
}

void tern_infos_flag(struct tern_infos *list, const char *key, bool value)
{
    add(list, key, PMIX_BOOL)->data.flag = value;
}

void tern_infos_pointer(struct tern_infos *list, const char *key, pmix_data_type_t type,
                        void *value)
{
    add(list, key, type)->data.ptr = value;
}

static void add_rank(struct tern_infos *list, const char *key, uint32_t rank)
{
    add(list, key, PMIX_PROC_RANK)->data.rank = rank;
}

static void add_short(struct tern_infos *list, const char *key, uint16_t value)
{
    add(list, key, PMIX_UINT16)->data.uint16 = value;
}

/* The list becomes one entry of another. */
static void add_array(struct tern_infos *list, const char *key, const struct tern_infos *inner)
{
    pmix_data_array_t *array = tern_must_alloc(sizeof *array);
    array->type = PMIX_INFO;
    array->size = inner->count;
    array->array = inner->items;
    add(list, key, PMIX_DATA_ARRAY)->data.darray = array;
}

/* Where a rank may run, in PMIx's words; ranks with the same processors share the strings. */
struct place_text {
    struct tern_cpus cpus;
    char *cpuset, *locality;
};

static int describe_place(hwloc_topology_t topology, const struct tern_cpus *cpus,
                          struct place_text *text)
{
    (void)topology;
    hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
    for (int i = 0; i < TERN_MAX_CPUS; i++) {
        if (tern_cpus_has(cpus, i))
            hwloc_bitmap_set(bitmap, i);
    }
    pmix_cpuset_t cpuset = { .source = "hwloc", .bitmap = bitmap };
    text->cpus = *cpus;
    text->cpuset = text->locality = NULL;
    /* Both are for performance only: without them ranks assume less about each other. */
    if (PMIx_server_generate_locality_string(&cpuset, &text->locality) != PMIX_SUCCESS)
        text->locality = NULL;
    if (PMIx_server_generate_cpuset_string(&cpuset, &text->cpuset) != PMIX_SUCCESS)
        text->cpuset = NULL;
    hwloc_bitmap_free(bitmap);
    return 0;
}

static const struct place_text *text_of_place(const struct tern_server_job *job,
                                              const struct tern_place *place)
{
    static struct place_text *texts;
    static int count;
    for (int i = 0; i < count; i++) {
        if (memcmp(&texts[i].cpus, &place->cpus, sizeof place->cpus) == 0)
            return &texts[i];
    }
    texts = tern_must_grow(texts, (count + 1) * sizeof *texts);
    describe_place(job->topology, &place->cpus, &texts[count]);
    return &texts[count++];
}

static int app_first_rank(const struct tern_map *map, int app)
{
    int rank = 0;
    while (rank < map->size && map->places[rank].app != app)
        rank++;
    return rank;
}

static int app_size(const struct tern_map *map, int app)
{
    int size = 0;
    for (int rank = 0; rank < map->size; rank++)
        size += map->places[rank].app == app;
    return size;
}

static void describe_rank(const struct tern_server_job *job, int rank, struct tern_infos *infos)
{
    const struct tern_place *place = &job->map->places[rank];
    struct tern_infos own = { 0 };
    add_rank(&own, PMIX_RANK, rank);
    add_rank(&own, PMIX_GLOBAL_RANK, rank);
    add_rank(&own, PMIX_APP_RANK, place->app_rank);
    add_rank(&own, PMIX_APPLDR, app_first_rank(job->map, place->app));
    tern_infos_number(&own, PMIX_APPNUM, place->app);
    add_short(&own, PMIX_LOCAL_RANK, place->local_rank);
    add_short(&own, PMIX_NODE_RANK, place->local_rank);
    tern_infos_number(&own, PMIX_NODEID, place->host);
    tern_infos_string(&own, PMIX_HOSTNAME, job->host->name);
    tern_infos_number(&own, PMIX_REINCARNATION, 0);
    const struct place_text *text = text_of_place(job, place);
    if (text->locality)
        tern_infos_string(&own, PMIX_LOCALITY_STRING, text->locality);
    if (text->cpuset)
        tern_infos_string(&own, PMIX_CPUSET, text->cpuset);
    tern_infos_string(&own, PMIX_PROCDIR, job->session_dir);
    add_array(infos, PMIX_PROC_INFO_ARRAY, &own);
}

static void describe_app(const struct tern_server_job *job, int app, struct tern_infos *infos)
{
    struct tern_infos own = { 0 };
    tern_infos_number(&own, PMIX_APPNUM, app);
    tern_infos_number(&own, PMIX_APP_SIZE, app_size(job->map, app));
    add_rank(&own, PMIX_APPLDR, app_first_rank(job->map, app));
    tern_infos_string(&own, PMIX_WDIR, job->wdirs[app]);
    tern_infos_string(&own, PMIX_APP_ARGV, job->options->apps[app].argv.items[0]);
    add_array(infos, PMIX_APP_INFO_ARRAY, &own);
}

/* "0,1,2,..." */
static char *list_ranks(int size)
{
    char *text = tern_must_alloc((size_t)size * 11 + 1), *at = text;
    for (int rank = 0; rank < size; rank++)
        at += sprintf(at, "%s%d", rank ? "," : "", rank);
    return text;
}

static void describe_node(const struct tern_server_job *job, const char *peers,
                          struct tern_infos *infos)
{
    struct tern_infos own = { 0 };
    tern_infos_number(&own, PMIX_NODEID, 0);
    tern_infos_string(&own, PMIX_HOSTNAME, job->host->name);
    tern_infos_number(&own, PMIX_LOCAL_SIZE, job->map->size);
    tern_infos_number(&own, PMIX_NODE_SIZE, job->map->size);
    tern_infos_string(&own, PMIX_LOCAL_PEERS, peers);
    add_rank(&own, PMIX_LOCALLDR, 0);
    add_array(infos, PMIX_NODE_INFO_ARRAY, &own);
}

int tern_server_describe_job(const struct tern_server_job *job, struct tern_infos *ret_infos)
{
    const struct tern_map *map = job->map;
    struct tern_infos infos = { 0 };
    char *ranks, *peers = list_ranks(map->size);
    /* Not by PMIx_generate_regex: PMIx 4 writes past a buffer when a name has 50 characters before
     * its first digit. */
    char *nodes = tern_must_format("raw:%s", job->host->name);
    if (PMIx_generate_ppn(peers, &ranks) != PMIX_SUCCESS)
        return tern_error(TERN_ERR_OTHER, "PMIx cannot describe %d ranks on %s", map->size,
                          job->host->name);
    int universe = map->slots > map->size ? map->slots : map->size;
    tern_infos_string(&infos, PMIX_JOBID, job->nspace);
    tern_infos_number(&infos, PMIX_SESSION_ID, getpid());
    tern_infos_number(&infos, PMIX_UNIV_SIZE, universe);
    tern_infos_number(&infos, PMIX_MAX_PROCS, universe);
    tern_infos_number(&infos, PMIX_NUM_SLOTS, universe);
    tern_infos_number(&infos, PMIX_JOB_SIZE, map->size);
    tern_infos_number(&infos, PMIX_JOB_NUM_APPS, job->options->app_count);
    tern_infos_number(&infos, PMIX_NUM_NODES, 1);
    tern_infos_number(&infos, PMIX_LOCAL_SIZE, map->size);
    tern_infos_number(&infos, PMIX_NODE_SIZE, map->size);
    tern_infos_string(&infos, PMIX_LOCAL_PEERS, peers);
    add_rank(&infos, PMIX_LOCALLDR, 0);
    tern_infos_flag(&infos, PMIX_SPAWNED, false);
    tern_infos_string(&infos, PMIX_NODE_MAP, nodes);
    tern_infos_string(&infos, PMIX_PROC_MAP, ranks);
    tern_infos_string(&infos, PMIX_NODE_LIST, job->host->name);
    tern_infos_string(&infos, PMIX_MAPBY, tern_level_name(map->by));
    tern_infos_string(&infos, PMIX_BINDTO, tern_level_name(map->bind));
    tern_infos_string(&infos, PMIX_TMPDIR, job->session_dir);
    tern_infos_string(&infos, PMIX_NSDIR, job->session_dir);
    tern_infos_flag(&infos, PMIX_TDIR_RMCLEAN, true);
    tern_infos_string(&infos, TERN_LAUNCHER_SECRET, job->secret);
    describe_node(job, peers, &infos);
    for (int app = 0; app < job->options->app_count; app++)
        describe_app(job, app, &infos);
    for (int rank = 0; rank < map->size; rank++)
        describe_rank(job, rank, &infos);
    *ret_infos = infos;
    return 0;
}
