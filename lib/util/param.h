/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARAM_H
#define TERN_PARAM_H

/*
 * Parameters: one namespace, Open MPI's names where the meaning is the same. A value comes from, in
 * this order: environment OMPI_MCA_NAME (mpirun's --mca sets it), the files
 * $OMPI_MCA_mca_param_files or
 * ~/.openmpi/mca-params.conf and PREFIX/etc/openmpi-mca-params.conf (lines `name = value`, #
 * comments), what `mpi_info --measure` has measured (lib/util/measured.h), the default. Before all
 * of them comes what a tool has written (tern_param_write).
 */

#include "lib/util/param_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first spelling of choice `index`, cut to `room` bytes with the closing zero. False: there are
 * not that many. */
bool tern_param_choice_name(const struct tern_param *param, int index, char *name, size_t room);

/* Value of `name`, which must stand in a table (else abort: a programming error). Sizes accept k,
 * m, g (powers of 1024). A value that cannot be read is said once on standard error, and the
 * default is taken. Not for hot paths. */
int64_t tern_param_int(const char *name);
bool tern_param_bool(const char *name);
/* NULL when unset and without default. Lives as long as the process. */
const char *tern_param_string(const char *name);

/* The value of a parameter with choices: its index, or -1 when it is none of them. */
int tern_param_choice(const char *name);
/* The index that `text` would have; -1: none, or no such parameter. */
int tern_param_find_choice(const char *name, const char *text);

/* Gives a parameter a value that comes before all others. 0; TERN_ERR_ARG: the text cannot be read
 * as one of its type, or is none of its choices; TERN_ERR_NO_MEM. Any thread may call it; others
 * see the old value or the new one. */
int tern_param_write(const char *name, const char *text);
/* Grows with every tern_param_write. */
unsigned tern_param_changes(void);

/* For who needs a value often: looks it up once, and again after each tern_param_write. Returns the
 * value, or the index of a parameter with choices. `kept` is static and used for one name. Several
 * threads may ask at the same time. */
struct tern_param_kept {
    unsigned asked; /* 1 + tern_param_changes() when it was looked up; 0: never */
    int64_t value;
};
int64_t tern_param_keep(struct tern_param_kept *kept, const char *name);

/* Where the value of `name` comes from: "tool", "default", "environment", the file's name, or of a
 * figure that mpirun has read "mpirun". */
const char *tern_param_source(const char *name);

#endif
