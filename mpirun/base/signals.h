/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_SIGNALS_H
#define TERN_MPIRUN_BASE_SIGNALS_H

/* The signals that mpirun passes on to the ranks, as events of the loop. */

#include <stdbool.h>

/* From now on `caught` is told of each of them. A hang-up that was ignored before stays so (nohup).
 * 0 or TERN_ERR_OTHER. */
int tern_signals_catch(bool hangup_ignored, void (*caught)(int number));
/* Nothing of the job is left; what we still do can be interrupted like any program. */
void tern_signals_release(void);

#endif
