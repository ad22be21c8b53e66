/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_INHERIT_H
#define TERN_MPIRUN_PLAN_INHERIT_H

/* Which options of the command line also hold for the jobs that ranks start by MPI_Comm_spawn. */

#include "mpirun/plan/option_table.h"

/* Notes the option and its values in `options` if jobs that are started later inherit it. */
void tern_inherit_note(const struct tern_option *option, char **values,
                       struct tern_options *options);

#endif
