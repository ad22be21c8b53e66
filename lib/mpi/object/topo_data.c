/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/object/topo_data.h"

#include <stdlib.h>

void tern_topo_retain(struct tern_topo *topo)
{
    topo->refs++;
}

void tern_topo_release(struct tern_topo *topo)
{
    if (--topo->refs == 0)
        free(topo);
}

struct tern_topo *tern_topo_new(enum tern_topo_kind kind, size_t ints, int **ret_ints)
{
    struct tern_topo *topo = calloc(1, sizeof *topo + ints * sizeof(int));
    if (!topo)
        return NULL;
    topo->kind = kind;
    topo->refs = 1;
    *ret_ints = (int *)(topo + 1);
    return topo;
}
