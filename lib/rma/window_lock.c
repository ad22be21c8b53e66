/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The lock of a target whose lock word lies in the node's memory, or in this process.
 *
 * A rank that finds the word taken sets its bit among the waiters and waits as in every MPI call:
 * it polls, yields, then sleeps. The rank that releases the lock rings the bell of one waiter, the
 * next one behind its own rank. That rank tries again. Its bit stays set until it has the lock, so
 * each further release rings somebody, and all get their turn. The two sides cannot miss each
 * other: the waiter sets its bit before it looks at the word once more, the releaser changes the
 * word before it reads the bits, and all four accesses are in one order (seq_cst).
 *
 * A lock that ranks share may be shared by one more, and no release says so. So who gets it shared
 * after a wait rings the next rank that wants to share it. If the rank that a release has rung
 * wants the lock for itself, and comes too late because somebody shares it already, it does the
 * same before it sleeps again.
 *
 * If more ranks than bits are on the node, ranks share bits. Who clears a bit rings the others that
 * use it, and these set it again.
 */

#include "lib/rma/reach.h"

#include "lib/node/segment.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"

enum { BITS = TERN_RMA_WAITER_WORDS * 64 };

static uint32_t own_bit(void)
{
    return tern_rte.local_rank % BITS;
}

/* Rings all ranks of this node that share a bit; one, unless there are more than 256. */
static void ring(uint32_t bit)
{
    if (!tern_segment.base)
        return; /* only threads of this process wait */
    for (uint32_t rank = bit; rank < tern_segment.local_size; rank += BITS)
        tern_doorbell_ring(&tern_segment_rank(rank)->bell);
}

/* Returns the first set bit from `from` on, in a circle, or BITS if there is none. */
static uint32_t find_bit(const uint64_t words[TERN_RMA_WAITER_WORDS], uint32_t from)
{
    for (uint32_t i = 0; i <= TERN_RMA_WAITER_WORDS; i++) {
        uint32_t word = (from / 64 + i) % TERN_RMA_WAITER_WORDS;
        uint64_t bits = __atomic_load_n(&words[word], __ATOMIC_SEQ_CST);
        if (i == 0)
            bits &= ~0ull << from % 64;
        if (bits)
            return word * 64 + (uint32_t)__builtin_ctzll(bits);
    }
    return BITS;
}

/* Rings the waiter whose bit is the next one after this rank's bit. */
static void ring_next(const uint64_t words[TERN_RMA_WAITER_WORDS])
{
    uint32_t bit = find_bit(words, (own_bit() + 1) % BITS);
    if (TERN_UNLIKELY(bit < BITS))
        ring(bit);
}

void tern_rma_wake_waiter(struct tern_rma_control *control)
{
    ring_next(control->waiters);
}

/* What this rank waits for. */
struct wish {
    struct tern_rma_control *control;
    bool exclusive;
};

/* Returns true if this rank's bits are set. */
static bool is_marked(const struct wish *wish)
{
    uint32_t word = own_bit() / 64;
    uint64_t bits = __atomic_load_n(&wish->control->waiters[word], __ATOMIC_SEQ_CST);
    if (!wish->exclusive)
        bits &= __atomic_load_n(&wish->control->sharers[word], __ATOMIC_SEQ_CST);
    return bits >> own_bit() % 64 & 1;
}

static void set_marks(const struct wish *wish)
{
    uint64_t bit = 1ull << own_bit() % 64;
    __atomic_fetch_or(&wish->control->waiters[own_bit() / 64], bit, __ATOMIC_SEQ_CST);
    if (!wish->exclusive)
        __atomic_fetch_or(&wish->control->sharers[own_bit() / 64], bit, __ATOMIC_SEQ_CST);
}

static void clear_marks(const struct wish *wish)
{
    uint64_t bit = 1ull << own_bit() % 64;
    __atomic_fetch_and(&wish->control->waiters[own_bit() / 64], ~bit, __ATOMIC_SEQ_CST);
    if (!wish->exclusive)
        __atomic_fetch_and(&wish->control->sharers[own_bit() / 64], ~bit, __ATOMIC_SEQ_CST);
    if (TERN_UNLIKELY(tern_segment.local_size > BITS))
        ring(own_bit());
}

/* Returns true if this rank may take the lock, or its marks are gone. */
static bool must_not_sleep(const void *what)
{
    const struct wish *wish = what;
    uint64_t word = __atomic_load_n(&wish->control->lock, __ATOMIC_SEQ_CST);
    bool is_shared = word && !(word & TERN_RMA_EXCLUSIVE);
    if (wish->exclusive && is_shared)
        ring_next(wish->control->sharers);
    return word == 0 || (is_shared && !wish->exclusive) || !is_marked(wish);
}

static void wait_for_lock(struct tern_window *window, struct tern_rma_target *target,
                          bool exclusive)
{
    struct tern_rma_control *control = target->control;
    const struct wish wish = {control, exclusive};
    const struct tern_probe lock = {.context = window->context,
                                    .source = (int)(target - window->targets),
                                    .lock = &control->lock,
                                    .taker = &control->taker,
                                    .exclusive = exclusive};
    struct tern_waiter waiter = {.lane = window->context->lane,
                                 .came = must_not_sleep,
                                 .what = &wish,
                                 .procedure = "MPI_Win_lock",
                                 .probe = &lock};
    set_marks(&wish);
    while (!tern_rma_try_lock(control, window->rank, exclusive)) {
        tern_wait(&waiter);
        if (TERN_UNLIKELY(!is_marked(&wish)))
            set_marks(&wish);
    }
    clear_marks(&wish);
    if (!exclusive)
        ring_next(control->sharers);
}


void tern_rma_lock_near(struct tern_window *window, struct tern_rma_target *target, bool exclusive)
{
    if (TERN_UNLIKELY(!tern_rma_try_lock(target->control, window->rank, exclusive)))
        wait_for_lock(window, target, exclusive);
}

void tern_rma_unlock_near(struct tern_window *window, struct tern_rma_target *target,
                          bool exclusive)
{
    struct tern_rma_control *control = target->control;
    (void)window;
    if (exclusive)
        __atomic_exchange_n(&control->lock, 0, __ATOMIC_SEQ_CST);
    else
        __atomic_fetch_sub(&control->lock, 1, __ATOMIC_SEQ_CST);
    tern_rma_wake_waiter(control);
    if (TERN_UNLIKELY(__atomic_load_n(&control->far_waiters, __ATOMIC_RELAXED)) &&
        target->node_rank >= 0 && tern_segment.base)
        tern_doorbell_ring(&tern_segment_rank((uint32_t)target->node_rank)->bell);
}
