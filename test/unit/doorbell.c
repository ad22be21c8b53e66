/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The doorbell, asleep on its word and asleep in an epoll: who publishes something and rings wakes whoever waits for it, each time,
 * though nothing but the word tells him that somebody sleeps; and who was not rung sleeps on, whatever was rung before, and whoever
 * posts what he does not await.
 */

#include "require.h"

#include "lib/node/doorbell.h"
#include "lib/util/base/atomic.h"

#include <dirent.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { LETTERS = 20000, LIMIT_S = 600, SHORT_US = 20000, POSTER = 3 };

static struct tern_bell bell;
static uint32_t letters, read_letters; /* their numbers: the last one that is there, and that was read */

/* Sleeps until each has come; posts: they are pinned up by POSTER. */
static void *read_all(void *posts)
{
    for (uint32_t number = 1; number <= LETTERS; number++) {
        while (tern_load_acquire(&letters) < number) {
            uint32_t armed = tern_doorbell_arm(posts ? POSTER : TERN_POSTS_OF_NONE);
            if (tern_load_acquire(&letters) < number)
                tern_doorbell_sleep(armed, 2ull * LIMIT_S * 1000000);
            tern_doorbell_disarm();
        }
        tern_store_release(&read_letters, number);
    }
    return NULL;
}

static void ring_for_each(bool posts)
{
    pthread_t reader;
    letters = read_letters = 0;
    REQUIRE(pthread_create(&reader, NULL, read_all, posts ? &bell : NULL) == 0, "no thread");
    for (uint32_t number = 1; number <= LETTERS; number++) {
        tern_store_release(&letters, number);
        if (posts)
            tern_doorbell_ring_post(&bell, POSTER);
        else
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
    tern_doorbell_arm(TERN_POSTS_OF_NONE);
    tern_doorbell_wake(&bell);
    tern_doorbell_arm(TERN_POSTS_OF_NONE);
    tern_doorbell_disarm();
    tern_doorbell_disarm();
    for (int i = 0; i < 3; i++) {
        uint64_t before = now_us();
        uint32_t armed = tern_doorbell_arm(TERN_POSTS_OF_NONE);
        tern_doorbell_sleep(armed, SHORT_US);
        tern_doorbell_disarm();
        REQUIRE(i == 0 || now_us() - before >= SHORT_US / 2, "nobody rang, and sleep %d ended at once", i);
    }
}

/* Does a post wake who awaits those? The word says whether it was woken. */
static bool wakes(uint32_t awaited, uint32_t poster)
{
    tern_doorbell_arm(awaited);
    tern_doorbell_ring_post(&bell, poster);
    bool rung = !bell.word;
    tern_doorbell_disarm();
    return rung;
}

static void posts_of_others(void)
{
    const uint32_t any = TERN_POSTS_OF_ANY, none = TERN_POSTS_OF_NONE;
    REQUIRE(wakes(POSTER, POSTER), "not woken by the post that is awaited");
    REQUIRE(wakes(any, POSTER) && wakes(any, any), "who wants any was not woken");
    REQUIRE(!wakes(POSTER, POSTER + 1), "woken by the post of another");
    REQUIRE(!wakes(POSTER, any), "woken by one who posts nothing");
    REQUIRE(!wakes(none, POSTER) && !wakes(none, any), "woken by a post, awaiting none");
}

/* Anybody may send to the name of the socket. What has not the password never comes into its queue,
 * which is short: else the sends would be refused soon. */
static void strangers_send(void)
{
    enum { MANY = 1000 };
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "tern-bell-%016llx",
                          (unsigned long long)bell.socket);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    uint64_t wrong = ~bell.password, first = bell.password ^ 1, last = bell.password ^ 1ull << 63;
    for (int i = 0; i < MANY; i++) {
        const void *what = i % 3 == 0 ? &wrong : i % 3 == 1 ? &first : &last;
        REQUIRE(sendto(fd, what, i % 9, 0, (struct sockaddr *)&address, size) == i % 9,
                "the queue was filled by strangers");
    }
    for (int i = 0; i < MANY; i++)
        REQUIRE(sendto(fd, i % 2 ? &first : &last, 8, 0, (struct sockaddr *)&address, size) == 8,
                "the queue was filled by strangers who know half of the password");
    close(fd);
}

enum { WATCHERS = 2, WATCHES = 2000, SPINS = 20000 };
static unsigned met; /* how often a watcher has come to a meeting; atomic */

/* Returns when all watchers have come to meeting `number`, at nearly the same time. */
static void meet(unsigned number)
{
    __atomic_add_fetch(&met, 1, __ATOMIC_RELAXED);
    for (int i = 0; __atomic_load_n(&met, __ATOMIC_RELAXED) < number * WATCHERS; i++)
        if (i > SPINS)
            usleep(1);
}

static void *watch_again_and_again(void *end)
{
    for (unsigned i = 0; i < WATCHES; i++) {
        meet(2 * i + 1);
        REQUIRE(tern_doorbell_watch(*(int *)end) == 0, "no descriptor to watch");
        meet(2 * i + 2);
        tern_doorbell_unwatch(*(int *)end);
    }
    return NULL;
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

/* Threads begin to watch descriptors at the same time: one place to sleep is made for all. */
static void watch_by_threads(void)
{
    int ends[WATCHERS][2];
    pthread_t threads[WATCHERS];
    for (int i = 0; i < WATCHERS; i++)
        REQUIRE(pipe(ends[i]) == 0, "no pipe");
    int before = open_descriptors();
    for (int i = 0; i < WATCHERS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, watch_again_and_again, ends[i]) == 0, "no thread");
    for (int i = 0; i < WATCHERS; i++)
        pthread_join(threads[i], NULL);
    REQUIRE(open_descriptors() == before, "places to sleep were lost");
    REQUIRE(!bell.socket, "the bell still has a socket");
    for (int i = 0; i < WATCHERS; i++)
        REQUIRE(close(ends[i][0]) + close(ends[i][1]) == 0, "not closed");
}

int main(void)
{
    int ends[2];
    alarm(LIMIT_S);
    tern_doorbell_init();
    tern_doorbell_use(&bell, NULL);
    ring_for_each(false);
    ring_for_each(true);
    sleep_after_ring();
    posts_of_others();
    REQUIRE(pipe(ends) == 0 && tern_doorbell_watch(ends[0]) == 0, "no descriptor to watch");
    REQUIRE(bell.socket, "the bell has no socket");
    strangers_send();
    ring_for_each(false);
    ring_for_each(true);
    sleep_after_ring();
    tern_doorbell_unwatch(ends[0]);
    REQUIRE(!bell.socket, "the bell still has a socket");
    ring_for_each(false);
    ring_for_each(true);
    watch_by_threads();
    return 0;
}
