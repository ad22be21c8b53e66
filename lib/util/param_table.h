/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_TABLE_H
#define TERN_PARAM_TABLE_H

/*
 * What parameters there are. Each room of the library has one const table in its own ROOM_params.c;
 * tern_param_rooms lists the tables. mpirun and mpi_info know all of them, so these files contain
 * data only and belong to libternutil. Values: lib/util/param.h.
 */

#include <stddef.h>

enum tern_param_type { TERN_PARAM_INT, TERN_PARAM_SIZE, TERN_PARAM_BOOL, TERN_PARAM_STRING };

/* When a change still has an effect. */
enum tern_param_when {
    TERN_PARAM_AT_START, /* before MPI starts */
    TERN_PARAM_ANY_TIME, /* its readers look again when tern_param_changes() has grown */
};

/* Where a change has to be made. */
enum tern_param_scope {
    TERN_PARAM_LOCAL,
    TERN_PARAM_ALL_EQUAL, /* to the same value in all processes */
};

struct tern_param {
    const char *name;
    enum tern_param_type type;
    const char *preset;  /* default, as text; NULL: none */
    const char *unit;    /* "bytes", "us", ... or "" */
    const char *help;    /* one sentence */
    /* strings only: the allowed values, "|binomial|chain" (the first one is empty: the library
     * chooses). Commas separate spellings of one value: "auto|never,0,none". NULL: any text is
     * allowed. */
    const char *choices;
    enum tern_param_when when;
    enum tern_param_scope scope;
};

struct tern_param_room {
    const char *name; /* "pml", "btl_shm", ... */
    const struct tern_param *params;
    int count;
    const char *help; /* one sentence on the room */
};

/* For a struct tern_param_room: a table and its length. */
#define TERN_PARAM_ROWS(array) array, (int)(sizeof array / sizeof *array)

/* The tables of all rooms, ended by NULL. */
extern const struct tern_param_room *const tern_param_rooms[];

/* Returns parameter number `index`, counted from 0 through all rooms, or NULL if there are not that
 * many. ret_room may be NULL. */
const struct tern_param *tern_param_at(int index, const struct tern_param_room **ret_room);
/* Returns the number of the parameter `name`, or -1 if there is none. */
int tern_param_index(const char *name);
/* Returns the parameter `name`, or NULL if there is none. */
const struct tern_param *tern_param_find(const char *name);

struct tern_param_alias {
    const char *name;  /* ours */
    const char *other; /* as Open MPI's users know it */
};

/* Ended by a row whose name is NULL. */
extern const struct tern_param_alias tern_param_aliases[];

/* Names of the parameters that `mpi_info --measure` measures (lib/util/measured.h), ended by NULL.
 */
extern const char *const tern_param_measured[];

#endif
