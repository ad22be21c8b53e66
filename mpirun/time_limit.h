/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_TIME_LIMIT_H
#define TERN_MPIRUN_TIME_LIMIT_H

/* Ends the job after `seconds` (--timeout), and says where its ranks are. Runs on mpirun's loop. */
void tern_time_limit_start(int seconds);

#endif
