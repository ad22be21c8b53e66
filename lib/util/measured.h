/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FIGURES_H
#define TERN_FIGURES_H

/*
 * Figures: values of parameters that `mpi_info --measure` has measured, kept for each user and kind
 * of host, so that a home directory may be shared by hosts that differ:
 * $XDG_CONFIG_HOME/tern/figures-KIND.conf or ~/.tern/figures-KIND.conf. Lines `name = value`, #
 * comments, the last line `end = COUNT`. A file that has a fault does not count at all, for figures
 * belong together; the fault is said with file and line.
 *
 * All ranks of a job must compute the same prices. So it is mpirun that reads the file, and its
 * ranks get the figures from their environment (TERN_FIGURES); under another launcher there are
 * none. A program started by itself reads its own.
 */

#include <stddef.h>
#include <stdint.h>

/* Value of a measured parameter as text, or NULL: none. *ret_source: the file's name or "mpirun".
 * Not for hot paths; the first call reads the file, and belongs before there are threads. */
const char *tern_figures_find(const char *name, const char **ret_source);

/* What the ranks of a job get as TERN_FIGURES: `name=value` with blanks between, and the number of
 * this host's cores. malloc'ed; NULL: no memory. */
char *tern_figures_of_job(void);

/* "amd-epyc-00b00f21-2-cores": processor model and number of cores online. */
void tern_figures_host_kind(char *kind, size_t room);

/* This user's file for this kind of host. 0; TERN_ERR_ARG: neither XDG_CONFIG_HOME nor HOME is set,
 * or it is too long. Says nothing. */
int tern_figures_path(char *path, size_t room);

struct tern_figure {
    const char *name; /* of a row in tern_param_measured */
    int64_t value;
};

/* Writes the file in the place of an older one, and the directories that lead there. `figures` are
 * all of tern_param_measured, in any order. 0 or TERN_ERR_OTHER, said. */
int tern_figures_store(const char *path, const struct tern_figure *figures, int count);

#endif
