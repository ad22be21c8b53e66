/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_H
#define TERN_PARAM_H

/*
 * Parameters: one namespace, Open MPI's names where the meaning is the same. A value comes from, in this order:
 * environment OMPI_MCA_NAME (mpirun's --mca sets it), the files $OMPI_MCA_mca_param_files or
 * ~/.openmpi/mca-params.conf and PREFIX/etc/openmpi-mca-params.conf (lines `name = value`, # comments), the default.
 * Each room has one const table; tern_param_rooms lists them all for mpi_info and for mpirun's spelling check.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tern_param_type { TERN_PARAM_INT, TERN_PARAM_SIZE, TERN_PARAM_BOOL, TERN_PARAM_STRING };

struct tern_param {
    const char *name;
    enum tern_param_type type;
    const char *preset;      /* default, as text; NULL: none */
    const char *unit;        /* "bytes", "us", ... or "" */
    const char *help;        /* one sentence */
};

struct tern_param_room {
    const char *name; /* "pml", "btl_shm", ... */
    const struct tern_param *params;
    int count;
};

/* All rooms' tables, ended by a room whose name is NULL. */
extern const struct tern_param_room tern_param_rooms[];

/* Value of `name`, which must stand in a table (else abort: a programming error). Sizes accept k, m, g (powers of 1024).
 * A value that cannot be read is said once on standard error, and the default is taken. Not for hot paths. */
int64_t tern_param_int(const char *name);
bool tern_param_bool(const char *name);
/* NULL when unset and without default. Lives as long as the process. */
const char *tern_param_string(const char *name);

/* Where the value of `name` comes from: "default", "environment" or the file's name. */
const char *tern_param_source(const char *name);

/* Is `name` a parameter of ours? */
bool tern_param_known(const char *name);
/* Is `name` one of Open MPI's that has no meaning here and is accepted quietly (by prefix: btl_, coll_, orte_, ...)? */
bool tern_param_accepted(const char *name);
/* The known name nearest to `name` by edit distance, or NULL when none is near. */
const char *tern_param_nearest(const char *name);

/* Edit distance (Damerau-Levenshtein, case ignored) of two words; also for option names. */
int tern_edit_distance(const char *a, const char *b);

#endif
