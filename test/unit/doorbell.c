/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The doorbell, asleep on its word and asleep in an epoll: who publishes something and rings wakes whoever waits for it, each time,
 * though nothing but the word tells him that somebody sleeps; and who was not rung sleeps on, whatever was rung before.
 */

#include "require.h"

#include "lib/btl/doorbell.h"
#include "lib/util/atomic.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { LETTERS = 20000, LIMIT_S = 100, SHORT_US = 20000 };

static struct tern_bell bell;
static uint32_t letters, read_letters; /* their numbers: the last one that is there, and that was read */

/* Sleeps until each has come. */
static void *read_all(void *unused)
{
    (void)unused;
    for (uint32_t number = 1; number <= LETTERS; number++) {
        while (tern_load_acquire(&letters) < number) {
            uint32_t armed = tern_doorbell_arm();
            if (tern_load_acquire(&letters) < number)
                tern_doorbell_sleep(armed, 2ull * LIMIT_S * 1000000);
            tern_doorbell_disarm();
        }
        tern_store_release(&read_letters, number);
    }
    return NULL;
}

static void ring_for_each(void)
{
    pthread_t reader;
    letters = read_letters = 0;
    REQUIRE(pthread_create(&reader, NULL, read_all, NULL) == 0, "no thread");
    for (uint32_t number = 1; number <= LETTERS; number++) {
        tern_store_release(&letters, number);
        tern_doorbell_ring(&bell);
        /* some come while it reads, most when it may be asleep again */
        while (number % 8 && tern_load_acquire(&read_letters) < number)
            tern_cpu_relax();
    }
    pthread_join(reader, NULL);
}

static uint64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* As two threads do it: one is rung, another arms the bell anew before the first is awake, and both find what they want. */
static void sleep_after_ring(void)
{
    tern_doorbell_arm();
    tern_doorbell_wake(&bell);
    tern_doorbell_arm();
    tern_doorbell_disarm();
    tern_doorbell_disarm();
    for (int i = 0; i < 3; i++) {
        uint64_t before = now_us();
        uint32_t armed = tern_doorbell_arm();
        tern_doorbell_sleep(armed, SHORT_US);
        tern_doorbell_disarm();
        REQUIRE(i == 0 || now_us() - before >= SHORT_US / 2, "nobody rang, and sleep %d ended at once", i);
    }
}

int main(void)
{
    int ends[2];
    alarm(LIMIT_S);
    tern_doorbell_init();
    tern_doorbell_use(&bell, NULL);
    ring_for_each();
    sleep_after_ring();
    REQUIRE(pipe(ends) == 0 && tern_doorbell_watch(ends[0]) == 0, "no descriptor to watch");
    REQUIRE(bell.socket, "the bell has no socket");
    ring_for_each();
    sleep_after_ring();
    tern_doorbell_unwatch(ends[0]);
    REQUIRE(!bell.socket, "the bell still has a socket");
    ring_for_each();
    return 0;
}
