/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FIGURE_FILE_H
#define TERN_FIGURE_FILE_H

/*
 * Model files: figures (lib/settings/figure_table.h) in lines `name = value`, with # comments. The
 * last line is `end = COUNT`, with the number of figures, so that a file that was cut off is
 * noticed. A figure that a file does not name keeps its built-in value.
 *
 * `mpi_info --measure` writes one for each user and each kind of host, because hosts that differ
 * may share a home directory: $XDG_CONFIG_HOME/tern/figures-KIND.conf or
 * ~/.tern/figures-KIND.conf. Such a file must have all figures that are measured: a file of another
 * version may lack some.
 */

#include "lib/settings/figure_table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The figures of a file, by their number in the table. */
struct tern_figures {
    bool given[TERN_FIGURES_MAX];
    int64_t values[TERN_FIGURES_MAX];
    int count; /* of those given */
};

/* Reads a model file. `all_measured`: all measured figures must be there. Returns 0, or
 * TERN_ERR_ARG with a text that names the file, the line, and what is wrong. */
int tern_figure_file_read(const char *path, bool all_measured, struct tern_figures *ret_figures);

/* Writes the kind of this host: processor model and number of cores online, such as
 * "amd-epyc-00b00f21-2-cores". */
void tern_figure_file_host_kind(char *kind, size_t room);

/* Writes the path of this user's file for this kind of host. Returns 0, or TERN_ERR_ARG if neither
 * XDG_CONFIG_HOME nor HOME is set or the path is too long. Prints nothing. */
int tern_figure_file_path(char *path, size_t room);

/* One measured value. */
struct tern_figure {
    const char *name;
    int64_t value;
};

/* Writes the file, replacing an older one, and makes the directories above it. Returns 0, or
 * TERN_ERR_OTHER after printing why. */
int tern_figure_file_store(const char *path, const struct tern_figure *figures, int count);

#endif
