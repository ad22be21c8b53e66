/* SPDX-License-Identifier: BSD-3-Clause */

/* Ports: the endpoint of a lane on a rail, its buffers and its completions. */

#include "lib/btl/ofi/wire/ofi_lane.h"

#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/region_cache.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/node/doorbell.h"
#include "lib/util/base/error.h"

#include <poll.h>
#include <rdma/fi_cm.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    RECEIVE_BYTES = 1 << 20, /* of all buffers for arriving frames */
    SPARE_BYTES = 256 << 10, /* likewise, on a rail by which frames come only if others are dead */
    MANY_BYTES = 256 << 10,  /* of a buffer that takes many */
    SENDS = 32,
    BATCH = 16,
    PROOFS = 3,     /* how often a new descriptor must have nothing to report */
    LIES_MOST = 16, /* of a descriptor, one after the other, until it is not used any more */
};

/* ---- opening ---- */

static int failed(const struct tern_ofi_port *port, const char *call, long error)
{
    return tern_error(TERN_ERR_OTHER, "libfabric's provider %s, device %s: %s: %s",
                      tern_ofi_fabric.info->fabric_attr->prov_name, tern_ofi_device(port->rail),
                      call, tern_ofi_error(error));
}

static struct tern_ofi_rail *rail_of(const struct tern_ofi_port *port)
{
    return &tern_ofi_fabric.rails[port->rail];
}

static int open_queue(struct tern_ofi_port *port)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD};
    int error = fi_cq_open(rail_of(port)->domain, &attr, &port->queue, NULL);
    if (!error && fi_control(&port->queue->fid, FI_GETWAIT, &port->fd) == 0)
        return 0;
    if (!error)
        fi_close(&port->queue->fid);
    port->fd = -1;
    attr.wait_obj = FI_WAIT_NONE;
    error = fi_cq_open(rail_of(port)->domain, &attr, &port->queue, NULL);
    return error ? failed(port, "fi_cq_open", error) : 0;
}

static int open_endpoint(struct tern_ofi_port *port)
{
    size_t length = sizeof port->name.bytes, least = TERN_OFI_FRAME_MAX;
    int error = fi_endpoint(rail_of(port)->domain, rail_of(port)->info, &port->endpoint, NULL);
    if (error) {
        port->endpoint = NULL;
        return failed(port, "fi_endpoint", error);
    }
    error = fi_ep_bind(port->endpoint, &rail_of(port)->av->fid, 0);
    if (!error)
        error = fi_ep_bind(port->endpoint, &port->queue->fid, FI_TRANSMIT | FI_RECV);
    if (!error && tern_ofi_fabric.multi_recv)
        error = fi_setopt(&port->endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least,
                          sizeof least);
    if (!error)
        error = fi_enable(port->endpoint);
    if (!error)
        error = fi_getname(&port->endpoint->fid, port->name.bytes, &length);
    port->name.length = (uint32_t)length;
    return error ? failed(port, "the endpoint", error) : 0;
}

/* Notes that the provider has given the buffer back. */
static void release_buffer(struct tern_ofi_port *port, struct tern_ofi_buffer *buffer)
{
    buffer->idle = true;
    port->idle_buffers++;
}

static int receive_ended(struct tern_ofi_port *port, struct tern_ofi_op *op,
                         const struct fi_cq_data_entry *entry, int error)
{
    struct tern_ofi_buffer *buffer = TERN_CONTAINER(op, struct tern_ofi_buffer, op);
    bool many = tern_ofi_fabric.multi_recv, last = !many || entry->flags & FI_MULTI_RECV;
    if (last && !(error && buffer->idle))
        release_buffer(port, buffer);
    if (error)
        return 1;
    if (many && last && entry->len == 0)
        return 0; /* gives only the buffer back */
    /* a nested poll must not post the buffer while the frame is being delivered */
    buffer->in_use++;
    port->lane->user->arrived(port->lane, many ? entry->buf : buffer->bytes, entry->len);
    buffer->in_use--;
    return 1;
}

static int send_ended(struct tern_ofi_port *port, struct tern_ofi_op *op,
                      const struct fi_cq_data_entry *entry, int error)
{
    (void)entry;
    struct tern_ofi_send *send = TERN_CONTAINER(op, struct tern_ofi_send, op);
    struct tern_ofi_link *link = send->link;
    tern_ofi_give_send(port, send);
    if (error && link)
        port->lane->user->send_failed(link, port, error);
    return 1;
}

/* Allocates the buffers. The pages of frames that are never used stay untouched. */
static int make_buffers(struct tern_ofi_port *port)
{
    size_t receive_bytes = port->rail == 0 ? RECEIVE_BYTES : SPARE_BYTES;
    port->buffer_bytes = tern_ofi_fabric.multi_recv ? MANY_BYTES : TERN_OFI_FRAME_MAX;
    port->buffer_count = (int)(receive_bytes / port->buffer_bytes);
    port->memory_bytes = receive_bytes + SENDS * (size_t)TERN_OFI_FRAME_MAX;
    port->buffers = calloc((size_t)port->buffer_count, sizeof *port->buffers);
    port->sends = calloc(SENDS, sizeof *port->sends);
    port->memory =
        mmap(NULL, port->memory_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (port->memory == MAP_FAILED)
        port->memory = NULL;
    if (!port->buffers || !port->sends || !port->memory)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the buffers of btl ofi");
    /* a child has no endpoint; without this, fork could move pinned pages to the child */
    madvise(port->memory, port->memory_bytes, MADV_DONTFORK);
    for (int i = 0; i < port->buffer_count; i++)
        port->buffers[i] =
            (struct tern_ofi_buffer){.op.ended = receive_ended,
                                     .bytes = port->memory + (size_t)i * port->buffer_bytes,
                                     .idle = true};
    port->idle_buffers = port->buffer_count;
    for (int i = 0; i < SENDS; i++) {
        struct tern_ofi_send *send = &port->sends[i];
        send->op.ended = send_ended;
        send->bytes = port->memory + receive_bytes + (size_t)i * TERN_OFI_FRAME_MAX;
        send->next_free = port->free_sends;
        port->free_sends = send;
    }
    return tern_ofi_register_own(port->rail, port->endpoint, port->memory, port->memory_bytes,
                                 FI_SEND | FI_RECV, &port->region);
}

/* Posts a buffer that the provider has given back. If the provider has no room, the buffer stays
 * idle, and the next poll tries again. */
static void post_buffer(struct tern_ofi_port *port, struct tern_ofi_buffer *buffer)
{
    struct iovec whole = {buffer->bytes, port->buffer_bytes};
    struct fi_msg message = {.msg_iov = &whole,
                             .desc = &port->region.desc,
                             .iov_count = 1,
                             .addr = FI_ADDR_UNSPEC,
                             .context = &buffer->op};
    if (fi_recvmsg(port->endpoint, &message, tern_ofi_fabric.multi_recv ? FI_MULTI_RECV : 0))
        return;
    buffer->idle = false;
    port->idle_buffers--;
}

static void post_idle_buffers(struct tern_ofi_port *port)
{
    for (int i = 0; i < port->buffer_count; i++)
        if (port->buffers[i].idle && !port->buffers[i].in_use)
            post_buffer(port, &port->buffers[i]);
}

/* Finds out whether the queue's descriptor lets a thread sleep. Some versions of providers say that
 * it does, and report something all the time. */
static bool descriptor_works(const struct tern_ofi_port *port)
{
    struct fid *queue = &port->queue->fid;
    for (int i = 0; port->fd >= 0 && i < PROOFS; i++) {
        struct pollfd poll_fd = {.fd = port->fd, .events = POLLIN};
        struct fi_cq_data_entry entry;
        if (fi_cq_read(port->queue, &entry, 0) > 0 ||
            fi_trywait(rail_of(port)->fabric, &queue, 1) || poll(&poll_fd, 1, 0) != 0)
            return false;
    }
    return port->fd >= 0;
}

void tern_ofi_port_clear(struct tern_ofi_port *port, struct tern_ofi_lane *lane, uint32_t rail)
{
    *port = (struct tern_ofi_port){.lane = lane, .rail = rail, .fd = -1};
    tern_list_init(&port->exposed);
}

int tern_ofi_port_open(struct tern_ofi_port *port)
{
    int rc = open_queue(port);
    if (!rc)
        rc = open_endpoint(port);
    if (!rc)
        rc = make_buffers(port);
    if (rc) {
        tern_ofi_port_close(port);
        return rc;
    }
    post_idle_buffers(port);
    port->sleeps = descriptor_works(port) && tern_doorbell_watch(port->fd) == 0;
    return 0;
}

/* Ends the registrations that peers use. Their owners free them. */
static void end_exposed(struct tern_ofi_port *port)
{
    for (struct tern_list_node *at = port->exposed.next, *next; at != &port->exposed; at = next) {
        next = at->next;
        tern_ofi_deregister(&TERN_CONTAINER(at, struct tern_ofi_exposed, in_port)->region);
        tern_list_remove(at);
        tern_list_init(at);
    }
}

void tern_ofi_port_close(struct tern_ofi_port *port)
{
    if (port->sleeps)
        tern_doorbell_unwatch(port->fd);
    if (port->endpoint) {
        /* ends all operations; some providers want the registrations to end before */
        int error = fi_close(&port->endpoint->fid);
        tern_ofi_cache_forget(port->endpoint);
        end_exposed(port);
        if (error)
            fi_close(&port->endpoint->fid);
    }
    tern_ofi_deregister(&port->region);
    tern_ofi_landing_close(&port->landing);
    if (port->queue)
        fi_close(&port->queue->fid);
    if (port->memory)
        munmap(port->memory, port->memory_bytes);
    free(port->buffers);
    free(port->sends);
    tern_ofi_port_clear(port, port->lane, port->rail);
}

/* Ports that were abandoned: the provider may still use what belongs to them. Atomic,
 * because each lane adds its own. */
struct abandoned {
    struct abandoned *next;
    struct tern_ofi_port port;
};
static struct abandoned *abandoned;

/* Keeps what belongs to the port in reach, so that it is no leak. */
static void keep_abandoned(const struct tern_ofi_port *port)
{
    struct abandoned *kept = malloc(sizeof *kept);
    if (!kept)
        return;
    kept->port = *port;
    kept->next = __atomic_load_n(&abandoned, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&abandoned, &kept->next, kept, false, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        ;
}

void tern_ofi_port_abandon(struct tern_ofi_port *port)
{
    if (port->sleeps)
        tern_doorbell_unwatch(port->fd);
    keep_abandoned(port);
    tern_ofi_fabric.rails[port->rail].abandoned = true;
    tern_ofi_port_clear(port, port->lane, port->rail);
}

/* Some versions of providers have a descriptor that works until the first peer connects, and is
 * readable all the time afterwards. */
bool tern_ofi_port_arm(struct tern_ofi_port *port)
{
    struct fid *queue = &port->queue->fid;
    struct pollfd poll_fd = {.fd = port->fd, .events = POLLIN};
    if (fi_trywait(rail_of(port)->fabric, &queue, 1))
        return false;
    if (poll(&poll_fd, 1, 0) == 0) {
        port->lies = 0;
        return true;
    }
    if (++port->lies >= LIES_MOST) {
        port->sleeps = false;
        tern_doorbell_unwatch(port->fd);
    }
    return false;
}

/* ---- sending ---- */

void tern_ofi_give_send(struct tern_ofi_port *port, struct tern_ofi_send *send)
{
    send->link = NULL;
    send->next_free = port->free_sends;
    port->free_sends = send;
    port->sends_under_way--;
}

/* Returns what the callers get for an error of libfabric. Nothing may complete when there is room
 * again, so a thread that sleeps must look soon. */
static int not_taken(const struct tern_ofi_port *port, ssize_t error)
{
    if (error != -FI_EAGAIN)
        return (int)error;
    port->lane->crowded = true;
    return TERN_ERR_AGAIN;
}

int tern_ofi_post(struct tern_ofi_link *link, struct tern_ofi_send *send, size_t length)
{
    struct tern_ofi_port *port = link->port;
    send->link = link;
    ssize_t rc =
        fi_send(port->endpoint, send->bytes, length, port->region.desc, link->address, &send->op);
    if (TERN_LIKELY(rc == 0))
        return 0;
    tern_ofi_give_send(port, send);
    return not_taken(port, rc);
}

int tern_ofi_inject(const struct tern_ofi_link *link, const void *frame, size_t length)
{
    ssize_t rc = fi_inject(link->port->endpoint, frame, length, link->address);
    return TERN_LIKELY(rc == 0) ? 0 : not_taken(link->port, rc);
}

/* ---- completions ---- */

/* Handles what the queue reports of an operation. Nothing of ours has no context. Returns the
 * number of events. */
static int take_entry(struct tern_ofi_port *port, const struct fi_cq_data_entry *entry, int error)
{
    struct tern_ofi_op *op = entry->op_context;
    return op ? op->ended(port, op, entry, error) : 0;
}

/* Handles the end of an operation with an error. Returns the number of events. */
static int take_error(struct tern_ofi_port *port)
{
    struct fi_cq_err_entry failure = {0};
    if (fi_cq_readerr(port->queue, &failure, 0) <= 0)
        return 0;
    struct fi_cq_data_entry entry = {.op_context = failure.op_context, .flags = failure.flags};
    return take_entry(port, &entry, failure.err ? failure.err : FI_EOTHER);
}

int tern_ofi_port_poll(struct tern_ofi_port *port)
{
    struct fi_cq_data_entry entries[BATCH];
    int count = 0;
    if (TERN_UNLIKELY(port->idle_buffers))
        post_idle_buffers(port);
    ssize_t n = fi_cq_read(port->queue, entries, BATCH);
    if (TERN_UNLIKELY(n == -FI_EAVAIL)) {
        port->polling++;
        count = take_error(port);
        port->polling--;
        return count;
    }
    if (n <= 0)
        return 0;
    port->lies = 0;
    port->lane->nap_us = 0;
    port->polling++;
    for (ssize_t i = 0; i < n; i++)
        count += take_entry(port, &entries[i], 0);
    port->polling--;
    return count;
}
