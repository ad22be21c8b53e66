/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Progress and waiting (docs/waiting.md).
 *
 * If every rank can have a processor of its own, a waiting rank spins. If not, it gives the
 * processor away early: a few polls, some yields, then sleep. In both cases it sleeps in the end:
 * an idle rank costs nothing.
 *
 * With several lanes a thread polls the lane in which its condition comes true. But MPI promises
 * progress in all lanes, and there may be no other thread in MPI. So a thread with nothing to do
 * polls the lanes that have not been polled for a while, and all lanes before it sleeps. It never
 * polls a lane in which another thread is busy, because that thread would have to wait for it.
 */

#include "lib/node/doorbell.h"
#include "lib/pml/budget.h"
#include "lib/pml/match.h"
#include "lib/pml/pml_request.h"
#include "lib/rte/rte.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/pause.h"

#include <sched.h>
#include <stdlib.h>
#include <time.h>

/* ---- progress ---- */

int tern_progress_register(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    int rc = 0;
    tern_lane_lock(lane);
    if (lane->poll_count == TERN_LANE_POLLS)
        rc = tern_error(TERN_ERR_INTERN, "more than %d users of progress", TERN_LANE_POLLS);
    else
        lane->polls[lane->poll_count++] = poll;
    tern_lane_unlock(lane);
    return rc;
}

void tern_progress_unregister(struct tern_lane *lane, int (*poll)(struct tern_lane *lane))
{
    tern_lane_lock(lane);
    for (int i = lane->poll_count - 1; i >= 0; i--)
        if (lane->polls[i] == poll)
            lane->polls[i] = lane->polls[--lane->poll_count];
    tern_lane_unlock(lane);
}

/* Makes a round of progress, for a call that waits or for another one. */
static inline int make_round(struct tern_lane *lane, enum tern_inside how)
{
    if (lane->inside)
        return 0;
    lane->inside = how;
    int count = tern_btl_progress(lane->index);
    if (TERN_UNLIKELY(!tern_list_empty(&lane->waiting_peers)))
        count += tern_pending_flush(lane);
    if (TERN_UNLIKELY(__atomic_load_n(&lane->mailbox.filled, __ATOMIC_RELAXED)))
        count += tern_mailbox_empty(lane);
    for (int i = 0; i < lane->poll_count; i++)
        count += lane->polls[i](lane);
    lane->inside = TERN_INSIDE_NONE;
    return count;
}

int tern_lane_progress(struct tern_lane *lane)
{
    return make_round(lane, TERN_INSIDE_ROUND);
}

/* With threads: makes a round unless another thread holds the lane or waits for it. */
static int try_progress(struct tern_lane *lane, enum tern_inside how)
{
    if (!tern_lane_trylock(lane))
        return 0;
    __atomic_store_n(&lane->rounds, lane->rounds + 1, __ATOMIC_RELAXED);
    int count = make_round(lane, how);
    tern_lane_unlock(lane);
    return count;
}

/* Makes a round in each lane of a set of bits. Releases this thread's locks meanwhile, because they
 * may include another lane. */
static int try_others(uint32_t lanes, enum tern_inside how)
{
    if (!lanes)
        return 0;
    int count = 0;
    struct tern_held held = tern_locks_release();
    for (; lanes; lanes &= lanes - 1)
        count += try_progress(&tern_lanes[__builtin_ctz(lanes)], how);
    tern_locks_take_again(held);
    return count;
}

static int progress_with_threads(struct tern_lane *lane, enum tern_inside how)
{
    if (!lane)
        return try_others((1u << tern_lane_count) - 1, how);
    int count = try_progress(lane, how);
    if (!count) /* packets for this lane may arrive in another lane */
        count = try_others(__atomic_load_n(&lane->fed_by, __ATOMIC_RELAXED), how);
    return count;
}

/* Makes a round in `lane`, or in all lanes if NULL. */
static inline int progress(struct tern_lane *lane, enum tern_inside how)
{
    return TERN_LIKELY(!tern_threads) ? make_round(tern_lanes, how)
                                      : progress_with_threads(lane, how);
}

int tern_progress(void)
{
    return progress(NULL, TERN_INSIDE_ROUND);
}

enum { STALE_US = 20 };

/* Makes a round in those lanes other than `own` in which no thread has made progress since this
 * thread last looked. */
static int look_aside(const struct tern_lane *own, uint64_t now)
{
    static __thread uint64_t looked_at;
    static __thread uint32_t rounds_seen[TERN_LANES_MAX];
    if (!own || now - looked_at < tern_ticks_of_us(STALE_US))
        return 0;
    uint32_t stale = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        uint32_t rounds = __atomic_load_n(&tern_lanes[i].rounds, __ATOMIC_RELAXED);
        if (&tern_lanes[i] != own && rounds == rounds_seen[i]) {
            stale |= 1u << i;
            rounds++; /* the round made here does not count */
        }
        rounds_seen[i] = rounds;
    }
    int count = try_others(stale, TERN_INSIDE_ROUND);
    looked_at = count ? 0 : now;
    return count;
}

/* ---- waiting ---- */

static inline void let_others_in(void)
{
    if (TERN_UNLIKELY(tern_threads))
        tern_locks_let_others_in();
}

/* Number of polls before the first yield, and of yields before sleeping. */
static const struct policy {
    unsigned spins, yields;
} alone = {2000, 200}, crowded = {2, 16};

enum {
    SLEEP_US = 100 * 1000,
    LONE_SLEEP_US = 1000,
    /* a yield this long is a time slice of another program, not just an interrupt */
    SLOW_YIELD_US = 200,
    /* waits for which we assume that the other program wants more slices */
    REMEMBER_WAITS = 64,
};

/* Any thread may set these; all threads get equal results. */
static bool ranks_share;
/* all ranks of the node have reported on which processors they may run */
static bool ranks_share_known;

/* The processor time that control groups leave for spinning (lib/pml/budget.h). */
static struct {
    struct tern_budget budget;
    uint64_t looked_at; /* ticks */
    bool counted, spent;
    bool busy; /* a thread counts */
} spinning;

static int64_t clock_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* Counts the time that is left. If another thread is at it, leaves that to it. */
static void count_budget(uint64_t now)
{
    if (__atomic_test_and_set(&spinning.busy, __ATOMIC_ACQUIRE))
        return;
    int64_t wall_us = clock_us(CLOCK_MONOTONIC), cpu_us = clock_us(CLOCK_PROCESS_CPUTIME_ID);
    if (!spinning.counted)
        tern_budget_begin(&spinning.budget, tern_rte.quota.quota_us, tern_rte.quota.period_us,
                          tern_rte.local_size, wall_us, cpu_us);
    spinning.counted = true;
    bool spent = tern_budget_spent(&spinning.budget, wall_us, cpu_us);
    __atomic_store_n(&spinning.spent, spent, __ATOMIC_RELAXED);
    __atomic_store_n(&spinning.looked_at, now, __ATOMIC_RELAXED);
    __atomic_clear(&spinning.busy, __ATOMIC_RELEASE);
}

/* Returns true if a control group limits the processor time, and this rank has used its share. */
static bool budget_is_spent(void)
{
    enum { LOOK_US = 250 };
    if (TERN_LIKELY(!tern_rte.quota.quota_us))
        return false;
    uint64_t now = tern_ticks();
    if (now - __atomic_load_n(&spinning.looked_at, __ATOMIC_RELAXED) >= tern_ticks_of_us(LOOK_US))
        count_budget(now);
    return __atomic_load_n(&spinning.spent, __ATOMIC_RELAXED);
}

static const struct policy *current_policy(void)
{
    if (TERN_UNLIKELY(!__atomic_load_n(&ranks_share_known, __ATOMIC_RELAXED))) {
        bool final;
        bool share = tern_btl_sharing_ranks(&final) > tern_rte.cpus;
        __atomic_store_n(&ranks_share, share, __ATOMIC_RELAXED);
        __atomic_store_n(&ranks_share_known, final, __ATOMIC_RELAXED);
    }
    return __atomic_load_n(&ranks_share, __ATOMIC_RELAXED) ||
                   __atomic_load_n(&tern_doorbell_contended, __ATOMIC_RELAXED) ||
                   budget_is_spent()
               ? &crowded
               : &alone;
}

bool tern_wait_crowded(void)
{
    return current_policy() == &crowded;
}

/* Gives up the processor for a moment. Returns true if another program wanted it. */
static bool give_up_processor(void)
{
    struct tern_held held = tern_locks_release();
    uint64_t before = tern_ticks();
    sched_yield();
    bool slow = (int64_t)(tern_ticks() - before) > (int64_t)tern_ticks_of_us(SLOW_YIELD_US);
    tern_locks_take_again(held);
    return slow;
}

static void yield_processor(void)
{
    /* if ranks share processors, it may have been a rank that copies */
    if (give_up_processor() && !__atomic_load_n(&ranks_share, __ATOMIC_RELAXED))
        __atomic_store_n(&tern_doorbell_contended, REMEMBER_WAITS, __ATOMIC_RELAXED);
}

static uint32_t events_of_all(void)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        sum += __atomic_load_n(&tern_lanes[i].events, __ATOMIC_ACQUIRE);
    return sum;
}

/* What the last round before sleep has found. */
struct last_round {
    int events;
    bool polls;   /* functions added by tern_progress_register want to be called now and then */
    bool refused; /* a byte mover must be polled, so that nobody may sleep */
};

static void poll_lane(struct tern_lane *lane, struct last_round *found)
{
    found->refused |= !tern_btl_before_sleep(lane->index);
    found->events += tern_lane_progress(lane);
    found->polls |= lane->poll_count > 0;
}

/* Makes the last round before sleep in a lane. `before`: the lane's rounds when the doorbell was
 * armed. Some thread must look for packets that arrived before that. If another thread has begun a
 * round since, it has looked, and stays awake or asks the byte movers itself. */
static void poll_before_sleep(struct tern_lane *lane, uint32_t before, struct last_round *found)
{
    enum { PATIENCE = 100 };
    for (int i = 0; !tern_lane_trylock(lane); i++) {
        if (__atomic_load_n(&lane->rounds, __ATOMIC_RELAXED) != before)
            return;
        if (i == PATIENCE) {
            tern_lane_lock(lane);
            break;
        }
        sched_yield();
    }
    __atomic_store_n(&lane->rounds, lane->rounds + 1, __ATOMIC_RELAXED);
    /* a thread is in a function of the user inside a round: it goes on polling */
    found->events += lane->inside != TERN_INSIDE_NONE;
    poll_lane(lane, found);
    tern_lane_unlock(lane);
}

static struct last_round poll_all_before_sleep(void)
{
    uint32_t rounds[TERN_LANES_MAX];
    struct last_round found = {0};
    for (uint32_t i = 0; i < tern_lane_count; i++)
        rounds[i] = __atomic_load_n(&tern_lanes[i].rounds, __ATOMIC_RELAXED);
    for (uint32_t i = 0; i < tern_lane_count; i++)
        if (tern_threads)
            poll_before_sleep(&tern_lanes[i], rounds[i], &found);
        else
            poll_lane(&tern_lanes[i], &found);
    return found;
}

/* Returns whose posts wake this thread. With other threads, or with collectives in progress, the
 * posts of any rank. */
static uint32_t awaited_by(const struct tern_waiter *waiter)
{
    if (tern_threads) /* the other threads may start collectives, too */
        return TERN_POSTS_OF_ANY;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        if (tern_lanes[i].poll_count > 0)
            return TERN_POSTS_OF_ANY;
    return waiter->awaited;
}

/* How an attempt to sleep ended: the doorbell rang or the time was over; something had arrived
 * after all; or a byte mover refused, so that the thread has only yielded. */
enum attempt { SLEPT, CAME, REFUSED };

/* Sleeps until the doorbell rings, if nothing has arrived and the byte movers permit it. */
static enum attempt sleep_until_rung(const struct tern_waiter *waiter)
{
    struct tern_held held = tern_locks_release();
    uint32_t armed = tern_doorbell_arm(awaited_by(waiter));
    uint64_t *sleeps = &(waiter->lane ? waiter->lane : tern_lanes)->counters.sleeps;
    /* packets may have been sent before their senders saw that we sleep */
    struct last_round found = poll_all_before_sleep();
    bool came = found.events > 0;
    /* another thread may have made the condition true before it saw that we sleep */
    if (tern_threads && events_of_all() != waiter->events)
        came = true;
    if (waiter->came && waiter->came(waiter->what))
        came = true;
    if (!came && !found.refused) {
        __atomic_fetch_add(sleeps, 1, __ATOMIC_RELAXED);
        tern_doorbell_sleep(armed, found.polls ? LONE_SLEEP_US : SLEEP_US);
    }
    tern_doorbell_disarm();
    tern_locks_take_again(held);
    if (!came && found.refused)
        yield_processor();
    return came ? CAME : found.refused ? REFUSED : SLEPT;
}

/* Adds to the counters of a lane whose lock this thread may not hold. */
static void count_blocked(struct tern_waiter *waiter, uint64_t now)
{
    uint64_t *blocked = &(waiter->lane ? waiter->lane : tern_lanes)->counters.blocked_ticks;
    if (waiter->idle > 0 && tern_threads)
        __atomic_fetch_add(blocked, now - waiter->since, __ATOMIC_RELAXED);
    else if (waiter->idle > 0)
        *blocked += now - waiter->since;
    waiter->since = now;
}

/* Rounds between looks at the clock while a rank spins. Reading the clock, and storing to memory
 * that other ranks read, takes as long as the poll between. So each wait loses a fraction of a
 * microsecond of the time blocked. */
enum { CLOCK_ROUNDS = 16 };

static void look_at_clock(struct tern_waiter *waiter)
{
    uint64_t now = tern_ticks();
    if (!__atomic_load_n(&ranks_share, __ATOMIC_RELAXED)) /* if they share, tern_wait notes it */
        tern_doorbell_note_waiting(now);
    count_blocked(waiter, now);
}

/* Sleeps and notes that this rank stays in MPI: a peer that needs this rank meanwhile rings the
 * doorbell. A progress thread does not call this, because its program may compute. */
static enum attempt sleep_and_stay(const struct tern_waiter *waiter)
{
    tern_doorbell_note_staying();
    enum attempt attempt = sleep_until_rung(waiter);
    tern_doorbell_note_waiting(tern_ticks());
    return attempt;
}

void (*tern_wait_tell)(const struct tern_waiter *waiter, enum tern_wait_news news);
__thread const char *tern_wait_procedure;

static uint64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

enum { TELL_AFTER_MS = 50 };

/* Tells what this thread waits for. Other threads make progress in the lane meanwhile unless it is
 * locked. */
static void tell(const struct tern_waiter *waiter, enum tern_wait_news news)
{
    struct tern_held held = tern_locks_release(); /* a thread holds one lane at most */
    if (waiter->lane)
        tern_lane_lock(waiter->lane);
    tern_wait_tell(waiter, news);
    if (waiter->lane)
        tern_lane_unlock(waiter->lane);
    tern_locks_take_again(held);
}

/* Sleeps like sleep_and_stay. When the wait has lasted for a while, tells what this thread waits
 * for. Messages may arrive meanwhile that are worth telling, so it tells all of it anew after 2, 4,
 * 8 ... attempts. */
static enum attempt sleep_and_tell(struct tern_waiter *waiter)
{
    uint64_t now = tern_wait_tell ? clock_ms() : 0;
    if (!waiter->began_ms)
        waiter->began_ms = now;
    if (!tern_wait_tell || now - waiter->began_ms < TELL_AFTER_MS)
        return sleep_and_stay(waiter);
    bool anew = !waiter->told || !(waiter->sleeps & (waiter->sleeps - 1));
    tell(waiter, anew ? TERN_WAIT_ANEW : TERN_WAIT_AGAIN);
    waiter->told = true;
    enum attempt attempt = sleep_and_stay(waiter);
    if (attempt != REFUSED) /* if it was, the thread goes on trying */
        tern_wait_tell(waiter, TERN_WAIT_PAUSE);
    return attempt;
}

/* Notes an event: whether the wait goes on is not known here. */
static inline void note_event(struct tern_waiter *waiter)
{
    waiter->idle = waiter->sleeps = 0;
    if (TERN_UNLIKELY(waiter->told)) {
        tern_wait_tell(waiter, TERN_WAIT_PAUSE);
        waiter->told = false;
    }
}

bool (*tern_doubt)(void *run, struct tern_request *awaited);

/* Returns true if tern_doubt finds that this wait can never end. Asks after 1, 2, 4, 8 ... sleeps
 * that ended without an event. */
static bool is_in_vain(struct tern_waiter *waiter)
{
    unsigned sleeps = waiter->sleeps++;
    if (!waiter->doubts || !sleeps || sleeps & (sleeps - 1))
        return false;
    const struct tern_doubter *doubter = TERN_CONTAINER(waiter, struct tern_doubter, waiter);
    return tern_doubt && tern_doubt(doubter->run, waiter->request);
}

/* Returns true if the wait can never end, or something arrived after all. If a byte mover refuses
 * the sleep, the thread yields as often as before its first attempt until it tries again: an
 * attempt is dear, and disturbs other ranks (membarrier). */
static bool try_to_sleep(struct tern_waiter *waiter, const struct policy *policy)
{
    if (is_in_vain(waiter))
        return true;
    enum attempt attempt = sleep_and_tell(waiter);
    if (attempt == REFUSED)
        waiter->idle = policy->spins;
    return attempt == CAME;
}

/* Idles after a round without an event. Returns true if there was an event after all. */
static bool idle_round(struct tern_waiter *waiter)
{
    const struct policy *policy = current_policy();
    unsigned idle = waiter->idle;
    if (idle == 0) /* a wait begins */
        tern_doorbell_fade_contention();
    if (idle >= policy->spins || idle % CLOCK_ROUNDS == 0)
        look_at_clock(waiter);
    waiter->idle++;
    if (tern_lane_count > 1 && look_aside(waiter->lane, tern_ticks()))
        return true;
    if (idle < policy->spins) {
        tern_cpu_relax();
    } else if (idle < policy->spins + policy->yields) {
        yield_processor();
    } else {
        return try_to_sleep(waiter, policy);
    }
    return false;
}

static void wait_round(struct tern_waiter *waiter)
{
    if (progress(waiter->lane, TERN_INSIDE_WAIT)) {
        note_event(waiter);
        let_others_in();
        return;
    }
    if (idle_round(waiter))
        note_event(waiter);
    let_others_in();
    /* Read before the caller looks at its condition again, and only if it may sleep soon, because
     * other threads write to these words. */
    if (TERN_UNLIKELY(tern_threads) && waiter->idle >= current_policy()->spins)
        waiter->events = events_of_all();
}

/* A rank that shares a processor mostly does not have it, or copies for others, when its peers look
 * if it is in MPI. So it notes that it stays. */
void tern_wait(struct tern_waiter *waiter)
{
    bool shared = __atomic_load_n(&ranks_share, __ATOMIC_RELAXED);
    if (TERN_UNLIKELY(shared))
        tern_doorbell_note_staying();
    wait_round(waiter);
    if (TERN_UNLIKELY(shared))
        tern_doorbell_note_waiting(tern_ticks());
}

/* ---- tests and probes ---- */

__thread struct tern_tests tern_tests;

/* Says that the tests are not in vain any more. */
static void end_tests(struct tern_tests *tests)
{
    tests->began_ms = 0;
    tests->told = false;
    tern_wait_tell(NULL, TERN_WAIT_PAUSE);
}

static inline void note_test(int count)
{
    struct tern_tests *tests = &tern_tests;
    if (count) {
        tests->since = 0;
        tests->due = false;
        if (TERN_UNLIKELY(tests->told))
            end_tests(tests);
    } else if (!tests->since) {
        tests->since = tern_ticks();
    } else if (tern_ticks() - tests->since > tern_ticks_of_us(TERN_TESTS_NOTED_MS * 1000)) {
        tests->due = true;
    }
}

uint64_t tern_pml_count_messages(void)
{
    uint64_t sum = 0;
    for (const struct tern_peer *peer = tern_peer_newest(); peer; peer = peer->all_next)
        sum += __atomic_load_n(&peer->traffic.sent_messages, __ATOMIC_RELAXED) +
               __atomic_load_n(&peer->traffic.received_messages, __ATOMIC_RELAXED);
    return sum;
}

void tern_test_tell(const struct tern_waiter *test)
{
    struct tern_tests *tests = &tern_tests;
    struct tern_waiter told = *test;
    uint64_t messages = tern_pml_count_messages();
    bool in_vain = messages == tests->messages;
    tests->messages = messages;
    tests->since = 0;
    tests->due = false;
    if (!tern_wait_tell)
        return;
    if (!in_vain && tests->told)
        end_tests(tests);
    if (!in_vain)
        return;
    if (!tests->began_ms)
        tests->began_ms = clock_ms();
    told.began_ms = tests->began_ms;
    tests->told = true;
    if (told.lane)
        tern_lane_lock(told.lane);
    tern_wait_tell(&told, TERN_WAIT_TESTS);
    if (told.lane)
        tern_lane_unlock(told.lane);
}

/* Gives up the processor after a test that has found nothing, for the rank from which we expect
 * something. Where only other programs want the processor, few tests do so: between them the
 * program may compute, and would lose a time slice each time. */
static void yield_after_test(void)
{
    if (__atomic_load_n(&ranks_share, __ATOMIC_RELAXED) || tern_doorbell_fade_contention() ||
        budget_is_spent())
        give_up_processor();
}

int tern_lane_poll(struct tern_lane *lane)
{
    int count = progress(lane, TERN_INSIDE_ROUND);
    if (!count && tern_lane_count > 1)
        count = look_aside(lane, tern_ticks());
    note_test(count);
    if (!count && current_policy() == &crowded)
        yield_after_test();
    let_others_in();
    return count;
}

/* ---- a thread that makes progress only ---- */

static uint32_t rounds_of_all(void)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        sum += __atomic_load_n(&tern_lanes[i].rounds, __ATOMIC_RELAXED);
    return sum;
}

bool tern_progress_or_sleep(struct tern_waiter *waiter)
{
    waiter->events = events_of_all();
    if (progress(NULL, TERN_INSIDE_ROUND))
        return true;
    uint32_t before = rounds_of_all();
    sleep_until_rung(waiter);
    return rounds_of_all() - before <= tern_lane_count; /* our own rounds before sleeping */
}

void tern_progress_await_silence(void)
{
    unsigned watched_us = 0;
    uint32_t before;
    do {
        before = rounds_of_all();
        tern_pause(&watched_us);
    } while (rounds_of_all() != before);
}

/* ---- start ---- */

void tern_wait_init(void)
{
    tern_doorbell_init();
}

void tern_wait_look_anew(void)
{
    ranks_share_known = false;
}
