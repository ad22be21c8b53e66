/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/parameters.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param.h"
#include "lib/util/param_names.h"
#include "lib/util/tcp_address.h"
#include "mpirun/plan/policy.h"

/* Warns if a parameter of the command line is unknown, because it is probably misspelt. */
static void warn_if_unknown(const char *name)
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

/* Takes a parameter of the command line for mpirun itself. Returns 0 or TERN_ERR_*. */
static int take_own(const char *name, const char *value)
{
    const struct tern_param *param = tern_param_find_known(name);
    int error = tern_param_check_text(name, value, "option --mca");
    if (error)
        return error;
    if (param)
        return tern_param_write(param->name, value);
    warn_if_unknown(name);
    return 0;
}

/* Chooses a mapping by the name of Open MPI's mapper. Other names change nothing: those mappers
 * choose by themselves. */
static int choose_mapper(const char *name, const char *names, struct tern_options *options)
{
    if (strcmp(names, "seq") == 0)
        return tern_policy_map_by(name, "seq", options);
    if (strcmp(names, "rank_file") == 0)
        return tern_policy_map_by(name, "rankfile", options);
    return 0;
}

/* Checks a filter once, before any rank is started: otherwise every rank would report the error. */
static int check_filter(const char *name, const char *value, struct tern_options *options)
{
    (void)options;
    struct tern_tcp_filter filter;
    return tern_tcp_filter_read(name, value, &filter);
}

static int name_rankfile(const char *name, const char *value, struct tern_options *options)
{
    (void)name;
    tern_strings_add(&options->kept, value);
    options->rankfile = options->kept.items[options->kept.count - 1];
    return 0;
}

static int set_keep_going(const char *name, const char *value, struct tern_options *options)
{
    (void)name;
    options->keep_going = is_false(value);
    return 0;
}

/* Reads the seconds of Open MPI's parameter. */
static int set_end_grace(const char *name, const char *value, struct tern_options *options)
{
    (void)options;
    int seconds, error = tern_policy_number(name, value, 0, 1 << 20, &seconds);
    char text[24];
    snprintf(text, sizeof text, "%d", error ? 0 : seconds * 1000);
    return error ? error : tern_param_write("end_grace_ms", text);
}

int tern_parameter_set_launch_agent(const char *name, const char *value,
                                    struct tern_options *options)
{
    (void)name, (void)options;
    return tern_param_write("orte_launch_agent", value);
}

#define FLAG(field) .flag = offsetof(struct tern_options, field)

/* Parameters of Open MPI's launcher that mean something here. */
static const struct parameter {
    const char *name;
    /* also read from the environment, before the command line and in the order of this table */
    bool from_environment;
    int (*read)(const char *name, const char *value, struct tern_options *options);
    size_t flag; /* if `read` is NULL: offset of a bool in struct tern_options */
} parameters[] = {
    { "rmaps_base_mapping_policy", true, .read = tern_policy_map_by },
    { "rmaps_base_ranking_policy", true, .read = tern_policy_rank_by },
    { "hwloc_base_binding_policy", true, .read = tern_policy_bind_to },
    { "rmaps_base_oversubscribe", true, FLAG(oversubscribe) },
    { "rmaps_base_no_oversubscribe", true, FLAG(map.no_oversubscribe) },
    { "hwloc_base_use_hwthreads_as_cpus", true, FLAG(map.hwthreads) },
    { "hwloc_base_report_bindings", true, FLAG(report_bindings) },
    { "orte_tag_output", true, FLAG(tag_output) },
    { "orte_abort_on_non_zero_status", true, .read = set_keep_going },
    { "odls_base_sigkill_timeout", true, .read = set_end_grace },
    { "rmaps", true, .read = choose_mapper },
    { "rmaps_rank_file_path", true, .read = name_rankfile },
    { "orte_rankfile", true, .read = name_rankfile },
    { "rmaps_rank_file_physical", true, FLAG(rankfile_physical) },
    { "rmaps_default_mapping_policy", false, .read = tern_policy_map_by },
    { "hwloc_default_binding_policy", false, .read = tern_policy_bind_to },
    { "btl_tcp_if_include", false, .read = check_filter },
    { "btl_tcp_if_exclude", false, .read = check_filter },
    { "prte_launch_agent", false, .read = tern_parameter_set_launch_agent },
};
enum { PARAMETERS = sizeof parameters / sizeof *parameters };

static int apply(const struct parameter *parameter, const char *value, struct tern_options *options)
{
    if (parameter->read)
        return parameter->read(parameter->name, value, options);
    *(bool *)((char *)options + parameter->flag) = !is_false(value);
    return 0;
}

int tern_parameters_of_environment(struct tern_options *options)
{
    for (size_t i = 0; i < PARAMETERS; i++) {
        if (!parameters[i].from_environment)
            continue;
        char variable[128];
        snprintf(variable, sizeof variable, "OMPI_MCA_%s", parameters[i].name);
        const char *value = getenv(variable);
        int error = value ? apply(&parameters[i], value, options) : 0;
        if (error)
            return error;
    }
    static const char *const filters[] = {"btl_tcp_if_include", "btl_tcp_if_exclude"};
    /* also from a file of parameters */
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) {
        int error = check_filter(filters[i], tern_param_string(filters[i]), options);
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
        return tern_error(TERN_ERR_ARG, "--mca needs a name and a value, not \"%s\"", name);
    /* the parameters with other prefixes are not known here */
    int error = strcmp(prefix, "OMPI_MCA_") == 0 ? take_own(name, value) : 0;
    if (error)
        return error;
    char *variable = tern_must_format("%s%s", prefix, name);
    tern_strings_set(env, variable, value);
    free(variable);
    for (size_t i = 0; i < PARAMETERS; i++)
        if (strcmp(parameters[i].name, name) == 0)
            return apply(&parameters[i], value, options);
    return 0;
}
