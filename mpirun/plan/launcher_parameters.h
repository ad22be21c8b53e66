/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_LAUNCHER_PARAMETERS_H
#define TERN_MPIRUN_PLAN_LAUNCHER_PARAMETERS_H

/* All parameters of Open MPI's launcher, and what mpirun makes of each. The parameters that are
 * mpirun's own (`mpi_info --param launch all`) are in lib/settings/launch_params.c instead. */

#include "mpirun/plan/options.h"

/* What mpirun does with a parameter. */
enum tern_launcher_use {
    TERN_LAUNCHER_OPTION,  /* the same as the option `text` of the option table */
    TERN_LAUNCHER_READ,    /* calls `read` */
    TERN_LAUNCHER_FLAG,    /* stores a truth value at `offset` of struct tern_options */
    TERN_LAUNCHER_MISSING, /* warns that it has no effect; `text` says what to do instead */
    TERN_LAUNCHER_NAMES,   /* warns of a word that is not in the list `text` */
    TERN_LAUNCHER_TRUTH,   /* refuses what is no truth value; else as QUIET */
    TERN_LAUNCHER_QUIET,   /* nothing: the user cannot notice that it has no effect */
};

/* A row of the table. */
struct tern_launcher_parameter {
    const char *name; /* of Open MPI 4.1 */
    enum tern_launcher_use use;
    const char *text;
    size_t offset;
    /* Returns 0 or TERN_ERR_ARG. `origin` is where the value was set, for messages. */
    int (*read)(const char *origin, const char *value, struct tern_options *options);
};

/* The table, in the order in which values of one source are applied. A NULL name ends it. */
extern const struct tern_launcher_parameter tern_launcher_parameters[];

/* Returns the row of a parameter, or NULL. `name` may be in the spelling of another release, as
 * tern_launcher_name accepts it. */
const struct tern_launcher_parameter *tern_launcher_find(const char *name);
/* Translates a name of another release of Open MPI, or of PRRTE. Returns the parameter's name in
 * this table or among mpirun's own parameters, or `name` itself if there is no other name. The
 * result lives until the next call. */
const char *tern_launcher_name(const char *name);
/* Returns spelling number `index` of a parameter, or NULL if there are fewer. Number 0 is the name
 * itself. The result lives until the next call. */
const char *tern_launcher_spelling(const char *name, int index);
/* Returns true if the first word of `name` is one of the launcher's: orte, plm, rmaps, ... */
bool tern_launcher_word(const char *name);

#endif
