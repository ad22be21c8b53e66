/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/flusher.h"

#include "lib/btl/tcp/link.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

enum {
    PERIOD_NS = 40 * 1000,
    QUIET_MOST = 25, /* periods without work, after which a link is forgotten */
};

/* Lock order: a link's out_lock, then this one; the thread takes them the other way round, and so only tries. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wanted = PTHREAD_COND_INITIALIZER;
static struct tern_link links = {&links, &links};
static pthread_t thread;
static bool running, ending;

static void flush_all(void)
{
    for (struct tern_link *at = links.next, *next; at != &links; at = next) {
        next = at->next;
        struct tern_tcp_link *link = TERN_CONTAINER(at, struct tern_tcp_link, in_flusher);
        if (pthread_mutex_trylock(&link->out_lock))
            continue; /* its user is just writing */
        if (tern_tcp_link_flush(link)) {
            link->quiet = 0;
        } else if (++link->quiet > QUIET_MOST) {
            tern_list_remove(at);
            link->flushed = false;
            tern_tcp_link_rest(link);
        }
        pthread_mutex_unlock(&link->out_lock);
    }
}

static void *run(void *nothing)
{
    prctl(PR_SET_TIMERSLACK, 1000, 0, 0, 0);
    prctl(PR_SET_NAME, "tern-flush", 0, 0, 0);
    pthread_mutex_lock(&lock);
    while (!ending) {
        if (tern_list_empty(&links)) {
            pthread_cond_wait(&wanted, &lock);
            continue;
        }
        pthread_mutex_unlock(&lock);
        nanosleep(&(struct timespec){0, PERIOD_NS}, NULL);
        pthread_mutex_lock(&lock);
        flush_all();
    }
    pthread_mutex_unlock(&lock);
    return nothing;
}

/* Without it links are written only by progress. The program's signals are not for it. */
static void start(void)
{
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    running = pthread_create(&thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void tern_tcp_flusher_add(struct tern_tcp_link *link)
{
    if (link->flushed)
        return;
    pthread_mutex_lock(&lock);
    bool first = tern_list_empty(&links);
    tern_list_append(&links, &link->in_flusher);
    link->flushed = true;
    link->quiet = 0;
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
