/* SPDX-License-Identifier: BSD-3-Clause */

/* When a communicator, or a persistent collective, gets a board (lib/node/board.h), and which ranks
 * share the board. */
#include "lib/coll/run/coll.h"

#include "lib/btl/peer.h"
#include "lib/coll/price/topology.h"
#include "lib/rte/rte.h"
#include "lib/settings/param.h"

enum {
    BOARD_RANKS = 256,
    LONGEST_SHEET = 64 << 10,
    LONGEST_OWN_SHEET = 16 << 10,
    SHORTEST_SHEET = 4 << 10
};
/* Number in a board's name: COMMON_BOARD is the communicator's; those of persistent collectives
 * follow. */
enum { COMMON_BOARD };

/* The ranks of this node, which share a board. */
struct mates {
    int rank, size; /* this rank's number among them; size 1: no board */
    uint32_t leader; /* local rank of the first of them on the node */
};

static int mate(const struct tern_coll *coll, int node, int i)
{
    return coll->topology ? tern_topology_rank(coll->topology, node, i) : i;
}

int tern_coll_rank_of_mate(const struct tern_coll *coll, int i)
{
    return mate(coll, coll->topology ? tern_topology_node(coll->topology, coll->rank) : 0, i);
}

/* Finds the ranks with which this rank shares a board. What the parameters declare a node may
 * really be on several nodes: then there is no board. */
static struct mates find_mates(const struct tern_coll *coll)
{
    const struct tern_topology *topology = coll->topology;
    struct mates nobody = {0, 1, 0};
    if (coll->remote_size)
        return nobody;
    int node = topology ? tern_topology_node(topology, coll->rank) : 0;
    struct mates mates = {
        .rank = topology ? tern_topology_local_rank(topology, coll->rank) : coll->rank,
        .size = topology ? topology->node[node].size : coll->size,
    };
    for (int i = 0; i < mates.size; i++) {
        struct tern_process process = tern_peers_process(coll->context.peers, mate(coll, node, i));
        int64_t local = process.job ? -1 : tern_rte_local_rank(process.rank);
        if (local < 0)
            return nobody;
        if (!i)
            mates.leader = (uint32_t)local;
    }
    return mates;
}

/* Returns true if boards are allowed. Not at check_level full, which finds calls that do not match
 * and lets the program go on: messages name their call, but on a board all later calls would take
 * each other's posts. */
static bool is_allowed(void)
{
    enum { FULL = 2 }; /* index among the parameter's choices */
    static struct tern_param_kept board, level;
    return tern_param_keep(&board, "coll_board") && tern_param_keep(&level, "check_level") != FULL;
}

int32_t tern_coll_sheet_for(int64_t ranks)
{
    if (ranks < 2 || ranks > BOARD_RANKS || !is_allowed())
        return 0;
    static struct tern_param_kept room;
    int64_t bytes = tern_param_keep(&room, "coll_board_bytes") / ranks / TERN_BOARD_LONG_SHEETS;
    if (bytes < SHORTEST_SHEET)
        return TERN_BOARD_SHEET_BYTES;
    return bytes < LONGEST_SHEET ? (int32_t)(bytes / SHORTEST_SHEET * SHORTEST_SHEET)
                                 : LONGEST_SHEET;
}

void tern_coll_count_call(struct tern_coll *coll)
{
    if (++coll->calls < TERN_BOARD_CALLS)
        return;
    struct mates mates = find_mates(coll);
    struct tern_segment_name name = {coll->context.id, mates.leader, COMMON_BOARD};
    int32_t sheet = tern_coll_sheet_for(mates.size);
    if (!sheet || tern_board_open(&coll->board, &name, mates.rank, mates.size, &tern_board_common))
        return;
    coll->sheet = sheet;
    coll->long_calls = sheet > TERN_BOARD_SHEET_BYTES ? 0 : TERN_BOARD_CALLS;
}

bool tern_coll_want_long_sheets(struct tern_coll *coll)
{
    if (coll->long_calls == TERN_BOARD_CALLS)
        return coll->board.long_sheets;
    if (++coll->long_calls < TERN_BOARD_CALLS)
        return false;
    if (tern_board_lengthen(&coll->board, coll->sheet))
        coll->sheet = TERN_BOARD_SHEET_BYTES;
    return coll->board.long_sheets;
}

int32_t tern_coll_own_sheet(const struct tern_coll *coll)
{
    struct mates mates = find_mates(coll);
    int32_t sheet = tern_coll_sheet_for(mates.size);
    return sheet < LONGEST_OWN_SHEET ? sheet : LONGEST_OWN_SHEET;
}

int tern_coll_open_own_board(const struct tern_coll *coll, uint32_t serial, int32_t post_bytes,
                             struct tern_board *ret_board)
{
    /* posts that may be ahead; plans are proven for this number */
    enum { AHEAD = TERN_BOARD_LONG_SHEETS };
    struct mates mates = find_mates(coll);
    struct tern_segment_name name = {coll->context.id, mates.leader, COMMON_BOARD + 1 + serial};
    struct tern_board_shape shape = {.slots = AHEAD,
                                     .sheets = post_bytes > TERN_BOARD_SLOT_BYTES ? AHEAD : 0};
    shape.sheet_bytes = (post_bytes + TERN_CACHE_LINE - 1) / TERN_CACHE_LINE * TERN_CACHE_LINE;
    return tern_board_open(ret_board, &name, mates.rank, mates.size, &shape);
}
