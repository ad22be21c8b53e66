/* SPDX-License-Identifier: BSD-3-Clause */

/* The usual transport of collectives: lib/pml and the board of the node. */

#include "lib/coll/run/plan_transport.h"

#include "lib/coll/run/mismatch.h"
#include "lib/pml/pml.h"

static int pml_isend(struct tern_context *context, const void *buf, int64_t count,
                     const struct tern_type *type, int dest, int tag,
                     struct tern_request **ret_request)
{
    return tern_pml_isend(context, buf, count, type, dest, tag, TERN_SEND_STANDARD, ret_request);
}

struct awaited {
    struct tern_board *board;
    tern_turn turn;
    int peer; /* rank whose post is awaited; -1: room for this rank's own post */
    int64_t bytes;
};

static bool is_on_board(const void *state)
{
    const struct awaited *what = state;
    int64_t bytes;
    return what->peer < 0 ? tern_board_room(what->board, (uint32_t)what->turn, what->bytes) != NULL
                          : tern_board_look(what->board, what->turn, what->peer, &bytes) != NULL;
}

static void wait_for_board(struct tern_coll *coll, tern_turn turn, int peer, int64_t bytes,
                           void *run)
{
    enum { GLANCES = 40 }; /* looks at the board before anything else is polled */
    struct awaited what = {&coll->board, turn, peer, bytes};
    for (int i = tern_wait_crowded() ? GLANCES : 0; i < GLANCES; i++) {
        tern_cpu_relax();
        if (is_on_board(&what))
            return;
    }
    struct tern_doubter doubter = {.waiter = {.lane = coll->context.lane,
                                              .came = is_on_board,
                                              .what = &what,
                                              .awaited = tern_board_awaited(&coll->board, peer),
                                              .doubts = true},
                                   .run = run};
    while (!is_on_board(&what) && !tern_coll_given_up(run))
        tern_wait(&doubter.waiter);
}

static const struct tern_coll_transport pml_transport = {
    .isend = pml_isend,
    .send_failure = tern_pml_send_failure,
    .irecv = tern_pml_irecv,
    .recv = tern_pml_recv_in_run,
    .wait = tern_request_wait_in_run,
    .board_room = tern_board_room,
    .board_look = tern_board_look,
    .board_post = tern_board_post,
    .board_post_failure = tern_board_post_failure,
    .board_done = tern_board_done,
    .board_skip = tern_board_skip,
    .board_wait = wait_for_board,
    .find_other = tern_coll_find_other,
    .watch = tern_progress_register,
    .unwatch = tern_progress_unregister,
};

const struct tern_coll_transport *tern_coll_transport = &pml_transport;
