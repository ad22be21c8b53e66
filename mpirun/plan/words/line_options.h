/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_LINE_OPTIONS_H
#define TERN_MPIRUN_PLAN_LINE_OPTIONS_H

/* The words of a command line, and of the application files that it names, as rows of the option
 * table with their values. Nothing is applied here. */

#include "mpirun/plan/words/option_table.h"

struct tern_options_line;

/* An option and its values. */
struct tern_said {
    const struct tern_option *option;
    struct tern_known known; /* of --mca NAME: the rows of NAME */
    const char *word; /* the option as typed; of a file, where it stands */
    char *values[2]; /* of --help: the word behind it, or NULL */
    int count;       /* of values */
    bool joined;     /* --NAME=VALUE */
    struct tern_options_line *file; /* of --app: its programs */
};

/* A program, its arguments and the options in front of it. */
struct tern_line_program {
    struct tern_said *said;
    int count;
    char **argv; /* may be empty */
    int argc;
    char **own; /* the words of a line of a file, or NULL */
};

struct tern_options_line {
    struct tern_line_program *programs;
    int count;
};

/* Reads `count` words and adds their programs to `line`; options->separator stands between two.
 * `line` points into the words, and into options->kept for words of files. Returns 0 or
 * TERN_ERR_ARG; call tern_line_free whatever the result. */
int tern_line_read(char **words, int count, struct tern_options *options,
                   struct tern_options_line *line);
void tern_line_free(struct tern_options_line *line);

/* Checks the `count` words in `values` that follow the option `word`. Returns 0, or TERN_ERR_ARG if
 * one is itself an option: a forgotten value would swallow it. */
int tern_line_check_values(const struct tern_option *option, const char *word, char *const *values,
                           int count);
/* Notes an option for --explain, and for the jobs that ranks start. Warns if it replaces one that
 * was given before for the same program: -np 3 after -n 2, or --mca btl tcp after --mca btl shm. */
void tern_said_note(const struct tern_said *said, struct tern_options *options);

#endif
