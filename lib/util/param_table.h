/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAMS_H
#define TERN_PARAMS_H

/* What lib/util/param.c knows besides our own parameters (lib/util/param_table.c). */

struct tern_param_alias {
    const char *name;  /* ours */
    const char *other; /* as Open MPI's users know it */
};

/* Ended by a row whose name is NULL. */
extern const struct tern_param_alias tern_param_aliases[];

/* Names of those that `mpi_info --measure` measures (lib/util/measured.h), ended by NULL. */
extern const char *const tern_param_measured[];

/* First words of Open MPI's parameter names, ended by NULL. */
extern const char *const tern_param_foreign_words[];

#endif
