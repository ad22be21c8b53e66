/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Operations at a target that gets messages: the origin's side. lib/rma/rma_message.h says what
 * travels, lib/rma/serve.c is the other side.
 *
 * A part is one message under way whose end matters: an answer, the bytes of a long put, or the
 * request itself, because its memory must be freed. Parts end from progress, in any thread.
 */

#include "lib/rma/asked.h"
#include "lib/rma/rma_message.h"

#include "lib/pml/pml.h"
#include "lib/type/layout.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- faults ---- */

void tern_rma_note_fault(struct tern_window *window, int rank, int error)
{
    if (window->fault)
        return;
    window->fault = error;
    snprintf(window->fault_text, sizeof window->fault_text, "an operation at rank %d failed: %s",
             rank, tern_error_text(error));
}

int tern_rma_take_fault(struct tern_window *window)
{
    int error = window->fault;
    window->fault = 0;
    return error ? tern_error(error, "%s", window->fault_text) : 0;
}

/* ---- parts ---- */

struct part {
    struct tern_window *window;
    int rank;
    bool local, remote; /* counted in target->local and target->remote */
    bool unpacks;       /* `memory` is an answer to be unpacked at `to` */
    bool judges;        /* `memory` is a struct tern_rma_verdict */
    struct tern_rma_request *request; /* NULL: none */
    void *memory;                     /* freed at the end; NULL: none */
    struct tern_cursor to;
    int64_t bytes;
    struct tern_type type; /* keeps the program of the user's datatype */
    bool has_type;
};

static struct part *new_part(struct tern_window *window, int rank, struct tern_rma_request *request)
{
    struct part *part = calloc(1, sizeof *part);
    if (!part) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a one-sided operation");
        return NULL;
    }
    part->window = window;
    part->rank = rank;
    part->request = request;
    return part;
}

static void free_part(struct part *part)
{
    if (part->has_type)
        tern_type_drop(&part->type);
    free(part->memory);
    free(part);
}

/* Keeps the layout of a datatype that the user may free before the part ends. */
static const struct tern_type *keep_type(struct part *part, const struct tern_type *type)
{
    tern_type_make_dup(type, &part->type);
    part->has_type = true;
    return &part->type;
}

/* The target sends a failure in place of an answer if it has no such memory. */
static int explain(const struct part *part, int error)
{
    if (error == TERN_ERR_UNREACHABLE && !tern_pml_check_source(part->window->context, part->rank))
        return tern_error(TERN_ERR_RMA_RANGE, "the memory is not part of the window of rank %d",
                          part->rank);
    return error;
}

static int judge(const struct part *part)
{
    const struct tern_rma_verdict *verdict = part->memory;
    if (!verdict->error)
        return 0;
    if (verdict->error != TERN_ERR_RMA_RANGE)
        return tern_error(verdict->error,
                          "rank %d could not copy the %lld bytes at %#llx of its window, which is "
                          "in device memory", part->rank, (long long)verdict->length,
                          (unsigned long long)verdict->at);
    return tern_error(verdict->error,
                      "the %lld bytes at %#llx are not part of the window of rank %d",
                      (long long)verdict->length, (unsigned long long)verdict->at, part->rank);
}

static void end_part(struct part *part, int error)
{
    struct tern_rma_target *target = &part->window->targets[part->rank];
    if (!error && part->unpacks)
        tern_cursor_unpack(&part->to, part->memory, (size_t)part->bytes);
    error = error ? explain(part, error) : part->judges ? judge(part) : 0;
    if (error && !part->request)
        tern_rma_note_fault(part->window, part->rank, error);
    target->local -= part->local;
    target->remote -= part->remote;
    part->window->sending--;
    tern_rma_request_end_part(part->request, error);
    free_part(part);
}

static void part_ended(struct tern_request *request)
{
    struct part *part = request->owner;
    int error = request->error;
    request->kind->release(request);
    end_part(part, error);
}

/* Lets a started request end `part`. */
static void follow(struct tern_request *request, struct part *part)
{
    struct tern_rma_target *target = &part->window->targets[part->rank];
    target->local += part->local;
    target->remote += part->remote;
    part->window->sending++;
    tern_rma_request_add_part(part->request);
    request->owner = part;
    if (request->complete)
        part_ended(request);
    else
        request->on_complete = part_ended;
}

/* Ends a part whose request could not be started. */
static int give_up(struct part *part, int error)
{
    free_part(part);
    return error;
}

static int send_part(struct part *part, const void *buffer, int64_t count,
                     const struct tern_type *type, int tag)
{
    struct tern_request *request;
    int rc = tern_pml_isend(part->window->context, buffer, count, type, part->rank, tag,
                            TERN_SEND_STANDARD, &request);
    if (rc)
        return give_up(part, rc);
    if (request == &tern_request_empty) { /* static: it has no owner */
        part->window->sending++;
        struct tern_rma_target *target = &part->window->targets[part->rank];
        target->local += part->local;
        target->remote += part->remote;
        tern_rma_request_add_part(part->request);
        end_part(part, 0);
    } else {
        follow(request, part);
    }
    return 0;
}

static int receive_part(struct part *part, void *buffer, int64_t count,
                        const struct tern_type *type, int tag)
{
    struct tern_request *request;
    int rc = tern_pml_irecv(part->window->context, buffer, count, type, part->rank, tag, &request);
    if (rc)
        return give_up(part, rc);
    follow(request, part);
    return 0;
}

int tern_rma_send(struct tern_window *window, int rank, int tag, void *memory, int64_t bytes)
{
    struct part *part = new_part(window, rank, NULL);
    if (!part) {
        free(memory);
        return TERN_ERR_NO_MEM;
    }
    part->memory = memory;
    return send_part(part, memory ? memory : "", bytes, &tern_type_bytes, tag);
}

static void await(struct tern_window *window, const uint32_t *counter,
                  const struct tern_probe *probe)
{
    struct tern_waiter waiter = {.lane = window->context->lane,
                                 .procedure = "one-sided communication",
                                 .probe = probe};
    while (__atomic_load_n(counter, __ATOMIC_RELAXED))
        tern_wait(&waiter);
}

void tern_rma_await(struct tern_window *window, const uint32_t *counter)
{
    await(window, counter, NULL);
}

/* ---- requests to the target ---- */

/* A request that is being written. */
struct outgoing {
    struct tern_rma_head *head;
    struct tern_rma_row *rows;
    char *bytes; /* behind the rows; valid once the rows are complete */
};

/* Makes a request of this kind, with room for `bytes` bytes behind its rows; for
 * TERN_RMA_INLINE_BYTES, if there are more. Returns 0 or TERN_ERR_NO_MEM. */
static int begin_request(struct outgoing *out, struct tern_window *window, enum tern_rma_kind kind,
                         int64_t bytes)
{
    size_t room = (size_t)(bytes < TERN_RMA_INLINE_BYTES ? bytes : TERN_RMA_INLINE_BYTES);
    char *memory = malloc(TERN_RMA_MESSAGE_BYTES - TERN_RMA_INLINE_BYTES + room);
    *out = (struct outgoing){0};
    if (!memory)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a one-sided operation");
    out->head = (struct tern_rma_head *)memory;
    *out->head = (struct tern_rma_head){.kind = (uint8_t)kind, .id = window->next_id++};
    out->rows = (struct tern_rma_row *)(memory + sizeof *out->head);
    out->bytes = (char *)out->rows;
    return 0;
}

/* Adds a block. Returns false if no row is left. */
static bool add_block(struct outgoing *out, uint64_t at, int64_t length)
{
    struct tern_rma_head *head = out->head;
    struct tern_rma_row *last = head->rows ? &out->rows[head->rows - 1] : NULL;
    if (last && last->length == length && last->count == 1) {
        last->stride = (int64_t)(at - last->at);
        last->count = 2;
    } else if (last && last->length == length &&
               at == last->at + (uint64_t)(last->stride * last->count)) {
        last->count++;
    } else if (head->rows == TERN_RMA_ROWS) {
        return false;
    } else {
        out->rows[head->rows++] = (struct tern_rma_row){at, length, 0, 1};
    }
    head->bytes += length;
    out->bytes = (char *)(out->rows + head->rows);
    return true;
}

/* Describes the next bytes of the target's buffer, `most` at most. With `combine` the blocks
 * consist of whole elements. */
static void add_rows(struct outgoing *out, struct tern_cursor *target, int64_t most,
                     const struct tern_rma_combine *combine)
{
    while (most > 0 && target->offset < target->length) {
        int64_t before = target->offset, length;
        struct iovec run;
        if (combine) {
            run.iov_base = tern_rma_next_elements(target, combine, most, &length);
        } else {
            size_t got;
            tern_cursor_runs(target, &run, 1, (size_t)most, &got);
            length = (int64_t)got;
        }
        if (!add_block(out, (uintptr_t)run.iov_base, length)) {
            tern_cursor_seek(target, before);
            return;
        }
        most -= length;
    }
}

/* Sends the request with `bytes` bytes behind its rows, and owns it from now on. */
static int send_request(struct tern_window *window, int rank, struct outgoing *out, int64_t bytes,
                        struct tern_rma_request *request)
{
    struct part *part = new_part(window, rank, request);
    if (!part) {
        free(out->head);
        return TERN_ERR_NO_MEM;
    }
    part->memory = out->head;
    int64_t length = out->bytes + bytes - (char *)out->head;
    return send_part(part, out->head, length, &tern_type_bytes, TERN_RMA_TAG_REQUEST);
}

/* The cursor of the target's buffer: its addresses are displacements. */
static struct tern_cursor target_cursor(const struct tern_rma_operation *operation)
{
    struct tern_cursor cursor;
    tern_cursor_init_host(&cursor, operation->type, (char *)(uintptr_t)operation->at,
                          operation->count);
    return cursor;
}

static struct tern_cursor buffer_cursor(const struct tern_rma_buffer *buffer)
{
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, buffer->type, buffer->base, buffer->count);
    return cursor;
}

/* ---- operations ---- */

static int put_inline(const struct tern_rma_operation *operation)
{
    struct tern_cursor target = target_cursor(operation),
                       origin = buffer_cursor(operation->origin);
    int rc = 0;
    while (target.offset < target.length && !rc) {
        struct outgoing out;
        rc = begin_request(&out, operation->window, TERN_RMA_PUT, operation->bytes);
        if (rc)
            break;
        add_rows(&out, &target, TERN_RMA_INLINE_BYTES, NULL);
        int64_t bytes = out.head->bytes;
        tern_cursor_pack(&origin, out.bytes, (size_t)bytes);
        rc = send_request(operation->window, operation->rank, &out, bytes, NULL);
        operation->target->unflushed++;
    }
    return rc;
}

int tern_rma_ask_put_long(const struct tern_rma_operation *operation, uint64_t at,
                          struct tern_rma_request *request)
{
    struct tern_window *window = operation->window;
    struct outgoing out;
    int rc = begin_request(&out, window, TERN_RMA_PUT_LONG, 0);
    if (rc)
        return rc;
    uint32_t id = out.head->id;
    add_block(&out, at, operation->bytes);
    rc = send_request(window, operation->rank, &out, 0, NULL);
    struct part *answer = rc ? NULL : new_part(window, operation->rank, NULL);
    struct part *bytes = answer ? new_part(window, operation->rank, request) : NULL;
    if (!bytes) {
        free(answer);
        return rc ? rc : TERN_ERR_NO_MEM;
    }
    answer->remote = true;
    bytes->local = true;
    const struct tern_type *type = keep_type(bytes, operation->origin->type);
    rc = receive_part(answer, NULL, 0, &tern_type_bytes, tern_rma_answer_tag(id));
    int send_rc = send_part(bytes, operation->origin->base, operation->origin->count, type,
                            tern_rma_data_tag(id));
    return rc ? rc : send_rc;
}

/* Runs `start` with the lane locked and a request if one is wanted. */
typedef int starter(const struct tern_rma_operation *operation, struct tern_rma_request *request);

static int with_request(const struct tern_rma_operation *operation, starter *start)
{
    struct tern_lane *lane = operation->window->context->lane;
    struct tern_rma_request *request = NULL;
    if (operation->ret_request && !(request = tern_rma_request_new(operation->window)))
        return TERN_ERR_NO_MEM;
    tern_lane_lock(lane);
    int rc = start(operation, request);
    if (request && rc && request->parts == 1)
        tern_rma_request_drop(request);
    else if (request) {
        *operation->ret_request = &request->request;
        tern_rma_request_end_part(request, rc);
        rc = 0;
    }
    tern_lane_unlock(lane);
    return rc;
}

static int start_put(const struct tern_rma_operation *operation, struct tern_rma_request *request)
{
    void *start;
    if (tern_rma_copy_direct(operation, request))
        return 0;
    if (operation->bytes > TERN_RMA_INLINE_BYTES &&
        tern_type_one_run(operation->type, (void *)(uintptr_t)operation->at, operation->count,
                          &start))
        return tern_rma_ask_put_long(operation, (uintptr_t)start, request);
    return put_inline(operation);
}

static int asked_put(const struct tern_rma_operation *operation)
{
    return with_request(operation, start_put);
}

/* Prepares to receive `bytes` bytes of an answer, which belong at `to`: straight into the buffer if
 * they are all of it, else by a copy. */
static int expect_answer(const struct tern_rma_operation *operation,
                         struct tern_rma_request *request, uint32_t id,
                         const struct tern_cursor *to, int64_t bytes)
{
    struct part *part = new_part(operation->window, operation->rank, request);
    if (!part)
        return TERN_ERR_NO_MEM;
    part->local = part->remote = true;
    const struct tern_type *type = keep_type(part, to->type);
    if (bytes == to->length)
        return receive_part(part, to->base, to->count, type, tern_rma_answer_tag(id));
    part->memory = malloc((size_t)bytes);
    if (!part->memory)
        return give_up(part, tern_error(TERN_ERR_NO_MEM, "no memory for %lld bytes of an answer",
                                        (long long)bytes));
    part->unpacks = true;
    part->to = *to;
    part->to.type = type;
    part->bytes = bytes;
    return receive_part(part, part->memory, bytes, &tern_type_bytes, tern_rma_answer_tag(id));
}

int tern_rma_ask_get(const struct tern_rma_operation *operation, struct tern_rma_request *request)
{
    struct tern_cursor target = target_cursor(operation),
                       result = buffer_cursor(operation->result);
    int rc = 0;
    while (target.offset < target.length && !rc) {
        struct outgoing out;
        rc = begin_request(&out, operation->window, TERN_RMA_GET, 0);
        if (rc)
            break;
        add_rows(&out, &target, INT64_MAX, NULL);
        int64_t bytes = out.head->bytes;
        uint32_t id = out.head->id;
        rc = send_request(operation->window, operation->rank, &out, 0, NULL);
        if (!rc)
            rc = expect_answer(operation, request, id, &result, bytes);
        result.offset += bytes;
    }
    return rc;
}

static int start_get(const struct tern_rma_operation *operation,
                     struct tern_rma_request *request)
{
    return tern_rma_copy_direct(operation, request) ? 0 : tern_rma_ask_get(operation, request);
}

static int asked_get(const struct tern_rma_operation *operation)
{
    return with_request(operation, start_get);
}

/* Writes the packed elements behind the rows. Returns their bytes. */
static int64_t add_elements(const struct tern_rma_operation *operation, struct outgoing *out,
                            struct tern_cursor *origin)
{
    int64_t bytes = out->head->bytes;
    if (!operation->origin)
        return 0;
    tern_cursor_pack(origin, out->bytes, (size_t)bytes);
    if (!operation->compare)
        return bytes;
    memcpy(out->bytes + bytes, operation->compare, (size_t)bytes);
    return 2 * bytes;
}

static int start_fetch(const struct tern_rma_operation *operation, struct tern_rma_request *request)
{
    const struct tern_rma_combine *combine = operation->combine;
    struct tern_cursor target = target_cursor(operation), origin = {0}, result = {0};
    if (operation->origin)
        origin = buffer_cursor(operation->origin);
    if (operation->result)
        result = buffer_cursor(operation->result);
    enum tern_rma_kind kind = operation->compare  ? TERN_RMA_SWAP
                              : operation->result ? TERN_RMA_FETCH
                                                  : TERN_RMA_COMBINE;
    int64_t most = TERN_RMA_INLINE_BYTES / combine->packed * combine->packed;
    int rc = 0;
    while (target.offset < target.length && !rc) {
        struct outgoing out;
        rc = begin_request(&out, operation->window, kind, 2 * operation->bytes);
        if (rc)
            break;
        out.head->op = (uint8_t)combine->op;
        out.head->basic = (uint8_t)combine->basic;
        add_rows(&out, &target, most, combine);
        int64_t bytes = out.head->bytes;
        uint32_t id = out.head->id;
        rc = send_request(operation->window, operation->rank, &out,
                          add_elements(operation, &out, &origin), NULL);
        if (!operation->result)
            operation->target->unflushed++;
        else if (!rc)
            rc = expect_answer(operation, request, id, &result, bytes);
        result.offset += bytes;
    }
    return rc;
}

static int asked_fetch(const struct tern_rma_operation *operation)
{
    return with_request(operation, start_fetch);
}

const struct tern_rma_way tern_rma_asked = {
    .put = asked_put, .get = asked_get, .fetch = asked_fetch};

/* ---- completion and locks ---- */

/* Sends a request without rows and expects an answer of `bytes` bytes, a verdict if `judges`. */
static int ask(struct tern_window *window, int rank, enum tern_rma_kind kind, bool exclusive,
               bool judges)
{
    struct outgoing out;
    int rc = begin_request(&out, window, kind, 0);
    if (rc)
        return rc;
    uint32_t id = out.head->id;
    out.head->op = exclusive;
    struct part *part = new_part(window, rank, NULL);
    struct tern_rma_verdict *verdict = calloc(1, sizeof *verdict);
    if (!part || !verdict) {
        free(out.head);
        free(part);
        free(verdict);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a one-sided operation");
    }
    part->remote = true;
    part->memory = verdict;
    part->judges = judges;
    rc = send_request(window, rank, &out, 0, NULL);
    if (rc)
        return give_up(part, rc);
    return receive_part(part, verdict, judges ? sizeof *verdict : 0, &tern_type_bytes,
                        tern_rma_answer_tag(id));
}

int tern_rma_ask_flush(struct tern_window *window, int rank)
{
    window->targets[rank].unflushed = 0;
    return ask(window, rank, TERN_RMA_FLUSH, false, true);
}

int tern_rma_ask_lock(struct tern_window *window, int rank, bool exclusive)
{
    static const uint64_t unseen; /* who holds the lock is known to the target only */
    static const uint32_t nobody;
    const struct tern_probe lock = {
        .context = window->context,
        .source = rank,
        .lock = &unseen,
        .taker = &nobody,
        .exclusive = exclusive};
    int rc = ask(window, rank, TERN_RMA_TAKE_LOCK, exclusive, false);
    if (rc)
        return rc;
    await(window, &window->targets[rank].remote, &lock);
    return tern_rma_take_fault(window);
}

int tern_rma_ask_unlock(struct tern_window *window, int rank, bool exclusive)
{
    struct tern_rma_target *target = &window->targets[rank];
    tern_rma_await(window, &target->remote); /* long puts end on their own */
    target->unflushed = 0;
    int rc = ask(window, rank, TERN_RMA_GIVE_LOCK, exclusive, true);
    if (rc)
        return rc;
    tern_rma_await(window, &target->remote);
    return tern_rma_take_fault(window);
}
