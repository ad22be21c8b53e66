/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HINTS_H
#define TERN_HINTS_H

/* Hints of a file (MPI-4.1 section 14.2.8), under the names that Open MPI and ROMIO use. What is in
 * use is kept as numbers for the code, and as an info object for MPI_File_get_info. */

#include "lib/io/access/system.h"

#include <stdint.h>

struct tern_info;

/* When to do something: if it seems worth it, always, or never. */
enum tern_hint_choice { TERN_HINT_AUTOMATIC, TERN_HINT_ENABLE, TERN_HINT_DISABLE };

/* The hints in use. */
struct tern_hints {
    int64_t cb_nodes;       /* number of aggregators */
    int64_t cb_per_node;    /* the most of them on one node; 0: no limit was set */
    int64_t cb_buffer_size; /* bytes that an aggregator reads or writes at a time */
    enum tern_hint_choice cb_read, cb_write; /* collective buffering */
    enum tern_hint_choice ds_read;           /* data sieving of reads */
    int64_t ind_rd_buffer_size; /* bytes that a read with data sieving takes at a time */
    int64_t ind_wr_buffer_size; /* bytes that a write packs at a time */
    int64_t striping_unit;      /* bytes in which aggregators divide the file */
    int64_t striping_factor;    /* servers or disks that a new file shall lie on; 0: not said */
};

/* Sets the hints to what the parameters and the file system say, for a file of `ranks` ranks on
 * `nodes` nodes. */
void tern_hints_start(struct tern_hints *hints, const struct tern_system *system, int ranks,
                      int nodes);
/* Takes over the hints of `info`, which may be NULL, for a file of `ranks` ranks on `nodes` nodes.
 * `system` is that of an open file, or NULL before. Ignores unknown keys and values that make no
 * sense, as MPI wants, and a striping_unit for a file that has a layout. */
void tern_hints_take(struct tern_hints *hints, const struct tern_system *system,
                     const struct tern_info *info, int ranks, int nodes);
/* Makes an info object with the hints in use, for MPI_File_get_info, of a file on `nodes` nodes.
 * Returns 0 or TERN_ERR_NO_MEM. */
int tern_hints_tell(const struct tern_hints *hints, const struct tern_system *system, int nodes,
                    struct tern_info **ret_info);

#endif
