/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/run/device_places.h"

#include "lib/accel/device_range.h"
#include "lib/btl/peer.h"
#include "lib/coll/price/topology.h"
#include "lib/node/segment.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* With fewer ranks every ring has the same neighbours; with more, the numbers of all pairs are too
 * many for what they gain. */
enum { RANKS_LEAST = 4, RANKS_MOST = 256 };

bool tern_coll_tell_gpu(const struct tern_coll *coll, int device)
{
    static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
    char address[TERN_ACCEL_BUS_ADDRESS];
    if (coll->ranks_per_node < RANKS_LEAST || !tern_segment.base)
        return false;
    struct tern_segment_rank *block = tern_segment_rank(tern_segment.local_rank);
    pthread_mutex_lock(&gate);
    if (!block->gpu_told) {
        memset(&block->gpu, 0, sizeof block->gpu);
        if (tern_accel_bus_address(device, address))
            tern_gpu_find("", address, &block->gpu);
        tern_store_release(&block->gpu_told, 1);
    }
    pthread_mutex_unlock(&gate);
    return true;
}

/* Sets how each two GPUs reach each other, the same from both sides. */
static void compare(int32_t count, const struct tern_gpu_way *const *gpus, uint8_t *reach)
{
    for (int32_t a = 0; a < count; a++)
        for (int32_t b = 0; b <= a; b++)
            reach[count * a + b] = reach[count * b + a] = (uint8_t)tern_gpu_reach(gpus[a], gpus[b]);
}

/* Returns what a rank has told. NULL: nothing, or it does not know. */
static const struct tern_gpu_way *find_gpu(const struct tern_coll *coll, int rank)
{
    struct tern_process process = tern_peers_process(coll->context.peers, rank);
    int64_t local = process.job ? -1 : tern_rte_local_rank(process.rank);
    if (local < 0 || !tern_segment.base || local >= tern_segment.local_size)
        return NULL;
    const struct tern_segment_rank *block = tern_segment_rank((uint32_t)local);
    /* acquire: pairs with the release above */
    return tern_load_acquire(&block->gpu_told) && block->gpu.way[0] ? &block->gpu : NULL;
}

int tern_coll_order_gpus(struct tern_coll *coll)
{
    const struct tern_topology *topology = coll->topology;
    int32_t node = topology ? tern_topology_node(topology, coll->rank) : 0,
            count = topology ? topology->node[node].size : coll->size;
    if (coll->ordered || count < RANKS_LEAST || count > RANKS_MOST)
        return 0;
    const struct tern_gpu_way **gpus = malloc((size_t)count * sizeof(struct tern_gpu_way *));
    uint8_t *reach = malloc((size_t)count * (size_t)count);
    bool known = gpus && reach;
    int rc = known ? 0 : TERN_ERR_NO_MEM;
    for (int32_t i = 0; known && i < count; i++) {
        gpus[i] = find_gpu(coll, tern_coll_rank_of_mate(coll, i));
        known = gpus[i] != NULL;
    }
    if (known) {
        compare(count, gpus, reach);
        rc = tern_device_order_make(count, reach, &coll->order);
    }
    coll->ordered = rc == 0;
    free(gpus);
    free(reach);
    return rc ? tern_error(rc, "no memory for the order of %d ranks", count) : 0;
}
