/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DOORBELL_H
#define TERN_DOORBELL_H

/*
 * How a rank sleeps and is woken. The sleeper pays, never the sender: a sender publishes a packet,
 * then reads the sleeper's word, without a fence between. The sleeper sets its word, runs
 * membarrier on all processors where a rank may run (so that each sender has either seen the word
 * or published before), polls once more, and sleeps on the word. Where the kernel refuses
 * membarrier, sleeps are short and timed instead.
 *
 * As long as nobody here waits for a descriptor the sleeper waits on its word, by futex. Once a
 * byte mover owns one, all sleep in one epoll, and whoever would have woken the word sends a
 * datagram to the sleeper's socket instead.
 */

#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* In shared memory where other ranks see it; all zero at first. */
struct tern_bell {
    uint32_t word;     /* nonzero: its owner is about to sleep, or sleeps */
    /* somebody could not ring the socket: its owner sleeps for short times only */
    uint32_t unheard;
    uint32_t awaited;  /* whose posts on a board end the sleep; set before the word */
    uint64_t socket;   /* what names its owner's socket; 0: it sleeps on the word */
    uint64_t password; /* the only datagram that the socket lets in; set before `socket` */
};

/* Announces this process to membarrier. To be called before the process has a second thread: it is
 * free then. */
void tern_doorbell_init(void);

/* The bell of this rank and the word of tern_doorbell_waiting_at, in shared memory. NULL: nobody
 * else sees them. */
void tern_doorbell_use(struct tern_bell *bell, uint64_t *waiting_at);

/* From now on sleeps also end when `fd` is readable. 0 or TERN_ERR_OTHER with text. */
int tern_doorbell_watch(int fd);
void tern_doorbell_unwatch(int fd);

/* Whose posts on a board (lib/node/board.h) a sleeper wants to be woken by: nobody's, everybody's,
 * or those of local rank `awaited` - 1. Of the ranks that wait for a post most wait for one rank's,
 * and must not wake for all the others'. */
enum { TERN_POSTS_OF_NONE = 0, TERN_POSTS_OF_ANY = INT32_MAX };

/* Says that this thread is about to sleep. After this, poll once more, sleep if nothing came, and
 * disarm in any case. With no locks held. The result is for tern_doorbell_sleep. */
uint32_t tern_doorbell_arm(uint32_t awaited);
void tern_doorbell_disarm(void);
/* Sleeps until the doorbell rings, a signal comes or `timeout_us` has passed; not at all if it has
 * rung since it was `armed`. */
void tern_doorbell_sleep(uint32_t armed, uint64_t timeout_us);

/* Wakes every thread that sleeps by this bell; rung by the sender. */
void tern_doorbell_wake(struct tern_bell *bell);

static inline void tern_doorbell_ring(struct tern_bell *bell)
{
    /* the compiler must not read the word before the packet is published; for the processor see
     * above */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&bell->word, __ATOMIC_RELAXED) != 0, 0))
        tern_doorbell_wake(bell);
}

/* The same of a post by `poster`, a local rank + 1; or TERN_POSTS_OF_ANY: only for those who want
 * to know of any. Who awaits another rank's looks at the board again before it sleeps for this
 * one's. */
static inline void tern_doorbell_ring_post(struct tern_bell *bell, uint32_t poster)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    /* acquire: what is awaited was set before the word */
    if (__builtin_expect(tern_load_acquire(&bell->word) == 0, 1))
        return;
    uint32_t awaited = __atomic_load_n(&bell->awaited, __ATOMIC_RELAXED);
    if (awaited == TERN_POSTS_OF_ANY || awaited == poster)
        tern_doorbell_wake(bell);
}

/* Where this rank notes that it waits inside MPI (tern_ticks), for its peers to see: whoever is
 * there can take part in a transfer. Points to a word of this process until shm has one in shared
 * memory. */
extern uint64_t *tern_doorbell_waiting_at;

static inline void tern_doorbell_note_waiting(uint64_t ticks)
{
    __atomic_store_n(tern_doorbell_waiting_at, ticks, __ATOMIC_RELAXED);
}

/* The same until it notes a time: it waits in there even while it sleeps, or others have its
 * processor. */
static inline void tern_doorbell_note_staying(void)
{
    tern_doorbell_note_waiting(INT64_MAX); /* ahead of every clock */
}

/* For how long we still believe that other programs want our processor, so that each turn of a
 * dialogue costs a slice of theirs, counted in what makes the belief fade; 0: they do not. Raised
 * by whoever yields (lib/pml/progress.c); atomic, and no thread minds another's. */
extern TERN_OURS unsigned tern_doorbell_contended;

/* The belief fades with each wait, and each time that it decides something: who only acts on it
 * would else never wait, and keep it. Returns whether it was held. */
static inline bool tern_doorbell_fade_contention(void)
{
    unsigned contended = __atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED);
    if (contended)
        __atomic_store_n(&tern_doorbell_contended, contended - 1, __ATOMIC_RELAXED);
    return contended > 0;
}

/* Wakes other threads of this process that sleep: one of them has completed another's request, or
 * has sent to its own rank what another probes for. */
void tern_doorbell_ring_self(void);

#endif
