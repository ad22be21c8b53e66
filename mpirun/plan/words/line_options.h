/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_LINE_OPTIONS_H
#define TERN_MPIRUN_PLAN_LINE_OPTIONS_H

/* The words of a command line, or of a line of an application file, as rows of the option table
 * with their values. Nothing is applied here. */

#include "mpirun/plan/words/option_table.h"

/* An option and its values. */
struct tern_said {
    const struct tern_option *option;
    char *word;   /* the option as typed */
    char *joined; /* the value of --NAME=VALUE; NULL: the values follow */
    char **words; /* the words behind the option, and their number up to the end of the line */
    int left;
};

/* A program, its arguments and the options in front of it. */
struct tern_line_program {
    struct tern_said *said;
    int count;
    char **argv; /* may be empty */
    int argc;
};

struct tern_options_line {
    struct tern_line_program *programs;
    int count;
};

/* Reads `count` words; `separator` stands between two programs. `line` must be zeroed, and points
 * into the words. Returns 0 or TERN_ERR_ARG; call tern_line_free whatever the result. */
int tern_line_read(char **words, int count, const char *separator, struct tern_options_line *line);
void tern_line_free(struct tern_options_line *line);

/* Returns the values of an option. */
char **tern_said_values(struct tern_said *said);
/* Notes an option for --explain. */
void tern_said_note(struct tern_said *said, struct tern_options *options);
/* Notes an option for the jobs that ranks start: processes that a rank starts by MPI_Comm_spawn get
 * the options of their parent that hold for any job. */
void tern_said_note_inherited(struct tern_said *said, struct tern_options *options);
/* Warns if an option replaces one that was given before for the same program: -np 3 after -n 2, or
 * --mca btl tcp after --mca btl shm. Options that add to each other, such as --host, replace
 * nothing. */
void tern_said_note_repeat(struct tern_said *said, struct tern_options *options);

#endif
