/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider strict (strict.h): its endpoints. */
#include "strict.h"

#include <stdlib.h>

static struct strict_ep *ep_of(struct fid_ep *fid)
{
    return STRICT_OF(fid, struct strict_ep, fid);
}

static bool again(void)
{
    bool now = strict_happens(STRICT_AGAIN);
    if (now)
        STRICT_COUNT(again);
    return now;
}

/* Takes back an operation that did not begin. */
static ssize_t not_begun(struct strict_ep *ep, struct strict_op *op, ssize_t error)
{
    if (error)
        strict_end(ep->cq, op);
    pthread_mutex_unlock(&ep->cq->lock);
    return error;
}

static ssize_t post_inner(struct strict_ep *ep, char *start, size_t length, struct strict_op *op)
{
    struct iovec iov = {start, length};
    struct fi_msg message = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = op};
    return fi_recvmsg(ep->inner, &message, 0);
}

/* Posts the slots of a buffer that takes many messages; fewer, if net has no room for more. */
static ssize_t post_slots(struct strict_ep *ep, char *start, size_t length, struct strict_op *whole)
{
    for (size_t at = 0; at + ep->least <= length; at += ep->least) {
        struct strict_op *slot = strict_begin_slot(whole);
        ssize_t error = post_inner(ep, start + at, ep->least, slot);
        if (!error)
            continue;
        strict_end(ep->cq, slot);
        return --whole->slots ? 0 : error;
    }
    return 0;
}

static ssize_t post(struct strict_ep *ep, const struct iovec *iov, void *desc, bool many, void *context)
{
    if (again())
        return -FI_EAGAIN;
    struct strict_mr *mr = strict_use(ep, iov->iov_base, iov->iov_len, desc, FI_RECV, "fi_recv");
    strict_lock(ep->domain, &ep->cq->lock);
    struct strict_op *op = strict_begin(ep, context, many ? STRICT_MANY : STRICT_RECEIVE, mr);
    STRICT_COUNT(receives);
    return not_begun(ep, op,
                     many ? post_slots(ep, iov->iov_base, iov->iov_len, op) : post_inner(ep, iov->iov_base, iov->iov_len, op));
}

static ssize_t ep_recvmsg(struct fid_ep *fid, const struct fi_msg *message, uint64_t flags)
{
    if (message->iov_count != 1 || flags & ~FI_MULTI_RECV)
        strict_broken("fi_recvmsg: other flags, or several buffers, are not made here");
    return post(ep_of(fid), message->msg_iov, message->desc ? message->desc[0] : NULL, flags & FI_MULTI_RECV, message->context);
}

static ssize_t ep_recv(struct fid_ep *fid, void *buffer, size_t length, void *desc, fi_addr_t from, void *context)
{
    (void)from;
    return post(ep_of(fid), &(struct iovec){buffer, length}, desc, false, context);
}

static ssize_t ep_send(struct fid_ep *fid, const void *buffer, size_t length, void *desc, fi_addr_t to, void *context)
{
    struct strict_ep *ep = ep_of(fid);
    if (again())
        return -FI_EAGAIN;
    struct strict_mr *mr = strict_use(ep, buffer, length, desc, FI_SEND, "fi_send");
    strict_lock(ep->domain, &ep->cq->lock);
    struct strict_op *op = strict_begin(ep, context, STRICT_SEND, mr);
    STRICT_COUNT(sends);
    strict_note_step(&strict_counts.steps_out);
    op->fails = strict_happens(STRICT_SEND_FAILS);
    if (op->fails)
        STRICT_COUNT(failed_sends);
    return not_begun(ep, op, fi_send(ep->inner, buffer, length, NULL, to, op));
}

static ssize_t ep_inject(struct fid_ep *fid, const void *buffer, size_t length, fi_addr_t to)
{
    struct strict_ep *ep = ep_of(fid);
    strict_check_host(buffer, "fi_inject");
    if (length > STRICT_INJECT)
        strict_broken("fi_inject of %zu bytes; %d are possible", length, STRICT_INJECT);
    if (again())
        return -FI_EAGAIN;
    strict_lock(ep->domain, &ep->cq->lock);
    ssize_t error = fi_inject(ep->inner, buffer, length, to);
    pthread_mutex_unlock(&ep->cq->lock);
    STRICT_COUNT(injects);
    return error;
}

static ssize_t ep_read(struct fid_ep *fid, void *buffer, size_t length, void *desc, fi_addr_t from, uint64_t address,
                       uint64_t key, void *context)
{
    struct strict_ep *ep = ep_of(fid);
    uint64_t offset, inner_key;
    if (again())
        return -FI_EAGAIN;
    strict_translate(ep->domain, address, length, key, &offset, &inner_key);
    struct strict_mr *mr = strict_use(ep, buffer, length, desc, FI_READ, "fi_read");
    strict_lock(ep->domain, &ep->cq->lock);
    struct strict_op *op = strict_begin(ep, context, STRICT_READ, mr);
    STRICT_COUNT(reads);
    if (strict_happens(STRICT_READ_FAILS)) {
        strict_hold(ep->cq, &(struct fi_cq_data_entry){.op_context = op, .flags = FI_RMA | FI_READ}, FI_EIO);
        STRICT_COUNT(failed_reads);
        return not_begun(ep, op, 0);
    }
    if (mr->window) {
        buffer = mr->window + ((char *)buffer - mr->start);
        STRICT_COUNT(device_reads);
    }
    return not_begun(ep, op, fi_read(ep->inner, buffer, length, NULL, from, offset, inner_key, op));
}

static ssize_t ep_writemsg(struct fid_ep *fid, const struct fi_msg_rma *message, uint64_t flags)
{
    struct strict_ep *ep = ep_of(fid);
    struct fi_rma_iov there = message->rma_iov[0];
    if (message->iov_count != 1 || message->rma_iov_count != 1 || message->msg_iov[0].iov_len != there.len)
        strict_broken("fi_writemsg: several buffers, or unequal lengths, are not made here");
    if (flags != (FI_COMPLETION | FI_DELIVERY_COMPLETE))
        strict_broken("fi_writemsg without FI_DELIVERY_COMPLETE, or with other flags");
    if (again())
        return -FI_EAGAIN;
    strict_translate(ep->domain, there.addr, there.len, there.key, &there.addr, &there.key);
    struct strict_mr *mr =
        strict_use(ep, message->msg_iov[0].iov_base, there.len, message->desc ? message->desc[0] : NULL, FI_WRITE, "fi_writemsg");
    strict_lock(ep->domain, &ep->cq->lock);
    struct strict_op *op = strict_begin(ep, message->context, STRICT_WRITE, mr);
    STRICT_COUNT(writes);
    if (strict_happens(STRICT_WRITE_FAILS)) {
        strict_hold(ep->cq, &(struct fi_cq_data_entry){.op_context = op, .flags = FI_RMA | FI_WRITE}, FI_EIO);
        STRICT_COUNT(failed_writes);
        return not_begun(ep, op, 0);
    }
    struct fi_msg_rma inner = *message;
    inner.desc = NULL;
    inner.rma_iov = &there;
    inner.context = op;
    return not_begun(ep, op, fi_writemsg(ep->inner, &inner, flags));
}

/* ---- the endpoint ---- */

static int ep_close(struct fid *fid)
{
    struct strict_ep *ep = STRICT_OF(fid, struct strict_ep, fid.fid);
    int error = fi_close(&ep->inner->fid);
    for (struct strict_op *op = ep->cq ? ep->cq->ops : NULL; op; op = op->next)
        if (op->endpoint == ep && op->mr) {
            strict_end_use(op->mr);
            op->mr = NULL;
        }
    free(ep);
    return error;
}

static int ep_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct strict_ep *ep = STRICT_OF(fid, struct strict_ep, fid.fid);
    if (other->fclass != FI_CLASS_CQ)
        return fi_ep_bind(ep->inner, other, flags);
    ep->cq = STRICT_OF(other, struct strict_cq, fid.fid);
    return fi_ep_bind(ep->inner, &ep->cq->inner->fid, flags);
}

static int ep_control(struct fid *fid, int command, void *arg)
{
    return fi_control(&STRICT_OF(fid, struct strict_ep, fid.fid)->inner->fid, command, arg);
}

static int ep_getopt(fid_t fid, int level, int name, void *value, size_t *length)
{
    return fi_getopt(&STRICT_OF(fid, struct strict_ep, fid.fid)->inner->fid, level, name, value, length);
}

static int ep_setopt(fid_t fid, int level, int name, const void *value, size_t length)
{
    struct strict_ep *ep = STRICT_OF(fid, struct strict_ep, fid.fid);
    if (level == FI_OPT_ENDPOINT && name == FI_OPT_MIN_MULTI_RECV && length == sizeof ep->least) {
        ep->least = *(const size_t *)value;
        return 0;
    }
    return fi_setopt(&ep->inner->fid, level, name, value, length);
}

static int ep_getname(fid_t fid, void *name, size_t *length)
{
    return fi_getname(&STRICT_OF(fid, struct strict_ep, fid.fid)->inner->fid, name, length);
}

int strict_ep_open(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ret_ep, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = ep_close, .bind = ep_bind, .control = ep_control};
    static struct fi_ops_ep ep_ops = {.size = sizeof ep_ops, .getopt = ep_getopt, .setopt = ep_setopt};
    static struct fi_ops_cm cm_ops = {.size = sizeof cm_ops, .getname = ep_getname};
    static struct fi_ops_msg msg_ops = {
        .size = sizeof msg_ops, .recv = ep_recv, .recvmsg = ep_recvmsg, .send = ep_send, .inject = ep_inject};
    static struct fi_ops_rma rma_ops = {.size = sizeof rma_ops, .read = ep_read, .writemsg = ep_writemsg};
    struct strict_ep *ep = strict_allocate(sizeof *ep);
    struct fi_info *inner = fi_dupinfo(info);
    ep->domain = STRICT_OF(fid, struct strict_domain, fid);
    ep->least = 4096;
    inner->mode = 0;
    inner->caps &= ~FI_HMEM;
    inner->domain_attr->mr_mode = 0;
    inner->domain_attr->mr_key_size = 8;
    int error = fi_endpoint(ep->domain->inner, inner, &ep->inner, context);
    fi_freeinfo(inner);
    if (error) {
        free(ep);
        return error;
    }
    ep->fid = (struct fid_ep){.fid = {.fclass = FI_CLASS_EP, .context = context, .ops = &ops},
                              .ops = &ep_ops,
                              .cm = &cm_ops,
                              .msg = &msg_ops,
                              .rma = &rma_ops};
    *ret_ep = &ep->fid;
    return 0;
}
