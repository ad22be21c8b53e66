/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The executor: starts a plan's steps in order, each as soon as what it waits for is complete.
 *
 * The whole state of a run is the number of the next step and a word of bits that says which of the
 * 64 steps before it are still in flight; a step's `after` is a word of the same shape, so the
 * question whether it may start is one AND. A blocking call lives on the stack and waits where a
 * nonblocking one returns. The latter goes on in rounds of progress: it polls rather than being
 * called by its requests' completion, for it starts messages, and nobody wants to find those
 * started in the middle of a delivery.
 */
#include "lib/coll/run/execute.h"

#include "lib/coll/run/mismatch.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"
#include "lib/util/event.h"
#include "lib/util/list.h"
#include "lib/util/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int pml_isend(struct tern_context *context, const void *buf, int64_t count,
                     const struct tern_type *type, int dest, int tag,
                     struct tern_request **ret_request)
{
    return tern_pml_isend(context, buf, count, type, dest, tag, TERN_SEND_STANDARD, ret_request);
}

/* --- the board --- */

struct awaited {
    struct tern_board *board;
    tern_turn turn;
    int peer; /* -1: room for the own post */
    int64_t bytes;
};

static bool is_on_board(const void *state)
{
    const struct awaited *what = state;
    return what->peer < 0 ? tern_board_room(what->board, (uint32_t)what->turn, what->bytes) != NULL
                          : tern_board_look(what->board, what->turn, what->peer) != NULL;
}

static bool given_up(const void *run);

static void wait_for_board(struct tern_coll *coll, tern_turn turn, int peer, int64_t bytes, void *run)
{
    enum { GLANCES = 40 }; /* before anything else is looked at */
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
    while (!is_on_board(&what) && !given_up(run))
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
    .board_wait = wait_for_board,
    .watch = tern_progress_register,
    .unwatch = tern_progress_unregister,
};

const struct tern_coll_transport *tern_coll_transport = &pml_transport;
const struct tern_algorithm *tern_coll_forced;

/* Where a buffer of the plan is in this run. */
struct place {
    char *base; /* of unit 0 */
    int64_t extent;
    const struct tern_type *type;
};

struct run {
    struct tern_request request; /* unused in blocking runs */
    struct tern_list_node link;       /* in the lane's runs */
    const struct tern_call *call;
    struct tern_plan *plan;
    struct tern_board *board; /* the communicator's, or a persistent run's own */
    struct place places[TERN_BUFFERS];
    char *memory; /* temporaries, or NULL */
    int tag, local_tag;
    tern_turn turn;     /* of the board, the plan's first */
    int error;          /* the first one */
    bool cut_off;       /* something that this rank has to pass on is missing: from now on it passes on that */
    bool permitted;     /* nothing to wait for before the first step */
    bool given_up;      /* `other` is in another collective: the steps left are not done */
    uint32_t idle;      /* nonblocking: polls that brought nothing */
    struct tern_other other;
    int64_t next;       /* step to be started */
    uint64_t in_flight; /* bit k: step next - 1 - k */
    struct tern_request
        *pending[TERN_PLAN_WINDOW]; /* of step i at i % TERN_PLAN_WINDOW, valid while in flight */
};

/* A nonblocking or persistent run, with its own copy of the call. */
struct lasting_run {
    struct run run;
    struct tern_call call;
    struct tern_board board; /* persistent: its own, or none */
};

/* --- setting up --- */

enum { ALIGNMENT = 64, SMALL_BYTES = 2048 };

/* Bytes that one temporary takes, and where unit 0 lies in it (for types that reach below their
 * address). */
static int64_t temporary_span(const struct tern_plan *plan, const struct tern_type *unit,
                              int64_t *ret_start)
{
    int64_t first = unit->true_lb, last = unit->true_lb + (plan->temp_units - 1) * unit->extent;
    int64_t low = first < last ? first : last,
            high = (first < last ? last : first) + unit->true_extent;
    *ret_start = -low;
    return (high - low + ALIGNMENT - 1) & -ALIGNMENT;
}

static const struct place nowhere = {NULL, 1, &tern_type_bytes};

/* In `small`, if that is not NULL and long enough. */
static __attribute__((noinline)) int place_temporaries(struct run *run, char *small)
{
    const struct tern_call *call = run->call;
    const struct tern_plan *plan = run->plan;
    const struct tern_type *unit = plan->temp_typed ? call->recv_type : &tern_type_bytes;
    int64_t start, span = temporary_span(plan, unit, &start);
    char *base = small;
    if (!small || span * plan->temp_count > SMALL_BYTES) {
        if (posix_memalign((void **)&run->memory, ALIGNMENT, (size_t)(span * plan->temp_count)))
            return tern_error(TERN_ERR_NO_MEM,
                              "no memory for %ld bytes of temporary buffer in a collective",
                              (long)(span * plan->temp_count));
        base = run->memory;
    }
    for (int i = 0; i < plan->temp_count; i++)
        run->places[TERN_TEMPORARY + i] =
            (struct place){base + i * span + start, unit->extent, unit};
    return 0;
}

static int place_buffers(struct run *run, char *small)
{
    const struct tern_call *call = run->call;
    run->places[TERN_SEND_BUFFER] =
        (struct place){(char *)call->send, call->send_type->extent, call->send_type};
    run->places[TERN_RECV_BUFFER] =
        (struct place){call->recv, call->recv_type->extent, call->recv_type};
    run->memory = NULL;
    if (run->plan->temp_units)
        return place_temporaries(run, small);
    /* steps may name temporaries nevertheless, of no length */
#pragma GCC unroll 4
    for (int i = TERN_TEMPORARY; i < TERN_BUFFERS; i++)
        run->places[i] = nowhere;
    return 0;
}

/* The tag of a collective's number (lib/coll/run/mismatch.h). */
static inline int tag_of(uint32_t number, const struct tern_call *call)
{
    return (int)(number << TERN_MARK_BITS & TERN_COLL_NUMBERS) | call->mark;
}

static inline void take_tags(struct run *run)
{
    struct tern_coll *coll = run->call->coll;
    run->tag = tag_of(coll->next_tag++, run->call);
    if (coll->local)
        run->local_tag = tag_of(coll->local->next_tag++, run->call);
}

/* A persistent collective keeps its tags, likewise. A start's messages do not overtake those of the start
 * before. */
static void take_lasting_tags(struct run *run)
{
    struct tern_coll *coll = run->call->coll;
    run->tag = tag_of(coll->next_lasting_tag++, run->call) | TERN_COLL_LASTING;
    if (coll->local)
        run->local_tag = tag_of(coll->local->next_lasting_tag++, run->call) | TERN_COLL_LASTING;
}

static inline void rewind_run(struct run *run)
{
    run->error = run->call->failed;
    run->cut_off = run->error != 0;
    run->permitted = true;
    run->given_up = false;
    run->next = 0;
    run->in_flight = 0;
    run->turn = (tern_turn)(uint32_t)run->tag << 32 | tern_board_enter(run->board, run->plan->turns);
}

_Static_assert((int)TERN_COLLECTIVES <= (int)TERN_COLLECTIVES_MAX, "each has a counter in the lane");

/* Tools number the algorithms of a collective as the choices of its parameter: 0 is none by name. */
static __attribute__((cold, noinline)) void tell_start(const struct run *run)
{
    enum tern_collective collective = run->plan->args.collective;
    bool inter = run->plan->args.remote_size && collective < TERN_NEIGHBOR_ALLGATHER;
    char param[64];
    snprintf(param, sizeof param, "coll_%s_algorithm", tern_plan_collective_name(collective));
    int choice = inter ? 0 : tern_param_find_choice(param, run->plan->algorithm->name);
    tern_event_raise(TERN_EVENT_COLLECTIVE, run->call->coll->context.comm,
                     (int64_t[]){collective, choice < 0 ? 0 : choice});
}

/* A run begins: blocking, nonblocking, or once more a persistent one. */
static inline void begin_run(struct run *run)
{
    rewind_run(run);
    struct tern_lane *lane = run->call->coll->context.lane;
    if (lane) /* there is none in the tests that move messages themselves */
        tern_count(&lane->counters.collectives[run->plan->args.collective], 1);
    if (tern_event_wanted(TERN_EVENT_COLLECTIVE))
        tell_start(run);
}

static int get_plan(const struct tern_call *call, struct tern_plan **ret_plan)
{
    struct tern_plan *plan = __builtin_expect(tern_coll_forced != NULL, 0)
                                 ? tern_plan_build(tern_coll_forced, &call->args)
                                 : tern_plan_get(&call->coll->plans, &call->args);
    if (!plan)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the plan of a collective");
    *ret_plan = plan;
    return 0;
}

/* The same for a call, blocking or not, before which the ranks of a node may get a board, or long sheets for it. */
static int get_call_plan(struct tern_call *call, struct tern_plan **ret_plan)
{
    struct tern_coll *coll = call->coll;
    if (coll->calls < TERN_BOARD_CALLS)
        tern_coll_count_call(coll);
    call->args.sheet = coll->sheet;
    int rc = get_plan(call, ret_plan);
    if (rc || (*ret_plan)->post_bytes <= TERN_BOARD_SHEET_BYTES || coll->board.long_sheets ||
        tern_coll_want_long_sheets(coll))
        return rc;
    tern_plan_release(*ret_plan);
    call->args.sheet = TERN_BOARD_SHEET_BYTES;
    return get_plan(call, ret_plan);
}

/* The same for a persistent one, which has a board of its own, for ranks may start several of them in
 * different orders (MPI-4.1 section 6.13). */
static int get_lasting_plan(struct tern_call *call, uint32_t serial, struct tern_board *board,
                            struct tern_plan **ret_plan)
{
    call->args.sheet = tern_coll_own_sheet(call->coll);
    int rc = get_plan(call, ret_plan);
    if (rc || !(*ret_plan)->turns ||
        !tern_coll_open_own_board(call->coll, serial, (*ret_plan)->post_bytes, board))
        return rc;
    tern_plan_release(*ret_plan);
    call->args.sheet = 0;
    return get_plan(call, ret_plan);
}

/* --- steps --- */

static inline char *address_of(const struct run *run, const struct tern_ref *ref)
{
    const struct place *place = &run->places[ref->buffer];
    return place->base + ref->offset * (ref->block < 0 ? place->extent : 1);
}

static inline const struct tern_type *type_of(const struct run *run, const struct tern_ref *ref)
{
    if (ref->block < 0)
        return run->places[ref->buffer].type;
    const struct tern_plan_blocks *blocks = &run->call->blocks;
    return (ref->buffer == TERN_SEND_BUFFER ? blocks->send_types : blocks->recv_types)[ref->block];
}

static void note_error(struct run *run, int error)
{
    if (error && !run->error)
        run->error = error;
    if (error == TERN_ERR_UNREACHABLE)
        run->cut_off = true;
}

/* --- doubt (lib/coll/run/mismatch.h) --- */

static bool given_up(const void *run)
{
    return ((const struct run *)run)->given_up;
}

static void cancel_in_flight(struct run *run)
{
    for (uint64_t steps = run->in_flight; steps; steps &= steps - 1) {
        struct tern_request *request =
            run->pending[(run->next - 1 - __builtin_ctzll(steps)) % TERN_PLAN_WINDOW];
        if (!request->complete)
            request->kind->cancel(request);
    }
}

/* Ends a run that waits in vain, for a rank is in another collective; skip_rest is to follow. Returns false if
 * there is no such rank. */
static bool give_up(struct run *run, bool blocking)
{
    struct tern_coll *coll = run->call->coll;
    if (!tern_coll_find_other(coll, run->tag, run->local_tag, run->board, run->turn,
                              !run->plan->turns, &run->other))
        return false;
    /* a request's error is said when it is reported (explain) */
    note_error(run, blocking ? tern_coll_say_other(coll, run->tag, true, &run->other) : TERN_ERR_NOT_SAME);
    run->given_up = true;
    cancel_in_flight(run);
    return true;
}

/* Does no step from this one on. What is in flight keeps its place in `pending`. */
static void skip_rest(struct run *run, int64_t from)
{
    const struct tern_plan *plan = run->plan;
    for (int64_t i = from; i < plan->step_count; i++) {
        struct tern_step room;
        const struct tern_step *step = tern_plan_step(plan, i, &room);
        if (step->flags & TERN_STEP_DONE)
            tern_coll_transport->board_done(run->board, (uint32_t)run->turn + step->turn);
    }
    int64_t left = plan->step_count - run->next;
    if (left > 0)
        run->next += (left + TERN_PLAN_WINDOW - 1) / TERN_PLAN_WINDOW * TERN_PLAN_WINDOW;
}

bool tern_coll_doubt(void *state, struct tern_request *awaited)
{
    struct run *run = state;
    if (!run->given_up && !give_up(run, true))
        return false;
    if (awaited && !awaited->complete) {
        awaited->kind->cancel(awaited);
        if (awaited->complete)
            awaited->error = TERN_ERR_NOT_SAME;
    }
    return true;
}

/* The step of an awaited receive ends all the same. */
static __attribute__((cold, noinline)) void fail_recv(struct run *run, int error)
{
    note_error(run, error);
    if (run->given_up)
        skip_rest(run, run->next + 1);
}

/* --- messages, copies, reductions --- */

/* A request that may be complete: true if it stays in flight. */
static bool keep(struct run *run, struct tern_request *request)
{
    if (!request->complete) {
        run->pending[run->next % TERN_PLAN_WINDOW] = request;
        return true;
    }
    note_error(run, request->error);
    request->kind->release(request);
    return false;
}

static void do_reduce(struct run *run, const struct tern_step *step)
{
    const struct tern_reduction *reduction = &run->call->reduction;
    const char *in = address_of(run, &step->from);
    char *inout = address_of(run, &step->to);
    if (reduction->loop) {
        reduction->loop(in, inout, step->to.count);
        return;
    }
    /* the user's function may take long, and call MPI for what needs other locks */
    struct tern_held held = tern_locks_release();
    reduction->apply(reduction, in, inout, step->to.count);
    tern_locks_take_again(held);
}

static void do_copy(struct run *run, const struct tern_step *step)
{
    const char *from = address_of(run, &step->from);
    char *to = address_of(run, &step->to);
    const struct tern_type *from_type = type_of(run, &step->from),
                           *to_type = type_of(run, &step->to);
    if (from_type->contiguous && to_type->contiguous) {
        int64_t length = step->from.count * from_type->size, room = step->to.count * to_type->size;
        memcpy(to + to_type->true_lb, from + from_type->true_lb,
               (size_t)(length < room ? length : room));
    } else {
        tern_type_copy(to, step->to.count, to_type, from, step->from.count, from_type);
    }
}

/* The place of a step on the board: room for a post, or what was posted. NULL: not yet. */
static void *find_on_board(const struct run *run, const struct tern_step *step)
{
    tern_turn turn = run->turn + step->turn;
    char *place = step->kind == TERN_STEP_POST
                      ? tern_coll_transport->board_room(run->board, (uint32_t)turn, step->to.count)
                      : (char *)tern_coll_transport->board_look(run->board, turn, step->peer);
    return place && place != tern_board_failure ? place + step->at : place;
}

static void do_post(struct run *run, const struct tern_step *step, char *room)
{
    const struct tern_type *type = type_of(run, &step->from);
    int64_t bytes = step->from.count * type->size;
    const char *from = address_of(run, &step->from);
    if (bytes && type->contiguous)
        memcpy(room, from + type->true_lb, (size_t)bytes);
    else if (bytes)
        tern_type_copy(room, bytes, &tern_type_bytes, from, step->from.count, type);
    if (step->flags & TERN_STEP_MORE)
        return;
    if (__builtin_expect(run->cut_off, 0))
        tern_coll_transport->board_post_failure(run->board, run->turn + step->turn);
    else
        tern_coll_transport->board_post(run->board, run->turn + step->turn, step->to.count);
}

static void take(struct run *run, const struct tern_ref *ref, const char *from)
{
    const struct tern_type *type = type_of(run, ref);
    int64_t bytes = ref->count * type->size;
    char *to = address_of(run, ref);
    if (bytes && type->contiguous)
        memcpy(to + type->true_lb, from, (size_t)bytes);
    else if (bytes)
        tern_type_copy(to, ref->count, type, from, bytes, &tern_type_bytes);
}

/* Operands without gaps are read where they were posted. */
static void do_join(struct run *run, const struct tern_step *step, const char *from)
{
    const struct tern_type *type = type_of(run, &step->to);
    if (run->call->reduction.loop && type->contiguous) {
        run->call->reduction.loop(from - type->true_lb, address_of(run, &step->to), step->to.count);
    } else {
        take(run, &step->from, from);
        do_reduce(run, step);
    }
}

/* False: what the step looks for is not there yet. */
static bool try_board(struct run *run, const struct tern_step *step, bool wait)
{
    char *place = find_on_board(run, step);
    if (!place && !wait)
        return false;
    if (!place) {
        tern_coll_transport->board_wait(run->call->coll, run->turn + step->turn,
                                        step->kind == TERN_STEP_POST ? -1 : step->peer,
                                        step->to.count, run);
        place = find_on_board(run, step);
        if (!place)
            return false;
    }
    if (__builtin_expect(place == tern_board_failure, 0)) {
        note_error(run, tern_error(TERN_ERR_UNREACHABLE, "a rank of this node could not do its part; its own error says why"));
        return true;
    }
    switch (step->kind) {
    case TERN_STEP_POST: do_post(run, step, place); break;
    case TERN_STEP_TAKE: take(run, &step->to, place); break;
    default: do_join(run, step, place);
    }
    if (step->kind != TERN_STEP_POST)
        tern_board_read(run->board, step->peer, place, step->to.count * type_of(run, &step->to)->size);
    return true;
}

/* True if the step stays in flight. A failed step counts as done: other ranks wait for the ones
 * behind it, and get word of the failure in place of bytes that would be wrong. */
static bool start_step(struct run *run, const struct tern_step *step, bool wait)
{
    bool local = step->flags & TERN_STEP_LOCAL;
    struct tern_coll *coll = local ? run->call->coll->local : run->call->coll;
    int tag = local ? run->local_tag : run->tag;
    struct tern_request *request;
    int error;
    switch (step->kind) {
    case TERN_STEP_SEND:
        if (__builtin_expect(run->cut_off, 0)) {
            tern_coll_transport->send_failure(&coll->context, step->peer, tag);
            return false;
        }
        error = tern_coll_transport->isend(&coll->context, address_of(run, &step->from),
                                           step->from.count, type_of(run, &step->from), step->peer,
                                           tag, &request);
        break;
    case TERN_STEP_RECV:
        if (wait && step->flags & TERN_STEP_AWAITED) {
            error = tern_coll_transport->recv(&coll->context, address_of(run, &step->to),
                                              step->to.count, type_of(run, &step->to), step->peer,
                                              tag, run);
            if (__builtin_expect(error != 0, 0))
                fail_recv(run, error);
            return false;
        }
        error =
            tern_coll_transport->irecv(&coll->context, address_of(run, &step->to), step->to.count,
                                       type_of(run, &step->to), step->peer, tag, &request);
        break;
    case TERN_STEP_REDUCE: do_reduce(run, step); return false;
    case TERN_STEP_COPY: do_copy(run, step); return false;
    default: return false;
    }
    if (!error)
        return keep(run, request);
    note_error(run, error);
    return false;
}

/* Are these steps complete? With `wait`: makes them so. */
static bool settle(struct run *run, uint64_t steps, bool wait)
{
    while (steps) {
        int k = __builtin_ctzll(steps);
        struct tern_request *request = run->pending[(run->next - 1 - k) % TERN_PLAN_WINDOW];
        if (!request->complete) {
            if (!wait)
                return false;
            tern_coll_transport->wait(request, run);
            if (run->given_up && run->next < run->plan->step_count)
                return false;
        }
        note_error(run, request->error);
        request->kind->release(request);
        steps &= steps - 1;
        run->in_flight &= ~(1ull << k);
    }
    return true;
}

/* False: not yet. A run that is refused has no steps left. */
static bool ask_permit(struct run *run)
{
    int rc = run->call->permit->ask(run->call->permit);
    if (rc == TERN_ERR_AGAIN)
        return false;
    run->permitted = true;
    note_error(run, rc);
    if (!rc)
        return true;
    run->next = run->plan->step_count;
    for (uint32_t turn = 0; turn < run->plan->turns; turn++)
        tern_coll_transport->board_done(run->board, (uint32_t)run->turn + turn);
    return true;
}

/* Before a step that cannot be done: true if that is because the run was given up. Then the steps end here. */
static bool ends_early(struct run *run)
{
    if (run->given_up)
        skip_rest(run, run->next);
    return run->given_up;
}

/* Goes as far as possible; true when all is done. */
static bool advance(struct run *run, bool wait)
{
    const struct tern_plan *plan = run->plan;
    if (__builtin_expect(!run->permitted, 0) && !ask_permit(run))
        return false;
    const uint64_t too_old = ~0ull << (plan->window - 1);
    while (run->next < plan->step_count) {
        struct tern_step room;
        const struct tern_step *step = tern_plan_step(plan, run->next, &room);
        uint64_t awaited = run->in_flight & (step->after | too_old);
        bool stays = false;
        if (awaited && !settle(run, awaited, wait)) {
            if (ends_early(run))
                break;
            return false;
        }
        if (step->kind < TERN_STEP_POST) {
            stays = start_step(run, step, wait);
        } else if (!try_board(run, step, wait)) {
            if (ends_early(run))
                break;
            return false;
        }
        if (step->flags & TERN_STEP_DONE)
            tern_coll_transport->board_done(run->board, (uint32_t)run->turn + step->turn);
        run->in_flight = run->in_flight << 1 | stays;
        run->next++;
    }
    return !run->in_flight || settle(run, run->in_flight, wait);
}

/* --- blocking --- */

/* Says which peer is lost, if one of this rank's own is; else what was recorded stands. */
static void explain_lost(const struct tern_coll *coll)
{
    tern_lane_lock(coll->context.lane);
    if (!tern_pml_check_source(&coll->context, MPI_ANY_SOURCE) && coll->local)
        tern_pml_check_source(&coll->local->context, MPI_ANY_SOURCE);
    tern_lane_unlock(coll->context.lane);
}

int tern_call_run(struct tern_call *call)
{
    struct run run;
    char small[SMALL_BYTES] __attribute__((aligned(ALIGNMENT)));
    struct tern_lane *lane = call->coll->context.lane;
    run.call = call;
    tern_lane_lock(lane);
    run.board = &call->coll->board;
    int rc = get_call_plan(call, &run.plan);
    if (rc) {
        tern_lane_unlock(lane);
        return rc;
    }
    rc = place_buffers(&run, small);
    if (!rc) {
        take_tags(&run);
        begin_run(&run);
        advance(&run, true);
        rc = run.error;
        if (__builtin_expect(rc == TERN_ERR_UNREACHABLE, 0))
            explain_lost(call->coll);
        free(run.memory);
    }
    tern_plan_release(run.plan);
    tern_lane_unlock(lane);
    return rc;
}

/* --- nonblocking and persistent --- */

/* After a poll that brought nothing: doubts when it has waited for long, and for twice as long, and so on. */
static void doubt_now_and_then(struct run *run)
{
    enum { LONG = 1024 };
    uint32_t idle = ++run->idle;
    if (idle >= LONG && !(idle & (idle - 1)) && !run->given_up && give_up(run, false))
        skip_rest(run, run->next);
}

/* Once per round of a lane's progress while it has active runs. */
static int poll_active(struct tern_lane *lane)
{
    int events = 0;
    struct tern_list_node *active = &lane->runs;
    for (struct tern_list_node *link = active->next, *next; link != active; link = next) {
        struct run *run = TERN_CONTAINER(link, struct run, link);
        int64_t before = run->next;
        bool done = advance(run, false);
        next = link->next;
        events += run->next != before || done;
        if (!done && run->next == before)
            doubt_now_and_then(run);
        if (done) {
            tern_list_remove(&run->link);
            if (tern_list_empty(active))
                tern_coll_transport->unwatch(lane, poll_active);
            tern_request_complete(&run->request, run->error);
        }
    }
    return events;
}

static struct run *run_of(struct tern_request *request)
{
    return TERN_CONTAINER(request, struct run, request);
}

static int start_run(struct tern_request *request)
{
    struct run *run = run_of(request);
    struct tern_lane *lane = request->lane;
    struct tern_list_node *active = &lane->runs;
    bool first = tern_list_empty(active);
    if (first) {
        int rc = tern_coll_transport->watch(lane, poll_active);
        if (rc)
            return rc;
    }
    tern_request_restart(request);
    if (!request->persistent)
        take_tags(run);
    begin_run(run);
    run->idle = 0;
    if (run->call->permit) {
        run->permitted = false;
        run->call->permit->begin(run->call->permit);
    }
    if (!advance(run, false)) {
        /* a send may have asked for a round of progress in which the others ended */
        if (!first && tern_list_empty(active))
            tern_coll_transport->watch(lane, poll_active);
        tern_list_append(active, &run->link);
        return 0;
    }
    if (first)
        tern_coll_transport->unwatch(lane, poll_active);
    tern_request_complete(request, run->error);
    return 0;
}

static int start(struct tern_request *request)
{
    tern_lane_lock(request->lane);
    int rc = start_run(request);
    tern_lane_unlock(request->lane);
    return rc;
}

static int cannot_cancel(struct tern_request *request)
{
    (void)request;
    return tern_error(TERN_ERR_REQUEST, "a collective cannot be cancelled");
}

static void release(struct tern_request *request)
{
    struct run *run = run_of(request);
    struct lasting_run *lasting = TERN_CONTAINER(run, struct lasting_run, run);
    tern_lane_lock(request->lane); /* the communicator may keep the plan */
    tern_plan_release(run->plan);
    tern_board_close(&lasting->board);
    tern_lane_unlock(request->lane);
    free(run->memory);
    tern_call_let_go(&lasting->call);
    tern_object_free(&request->obj);
}

/* Others may have failed since: texts are not kept with requests. */
static void explain(struct tern_request *request)
{
    const struct run *run = run_of(request);
    struct tern_permit *permit = run->call->permit;
    if (request->error == TERN_ERR_NOT_SAME && run->given_up)
        tern_coll_say_other(run->call->coll, run->tag, false, &run->other);
    else if (permit && request->error == TERN_ERR_NOT_SAME)
        permit->ask(permit);
    else if (request->error == TERN_ERR_UNREACHABLE)
        explain_lost(run->call->coll);
}

static const struct tern_request_kind kind = {
    .name = "collective",
    .start = start,
    .cancel = cannot_cancel,
    .release = release,
    .explain = explain,
};

static int make_run(const struct tern_call *call, bool persistent, struct run **ret_run)
{
    struct lasting_run *made = malloc(sizeof *made);
    if (!made)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective");
    made->call = *call;
    if (call->args.blocks)
        made->call.args.blocks = &made->call.blocks;
    made->board = (struct tern_board){0};
    struct run *run = &made->run;
    run->call = &made->call;
    tern_request_init(&run->request, &kind, call->coll->context.comm);
    run->request.lane = call->coll->context.lane;
    tern_lane_lock(run->request.lane);
    run->board = persistent ? &made->board : &call->coll->board;
    int rc;
    if (persistent) {
        take_lasting_tags(run);
        rc = get_lasting_plan(&made->call, (uint32_t)run->tag, &made->board, &run->plan);
    } else {
        rc = get_call_plan(&made->call, &run->plan);
    }
    if (rc)
        goto free_run;
    rc = place_buffers(run, NULL);
    if (rc)
        goto release_plan;
    tern_lane_unlock(run->request.lane);
    *ret_run = run;
    return 0;

release_plan:
    tern_plan_release(run->plan);
free_run:
    tern_board_close(&made->board);
    tern_lane_unlock(run->request.lane);
    free(made);
    return rc;
}

int tern_call_start(const struct tern_call *call, struct tern_request **ret_request)
{
    struct run *run;
    int rc = make_run(call, false, &run);
    if (rc)
        return rc;
    rc = start(&run->request);
    if (rc) {
        TERN_CONTAINER(run, struct lasting_run, run)->call.let_go = NULL;
        TERN_CONTAINER(run, struct lasting_run, run)->call.permit = NULL;
        release(&run->request);
        return rc;
    }
    *ret_request = &run->request;
    return 0;
}

int tern_call_prepare(const struct tern_call *call, struct tern_request **ret_request)
{
    struct run *run;
    int rc = make_run(call, true, &run);
    if (rc)
        return rc;
    tern_request_make_persistent(&run->request);
    *ret_request = &run->request;
    return 0;
}
