/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_COMMON_MOVERS_H
#define TERN_MPIRUN_PLAN_COMMON_MOVERS_H

/* The byte movers of a job whose programs have different lists in the parameter `btl`. */

#include "mpirun/plan/options.h"

/* Gives all programs of a job the same list: that of the byte movers which all their lists permit,
 * with a warning. Otherwise a rank would send by one that the receiver does not read. Returns 0, or
 * TERN_ERR_ARG with text if they have none in common that reaches another rank. */
int tern_movers_agree(struct tern_options *options);

#endif
