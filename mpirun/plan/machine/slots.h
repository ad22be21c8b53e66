/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_SLOTS_H
#define TERN_MPIRUN_PLAN_SLOTS_H

/* Lists of slots, as a rankfile writes them. Numbers mean cores, by their logical numbers:
 *
 *     3      0-3,6      cores of the host
 *     1:0-2,4           cores 0 to 2 and 4 of socket 1        1:*    all of socket 1
 *     0:2;1:0-1         core 2 of socket 0, cores 0 and 1 of socket 1; a comma works as well
 *     p5     p:5,37     the cores that contain the operating system's processors 5 and 37
 *
 * With --use-hwthread-cpus each number means a hardware thread. */

#include "mpirun/plan/machine/processors.h"

/* Finds the processors that `slots` means. If `host` is NULL, checks only the syntax. Returns 0, or
 * TERN_ERR_ARG with a message that begins with `where`, if the host lacks a processor or the job
 * may not use it. */
int tern_slots_find(const struct tern_host *host, const char *slots, bool hwthreads,
                    const char *where, struct tern_cpus *ret_cpus);

#endif
