/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This thread and a helper on another processor have a part in each test, one after the other, and
 * the second part is timed. In a dialogue both work at the same time. The tests come in turn,
 * several times, and the least time of each counts: other work on the processors only adds to it.
 */

#define _GNU_SOURCE
#include "lib/util/machine/line_costs.h"

#include "lib/util/base/atomic.h"
#include "lib/util/machine/copy_pages.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* BYTES: lines then rest as long as those of a long message before they are used again. A message
 * of the dialogue is longer than TERN_PREPARED_SAFE, and lies with its turn in one of the places,
 * as in a ring. */
enum {
    PAGE = 4096,
    BYTES = 256 << 10,
    TIMES = 9,
    ROUNDS = 12,
    MESSAGE = 2048,
    PLACES = 16,
    PLACE = MESSAGE + 3 * TERN_CACHE_LINE,
};

enum test { TAKE, TURNS, OWNED, AGAIN, DIALOGUE, PREPARED, TESTS };

struct bench {
    uint32_t turn __attribute__((aligned(TERN_CACHE_LINE))); /* odd: the helper's */
    uint32_t over __attribute__((aligned(TERN_CACHE_LINE))); /* nonzero: the helper shall end */
    enum test test;
    uint32_t said;   /* rounds of the dialogues before */
    uint64_t until;  /* ticks */
    pthread_t helper;
    char own[2][BYTES] __attribute__((aligned(PAGE)));
    char shared[BYTES] __attribute__((aligned(PAGE)));
};

static bool await(struct bench *bench, const uint32_t *word, uint32_t value)
{
    while (tern_load_acquire(word) != value) {
        if (__atomic_load_n(&bench->over, __ATOMIC_RELAXED) || tern_ticks() > bench->until)
            return false;
        tern_cpu_relax();
    }
    return true;
}

/* ---- the dialogue ---- */

static char *place_of(struct bench *bench, int from, uint32_t round)
{
    return bench->shared + from * (BYTES / 2) + round % PLACES * PLACE;
}

static void say(struct bench *bench, int from, uint32_t round)
{
    char *place = place_of(bench, from, round);
    memcpy(place + TERN_CACHE_LINE, bench->own[from], MESSAGE);
    tern_store_release((uint32_t *)place, bench->said + round + 1);
}

/* Waits for the other's message. Meanwhile owns the lines of the one before, as a ring's receiver
 * does, and asks for those of the next answer if `prepares`. */
static bool hear(struct bench *bench, int at, uint32_t round, bool prepares)
{
    char *place = place_of(bench, 1 - at, round), *next = place_of(bench, at, round + 1 - at);
    if (tern_load_acquire((uint32_t *)place) != bench->said + round + 1) {
        if (round)
            tern_own_lines(place_of(bench, 1 - at, round - 1) + TERN_CACHE_LINE, MESSAGE);
        for (int line = 0; prepares && line < MESSAGE; line += TERN_CACHE_LINE)
            tern_prefetch_write(next + TERN_CACHE_LINE + line);
        if (!await(bench, (uint32_t *)place, bench->said + round + 1))
            return false;
    }
    memcpy(bench->own[at], place + TERN_CACHE_LINE, MESSAGE);
    return true;
}

static bool talk(struct bench *bench, int at, bool prepares)
{
    for (uint32_t round = 0; round < ROUNDS; round++) {
        if (at == 0)
            say(bench, 0, round);
        if (!hear(bench, at, round, prepares))
            return false;
        if (at == 1)
            say(bench, 1, round);
    }
    return true;
}

/* ---- the parts of a test ---- */

static bool do_helper_part(struct bench *bench)
{
    if (bench->test >= DIALOGUE)
        return talk(bench, 1, bench->test == PREPARED);
    if (bench->test <= TURNS)
        memcpy(bench->shared, bench->own[1], BYTES);
    else
        memcpy(bench->own[1], bench->shared, BYTES);
    if (bench->test == OWNED)
        tern_own_lines(bench->shared, BYTES);
    return true;
}

static bool do_own_part(struct bench *bench)
{
    if (bench->test >= DIALOGUE)
        return talk(bench, 0, bench->test == PREPARED);
    if (bench->test == TURNS)
        tern_copy_pages_in_turn(bench->own[0], bench->shared, BYTES);
    else if (bench->test == TAKE)
        memcpy(bench->own[0], bench->shared, BYTES);
    else
        memcpy(bench->shared, bench->own[0], BYTES);
    return true;
}

static void *help(void *argument)
{
    struct bench *bench = argument;
    for (uint32_t turn = 1; turn < 2 * TIMES * TESTS; turn += 2) {
        if (!await(bench, &bench->turn, turn) || !do_helper_part(bench))
            return NULL;
        tern_store_release(&bench->turn, turn + 1);
    }
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Does a test. Returns false if the time is over. */
static bool run(struct bench *bench, enum test test, uint64_t *least_ns)
{
    bool talks = test >= DIALOGUE;
    uint32_t turn = bench->turn;
    bench->test = test;
    tern_store_release(&bench->turn, turn + 1);
    if (!talks && !await(bench, &bench->turn, turn + 2))
        return false;
    uint64_t begin = now_ns();
    if (!do_own_part(bench))
        return false;
    uint64_t ns = now_ns() - begin;
    if (talks && !await(bench, &bench->turn, turn + 2))
        return false;
    bench->said += talks ? ROUNDS : 0;
    *least_ns = *least_ns && *least_ns < ns ? *least_ns : ns;
    return true;
}

static bool run_all(struct bench *bench, struct tern_line_costs *ret_costs)
{
    uint64_t ns[TESTS] = {0};
    for (int i = 0; i < TIMES; i++)
        for (int test = 0; test < TESTS; test++)
            if (!run(bench, (enum test)test, &ns[test]))
                return false;
    uint64_t again = ns[AGAIN] > ns[OWNED] ? ns[AGAIN] - ns[OWNED] : 0;
    *ret_costs = (struct tern_line_costs){
        .again = (uint32_t)(again * 1000 / BYTES),
        .take = (uint32_t)(ns[TAKE] * 1000 / BYTES),
        .turns = (uint32_t)(ns[TURNS] * 1000 / BYTES),
        .prepared =
            ns[PREPARED] * 10 < ns[DIALOGUE] * 9 ? TERN_PREPARED_MOST : TERN_PREPARED_SAFE,
    };
    return true;
}

/* ---- the helper ---- */

/* Starts the helper on `cpus`, with no signals of the program. */
static bool start_helper(struct bench *bench, const cpu_set_t *cpus)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    if (pthread_attr_init(&attributes))
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool started = !pthread_attr_setaffinity_np(&attributes, sizeof *cpus, cpus) &&
                   !pthread_create(&bench->helper, &attributes, help, bench);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return started;
}

/* The bench whose helper may not have begun yet: to wait for it would take too long. */
static struct bench *late;

void tern_line_costs_end(void)
{
    struct bench *bench = __atomic_exchange_n(&late, NULL, __ATOMIC_ACQ_REL);
    if (bench)
        pthread_join(bench->helper, NULL);
    free(bench);
}

bool tern_line_costs_measure(const cpu_set_t *cpus, uint32_t most_us,
                             struct tern_line_costs *ret_costs)
{
    cpu_set_t others = *cpus;
    int own = sched_getcpu();
    if (own >= 0)
        CPU_CLR(own, &others);
    struct bench *bench = CPU_COUNT(&others) ? aligned_alloc(PAGE, sizeof *bench) : NULL;
    if (!bench)
        return false;
    memset(bench, 0, sizeof *bench);
    bench->until = tern_ticks() + tern_ticks_of_us(most_us);
    if (!start_helper(bench, &others)) {
        free(bench);
        return false;
    }
    bool whole = run_all(bench, ret_costs);
    __atomic_store_n(&bench->over, 1, __ATOMIC_RELAXED);
    tern_line_costs_end(); /* of a measurement before */
    __atomic_store_n(&late, bench, __ATOMIC_RELEASE);
    if (whole)
        tern_line_costs_end();
    return whole;
}
