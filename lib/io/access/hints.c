/* SPDX-License-Identifier: BSD-3-Clause */

/* Hints of a file: read from info objects and parameters, told by MPI_File_get_info. */

#include "lib/io/access/hints.h"

#include "lib/mpi/object/info.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void tern_hints_start(struct tern_hints *hints, const struct tern_system *system, int ranks,
                      int nodes)
{
    enum { MOST_ON_ONE_NODE = 4 };
    int64_t aggregators = tern_param_int("io_aggregators");
    if (aggregators == 0)
        aggregators = nodes > 1 ? nodes : MOST_ON_ONE_NODE;
    *hints = (struct tern_hints){
        .cb_nodes = aggregators < ranks ? aggregators : ranks,
        .cb_buffer_size = tern_param_int("io_buffer_size"),
        .ind_rd_buffer_size = tern_param_int("io_sieve_size"),
        .ind_wr_buffer_size = 1 << 20,
        .striping_unit = system->block,
    };
}

/* Reads a number of at least `least` and at most `most`; leaves *value alone if there is none. */
static void take_number(const struct tern_info *info, const char *key, int64_t least, int64_t most,
                        int64_t *value)
{
    const char *text = tern_info_find(info, key);
    char *end;
    if (!text)
        return;
    long long number = strtoll(text, &end, 10);
    if (end != text && *end == 0 && number >= least && number <= most)
        *value = number;
}

static void take_choice(const struct tern_info *info, const char *key,
                        enum tern_hint_choice *choice)
{
    const char *text = tern_info_find(info, key);
    if (!text)
        return;
    if (strcmp(text, "enable") == 0 || strcmp(text, "true") == 0)
        *choice = TERN_HINT_ENABLE;
    else if (strcmp(text, "disable") == 0 || strcmp(text, "false") == 0)
        *choice = TERN_HINT_DISABLE;
    else if (strcmp(text, "automatic") == 0)
        *choice = TERN_HINT_AUTOMATIC;
}

/* Reads what cb_config_list says of all hosts: "*:2" permits two aggregators on each, "*" one,
 * "*:*" any number. Entries that name a host are not followed. */
static void take_config_list(struct tern_hints *hints, const struct tern_info *info, int nodes)
{
    const char *text = tern_info_find(info, "cb_config_list");
    char *end;
    while (text && *text != '*')
        text = (text = strchr(text, ',')) ? text + 1 : NULL;
    if (!text)
        return;
    if (text[1] == 0 || text[1] == ',') {
        hints->cb_per_node = 1;
    } else if (strncmp(text, "*:*", 3) == 0) {
        hints->cb_per_node = 0;
        return;
    } else {
        long number = text[1] == ':' ? strtol(text + 2, &end, 10) : 0;
        if (number < 1 || number > INT32_MAX || (*end && *end != ','))
            return;
        hints->cb_per_node = number;
    }
    if (!tern_info_find(info, "cb_nodes"))
        hints->cb_nodes = hints->cb_per_node * nodes;
}

void tern_hints_take(struct tern_hints *hints, const struct tern_system *system,
                     const struct tern_info *info, int ranks, int nodes)
{
    const int64_t most = 1 << 30;
    enum { LEAST = 4096 };
    if (!info)
        return;
    take_number(info, "cb_nodes", 1, INT32_MAX, &hints->cb_nodes);
    take_config_list(hints, info, nodes);
    if (hints->cb_per_node > 0 && hints->cb_nodes > hints->cb_per_node * nodes)
        hints->cb_nodes = hints->cb_per_node * nodes;
    if (hints->cb_nodes > ranks)
        hints->cb_nodes = ranks;
    take_number(info, "cb_buffer_size", LEAST, most, &hints->cb_buffer_size);
    take_choice(info, "collective_buffering", &hints->cb_read);
    take_choice(info, "collective_buffering", &hints->cb_write);
    take_choice(info, "romio_cb_read", &hints->cb_read);
    take_choice(info, "romio_cb_write", &hints->cb_write);
    take_choice(info, "romio_ds_read", &hints->ds_read);
    take_number(info, "ind_rd_buffer_size", LEAST, most, &hints->ind_rd_buffer_size);
    take_number(info, "ind_wr_buffer_size", LEAST, most, &hints->ind_wr_buffer_size);
    if (!system || system->stripes == 0)
        take_number(info, "striping_unit", LEAST, most, &hints->striping_unit);
    take_number(info, "striping_factor", 1, UINT16_MAX, &hints->striping_factor);
}

static int put_number(struct tern_info *info, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    return tern_info_put(info, key, text);
}

static int put_choice(struct tern_info *info, const char *key, enum tern_hint_choice choice)
{
    static const char *const names[] = {"automatic", "enable", "disable"};
    return tern_info_put(info, key, names[choice]);
}

/* Tells what never changes here, under ROMIO's names. */
static int put_fixed(struct tern_info *info)
{
    static const char *const fixed[][2] = {
        {"romio_ds_write", "disable"},    /* gaps are never written */
        {"romio_no_indep_rw", "false"},   /* every rank has the file open */
        {"romio_cb_pfr", "disable"},      /* domains are not kept from call to call */
        {"romio_cb_fr_types", "aar"},     /* they divide the range that is accessed */
        {"romio_cb_alltoall", "disable"}, /* ranks speak with aggregators only */
    };
    int error = 0;
    for (size_t i = 0; !error && i < sizeof fixed / sizeof *fixed; i++)
        error = tern_info_put(info, fixed[i][0], fixed[i][1]);
    return error;
}

static int put_config_list(struct tern_info *info, const struct tern_hints *hints, int nodes)
{
    char text[32];
    snprintf(text, sizeof text, "*:%lld",
             (long long)(hints->cb_per_node > 0 ? hints->cb_per_node
                                                : (hints->cb_nodes + nodes - 1) / nodes));
    return tern_info_put(info, "cb_config_list", text);
}

int tern_hints_tell(const struct tern_hints *hints, const struct tern_system *system, int nodes,
                    struct tern_info **ret_info)
{
    struct tern_info *info = tern_info_new();
    if (!info)
        return TERN_ERR_NO_MEM;
    int error = put_number(info, "cb_nodes", hints->cb_nodes);
    if (!error)
        error = put_config_list(info, hints, nodes);
    if (!error)
        error = put_number(info, "romio_cb_fr_alignment", hints->striping_unit);
    if (!error)
        error = put_number(info, "cb_buffer_size", hints->cb_buffer_size);
    if (!error)
        error = tern_info_put(info, "collective_buffering",
                              hints->cb_write == TERN_HINT_DISABLE ? "false" : "true");
    if (!error)
        error = put_choice(info, "romio_cb_read", hints->cb_read);
    if (!error)
        error = put_choice(info, "romio_cb_write", hints->cb_write);
    if (!error)
        error = put_choice(info, "romio_ds_read", hints->ds_read);
    if (!error)
        error = put_fixed(info);
    if (!error)
        error = put_number(info, "ind_rd_buffer_size", hints->ind_rd_buffer_size);
    if (!error)
        error = put_number(info, "ind_wr_buffer_size", hints->ind_wr_buffer_size);
    if (!error)
        error = put_number(info, "striping_unit", hints->striping_unit);
    if (!error && system->stripes > 0)
        error = put_number(info, "striping_factor", system->stripes);
    if (!error)
        error = tern_info_put(info, "tern_file_system", system->name);
    if (error) {
        tern_info_release(info);
        return error;
    }
    *ret_info = info;
    return 0;
}
