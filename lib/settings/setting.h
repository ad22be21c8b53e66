/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SETTING_H
#define TERN_SETTING_H

/*
 * What a setting is: a row with its names, its values, its default, its meaning, and what it does
 * here. Each room of the library has one const table of its parameters in its own ROOM_params.c;
 * tern_param_rooms lists the tables. mpirun and mpi_info know all of them, so these files contain
 * data only and belong to libternutil. Values: lib/settings/param.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types of values. A size is a number of bytes, such as 64k. */
enum tern_param_type {
    TERN_PARAM_INT,
    TERN_PARAM_SIZE,
    TERN_PARAM_BOOL,
    TERN_PARAM_STRING,
    TERN_PARAM_WORDS, /* a list such as "tcp,self" or "^tcp"; other words than the choices are
                       * slips */
};

/* What a setting does here. */
enum tern_effect {
    TERN_EFFECT_USED,
    TERN_EFFECT_NONE,    /* nothing, and the user cannot notice that */
    TERN_EFFECT_WARNED,  /* nothing, with one warning; `instead` says what to do */
    TERN_EFFECT_REFUSED, /* it is refused; `instead` says why, or what to do */
    TERN_EFFECT_FOREIGN, /* refused as a word of other launchers; `instead` is ours */
};

/* Until when a change has an effect. */
enum tern_param_when {
    TERN_PARAM_AT_START, /* before MPI starts */
    TERN_PARAM_ANY_TIME, /* readers look again after tern_param_changes() has grown */
};

/* In which processes a change must be made. */
enum tern_param_scope {
    TERN_PARAM_LOCAL,     /* in any process, for itself */
    TERN_PARAM_ALL_EQUAL, /* in all processes, to equal values */
};

/* A setting. */
struct tern_setting {
    const char *name; /* as a parameter */
    enum tern_param_type type;
    const char *preset;  /* default, as text; NULL: no default */
    const char *unit;    /* "bytes", "us", ... or "" */
    const char *help;    /* one sentence */
    /* strings only: the allowed values, "|binomial|chain". If the first one is empty, the library
     * chooses. Commas separate spellings of one value: "auto|never,0,none"; "circulant,~two_tree"
     * says that circulant is used for a value that is no more. NULL: any text is allowed. Of WORDS:
     * the words, "tcp,self". */
    const char *choices;
    enum tern_param_when when;
    enum tern_param_scope scope;
    int64_t least, most; /* numbers and sizes: the range of values */
    bool or_zero;        /* 0 is allowed too, although `least` is larger */
    bool internal;       /* for tests and for work on the library; mpi_info hides it */
    /* strings only: the value is a list NAME:VALUE,NAME:VALUE of values of other parameters, whose
     * names have NAME for the star of this text: "coll_*_algorithm". NULL: it is none */
    const char *pairs;
    const char *also;    /* Open MPI's names for it, separated by blanks; NULL: none */
    bool launcher;       /* mpirun's own: the environment has it with PRTE_MCA_ and PMIX_MCA_, too,
                          * and with "prte_" for "orte_" */
    enum tern_effect effect;
    const char *instead;
};

/* A room's table. */
struct tern_param_room {
    const char *name; /* "pml", "btl_shm", ... */
    const struct tern_setting *params;
    int count;
    const char *help; /* one sentence about the room */
};

/* A table and its length, as two members of a struct tern_param_room. */
#define TERN_PARAM_ROWS(array) array, (int)(sizeof array / sizeof *array)

/* The tables of all rooms; NULL ends the list. */
extern const struct tern_param_room *const tern_param_rooms[];

/* Returns parameter number `index`, counted from 0 through all rooms, or NULL if there are fewer.
 * Sets *ret_room to its room; ret_room may be NULL. */
const struct tern_setting *tern_param_at(int index, const struct tern_param_room **ret_room);
/* Returns the number of the parameter `name`, or -1 if there is none. */
int tern_param_index(const char *name);
/* Returns the parameter with this name, or with this name among its other ones, or NULL. */
const struct tern_setting *tern_param_find(const char *name);
/* Writes name number `index` of a setting, cut to `room` bytes including the closing 0: number 0 is
 * its own, the others are those of `also`; then those with "prte_" for "orte_". Returns false if
 * there are fewer. */
bool tern_setting_name(const struct tern_setting *setting, int index, char *ret_name, size_t room);
/* Returns true if `name` is one of the setting's names. */
bool tern_setting_is_called(const struct tern_setting *setting, const char *name);

/* Returns the parameter's name with the smallest edit distance to `name`, or NULL if none is
 * near. */
const char *tern_param_nearest(const char *name);

/* A search for the name that is nearest to a misspelt one. */
struct tern_nearest {
    const char *to; /* the misspelt one */
    int most;       /* names at a larger edit distance do not count */
    char name[128]; /* the nearest so far, or "" */
};
/* Compares with the names of a setting. */
void tern_nearest_try(struct tern_nearest *nearest, const struct tern_setting *setting);

#endif
