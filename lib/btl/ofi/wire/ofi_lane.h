/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_LANE_H
#define TERN_OFI_LANE_H

/*
 * A lane and its ports. A port is the lane's endpoint on a rail, with its completion queue and its
 * buffers. Lane 0 opens when MPI starts, another when it is first used. Locks: the caller holds the
 * lane's lock.
 */

#include "lib/btl/ofi/fabric/landing.h"
#include "lib/btl/ofi/wire/ofi_frame.h"
#include "lib/btl/peer.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/list.h"

#include <pthread.h>
#include <rdma/fi_eq.h>

/* Bytes of a frame: what ofi_rxm sends at once. It gives a buffer for many messages back while
 * longer ones are still arriving (test/ofi/bare_multi_recv.c). */
enum { TERN_OFI_FRAME_MAX = 16 * 1024 };
/* Bytes of the payload of a packet. */
enum { TERN_OFI_PACKET_MAX = TERN_OFI_FRAME_MAX - sizeof(struct tern_ofi_packet) };

/* Milliseconds between two looks at the network cards, if there are several (rails.h). */
enum { TERN_OFI_LOOK_MS = 100 };

struct tern_ofi_link;
struct tern_ofi_lane;
struct tern_ofi_port;

/* An operation that libfabric carries out; its address is libfabric's context. `ended` handles the
 * end that the port's queue reports; `error` is libfabric's, or 0. Returns the number of events. */
struct tern_ofi_op {
    struct fi_context2 for_provider; /* must be the first member */
    int (*ended)(struct tern_ofi_port *port, struct tern_ofi_op *op,
                 const struct fi_cq_data_entry *entry, int error);
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
    struct tern_ofi_link *link; /* NULL: the frame is free, or nobody asks whether it arrives */
    struct tern_ofi_send *next_free;
};

/* A registration of the port's that peers use. It ends with the port at the latest: then it has no
 * region any more. */
struct tern_ofi_exposed {
    struct tern_list_node in_port;
    struct tern_ofi_region region;
};

struct tern_ofi_port {
    struct tern_ofi_lane *lane;
    uint32_t rail;           /* index in tern_ofi_fabric.rails */
    struct fid_ep *endpoint; /* NULL: the port is closed */
    struct fid_cq *queue;
    struct tern_ofi_name name;
    int fd;      /* becomes readable when something completes; -1: there is none */
    bool sleeps; /* the descriptor works, as far as is known */
    int lies; /* times in a row that the descriptor was readable and nothing had completed */
    unsigned char *memory; /* of all buffers; one registration */
    size_t memory_bytes;
    struct tern_ofi_region region;
    struct tern_ofi_landing landing;
    struct tern_list_node exposed; /* of struct tern_ofi_exposed */
    struct tern_ofi_buffer *buffers;
    int buffer_count, idle_buffers;
    int polling; /* calls that handle its completions; while there is one, the port stays open */
    size_t buffer_bytes;
    struct tern_ofi_send *sends, *free_sends;
    int sends_under_way;
};

/* What a lane calls when something completes at its ports. */
struct tern_ofi_lane_user {
    /* Handles a frame that has arrived. Its bytes are valid during the call. */
    void (*arrived)(struct tern_ofi_lane *lane, const unsigned char *bytes, size_t length);
    /* Handles that a frame of the link was not sent by the port, with libfabric's error. */
    void (*send_failed)(struct tern_ofi_link *link, const struct tern_ofi_port *port, int error);
};

struct tern_ofi_lane {
    uint32_t index;
    const struct tern_ofi_lane_user *user;
    bool open;
    struct tern_ofi_port ports[TERN_OFI_RAILS]; /* by rail */
    bool armed;   /* fi_trywait permits sleep: until then the queues must not be read */
    bool crowded; /* the provider had no room for something since the last sleep */
    int clock_fd;    /* ends timed sleeps; -1: none yet */
    bool clock_runs; /* the clock may be readable now, or soon */
    uint32_t nap_us; /* of the last timed sleep; 0: something has completed since */
    /* links by slot - 1; links that have something to do; all links */
    struct tern_ofi_link **by_slot;
    uint32_t slot_count, slot_room;
    struct tern_list_node busy, links;
    struct tern_list_node readings; /* transfer/read.c */
    int reading_count;
    /* transfer/exposed.c: copies under way, and those for which there was no room yet */
    struct tern_list_node copies, waiting_copies;
    int copy_count; /* of both */
    struct tern_list_node writings; /* transfer/write.c */
    int writing_count;
    int offer_count;    /* registrations for messages that the peers have not read yet */
    uint64_t moved_at;  /* when bytes of long messages were last seen to move, in ticks */
    bool shares, shares_known; /* ranks of this node share this rank's processors */
    uint64_t looked_at; /* last look at the clock, in ticks */
    uint64_t rails_ms;  /* last look at the rails */
    pthread_mutex_t visitors_lock;
    struct tern_list_node visitors; /* greetings that arrived at lane 0; guarded by the lock */
    bool has_visitors;              /* atomic */
    uint64_t strange; /* frames that were dropped: of strangers, or of old links */
} __attribute__((aligned(TERN_CACHE_LINE)));
extern struct tern_ofi_lane tern_ofi_lanes[TERN_LANES_MAX];

/* Prepares the parts that need no endpoint. */
void tern_ofi_lane_prepare(struct tern_ofi_lane *lane, uint32_t index,
                           const struct tern_ofi_lane_user *user);
/* Opens the ports on all rails, unless they are open. A rail on which that fails is left out,
 * unless it is the first. Returns 0, or TERN_ERR_OTHER or TERN_ERR_NO_MEM with text. */
int tern_ofi_lane_open(struct tern_ofi_lane *lane);
/* Closes the ports: nothing that the lane had under way uses its memory any more. */
void tern_ofi_lane_close(struct tern_ofi_lane *lane);
/* Sets *ret_rails to the lane's ports, as others must know them. */
void tern_ofi_lane_tell(const struct tern_ofi_lane *lane, struct tern_ofi_rails *ret_rails);
/* Returns the number of sends under way at all ports. */
int tern_ofi_lane_sends(const struct tern_ofi_lane *lane);

/* Returns room for a frame, or NULL if all are under way. */
static inline struct tern_ofi_send *tern_ofi_take_send(struct tern_ofi_port *port)
{
    struct tern_ofi_send *send = port->free_sends;
    if (TERN_LIKELY(send != NULL)) {
        port->free_sends = send->next_free;
        port->sends_under_way++;
    }
    return send;
}
void tern_ofi_give_send(struct tern_ofi_port *port, struct tern_ofi_send *send);

/* Sends `length` bytes of the frame in `send`, of the link's port, and takes `send` over. Returns
 * 0; TERN_ERR_AGAIN; or the provider's error (negative, of libfabric) with `send` given back. */
int tern_ofi_post(struct tern_ofi_link *link, struct tern_ofi_send *send, size_t length);
/* Sends a frame of at most inject_max bytes, which may be reused on return. Returns likewise. */
int tern_ofi_inject(const struct tern_ofi_link *link, const void *frame, size_t length);

/* Returns true if the provider has not taken all buffers for arriving frames. */
bool tern_ofi_lane_buffers_idle(const struct tern_ofi_lane *lane);
/* Returns true if each port has a descriptor that works. */
bool tern_ofi_lane_sleeps(const struct tern_ofi_lane *lane);
/* Called before a thread sleeps. Returns true if the descriptors will end the sleep when something
 * completes; false if something may have completed already, or if a descriptor turns out not to
 * work: then tern_ofi_lane_sleeps is false. */
bool tern_ofi_lane_arm(struct tern_ofi_lane *lane);
/* Ends the next sleep after a short time, which grows while nothing completes. Returns false if
 * that is not possible. */
bool tern_ofi_lane_nap(struct tern_ofi_lane *lane);
/* Ends the next sleep when the rails must be looked at; if there is only one, cancels an earlier
 * nap, whose clock would end the sleep. Returns likewise. */
bool tern_ofi_lane_rest(struct tern_ofi_lane *lane);

/* ofi_port.c. Makes the port of a lane on a rail one that was never open. */
void tern_ofi_port_clear(struct tern_ofi_port *port, struct tern_ofi_lane *lane, uint32_t rail);
/* Opens the port on a rail. Returns 0, or TERN_ERR_OTHER or TERN_ERR_NO_MEM with
 * text. */
int tern_ofi_port_open(struct tern_ofi_port *port);
/* Ends all operations of the port. Their memory is not used any more. */
void tern_ofi_port_close(struct tern_ofi_port *port);
/* Forgets a port on a dead card without closing it. What belongs to it stays until the process
 * ends, and nobody polls it, so that it changes no memory. */
void tern_ofi_port_abandon(struct tern_ofi_port *port);
/* As tern_ofi_lane_arm, for a port. */
bool tern_ofi_port_arm(struct tern_ofi_port *port);
/* Takes what has completed at the port. Returns the number of events. */
int tern_ofi_port_poll(struct tern_ofi_port *port);

/* Takes what has completed: each operation's `ended` handles it. Returns the number of events. */
int tern_ofi_lane_poll(struct tern_ofi_lane *lane);

#endif
