/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/life/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/btl/path.h"
#include "lib/btl/peer.h"
#include "lib/rte/rte.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

enum { LINES_MOST = 64, LIST_MOST = 200 };

/* Writes the ranks from `first` on that have the path of `first`, as "1-3,7", and marks them as
 * done (NULL). A long list is cut. Returns their number. */
static int take_ranks(const char **paths, uint32_t size, uint32_t first, char list[LIST_MOST])
{
    const char *path = paths[first];
    size_t used = 0;
    int count = 0;
    list[0] = 0;
    for (uint32_t rank = first; rank < size; rank++) {
        uint32_t last = rank;
        if (!paths[rank] || strcmp(paths[rank], path))
            continue;
        while (last + 1 < size && paths[last + 1] && strcmp(paths[last + 1], path) == 0)
            last++;
        count += (int)(last - rank + 1);
        if (used + 32 < LIST_MOST)
            used += (size_t)snprintf(list + used, LIST_MOST - used,
                                     last > rank ? "%s%u-%u" : "%s%u", used ? "," : "", rank, last);
        else if (list[used - 1] != '.')
            used += (size_t)snprintf(list + used, LIST_MOST - used, ",...");
        for (uint32_t i = rank; i <= last; i++)
            if (i != first)
                paths[i] = NULL;
        rank = last;
    }
    paths[first] = NULL;
    return count;
}

static const char **gather_paths(void)
{
    const char **paths = calloc(tern_rte.size, sizeof *paths);
    for (const struct tern_peer *peer = tern_peer_newest(); paths && peer; peer = peer->all_next)
        if (peer->job == 0 && peer->rank < tern_rte.size && !paths[peer->rank])
            paths[peer->rank] = tern_path_text(&peer->path);
    return paths;
}

void tern_paths_show(void)
{
    if (!tern_param_bool("btl_show_paths"))
        return;
    const char **paths = gather_paths();
    int lines = 0;
    for (uint32_t rank = 0; paths && rank < tern_rte.size; rank++) {
        char list[LIST_MOST];
        const char *path = paths[rank];
        if (!path || rank == tern_rte.rank)
            continue;
        if (++lines > LINES_MOST) {
            tern_log("path to others: more than %d different ones; MPI_T's pml_peer_path has all",
                     LINES_MOST);
            break;
        }
        int count = take_ranks(paths, tern_rte.size, rank, list);
        tern_log("path to rank%s %s: %s", count > 1 ? "s" : "", list, path);
    }
    if (paths && lines == 0)
        tern_log("path to others: no messages were exchanged");
    free(paths);
}
