/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * This thread and a helper on another processor have a part in each test, one after the other, and
 * the second part is timed. In a dialogue both work at the same time. The tests come in turn. The
 * lower quartile of each counts, because other work on the processors adds to the time; of writing
 * again the median, because other work also takes lines out of the other's cache, and these are
 * written sooner.
 */

#define _GNU_SOURCE
#include "lib/util/machine/line_costs.h"

#include "lib/util/base/atomic.h"
#include "lib/util/base/now.h"
#include "lib/util/base/thread.h"
#include "lib/util/machine/copy_pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* BYTES: lines then rest as long as those of a long message before they are used again. MESSAGE: of
 * the dialogue; longer than TERN_PREPARED_SAFE. It uses PLACES in turn, as in two rings. */
enum {
    PAGE = 4096,
    BYTES = 256 << 10,
    ROUNDS = 12,
    MESSAGE = 2048,
    PLACE = MESSAGE + 3 * TERN_CACHE_LINE,
    PLACES = 32
};

enum test { TAKE, TURNS, OWNED, AGAIN, DIALOGUE, PREPARED, TESTS };

static struct bench {
    uint32_t turn __attribute__((aligned(TERN_CACHE_LINE))); /* odd: the helper's */
    enum test test __attribute__((aligned(TERN_CACHE_LINE)));
    uint32_t last_turn, said; /* messages of the dialogues before */
    uint64_t until;           /* ticks */
    uint64_t ns[TESTS][TERN_LINE_COSTS_TIMES];
    char own[2][BYTES] __attribute__((aligned(PAGE)));
    char shared[BYTES] __attribute__((aligned(PAGE)));
} *bench;

static bool await(const uint32_t *word, uint32_t value)
{
    while (tern_load_acquire(word) != value) {
        if (tern_ticks() > bench->until)
            return false;
        tern_cpu_relax();
    }
    return true;
}

/* Returns the place of a message, which stands behind its number. */
static char *place_of(uint32_t message)
{
    return bench->shared + message % PLACES * PLACE + TERN_CACHE_LINE;
}

/* Sends and receives messages in turn, as two ranks do by their rings. An end that waits owns the
 * lines of the message before and, if it prepares, asks for those of its answer. */
static bool talk(uint32_t at, bool prepares)
{
    for (uint32_t i = 0; i < 2 * ROUNDS; i++) {
        char *message = place_of(i);
        uint32_t *number = (uint32_t *)(message - TERN_CACHE_LINE), wanted = bench->said + i + 1;
        if (i % 2 == at) {
            memcpy(message, bench->own[at], MESSAGE);
            tern_store_release(number, wanted);
            continue;
        }
        if (tern_load_acquire(number) != wanted) {
            tern_own_lines(place_of(i + PLACES - 2), MESSAGE);
            for (int line = 0; prepares && line < MESSAGE; line += TERN_CACHE_LINE)
                tern_prefetch_write(place_of(i + 1) + line);
            if (!await(number, wanted))
                return false;
        }
        memcpy(bench->own[at], message, MESSAGE);
    }
    return true;
}

/* Does this thread's part (0) or the helper's (1) of the test. */
static bool do_part(uint32_t at)
{
    char *own = bench->own[at], *shared = bench->shared;
    if (bench->test >= DIALOGUE)
        return talk(at, bench->test == PREPARED);
    if ((bench->test <= TURNS) == at)
        memcpy(shared, own, BYTES);
    else if (bench->test == TURNS)
        tern_copy_pages_in_turn(own, shared, BYTES);
    else
        memcpy(own, shared, BYTES);
    if (bench->test == OWNED && at)
        tern_own_lines(shared, BYTES);
    return true;
}

static void *help(void *argument)
{
    (void)argument;
    for (uint32_t turn = 1; turn < bench->last_turn; turn += 2) {
        if (!await(&bench->turn, turn) || !do_part(1))
            break;
        tern_store_release(&bench->turn, turn + 1);
    }
    return NULL;
}

/* Does a test. Returns false if the time is over. */
static bool run(enum test test, uint64_t *ret_ns)
{
    bool talks = test >= DIALOGUE;
    uint32_t turn = bench->turn;
    bench->test = test;
    tern_store_release(&bench->turn, turn + 1);
    if (!talks && !await(&bench->turn, turn + 2))
        return false;
    uint64_t begin = tern_now_ns();
    bool done = do_part(0);
    *ret_ns = tern_now_ns() - begin;
    if (!done || !await(&bench->turn, turn + 2))
        return false;
    bench->said += talks ? 2 * ROUNDS : 0;
    return true;
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static bool run_all(int times, struct tern_line_costs *ret_costs)
{
    uint64_t ns[TESTS];
    for (int i = 0; i < times; i++)
        for (int test = 0; test < TESTS; test++)
            if (!run((enum test)test, &bench->ns[test][i]))
                return false;
    for (int test = 0; test < TESTS; test++) {
        qsort(bench->ns[test], (size_t)times, sizeof *ns, compare);
        ns[test] = bench->ns[test][test == AGAIN ? times / 2 : times / 4];
    }
    uint64_t again = ns[AGAIN] > ns[OWNED] ? ns[AGAIN] - ns[OWNED] : 0;
    bool gains = ns[PREPARED] * 10 < ns[DIALOGUE] * 9;
    *ret_costs = (struct tern_line_costs){
        .again = (uint32_t)(again * 1000 / BYTES),
        .take = (uint32_t)(ns[TAKE] * 1000 / BYTES),
        .turns = (uint32_t)(ns[TURNS] * 1000 / BYTES),
        .prepared = gains ? TERN_PREPARED_MOST : TERN_PREPARED_SAFE,
    };
    return true;
}

bool tern_line_costs_measure(const cpu_set_t *cpus, int times, uint32_t most_us,
                             struct tern_line_costs *ret_costs)
{
    cpu_set_t others = *cpus;
    pthread_t helper;
    int own = sched_getcpu();
    if (own >= 0)
        CPU_CLR(own, &others);
    bench = CPU_COUNT(&others) ? aligned_alloc(PAGE, sizeof *bench) : NULL;
    if (!bench)
        return false;
    memset(bench, 0, sizeof *bench);
    bench->last_turn = 2 * TESTS * (uint32_t)times;
    bench->until = tern_ticks() + tern_ticks_of_us(most_us);
    bool started = tern_thread_start(help, &helper) == 0;
    bool measured = started && pthread_setaffinity_np(helper, sizeof others, &others) == 0 &&
                    run_all(times, ret_costs);
    if (started)
        pthread_join(helper, NULL);
    free(bench);
    return measured;
}
