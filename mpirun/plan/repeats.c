/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/repeats.h"

#include <stdlib.h>
#include <string.h>

#include "mpirun/plan/launcher_parameters.h"

/* Returns the option that the parameter `name` stands for, such as bind-to for
 * hwloc_base_binding_policy, or NULL. */
static const struct tern_option *option_of_parameter(const char *name)
{
    const struct tern_launcher_parameter *row = tern_launcher_find(name);
    return row && row->use == TERN_LAUNCHER_OPTION ? tern_option_named(row->text) : NULL;
}

/* Returns a name for what the option sets, the same for -n and -np, or NULL if it replaces nothing.
 * The caller frees it. `ret_for_all`: it holds for all programs, not for one. */
static char *name_target(const struct tern_option *option, char **values, bool *ret_for_all)
{
    *ret_for_all = !option->of_app && option->kind != TERN_OPTION_READ_APP;
    if (option->kind == TERN_OPTION_PARAMETER) {
        const struct tern_option *meant = option_of_parameter(values[0]);
        const char *alike = meant ? tern_option_replaced(meant) : NULL;
        *ret_for_all |= alike != NULL;
        return alike ? tern_must_copy(alike)
                     : tern_must_format("%s%s%s", option->of_app ? "" : "all ", option->text,
                                        values[0]);
    }
    if (strcmp(option->name, "x") == 0)
        return tern_must_format("x %.*s", (int)strcspn(values[0], "="), values[0]);
    const char *alike = tern_option_replaced(option);
    /* --map-by :PE=2 adds to another --map-by */
    return alike && !(option->values && values[0][0] == ':') ? tern_must_copy(alike) : NULL;
}

void tern_repeats_note(const struct tern_option *option, const char *word, char **values,
                       struct tern_options *options)
{
    bool for_all;
    char *target = name_target(option, values, &for_all);
    if (!target)
        return;
    char *key = for_all ? tern_must_copy(target)
                        : tern_must_format("%d.%d %s", options->file_depth, options->app_count,
                                           target);
    char *said = tern_must_format("%s%s%s%s%s", word, option->values > 0 ? " " : "",
                                  option->values > 0 ? values[0] : "",
                                  option->values > 1 ? " " : "",
                                  option->values > 1 ? values[1] : "");
    const char *before = tern_strings_value(&options->given, key);
    const char *value = option->values ? values[option->values - 1] : said;
    /* the same value in other words, as in -n 2 -np 2, is none of the user's errors */
    size_t lead = before && strlen(before) >= strlen(value) ? strlen(before) - strlen(value) : 0;
    bool same = before && strcmp(before + lead, value) == 0 && (!lead || before[lead - 1] == ' ');
    if (before && !same)
        tern_options_warn(options, "%s replaces %s, given before", said, before);
    tern_strings_set(&options->given, key, said);
    free(said);
    free(key);
    free(target);
}
