/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SPAWN_H
#define TERN_MPIRUN_SPAWN_H

/* Has the guardian start the ranks: writes down everything that a start needs in one memory file
 * that both can see, makes the ranks' standard streams, and asks for one start after the other. */

#include <stdint.h>

#include "mpirun/map.h"
#include "mpirun/options.h"

struct tern_spawn {
    const struct tern_options *options;
    const struct tern_map *map;
    char **paths; /* of each program */
    char **wdirs; /* of each program */
    const char *session_dir;
    const char *node_memory; /* value of TERN_NODE_MEMORY */
    const char *node_memory_path; /* of TERN_NODE_MEMORY_PATH */
    int node_memory_fd;
    int guardian_fd;
};

/* Starts all ranks. They are running, or about to fail, when it returns; the guardian's answers
 * tell. 0 or TERN_ERR_OTHER: some may have been started. */
int tern_spawn_ranks(const struct tern_spawn *spawn);

#endif
