/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OPEN_MPI_H
#define TERN_OPEN_MPI_H

/* Parameters of Open MPI that are accepted without effect. Pure functions. */

#include "lib/settings/setting.h"

#include <stdbool.h>
#include <stddef.h>

/* Returns true if `name` is an Open MPI parameter that has no meaning here and is accepted
 * silently. Its first word decides: btl, coll, orte, ... Returns false if `name` is so similar to
 * one of our names that ours was probably meant. */
bool tern_open_mpi_accepted(const char *name);
/* Returns true if the first word of `name` is one of the launcher's: orte, plm, rmaps, ... */
bool tern_open_mpi_is_launchers(const char *name);

/* Returns row number `index`, counted from 0, or NULL if there are fewer. */
const struct tern_setting *tern_open_mpi_at(int index);
/* Returns the row of an Open MPI parameter whose values are checked, that gets a warning, or that
 * is the launcher's. NULL: there is none. */
const struct tern_setting *tern_open_mpi_find(const char *name);
/* Compares with the launcher's parameters in these rows. */
void tern_open_mpi_nearest(struct tern_nearest *nearest);

/* Some have truth values or words. What Open MPI refuses is refused here, too: it is a slip of the
 * user. Returns true if `name` is such a parameter and `text` is none of its values. Then writes
 * the values into `expected`. An empty text is always allowed. */
bool tern_open_mpi_refuses(const char *name, const char *text, char *expected, size_t room);

#endif
