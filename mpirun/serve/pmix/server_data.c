/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts about the job stand directly in the list. Facts about a program are in a
 * PMIX_APP_INFO_ARRAY, about a node in a PMIX_NODE_INFO_ARRAY, about a rank in a
 * PMIX_PROC_INFO_ARRAY whose first entry is the rank. Keys and their types are PMIx's
 * (pmix_common.h). An integer of the wrong width is not converted but lost. */
#include "mpirun/serve/pmix/server_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/strings.h"

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

/* Adds the list `inner` as one entry. */
static void add_array(struct tern_infos *list, const char *key, const struct tern_infos *inner)
{
    pmix_data_array_t *array = tern_must_alloc(sizeof *array);
    array->type = PMIX_INFO;
    array->size = inner->count;
    array->array = inner->items;
    add(list, key, PMIX_DATA_ARRAY)->data.darray = array;
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

static void describe_rank(const struct tern_job *job, int rank, int node, struct tern_infos *infos)
{
    const struct tern_rank_place *place = &job->map->places[rank];
    struct tern_infos own = { 0 };
    add_rank(&own, PMIX_RANK, rank);
    add_rank(&own, PMIX_GLOBAL_RANK, rank);
    add_rank(&own, PMIX_APP_RANK, place->app_rank);
    add_rank(&own, PMIX_APPLDR, app_first_rank(job->map, place->app));
    tern_infos_number(&own, PMIX_APPNUM, place->app);
    add_short(&own, PMIX_LOCAL_RANK, place->local_rank);
    add_short(&own, PMIX_NODE_RANK, place->local_rank);
    tern_infos_number(&own, PMIX_NODEID, node);
    tern_infos_string(&own, PMIX_HOSTNAME, job->hosts[place->host].name);
    tern_infos_number(&own, PMIX_REINCARNATION, 0);
    const struct tern_place_text *text = &job->texts[job->text_of[rank]];
    tern_infos_string(&own, PMIX_LOCALITY_STRING, text->locality);
    tern_infos_string(&own, PMIX_CPUSET, text->cpuset);
    tern_infos_string(&own, PMIX_PROCDIR, job->session_dir);
    add_array(infos, PMIX_PROC_INFO_ARRAY, &own);
}

static void describe_app(const struct tern_job *job, int app, struct tern_infos *infos)
{
    struct tern_infos own = { 0 };
    tern_infos_number(&own, PMIX_APPNUM, app);
    tern_infos_number(&own, PMIX_APP_SIZE, app_size(job->map, app));
    add_rank(&own, PMIX_APPLDR, app_first_rank(job->map, app));
    tern_infos_string(&own, PMIX_WDIR, job->wdirs[app]);
    tern_infos_string(&own, PMIX_APP_ARGV, job->options->apps[app].argv.items[0]);
    add_array(infos, PMIX_APP_INFO_ARRAY, &own);
}

/* Returns "0,1,2,...", the ranks of a host. The caller frees it. */
static char *list_ranks(const struct tern_job *job, int host)
{
    size_t room = (size_t)job->map->size * 11 + 1; /* digits and a comma for each rank */
    char *text = tern_must_alloc(room), *at = text;
    for (int rank = 0; rank < job->map->size; rank++) {
        if (job->map->places[rank].host == host)
            at += snprintf(at, room - (size_t)(at - text), "%s%d", at > text ? "," : "", rank);
    }
    return text;
}

static int first_rank(const struct tern_job *job, int host)
{
    int rank = 0;
    while (rank < job->map->size && job->map->places[rank].host != host)
        rank++;
    return rank;
}

static void describe_node(const struct tern_job *job, int host, int node, const char *peers,
                          struct tern_infos *infos)
{
    struct tern_infos own = { 0 };
    int ranks = tern_job_ranks_on(job, host);
    tern_infos_number(&own, PMIX_NODEID, node);
    tern_infos_string(&own, PMIX_HOSTNAME, job->hosts[host].name);
    tern_infos_number(&own, PMIX_LOCAL_SIZE, ranks);
    tern_infos_number(&own, PMIX_NODE_SIZE, ranks);
    tern_infos_string(&own, PMIX_LOCAL_PEERS, peers);
    add_rank(&own, PMIX_LOCALLDR, first_rank(job, host));
    add_array(infos, PMIX_NODE_INFO_ARRAY, &own);
}

/* Appends to a text that the caller frees, with `between` in front unless it is the first. */
static void append(char **text, bool first, const char *between, const char *more)
{
    char *longer = tern_must_format("%s%s%s", *text, first ? "" : between, more);
    free(*text);
    *text = longer;
}

/* Adds facts that only a server on this host must tell. */
static void describe_here(const struct tern_job *job, struct tern_infos *infos)
{
    int ranks = tern_job_ranks_on(job, job->here);
    if (!ranks)
        return;
    tern_infos_number(infos, PMIX_LOCAL_SIZE, ranks);
    tern_infos_number(infos, PMIX_NODE_SIZE, ranks);
    tern_infos_string(infos, PMIX_LOCAL_PEERS, list_ranks(job, job->here));
    add_rank(infos, PMIX_LOCALLDR, first_rank(job, job->here));
    tern_infos_string(infos, PMIX_TMPDIR, job->session_dir);
    tern_infos_string(infos, PMIX_NSDIR, job->session_dir);
}

int tern_server_describe_job(const struct tern_job *job, struct tern_infos *ret_infos)
{
    const struct tern_map *map = job->map;
    struct tern_infos infos = { 0 };
    char *ranks, *peers = tern_must_copy(""), *nodes = tern_must_copy("");
    /* PMIx refuses a map with a node without ranks. So it does not hear of hosts that have none. */
    int *node_of = tern_must_alloc((size_t)job->host_count * sizeof *node_of), node_count = 0;
    for (int host = 0; host < job->host_count; host++) {
        if (!tern_job_ranks_on(job, host))
            continue;
        char *own = list_ranks(job, host);
        append(&peers, !node_count, ";", own);
        append(&nodes, !node_count, ",", job->hosts[host].name);
        describe_node(job, host, node_count, own, &infos);
        node_of[host] = node_count++;
    }
    if (PMIx_generate_ppn(peers, &ranks) != PMIX_SUCCESS)
        return tern_error(TERN_ERR_OTHER, "PMIx cannot describe %d ranks on %d hosts", map->size,
                          node_count);
    free(peers);
    int universe = tern_job_universe(job);
    char number[9] = "";
    memcpy(number, job->token, 8);
    tern_infos_string(&infos, PMIX_JOBID, job->nspace);
    tern_infos_number(&infos, PMIX_SESSION_ID, (uint32_t)strtoul(number, NULL, 16) >> 1);
    tern_infos_number(&infos, PMIX_UNIV_SIZE, universe);
    tern_infos_number(&infos, PMIX_MAX_PROCS, universe);
    tern_infos_number(&infos, PMIX_NUM_SLOTS, universe);
    tern_infos_number(&infos, PMIX_JOB_SIZE, map->size);
    tern_infos_number(&infos, PMIX_JOB_NUM_APPS, job->options->app_count);
    tern_infos_number(&infos, PMIX_NUM_NODES, node_count);
    tern_infos_flag(&infos, PMIX_SPAWNED, false);
    /* Not made by PMIx_generate_regex: PMIx 4 writes past a buffer if a name has 50 characters
     * before its first digit. */
    tern_infos_string(&infos, PMIX_NODE_MAP, tern_must_format("raw:%s", nodes));
    tern_infos_string(&infos, PMIX_PROC_MAP, ranks);
    tern_infos_string(&infos, PMIX_NODE_LIST, nodes);
    tern_infos_string(&infos, PMIX_MAPBY, tern_map_level_name(map->by));
    tern_infos_string(&infos, PMIX_BINDTO, tern_map_level_name(map->bind));
    tern_infos_flag(&infos, PMIX_TDIR_RMCLEAN, true);
    if (job->here >= 0)
        describe_here(job, &infos);
    for (int app = 0; app < job->options->app_count; app++)
        describe_app(job, app, &infos);
    for (int rank = 0; rank < map->size; rank++)
        describe_rank(job, rank, node_of[map->places[rank].host], &infos);
    free(node_of);
    *ret_infos = infos;
    return 0;
}
