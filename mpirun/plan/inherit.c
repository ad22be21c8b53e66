/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/inherit.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

/* Options and the list of their words. */
static const struct {
    const char *name;
    size_t list; /* offset in struct tern_options */
} inherited[] = {
#define IN(list) offsetof(struct tern_options, inherited##list)
    {"map-by", IN(_map)},
    {"bynode", IN(_map)},
    {"byslot", IN(_map)},
    {"bycore", IN(_map)},
    {"bysocket", IN(_map)},
    {"cpus-per-proc", IN(_map)},
    {"cpus-per-rank", IN(_map)},
    {"rank-by", IN(_rank)},
    {"bind-to", IN(_bind)},
    {"bind-to-core", IN(_bind)},
    {"bind-to-socket", IN(_bind)},
    {"bind-to-none", IN(_bind)},
    {"oversubscribe", IN()},
    {"nooversubscribe", IN()},
    {"use-hwthread-cpus", IN()},
    {"cpu-set", IN()},
    {"cpu-list", IN()},
    {"tag-output", IN()},
    {"timestamp-output", IN()},
    {"merge-stderr-to-stdout", IN()},
    {"output-filename", IN()},
    {"output-directory", IN()},
    {"output", IN()},
    {"prefix", IN()},
    {"noprefix", IN()},
    {"q", IN()},
    {"quiet", IN()},
    {"launch-agent", IN()},
    {"runtime-options", IN()},
    {"gmca", IN()},
    {"gomca", IN()},
    {"pmca", IN()},
    {"pmixmca", IN()},
    {"gpmixmca", IN()},
    {"prtemca", IN()},
    {"x", IN(_app)},
    {"mca", IN(_app)},
    {"omca", IN(_app)},
    {"tune", IN(_app)},
    {"am", IN(_app)},
    {"initial-errhandler", IN(_app)},
    {"prepend-env", IN(_app)},
    {"prepend-envar", IN(_app)},
    {"append-env", IN(_app)},
    {"append-envar", IN(_app)},
    {"unset-env", IN(_app)},
    {"fwd-environment", IN(_app)},
#undef IN
};

/* Mappings that say how many ranks there are, or where each one runs, fit one job only. */
static bool fits_one_job(const char *value)
{
    return strncmp(value, "ppr", 3) == 0 || strncmp(value, "seq", 3) == 0 ||
           strncmp(value, "rankfile", 8) == 0;
}

/* Adds a value. Other jobs start in other directories, so the name of one must be absolute. */
static void add_value(struct tern_strings *list, const struct tern_option *option,
                      const char *value)
{
    char here[PATH_MAX];
    bool directory = strncmp(option->name, "output-", strlen("output-")) == 0;
    if (directory && value[0] != '/' && getcwd(here, sizeof here))
        tern_strings_format(list, "%s/%s", here, value);
    else
        tern_strings_add(list, value);
}

void tern_inherit_note(const struct tern_option *option, char **values,
                       struct tern_options *options)
{
    for (size_t i = 0; i < sizeof inherited / sizeof *inherited; i++) {
        if (strcmp(option->name, inherited[i].name) != 0)
            continue;
        bool maps = inherited[i].list == offsetof(struct tern_options, inherited_map);
        if (maps && option->values && fits_one_job(values[0]))
            return;
        /* --NAME=VALUE is written as two words; an option has two dashes */
        struct tern_strings *list = (struct tern_strings *)((char *)options + inherited[i].list);
        tern_strings_format(list, "--%s", option->name);
        for (int v = 0; v < option->values; v++)
            add_value(list, option, values[v]);
    }
}
