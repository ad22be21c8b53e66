/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_STANDING_H
#define TERN_MPICHECK_STANDING_H

#include "mpicheck/judge/findings.h"

/* GOOD: measured, and no fault was found. BAD: it has a fault. OPEN: it, or a part of it, could not
 * be measured, or the check was interrupted before. */
enum tern_mc_standing { TERN_MC_STANDS_GOOD, TERN_MC_STANDS_BAD, TERN_MC_STANDS_OPEN };

/* Lists the hosts of a standing. `ret_hosts` has room for all. Returns their number. */
int tern_mc_hosts_of(const struct tern_mc_result *result, enum tern_mc_standing standing,
                     int *ret_hosts);

#endif
