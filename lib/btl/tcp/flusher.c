/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/flusher.h"

#include "lib/btl/tcp/link.h"
#include "lib/util/base/atomic.h"
#include "lib/util/base/pause.h"
#include "lib/util/base/thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>

enum { ATTENDED_US = 200 };

/* Lock order: a link's out_lock, then this lock. The thread needs them in the other order, so it
 * only tries out_lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct tern_list_node links = {&links, &links};
static pthread_t thread;
static bool running, ending;

/* Returns true if the link's rank makes progress. */
static bool attended(const struct tern_tcp_link *link)
{
    uint64_t polled_at = __atomic_load_n(link->polled_at, __ATOMIC_RELAXED);
    return (int64_t)(tern_ticks() - polled_at) < (int64_t)tern_ticks_of_us(ATTENDED_US);
}

/* Looks at all links. Returns true if a link drains and its rank does not write. */
static bool look_at_all(unsigned elapsed_us)
{
    bool drains = false;
    for (struct tern_list_node *at = links.next, *next; at != &links; at = next) {
        next = at->next;
        struct tern_tcp_link *link = TERN_CONTAINER(at, struct tern_tcp_link, in_flusher);
        if (pthread_mutex_trylock(&link->out_lock))
            continue; /* the link's rank is writing */
        enum tern_tcp_look look = tern_tcp_link_look(link, attended(link), elapsed_us);
        if (look == TERN_TCP_AT_REST) {
            tern_list_remove(at);
            link->flushed = false;
        }
        drains |= look == TERN_TCP_DRAINS;
        pthread_mutex_unlock(&link->out_lock);
    }
    return drains;
}

static void *run(void *nothing)
{
    unsigned watched_us = 0;
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    prctl(PR_SET_NAME, "tern-flush", 0, 0, 0);
    pthread_mutex_lock(&lock);
    while (!ending) {
        if (tern_list_empty(&links)) {
            pthread_cond_wait(&wanted, &lock);
            watched_us = 0;
            continue;
        }
        pthread_mutex_unlock(&lock);
        unsigned pause_us = tern_pause(&watched_us);
        pthread_mutex_lock(&lock);
        if (look_at_all(pause_us))
            watched_us = 0;
    }
    pthread_mutex_unlock(&lock);
    return nothing;
}

/* Starts the thread. If that fails, only progress writes to links. */
static void start(void)
{
    running = tern_thread_start(run, &thread) == 0;
}

void tern_tcp_flusher_add(struct tern_tcp_link *link)
{
    if (link->flushed)
        return;
    pthread_mutex_lock(&lock);
    bool first = tern_list_empty(&links);
    tern_list_append(&links, &link->in_flusher);
    link->flushed = true;
    if (!running && !ending)
        start();
    if (first)
        pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
}

void tern_tcp_flusher_forget(struct tern_tcp_link *link)
{
    pthread_mutex_lock(&lock);
    if (link->flushed)
        tern_list_remove(&link->in_flusher);
    link->flushed = false;
    pthread_mutex_unlock(&lock);
}

void tern_tcp_flusher_stop(void)
{
    pthread_mutex_lock(&lock);
    bool was = running;
    ending = true;
    pthread_cond_signal(&wanted);
    pthread_mutex_unlock(&lock);
    if (was)
        pthread_join(thread, NULL);
    running = ending = false;
}
