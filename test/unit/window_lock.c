/* SPDX-License-Identifier: BSD-3-Clause */

/* The lock of a window's target among hundreds of ranks of a node: nobody sleeps while the lock is
 * to be had, an exclusive holder is alone, and all end.
 *
 * All ranks run in this process, each on a stack of its own. Before every atomic operation, around
 * every doorbell, and before they sleep, another one may go on. Priorities are drawn at random and
 * change now and then, so that some ranks come late. No time limit helps a sleeper here: if nobody
 * can go on, somebody was not woken. */

#include "lib/node/segment.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/atomic.h"
#include "random.h"
#include "require.h"

#include <stdbool.h>
#include <string.h>
#include <ucontext.h>

static void pass_turn(void);
static void wait_in_test(struct tern_waiter *waiter);
static void ring_in_test(const struct tern_bell *bell);
static struct tern_segment_rank *rank_in_test(uint32_t rank);
static uint32_t local_rank_in_test(void);

#define __atomic_load_n(...) (pass_turn(), __atomic_load_n(__VA_ARGS__))
#define __atomic_fetch_or(...) (pass_turn(), __atomic_fetch_or(__VA_ARGS__))
#define __atomic_fetch_and(...) (pass_turn(), __atomic_fetch_and(__VA_ARGS__))
#define __atomic_fetch_sub(...) (pass_turn(), __atomic_fetch_sub(__VA_ARGS__))
#define __atomic_exchange_n(...) (pass_turn(), __atomic_exchange_n(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (pass_turn(), __atomic_compare_exchange_n(__VA_ARGS__))
#include "lib/rma/control.h"
#include "lib/rma/reach.h"
#define tern_wait(waiter) wait_in_test(waiter)
#define tern_doorbell_ring(bell) ring_in_test(bell)
#define tern_segment_rank(rank) rank_in_test(rank)
#define tern_rte ((struct tern_rte){.local_rank = local_rank_in_test()})
#define tern_segment ((struct tern_segment){.base = (char *)&control, .local_size = LOCAL_SIZE})

enum { LOCAL_SIZE = 600, MOST = 8, STACK = 64 * 1024, TURNS = 3 };

static struct tern_rma_control control;

#include "lib/rma/window_lock.c"

#undef __atomic_load_n

/* A rank of the node that wants the lock. */
static struct actor {
    uint32_t local_rank;
    bool exclusive;
    bool meets; /* while it holds the lock, it waits until all that share it so have it, too */
    int64_t priority; /* of those that can go on, the one with the highest goes on */
    bool armed, rung, asleep, waits_to_meet, ended;
    ucontext_t context;
    char stack[STACK];
} actors[MOST];

static int actor_count, meeting, met;
static int64_t constancy; /* a priority changes once in this many turns, more or less */
static struct actor *actor; /* who has its turn */
static int exclusive_holders, shared_holders;
static ucontext_t home;
static struct tern_segment_rank segment_ranks[LOCAL_SIZE];

static void pass_turn(void)
{
    struct actor *self = actor;
    if (self)
        swapcontext(&self->context, &home);
}

static uint32_t local_rank_in_test(void)
{
    return actor->local_rank;
}

static struct tern_segment_rank *rank_in_test(uint32_t rank)
{
    return &segment_ranks[rank];
}

/* As the real one: a bell that nobody has armed does nothing. */
static void ring_in_test(const struct tern_bell *bell)
{
    pass_turn();
    for (int i = 0; i < actor_count; i++)
        if (&segment_ranks[actors[i].local_rank].bell == bell && actors[i].armed)
            actors[i].rung = true;
}

/* One round of waiting: polls in vain, or sleeps as lib/pml/progress.c does. */
static void wait_in_test(struct tern_waiter *waiter)
{
    pass_turn();
    if (choose(0, 2) == 0)
        return;
    actor->armed = true;
    actor->rung = false;
    pass_turn();
    if (!waiter->came(waiter->what)) {
        actor->asleep = true;
        pass_turn();
        actor->asleep = false;
    }
    actor->armed = false;
}

static void hold(void)
{
    exclusive_holders += actor->exclusive;
    shared_holders += !actor->exclusive;
    REQUIRE(exclusive_holders == 0 || (exclusive_holders == 1 && shared_holders == 0),
            "%d exclusive and %d shared holders", exclusive_holders, shared_holders);
    pass_turn();
    if (actor->meets) {
        actor->waits_to_meet = ++met < meeting;
        for (int i = 0; i < actor_count && met == meeting; i++)
            actors[i].waits_to_meet = false;
        pass_turn();
    }
    exclusive_holders -= actor->exclusive;
    shared_holders -= !actor->exclusive;
}

static void act(void)
{
    struct tern_window window = {.rank = (int)actor->local_rank};
    struct tern_context context = {0};
    struct tern_rma_target target = {.control = &control, .node_rank = 0};
    window.context = &context;
    window.targets = &target;
    for (int i = 0; i < (actor->meets ? 1 : TURNS); i++) {
        tern_rma_lock_near(&window, &target, actor->exclusive);
        hold();
        tern_rma_unlock_near(&window, &target, actor->exclusive);
    }
    actor->ended = true;
    pass_turn();
}

static bool can_go_on(const struct actor *a)
{
    return !a->ended && !a->waits_to_meet && (!a->asleep || a->rung);
}

static void describe(char *text, size_t room)
{
    *text = 0;
    for (int i = 0; i < actor_count; i++) {
        const struct actor *a = &actors[i];
        size_t used = strlen(text);
        snprintf(text + used, room - used, " rank %u (%s) %s;", a->local_rank,
                 a->exclusive ? "exclusive" : "shared",
                 a->ended           ? "has ended"
                 : a->waits_to_meet ? "holds the lock"
                                    : "sleeps");
    }
}

static void add_actor(uint32_t local_rank, bool exclusive, bool meets)
{
    struct actor *a = &actors[actor_count++];
    memset(a, 0, offsetof(struct actor, context));
    a->local_rank = local_rank;
    a->exclusive = exclusive;
    a->meets = meets;
    a->priority = choose(0, INT32_MAX);
    meeting += meets;
    REQUIRE(getcontext(&a->context) == 0, "no context");
    a->context.uc_stack.ss_sp = a->stack;
    a->context.uc_stack.ss_size = STACK;
    a->context.uc_link = &home;
    makecontext(&a->context, act, 0);
}

static void run(const char *what)
{
    uint64_t first = seed;
    for (int left = actor_count; left;) {
        struct actor *next = NULL;
        for (int i = left = 0; i < actor_count; i++) {
            left += !actors[i].ended;
            if (choose(0, constancy) == 0)
                actors[i].priority = choose(0, INT32_MAX);
            if (can_go_on(&actors[i]) && (!next || actors[i].priority > next->priority))
                next = &actors[i];
        }
        if (!left)
            break;
        if (!next) {
            char text[1024];
            describe(text, sizeof text);
            REQUIRE(next, "%s, seed %llu: somebody was not woken; the lock is %#llx,%s", what,
                    (unsigned long long)first, (unsigned long long)control.lock, text);
        }
        actor = next;
        swapcontext(&home, &actor->context);
    }
    actor = NULL;
    REQUIRE(control.lock == 0, "%s: at the end the lock is %#llx", what,
            (unsigned long long)control.lock);
    for (int i = 0; i < TERN_RMA_WAITER_WORDS; i++)
        REQUIRE(!control.waiters[i] && !control.sharers[i], "%s: waiters are left", what);
}

static void begin(void)
{
    memset(&control, 0, sizeof control);
    actor_count = meeting = met = 0;
}

static void try_all(void)
{
    begin();
    for (uint32_t i = 0; i < 4; i++)
        add_actor(i, i % 2, false);
    run("four ranks");

    begin(); /* 1, 257 and 513 use one bit */
    add_actor(0, true, false);
    add_actor(1, true, false);
    add_actor(257, true, false);
    add_actor(513, true, false);
    run("ranks that use one bit");

    begin();
    add_actor(1, true, false);
    add_actor(257, false, false);
    add_actor(513, false, false);
    add_actor(2, true, false);
    run("ranks that use one bit, some share");

    begin();
    add_actor(0, true, false);
    add_actor(1, true, false);
    for (uint32_t i = 2; i < 5; i++)
        add_actor(i, false, true);
    run("ranks that share and meet");

    begin();
    add_actor(1, true, false);
    add_actor(257, false, true);
    add_actor(2, false, true);
    add_actor(258, true, false);
    add_actor(513, false, true);
    run("ranks that use one bit, share and meet");
}

int main(void)
{
    for (int round = 1; round <= 1000; round++) {
        seed = (uint64_t)round * 2654435761u;
        constancy = round % 2 ? 0 : 31;
        try_all();
    }
    return 0;
}
