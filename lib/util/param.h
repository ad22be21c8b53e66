/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_H
#define TERN_PARAM_H

/*
 * Parameters: one namespace, Open MPI's names where the meaning is the same. A value comes from, in this order:
 * environment OMPI_MCA_NAME (mpirun's --mca sets it), the files $OMPI_MCA_mca_param_files or
 * ~/.openmpi/mca-params.conf and PREFIX/etc/openmpi-mca-params.conf (lines `name = value`, # comments), what
 * `mpi_info --measure` has measured (lib/util/measured.h), the default.
 * Before all of them comes what a tool has written (tern_param_write).
 * Each room has one const table; tern_param_rooms lists them all for mpi_info and for mpirun's spelling check.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tern_param_type { TERN_PARAM_INT, TERN_PARAM_SIZE, TERN_PARAM_BOOL, TERN_PARAM_STRING };

/* When a change still has an effect. */
enum tern_param_when {
    TERN_PARAM_AT_START, /* before MPI starts */
    TERN_PARAM_ANY_TIME, /* whoever uses it reads it anew when tern_param_changes() has grown */
};

/* Where a change has to be made. */
enum tern_param_scope {
    TERN_PARAM_LOCAL,
    TERN_PARAM_ALL_EQUAL, /* to the same value in all processes */
};

struct tern_param {
    const char *name;
    enum tern_param_type type;
    const char *preset;      /* default, as text; NULL: none */
    const char *unit;        /* "bytes", "us", ... or "" */
    const char *help;        /* one sentence */
    const char *choices;     /* strings only: what the value may be, "|binomial|chain" (the first: empty, of the library's
                                choice); other spellings of one behind commas, "auto|never,0,none". NULL: any text */
    enum tern_param_when when;
    enum tern_param_scope scope;
};

/* The first spelling of choice `index`, cut to `room` bytes with the closing zero. False: there are not that many. */
bool tern_param_choice_name(const struct tern_param *param, int index, char *name, size_t room);

struct tern_param_room {
    const char *name; /* "pml", "btl_shm", ... */
    const struct tern_param *params;
    int count;
    const char *help; /* what the room is; NULL: nothing to say */
};

/* All rooms' tables, ended by a room whose name is NULL. */
extern const struct tern_param_room tern_param_rooms[];

/* Value of `name`, which must stand in a table (else abort: a programming error). Sizes accept k, m, g (powers of 1024).
 * A value that cannot be read is said once on standard error, and the default is taken. Not for hot paths. */
int64_t tern_param_int(const char *name);
bool tern_param_bool(const char *name);
/* NULL when unset and without default. Lives as long as the process. */
const char *tern_param_string(const char *name);

/* The value of a parameter with choices: its index, or -1 when it is none of them. */
int tern_param_choice(const char *name);
/* The index that `text` would have; -1: none, or no such parameter. */
int tern_param_find_choice(const char *name, const char *text);

/* Every parameter has an index, from 0 on through all rooms. NULL: there are not that many; ret_room may be NULL. */
const struct tern_param *tern_param_at(int index, const struct tern_param_room **ret_room);
/* -1: no parameter is called so. */
int tern_param_index(const char *name);

/* Gives a parameter a value that comes before all others. 0; TERN_ERR_ARG: the text cannot be read as one of its type, or is
 * none of its choices; TERN_ERR_NO_MEM. Any thread may call it; others see the old value or the new one. */
int tern_param_write(const char *name, const char *text);
/* Grows with every tern_param_write. */
unsigned tern_param_changes(void);

/* For who needs a value often: looks it up once, and again after each tern_param_write. Returns the value, or the index of
 * a parameter with choices. `kept` is static and used for one name. Several threads may ask at the same time. */
struct tern_param_kept {
    unsigned asked; /* 1 + tern_param_changes() when it was looked up; 0: never */
    int64_t value;
};
int64_t tern_param_keep(struct tern_param_kept *kept, const char *name);

/* Where the value of `name` comes from: "tool", "default", "environment", the file's name, or of a figure that mpirun
 * has read "mpirun". */
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
