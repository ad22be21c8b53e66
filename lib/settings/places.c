/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a variable of the environment begins that sets a parameter. An earlier one prevails; those
 * behind the first are read for mpirun's own settings only. */
static const char *const prefixes[] = {"OMPI_MCA_", "PRTE_MCA_", "PMIX_MCA_"};
enum { PREFIXES = sizeof prefixes / sizeof *prefixes };

static const char *value_of_environment(const struct tern_setting *setting, const char *prefix,
                                        struct tern_origin *ret)
{
    enum { LONGEST = 128 };
    size_t length = strlen(prefix);
    memcpy(ret->place, prefix, length);
    ret->name = ret->place + length;
    for (int i = 0; tern_setting_name(setting, i, ret->place + length, LONGEST); i++) {
        const char *value = getenv(ret->place);
        if (value)
            return value;
    }
    return NULL;
}

static const char *value_of_file(const struct tern_setting *setting, struct tern_origin *ret)
{
    char name[128];
    bool any = tern_param_file_lines() != NULL;
    for (int i = 0; any && tern_setting_name(setting, i, name, sizeof name); i++) {
        ret->line = tern_param_file_line(name);
        if (!ret->line)
            continue;
        ret->name = ret->line->name;
        return ret->line->value;
    }
    return NULL;
}

const char *tern_setting_value(const struct tern_setting *setting, struct tern_origin *ret)
{
    const char *value = NULL;
    ret->source = "environment"; /* `place` is long: it is not zeroed */
    ret->line = NULL;
    for (int i = 0; !value && i < PREFIXES && (!i || setting->launcher); i++)
        value = value_of_environment(setting, prefixes[i], ret);
    if (value)
        return value;
    value = value_of_file(setting, ret);
    if (!value)
        return NULL;
    ret->source = ret->line->file;
    snprintf(ret->place, sizeof ret->place, "%s (file %s)", ret->name, ret->line->file);
    return value;
}

/* Calls `visit` for a variable NAME=VALUE that sets a parameter. Returns like the call, or 0. */
static int visit_variable(const char *entry, tern_param_place_visitor *visit, void *context)
{
    struct tern_param_place place = {0};
    char name[256];
    const char *equals = strchr(entry, '=');
    for (; equals && place.prefix < PREFIXES; place.prefix++) {
        size_t length = strlen(prefixes[place.prefix]);
        if (strncmp(entry, prefixes[place.prefix], length) ||
            equals - entry - length >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)(equals - entry - length), entry + length);
        place.name = name;
        place.value = equals + 1;
        return visit(&place, context);
    }
    return 0;
}

int tern_places_visit(tern_param_place_visitor *visit, void *context)
{
    int error = 0;
    for (char **entry = environ; !error && entry && *entry; entry++)
        error = visit_variable(*entry, visit, context);
    const struct tern_param_line *line = tern_param_file_lines();
    for (; !error && line; line = line->next) {
        struct tern_param_place place = {.name = line->name, .value = line->value, .line = line};
        error = visit(&place, context);
    }
    return error;
}

void tern_param_place_describe(const struct tern_param_place *place, char *text, size_t room)
{
    if (place->line)
        snprintf(text, room, "%s line %d", place->line->file, place->line->line);
    else
        snprintf(text, room, "%s%s in the environment", prefixes[place->prefix], place->name);
}
