/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/ofi_lane.h"

#include "lib/btl/ofi/libfabric.h"
#include "lib/btl/ofi/ofi_link.h"
#include "lib/btl/ofi/region_cache.h"
#include "lib/node/doorbell.h"
#include "lib/util/error.h"
#include "lib/util/log.h"

#include <errno.h>
#include <poll.h>
#include <rdma/fi_cm.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    RECEIVE_BYTES = 1 << 20, /* of all buffers for arriving frames */
    MANY_BYTES = 256 << 10,  /* of a buffer that takes many */
    SENDS = 32,
    BATCH = 16,
    PROOFS = 3,     /* how often a new descriptor must have nothing to report */
    NAP_US = 100, /* the first timed sleep; doubled each time, up to ... */
    NAP_MOST_US = 1600,
    LIES_MOST = 16, /* of a descriptor, one after the other, until it is not used any more */
};

struct tern_ofi_lane tern_ofi_lanes[TERN_LANES_MAX];

/* ---- opening ---- */

static int failed(const char *call, long error)
{
    return tern_error(TERN_ERR_OTHER, "libfabric's provider %s, device %s: %s: %s",
                      tern_ofi_fabric.info->fabric_attr->prov_name,
                      tern_ofi_fabric.info->domain_attr->name, call, tern_ofi_error(error));
}

void tern_ofi_lane_prepare(struct tern_ofi_lane *lane, uint32_t index)
{
    *lane = (struct tern_ofi_lane){.index = index, .fd = -1, .clock_fd = -1};
    tern_list_init(&lane->busy);
    tern_list_init(&lane->links);
    tern_list_init(&lane->readings);
    tern_list_init(&lane->visitors);
    pthread_mutex_init(&lane->visitors_lock, NULL);
}

static int open_queue(struct tern_ofi_lane *lane)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    int error = fi_cq_open(tern_ofi_fabric.domain, &attr, &lane->queue, NULL);
    if (!error && fi_control(&lane->queue->fid, FI_GETWAIT, &lane->fd) == 0)
        return 0;
    if (!error)
        fi_close(&lane->queue->fid);
    lane->fd = -1;
    attr.wait_obj = FI_WAIT_NONE;
    error = fi_cq_open(tern_ofi_fabric.domain, &attr, &lane->queue, NULL);
    return error ? failed("fi_cq_open", error) : 0;
}

static int open_endpoint(struct tern_ofi_lane *lane)
{
    size_t length = sizeof lane->name.bytes, least = TERN_OFI_FRAME_MAX;
    int error = fi_endpoint(tern_ofi_fabric.domain, tern_ofi_fabric.info, &lane->endpoint, NULL);
    if (error) {
        lane->endpoint = NULL;
        return failed("fi_endpoint", error);
    }
    error = fi_ep_bind(lane->endpoint, &tern_ofi_fabric.av->fid, 0);
    if (!error)
        error = fi_ep_bind(lane->endpoint, &lane->queue->fid, FI_TRANSMIT | FI_RECV);
    if (!error && tern_ofi_fabric.multi_recv)
        error = fi_setopt(&lane->endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                          sizeof least);
    if (!error)
        error = fi_enable(lane->endpoint);
    if (!error)
        error = fi_getname(&lane->endpoint->fid, lane->name.bytes, &length);
    lane->name.length = (uint32_t)length;
    return error ? failed("the endpoint", error) : 0;
}

/* Allocates the buffers. The pages of frames that are never used stay untouched. */
static int make_buffers(struct tern_ofi_lane *lane)
{
    lane->buffer_bytes = tern_ofi_fabric.multi_recv ? MANY_BYTES : TERN_OFI_FRAME_MAX;
    lane->buffer_count = (int)(RECEIVE_BYTES / lane->buffer_bytes);
    lane->memory_bytes = RECEIVE_BYTES + SENDS * (size_t)TERN_OFI_FRAME_MAX;
    lane->buffers = calloc((size_t)lane->buffer_count, sizeof *lane->buffers);
    lane->sends = calloc(SENDS, sizeof *lane->sends);
    lane->memory = mmap(NULL, lane->memory_bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (lane->memory == MAP_FAILED)
        lane->memory = NULL;
    if (!lane->buffers || !lane->sends || !lane->memory)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the buffers of btl ofi");
    /* a child has no endpoint; without this, fork could move pinned pages to the child */
    madvise(lane->memory, lane->memory_bytes, MADV_DONTFORK);
    for (int i = 0; i < lane->buffer_count; i++)
        lane->buffers[i] = (struct tern_ofi_buffer){
            .op.kind = TERN_OFI_RECEIVE,
            .bytes = lane->memory + (size_t)i * lane->buffer_bytes,
            .idle = true};
    lane->idle_buffers = lane->buffer_count;
    for (int i = 0; i < SENDS; i++) {
        struct tern_ofi_send *send = &lane->sends[i];
        send->op.kind = TERN_OFI_SEND;
        send->bytes = lane->memory + RECEIVE_BYTES + (size_t)i * TERN_OFI_FRAME_MAX;
        send->next_free = lane->free_sends;
        lane->free_sends = send;
    }
    return tern_ofi_register_own(lane->endpoint, lane->memory, lane->memory_bytes,
                                 FI_SEND | FI_RECV, &lane->region);
}

/* Posts a buffer that the provider has given back. If the provider has no room, the buffer stays
 * idle, and the next poll tries again. */
static void post_buffer(struct tern_ofi_lane *lane, struct tern_ofi_buffer *buffer)
{
    struct iovec whole = {buffer->bytes, lane->buffer_bytes};
    struct fi_msg message = {.msg_iov = &whole,
                             .desc = &lane->region.desc,
                             .iov_count = 1,
                             .addr = FI_ADDR_UNSPEC,
                             .context = &buffer->op};
    if (fi_recvmsg(lane->endpoint, &message, tern_ofi_fabric.multi_recv ? FI_MULTI_RECV : 0))
        return;
    buffer->idle = false;
    lane->idle_buffers--;
}

static void post_idle_buffers(struct tern_ofi_lane *lane)
{
    for (int i = 0; i < lane->buffer_count; i++)
        if (lane->buffers[i].idle && !lane->buffers[i].in_use)
            post_buffer(lane, &lane->buffers[i]);
}

/* Finds out whether the queue's descriptor lets a thread sleep. Some versions of providers say that
 * it does, and report something all the time. */
static bool descriptor_works(const struct tern_ofi_lane *lane)
{
    struct fid *queue = &lane->queue->fid;
    for (int i = 0; lane->fd >= 0 && i < PROOFS; i++) {
        struct pollfd poll_fd = {.fd = lane->fd, .events = POLLIN};
        struct fi_cq_data_entry entry;
        if (fi_cq_read(lane->queue, &entry, 0) > 0 ||
            fi_trywait(tern_ofi_fabric.fabric, &queue, 1) || poll(&poll_fd, 1, 0) != 0)
            return false;
    }
    return lane->fd >= 0;
}

int tern_ofi_lane_open(struct tern_ofi_lane *lane)
{
    if (lane->endpoint)
        return 0;
    int rc = open_queue(lane);
    if (!rc)
        rc = open_endpoint(lane);
    if (!rc)
        rc = make_buffers(lane);
    if (rc) {
        tern_ofi_lane_close(lane);
        return rc;
    }
    post_idle_buffers(lane);
    lane->sleeps = descriptor_works(lane) && tern_doorbell_watch(lane->fd) == 0;
    return 0;
}

/* Some versions of providers have a descriptor that works until the first peer connects, and is
 * readable all the time afterwards. */
bool tern_ofi_lane_arm(struct tern_ofi_lane *lane)
{
    struct fid *queue = &lane->queue->fid;
    struct pollfd poll_fd = {.fd = lane->fd, .events = POLLIN};
    if (fi_trywait(tern_ofi_fabric.fabric, &queue, 1))
        return false;
    if (poll(&poll_fd, 1, 0) == 0) {
        lane->lies = 0;
        lane->armed = true;
        return true;
    }
    if (++lane->lies >= LIES_MOST) {
        lane->sleeps = false;
        tern_doorbell_unwatch(lane->fd);
    }
    return false;
}

bool tern_ofi_lane_nap(struct tern_ofi_lane *lane)
{
    struct itimerspec soon = {0};
    lane->nap_us = lane->nap_us ? 2 * lane->nap_us : NAP_US;
    if (lane->nap_us > NAP_MOST_US)
        lane->nap_us = NAP_MOST_US;
    soon.it_value.tv_nsec = lane->nap_us * 1000;
    if (lane->clock_fd < 0) {
        lane->clock_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (lane->clock_fd >= 0 && tern_doorbell_watch(lane->clock_fd)) {
            close(lane->clock_fd);
            lane->clock_fd = -1;
        }
    }
    lane->clock_runs = true;
    return lane->clock_fd >= 0 && timerfd_settime(lane->clock_fd, 0, &soon, NULL) == 0;
}

bool tern_ofi_lane_stop_clock(struct tern_ofi_lane *lane)
{
    struct itimerspec never = {0};
    if (lane->clock_runs && lane->clock_fd >= 0)
        timerfd_settime(lane->clock_fd, 0, &never, NULL); /* an end that was not read goes, too */
    lane->clock_runs = false;
    return true;
}

static void close_clock(struct tern_ofi_lane *lane)
{
    if (lane->clock_fd < 0)
        return;
    tern_doorbell_unwatch(lane->clock_fd);
    close(lane->clock_fd);
}

void tern_ofi_lane_close(struct tern_ofi_lane *lane)
{
    if (lane->sleeps)
        tern_doorbell_unwatch(lane->fd);
    close_clock(lane);
    if (lane->endpoint)
        tern_ofi_cache_forget(lane->endpoint);
    if (lane->endpoint)
        fi_close(&lane->endpoint->fid); /* ends all operations */
    tern_ofi_deregister(&lane->region);
    if (lane->queue)
        fi_close(&lane->queue->fid);
    if (lane->memory)
        munmap(lane->memory, lane->memory_bytes);
    free(lane->buffers);
    free(lane->sends);
    tern_ofi_links_free(lane);
    tern_ofi_lane_prepare(lane, lane->index);
}

/* ---- sending ---- */

void tern_ofi_give_send(struct tern_ofi_lane *lane, struct tern_ofi_send *send)
{
    send->link = NULL;
    send->next_free = lane->free_sends;
    lane->free_sends = send;
    lane->sends_under_way--;
}

/* Returns what the callers get for an error of libfabric. Nothing may complete when there is room
 * again, so a thread that sleeps must look soon. */
static int not_taken(struct tern_ofi_lane *lane, ssize_t error)
{
    if (error != -FI_EAGAIN)
        return (int)error;
    lane->crowded = true;
    return TERN_ERR_AGAIN;
}

int tern_ofi_post(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                  struct tern_ofi_send *send, size_t length)
{
    send->link = link;
    ssize_t rc = fi_send(lane->endpoint, send->bytes, length, lane->region.desc, link->address,
                         &send->op);
    if (TERN_LIKELY(rc == 0))
        return 0;
    tern_ofi_give_send(lane, send);
    return not_taken(lane, rc);
}

int tern_ofi_inject(struct tern_ofi_lane *lane, const struct tern_ofi_link *link,
                    const void *frame, size_t length)
{
    ssize_t rc = fi_inject(lane->endpoint, frame, length, link->address);
    return TERN_LIKELY(rc == 0) ? 0 : not_taken(lane, rc);
}

/* ---- completions ---- */

static struct tern_ofi_buffer *buffer_of(struct tern_ofi_op *op)
{
    return TERN_CONTAINER(op, struct tern_ofi_buffer, op);
}

/* Notes that the provider has given the buffer back. */
static void release_buffer(struct tern_ofi_lane *lane, struct tern_ofi_buffer *buffer)
{
    buffer->idle = true;
    lane->idle_buffers++;
}

static int take_received(struct tern_ofi_lane *lane, struct tern_ofi_buffer *buffer,
                         const struct fi_cq_data_entry *entry)
{
    bool many = tern_ofi_fabric.multi_recv;
    if (!many || entry->flags & FI_MULTI_RECV)
        release_buffer(lane, buffer);
    if (many && entry->flags & FI_MULTI_RECV && entry->len == 0)
        return 0; /* gives only the buffer back */
    /* a nested poll must not post the buffer while the frame is being delivered */
    buffer->in_use++;
    tern_ofi_frame_arrived(lane, many ? entry->buf : buffer->bytes, entry->len);
    buffer->in_use--;
    return 1;
}

static int take_entry(struct tern_ofi_lane *lane, const struct fi_cq_data_entry *entry)
{
    struct tern_ofi_op *op = entry->op_context;
    if (!op)
        return 0; /* nothing of ours has no context */
    switch (op->kind) {
    case TERN_OFI_RECEIVE:
        return take_received(lane, buffer_of(op), entry);
    case TERN_OFI_SEND:
        tern_ofi_give_send(lane, TERN_CONTAINER(op, struct tern_ofi_send, op));
        return 1;
    case TERN_OFI_READ:
        tern_ofi_read_ended(lane, op, 0);
        return 1;
    }
    return 0;
}

/* Handles the end of an operation with an error. Returns the number of events. */
static int take_error(struct tern_ofi_lane *lane)
{
    struct fi_cq_err_entry entry = {0};
    if (fi_cq_readerr(lane->queue, &entry, 0) <= 0 || !entry.op_context)
        return 0;
    struct tern_ofi_op *op = entry.op_context;
    if (op->kind == TERN_OFI_RECEIVE) {
        if (!buffer_of(op)->idle && (!tern_ofi_fabric.multi_recv || entry.flags & FI_MULTI_RECV))
            release_buffer(lane, buffer_of(op));
    } else if (op->kind == TERN_OFI_READ) {
        tern_ofi_read_ended(lane, op, entry.err);
    } else {
        struct tern_ofi_send *send = TERN_CONTAINER(op, struct tern_ofi_send, op);
        struct tern_ofi_link *link = send->link;
        tern_ofi_give_send(lane, send);
        if (link)
            tern_ofi_link_failed(lane, link, entry.err);
    }
    return 1;
}

int tern_ofi_lane_poll(struct tern_ofi_lane *lane)
{
    struct fi_cq_data_entry entries[BATCH];
    int count = 0;
    if (TERN_UNLIKELY(lane->idle_buffers))
        post_idle_buffers(lane);
    ssize_t n = fi_cq_read(lane->queue, entries, BATCH);
    if (TERN_UNLIKELY(n == -FI_EAVAIL))
        return take_error(lane);
    if (n <= 0)
        return 0;
    lane->lies = 0;
    lane->nap_us = 0;
    for (ssize_t i = 0; i < n; i++)
        count += take_entry(lane, &entries[i]);
    return count;
}
