/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MEASURED_H
#define TERN_MEASURED_H

/*
 * Figures: values of parameters that `mpi_info --measure` has measured. There is a file for each
 * user and each kind of host, because hosts that differ may share a home directory:
 * $XDG_CONFIG_HOME/tern/figures-KIND.conf or ~/.tern/figures-KIND.conf. The file has lines `name =
 * value`, # comments, and the last line `end = COUNT`. A file with a fault is ignored as a whole,
 * because figures belong together; the fault is printed with file and line.
 *
 * All ranks of a job must compute equal prices. So mpirun reads the file, and its ranks get the
 * figures from their environment (TERN_FIGURES). Under another launcher there are no figures. A
 * program started by itself reads its own file.
 */

#include <stddef.h>
#include <stdint.h>

/* Returns the measured value of parameter `name` as text, or NULL if there is none. *ret_source is
 * the file's name or "mpirun". Slow. The first call reads the file; make that call before other
 * threads start. */
const char *tern_figures_find(const char *name, const char **ret_source);

/* Returns the value of TERN_FIGURES for the ranks of a job: `name=value` separated by blanks, and
 * the number of this host's cores. The caller frees it. NULL if there is no memory. */
char *tern_figures_of_job(void);

/* Writes the kind of this host: processor model and number of cores online, such as
 * "amd-epyc-00b00f21-2-cores". */
void tern_figures_host_kind(char *kind, size_t room);

/* Writes the path of this user's file for this kind of host. Returns 0, or TERN_ERR_ARG if neither
 * XDG_CONFIG_HOME nor HOME is set or the path is too long. Prints nothing. */
int tern_figures_path(char *path, size_t room);

/* One measured value. */
struct tern_figure {
    const char *name; /* one of tern_param_measured */
    int64_t value;
};

/* Writes the file, replacing an older one, and makes the directories above it. `figures` contains
 * all of tern_param_measured, in any order. Returns 0, or TERN_ERR_OTHER after printing why. */
int tern_figures_store(const char *path, const struct tern_figure *figures, int count);

#endif
