/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_SAID_H
#define TERN_PARAM_SAID_H

/* Faults in the settings of parameters that stop nothing: misspelt names, lines of files that
 * cannot be read. mpirun and every rank see them; each is said once for a job. mpirun passes on
 * what it has said in a variable of the environment, and of the ranks only rank 0 says the rest. */

#include <stdbool.h>
#include <stddef.h>

/* The variable: the keys of all faults that were said, separated by line breaks. */
#define TERN_PARAMS_SAID "TERN_PARAMS_SAID"

/* Returns true if this process prints faults in parameters. All ranks of a job see equal faults, so
 * only rank 0 prints them, or a process without a rank. */
bool tern_param_may_speak(void);

/* Returns true if this process must say the fault now: this process speaks for the job, and nobody
 * has said the fault before. Notes it as said. `key` names the fault: the misspelt name, or "FILE
 * line N". Any thread may call. */
bool tern_param_must_say(const char *key);

/* Returns the value of the variable for the ranks, or NULL if nothing was said. The text lives
 * until the next tern_param_must_say. */
const char *tern_param_said(void);

/* Writes what a user must know of a value that has no effect, or another one than it had: an
 * algorithm of Open MPI's collectives, or a choice that is no more. Returns false if there is
 * nothing to say, or if it was said. */
bool tern_param_must_explain(const char *name, const char *value, char *text, size_t room);

/* Returns false if `value` says off, none, the default or nothing at all. */
bool tern_param_asks_something(const char *value);

#endif
