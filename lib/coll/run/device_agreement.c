/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The ranks agree on plans for devices. A blocking call waits for the answers. A nonblocking one
 * must not, so the questions are runs of their own, and the call's run begins when they have ended.
 *
 * All ranks must ask the same questions, although some know an answer earlier than others. So the
 * first question is asked by the first long call of a communicator, the same one on all ranks.
 * Whether a later call asks depends on the answer to that, never on when it came: a rank without an
 * answer asks later. A nonblocking run takes its tag and its turns of the board when it is
 * called, for the plan that it would have in host memory. If the answer is yes, the turns are given
 * back unused.
 */
#include "lib/coll/run/on_device.h"

#include "lib/coll/run/device_places.h"
#include "lib/pml/pml.h"
#include "lib/type/basic.h"
#include "lib/util/base/error.h"

/* Returns true if there are plans for devices; all ranks know that alike. */
static bool has_plans(const struct tern_call *call)
{
    const struct tern_plan_args *args = &call->args;
    switch (args->collective) {
    case TERN_REDUCE:
    case TERN_ALLREDUCE:
    case TERN_REDUCE_SCATTER_BLOCK:
        if (!call->reduction.loop) /* the user's function runs on the host */
            return false;
        break;
    case TERN_BCAST:
    case TERN_ALLGATHER:
    case TERN_ALLTOALL: break;
    default: return false;
    }
    return !args->remote_size && !args->blocks && args->size > 1;
}

void tern_run_fill_question(struct tern_call *question, struct tern_coll *coll, int *answer,
                            int *all)
{
    static const struct tern_type type_int = TERN_TYPE_OF(TERN_BASIC_INT32, int);
    const struct tern_reduction reduction = {.loop = tern_reduce_find(TERN_REDUCE_MIN, &type_int),
                                             .op = TERN_REDUCE_MIN,
                                             .commutative = true};
    tern_call_allreduce(question, coll, answer, all, 1, &type_int, &reduction);
}

/* ---- blocking calls ---- */

/* Returns this rank's answer to a call's own question. */
static int answer_for(const struct tern_call *call)
{
    int device;
    if (!tern_run_is_on_device(call, &device))
        return TERN_ANSWER_NO;
    return tern_coll_tell_gpu(call->coll, device) ? TERN_ANSWER_TOLD : TERN_ANSWER_YES;
}

/* Returns the least answer of all ranks. An error counts as 0: the call itself shows it. Messages
 * to the user name the procedure of `outer`. */
static int all_say(const struct tern_call *outer, int mine)
{
    struct tern_call call;
    int answer = mine, all = 0;
    tern_run_fill_question(&call, outer->coll, &answer, &all);
    call.mark = outer->mark;
    return tern_call_run(&call) == 0 ? all : 0;
}

/* Returns the answer to a question that is complete. */
static int answer_of(const struct tern_request *question)
{
    const struct tern_plan_run *run = TERN_CONTAINER(question, struct tern_plan_run, request);
    return question->error ? 0 : TERN_CONTAINER(run, struct tern_lasting_run, run)->all;
}

void tern_run_agree(struct tern_call *call)
{
    struct tern_coll *coll = call->coll;
    if (!has_plans(call) || coll->devices == TERN_DEVICES_NONE)
        return;
    if (coll->devices == TERN_DEVICES_UNKNOWN) {
        bool all;
        if (coll->question) { /* by a nonblocking call */
            tern_request_wait(coll->question);
            all = answer_of(coll->question);
        } else {
            all = all_say(call, tern_accel_watched);
        }
        coll->devices = all ? TERN_DEVICES_MAYBE : TERN_DEVICES_NONE;
    }
    if (coll->devices == TERN_DEVICES_MAYBE) {
        int all = all_say(call, answer_for(call));
        call->args.on_device = all > TERN_ANSWER_NO;
        coll->told |= all == TERN_ANSWER_TOLD;
    }
}

/* ---- nonblocking and persistent runs ---- */

/* Tags of questions: that of the run that asks, and a mark for the first question. */
enum { FIRST_QUESTION = TERN_MARKS };

/* Asks whether all ranks may have device memory. If there is no memory to ask, none have. */
static void ask_first(struct tern_plan_run *run)
{
    struct tern_coll *coll = run->call->coll;
    int tag = (run->tag & ~TERN_MARKS) | FIRST_QUESTION | TERN_COLL_QUESTION;
    if (tern_run_ask(coll, tag, tern_accel_watched, &coll->question))
        coll->devices = TERN_DEVICES_NONE;
    else
        run->asks_first = true;
}

static void ask_own(struct tern_plan_run *run)
{
    int rc = tern_run_ask(run->call->coll, run->tag | TERN_COLL_QUESTION,
                          tern_accel_watched ? answer_for(run->call) : TERN_ANSWER_NO,
                          &run->question);
    if (rc && !run->error)
        run->error = rc;
    run->agreement = TERN_AGREEMENT_ASKED;
}

bool tern_run_begin_agreement(struct tern_plan_run *run)
{
    struct tern_coll *coll = run->call->coll;
    if (!has_plans(run->call) || run->agreement == TERN_AGREEMENT_OVER)
        return false;
    run->agreement = TERN_AGREEMENT_OVER;
    if (run->request.persistent) {
        if (!tern_accel_watched)
            ask_own(run);
        else
            run->agreement = TERN_AGREEMENT_WANTED;
    } else {
        if (coll->devices == TERN_DEVICES_UNKNOWN && !coll->question)
            ask_first(run);
        if (tern_accel_watched && coll->devices != TERN_DEVICES_NONE)
            run->agreement = coll->devices == TERN_DEVICES_UNKNOWN ? TERN_AGREEMENT_AWAITS_FIRST
                                                                   : TERN_AGREEMENT_WANTED;
    }
    if (!tern_accel_watched)
        run->agreement = TERN_AGREEMENT_OVER;
    return run->agreement != TERN_AGREEMENT_OVER;
}

/* Replaces the run's plan, of which no step was done, by one for devices. */
static int take_device_plan(struct tern_plan_run *run)
{
    struct tern_call *call = &TERN_CONTAINER(run, struct tern_lasting_run, run)->call;
    struct tern_plan *plan;
    tern_run_skip_turns(run);
    int rc = tern_run_get_device_plan(call, &plan);
    if (rc)
        return rc;
    tern_plan_release(run->plan);
    run->plan = plan;
    tern_run_free_memory(run);
    return tern_run_place_buffers(run, NULL);
}

/* Ends the agreement with the ranks' answer. */
static void decide(struct tern_plan_run *run, int all)
{
    run->agreement = TERN_AGREEMENT_OVER;
    if (run->given_up)
        return;
    run->call->coll->told |= all == TERN_ANSWER_TOLD;
    if (all == TERN_ANSWER_NO) {
        tern_run_stage(run);
    } else {
        int rc = take_device_plan(run);
        if (rc && !run->error)
            run->error = rc;
        if (rc)
            run->next = run->plan->step_count;
    }
    tern_run_announce(run);
}

/* Forgets the run's own question, which is complete. Returns its answer. */
static int take_answer(struct tern_plan_run *run)
{
    struct tern_request *question = run->question;
    int all = question ? answer_of(question) : TERN_ANSWER_NO;
    if (question && question->error && !run->error)
        run->error = question->error;
    if (question && question->error == TERN_ERR_UNREACHABLE)
        run->cut_off = true;
    run->question = NULL;
    if (question)
        question->kind->release(question);
    return all;
}

bool tern_run_has_agreed(struct tern_plan_run *run)
{
    struct tern_request *first = run->call->coll->question;
    if (run->agreement == TERN_AGREEMENT_AWAITS_FIRST) {
        if (!first->complete)
            return false;
        if (answer_of(first) && !run->given_up)
            run->agreement = TERN_AGREEMENT_WANTED;
        else
            decide(run, TERN_ANSWER_NO);
    }
    if (run->agreement == TERN_AGREEMENT_WANTED)
        ask_own(run);
    if (run->agreement == TERN_AGREEMENT_ASKED) {
        if (run->question && !run->question->complete)
            return false;
        decide(run, take_answer(run));
    }
    return true;
}

bool tern_run_agreement_is_over(struct tern_plan_run *run)
{
    if (run->asks_first && !run->call->coll->question->complete)
        return false;
    if (!run->question)
        return true;
    if (!run->question->complete)
        return false;
    take_answer(run);
    return true;
}

void tern_run_abandon_agreement(struct tern_plan_run *run)
{
    if (run->question)
        tern_run_abandon(TERN_CONTAINER(run->question, struct tern_plan_run, request));
    if (run->asks_first)
        tern_run_abandon(
            TERN_CONTAINER(run->call->coll->question, struct tern_plan_run, request));
    run->agreement = TERN_AGREEMENT_OVER;
}
