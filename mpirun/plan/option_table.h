/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTION_TABLE_H
#define TERN_MPIRUN_PLAN_OPTION_TABLE_H

/* All options of mpirun. A row says what the option's value is and where to store it. */

#include "mpirun/plan/options.h"

/* What happens with an option and its value. */
enum tern_option_kind {
    /* an option of Open MPI; accepted without effect, so that scripts keep working */
    TERN_OPTION_IGNORED,
    /* an option of Open MPI that fails, because the user must know that it is missing; `text` says
     * why */
    TERN_OPTION_REFUSED,
    /* an option of Open MPI that is accepted with a warning, because the user may notice that it
     * has no effect; `text` says what to do instead */
    TERN_OPTION_WARNED,
    /* an option of another launcher; `text` is what Tern and Open MPI call it */
    TERN_OPTION_FOREIGN,
    TERN_OPTION_TUNE, /* --tune and --am: calls `read`, before all other options */
    TERN_OPTION_FLAG,     /* sets the bool at `offset` to true */
    TERN_OPTION_NUMBER,   /* stores an int from `least` to `most` */
    TERN_OPTION_WORD,     /* stores a pointer to the value itself, a const char * */
    TERN_OPTION_LIST,     /* adds a copy of the value to the struct tern_strings */
    TERN_OPTION_READ,     /* calls `read` */
    TERN_OPTION_READ_APP, /* calls `read_app` */
    TERN_OPTION_READ_PAIR, /* calls `read_pair` */
    /* --mca and similar: adds the parameter to a struct tern_strings, and applies it */
    TERN_OPTION_PARAMETER,
    /* The following are handled by command_line.c. */
    TERN_OPTION_HELP,
    TERN_OPTION_VERSION,
    TERN_OPTION_APPFILE,
};

/* A row of the table. */
struct tern_option {
    const char *name; /* without dashes */
    int values; /* number of words that follow the option */
    enum tern_option_kind kind;
    bool of_app;   /* true if `offset` is in struct tern_app, false if in struct tern_options */
    size_t offset; /* of the field that gets the value */
    int least, most; /* NUMBER: the smallest and the largest value */
    /* REFUSED: the reason. READ with `values` 0: the value. PARAMETER: the prefix of the
     * variable */
    const char *text;
    /* All return 0 or TERN_ERR_ARG. */
    int (*read)(const char *option, const char *text, struct tern_options *options);
    int (*read_app)(const char *option, const char *text, struct tern_app *app);
    int (*read_pair)(const char *option, const char *name, const char *text, struct tern_app *app);
};

/* The table, and its number of rows. */
extern const struct tern_option tern_option_table[];
extern const int tern_option_count;

/* Applies an option. `word` is the option as typed, `values` the words after it. Returns 0 or
 * TERN_ERR_ARG. */
int tern_option_apply(const struct tern_option *option, const char *word, char **values,
                      struct tern_app *app, struct tern_options *options);

/* Checks the `count` words in `values` that follow the option `word`. Returns 0, or TERN_ERR_ARG if
 * one is itself an option: a forgotten value would swallow it. */
int tern_option_check_values(const struct tern_option *option, const char *word, char **values,
                             int count);

/* Returns the name of the first row that stores its value where `option` does. Returns NULL if
 * values of `option` add up: then a later value does not replace an earlier one. */
const char *tern_option_replaced(const struct tern_option *option);

/* Returns the option of that name, without dashes, or NULL. */
const struct tern_option *tern_option_named(const char *name);
/* Applies an option as a parameter with the value `text` does. A truth value switches an option
 * without value on or off; an empty text, or 0 as a number, changes nothing. `origin` is where the
 * value was set, for messages. `text` must live as long as `options`. Returns 0 or
 * TERN_ERR_ARG. */
int tern_option_apply_value(const struct tern_option *option, const char *origin, const char *text,
                            struct tern_options *options);

#endif
