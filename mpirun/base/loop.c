/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

#include "lib/util/base/error.h"
#include "lib/util/base/scarcity.h"

static int epoll_fd = -1;
static struct tern_timer *timers; /* sorted by due_ms */
static bool stopped;
/* The events being handled. A callback may stop a watch whose event comes later in the batch; that
 * event is then removed. */
static struct epoll_event batch[64];
static int batch_at, batch_count;

int tern_loop_open(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        return tern_error(TERN_ERR_OTHER, "epoll_create1: %s", strerror(errno));
    return 0;
}

static void forget_pending(const struct tern_watch *watch)
{
    for (int i = batch_at; i < batch_count; i++) {
        if (batch[i].data.ptr == watch)
            batch[i].data.ptr = NULL;
    }
}

int tern_loop_watch(struct tern_watch *watch, uint32_t wanted)
{
    if (watch->added && watch->wanted == wanted)
        return 0;
    if (!watch->added && !wanted)
        return 0;
    struct epoll_event event = { .events = wanted, .data.ptr = watch };
    int op = !watch->added ? EPOLL_CTL_ADD : wanted ? EPOLL_CTL_MOD : EPOLL_CTL_DEL;
    if (epoll_ctl(epoll_fd, op, watch->fd, &event) < 0)
        return -1;
    watch->wanted = wanted;
    watch->added = wanted != 0;
    if (!wanted)
        forget_pending(watch);
    return 0;
}

int64_t tern_loop_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void tern_loop_stop_timer(struct tern_timer *timer)
{
    if (!timer->due_ms)
        return;
    struct tern_timer **link = &timers;
    while (*link != timer)
        link = &(*link)->next;
    *link = timer->next;
    timer->due_ms = 0;
}

void tern_loop_never_wait(int fd)
{
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

void tern_loop_set_timer(struct tern_timer *timer, int64_t delay_ms)
{
    tern_loop_stop_timer(timer);
    timer->due_ms = tern_loop_now_ms() + delay_ms;
    struct tern_timer **link = &timers;
    while (*link && (*link)->due_ms <= timer->due_ms)
        link = &(*link)->next;
    timer->next = *link;
    *link = timer;
}

static void end_rest(struct tern_timer *timer)
{
    struct tern_rest *rest = (struct tern_rest *)timer;
    if (tern_loop_watch(rest->watch, EPOLLIN) < 0) /* no memory for the watch either */
        tern_loop_set_timer(timer, TERN_SCARCITY_MS);
}

void tern_loop_rest_if_scarce(struct tern_rest *rest, struct tern_watch *watch, int error)
{
    if (!tern_scarcity_is(error))
        return;
    tern_scarcity_say(error);
    tern_loop_watch(watch, 0);
    rest->watch = watch;
    rest->timer.expired = end_rest;
    tern_loop_set_timer(&rest->timer, TERN_SCARCITY_MS);
}

static void expire_timers(void)
{
    int64_t now = tern_loop_now_ms();
    while (timers && timers->due_ms <= now && !stopped) {
        struct tern_timer *timer = timers;
        timers = timer->next;
        timer->due_ms = 0;
        timer->expired(timer);
    }
}

void tern_loop_run(void)
{
    stopped = false;
    while (!stopped) {
        int wait_ms = -1;
        if (timers) {
            int64_t left = timers->due_ms - tern_loop_now_ms();
            wait_ms = left < 0 ? 0 : left > 3600000 ? 3600000 : (int)left;
        }
        batch_count = epoll_wait(epoll_fd, batch, sizeof batch / sizeof *batch, wait_ms);
        for (batch_at = 0; batch_at < batch_count && !stopped;) {
            struct epoll_event event = batch[batch_at++];
            struct tern_watch *watch = event.data.ptr;
            if (watch)
                watch->ready(watch, event.events);
        }
        batch_count = 0;
        expire_timers();
    }
}

void tern_loop_stop(void)
{
    stopped = true;
}
