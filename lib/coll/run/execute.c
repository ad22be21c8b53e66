/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The executor: starts a plan's steps in order, each as soon as the steps it waits for are
 * complete.
 *
 * The state of a run is the number of the next step and a word of 64 bits that says which of the 64
 * steps before it are still in flight. A step's `after` is a word of the same form, so one AND
 * decides if the step may start. A blocking call keeps its run on the stack, and waits where a
 * nonblocking call returns.
 *
 * A nonblocking run continues in rounds of progress. It polls; the completion of its requests does
 * not call it. The reason: a run starts messages, and starting messages in the middle of a delivery
 * would be hard to understand.
 */
#include "lib/coll/run/on_device.h"
#include "lib/coll/run/plan_run.h"

#include "lib/node/doorbell.h"
#include "lib/pml/pml.h"
#include "lib/type/device_reduce.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

const struct tern_algorithm *tern_coll_forced;

/* --- steps --- */

static inline char *address_of(const struct tern_plan_run *run, const struct tern_ref *ref)
{
    const struct tern_run_place *place = &run->places[ref->buffer];
    return place->base + ref->offset * (ref->block < 0 ? place->extent : 1);
}

static inline const struct tern_type *type_of(const struct tern_plan_run *run,
                                              const struct tern_ref *ref)
{
    if (ref->block < 0)
        return run->places[ref->buffer].type;
    const struct tern_plan_blocks *blocks = &run->call->blocks;
    return (ref->buffer == TERN_SEND_BUFFER ? blocks->send_types : blocks->recv_types)[ref->block];
}

static void note_error(struct tern_plan_run *run, int error)
{
    if (error && !run->error)
        run->error = error;
    if (error == TERN_ERR_UNREACHABLE)
        run->cut_off = true;
}

/* --- doubt: calls that do not match (lib/coll/run/mismatch.h) --- */

bool tern_coll_given_up(const void *run)
{
    return ((const struct tern_plan_run *)run)->given_up;
}

static void cancel_in_flight(struct tern_plan_run *run)
{
    for (uint64_t steps = run->in_flight; steps; steps &= steps - 1) {
        struct tern_request *request =
            run->pending[(run->next - 1 - __builtin_ctzll(steps)) % TERN_PLAN_WINDOW];
        if (!request->complete)
            request->kind->cancel(request);
    }
}

bool tern_run_give_up(struct tern_plan_run *run, bool blocking)
{
    struct tern_coll *coll = run->call->coll;
    if (!tern_coll_transport->find_other(coll, run->tag, run->local_tag, run->board, run->turn,
                                         !run->plan->turns, &run->other))
        return false;
    /* a request's error is reported later, by `explain` */
    note_error(run, blocking ? tern_coll_say_other(coll, run->tag, true, &run->other)
                             : TERN_ERR_NOT_SAME);
    run->given_up = true;
    cancel_in_flight(run);
    return true;
}

void tern_run_abandon(struct tern_plan_run *run)
{
    if (run->request.complete)
        return;
    note_error(run, TERN_ERR_NOT_SAME);
    run->given_up = true;
    cancel_in_flight(run);
    tern_run_skip_rest(run, run->next);
}

void tern_run_skip_rest(struct tern_plan_run *run, int64_t from)
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
    struct tern_plan_run *run = state;
    if (!run->given_up && !tern_run_give_up(run, true))
        return false;
    if (awaited && !awaited->complete) {
        awaited->kind->cancel(awaited);
        if (awaited->complete)
            awaited->error = TERN_ERR_NOT_SAME;
    }
    return true;
}

/* Notes the error of an awaited receive. The caller then counts the step as done. */
static __attribute__((cold, noinline)) void fail_recv(struct tern_plan_run *run, int error)
{
    note_error(run, error);
    if (run->given_up)
        tern_run_skip_rest(run, run->next + 1);
}

/* --- lengths: ranks whose counts or types differ ---
 *
 * Every message and post says how many bytes it has. More bytes than this rank has room for are an
 * error in all collectives. Fewer are one where peers say so too: in a broadcast. There every rank
 * passes one count, while programs exist whose receive counts of a gather are only upper limits. A
 * reduction with too few operands has no result. */

static bool expects_all(const struct tern_plan_run *run)
{
    return run->plan->args.collective == TERN_BCAST;
}

static int64_t bytes_of(const struct tern_plan_run *run, const struct tern_ref *ref)
{
    return ref->count * type_of(run, ref)->size;
}

/* Notes that rank `peer` has sent another number of bytes than this rank expects. */
static __attribute__((cold, noinline)) void note_length(struct tern_plan_run *run, int peer,
                                                        int64_t bytes, int64_t expected)
{
    note_error(run, tern_error(bytes > expected ? TERN_ERR_TRUNCATE : TERN_ERR_NOT_SAME,
                               "rank %d has sent %lld bytes, this rank expects %lld; the counts "
                               "and types of all ranks must have the same number of bytes",
                               peer, (long long)bytes, (long long)expected));
}

/* Checks the length of a message that step `i` of a broadcast has received. */
static __attribute__((noinline)) void check_message(struct tern_plan_run *run, int64_t i,
                                                    const struct tern_request *request)
{
    struct tern_step room;
    if (request->error || run->given_up)
        return;
    const struct tern_step *step = tern_plan_step(run->plan, i, &room);
    int64_t bytes = (int64_t)request->status._ucount;
    if (step->kind == TERN_STEP_RECV && bytes < bytes_of(run, &step->to))
        note_length(run, step->peer, bytes, bytes_of(run, &step->to));
}

/* Judges a post of `bytes` bytes of which the step uses those before `end`, if the numbers differ.
 * Returns false if the step cannot use the post. */
static __attribute__((noinline)) bool fits(struct tern_plan_run *run, const struct tern_step *step,
                                           int64_t bytes, int64_t end)
{
    enum tern_collective collective = run->plan->args.collective;
    bool short_of = bytes < end, reduces = collective >= TERN_REDUCE && collective <= TERN_EXSCAN;
    if (short_of ? reduces || expects_all(run) : step->flags & TERN_STEP_WHOLE)
        note_length(run, tern_coll_rank_of_mate(run->call->coll, step->peer), bytes, end);
    return !short_of;
}

/* --- messages, copies, reductions --- */

/* Keeps the request of the step if it is not complete. Returns true if the step stays in flight. */
static bool keep(struct tern_plan_run *run, struct tern_request *request)
{
    if (!request->complete) {
        run->pending[run->next % TERN_PLAN_WINDOW] = request;
        return true;
    }
    note_error(run, request->error);
    if (expects_all(run))
        check_message(run, run->next, request);
    request->kind->release(request);
    return false;
}

static void reduce_host(void *state, const void *in, void *inout, int64_t count)
{
    const struct tern_reduction *reduction = state;
    if (reduction->loop) {
        reduction->loop(in, inout, count);
        return;
    }
    /* the user's function may take long, and may call MPI, which needs other locks */
    struct tern_held held = tern_locks_release();
    reduction->apply(reduction, in, inout, count);
    tern_locks_take_again(held);
}

static void do_reduce(struct tern_plan_run *run, const struct tern_step *step)
{
    void *reduction = (void *)&run->call->reduction;
    const char *in = address_of(run, &step->from);
    char *inout = address_of(run, &step->to);
    if (TERN_UNLIKELY(tern_accel_watched))
        note_error(run, tern_device_reduce(type_of(run, &step->to), in, inout, step->to.count,
                                           run->call->reduction.op, reduce_host, reduction));
    else
        reduce_host(reduction, in, inout, step->to.count);
}

/* Copies between typed buffers of any memory. */
static void copy(struct tern_plan_run *run, void *to, int64_t to_count,
                 const struct tern_type *to_type, const void *from, int64_t from_count,
                 const struct tern_type *from_type)
{
    int64_t copied = tern_type_copy(to, to_count, to_type, from, from_count, from_type);
    if (TERN_UNLIKELY(copied < 0))
        note_error(run, (int)copied);
}

static void do_copy(struct tern_plan_run *run, const struct tern_step *step)
{
    const char *from = address_of(run, &step->from);
    char *to = address_of(run, &step->to);
    const struct tern_type *from_type = type_of(run, &step->from),
                           *to_type = type_of(run, &step->to);
    if (from_type->contiguous && to_type->contiguous && !tern_accel_watched) {
        int64_t length = step->from.count * from_type->size, room = step->to.count * to_type->size;
        memcpy(to + to_type->true_lb, from + from_type->true_lb,
               (size_t)(length < room ? length : room));
    } else {
        copy(run, to, step->to.count, to_type, from, step->from.count, from_type);
    }
}

/* Returns the place of a step on the board: room for a post, or a post. Returns NULL if it is not
 * there yet. *ret_bytes: how many bytes the post has. */
static void *find_on_board(const struct tern_plan_run *run, const struct tern_step *step,
                           int64_t *ret_bytes)
{
    tern_turn turn = run->turn + step->turn;
    char *place = step->kind == TERN_STEP_POST
                      ? tern_coll_transport->board_room(run->board, (uint32_t)turn, step->to.count)
                      : (char *)tern_coll_transport->board_look(run->board, turn, step->peer,
                                                                    ret_bytes);
    return place && place != tern_board_failure ? place + step->at : place;
}

static void do_post(struct tern_plan_run *run, const struct tern_step *step, char *room)
{
    const struct tern_type *type = type_of(run, &step->from);
    int64_t bytes = step->from.count * type->size;
    const char *from = address_of(run, &step->from);
    if (bytes && type->contiguous && !tern_accel_watched) {
        uint64_t begin = bytes > TERN_BOARD_SHEET_BYTES ? tern_ticks() : 0;
        memcpy(room, from + type->true_lb, (size_t)bytes);
        if (begin)
            tern_board_wrote(run->board, bytes, tern_ticks() - begin);
    } else if (bytes) {
        copy(run, room, bytes, &tern_type_bytes, from, step->from.count, type);
    }
    if (step->flags & TERN_STEP_MORE)
        return;
    if (__builtin_expect(run->cut_off, 0))
        tern_coll_transport->board_post_failure(run->board, run->turn + step->turn);
    else
        tern_coll_transport->board_post(run->board, run->turn + step->turn, step->to.count);
}

static void take(struct tern_plan_run *run, const struct tern_ref *ref, const char *from)
{
    const struct tern_type *type = type_of(run, ref);
    int64_t bytes = ref->count * type->size;
    char *to = address_of(run, ref);
    if (bytes && type->contiguous && !tern_accel_watched)
        memcpy(to + type->true_lb, from, (size_t)bytes);
    else if (bytes)
        copy(run, to, ref->count, type, from, bytes, &tern_type_bytes);
}

/* Takes what there is of a post that is too short. A reduction can use nothing of it. */
static void take_part(struct tern_plan_run *run, const struct tern_step *step, const char *from,
                      int64_t bytes)
{
    int64_t left = bytes - step->at;
    if (step->kind == TERN_STEP_TAKE && left > 0)
        copy(run, address_of(run, &step->to), step->to.count, type_of(run, &step->to), from, left,
             &tern_type_bytes);
}

/* Reduces a post with `to`. Operands without gaps are read directly from the board. */
static void do_join(struct tern_plan_run *run, const struct tern_step *step, const char *from)
{
    const struct tern_type *type = type_of(run, &step->to);
    if (run->call->reduction.loop && type->contiguous && !tern_accel_watched) {
        run->call->reduction.loop(from - type->true_lb, address_of(run, &step->to), step->to.count);
    } else {
        take(run, &step->from, from);
        do_reduce(run, step);
    }
}

/* Reports that a post was read. Of a long broadcast among many ranks, one reader alone takes the
 * lines: all readers read them at the same time, and would take them from each other. */
static void report_read(const struct tern_plan_run *run, const struct tern_step *step, char *place)
{
    enum { MANY = 4, LONG = 32 * 1024 };
    const struct tern_plan_args *args = &run->plan->args;
    int64_t bytes = step->to.count * type_of(run, &step->to)->size;
    bool one = args->collective == TERN_BCAST && args->size > MANY && bytes >= LONG;
    if (!one || args->rank == (step->peer + 1) % args->size)
        tern_board_read(run->board, (uint32_t)run->turn + step->turn, step->peer, place, bytes);
}

/* Does a step of the board. Returns false if what it needs is not there yet. */
static bool try_board(struct tern_plan_run *run, const struct tern_step *step, bool wait)
{
    int64_t bytes;
    char *place = find_on_board(run, step, &bytes);
    if (!place && !wait)
        return false;
    if (!place) {
        tern_coll_transport->board_wait(run->call->coll, run->turn + step->turn,
                                        step->kind == TERN_STEP_POST ? -1 : step->peer,
                                        step->to.count, run);
        place = find_on_board(run, step, &bytes);
        if (!place)
            return false;
    }
    if (__builtin_expect(place == tern_board_failure, 0)) {
        note_error(run,
                   tern_error(TERN_ERR_UNREACHABLE,
                              "a rank of this node failed in this collective; its own error "
                              "message gives the reason"));
        return true;
    }
    if (step->kind == TERN_STEP_POST) {
        do_post(run, step, place);
        return true;
    }
    int64_t end = step->at + bytes_of(run, &step->to);
    if (bytes != end && !fits(run, step, bytes, end)) {
        take_part(run, step, place, bytes);
        return true;
    }
    if (step->kind == TERN_STEP_TAKE)
        take(run, &step->to, place);
    else
        do_join(run, step, place);
    report_read(run, step, place);
    return true;
}

/* Bytes of a step. During a longer one than LONG_STEP, peers may take this rank for one that is not
 * in MPI. They should not wait for the end of one of TOO_LONG_STEP. */
enum { LONG_STEP = 32 * 1024, TOO_LONG_STEP = 512 * 1024 };

/* Does a step that copies or reduces in this rank's memory. A blocking call notes around a long one
 * that this rank stays in MPI: the sender or the receiver of its next message may look meanwhile.
 * A function of the user may take longer than a peer should wait for. */
static void do_local(struct tern_plan_run *run, const struct tern_step *step, bool wait)
{
    bool reduces = step->kind == TERN_STEP_REDUCE;
    int64_t bytes = bytes_of(run, &step->from);
    bool stays = wait && bytes > LONG_STEP && bytes < TOO_LONG_STEP &&
                 (!reduces || run->call->reduction.loop);
    if (TERN_UNLIKELY(stays))
        tern_doorbell_note_staying();
    if (reduces)
        do_reduce(run, step);
    else
        do_copy(run, step);
    if (TERN_UNLIKELY(stays))
        tern_doorbell_note_waiting(tern_ticks());
}

/* Starts a step. Returns true if the step stays in flight. A failed step counts as done: other
 * ranks wait for the steps behind it, and get a notice of failure instead of wrong bytes. */
static bool start_step(struct tern_plan_run *run, const struct tern_step *step, bool wait)
{
    bool local = step->flags & TERN_STEP_LOCAL;
    struct tern_coll *coll = local ? run->call->coll->local : run->call->coll;
    int tag = local ? run->local_tag : run->tag;
    struct tern_request *request;
    int64_t bytes;
    int error;
    switch (step->kind) {
    case TERN_STEP_SEND:
        if (__builtin_expect(run->cut_off, 0)) {
            tern_coll_transport->send_failure(&coll->context, step->peer, tag);
            return false;
        }
        /* the receiver looks for that as soon as the message is announced */
        if (wait && bytes_of(run, &step->from) > LONG_STEP)
            tern_doorbell_note_busy(tern_ticks());
        error = tern_coll_transport->isend(&coll->context, address_of(run, &step->from),
                                           step->from.count, type_of(run, &step->from), step->peer,
                                           tag, &request);
        break;
    case TERN_STEP_RECV:
        if (wait && step->flags & TERN_STEP_AWAITED) {
            error = tern_coll_transport->recv(&coll->context, address_of(run, &step->to),
                                              step->to.count, type_of(run, &step->to), step->peer,
                                              tag, run, &bytes);
            if (__builtin_expect(error != 0, 0))
                fail_recv(run, error);
            else if (expects_all(run) && bytes < bytes_of(run, &step->to))
                note_length(run, step->peer, bytes, bytes_of(run, &step->to));
            return false;
        }
        error =
            tern_coll_transport->irecv(&coll->context, address_of(run, &step->to), step->to.count,
                                       type_of(run, &step->to), step->peer, tag, &request);
        break;
    case TERN_STEP_REDUCE:
    case TERN_STEP_COPY: do_local(run, step, wait); return false;
    default: return false;
    }
    if (!error)
        return keep(run, request);
    note_error(run, error);
    return false;
}

/* Returns true if these steps are complete. With `wait`, waits until they are; returns false then
 * only if the run was given up. */
static bool settle(struct tern_plan_run *run, uint64_t steps, bool wait)
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
        if (expects_all(run))
            check_message(run, run->next - 1 - k, request);
        request->kind->release(request);
        steps &= steps - 1;
        run->in_flight &= ~(1ull << k);
    }
    return true;
}

void tern_run_skip_turns(struct tern_plan_run *run)
{
    uint32_t turns = run->plan->turns;
    if (!turns)
        return;
    *run->skip = (struct tern_board_skip){.first = (uint32_t)run->turn, .count = turns};
    tern_coll_transport->board_skip(run->board, run->skip);
    run->skip = NULL;
}

/* Asks for permission to begin. Returns false if there is no answer yet. If permission is refused,
 * the run has no steps left. */
static bool ask_permit(struct tern_plan_run *run)
{
    struct tern_permit *permit = run->call->permit;
    int rc = permit->ask(permit);
    if (rc == TERN_ERR_AGAIN)
        return false;
    run->allowed = true;
    note_error(run, rc);
    if (!rc)
        return true;
    tern_run_abandon_agreement(run);
    run->next = run->plan->step_count;
    tern_run_skip_turns(run);
    return true;
}

/* Returns true if nothing must be awaited any more before the first step. */
static bool may_begin(struct tern_plan_run *run)
{
    if (!run->allowed && !ask_permit(run))
        return false;
    run->permitted = tern_run_has_agreed(run);
    return run->permitted;
}

/* Called if a step cannot be done. Returns true if the reason is that the run was given up; then
 * skips the rest of the steps. */
static bool ends_early(struct tern_plan_run *run)
{
    if (run->given_up)
        tern_run_skip_rest(run, run->next);
    return run->given_up;
}

bool tern_run_advance(struct tern_plan_run *run, bool wait)
{
    if (__builtin_expect(!run->permitted, 0) && !may_begin(run))
        return false;
    const struct tern_plan *plan = run->plan;
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

/* --- for messages to the user --- */

/* Returns the first request in flight that is not complete, or NULL. */
static const struct tern_request *first_in_flight(const struct tern_plan_run *run)
{
    const struct tern_request *first = NULL;
    for (uint64_t steps = run->in_flight; steps; steps &= steps - 1) {
        const struct tern_request *request =
            run->pending[(run->next - 1 - __builtin_ctzll(steps)) % TERN_PLAN_WINDOW];
        if (!request->complete)
            first = request; /* the higher the bit, the earlier the step */
    }
    return first;
}

/* Returns the rank whose post the next step needs, or -1. */
static int awaited_poster(const struct tern_plan_run *run)
{
    struct tern_step room;
    if (run->next >= run->plan->step_count)
        return -1;
    const struct tern_step *step = tern_plan_step(run->plan, run->next, &room);
    return step->kind > TERN_STEP_POST ? tern_coll_rank_of_mate(run->call->coll, step->peer) : -1;
}

void tern_coll_describe_run(const void *state, struct tern_coll_facts *ret_facts)
{
    const struct tern_plan_run *run = state;
    *ret_facts = (struct tern_coll_facts){
        .coll = run->call->coll,
        .number = tern_run_number(run),
        .awaited = first_in_flight(run)};
    ret_facts->peer = ret_facts->awaited ? -1 : awaited_poster(run);
    tern_coll_write_name(ret_facts->procedure, run->tag, true);
}

/* --- blocking --- */

void tern_run_explain_lost(const struct tern_coll *coll)
{
    tern_lane_lock(coll->context.lane);
    if (!tern_pml_check_source(&coll->context, MPI_ANY_SOURCE) && coll->local)
        tern_pml_check_source(&coll->local->context, MPI_ANY_SOURCE);
    tern_lane_unlock(coll->context.lane);
}

int tern_call_run(struct tern_call *call)
{
    struct tern_plan_run run;
    char small[TERN_RUN_SMALL_BYTES] __attribute__((aligned(TERN_RUN_ALIGNMENT)));
    struct tern_lane *lane = call->coll->context.lane;
    run.call = call;
    if (tern_run_is_long(call))
        tern_run_agree(call);
    tern_lane_lock(lane);
    run.board = &call->coll->board;
    int rc = tern_run_get_plan(call, &run.plan);
    if (rc) {
        tern_lane_unlock(lane);
        return rc;
    }
    rc = tern_run_place_buffers(&run, small);
    if (!rc) {
        tern_run_take_tags(&run);
        tern_run_begin(&run);
        if (TERN_UNLIKELY(tern_accel_watched))
            tern_run_stage(&run);
        tern_run_advance(&run, true);
        if (TERN_UNLIKELY(run.stage != NULL))
            tern_run_unstage(&run);
        rc = run.error;
        if (__builtin_expect(rc == TERN_ERR_UNREACHABLE, 0))
            tern_run_explain_lost(call->coll);
        tern_run_free_memory(&run);
    }
    tern_plan_release(run.plan);
    tern_lane_unlock(lane);
    return rc;
}
