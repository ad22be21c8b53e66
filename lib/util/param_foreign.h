/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_FOREIGN_H
#define TERN_PARAM_FOREIGN_H

/* Parameters of Open MPI that the library accepts without effect, and whose values are truth values
 * or words. What Open MPI refuses is refused here, too: it is a slip of the user. The launcher's
 * parameters are in mpirun/plan/launcher_parameters.h. */

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `name` is such a parameter and `text` is none of its values. Then writes the
 * values into `expected`. An empty text is always allowed. */
bool tern_param_foreign_refuses(const char *name, const char *text, char *expected, size_t room);

#endif
