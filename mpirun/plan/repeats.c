/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/repeats.h"

#include <stdlib.h>
#include <string.h>

/* Returns a name for what the option sets, the same for -n and -np, or NULL if it replaces nothing.
 * The caller frees it. */
static char *name_target(const struct tern_option *option, char **values)
{
    if (option->kind == TERN_OPTION_PARAMETER)
        return tern_must_format("%s%s%s", option->of_app ? "" : "all ", option->text, values[0]);
    if (strcmp(option->name, "x") == 0)
        return tern_must_format("x %.*s", (int)strcspn(values[0], "="), values[0]);
    const char *alike = tern_option_replaced(option);
    /* --map-by :PE=2 adds to another --map-by */
    return alike && !(option->values && values[0][0] == ':') ? tern_must_copy(alike) : NULL;
}

void tern_repeats_note(const struct tern_option *option, const char *word, char **values,
                       struct tern_options *options)
{
    char *target = name_target(option, values);
    if (!target)
        return;
    bool for_all = !option->of_app && option->kind != TERN_OPTION_READ_APP;
    char *key = for_all ? tern_must_copy(target)
                        : tern_must_format("%d.%d %s", options->file_depth, options->app_count,
                                           target);
    char *said = tern_must_format("%s%s%s%s%s", word, option->values > 0 ? " " : "",
                                  option->values > 0 ? values[0] : "",
                                  option->values > 1 ? " " : "",
                                  option->values > 1 ? values[1] : "");
    const char *before = tern_strings_value(&options->given, key);
    const char *value = option->values ? strstr(said, values[0]) : said;
    /* the same value in other words, as in -n 2 -np 2, is none of the user's errors */
    bool same = before && strlen(before) >= strlen(value) &&
                strcmp(before + strlen(before) - strlen(value), value) == 0;
    if (before && !same)
        tern_options_warn(options, "%s replaces %s, given before", said, before);
    tern_strings_set(&options->given, key, said);
    free(said);
    free(key);
    free(target);
}
