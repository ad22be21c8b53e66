/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_USER_SIGNALS_H
#define TERN_MPIRUN_USER_SIGNALS_H

/* Signals that users send to mpirun: passes them on to the ranks of all hosts and to the jobs that
 * ranks have started, and ends the job where that is asked for. Both functions run on mpirun's
 * loop. */

/* Takes a signal that mpirun received. */
void tern_user_signal(int number);
/* Takes one from the mpirun that has started this one. */
void tern_user_signal_above(int number);

#endif
