/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/common_movers.h"

#include "lib/util/net/btl_list.h"
#include "lib/util/base/error.h"
#include "lib/settings/files.h"
#include "lib/util/base/text.h"

#include <stdio.h>
#include <stdlib.h>

static const char variable[] = "OMPI_MCA_btl";
static const char *const movers[] = {"self", "shm", "ofi", "tcp"};
enum { MOVERS = sizeof movers / sizeof *movers, SELF = 1 /* the bit of the first one */ };

/* Returns the list of one program; "" if it has none. */
static const char *list_of(const struct tern_app *app, const struct tern_options *options)
{
    const char *list = tern_strings_value(&app->env, variable);
    if (!list)
        list = tern_strings_value(&options->env, variable);
    if (!list)
        list = getenv(variable);
    const struct tern_param_setting *setting = list ? NULL : tern_param_file_setting("btl");
    return list ? list : setting ? setting->value : "";
}

/* Returns the movers that a list permits, a bit for each. All if the list was written for other
 * networks and has none that reaches another rank: the library sets it aside. */
static unsigned permitted(const char *list)
{
    unsigned bits = 0;
    for (int i = 0; i < MOVERS; i++)
        bits |= tern_btl_list_permits(list, movers[i]) ? 1u << i : 0;
    bool holds = bits & ~(unsigned)SELF || !tern_btl_list_names_others(list, movers, MOVERS);
    return holds ? bits : (1u << MOVERS) - 1;
}

static char *write_list(unsigned bits)
{
    char text[40] = "";
    size_t used = 0;
    for (int i = 0; i < MOVERS; i++)
        if (bits >> i & 1)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "," : "",
                                     movers[i]);
    return tern_must_copy(text);
}

int tern_movers_agree(struct tern_options *options)
{
    unsigned common = UINT32_MAX;
    int other = 0; /* a program whose list differs from the first one's */
    const char *first = options->app_count ? list_of(&options->apps[0], options) : "";
    for (int app = 0; app < options->app_count; app++) {
        const char *list = list_of(&options->apps[app], options);
        if (permitted(list) != permitted(first))
            other = app;
        common &= permitted(list);
    }
    if (!other)
        return 0;
    const char *second = list_of(&options->apps[other], options);
    if (!(common & ~(unsigned)SELF))
        return tern_error(TERN_ERR_ARG,
                          "the programs cannot reach each other: the parameter btl is `%s` for %s "
                          "and `%s` for %s, and the lists of all programs have no byte mover in "
                          "common; give all the same list, by --gmca btl LIST",
                          first, options->apps[0].argv.items[0], second,
                          options->apps[other].argv.items[0]);
    char *list = write_list(common);
    tern_options_warn(options,
                      "the parameter btl is `%s` for %s and `%s` for %s; all programs use `%s`, "
                      "which all their lists permit",
                      first, options->apps[0].argv.items[0], second,
                      options->apps[other].argv.items[0], list);
    for (int app = 0; app < options->app_count; app++)
        tern_strings_set(&options->apps[app].env, variable, list);
    free(list);
    return 0;
}
