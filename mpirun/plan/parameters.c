/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/parameters.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/settings/files.h"
#include "lib/util/base/text.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/setting.h"
#include "lib/settings/value.h"
#include "lib/settings/said.h"
#include "mpirun/plan/launcher_parameters.h"
#include "mpirun/plan/option_table.h"
#include "mpirun/plan/policy.h"
#include "mpirun/plan/tune.h"

/* Returns true if somebody reads the parameter, or if it may be ignored silently. */
static bool is_known(const char *name)
{
    if (tern_launcher_find(name) || tern_param_find(name) ||
        tern_param_find(tern_launcher_name(name)))
        return true;
    return !tern_launcher_word(name) && tern_open_mpi_accepted(name);
}

/* Returns the known name that is nearest to a misspelt one, or NULL if none is near. */
static const char *find_nearest(const char *name)
{
    const char *nearest = tern_param_nearest(name);
    int most = 1 + (int)strlen(name) / 4;
    for (const struct tern_launcher_parameter *row = tern_launcher_parameters; row->name; row++) {
        int distance = tern_text_distance(name, row->name);
        if (distance > most || (nearest && distance >= tern_text_distance(name, nearest)))
            continue;
        nearest = row->name;
    }
    return nearest;
}

/* Warns if a parameter is unknown, because it is probably misspelt. `where` says where it stands,
 * and may be empty. */
static void warn_if_unknown(const char *name, const char *where, struct tern_options *options)
{
    if (is_known(name) || !tern_param_must_say(name))
        return;
    const char *nearest = find_nearest(name);
    tern_options_warn(options, "there is no parameter %s%s%s%s; mpi_info lists them", name, where,
                      nearest ? "; did you mean " : "", nearest ? nearest : "");
}

/* Takes a parameter of the command line for mpirun itself. Returns 0 or TERN_ERR_*. */
static int take_own(const char *where, const char *name, const char *value)
{
    const char *own = tern_param_find(name) ? name : tern_launcher_name(name);
    const struct tern_setting *param = tern_param_find(own);
    char *place = tern_must_format("option %s", where);
    int error = tern_param_check_text(own, value, where[0] == '-' ? place : where);
    free(place);
    return !error && param ? tern_param_write(param->name, value) : error;
}

static int set_flag(bool *flag, const char *origin, const char *value)
{
    int64_t truth;
    if (!tern_param_read_value(TERN_PARAM_BOOL, value, &truth))
        return tern_error(TERN_ERR_ARG, "%s is \"%s\"; expected 0 or 1. Change or remove it",
                          origin, value);
    *flag = truth != 0;
    return 0;
}

void tern_parameter_check_names(const char *origin, const char *value, const char *list,
                                struct tern_options *options)
{
    char *words = tern_must_copy(value), *rest = words + (*words == '^'), *word;
    while ((word = strsep(&rest, ", "))) {
        char *names = tern_must_copy(list), *left = names, *name;
        bool found = !*word;
        while (!found && (name = strsep(&left, ",")))
            found = strcmp(name, word) == 0;
        if (!found)
            tern_options_warn(options, "%s: there is no \"%s\"; known are %s", origin, word, list);
        free(names);
    }
    free(words);
}

/* Returns true if a parameter names implementations among which this library has no choice. */
static bool chooses_nothing(const char *name)
{
    static const char *const chosen[] = {"btl", "ras"};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        if (strcmp(chosen[i], name) == 0)
            return false;
    return true;
}

static int apply(const struct tern_launcher_parameter *row, const char *origin, const char *value,
                 struct tern_options *options)
{
    bool unused = false;
    if (row->use != TERN_LAUNCHER_QUIET && row->use != TERN_LAUNCHER_TRUTH)
        tern_strings_format(&options->said, "%s = %s%s", origin, value,
                            row->use == TERN_LAUNCHER_NAMES && chooses_nothing(row->name)
                                ? ": no effect, because there is one implementation here"
                                : "");
    /* options keep pointers to their values */
    tern_strings_add(&options->kept, value);
    value = options->kept.items[options->kept.count - 1];
    switch (row->use) {
    case TERN_LAUNCHER_OPTION:
        return tern_option_apply_value(tern_option_named(row->text), origin, value, options);
    case TERN_LAUNCHER_READ:
        return row->read(origin, value, options);
    case TERN_LAUNCHER_FLAG:
        return set_flag((bool *)((char *)options + row->offset), origin, value);
    case TERN_LAUNCHER_TRUTH:
        return *value ? set_flag(&unused, origin, value) : 0;
    case TERN_LAUNCHER_NAMES:
        tern_parameter_check_names(origin, value, row->text, options);
        return 0;
    case TERN_LAUNCHER_MISSING:
        if (tern_param_asks_something(value))
            tern_options_warn(options, "%s has no effect: %s", origin, row->text);
        return 0;
    default:
        return 0;
    }
}

int tern_parameter_set_launch_agent(const char *name, const char *value,
                                    struct tern_options *options)
{
    const struct tern_launcher_parameter *row = tern_launcher_find("orte_launch_agent");
    int error = apply(row, name, value, options);
    return error ? error : tern_param_write("orte_launch_agent", value);
}

/* ---- the environment and the files ---- */

/* How a variable of the environment begins that sets a parameter. An earlier one prevails. */
static const char *const prefixes[] = {"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_"};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

/* Returns the value of a parameter in the environment, under any of its names, or NULL. `origin`
 * gets the variable's name. */
static const char *value_of_environment(const char *name, char *origin, size_t room)
{
    const char *spelling;
    for (int prefix = 0; prefix < PREFIXES; prefix++)
        for (int i = 0; (spelling = tern_launcher_spelling(name, i)); i++) {
            snprintf(origin, room, "%s%s", prefixes[prefix], spelling);
            const char *value = getenv(origin);
            if (value)
                return value;
        }
    return NULL;
}

static const char *value_of_file(const char *name, char *origin, size_t room)
{
    const char *spelling;
    for (int i = 0; (spelling = tern_launcher_spelling(name, i)); i++) {
        const struct tern_param_setting *setting = tern_param_file_setting(spelling);
        if (!setting)
            continue;
        snprintf(origin, room, "%s (file %s)", spelling, setting->file);
        return setting->value;
    }
    return NULL;
}

/* Stores mpirun's own parameters that the environment sets under a name that the library does not
 * look for. */
static int write_own_parameters(void)
{
    const struct tern_param_room *room;
    const struct tern_setting *param;
    char origin[512];
    int error = 0;
    for (int i = 0; !error && (param = tern_param_at(i, &room)); i++) {
        if (strcmp(room->name, "launch"))
            continue;
        const char *value = value_of_environment(param->name, origin, sizeof origin);
        if (value && (strncmp(origin, prefixes[0], strlen(prefixes[0])) ||
                      !tern_param_find(origin + strlen(prefixes[0]))))
            error = tern_param_write(param->name, value);
        else if (!value && strcmp(tern_param_source(param->name), "default") == 0 &&
                 (value = value_of_file(param->name, origin, sizeof origin)))
            error = tern_param_write(param->name, value);
    }
    return error;
}

/* Says once that the algorithms of collectives are not chosen by these parameters. */
static void warn_of_tuned(const char *name, const char *value, struct tern_options *options)
{
    if (tern_param_is_tuned(name, value) && tern_param_must_say(TERN_PARAM_TUNED))
        tern_options_warn(options, "%s", tern_param_tuned_text);
}

/* Warns of a parameter without a row of its own, ..._base_verbose, which shows nothing here. The
 * others are applied one after the other. */
static void warn_of_verbose(const char *origin, const char *name, const char *value,
                            struct tern_options *options)
{
    const struct tern_launcher_parameter *row = tern_launcher_find(name);
    if (row && !*row->name)
        apply(row, origin, value, options);
}

/* Warns if a variable of the environment, an entry NAME=VALUE, sets nothing. */
static void check_variable(const char *entry, struct tern_options *options)
{
    char name[256];
    const char *value = strchr(entry, '=');
    for (int i = 0; value && i < PREFIXES; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncmp(entry, prefixes[i], length) || value - entry - length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(value - entry - length), entry + length);
        /* parameters of PMIx are not known here */
        if (strcmp(prefixes[i], "PMIX_MCA_") || strncmp(name, "prte_", 5) == 0)
            warn_if_unknown(name, ", which the environment sets", options);
        warn_of_tuned(name, value + 1, options);
        char *origin = tern_must_format("%s%s", prefixes[i], name);
        warn_of_verbose(origin, name, value + 1, options);
        free(origin);
    }
}

/* Warns of what the environment and the parameter files set in vain. */
static void check_settings(struct tern_options *options)
{
    for (char **entry = environ; entry && *entry; entry++)
        check_variable(*entry, options);
    const struct tern_param_setting *setting = tern_param_file_settings();
    for (; setting; setting = setting->next) {
        char *where = tern_must_format(" (%s line %d)", setting->file, setting->line);
        if (tern_launcher_word(setting->name))
            warn_if_unknown(setting->name, where, options);
        warn_of_tuned(setting->name, setting->value, options);
        free(where);
        where = tern_must_format("%s (file %s)", setting->name, setting->file);
        warn_of_verbose(where, setting->name, setting->value, options);
        free(where);
    }
}

int tern_parameters_of_environment(struct tern_options *options)
{
    char origin[512];
    int error = write_own_parameters();
    check_settings(options);
    for (const struct tern_launcher_parameter *row = tern_launcher_parameters;
         row->name && !error; row++) {
        if (row->use == TERN_LAUNCHER_QUIET)
            continue;
        const char *value = value_of_environment(row->name, origin, sizeof origin);
        if (!value)
            value = value_of_file(row->name, origin, sizeof origin);
        if (value)
            error = apply(row, origin, value, options);
        if (error && !*value) {
            tern_options_warn(options, "%s is empty and has no effect; remove it", origin);
            error = 0;
        }
    }
    if (error)
        return error;
    const char *limit = getenv("MPIEXEC_TIMEOUT");
    return limit ? tern_policy_number("MPIEXEC_TIMEOUT", limit, 0, 1 << 30, &options->timeout_s)
                 : 0;
}

/* ---- the command line ---- */

int tern_parameter_set(const char *prefix, const char *where, const char *name, const char *value,
                       struct tern_strings *env, struct tern_options *options)
{
    if (!*name || strchr(name, '='))
        return tern_error(TERN_ERR_ARG, "%s needs a name and a value, not \"%s\"", where, name);
    /* a parameter of PMIx is not known here */
    bool pmix = strcmp(prefix, "PMIX_MCA_") == 0;
    if (!pmix)
        warn_if_unknown(name, "", options);
    warn_of_tuned(name, value, options);
    int error = pmix ? 0 : take_own(where, name, value);
    if (error)
        return error;
    char *variable = tern_must_format("%s%s", prefix, name);
    tern_strings_set(env, variable, value);
    if (pmix)
        setenv(variable, value, 1); /* mpirun's own libpmix reads it there */
    free(variable);
    const struct tern_launcher_parameter *row = tern_launcher_find(name);
    char *origin = tern_must_format("%s %s", where, name);
    error = row ? apply(row, origin, value, options) : 0;
    free(origin);
    return error;
}

static int set_for_all(const char *where, const char *name, const char *value,
                       struct tern_options *options)
{
    return tern_parameter_set(prefixes[0], where, name, value, &options->env, options);
}

/* --mca NAME VALUE of a tune file. */
static int set_by_words(const char *where, const char *name, const char *value,
                        struct tern_options *options)
{
    char *values[] = {(char *)name, (char *)value};
    int error = tern_option_check_values(tern_option_named("mca"), where, values, 2);
    return error ? error : set_for_all(where, name, value, options);
}

int tern_parameters_tune(const char *origin, const char *files, struct tern_options *options)
{
    return tern_tune_read(origin, files, set_by_words, options);
}

int tern_parameters_add_settings(const char *origin, const char *files,
                                 struct tern_options *options)
{
    return tern_tune_read_settings(origin, files, set_for_all, options);
}
