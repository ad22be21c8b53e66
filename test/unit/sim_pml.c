/* SPDX-License-Identifier: BSD-3-Clause */
#include "sim_pml.h"

#include "lib/pml/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

/* What a context's `comm` points to: whose it is and which process a rank is. */
struct sim_context {
    struct sim *sim;
    int process, id;
    int first; /* process of rank 0 over there */
};

struct message { /* a send or a receive that found no partner yet */
    struct tern_request request;
    struct message *next;
    bool send;
    int process, peer, id, tag;
    char *buf;
    int64_t count;
    const struct tern_type *type;
};

static struct sim *current;
static struct message **waiting; /* per receiving process, in order */
static int (*polled)(struct tern_lane *lane);
static uint64_t events; /* messages posted, calls finished */

static void release_message(struct tern_request *request)
{
    free(request);
}

static const struct tern_request_kind message_kind = {.name = "sim", .release = release_message};

static void fault(const char *what)
{
    if (!current->fault)
        current->fault = what;
}

static void deliver(struct message *send, struct message *recv)
{
    if (send->count * send->type->size != recv->count * recv->type->size)
        fault("a message has another length than its receiver expects");
    if (send->count && recv->count)
        tern_type_copy(recv->buf, recv->count, recv->type, send->buf, send->count, send->type);
    events++;
    send->request.complete = true;
    recv->request.status._ucount = (size_t)(send->count * send->type->size);
    recv->request.complete = true;
}

static int post(struct tern_context *context, bool send, const void *buf, int64_t count,
                const struct tern_type *type, int peer, int tag, struct tern_request **ret_request)
{
    const struct sim_context *sim_context = context->comm;
    struct message *message = calloc(1, sizeof *message);
    events++;
    message->request.kind = &message_kind;
    message->send = send;
    message->process = sim_context->process;
    message->peer = sim_context->first + peer;
    message->id = sim_context->id;
    message->tag = tag;
    message->buf = (char *)buf;
    message->count = count;
    message->type = type;
    if (peer < 0 || peer >= context->size)
        fault("a peer is no rank");
    else {
        struct message **at = &waiting[send ? message->peer : message->process];
        for (; *at; at = &(*at)->next) {
            struct message *other = *at;
            if (other->send != send && other->process == message->peer &&
                other->peer == message->process && other->id == message->id && other->tag == tag) {
                *at = other->next;
                deliver(send ? message : other, send ? other : message);
                *ret_request = &message->request;
                return 0;
            }
        }
        *at = message;
    }
    *ret_request = &message->request;
    return 0;
}

static int sim_isend(struct tern_context *context, const void *buf, int64_t count,
                     const struct tern_type *type, int dest, int tag,
                     struct tern_request **ret_request)
{
    return post(context, true, buf, count, type, dest, tag, ret_request);
}

static int sim_irecv(struct tern_context *context, void *buf, int64_t count,
                     const struct tern_type *type, int source, int tag,
                     struct tern_request **ret_request)
{
    return post(context, false, buf, count, type, source, tag, ret_request);
}

/* --- blocking: a stack per process --- */

enum { STACK_BYTES = 64 << 10 };

static struct {
    ucontext_t scheduler, *contexts;
    char *stacks;
    bool *done;
    int running;
    struct tern_call *calls;
} fibers;

static void sim_wait(struct tern_request *request, void *run)
{
    (void)run;
    while (!request->complete)
        swapcontext(&fibers.contexts[fibers.running], &fibers.scheduler);
}

static int sim_recv(struct tern_context *context, void *buf, int64_t count,
                    const struct tern_type *type, int source, int tag, void *run, int64_t *ret_bytes)
{
    struct tern_request *request;
    sim_irecv(context, buf, count, type, source, tag, &request);
    sim_wait(request, run);
    *ret_bytes = (int64_t)request->status._ucount;
    release_message(request);
    return 0;
}

static int sim_watch(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    (void)lane;
    polled = poll;
    return 0;
}

static void sim_unwatch(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    (void)lane;
    (void)poll;
    polled = NULL;
}

/* --- the board: what each process has posted, of one group: ranks are processes --- */

enum { POST_BYTES = 64 << 10, TURNS_AHEAD = TERN_BOARD_LONG_SHEETS };

static struct post {
    char *bytes; /* of TURNS_AHEAD turns */
    tern_turn turns[TURNS_AHEAD];
    int64_t lengths[TURNS_AHEAD];
    uint32_t done;
    bool early[TURNS_AHEAD]; /* turns after `done` that are done */
} *board;

static void open_board(int processes)
{
    board = calloc((size_t)processes, sizeof *board);
    for (int p = 0; p < processes; p++)
        board[p].bytes = malloc((size_t)TURNS_AHEAD * POST_BYTES);
}

static void close_board(int processes)
{
    for (int p = 0; p < processes; p++)
        free(board[p].bytes);
    free(board);
}

static void *sim_board_room(struct tern_board *view, uint32_t turn, int64_t bytes)
{
    if (bytes > POST_BYTES)
        fault("a post is too long");
    for (int p = 0; p < current->processes; p++)
        if (board[p].done + TURNS_AHEAD < turn)
            return NULL;
    return board[view->rank].bytes + turn % TURNS_AHEAD * POST_BYTES;
}

static void sim_board_post(struct tern_board *view, tern_turn turn, int64_t bytes)
{
    tern_turn *mine = &board[view->rank].turns[turn % TURNS_AHEAD];
    board[view->rank].lengths[turn % TURNS_AHEAD] = bytes;
    if (*mine == turn)
        fault("a process posts twice");
    *mine = turn;
    events++;
}

static const void *sim_board_look(const struct tern_board *view, tern_turn turn, int peer,
                                  int64_t *ret_bytes)
{
    (void)view;
    *ret_bytes = board[peer].lengths[turn % TURNS_AHEAD];
    return board[peer].turns[turn % TURNS_AHEAD] == turn
               ? board[peer].bytes + turn % TURNS_AHEAD * POST_BYTES
               : NULL;
}

static void sim_board_done(struct tern_board *view, uint32_t turn)
{
    struct post *mine = &board[view->rank];
    mine->early[turn % TURNS_AHEAD] = true;
    for (; mine->early[(mine->done + 1) % TURNS_AHEAD]; mine->done++)
        mine->early[(mine->done + 1) % TURNS_AHEAD] = false;
    events++;
}

static void sim_board_wait(struct tern_coll *coll, tern_turn turn, int peer, int64_t bytes, void *run)
{
    int64_t posted;
    (void)run;
    while (peer < 0 ? !sim_board_room(&coll->board, (uint32_t)turn, bytes)
                    : !sim_board_look(&coll->board, turn, peer, &posted))
        swapcontext(&fibers.contexts[fibers.running], &fibers.scheduler);
}

/* All simulated ranks call the same collective; only a wait that never ends would ask, and the
 * simulation ends it by itself. */
static bool sim_find_other(struct tern_coll *coll, int tag, int local_tag,
                           const struct tern_board *board, tern_turn turn, bool without_turns,
                           struct tern_other *ret_other)
{
    (void)coll, (void)tag, (void)local_tag, (void)board, (void)turn, (void)without_turns, (void)ret_other;
    return false;
}

static const struct tern_coll_transport sim_transport = {
    .board_room = sim_board_room,
    .board_post = sim_board_post,
    .board_look = sim_board_look,
    .board_done = sim_board_done,
    .board_wait = sim_board_wait,
    .find_other = sim_find_other,
    .isend = sim_isend,
    .irecv = sim_irecv,
    .recv = sim_recv,
    .wait = sim_wait,
    .watch = sim_watch,
    .unwatch = sim_unwatch,
};

static void fiber(void)
{
    int process = fibers.running;
    if (tern_call_run(&fibers.calls[process]))
        fault("a call failed");
    fibers.done[process] = true;
    events++;
}

static void make_fiber(int p)
{
    ucontext_t *context = &fibers.contexts[p];
    getcontext(context);
    context->uc_stack.ss_sp = fibers.stacks + (size_t)p * STACK_BYTES;
    context->uc_stack.ss_size = STACK_BYTES;
    context->uc_link = &fibers.scheduler;
    makecontext(context, fiber, 0);
}

static void run_blocking(struct sim *sim, struct tern_call *calls)
{
    int n = sim->processes;
    fibers.calls = calls;
    fibers.contexts = calloc((size_t)n, sizeof *fibers.contexts);
    fibers.stacks = malloc((size_t)n * STACK_BYTES);
    fibers.done = calloc((size_t)n, sizeof *fibers.done);
    for (int p = 0; p < n; p++)
        make_fiber(p);
    for (bool all = false; !all && !sim->fault;) {
        uint64_t before = events;
        all = true;
        for (int p = 0; p < n; p++) {
            if (fibers.done[p])
                continue;
            fibers.running = p;
            swapcontext(&fibers.scheduler, &fibers.contexts[p]);
            all &= fibers.done[p];
        }
        if (!all && events == before)
            fault("deadlock");
    }
    free(fibers.contexts);
    free(fibers.stacks);
    free(fibers.done);
}

/* --- polled --- */

static void poll_until_quiet(void)
{
    while (polled && polled(tern_lanes))
        ;
}

static void run_polled(struct sim *sim, struct tern_call *calls, int late)
{
    int n = sim->processes;
    struct tern_request **requests = calloc((size_t)n, sizeof *requests);
    for (int p = 0; p < n; p++)
        if (p != late && tern_call_start(&calls[p], &requests[p]))
            fault("a call failed");
    poll_until_quiet();
    if (late >= 0) {
        for (int p = 0; p < n; p++)
            if (p != late && requests[p]->complete)
                fault("a process finished before the last one had come");
        if (tern_call_start(&calls[late], &requests[late]))
            fault("a call failed");
        poll_until_quiet();
    }
    for (int p = 0; p < n; p++) {
        if (!requests[p]->complete)
            fault("deadlock");
        else if (requests[p]->error)
            fault("a call failed");
        else
            requests[p]->kind->release(requests[p]);
    }
    free(requests);
}

const char *sim_run(struct sim *sim, struct tern_call *calls, enum sim_way way, int late)
{
    current = sim;
    sim->fault = NULL;
    tern_coll_transport = &sim_transport;
    waiting = calloc((size_t)sim->processes, sizeof *waiting);
    open_board(sim->processes);
    if (way == SIM_BLOCKING)
        run_blocking(sim, calls);
    else
        run_polled(sim, calls, late);
    for (int p = 0; p < sim->processes; p++)
        if (waiting[p])
            fault("messages are left over");
    free(waiting);
    close_board(sim->processes);
    return sim->fault;
}

/* --- contexts --- */

static void open_coll(struct sim *sim, struct tern_coll *coll, int process, int first_here,
                      int size, int first_there, int remote_size, int id)
{
    struct sim_context *sim_context = malloc(sizeof *sim_context);
    *sim_context = (struct sim_context){sim, process, id, first_there};
    *coll = (struct tern_coll){
        .context = {.lane = tern_lanes,
                    .rank = process - first_here,
                    .size = remote_size ? remote_size : size,
                    .comm = sim_context},
        .rank = process - first_here,
        .size = size,
        .remote_size = remote_size,
        .calls = TERN_BOARD_CALLS, /* it has a board or not, as the test says */
    };
}

struct sim *sim_new(int size, int remote_size)
{
    struct sim *sim = calloc(1, sizeof *sim);
    tern_lanes_init();
    sim->size = size;
    sim->remote_size = remote_size;
    sim->processes = size + remote_size;
    sim->colls = calloc((size_t)sim->processes, sizeof *sim->colls);
    sim->locals = calloc((size_t)sim->processes, sizeof *sim->locals);
    for (int p = 0; p < sim->processes; p++) {
        bool second = p >= size;
        int first_here = second ? size : 0, here = second ? remote_size : size;
        int first_there = remote_size && !second ? size : 0, there = second ? size : remote_size;
        open_coll(sim, &sim->colls[p], p, first_here, here, first_there, there, 1);
        open_coll(sim, &sim->locals[p], p, first_here, here, first_here, 0, 2);
        if (remote_size)
            sim->colls[p].local = &sim->locals[p];
    }
    return sim;
}

void sim_free(struct sim *sim)
{
    for (int p = 0; p < sim->processes; p++) {
        tern_plan_cache_free(sim->colls[p].plans);
        free(sim->colls[p].context.comm);
        free(sim->locals[p].context.comm);
    }
    free(sim->colls);
    free(sim->locals);
    free(sim);
}
