/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_JOBS_SPAWN_LINE_H
#define TERN_MPIRUN_JOBS_SPAWN_LINE_H

/* From a question to start processes (lib/util/net/question.h) to mpirun's command line. */

#include <sys/types.h>

#include "mpirun/base/strings.h"

/* A question as a command line. The members after `words` have no option. */
struct tern_spawn_line {
    struct tern_strings words; /* "mpirun" and its arguments */
    char *separator; /* the word between two programs: one that no argument equals */
    char *port;  /* where the parents wait */
    char *wdir;  /* of the root; NULL: not known */
    pid_t beside; /* the program without a launcher that asks; 0: a rank */
    int number;  /* of the job */
    int universe; /* universe size of the parents; 0: not known */
};

/* Reads the question. Changes its text. `called` is the name by which this mpirun was called.
 * Returns 0, or TERN_ERR_* with text: TERN_ERR_INFO_VALUE if an info value is wrong. *ret_line is
 * filled in as far as possible. */
int tern_spawn_line_make(const char *called, char *question,
                         struct tern_spawn_line *ret_line);

#endif
