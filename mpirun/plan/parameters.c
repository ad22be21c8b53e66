/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/parameters.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param.h"
#include "lib/util/tcp_address.h"
#include "mpirun/plan/policy.h"

void tern_parameter_check(const char *name)
{
    if (tern_param_known(name) || tern_param_accepted(name))
        return;
    const char *nearest = tern_param_nearest(name);
    tern_log("warning: there is no parameter %s%s%s; mpi_info lists them", name,
             nearest ? "; did you mean " : "", nearest ? nearest : "");
}

static bool is_false(const char *value)
{
    return strcmp(value, "0") == 0 || strcasecmp(value, "false") == 0 ||
           strcasecmp(value, "no") == 0;
}

/* Those that mpirun reads itself stand in a room of their own. */
static bool is_launch_parameter(const char *name)
{
    const struct tern_param_room *room;
    return tern_param_index(name) >= 0 && tern_param_at(tern_param_index(name), &room) &&
           strcmp(room->name, "launch") == 0;
}

/* Open MPI's names of its mappers; those without a word of their own choose by themselves. */
static int choose_mapper(const char *names, struct tern_options *options)
{
    if (strcmp(names, "seq") == 0)
        return tern_policy_map_by("rmaps", "seq", options);
    if (strcmp(names, "rank_file") == 0)
        return tern_policy_map_by("rmaps", "rankfile", options);
    return 0;
}

/* What every rank would say is said once, before any is started. */
static int check_filter(const char *name, const char *value)
{
    struct tern_tcp_filter filter;
    return tern_tcp_filter_read(name, value, &filter);
}

/* Parameters of Open MPI's launcher that mean something to ours. */
static int apply_parameter(const char *name, const char *value, struct tern_options *options)
{
    if (strcmp(name, "rmaps_base_mapping_policy") == 0 ||
        strcmp(name, "rmaps_default_mapping_policy") == 0)
        return tern_policy_map_by(name, value, options);
    if (strcmp(name, "rmaps_base_ranking_policy") == 0)
        return tern_policy_rank_by(name, value, options);
    if (strcmp(name, "hwloc_base_binding_policy") == 0 ||
        strcmp(name, "hwloc_default_binding_policy") == 0)
        return tern_policy_bind_to(name, value, options);
    if (strcmp(name, "rmaps") == 0)
        return choose_mapper(value, options);
    if (strcmp(name, "rmaps_rank_file_path") == 0 || strcmp(name, "orte_rankfile") == 0) {
        tern_strings_add(&options->kept, value);
        options->rankfile = options->kept.items[options->kept.count - 1];
    } else if (strcmp(name, "rmaps_rank_file_physical") == 0)
        options->rankfile_physical = !is_false(value);
    else if (strcmp(name, "rmaps_base_oversubscribe") == 0)
        options->oversubscribe = !is_false(value);
    else if (strcmp(name, "rmaps_base_no_oversubscribe") == 0)
        options->map.no_oversubscribe = !is_false(value);
    else if (strcmp(name, "hwloc_base_use_hwthreads_as_cpus") == 0)
        options->map.hwthreads = !is_false(value);
    else if (strcmp(name, "hwloc_base_report_bindings") == 0)
        options->report_bindings = !is_false(value);
    else if (strcmp(name, "orte_tag_output") == 0)
        options->tag_output = !is_false(value);
    else if (strcmp(name, "orte_abort_on_non_zero_status") == 0)
        options->keep_going = is_false(value);
    else if (strcmp(name, "btl_tcp_if_include") == 0 || strcmp(name, "btl_tcp_if_exclude") == 0)
        return check_filter(name, value);
    else if (strcmp(name, "prte_launch_agent") == 0)
        return tern_param_write("orte_launch_agent", value);
    else if (is_launch_parameter(name))
        return tern_param_write(name, value);
    return 0;
}

int tern_parameters_of_environment(struct tern_options *options)
{
    static const char *const names[] = {
        "rmaps_base_mapping_policy",     "rmaps_base_ranking_policy",
        "hwloc_base_binding_policy",     "rmaps_base_oversubscribe",
        "rmaps_base_no_oversubscribe",   "hwloc_base_use_hwthreads_as_cpus",
        "hwloc_base_report_bindings",    "orte_tag_output",
        "orte_abort_on_non_zero_status", "rmaps",
        "rmaps_rank_file_path",          "orte_rankfile",
        "rmaps_rank_file_physical",
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char variable[128];
        snprintf(variable, sizeof variable, "OMPI_MCA_%s", names[i]);
        const char *value = getenv(variable);
        int error = value ? apply_parameter(names[i], value, options) : 0;
        if (error)
            return error;
    }
    static const char *const filters[] = {"btl_tcp_if_include", "btl_tcp_if_exclude"};
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) { /* or of a file of parameters */
        int error = check_filter(filters[i], tern_param_string(filters[i]));
        if (error)
            return error;
    }
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    return limit ? tern_policy_number("MPIEXEC_TIMEOUT", limit, 0, 1 << 30, &options->timeout_s)
                 : 0;
}

int tern_parameter_set(const char *prefix, const char *name, const char *value,
                       struct tern_strings *env, struct tern_options *options)
{
    if (!*name || strchr(name, '='))
        return tern_error(TERN_ERR_ARG, "--mca wants a name and a value, not \"%s\"", name);
    char *variable = tern_must_format("%s%s", prefix, name);
    tern_strings_set(env, variable, value);
    free(variable);
    return apply_parameter(name, value, options);
}
