/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_JOIN_OPTIONS_H
#define TERN_MPIRUN_PLAN_JOIN_OPTIONS_H

#include "mpirun/plan/words/options.h"

/* Completes what only all options together say, and refuses what contradicts itself. Call it when
 * all settings were applied. Returns 0 or TERN_ERR_ARG. */
int tern_options_join(struct tern_options *options);

#endif
