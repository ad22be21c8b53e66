/* SPDX-License-Identifier: BSD-3-Clause */

/* Nonblocking and persistent collectives: a run behind a request, which continues in rounds of
 * progress. */

#include "lib/coll/run/on_device.h"
#include "lib/coll/run/plan_run.h"

#include "lib/util/base/error.h"

#include <stdlib.h>

/* Called after a poll without progress. Asks if the wait can end at all when the run has waited for
 * long, then again after twice that time, and so on. */
static void doubt_now_and_then(struct tern_plan_run *run)
{
    enum { LONG = 1024 };
    uint32_t idle = ++run->idle;
    if (run->is_question || idle < LONG || idle & (idle - 1) || run->given_up ||
        !tern_run_give_up(run, false))
        return;
    tern_run_abandon_agreement(run);
    tern_run_skip_rest(run, run->next);
}

/* Ends a run whose steps are all done. */
static void end_run(struct tern_plan_run *run)
{
    tern_run_unstage(run);
    tern_request_complete(&run->request, run->error);
}

/* Polls the lane's active runs. Called once per round of the lane's progress while there are
 * any. */
static int poll_active(struct tern_lane *lane)
{
    int events = 0;
    struct tern_list_node *active = &lane->runs;
    for (struct tern_list_node *link = active->next, *next; link != active; link = next) {
        struct tern_plan_run *run = TERN_CONTAINER(link, struct tern_plan_run, link);
        int64_t before = run->next;
        bool done = tern_run_advance(run, false) && tern_run_agreement_is_over(run);
        next = link->next;
        events += run->next != before || done;
        if (!done && run->next == before)
            doubt_now_and_then(run);
        if (done) {
            tern_list_remove(&run->link);
            if (tern_list_empty(active))
                tern_coll_transport->unwatch(lane, poll_active);
            end_run(run);
        }
    }
    return events;
}

static struct tern_plan_run *run_of(struct tern_request *request)
{
    return TERN_CONTAINER(request, struct tern_plan_run, request);
}

/* Does what can be done at once of a run that was begun, and adds it to the lane's active runs
 * unless that was all. */
static int enter_run(struct tern_plan_run *run)
{
    struct tern_lane *lane = run->request.lane;
    struct tern_list_node *active = &lane->runs;
    if (tern_list_empty(active)) {
        int rc = tern_coll_transport->watch(lane, poll_active);
        if (rc)
            return rc;
    }
    bool done = tern_run_advance(run, false) && tern_run_agreement_is_over(run);
    if (tern_list_empty(active)) { /* also if it was not so before: a send may make progress */
        tern_coll_transport->unwatch(lane, poll_active);
        if (!done)
            tern_coll_transport->watch(lane, poll_active);
    }
    if (done)
        end_run(run);
    else
        tern_list_append(active, &run->link);
    return 0;
}

/* Takes memory for giving back turns of the board, if that may come. */
static int take_skip(struct tern_plan_run *run)
{
    if (run->skip || !run->plan->turns ||
        (!run->call->permit && !(tern_accel_watched && tern_run_is_long(run->call))))
        return 0;
    run->skip = malloc(sizeof *run->skip);
    return run->skip ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for a collective");
}

static int start_run(struct tern_request *request)
{
    struct tern_plan_run *run = run_of(request);
    int rc = take_skip(run);
    if (rc)
        return rc;
    tern_request_restart(request);
    if (!request->persistent)
        tern_run_take_tags(run);
    tern_run_rewind(run);
    run->idle = 0;
    run->allowed = !run->call->permit;
    if (run->call->permit) {
        run->permitted = false;
        run->call->permit->begin(run->call->permit);
    }
    if (tern_run_is_long(run->call) && tern_run_begin_agreement(run)) {
        run->permitted = false;
    } else {
        tern_run_announce(run);
        if (TERN_UNLIKELY(tern_accel_watched))
            tern_run_stage(run);
    }
    return enter_run(run);
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
    struct tern_plan_run *run = run_of(request);
    struct tern_lasting_run *lasting = TERN_CONTAINER(run, struct tern_lasting_run, run);
    tern_lane_lock(request->lane); /* locked because the communicator may keep the plan too */
    tern_plan_release(run->plan);
    tern_board_close(&lasting->board);
    tern_lane_unlock(request->lane);
    tern_run_free_memory(run);
    free(run->skip);
    tern_call_let_go(&lasting->call);
    tern_object_free(&request->obj);
}

/* Records the error text again, because other requests may have failed since: texts are not kept
 * with requests. */
static void explain(struct tern_request *request)
{
    const struct tern_plan_run *run = run_of(request);
    struct tern_permit *permit = run->call->permit;
    if (request->error == TERN_ERR_NOT_SAME && run->given_up)
        tern_coll_say_other(run->call->coll, run->tag, false, &run->other);
    else if (permit && request->error == TERN_ERR_NOT_SAME)
        permit->ask(permit);
    else if (request->error == TERN_ERR_UNREACHABLE)
        tern_run_explain_lost(run->call->coll);
}

static const struct tern_request_kind kind = {
    .name = "collective",
    .start = start,
    .cancel = cannot_cancel,
    .release = release,
    .explain = explain,
};

bool tern_coll_describe(const struct tern_request *request, bool held,
                        struct tern_coll_facts *ret_facts)
{
    if (request->kind != &kind)
        return false;
    const struct tern_plan_run *run = TERN_CONTAINER(request, struct tern_plan_run, request);
    if (held)
        tern_coll_describe_run(run, ret_facts);
    else
        *ret_facts = (struct tern_coll_facts){
            .coll = run->call->coll, .number = tern_run_number(run), .peer = -1};
    tern_coll_write_name(ret_facts->procedure, run->tag, false);
    return true;
}

static void no_agreement(struct tern_plan_run *run)
{
    run->agreement = TERN_AGREEMENT_NONE;
    run->asks_first = run->is_question = false;
    run->allowed = true;
    run->question = NULL;
    run->skip = NULL;
}

int tern_run_ask(struct tern_coll *coll, int tag, int mine, struct tern_request **ret_question)
{
    struct tern_lasting_run *made = malloc(sizeof *made);
    if (!made)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective");
    struct tern_plan_run *run = &made->run;
    made->mine = mine;
    made->all = 0;
    made->board = (struct tern_board){0};
    tern_run_fill_question(&made->call, coll, &made->mine, &made->all);
    run->call = &made->call;
    run->board = &made->board;
    run->tag = run->local_tag = tag;
    tern_request_init(&run->request, &kind, coll->context.comm);
    run->request.lane = coll->context.lane;
    no_agreement(run);
    run->is_question = true;
    int rc = tern_run_get_plan_of_messages(&made->call, &run->plan);
    if (rc) {
        free(made);
        return rc;
    }
    rc = tern_run_place_buffers(run, NULL);
    if (!rc) {
        tern_run_rewind(run);
        run->idle = 0;
        rc = enter_run(run);
    }
    if (rc) {
        release(&run->request);
        return rc;
    }
    *ret_question = &run->request;
    return 0;
}

static int make_run(const struct tern_call *call, bool persistent, struct tern_plan_run **ret_run)
{
    struct tern_lasting_run *made = malloc(sizeof *made);
    if (!made)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective");
    made->call = *call;
    if (call->args.blocks)
        made->call.args.blocks = &made->call.blocks;
    made->board = (struct tern_board){0};
    struct tern_plan_run *run = &made->run;
    run->call = &made->call;
    tern_request_init(&run->request, &kind, call->coll->context.comm);
    run->request.lane = call->coll->context.lane;
    tern_lane_lock(run->request.lane);
    run->board = persistent ? &made->board : &call->coll->board;
    no_agreement(run);
    int rc;
    if (persistent) {
        tern_run_take_lasting_tags(run);
        rc = tern_run_get_lasting_plan(&made->call, (uint32_t)run->tag, &made->board, &run->plan);
    } else {
        rc = tern_run_get_plan(&made->call, &run->plan);
    }
    if (rc)
        goto free_run;
    rc = tern_run_place_buffers(run, NULL);
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
    struct tern_plan_run *run;
    int rc = make_run(call, false, &run);
    if (rc)
        return rc;
    rc = start(&run->request);
    if (rc) {
        TERN_CONTAINER(run, struct tern_lasting_run, run)->call.let_go = NULL;
        TERN_CONTAINER(run, struct tern_lasting_run, run)->call.permit = NULL;
        release(&run->request);
        return rc;
    }
    *ret_request = &run->request;
    return 0;
}

int tern_call_prepare(const struct tern_call *call, struct tern_request **ret_request)
{
    struct tern_plan_run *run;
    int rc = make_run(call, true, &run);
    if (rc)
        return rc;
    tern_request_make_persistent(&run->request);
    *ret_request = &run->request;
    return 0;
}
