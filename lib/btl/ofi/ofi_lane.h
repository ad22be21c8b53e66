/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_LANE_H
#define TERN_OFI_LANE_H

/*
 * A lane's endpoint, its completion queue and its buffers. Lane 0 opens when MPI starts, another
 * when it is first used. Locks: the caller holds the lane's lock.
 */

#include "lib/btl/ofi/ofi_frame.h"
#include "lib/btl/peer.h"
#include "lib/util/atomic.h"
#include "lib/util/list.h"

#include <pthread.h>
#include <rdma/fi_eq.h>

/* Bytes of a frame: what ofi_rxm sends at once. It gives a buffer for many messages back while
 * longer ones are still arriving (test/ofi/bare_multi_recv.c). */
enum { TERN_OFI_FRAME_MAX = 16 * 1024 };
/* Bytes of the payload of a packet. */
enum { TERN_OFI_PACKET_MAX = TERN_OFI_FRAME_MAX - sizeof(struct tern_ofi_packet) };

/* An operation that libfabric carries out; its address is libfabric's context. */
enum tern_ofi_op_kind { TERN_OFI_RECEIVE, TERN_OFI_SEND, TERN_OFI_READ };
struct tern_ofi_op {
    struct fi_context2 for_provider; /* must be the first member */
    enum tern_ofi_op_kind kind;
};

/* A buffer in which frames arrive: many, one after the other, or one (fabric->multi_recv). */
struct tern_ofi_buffer {
    struct tern_ofi_op op;
    unsigned char *bytes;
    uint32_t in_use; /* frames that are being delivered from it */
    bool idle;       /* the provider has given it back, and it was not posted again */
};

/* A frame on its way out. */
struct tern_ofi_send {
    struct tern_ofi_op op;
    unsigned char *bytes; /* TERN_OFI_FRAME_MAX */
    struct tern_ofi_link *link; /* NULL: the frame is free */
    struct tern_ofi_send *next_free;
};

struct tern_ofi_link;
struct tern_ofi_reading;

struct tern_ofi_lane {
    uint32_t index;
    struct fid_ep *endpoint; /* NULL: the lane is not open */
    struct fid_cq *queue;
    struct tern_ofi_name name;
    int fd;       /* becomes readable when something completes; -1: there is none */
    bool sleeps;  /* the descriptor works, as far as is known */
    bool armed;   /* fi_trywait permits sleep: until then the queue must not be read */
    bool crowded; /* the provider had no room for something since the last sleep */
    int lies; /* times in a row that the descriptor was readable and nothing had completed */
    int clock_fd;    /* ends timed sleeps; -1: none yet */
    bool clock_runs; /* the clock may be readable now, or soon */
    uint32_t nap_us; /* of the last timed sleep; 0: something has completed since */
    unsigned char *memory; /* of all buffers; one registration */
    size_t memory_bytes;
    struct tern_ofi_region region;
    struct tern_ofi_buffer *buffers;
    int buffer_count, idle_buffers;
    size_t buffer_bytes;
    struct tern_ofi_send *sends, *free_sends;
    int sends_under_way;
    /* links by slot - 1; links that have something to do; all links */
    struct tern_ofi_link **by_slot;
    uint32_t slot_count, slot_room;
    struct tern_list_node busy, links;
    struct tern_list_node readings; /* lib/btl/ofi/read.c */
    int reading_count;
    uint64_t looked_at; /* last look at the clock, in ticks */
    uint64_t now_ms;    /* at the last look */
    pthread_mutex_t visitors_lock;
    struct tern_list_node visitors; /* greetings that arrived at lane 0; guarded by the lock */
    bool has_visitors;              /* atomic */
    uint64_t strange; /* frames that were dropped: of strangers, or of old links */
} __attribute__((aligned(TERN_CACHE_LINE)));
extern struct tern_ofi_lane tern_ofi_lanes[TERN_LANES_MAX];

/* Prepares the parts that need no endpoint. */
void tern_ofi_lane_prepare(struct tern_ofi_lane *lane, uint32_t index);
/* Makes the endpoint, unless it is there. Returns 0, or TERN_ERR_OTHER or TERN_ERR_NO_MEM with
 * text. */
int tern_ofi_lane_open(struct tern_ofi_lane *lane);
/* Closes the endpoint and frees all that the lane has. */
void tern_ofi_lane_close(struct tern_ofi_lane *lane);

/* Returns room for a frame, or NULL if all are under way. */
static inline struct tern_ofi_send *tern_ofi_take_send(struct tern_ofi_lane *lane)
{
    struct tern_ofi_send *send = lane->free_sends;
    if (TERN_LIKELY(send != NULL)) {
        lane->free_sends = send->next_free;
        lane->sends_under_way++;
    }
    return send;
}
void tern_ofi_give_send(struct tern_ofi_lane *lane, struct tern_ofi_send *send);

/* Sends `length` bytes of the frame in `send` by the link, and takes `send` over. Returns 0;
 * TERN_ERR_AGAIN; or the provider's error (negative, of libfabric) with `send` given back. */
int tern_ofi_post(struct tern_ofi_lane *lane, struct tern_ofi_link *link,
                  struct tern_ofi_send *send, size_t length);
/* Sends a frame of at most inject_max bytes, which may be reused on return. Returns likewise. */
int tern_ofi_inject(struct tern_ofi_lane *lane, const struct tern_ofi_link *link,
                    const void *frame, size_t length);

/* Called before a thread sleeps. Returns true if the lane's descriptor will end the sleep when
 * something completes; false if something may have completed already, or if the descriptor turns
 * out not to work: then lane->sleeps is false. */
bool tern_ofi_lane_arm(struct tern_ofi_lane *lane);
/* Ends the next sleep after a short time, which grows while nothing completes. Returns false if
 * that is not possible. */
bool tern_ofi_lane_nap(struct tern_ofi_lane *lane);
/* Cancels an earlier nap, whose clock would end the next sleep. Always returns true. */
bool tern_ofi_lane_stop_clock(struct tern_ofi_lane *lane);

/* read.c: handles the end of a read; `error` of libfabric, or 0. */
void tern_ofi_read_ended(struct tern_ofi_lane *lane, struct tern_ofi_op *op, int error);

/* Takes what has completed, and delivers frames (ofi_link.h) and ends of reads. Returns the number
 * of events. */
int tern_ofi_lane_poll(struct tern_ofi_lane *lane);

#endif
