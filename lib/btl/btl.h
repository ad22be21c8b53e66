/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_H
#define TERN_BTL_H

/*
 * Byte movers. One struct per kind of link: self, shm, ipc, ofi, tcp. A byte mover carries packets,
 * in order per peer, and may be able to copy a peer's memory; or it does only the latter (ipc). It
 * never sees a communicator, and of a datatype only a cursor.
 */

#include "lib/btl/packet.h"
#include "lib/btl/peer.h"
#include "lib/type/type.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/list.h"

#include <stdbool.h>
#include <stddef.h>

struct tern_peer;
struct tern_device_access;

/*
 * Lanes: independent copies of the message path, each with its lock (lib/pml/lane.h). A byte mover
 * keeps separate data per lane. Each call concerns one lane, whose lock the caller holds.
 */
/* Number of lanes of this process, a power of two up to TERN_LANES_MAX. Set before
 * tern_btl_init. */
extern TERN_OURS uint32_t tern_lane_count;

/* A long message that is being sent as DATA packets, straight from the user's memory. */
struct tern_stream {
    struct tern_list_node link;     /* used by the byte mover */
    /* header of each DATA packet; the byte mover sets `context` for each */
    struct tern_packet packet;
    struct tern_cursor cursor; /* the bytes for which no packet was made yet */
    uint32_t in_flight;        /* used by the byte mover: packets begun and not yet sent */
    /* Called once when the memory may be reused, possibly before btl->stream returns. */
    void (*done)(struct tern_stream *stream);
};

/* Memory that a byte mover has registered, so that a peer can get it. */
struct tern_registration {
    uint64_t address; /* of the first byte, as a transfer names it; not 0 */
    uint64_t key;     /* as a transfer names it */
    void *handle;     /* data of the byte mover */
};

/*
 * A copy of bytes out of a peer's memory (get), or into it (put), without the peer's help. The user
 * fills it in and keeps it until `done` is called. `address`, `length` and `cursor` say what is
 * left to copy: the byte mover advances them. copy_direct does not: it copies all or nothing.
 */
struct tern_transfer {
    struct tern_list_node link; /* used by the byte mover */
    struct tern_peer *peer;
    /* of the next byte in the peer's memory, as the peer has told (register_memory, expose) */
    uint64_t address;
    uint64_t key;     /* of that memory, likewise */
    struct tern_cursor cursor; /* our memory */
    size_t length;    /* bytes */
    uint32_t by_lane; /* put, copy_direct: the peer's lane, as it said when it exposed the memory */
    bool to_peer;     /* copy_direct: as put does; false: as get does */
    bool waits;       /* get: this rank waits in MPI, and does nothing else meanwhile */
    /*
     * Called once when the byte mover no longer uses either memory, possibly before btl->get
     * returns. `error`: 0; or TERN_ERR_UNSUPPORTED if the rest cannot be copied, or is not worth
     * it now, so that the peer should send it; or TERN_ERR_* with text.
     */
    void (*done)(struct tern_transfer *transfer, int error);
    const struct tern_btl *mover; /* set and used by the pml: the byte mover that makes it */
};

/* Memory of this rank that its peers may read and write without its help: a window's. */
struct tern_exposure {
    const struct tern_btl *mover; /* NULL: nothing is exposed */
    void *handle;                 /* data of the byte mover */
    uint32_t lane;                /* whose lock guards it */
    uint64_t address, key;        /* how peers name the first byte */
    /* the lane of this rank by which peers must copy, or TERN_ANY_LANE */
    uint32_t by_lane;
    bool guessable; /* a process that has not been told the key could guess it */
};
enum { TERN_ANY_LANE = TERN_LANES_MAX };

/* A byte mover: its functions. Its limits belong to each peer (struct tern_limits). */
struct tern_btl {
    const char *name; /* as in the parameter `btl`: "self", "shm", "ipc", "ofi", "tcp" */
    /* Transfers are from a peer's device memory, to memory of any kind. False: from host memory to
     * host memory. */
    bool devices;
    /* Transfers may also be from a peer's device memory, and to device memory of ours. Such a byte
     * mover finds out itself of which kind memory is. */
    bool devices_too;
    /* Returns true if peers may get this process's device memory by register_memory and
     * register_copy. NULL: always. */
    bool (*offers_devices)(void);

    /* Puts into this rank's card what other ranks must know (lib/btl/card.h), before any byte mover
     * meets them. Returns 0 or TERN_ERR_*. NULL: nothing to do. */
    int (*announce)(void);
    /* Prints what this host has for the mover: its network devices, libfabric, the providers. Then
     * which provider this rank uses, and why not the others. For the parameter btl_show_fabric.
     * Called after announce; may load libraries. NULL: nothing to show. */
    void (*show)(void);
    /* Prepares the byte mover. Returns 0, or TERN_ERR_* with text: then the byte mover is left
     * out. */
    int (*init)(void);
    /* Frees everything. */
    void (*finalize)(void);
    /* Prepares for leaving MPI: no packet is sent or expected from here on, for a while or for
     * good. NULL: nothing to do. */
    void (*leave)(void);
    /* Prepares for MPI again after leave, and takes packets that have arrived meanwhile. Returns 0
     * or TERN_ERR_*. NULL: nothing to do. */
    int (*come_back)(void);

    /* Prepares the byte mover for processes of other jobs, also if `init` has left it out, and sets
     * its part of this rank's card. Returns 0 or TERN_ERR_*. May be called again. NULL: the byte
     * mover stays in this job. */
    int (*meet)(void);

    /* Returns true if the byte mover can reach the process, as far as this is known without asking
     * that process. */
    bool (*reaches)(uint32_t job, uint32_t rank);
    /* Sets peer->endpoint and peer->limits for a peer that the byte mover reaches. Returns 0 or
     * TERN_ERR_NO_MEM. NULL: carries no packets, and has none of the functions that send. */
    int (*connect)(struct tern_peer *peer);
    /* Sets peer->bulk_endpoint, unless `devices`, for transfers with a peer that the byte mover
     * reaches, whichever byte mover brings its packets. Returns 0, or TERN_ERR_* if another byte
     * mover should make them. Both ends must decide alike, because one registers what the other
     * gets. NULL: has no `get`. */
    int (*connect_bulk)(struct tern_peer *peer);

    /* Sends a packet with `length` bytes from `payload`, which may be reused on return: at most
     * peer->limits.packet_max, or eager_max_blocking of an eager message. Returns 0, or
     * TERN_ERR_AGAIN if there is no room now: call again after progress, keeping the order. */
    int (*send)(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                size_t length);
    /* Sends one packet of many, like send. The packet may wait here until the next progress. If the
     * rank computes, the packet waits a short time, mostly about 50 us and at most 5 ms. A CREDIT
     * packet may wait for the next progress or send, however long that takes. */
    int (*send_batched)(struct tern_peer *peer, const struct tern_packet *packet,
                        const void *payload, size_t length);
    /* Sends like send; the payload is the cursor's next `length` bytes. Advances the cursor only on
     * success. */
    int (*send_cursor)(struct tern_peer *peer, const struct tern_packet *packet,
                       struct tern_cursor *cursor, size_t length);

    /* Sends an announcement: the cursor's next `length` bytes, up to peer->limits.head_max, and
     * behind them `rendezvous`. Advances the cursor only on success. Returns what send returns, or
     * TERN_ERR_NO_MEM if the byte mover never has room for `length` bytes. NULL if head_max is 0
     * for every peer. */
    int (*send_head)(struct tern_peer *peer, const struct tern_packet *packet,
                     struct tern_cursor *cursor, size_t length,
                     const struct tern_rendezvous *rendezvous);

    /* Sends the whole stream. Packets sent later may overtake it. NULL: the caller sends DATA
     * packets by send_cursor. */
    void (*stream)(struct tern_peer *peer, struct tern_stream *stream);

    /* Registers `length` bytes at `start`, so that a peer whose transfers the byte mover makes can
     * get them until the memory is deregistered. Returns 0; TERN_ERR_AGAIN if it is not known yet
     * which byte mover reaches the peer: call again after progress; or another TERN_ERR_* if the
     * peer cannot get this memory: then do not offer it. NULL, both: get needs no key, and the
     * address is the one in this process. */
    int (*register_memory)(struct tern_peer *peer, const void *start, size_t length,
                           struct tern_registration *ret_registration);
    /* Does the same for a copy of the message at `cursor`, which the byte mover makes and keeps
     * until deregister_memory: for memory that the peer cannot read, or that is no one run. NULL:
     * makes none. */
    int (*register_copy)(struct tern_peer *peer, struct tern_cursor *cursor,
                         struct tern_registration *ret_registration);
    void (*deregister_memory)(struct tern_peer *peer,
                              const struct tern_registration *registration);
    /* Starts to copy bytes of such a peer's memory to ours. Returns 0: transfer->done is called,
     * now or in a later progress, also if the peer is lost meanwhile. Returns TERN_ERR_AGAIN if
     * there is no room now: call again after progress; then done is not called. Transfers may end
     * in any order. */
    int (*get)(struct tern_transfer *transfer);

    /* Starts to copy bytes of our memory, which need not be registered, to memory that a peer has
     * exposed, `address` and `key`. Returns as get does. When done is called without an error the
     * bytes are in the peer's memory; with TERN_ERR_UNSUPPORTED all of them must go by another way.
     * NULL: cannot. */
    int (*put)(struct tern_transfer *transfer);

    /* Lets peers copy to and from `length` bytes at `start`, by this lane or by any. Sets the
     * exposure but for `mover`. Returns 0; or TERN_ERR_UNSUPPORTED or TERN_ERR_NO_MEM if they
     * cannot. Locks: the lane's lock. NULL, all three: peers never can. */
    int (*expose)(uint32_t lane, const void *start, size_t length,
                  struct tern_exposure *ret_exposure);
    /* Ends that. No peer may be copying. Locks: the same lane's lock. */
    void (*conceal)(const struct tern_exposure *exposure);
    /* Starts a copy of bytes between exposed memory and ours, which is one run of host memory at
     * cursor.base, if the peer can be reached so now. Returns TERN_ERR_UNSUPPORTED without text if
     * the bytes must go by another way. Returns 0: transfer->done is called in a later progress,
     * when the bytes are in the memory of the peer, or in ours. Its error TERN_ERR_UNSUPPORTED says
     * the same as above; some of the bytes may have been copied, but nothing is under way. */
    int (*copy_direct)(struct tern_transfer *transfer);

    /* Opens device memory of the ranks of this node (lib/btl/device_access.h). NULL: cannot. */
    const struct tern_device_access *device_access;

    /* Delivers the packets that have arrived for a lane. Returns their number. NULL: packets never
     * arrive without a send here. */
    int (*progress)(uint32_t lane);
    /* Called before a thread sleeps. Returns true if from now on every packet that arrives for
     * `lane`, every end of a transfer, and room after TERN_ERR_AGAIN ends the sleep
     * (tern_doorbell_watch). Returns false if the byte mover must be polled: then the thread stays
     * awake. NULL: always true. */
    bool (*before_sleep)(uint32_t lane);
};

/* All byte movers, in the order in which they are tried for a peer; NULL ends the list
 * (movers.c). */
enum { TERN_BTLS_MAX = 8 };
extern const struct tern_btl *const tern_btls[];

/* Initialises the byte movers that the parameter `btl` allows, and leaves out those that cannot
 * work here. Returns 0, or TERN_ERR_UNREACHABLE if the others cannot reach some rank of the job. */
int tern_btl_init(void);
/* Call finalize, leave or come_back of every active byte mover. tern_btl_return returns 0 or
 * TERN_ERR_*. */
void tern_btl_finalize(void);
void tern_btl_leave(void);
int tern_btl_return(void);
/* Prepares this process for processes of other jobs. Sets *ret_introduction to what they must know
 * of it; the caller frees that. Returns 0, or TERN_ERR_* with text. Locks: the library's. */
struct tern_introduction;
int tern_btl_meet(struct tern_introduction **ret_introduction);
/* Returns true if the byte mover is initialised and in use. */
bool tern_btl_active(const struct tern_btl *btl);

/* Exposes memory by the first active byte mover that can. If none can, ret_exposure->mover is NULL.
 * tern_btl_conceal ends that; does nothing if nothing is exposed. Locks: the lane's lock. */
void tern_btl_expose(uint32_t lane, const void *start, size_t length,
                    struct tern_exposure *ret_exposure);
void tern_btl_conceal(struct tern_exposure *exposure);

/* Delivers what has arrived for a lane by any byte mover. Returns the number of packets. */
int tern_btl_progress(uint32_t lane);
/* Calls before_sleep of every active byte mover. Returns true if all of them permit the sleep. */
bool tern_btl_before_sleep(uint32_t lane);

/* Returns true if packets already sent survive the sender's exit: true if all ranks share memory,
 * false if unsent data can sit in a socket. All ranks of the job get the same answer. */
bool tern_btl_outlives_sender(void);

/* Returns the number of started ranks on this node, this one included, that may run on one of this
 * rank's processors. Sets *ret_final if all ranks have started. */
int tern_btl_sharing_ranks(bool *ret_final);

/* Set by the pml and called for every packet; `payload` is valid during the call only. Returns
 * false if the packet has completed the last posted receive: then the byte mover had better keep
 * the following packets until another receive is posted. */
extern TERN_OURS bool (*tern_btl_deliver)(struct tern_peer *from, const struct tern_packet *packet,
                                          const void *payload, size_t length);

/* Set by the pml, for an eager message or a DATA packet whose payload has not arrived as a whole.
 * tern_btl_place says where the bytes belong: it sets *ret_to and returns an owner, to be given to
 * tern_btl_placed when all bytes have arrived. NULL: deliver the packet instead. Drop the bytes for
 * which *ret_to has no room. */
extern void *(*tern_btl_place)(struct tern_peer *from, const struct tern_packet *packet,
                               size_t length, struct tern_cursor *ret_to);
extern void (*tern_btl_placed)(struct tern_peer *from, const struct tern_packet *packet,
                               size_t length, void *owner);

/* Set by the pml and called when the connection to a peer fails for the reason `text`: packets to
 * the peer or from it are lost, and nothing more can be sent. Sets peer->lost, and fails all
 * requests that wait for the peer. `owner`: result of tern_btl_place for a message that had begun
 * to arrive; NULL: there was none. The byte mover has forgotten all streams to the peer. Transfers
 * from the peer still end by `done`, because their memory is in use until then. Call it from
 * progress only. */
extern void (*tern_btl_lost)(struct tern_peer *peer, void *owner, const char *text);

#endif
