/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_SIGNALS_H
#define TERN_MPIRUN_BASE_SIGNALS_H

/* Delivers to the event loop the signals that mpirun passes on to the ranks. */

#include <stdbool.h>

/* Blocks these signals and calls `caught` on the loop when one of them arrives. If
 * `hangup_ignored`, SIGHUP stays ignored, as under nohup. Returns 0 or TERN_ERR_OTHER. */
int tern_signals_catch(bool hangup_ignored, void (*caught)(int number));
/* Restores the default action of these signals. Call it when nothing of the job is left: a signal
 * then interrupts mpirun like any other program. */
void tern_signals_release(void);

#endif
