/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider strict (strict.h): operations under way, and completions, which come late and in any order. */
#include "strict.h"

#include <stdlib.h>
#include <string.h>

enum { BATCH = 16, HELD_MOST = 256 };

struct strict_op *strict_begin(struct strict_ep *endpoint, void *context, enum strict_kind kind, struct strict_mr *mr)
{
    struct strict_op *op = strict_allocate(sizeof *op);
    if (!context)
        strict_broken("an operation without a context, but FI_CONTEXT2 is set");
    for (struct strict_op *other = endpoint->cq->ops; other; other = other->next)
        if (other->context == context)
            strict_broken("two operations under way have the same context");
    *op = (struct strict_op){
        .next = endpoint->cq->ops, .context = context, .kind = kind, .endpoint = endpoint, .mr = mr};
    endpoint->cq->ops = op;
    memset(context, 0xcc, sizeof(struct fi_context2));
    op->context->internal[0] = op;
    return op;
}

struct strict_op *strict_begin_slot(struct strict_op *whole)
{
    struct strict_op *op = strict_allocate(sizeof *op);
    *op = (struct strict_op){
        .next = whole->endpoint->cq->ops, .kind = STRICT_SLOT, .endpoint = whole->endpoint, .whole = whole};
    whole->endpoint->cq->ops = op;
    whole->slots++;
    return op;
}

void strict_end(struct strict_cq *cq, struct strict_op *op)
{
    struct strict_op **at = &cq->ops;
    while (*at != op)
        at = &(*at)->next;
    *at = op->next;
    if (op->mr) {
        if (op->context->internal[0] != op)
            strict_broken("the context of an operation under way was overwritten");
        strict_end_use(op->mr);
    }
    free(op);
}

void strict_hold(struct strict_cq *cq, const struct fi_cq_data_entry *entry, int error)
{
    if (cq->held_count == cq->held_room) {
        cq->held_room = 2 * cq->held_room + BATCH;
        cq->held = realloc(cq->held, cq->held_room * sizeof *cq->held);
        if (!cq->held)
            strict_broken("no memory");
    }
    cq->held[cq->held_count++] = (struct strict_held){.entry = *entry, .error = error};
}

/* Takes what has completed, so that it can be given in another order. */
static void fill(struct strict_cq *cq)
{
    struct fi_cq_data_entry entries[BATCH];
    while (cq->held_count < HELD_MOST) {
        ssize_t n = fi_cq_read(cq->inner, entries, BATCH);
        if (n == -FI_EAVAIL) {
            struct fi_cq_err_entry bad = {0};
            if (fi_cq_readerr(cq->inner, &bad, 0) <= 0)
                return;
            strict_hold(cq, &(struct fi_cq_data_entry){.op_context = bad.op_context, .flags = bad.flags, .len = bad.len}, bad.err);
            continue;
        }
        if (n <= 0)
            return;
        for (ssize_t i = 0; i < n; i++) {
            struct strict_op *op = entries[i].op_context;
            strict_hold(cq, &entries[i], op && op->fails ? FI_EIO : 0);
        }
    }
}

/* Takes one of the held completions, any. Returns false if none may come now. */
static bool pick(struct strict_cq *cq, struct strict_held *ret_held)
{
    if (!cq->held_count)
        return false;
    size_t i = strict_random() % cq->held_count;
    *ret_held = cq->held[i];
    if (i > 0)
        STRICT_COUNT(overtaken);
    memmove(cq->held + i, cq->held + i + 1, (cq->held_count - i - 1) * sizeof *cq->held);
    cq->held_count--;
    return true;
}

static void give(struct strict_cq *cq, struct strict_held *held)
{
    struct strict_op *op = held->entry.op_context;
    if (op->kind != STRICT_SEND)
        strict_note_step(&strict_counts.steps_in);
    if (op->kind == STRICT_SLOT) {
        struct strict_op *whole = op->whole;
        strict_end(cq, op);
        held->entry.op_context = whole->context;
        if (--whole->slots == 0) {
            held->entry.flags |= FI_MULTI_RECV;
            strict_end(cq, whole);
        }
        return;
    }
    held->entry.op_context = op->context;
    strict_end(cq, op);
}

static ssize_t cq_read(struct fid_cq *fid, void *buffer, size_t count)
{
    struct strict_cq *cq = STRICT_OF(fid, struct strict_cq, fid);
    struct fi_cq_data_entry *entries = buffer;
    struct strict_held held;
    ssize_t given = 0;
    strict_lock(cq->domain, &cq->lock);
    fill(cq);
    if (cq->has_failed)
        given = -FI_EAVAIL;
    else if (strict_random() % 3)
        while (given < (ssize_t)count && strict_random() % 4 && pick(cq, &held)) {
            give(cq, &held);
            if (held.error) {
                cq->failed = held;
                cq->has_failed = true;
                break; /* what was given before comes first */
            }
            entries[given++] = held.entry;
        }
    if (!given && cq->has_failed)
        given = -FI_EAVAIL;
    pthread_mutex_unlock(&cq->lock);
    return given ? given : -FI_EAGAIN;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
    struct strict_cq *cq = STRICT_OF(fid, struct strict_cq, fid);
    (void)flags;
    strict_lock(cq->domain, &cq->lock);
    bool has = cq->has_failed;
    cq->has_failed = false;
    if (has)
        *entry = (struct fi_cq_err_entry){
            .op_context = cq->failed.entry.op_context, .flags = cq->failed.entry.flags, .err = cq->failed.error};
    pthread_mutex_unlock(&cq->lock);
    return has ? 1 : -FI_EAGAIN;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
    return fi_control(&STRICT_OF(fid, struct strict_cq, fid.fid)->inner->fid, command, arg);
}

static int cq_close(struct fid *fid)
{
    struct strict_cq *cq = STRICT_OF(fid, struct strict_cq, fid.fid);
    int error = fi_close(&cq->inner->fid);
    while (cq->ops) {
        struct strict_op *op = cq->ops;
        if (op->mr)
            strict_broken("the queue is closed before its endpoint");
        cq->ops = op->next;
        free(op);
    }
    free(cq->held);
    free(cq);
    return error;
}

int strict_cq_open(struct fid_domain *fid, struct fi_cq_attr *attr, struct fid_cq **ret_cq, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = cq_close, .control = cq_control};
    static struct fi_ops_cq cq_ops = {.size = sizeof cq_ops, .read = cq_read, .readerr = cq_readerr};
    struct strict_cq *cq = strict_allocate(sizeof *cq);
    cq->domain = STRICT_OF(fid, struct strict_domain, fid);
    if (attr->format != FI_CQ_FORMAT_DATA)
        strict_broken("fi_cq_open: another format than FI_CQ_FORMAT_DATA is not made here");
    int error = fi_cq_open(cq->domain->inner, attr, &cq->inner, context);
    if (error) {
        free(cq);
        return error;
    }
    cq->fid = (struct fid_cq){.fid = {.fclass = FI_CLASS_CQ, .context = context, .ops = &ops}, .ops = &cq_ops};
    pthread_mutex_init(&cq->lock, NULL);
    *ret_cq = &cq->fid;
    return 0;
}
