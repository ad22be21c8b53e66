/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DOORBELL_H
#define TERN_DOORBELL_H

/*
 * How a rank sleeps and is woken. The sleeper pays, the sender does not. A sender publishes a
 * packet and then reads the sleeper's word, without a fence in between. The sleeper sets its word,
 * then runs membarrier on all processors where a rank may run: afterwards each sender has either
 * seen the word or published before. Then the sleeper polls once more, and sleeps on the word. If
 * the kernel refuses membarrier, sleeps are short and timed instead.
 *
 * As long as this process waits for no descriptor, the sleeper waits on its word, by futex. Once a
 * byte mover watches a descriptor, all threads sleep in one epoll, and a sender wakes them by a
 * datagram to the sleeper's socket.
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* A rank's bell, in shared memory where other ranks see it. All zero at first. */
struct tern_bell {
    uint32_t word;     /* nonzero: the owner sleeps or is about to sleep */
    /* nonzero: a sender failed to ring the socket, so the owner sleeps for short times only */
    uint32_t unheard;
    /* whose posts on a board end the sleep: TERN_POSTS_OF_... or local rank + 1; set before the
     * word */
    uint32_t awaited;
    uint64_t socket;   /* name of the owner's socket; 0: the owner sleeps on the word */
    /* the only datagram that the socket lets in; set before `socket` */
    uint64_t password;
};

/* Registers this process with membarrier. Call it before the process has a second thread, because
 * registering costs nothing then. */
void tern_doorbell_init(void);

/* Sets this rank's bell, and the word of tern_doorbell_waiting_at, in shared memory. NULL: no other
 * rank sees them. */
void tern_doorbell_use(struct tern_bell *bell, uint64_t *waiting_at);

/* Lets sleeps end also when `fd` becomes readable. Returns 0, or TERN_ERR_OTHER with text. */
int tern_doorbell_watch(int fd);
/* Ends what tern_doorbell_watch began. */
void tern_doorbell_unwatch(int fd);

/* Whose posts on a board (lib/node/board.h) wake a sleeper: no rank's, every rank's, or those of
 * local rank `awaited` - 1. Most ranks that wait for a post wait for one rank's, and must not wake
 * for all others. */
enum { TERN_POSTS_OF_NONE = 0, TERN_POSTS_OF_ANY = INT32_MAX };

/* Announces that this thread is about to sleep. Afterwards poll once more, sleep if nothing has
 * arrived, and disarm in any case. Returns the argument for tern_doorbell_sleep. Locks: call it
 * without any. */
uint32_t tern_doorbell_arm(uint32_t awaited);
/* Ends what tern_doorbell_arm began. Every arm needs one disarm. */
void tern_doorbell_disarm(void);
/* Sleeps until the doorbell rings, a signal arrives or `timeout_us` has passed. Returns at once if
 * the bell has rung since the call that returned `armed`. */
void tern_doorbell_sleep(uint32_t armed, uint64_t timeout_us);

/* Wakes every thread that sleeps by this bell. Called by the sender. */
void tern_doorbell_wake(struct tern_bell *bell);

/* Wakes the bell's owner if it sleeps. The sender calls this after it has published a packet. */
static inline void tern_doorbell_ring(struct tern_bell *bell)
{
    /* keeps the compiler from reading the word before the packet is published; for the processor
     * see the top of this file */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&bell->word, __ATOMIC_RELAXED) != 0, 0))
        tern_doorbell_wake(bell);
}

/* Rings for a post by `poster`, a local rank + 1, or TERN_POSTS_OF_ANY: wakes only sleepers that
 * wait for this rank's posts or for any rank's. A thread that waits for another rank's post looks
 * at the board again before it sleeps for this one's. */
static inline void tern_doorbell_ring_post(struct tern_bell *bell, uint32_t poster)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* acquire: `awaited` was set before the word */
    if (__builtin_expect(tern_load_acquire(&bell->word) == 0, 1))
        return;
    uint32_t awaited = __atomic_load_n(&bell->awaited, __ATOMIC_RELAXED);
    if (awaited == TERN_POSTS_OF_ANY || awaited == poster)
        tern_doorbell_wake(bell);
}

/* Where this rank notes when it last waited inside MPI (tern_ticks). Peers read it: a rank that is
 * inside MPI can take part in a transfer. Points to a word of this process until shm sets one in
 * shared memory. */
extern uint64_t *tern_doorbell_waiting_at;

/* Notes that this rank waits inside MPI at time `ticks`. */
static inline void tern_doorbell_note_waiting(uint64_t ticks)
{
    __atomic_store_n(tern_doorbell_waiting_at, ticks, __ATOMIC_RELAXED);
}

/* Notes that this rank stays inside MPI until it notes a time, even while it sleeps or other
 * processes have its processor. */
static inline void tern_doorbell_note_staying(void)
{
    tern_doorbell_note_waiting(INT64_MAX); /* later than every clock */
}

/* Returns true if this rank has noted that it stays. */
static inline bool tern_doorbell_stays(void)
{
    return __atomic_load_n(tern_doorbell_waiting_at, __ATOMIC_RELAXED) == INT64_MAX;
}

/* Notes the time like tern_doorbell_note_waiting, unless this rank has noted that it stays. */
static inline void tern_doorbell_note_busy(uint64_t ticks)
{
    if (!tern_doorbell_stays())
        tern_doorbell_note_waiting(ticks);
}

/* For how long this process still assumes that other programs want its processor, so that each turn
 * of a dialogue costs a time slice of theirs. Counted in uses of the assumption (below); 0: not
 * assumed. Raised by a thread that yields (lib/pml/progress.c). Atomic; threads share one value. */
extern TERN_OURS unsigned tern_doorbell_contended;

/* Lets the assumption fade by one, with each wait and with each decision that it makes. Otherwise a
 * thread that only acts on it would never wait, and would keep it forever. Returns true if it was
 * held. */
static inline bool tern_doorbell_fade_contention(void)
{
    unsigned contended = __atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED);
    if (contended)
        __atomic_store_n(&tern_doorbell_contended, contended - 1, __ATOMIC_RELAXED);
    return contended > 0;
}

/* Wakes the other threads of this process that sleep: this thread has completed the request of
 * another, or has sent to its own rank a message for which another probes. */
void tern_doorbell_ring_self(void);

#endif
