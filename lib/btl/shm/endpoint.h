/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_ENDPOINT_H
#define TERN_SHM_ENDPOINT_H

/* How a lane reaches another rank of the node. Private to lib/btl/shm. */

#include "lib/btl/shm/ring.h"
#include "lib/node/segment.h"

enum pull { PULL_UNTRIED, PULL_WORKS, PULL_REFUSED };

struct tern_shm_endpoint {
    struct tern_ring_out out; /* ring == NULL: none yet */
    struct tern_ring *in; /* the ring to me; NULL: none yet */
    struct tern_segment_rank *block;
    uint32_t local_rank;
    uint8_t lane;
    uint8_t level;     /* of the ring, index + 1 into ring_sizes */
    uint8_t level_max; /* growing beyond was refused */
    uint8_t pull;
};

#endif
