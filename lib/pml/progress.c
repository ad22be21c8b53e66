/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Progress and waiting (docs/waiting.md). One lock for the library, taken only in
 * MPI_THREAD_MULTIPLE.
 *
 * Waiting spins while every rank can have a processor of its own, and gives the processor away
 * early when they cannot: a few polls, some yields, then sleep. Both end asleep: an idle rank costs
 * nothing.
 */

#include "lib/btl/doorbell.h"
#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"
#include "lib/rte/rte.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

int tern_threads;

/* ---- the lock ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int wanting;        /* threads that wait for it */
static unsigned handovers; /* counts acquisitions */

/* How often this thread has taken the lock. It belongs to the thread: a word that names the owner
 * would be read by others while it changes, and on weakly ordered machines a former owner could
 * take itself for the present one. */
static __thread int depth __attribute__((tls_model("initial-exec")));

void tern_lock(void)
{
    if (!tern_threads || depth++ > 0)
        return;
    if (pthread_mutex_trylock(&mutex)) {
        __atomic_fetch_add(&wanting, 1, __ATOMIC_RELAXED);
        pthread_mutex_lock(&mutex);
        __atomic_fetch_sub(&wanting, 1, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(&handovers, 1, __ATOMIC_RELAXED);
}

void tern_unlock(void)
{
    if (tern_threads && --depth == 0)
        pthread_mutex_unlock(&mutex);
}

/* Gives the lock up whatever its depth, and takes it again. Unlocking alone would starve others: a
 * mutex is not fair, and the one who waits in MPI takes it again at once. So whoever wants it gets
 * some time to wake up. */
static int release_all(void)
{
    int saved = depth;
    if (saved) {
        depth = 0;
        pthread_mutex_unlock(&mutex);
    }
    return saved;
}

static void take_again(int saved)
{
    if (saved) {
        tern_lock();
        depth = saved;
    }
}

static void let_others_in(void)
{
    enum { PATIENCE = 200 };
    if (!tern_threads || !__atomic_load_n(&wanting, __ATOMIC_RELAXED))
        return;
    unsigned before = __atomic_load_n(&handovers, __ATOMIC_RELAXED);
    int saved = release_all();
    for (int i = 0; i < PATIENCE && __atomic_load_n(&handovers, __ATOMIC_RELAXED) == before; i++)
        sched_yield();
    take_again(saved);
}

/* ---- progress ---- */

int tern_progress_register(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    if (lane->poll_count == TERN_LANE_POLLS)
        return tern_error(TERN_ERR_INTERN, "more than %d users of progress", TERN_LANE_POLLS);
    lane->polls[lane->poll_count++] = poll;
    return 0;
}

void tern_progress_unregister(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    for (int i = 0; i < lane->poll_count; i++)
        if (lane->polls[i] == poll) {
            lane->polls[i] = lane->polls[--lane->poll_count];
            return;
        }
}

int tern_lane_progress(struct tern_lane *lane)
{
    if (lane->inside)
        return 0;
    lane->inside = true;
    int count = tern_btl_progress(lane->index);
    count += tern_pending_flush(lane);
    for (int i = 0; i < lane->poll_count; i++)
        count += lane->polls[i](lane);
    lane->inside = false;
    return count;
}

int tern_progress(void)
{
    return tern_lane_progress(tern_lanes);
}

/* ---- waiting ---- */

/* How many polls before the first yield, and yields before sleeping. */
static const struct policy {
    unsigned spins, yields;
} alone = {2000, 200}, crowded = {2, 16};

enum {
    SLEEP_US = 100 * 1000,
    LONE_SLEEP_US = 1000,
    SLOW_YIELD_TICKS = 500000, /* some 200 us: a slice of somebody else, not just an interrupt */
    REMEMBER_WAITS = 64,       /* and it will want another */
};

static bool ranks_share;
static bool ranks_share_known; /* all ranks of the node have said where they may run */

static const struct policy *current_policy(void)
{
    if (TERN_UNLIKELY(!ranks_share_known))
        ranks_share = tern_btl_sharing_ranks(&ranks_share_known) > tern_rte.cpus;
    return ranks_share || tern_doorbell_contended ? &crowded : &alone;
}

static void yield_processor(void)
{
    int saved = release_all();
    uint64_t before = tern_ticks();
    sched_yield();
    bool slow = (int64_t)(tern_ticks() - before) > SLOW_YIELD_TICKS;
    take_again(saved);
    if (slow)
        tern_doorbell_contended = REMEMBER_WAITS;
}

/* True: something came after all. */
static bool sleep_until_rung(void)
{
    uint32_t armed = tern_doorbell_arm();
    bool came = tern_progress(); /* before the sender could see that we sleep */
    if (!came) {
        tern_lanes->counters.sleeps++;
        uint64_t timeout_us = tern_lanes->poll_count ? LONE_SLEEP_US : SLEEP_US;
        int saved = release_all();
        tern_doorbell_sleep(armed, timeout_us);
        take_again(saved);
    }
    tern_doorbell_disarm();
    return came;
}

int tern_poll(void)
{
    int count = tern_progress();
    if (!count && current_policy() == &crowded)
        yield_processor(); /* whoever it is that we look for may need it */
    let_others_in();
    return count;
}

void tern_wait(struct tern_waiter *waiter)
{
    if (tern_progress()) {
        waiter->idle = 0;
        let_others_in();
        return;
    }
    uint64_t now = tern_ticks();
    *tern_doorbell_waiting_at = now;
    unsigned idle = waiter->idle++;
    if (idle > 0)
        tern_lanes->counters.blocked_ticks += now - waiter->since;
    waiter->since = now;
    if (idle == 0 && tern_doorbell_contended)
        tern_doorbell_contended--;
    const struct policy *policy = current_policy();
    if (idle < policy->spins) {
        tern_cpu_relax();
        let_others_in();
    } else if (idle < policy->spins + policy->yields) {
        yield_processor();
        let_others_in();
    } else if (sleep_until_rung()) {
        waiter->idle = 0;
    }
}

/* ---- start and end ---- */

void tern_wait_init(void)
{
    tern_doorbell_init();
}

int tern_pml_init(void)
{
    tern_lanes_init();
    tern_btl_deliver = tern_pml_deliver;
    tern_pending_init();
    ranks_share_known = false;
    return tern_btl_init();
}

void tern_pml_flush(void)
{
    struct tern_waiter waiter = {0};
    while (!tern_pending_empty())
        tern_wait(&waiter);
}

void tern_pml_leave(void)
{
    tern_btl_leave();
}

bool tern_pml_return(void)
{
    return tern_btl_return();
}

void tern_pml_finalize(void)
{
    tern_btl_finalize();
    for (uint32_t i = 0; i < tern_lane_count; i++)
        tern_match_finalize(&tern_lanes[i]);
    tern_peer_free_all();
}
