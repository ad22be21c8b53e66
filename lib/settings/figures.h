/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FIGURES_H
#define TERN_FIGURES_H

/*
 * The figures in force (lib/settings/figure_table.h). They come from the file that the parameter
 * coll_model_file names; else from this user's file for this kind of host
 * (lib/settings/figure_file.h); else they are built in.
 *
 * All ranks of a job must compute equal prices. So mpirun reads the file, and its ranks get the
 * figures from their environment (TERN_FIGURES). Under another launcher each rank reads the file
 * that coll_model_file names, and no other. A program started by itself reads like mpirun.
 */

#include <stdbool.h>
#include <stdint.h>

/* Reads the figures, if they were not read before; call it before other threads start. Returns 0,
 * or TERN_ERR_ARG for a fault in the file of coll_model_file: the text names file and line. A
 * fault in the user's file for this kind of host is printed, and the built-in figures are taken. */
int tern_figures_read(void);

/* Returns the value of the figure `name`, which must be in the table (else aborts: a programming
 * error). Slow. */
int64_t tern_figure(const char *name);

/* Returns true if the figure `name` comes from a file or from mpirun, false if it is built in. */
bool tern_figure_given(const char *name);

/* Returns the source of the figure `name`: a file's name, "mpirun" or "default". */
const char *tern_figure_source(const char *name);

/* Returns the value of TERN_FIGURES for the ranks of a job: `name=value` separated by blanks, and
 * the number of this host's cores. The caller frees it. NULL if there is no memory. */
char *tern_figures_of_job(void);

#endif
