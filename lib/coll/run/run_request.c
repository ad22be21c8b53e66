/* SPDX-License-Identifier: BSD-3-Clause */

/* Nonblocking and persistent collectives: a run behind a request, which continues in rounds of
 * progress. */

#include "lib/coll/run/on_device.h"
#include "lib/coll/run/plan_run.h"

#include "lib/util/error.h"

#include <stdlib.h>

/* Called after a poll without progress. Asks if the wait can end at all when the run has waited for
 * long, then again after twice that time, and so on. */
static void doubt_now_and_then(struct tern_plan_run *run)
{
    enum { LONG = 1024 };
    uint32_t idle = ++run->idle;
    if (idle >= LONG && !(idle & (idle - 1)) && !run->given_up && tern_run_give_up(run, false))
        tern_run_skip_rest(run, run->next);
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
        bool done = tern_run_advance(run, false);
        next = link->next;
        events += run->next != before || done;
        if (!done && run->next == before)
            doubt_now_and_then(run);
        if (done) {
            tern_list_remove(&run->link);
            if (tern_list_empty(active))
                tern_coll_transport->unwatch(lane, poll_active);
            tern_run_unstage(run);
            tern_request_complete(&run->request, run->error);
        }
    }
    return events;
}

static struct tern_plan_run *run_of(struct tern_request *request)
{
    return TERN_CONTAINER(request, struct tern_plan_run, request);
}

static int start_run(struct tern_request *request)
{
    struct tern_plan_run *run = run_of(request);
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
        tern_run_take_tags(run);
    tern_run_begin(run);
    run->idle = 0;
    if (run->call->permit) {
        run->permitted = false;
        run->call->permit->begin(run->call->permit);
    }
    if (TERN_UNLIKELY(tern_accel_watched) && !request->persistent)
        tern_run_stage(run);
    if (!tern_run_advance(run, false)) {
        /* a send may have made a round of progress in which the other runs ended */
        if (!first && tern_list_empty(active))
            tern_coll_transport->watch(lane, poll_active);
        tern_list_append(active, &run->link);
        return 0;
    }
    if (first)
        tern_coll_transport->unwatch(lane, poll_active);
    tern_run_unstage(run);
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
    struct tern_plan_run *run = run_of(request);
    struct tern_lasting_run *lasting = TERN_CONTAINER(run, struct tern_lasting_run, run);
    tern_lane_lock(request->lane); /* locked because the communicator may keep the plan too */
    tern_plan_release(run->plan);
    tern_board_close(&lasting->board);
    tern_lane_unlock(request->lane);
    tern_run_free_memory(run);
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

bool tern_coll_describe(const struct tern_request *request, struct tern_coll_facts *ret_facts)
{
    if (request->kind != &kind)
        return false;
    const struct tern_plan_run *run = TERN_CONTAINER(request, struct tern_plan_run, request);
    tern_coll_describe_run(run, ret_facts);
    tern_coll_write_name(ret_facts->procedure, run->tag, false);
    return true;
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
