/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Goes through the steps of operations (file_operation.h).
 *
 * Nonblocking operations go on in rounds of progress: those of a lane are in a list, which the
 * lane's lock guards. A blocking operation is in no list; only its own thread touches it.
 */
#include "lib/io/file_operation.h"

#include "lib/io/access/datarep.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- errors ---- */

void tern_operation_fail(struct tern_operation *op, int error)
{
    if (op->error)
        return;
    op->error = error;
    snprintf(op->text, sizeof op->text, "%s", tern_error_text(error));
}

/* ---- messages ---- */

enum { FIRST_TAG = -16, SERIALS = 10000 };

int tern_operation_tag(uint32_t serial, enum tern_io_message kind)
{
    if (kind >= TERN_IO_ASK)
        serial = 0;
    return FIRST_TAG - (int)(serial % SERIALS) * TERN_IO_MESSAGES - (int)kind;
}

static void add(struct tern_operation *op, struct tern_messages *messages,
                struct tern_request *request, int64_t *length)
{
    if (messages->count == messages->room) {
        int room = messages->room ? 2 * messages->room : 8;
        struct tern_message_of *grown = realloc(messages->list, (size_t)room * sizeof *grown);
        if (!grown) { /* nobody would release the request: wait for it here */
            tern_operation_fail(op, tern_error(TERN_ERR_NO_MEM, "no memory for messages"));
            tern_request_wait(request);
            request->kind->release(request);
            return;
        }
        messages->list = grown;
        messages->room = room;
    }
    messages->list[messages->count++] = (struct tern_message_of){request, length};
}

void tern_operation_send(struct tern_operation *op, const void *bytes, int64_t length, int rank,
                         enum tern_io_message kind)
{
    struct tern_request *request;
    int error = tern_pml_isend(&op->file->comm->p2p, bytes, length, &tern_type_bytes, rank,
                               tern_operation_tag(op->serial, kind), TERN_SEND_STANDARD, &request);
    if (error)
        tern_operation_fail(op, error);
    else
        add(op, &op->going, request, NULL);
}

void tern_operation_receive(struct tern_operation *op, void *bytes, int64_t length, int rank,
                            enum tern_io_message kind, int64_t *ret_length)
{
    struct tern_request *request;
    int error = tern_pml_irecv(&op->file->comm->p2p, bytes, length, &tern_type_bytes, rank,
                               tern_operation_tag(op->serial, kind), &request);
    if (error)
        tern_operation_fail(op, error);
    else
        add(op, &op->coming, request, ret_length);
}

static bool complete(const struct tern_request *request)
{
    return atomic_load_explicit(&request->complete, memory_order_acquire);
}

static bool all_complete(const struct tern_messages *messages)
{
    for (int i = 0; i < messages->count; i++)
        if (!complete(messages->list[i].request))
            return false;
    return true;
}

/* Releases the messages if all are complete. Returns false if one is not. */
static bool finish(struct tern_operation *op, struct tern_messages *messages)
{
    if (!all_complete(messages))
        return false;
    for (int i = 0; i < messages->count; i++) {
        struct tern_request *request = messages->list[i].request;
        if (request->error)
            tern_operation_fail(op, request->error);
        if (messages->list[i].length)
            *messages->list[i].length = (int64_t)request->status._ucount;
        request->kind->release(request);
    }
    messages->count = 0;
    return true;
}

/* ---- steps ---- */

static void run_job(struct tern_worker_job *job)
{
    struct tern_operation *op = TERN_CONTAINER(job, struct tern_operation, job);
    op->work(op);
}

void tern_operation_work(struct tern_operation *op, void (*work)(struct tern_operation *op))
{
    if (op->blocking) {
        work(op);
        return;
    }
    tern_operation_work_beside(op, work);
    op->await_work = true;
}

void tern_operation_work_beside(struct tern_operation *op, void (*work)(struct tern_operation *op))
{
    op->work = work;
    op->job.run = run_job;
    op->working = true;
    tern_worker_give(&op->job);
}

/* Returns true if the next step waits for a job that is not done. */
static bool waits_for_work(const struct tern_operation *op)
{
    return op->working && (op->await_work || !op->step) && !tern_worker_done(&op->job);
}

/* Returns true if nothing keeps the next step waiting. */
static bool may_go_on(const struct tern_operation *op)
{
    return all_complete(&op->coming) &&
           (!(op->await_sends || !op->step) || all_complete(&op->going)) &&
           !waits_for_work(op);
}

/* Goes on as far as possible. Returns true at the end. */
static bool advance(struct tern_operation *op)
{
    for (;;) {
        if (!finish(op, &op->coming))
            return false;
        if ((op->await_sends || !op->step) && !finish(op, &op->going))
            return false;
        if (waits_for_work(op))
            return false;
        if (op->await_work || !op->step)
            op->working = false;
        if (op->ready && !op->ready(op->file))
            return false;
        op->ready = NULL;
        op->await_sends = op->await_work = false;
        if (!op->step)
            return true;
        tern_step *step = op->step;
        op->step = NULL;
        step(op);
    }
}

static bool came(const void *what)
{
    return may_go_on(what);
}

/* Returns a message that the next step waits for, or NULL. */
static struct tern_request *first_awaited(const struct tern_operation *op)
{
    const struct tern_messages *both[] = {&op->coming, &op->going};
    for (int i = 0; i < 2; i++)
        for (int at = 0; at < both[i]->count; at++)
            if (!both[i]->list[at].request->complete)
                return both[i]->list[at].request;
    return NULL;
}

int tern_operation_run(struct tern_operation *op)
{
    struct tern_waiter waiter = {.lane = op->file->comm->p2p.lane, .came = came, .what = op};
    op->blocking = true;
    while (!advance(op))
        if (op->ready && may_go_on(op))
            tern_lane_poll(waiter.lane); /* nobody rings when it would return true */
        else {
            waiter.request = first_awaited(op);
            tern_wait(&waiter);
        }
    return op->error ? tern_error(op->error, "%s", op->text) : 0;
}

/* ---- operations under way ---- */

/* What is polled in a lane. */
static struct polled {
    struct tern_list_node operations;
    struct served {
        struct tern_file *file;
        int (*poll)(struct tern_file *file);
        struct served *next;
    } *served;
    bool registered;
} polled[TERN_LANES_MAX];

static struct polled *polled_in(struct tern_lane *lane)
{
    struct polled *here = &polled[lane->index];
    if (!here->operations.next)
        tern_list_init(&here->operations);
    return here;
}

static int poll_lane(struct tern_lane *lane)
{
    struct polled *here = polled_in(lane);
    int events = 0;
    for (struct served *served = here->served; served; served = served->next)
        events += served->poll(served->file);
    for (struct tern_list_node *link = here->operations.next, *next; link != &here->operations;
         link = next) {
        struct tern_operation *op = TERN_CONTAINER(link, struct tern_operation, link);
        bool done = advance(op);
        next = link->next;
        if (!done)
            continue;
        tern_list_remove(link);
        tern_request_complete(&op->request, op->error);
        events++;
    }
    if (tern_list_empty(&here->operations) && !here->served) {
        tern_progress_unregister(lane, poll_lane);
        here->registered = false;
    }
    return events;
}

/* Has the lane polled. Call with the lane's lock held. */
static int watch(struct tern_lane *lane)
{
    struct polled *here = polled_in(lane);
    int error = here->registered ? 0 : tern_progress_register(lane, poll_lane);
    here->registered = !error;
    return error;
}

int tern_operation_start(struct tern_operation *op)
{
    struct tern_lane *lane = op->request.lane;
    tern_lane_lock(lane);
    int error = 0;
    if (advance(op)) {
        tern_request_complete(&op->request, op->error);
    } else {
        error = watch(lane);
        if (!error)
            tern_list_append(&polled_in(lane)->operations, &op->link);
    }
    tern_lane_unlock(lane);
    return error;
}

int tern_operation_serve(struct tern_file *file, int (*poll)(struct tern_file *file))
{
    struct tern_lane *lane = file->comm->p2p.lane;
    struct served *served = malloc(sizeof *served);
    if (!served)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a file");
    tern_lane_lock(lane);
    *served = (struct served){file, poll, polled_in(lane)->served};
    int error = watch(lane);
    if (!error)
        polled_in(lane)->served = served;
    tern_lane_unlock(lane);
    if (error)
        free(served);
    return error;
}

void tern_operation_unserve(struct tern_file *file)
{
    struct tern_lane *lane = file->comm->p2p.lane;
    tern_lane_lock(lane);
    struct served **at = &polled_in(lane)->served, *found;
    while (*at && (*at)->file != file)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    tern_lane_unlock(lane);
    free(found);
}

/* ---- objects ---- */

/* Puts the data of a complete read where they belong, and the number of bytes into the status. Runs
 * in a call of the user, because it may call the user's conversion function. */
static int conclude(struct tern_request *request)
{
    struct tern_operation *op = (struct tern_operation *)request;
    int64_t done = op->access.done;
    if (op->concluded)
        return 0;
    op->concluded = true;
    if (op->file_form && !op->access.writes && !op->error) {
        int error = tern_datarep_read(op->file->view.datarep, op->datatype, op->buf, op->count,
                                      op->file_form, op->access.done, &done);
        if (error)
            tern_operation_fail(op, error);
        request->error = op->error;
    } else if (op->file_form && op->access.writes && !op->error) {
        done = op->datatype->type.size * op->count;
    }
    request->status._ucount = (size_t)done;
    return request->error;
}

static int cannot_cancel(struct tern_request *request)
{
    (void)request;
    return tern_error(TERN_ERR_REQUEST, "an access to a file cannot be cancelled");
}

/* Records the error again, and has the file's error handler called for it. */
static void explain(struct tern_request *request)
{
    struct tern_operation *op = (struct tern_operation *)request;
    tern_error(op->error, "%s", op->text);
    tern_raise_next_on_file(&op->file->head);
}

static void release(struct tern_request *request)
{
    struct tern_operation *op = (struct tern_operation *)request;
    conclude(request); /* of a request that was freed before it was complete */
    free(op->coming.list);
    free(op->going.list);
    free(op->gather.blocks);
    free(op->file_form);
    if (op->exchange)
        op->free_exchange(op->exchange);
    if (op->datatype)
        tern_datatype_release(op->datatype);
    tern_file_release(op->file);
    tern_object_free(&op->request.obj);
}

static const struct tern_request_kind kind = {
    .name = "access to a file",
    .cancel = cannot_cancel,
    .release = release,
    .query = conclude,
    .explain = explain,
};

int tern_operation_new(struct tern_file *file, struct tern_operation **ret_op)
{
    struct tern_operation *op = calloc(1, sizeof *op);
    if (!op)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an operation on a file");
    tern_request_init(&op->request, &kind, NULL);
    op->request.lane = file->comm->p2p.lane;
    op->request.status = tern_status_empty;
    tern_file_retain(file);
    op->file = file;
    *ret_op = op;
    return 0;
}

void tern_operation_free(struct tern_operation *op)
{
    release(&op->request);
}
