/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FIGURE_TABLE_H
#define TERN_FIGURE_TABLE_H

/*
 * The figures of the model by which collectives choose their algorithms, and messages within a node
 * their way: what messages, copies, lines and turns cost on this kind of host, and its caches and
 * cores. The table contains data only, and
 * mpi_info and mpirun know it. Values: lib/settings/figures.h.
 */

#include <stdbool.h>
#include <stdint.h>

enum { TERN_FIGURES_MAX = 48 };

/* A figure. */
struct tern_figure_row {
    const char *name;
    int64_t preset;      /* built in */
    const char *unit;    /* "ns", "ps/byte", "bytes" or "" */
    int64_t least, most; /* the range of values */
    bool measured;       /* `mpi_info --measure` measures it */
    const char *help;    /* one sentence */
};

/* All figures, at most TERN_FIGURES_MAX. A row whose name is NULL ends the table. */
extern const struct tern_figure_row tern_figure_rows[];

/* Returns the number of the figure `name` in the table, or -1 if there is none. */
int tern_figure_index(const char *name);

#endif
