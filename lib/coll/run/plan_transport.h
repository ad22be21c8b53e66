/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PLAN_TRANSPORT_H
#define TERN_PLAN_TRANSPORT_H

/*
 * What carries the messages and posts of running plans. Tests use another transport, and run all
 * ranks in one process.
 */

#include "lib/coll/run/coll.h"
#include "lib/pml/request.h"

struct tern_other;

/* The calls of lib/pml/pml.h that the executor needs. */
struct tern_coll_transport {
    int (*isend)(struct tern_context *context, const void *buf, int64_t count,
                 const struct tern_type *type, int dest, int tag,
                 struct tern_request **ret_request);
    void (*send_failure)(struct tern_context *context, int dest, int tag);
    int (*irecv)(struct tern_context *context, void *buf, int64_t count,
                 const struct tern_type *type, int source, int tag,
                 struct tern_request **ret_request);
    /* `run` is passed to tern_doubt if the wait takes long. */
    int (*recv)(struct tern_context *context, void *buf, int64_t count,
                const struct tern_type *type, int source, int tag, void *run,
                int64_t *ret_bytes);
    void (*wait)(struct tern_request *request, void *run);
    /* Calls of lib/node/board.h. board_wait waits for what board_look looks for, a post, or with
     * peer -1 for what board_room looks for, room for a post of `bytes`. It may return without that
     * after tern_doubt has ended the run. */
    void *(*board_room)(struct tern_board *board, uint32_t turn, int64_t bytes);
    const void *(*board_look)(const struct tern_board *board, tern_turn turn, int peer,
                              int64_t *ret_bytes);
    void (*board_post)(struct tern_board *board, tern_turn turn, int64_t bytes);
    void (*board_post_failure)(struct tern_board *board, tern_turn turn);
    void (*board_done)(struct tern_board *board, uint32_t turn);
    void (*board_skip)(struct tern_board *board, struct tern_board_skip *skip);
    void (*board_wait)(struct tern_coll *coll, tern_turn turn, int peer, int64_t bytes, void *run);
    /* Looks for a rank that has called another collective: tern_coll_find_other. */
    bool (*find_other)(struct tern_coll *coll, int tag, int local_tag,
                       const struct tern_board *board, tern_turn turn, bool without_turns,
                       struct tern_other *ret_other);
    /* Add `poll` to every round of the lane's progress, and remove it. */
    int (*watch)(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));
    void (*unwatch)(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));
};

/* The transport in use: lib/pml, unless a test has set another. */
extern const struct tern_coll_transport *tern_coll_transport;

/* The function behind tern_doubt (lib/pml/pml.h). */
bool tern_coll_doubt(void *run, struct tern_request *awaited);
/* Returns true if tern_coll_doubt has ended the run. */
bool tern_coll_given_up(const void *run);

/* For tests: the algorithm that the executor always runs; NULL: choose as usual. */
extern const struct tern_algorithm *tern_coll_forced;

#endif
