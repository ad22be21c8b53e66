/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHM_ENDPOINT_H
#define TERN_SHM_ENDPOINT_H

/* How a lane reaches another rank of the node. Private to lib/btl/shm. */

#include "lib/btl/shm/ring.h"
#include "lib/node/segment.h"

/* What is known about reading the peer's memory (process_vm_readv). */
enum pull { PULL_UNTRIED, PULL_WORKS, PULL_REFUSED };

/* A lane's data about one rank of the node. Locks: the lane's lock. */
struct tern_shm_endpoint {
    struct tern_ring_out out; /* the ring to the peer; out.ring is NULL: none yet */
    struct tern_cells cells; /* for payloads to the peer */
    uint16_t cell_count;     /* cells that this rank has made for the pair */
    uint16_t cells_max;      /* a larger number was refused */
    struct tern_ring *in; /* the ring from the peer; NULL: none yet */
    struct tern_segment_rank *block; /* of the peer, in the node's memory */
    uint32_t local_rank; /* of the peer */
    uint8_t lane; /* of this process */
    uint8_t level;     /* size of the ring to the peer: index + 1 into ring_sizes; 0: no ring yet */
    uint8_t level_max; /* a larger ring was refused */
    uint8_t pull; /* enum pull */
    uint8_t sent_again; /* messages in a row before the last one that lay in the same memory */
    uint64_t sent_end;  /* the end of the last one's memory */
};

#endif
