/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTION_TABLE_H
#define TERN_MPIRUN_PLAN_OPTION_TABLE_H

/* All options of mpirun. A row says what the option's value is and where it goes. */

#include "mpirun/plan/options.h"

enum tern_option_kind {
    TERN_OPTION_IGNORED,  /* Open MPI's; without effect, so that scripts keep working */
    TERN_OPTION_REFUSED,  /* Open MPI's; the user must know that it is missing: `text` says why */
    TERN_OPTION_FLAG,     /* sets the bool at `offset` */
    TERN_OPTION_NUMBER,   /* stores an int from 1 to `most` */
    TERN_OPTION_WORD,     /* stores a const char * to the value itself */
    TERN_OPTION_LIST,     /* adds a copy to the struct tern_strings */
    TERN_OPTION_READ,     /* calls `read` */
    TERN_OPTION_READ_APP, /* calls `read_app` */
    TERN_OPTION_PARAMETER, /* --mca and its kin: adds to a struct tern_strings, and applies */
    /* these are command_line.c's: */
    TERN_OPTION_HELP,
    TERN_OPTION_VERSION,
    TERN_OPTION_APPFILE,
};

struct tern_option {
    const char *name;
    int values; /* how many words follow */
    enum tern_option_kind kind;
    bool of_app;   /* `offset` is one of struct tern_app, else of struct tern_options */
    size_t offset; /* of the field that gets the value */
    int most;
    const char *text; /* REFUSED: the reason; READ without a word: the value; PARAMETER: a prefix */
    int (*read)(const char *option, const char *text, struct tern_options *options);
    int (*read_app)(const char *option, const char *text, struct tern_app *app);
};

extern const struct tern_option tern_option_table[];
extern const int tern_option_count;

/* Applies an option, written as `word`, with the words that follow it. 0 or TERN_ERR_ARG. */
int tern_option_apply(const struct tern_option *option, const char *word, char **values,
                      struct tern_app *app, struct tern_options *options);

#endif
