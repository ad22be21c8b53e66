/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_SAID_H
#define TERN_PARAM_SAID_H

/* Faults in the settings of parameters that stop nothing: misspelt names, lines of files that
 * cannot be read. mpirun and every rank see them; each is said once for a job. mpirun passes on
 * what it has said in a variable of the environment, and of the ranks only rank 0 says the rest. */

#include <stdbool.h>

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

/* Returns true if `name` chooses an algorithm of Open MPI's collectives, which has no effect, and
 * `value` asks for something. */
bool tern_param_is_tuned(const char *name, const char *value);
/* What to say then, and the key of this fault. */
#define TERN_PARAM_TUNED "coll_tuned_"
extern const char tern_param_tuned_text[];

/* Returns false if `value` says off, none, the default or nothing at all. */
bool tern_param_asks_something(const char *value);

#endif
