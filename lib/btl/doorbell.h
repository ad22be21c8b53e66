/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DOORBELL_H
#define TERN_DOORBELL_H

/*
 * How a rank sleeps and is woken. The sleeper pays, never the sender: a sender publishes a packet, then reads the
 * sleeper's word, without a fence between. The sleeper sets its word, runs membarrier on all processors where a rank may
 * run (so that each sender has either seen the word or published before), polls once more, and sleeps on the word. Where the
 * kernel refuses membarrier, sleeps are short and timed instead.
 */

#include <stdbool.h>
#include <stdint.h>

/* Announces this process to membarrier. To be called before the process has a second thread: it is free then. */
void tern_doorbell_init(void);

/* The word this rank sleeps on and the one of tern_doorbell_waiting_at, in shared memory. NULL: nobody else sees them. */
void tern_doorbell_use(uint32_t *word, uint64_t *waiting_at);

/* Says that this thread is about to sleep. After this, poll once more, sleep if nothing came, and disarm in any case. With no
 * locks held. The result is for tern_doorbell_sleep. */
uint32_t tern_doorbell_arm(void);
void tern_doorbell_disarm(void);
/* Sleeps until the doorbell rings, a signal comes or `timeout_us` has passed; not at all if it has rung since it was `armed`. */
void tern_doorbell_sleep(uint32_t armed, uint64_t timeout_us);

/* Wakes every thread that sleeps on `word`; rung by the sender. */
void tern_doorbell_wake(uint32_t *word);

static inline void tern_doorbell_ring(uint32_t *word)
{
    /* the compiler must not read the word before the packet is published; for the processor see above */
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(word, __ATOMIC_RELAXED) != 0, 0))
        tern_doorbell_wake(word);
}

/* Where this rank notes that it waits inside MPI (tern_ticks), for its peers to see: whoever is there can take part in a
 * transfer. Points to a word of this process until shm has one in shared memory. */
extern uint64_t *tern_doorbell_waiting_at;

static inline void tern_doorbell_note_waiting(uint64_t ticks)
{
    __atomic_store_n(tern_doorbell_waiting_at, ticks, __ATOMIC_RELAXED);
}

/* Waits for which we still believe that other programs want our processor, so that each turn of a dialogue costs a slice of
 * theirs; 0: they do not. Kept by whoever waits (lib/pml/progress.c); atomic, and no thread minds another's. */
extern unsigned tern_doorbell_contended;

/* Wakes other threads of this process that sleep: one of them has completed another's request, or has sent to its own rank what
 * another probes for. */
void tern_doorbell_ring_self(void);

#endif
