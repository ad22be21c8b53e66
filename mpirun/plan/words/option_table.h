/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTION_TABLE_H
#define TERN_MPIRUN_PLAN_OPTION_TABLE_H

/* mpirun's own settings: its options, and the parameters of Open MPI's launcher that have an effect
 * here. A row says how both are called, what the value is, and where to store it. */

#include <string.h>

#include "lib/settings/setting.h"
#include "mpirun/plan/words/options.h"

/* What happens with a value. */
enum tern_option_kind {
    TERN_OPTION_USELESS,   /* row.effect says it; values among row.choices ask for nothing */
    TERN_OPTION_FLAG,      /* sets the bool at `offset`, or calls `read` if there is one; a
                            * parameter that says no clears the bool. `off`: the reverse */
    TERN_OPTION_NUMBER,    /* stores an int from row.least to row.most */
    TERN_OPTION_WORD,      /* stores a pointer to the value itself, a const char * */
    TERN_OPTION_LIST,      /* adds a copy of the value to the struct tern_strings */
    TERN_OPTION_READ,      /* calls `read` */
    TERN_OPTION_JOIN,      /* joins the second value and the variable that the first one names;
                            * `text` is "before" or "" */
    TERN_OPTION_PARAMETER, /* --mca and similar: adds a parameter to the struct tern_strings with
                            * the prefix `text`, and applies it */
    TERN_OPTION_TUNE,      /* --tune: a file of options, before all other options */
    TERN_OPTION_AM,        /* --am: a file of parameters, likewise */
    /* The following are handled by command_line.c. */
    TERN_OPTION_HELP,
    TERN_OPTION_VERSION,
    TERN_OPTION_APPFILE,
};

/* Reads a value that needs more than storing. `option` is where it was set, for messages. Returns
 * 0 or TERN_ERR_ARG. */
typedef int tern_option_reader(const char *option, const char *text, struct tern_options *options);

/* A row of the table. */
struct tern_option {
    const char *names; /* without dashes, separated by blanks; "": a parameter only */
    const char *arg;   /* the words that follow, for --help; NULL, or in brackets: none must */
    enum tern_option_kind kind;
    bool of_app;   /* true if `offset` is in struct tern_app, false if in struct tern_options */
    bool off;
    size_t offset; /* of the field that gets the value */
    const char *text; /* READ without `arg`, and FLAG: the value */
    tern_option_reader *read;
    const char *sets; /* what it sets: a later option that sets the same replaces it; NULL: values
                       * add up */
    bool takes_zero;  /* READ: a parameter with the value 0 says something */
    enum tern_inherit inherit;
    const char *topics; /* of --help, separated by blanks: --help alone prints it in the first */
    /* the parameter that says the same, if row.name; range, effect; row.help for --help */
    struct tern_setting row;
};

/* The table, in the order in which parameters of one source are applied, and its length. */
extern const struct tern_option tern_option_table[];
extern const int tern_option_count;

/* Returns the option with a name of `length` letters at `name`, or NULL. */
const struct tern_option *tern_option_find(const char *name, size_t length);
/* The rows of a parameter; those that it does not have are NULL. */
struct tern_known {
    const struct tern_option *option;  /* mpirun's: often an option says the same */
    const struct tern_setting *theirs; /* of Open MPI, without effect here */
    const struct tern_setting *ours;   /* of the library */
};
/* Finds a parameter, in any of its spellings. */
struct tern_known tern_known_find(const char *name);

/* Returns the number of words that follow an option. */
static inline int tern_option_values(const struct tern_option *option)
{
    if (!option->arg || option->arg[0] == '[')
        return 0;
    return strchr(option->arg, ' ') ? 2 : 1;
}

#endif
