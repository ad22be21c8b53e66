/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SETTINGS_PLACES_H
#define TERN_SETTINGS_PLACES_H

/* The places where users set parameters: variables of the environment, and lines of files. */

#include "lib/settings/files.h"
#include "lib/settings/setting.h"

#include <limits.h>
#include <stddef.h>

/* Where a value was set. */
struct tern_origin {
    /* the name under which it was set; lives in `place` or as long as the process */
    const char *name;
    const char *source; /* as tern_param_source returns it */
    char place[PATH_MAX + 160]; /* for messages: a variable, or "NAME (file FILE)" */
    const struct tern_param_line *line; /* of a file, or NULL */
};
/* Returns the value that the environment or a file gives to a setting, under any of its names, or
 * NULL. */
const char *tern_setting_value(const struct tern_setting *setting, struct tern_origin *ret);

/* A place. */
struct tern_param_place {
    const char *name, *value;
    const struct tern_param_line *line; /* of a file; NULL: a variable */
    int prefix; /* of a variable: 0 OMPI_MCA_, 1 PRTE_MCA_, 2 PMIX_MCA_ */
};
/* Returns 0, or another value to end the visits. */
typedef int tern_param_place_visitor(const struct tern_param_place *place, void *context);
/* Calls `visit` for each place. Returns what the last call returned. */
int tern_places_visit(tern_param_place_visitor *visit, void *context);
/* Writes "OMPI_MCA_x in the environment", or "FILE line 3". */
void tern_param_place_describe(const struct tern_param_place *place, char *text, size_t room);

#endif
