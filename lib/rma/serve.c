/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The target's side of operations by messages. Requests are handled where they arrive, in progress:
 * in a thread of the program that is in MPI, or in the progress thread. So a target that computes
 * answers, too.
 *
 * One receive from any rank is posted at a time. A request is handled before the next one is
 * received, so the requests of one origin have their effect in order. When a rank of the window is
 * lost, that receive ends; from then on there is one receive for each rank that is left.
 *
 * The memory is changed by the same instructions and locks as by ranks that have it mapped.
 */

#include "lib/rma/rma_message.h"
#include "lib/rma/reach.h"

#include "lib/accel/accel.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/base/list.h"

#include <stdlib.h>
#include <string.h>

/* A posted receive of requests. */
struct slot {
    struct tern_rma_server *server;
    struct tern_request *request; /* persistent; NULL: ended */
    char *buffer;                 /* TERN_RMA_MESSAGE_BYTES */
    int source;
    bool ready; /* a request has arrived, or the receive has failed */
};

/* A rank that waits for this rank's lock by a message. */
struct waiting {
    struct tern_list_node link;
    int rank;
    uint32_t id;
    bool exclusive;
};

struct tern_rma_server {
    struct tern_window *window;
    struct tern_list_node link;    /* among those with waiting ranks, of one lane */
    struct tern_list_node waiting; /* struct waiting, first come first served */
    struct tern_rma_verdict *verdicts; /* for each origin: since its last flush; NULL: all well */
    bool busy;    /* requests are being handled */
    uint32_t writes; /* long puts whose bytes are on the way */
    int slot_count;
    struct slot *slots;
};

/* Servers with waiting ranks. Guarded by the lane. */
static struct tern_list_node crowded[TERN_LANES_MAX];

/* A request that is being handled. */
struct incoming {
    struct tern_rma_server *server;
    struct tern_window *window;
    int source;
    const struct tern_rma_head *head;
    const struct tern_rma_row *rows;
    const char *bytes;
    int64_t length; /* of `bytes` */
};

/* ---- answers ---- */

/* Answers with malloc'ed memory. If that fails, the origin waits for nothing: the peer is lost, or
 * there is no memory, which the notice says. */
static void answer(const struct incoming *in, void *memory, int64_t bytes)
{
    int tag = tern_rma_answer_tag(in->head->id);
    if (tern_rma_send(in->window, in->source, tag, memory, bytes))
        tern_pml_send_failure(in->window->context, in->source, tag);
}

static void refuse(const struct incoming *in)
{
    tern_pml_send_failure(in->window->context, in->source, tern_rma_answer_tag(in->head->id));
}

/* Notes that an operation without an answer had no effect. The next flush says so. */
static void note(const struct incoming *in, int error, const struct tern_rma_row *row)
{
    struct tern_rma_server *server = in->server;
    if (!server->verdicts)
        server->verdicts = calloc((size_t)in->window->size, sizeof *server->verdicts);
    if (server->verdicts && !server->verdicts[in->source].error)
        server->verdicts[in->source] =
            (struct tern_rma_verdict){.error = error, .at = row->at, .length = row->length};
}

static void answer_verdict(const struct incoming *in)
{
    struct tern_rma_verdict *verdict = calloc(1, sizeof *verdict);
    if (!verdict) {
        refuse(in);
        return;
    }
    if (in->server->verdicts) {
        *verdict = in->server->verdicts[in->source];
        in->server->verdicts[in->source].error = 0;
    }
    answer(in, verdict, sizeof *verdict);
}

/* ---- blocks ---- */

/* Returns the first row with a block that is not in the window, or NULL. */
static const struct tern_rma_row *find_bad_row(const struct incoming *in)
{
    for (int i = 0; i < in->head->rows; i++) {
        const struct tern_rma_row *row = &in->rows[i];
        for (int64_t k = 0; k < row->count; k++)
            if (!tern_window_memory(in->window, row->at + (uint64_t)(row->stride * k),
                                    row->length))
                return row;
    }
    return NULL;
}

typedef int block_function(const struct incoming *in, char *at, int64_t length, int64_t offset,
                           void *argument);

/* Calls `use` for each block in order; `offset`: packed bytes before the block. Returns the first
 * error. */
static int each_block(const struct incoming *in, block_function *use, void *argument)
{
    int64_t offset = 0;
    int error = 0;
    for (int i = 0; i < in->head->rows; i++) {
        const struct tern_rma_row *row = &in->rows[i];
        for (int64_t k = 0; k < row->count; k++, offset += row->length) {
            int rc = use(in, tern_window_memory(in->window, row->at + (uint64_t)(row->stride * k),
                                                row->length),
                         row->length, offset, argument);
            error = error ? error : rc;
        }
    }
    return error;
}

/* Copies to or from the window's memory. */
static int copy(const struct incoming *in, void *to, const void *from, int64_t length)
{
    if (TERN_UNLIKELY(in->window->on_device))
        return tern_accel_copy(to, from, (size_t)length);
    memcpy(to, from, (size_t)length);
    return 0;
}

static int write_block(const struct incoming *in, char *at, int64_t length, int64_t offset,
                       void *unused)
{
    (void)unused;
    return copy(in, at, in->bytes + offset, length);
}

static int read_block(const struct incoming *in, char *at, int64_t length, int64_t offset, void *to)
{
    return copy(in, (char *)to + offset, at, length);
}

static void combine_host(const struct incoming *in, const struct tern_rma_combine *combine,
                         char *at, int64_t length, int64_t offset, void *before)
{
    const struct tern_rma_target *self = &in->window->targets[in->window->rank];
    const struct tern_rma_turf *turf = self->serial ? NULL : &self->turf;
    char *before_block = before ? (char *)before + offset : NULL;
    if (in->head->kind == TERN_RMA_SWAP)
        tern_rma_compare_and_swap(combine, turf, at, in->bytes + offset,
                                  in->bytes + in->head->bytes + offset, before_block);
    else
        tern_rma_combine_run(combine, turf, at, in->length ? in->bytes + offset : NULL,
                             before_block, length / combine->packed);
}

/* Combines in a copy if the memory is in a device's: nobody else changes it meanwhile. */
static int combine_block(const struct incoming *in, char *at, int64_t length, int64_t offset,
                         void *before)
{
    const struct tern_rma_combine *combine = tern_rma_combine_find(in->head->op, in->head->basic);
    if (!combine)
        return 0; /* the origin has checked that */
    if (!in->window->on_device || !tern_accel_holds(at)) {
        combine_host(in, combine, at, length, offset, before);
        return 0;
    }
    /* a pair without a hole has its gap at its end, where the window may end, too */
    int64_t count = length / combine->packed;
    int64_t bytes = tern_rma_has_hole(combine) ? count * combine->span
                                       : (count - 1) * combine->span + combine->packed;
    char *staged = calloc((size_t)count, (size_t)combine->span);
    int error = staged ? tern_accel_copy(staged, at, (size_t)bytes) : TERN_ERR_NO_MEM;
    if (!error) {
        combine_host(in, combine, staged, length, offset, before);
        error = tern_accel_copy(at, staged, (size_t)bytes);
    }
    free(staged);
    return error;
}

static int combine_all(const struct incoming *in, void *before)
{
    struct tern_rma_target *self = &in->window->targets[in->window->rank];
    if (self->serial)
        tern_rma_spin(&self->control->serial);
    int error = each_block(in, combine_block, before);
    if (self->serial)
        tern_rma_unspin(&self->control->serial);
    return error;
}

/* ---- operations ---- */

static void put(const struct incoming *in)
{
    const struct tern_rma_row *bad = find_bad_row(in);
    int error = bad ? TERN_ERR_RMA_RANGE : each_block(in, write_block, NULL);
    if (error)
        note(in, error, bad ? bad : in->rows);
}

static void get(const struct incoming *in)
{
    char *memory = find_bad_row(in) ? NULL : malloc((size_t)in->head->bytes);
    if (!memory || each_block(in, read_block, memory)) {
        free(memory);
        refuse(in);
        return;
    }
    answer(in, memory, in->head->bytes);
}

static void fetch(const struct incoming *in)
{
    char *before = find_bad_row(in) ? NULL : calloc(1, (size_t)in->head->bytes);
    if (!before || combine_all(in, before)) {
        free(before);
        refuse(in);
        return;
    }
    answer(in, before, in->head->bytes);
}

static void combine(const struct incoming *in)
{
    const struct tern_rma_row *bad = find_bad_row(in);
    int error = bad ? TERN_ERR_RMA_RANGE : combine_all(in, NULL);
    if (error)
        note(in, error, bad ? bad : in->rows);
}

/* A long put whose bytes are on the way. */
struct long_put {
    struct tern_rma_server *server;
    int source;
    uint32_t id;
    void *scratch; /* takes the bytes if they do not belong to the window; else NULL */
};

static void end_long_put(struct long_put *put, int error)
{
    struct tern_rma_head head = {.id = put->id};
    struct incoming in = {.server = put->server, .window = put->server->window,
                          .source = put->source, .head = &head};
    if (error || put->scratch)
        refuse(&in);
    else
        answer(&in, NULL, 0);
    put->server->writes--;
    free(put->scratch);
    free(put);
}

static void long_put_came(struct tern_request *request)
{
    struct long_put *put = request->owner;
    int error = request->error;
    request->kind->release(request);
    end_long_put(put, error);
}

static void put_long(const struct incoming *in)
{
    struct long_put *put = calloc(1, sizeof *put);
    struct tern_request *request;
    char *memory = tern_window_memory(in->window, in->rows->at, in->rows->length);
    if (!put) {
        refuse(in);
        return;
    }
    *put = (struct long_put){.server = in->server, .source = in->source, .id = in->head->id};
    if (!memory)
        memory = put->scratch = malloc((size_t)in->rows->length);
    in->server->writes++;
    int rc = memory ? tern_pml_irecv(in->window->context, memory, in->rows->length,
                                     &tern_type_bytes, in->source,
                                     tern_rma_data_tag(in->head->id), &request)
                    : TERN_ERR_NO_MEM;
    if (rc) {
        end_long_put(put, rc);
        return;
    }
    request->owner = put;
    if (request->complete)
        long_put_came(request);
    else
        request->on_complete = long_put_came;
}

/* ---- locks ---- */

static void grant(struct tern_rma_server *server, int rank, uint32_t id)
{
    struct tern_rma_head head = {.id = id};
    struct incoming in = {.server = server, .window = server->window, .source = rank,
                          .head = &head};
    answer(&in, NULL, 0);
}

/* Gives the lock to those who wait, in order. Returns how many got it. */
static int serve_waiting(struct tern_rma_server *server)
{
    struct tern_rma_control *control = server->window->targets[server->window->rank].control;
    int count = 0;
    while (!tern_list_empty(&server->waiting)) {
        struct waiting *first = TERN_CONTAINER(server->waiting.next, struct waiting, link);
        if (!tern_rma_try_lock(control, first->rank, first->exclusive))
            return count;
        tern_list_remove(&first->link);
        grant(server, first->rank, first->id);
        free(first);
        count++;
    }
    return count;
}

/* Tries again for ranks that wait while a rank of this node holds the lock. A function of
 * tern_progress_register. */
static int poll_locks(struct tern_lane *lane)
{
    struct tern_list_node *servers = &crowded[lane->index], *next;
    int count = 0;
    for (struct tern_list_node *at = servers->next; at != servers; at = next) {
        next = at->next;
        struct tern_rma_server *server = TERN_CONTAINER(at, struct tern_rma_server, link);
        count += serve_waiting(server);
        if (!tern_list_empty(&server->waiting))
            continue;
        tern_list_remove(&server->link);
        tern_list_init(&server->link);
        tern_store_release(&server->window->targets[server->window->rank].control->far_waiters, 0);
    }
    if (tern_list_empty(servers))
        tern_progress_unregister(lane, poll_locks);
    return count;
}

static void take_lock(const struct incoming *in)
{
    struct tern_rma_server *server = in->server;
    struct tern_rma_control *control = in->window->targets[in->window->rank].control;
    if (tern_list_empty(&server->waiting) && tern_rma_try_lock(control, in->source, in->head->op)) {
        grant(server, in->source, in->head->id);
        return;
    }
    struct waiting *waiting = malloc(sizeof *waiting);
    if (!waiting) {
        refuse(in);
        return;
    }
    *waiting = (struct waiting){.rank = in->source, .id = in->head->id, .exclusive = in->head->op};
    struct tern_lane *lane = in->window->context->lane;
    struct tern_list_node *servers = &crowded[lane->index];
    if (tern_list_empty(&server->link)) { /* not among the crowded ones */
        if (!servers->next)
            tern_list_init(servers);
        if (tern_list_empty(servers) && tern_progress_register(lane, poll_locks)) {
            free(waiting);
            refuse(in);
            return;
        }
        tern_list_append(servers, &server->link);
        tern_store_release(&control->far_waiters, 1);
    }
    tern_list_append(&server->waiting, &waiting->link);
}

static void give_lock(const struct incoming *in)
{
    tern_rma_unlock_near(in->window, &in->window->targets[in->window->rank], in->head->op);
    answer_verdict(in);
    serve_waiting(in->server);
    tern_lane_tell(in->window->context->lane); /* a thread here may wait for the lock, too */
}

/* ---- requests ---- */

static void handle(const struct incoming *in)
{
    switch (in->head->kind) {
    case TERN_RMA_PUT: put(in); break;
    case TERN_RMA_PUT_LONG: put_long(in); break;
    case TERN_RMA_GET: get(in); break;
    case TERN_RMA_COMBINE: combine(in); break;
    case TERN_RMA_FETCH:
    case TERN_RMA_SWAP: fetch(in); break;
    case TERN_RMA_FLUSH: answer_verdict(in); break;
    case TERN_RMA_TAKE_LOCK: take_lock(in); break;
    case TERN_RMA_GIVE_LOCK: give_lock(in); break;
    default: break;
    }
}

static void handle_slot(struct slot *slot)
{
    const struct tern_request *request = slot->request;
    struct incoming in = {.server = slot->server, .window = slot->server->window,
                          .source = request->status.MPI_SOURCE};
    in.head = (const struct tern_rma_head *)slot->buffer;
    in.rows = (const struct tern_rma_row *)(slot->buffer + sizeof *in.head);
    in.bytes = (const char *)(in.rows + in.head->rows);
    in.length = slot->buffer + request->status._ucount - in.bytes;
    handle(&in);
}

static void came(struct tern_request *request);

static void close_slot(struct slot *slot)
{
    if (slot->request) {
        slot->request->on_complete = NULL;
        if (!slot->request->complete)
            slot->request->kind->cancel(slot->request);
        slot->request->kind->release(slot->request);
    }
    free(slot->buffer);
    slot->request = NULL;
    slot->buffer = NULL;
}

/* Posts a slot's receive again. Returns false if that fails: a rank that it names is lost. */
static bool post(struct slot *slot)
{
    if (!slot->request->kind->start(slot->request))
        return true;
    close_slot(slot);
    return false;
}

static int open_slot(struct tern_rma_server *server, struct slot *slot, int source)
{
    *slot = (struct slot){.server = server, .source = source};
    slot->buffer = malloc(TERN_RMA_MESSAGE_BYTES);
    if (!slot->buffer)
        return tern_error(TERN_ERR_NO_MEM, "no memory to receive one-sided operations");
    int rc = tern_pml_recv_init(server->window->context, slot->buffer, TERN_RMA_MESSAGE_BYTES,
                                &tern_type_bytes, source, TERN_RMA_TAG_REQUEST, &slot->request);
    if (rc) {
        close_slot(slot);
        return rc;
    }
    slot->request->owner = slot;
    slot->request->on_complete = came;
    return 0;
}

/* Goes on with one receive for each rank, after the receive from any rank has failed. */
static void split(struct tern_rma_server *server)
{
    int size = server->window->size;
    struct slot *slots = calloc((size_t)size, sizeof *slots);
    if (!slots)
        return;
    close_slot(&server->slots[0]);
    free(server->slots);
    server->slots = slots;
    server->slot_count = size;
    for (int rank = 0; rank < size; rank++)
        if (!tern_pml_check_source(server->window->context, rank) &&
            !open_slot(server, &slots[rank], rank))
            post(&slots[rank]);
}

/* Handles what has come, until nothing more has. A receive that is posted again may be complete at
 * once; then it calls this function from within. */
static void serve(struct tern_rma_server *server)
{
    if (server->busy)
        return;
    server->busy = true;
    for (bool any = true; any;) {
        any = false;
        for (int i = 0; i < server->slot_count; i++) {
            struct slot *slot = &server->slots[i];
            if (!slot->ready)
                continue;
            slot->ready = false;
            any = true;
            bool posted = false;
            if (!slot->request->error) {
                handle_slot(slot);
                posted = post(slot);
            } else {
                close_slot(slot);
            }
            if (!posted && slot->source == MPI_ANY_SOURCE) {
                split(server);
                break;
            }
        }
    }
    server->busy = false;
}

static void came(struct tern_request *request)
{
    struct slot *slot = request->owner;
    slot->ready = true;
    serve(slot->server);
}

/* ---- start and end ---- */

int tern_rma_serve_open(struct tern_window *window)
{
    struct tern_rma_server *server = calloc(1, sizeof *server);
    struct slot *slot = calloc(1, sizeof *slot);
    if (!server || !slot) {
        free(server);
        free(slot);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a window");
    }
    server->window = window;
    tern_list_init(&server->waiting);
    tern_list_init(&server->link);
    server->slots = slot;
    server->slot_count = 1;
    int rc = open_slot(server, slot, MPI_ANY_SOURCE);
    if (rc) {
        free(slot);
        free(server);
        return rc;
    }
    window->server = server;
    tern_lane_lock(window->context->lane);
    server->busy = true; /* not yet: `slot` may be complete at once */
    bool posted = post(slot);
    server->busy = false;
    if (!posted)
        split(server);
    else
        serve(server);
    tern_lane_unlock(window->context->lane);
    return 0;
}

void tern_rma_serve_close(struct tern_window *window)
{
    struct tern_rma_server *server = window->server;
    if (!server)
        return;
    tern_lane_lock(window->context->lane);
    tern_rma_await(window, &server->writes);
    for (int i = 0; i < server->slot_count; i++)
        close_slot(&server->slots[i]);
    while (!tern_list_empty(&server->waiting)) {
        struct waiting *first = TERN_CONTAINER(server->waiting.next, struct waiting, link);
        tern_list_remove(&first->link);
        free(first);
    }
    tern_list_remove(&server->link);
    window->server = NULL;
    tern_lane_unlock(window->context->lane);
    free(server->verdicts);
    free(server->slots);
    free(server);
}
