/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_H
#define TERN_BTL_H

/*
 * Byte movers. One struct per kind of link: self, shm, tcp. A byte mover carries packets, in order
 * per peer, and may be able to copy a peer's memory; it never sees a communicator or a datatype
 * beyond a cursor.
 */

#include "lib/btl/packet.h"
#include "lib/btl/peer.h"
#include "lib/type/type.h"
#include "lib/util/atomic.h"
#include "lib/util/list.h"

#include <stdbool.h>
#include <stddef.h>

struct tern_peer;

/*
 * Lanes: independent copies of the message path, each with its lock (lib/pml/lane.h). A byte mover
 * keeps what it receives into and sends from per lane; everything it does concerns one lane, whose
 * lock its caller holds.
 */
/* Lanes of this process, a power of two up to TERN_LANES_MAX; set before tern_btl_init. */
extern TERN_OURS uint32_t tern_lane_count;

/* A long message on its way as DATA packets, straight from the user's memory. */
struct tern_stream {
    struct tern_list_node link;     /* the byte mover's */
    struct tern_packet packet; /* of each DATA packet; `context` is set anew for each */
    struct tern_cursor cursor; /* what no packet has been made of yet */
    uint32_t in_flight;        /* the byte mover's: packets begun and not yet gone */
    /* the memory may be reused; called once, maybe before the start returns */
    void (*done)(struct tern_stream *stream);
};

struct tern_btl {
    const char *name;
    size_t packet_max; /* payload bytes a packet can carry */
    size_t eager_max;  /* messages up to here go in one packet ... */
    /* ... and up to here those of blocking sends, which no others follow meanwhile; 0: the same */
    size_t lone_max;
    /* times pml_eager_credit may be under way: a message that has to be asked for takes longer */
    int credit_factor;

    /* Publishes what other ranks must know, before any byte mover meets them. 0 or TERN_ERR_*.
     * NULL: nothing. */
    int (*announce)(void);
    /* 0, or TERN_ERR_*: get ready, or be left out (reason recorded). */
    int (*init)(void);
    void (*finalize)(void);
    /* No packet is sent or expected from here on, for a while or for good. NULL: nothing to do. */
    void (*leave)(void);
    /* Back again: goes on with what has come meanwhile. 0 or TERN_ERR_*. NULL: nothing to do. */
    int (*come_back)(void);

    /* Can it reach the process? As far as is known without asking it. */
    bool (*reaches)(uint32_t job, uint32_t rank);
    /* Sets peer->endpoint of one that it reaches. 0 or TERN_ERR_NO_MEM. */
    int (*connect)(struct tern_peer *peer);

    /* Sends a packet with `length` <= packet_max bytes from `payload`. The payload may be reused on
     * return. TERN_ERR_AGAIN: no room now; ask again after progress, keeping the order. */
    int (*send)(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                size_t length);
    /* The same for one of many: it may stay here until the next progress, or for a short time,
     * mostly some 50 us and at most 5 ms, if its rank computes. A CREDIT packet may wait for the
     * next progress or send, however long that takes. */
    int (*send_soon)(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                     size_t length);
    /* Like send, the payload being the cursor's next `length` bytes; the cursor advances only on
     * success. */
    int (*send_cursor)(struct tern_peer *peer, const struct tern_packet *packet,
                       struct tern_cursor *cursor, size_t length);

    /* Sends all of the stream; packets that are sent later may overtake it. NULL: send it as DATA
     * packets by send_cursor. */
    void (*stream)(struct tern_peer *peer, struct tern_stream *stream);

    /* Copies `length` bytes at `address` of the peer's memory to the cursor's next bytes.
     * TERN_ERR_UNSUPPORTED: not between these two, or not worth it now: have sent what is still
     * missing by the cursor. */
    int (*get)(struct tern_peer *peer, uint64_t address, struct tern_cursor *to, size_t length);

    /* Delivers what has arrived for a lane. Returns the number of packets. NULL: nothing ever
     * arrives by itself. */
    int (*progress)(uint32_t lane);
    /* This thread is about to sleep: what comes for the lane from now on shall end that
     * (tern_doorbell_watch). NULL: it does always. */
    void (*before_sleep)(uint32_t lane);
};

/* Listed in the order in which they are tried for a peer; ended by NULL. */
extern const struct tern_btl *const tern_btls[];

/* Initialises the byte movers that the parameter `btl` allows; those that cannot work here are left
 * out. TERN_ERR_UNREACHABLE: nothing that is left reaches some rank of the job. */
int tern_btl_init(void);
void tern_btl_finalize(void);
void tern_btl_leave(void);
int tern_btl_return(void);
bool tern_btl_active(const struct tern_btl *btl);

/* Delivers what has arrived for a lane over any of them. Returns the number of packets. */
int tern_btl_progress(uint32_t lane);
void tern_btl_before_sleep(uint32_t lane);

/* Does what any process has sent arrive also when it has ended since? So it does where all ranks
 * share memory: what waits in a socket may be lost. All ranks of the job say the same. */
bool tern_btl_outlives_sender(void);

/* Ranks on this node, myself included, that may run on one of my processors, as far as they have
 * started; *ret_final: all have. */
int tern_btl_sharing_ranks(bool *ret_final);

/* Registered by the pml: called for every packet; payload is valid during the call only. False: it
 * has completed the last receive that was posted, so what comes behind it had better stay where it
 * is until another one is. */
extern TERN_OURS bool (*tern_btl_deliver)(struct tern_peer *from, const struct tern_packet *packet,
                                          const void *payload, size_t length);

/* Registered by the pml, for a message or DATA packet whose payload has not come as a whole: where
 * do its bytes belong? The result is to be given to tern_btl_placed when all of them have come;
 * NULL: it wants them delivered. Bytes that *ret_to has no place for are to be dropped. */
extern void *(*tern_btl_place)(struct tern_peer *from, const struct tern_packet *packet,
                               size_t length, struct tern_cursor *ret_to);
extern void (*tern_btl_placed)(struct tern_peer *from, const struct tern_packet *packet,
                               size_t length, void *owner);

/* Registered by the pml: what was sent to the peer, or by it, is lost, as `text` says, and nothing
 * more can be sent: peer->lost is set from here on. Whatever waits for it fails. `owner`: of a
 * message that had begun to come to a place, as tern_btl_place has named it; NULL: none. The byte
 * mover has forgotten all streams to the peer. */
extern void (*tern_btl_lost)(struct tern_peer *peer, void *owner, const char *text);

#endif
