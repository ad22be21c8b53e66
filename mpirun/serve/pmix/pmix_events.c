/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/pmix_events.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "lib/util/base/error.h"

static struct {
    int event_fd;
    pthread_mutex_t lock; /* PMIx's threads append, mpirun's thread takes */
    struct tern_pmix_event *first, **last;
} queue = { .event_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .last = &queue.first };

int tern_pmix_events_open(void)
{
    queue.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return queue.event_fd < 0 ? tern_error(TERN_ERR_OTHER, "eventfd: %s", strerror(errno)) : 0;
}

int tern_pmix_events_fd(void)
{
    return queue.event_fd;
}

struct tern_pmix_event *tern_pmix_event_new(int kind, const pmix_proc_t *proc)
{
    struct tern_pmix_event *event = calloc(1, sizeof *event);
    if (event) {
        event->kind = kind;
        event->rank = -1;
        if (proc) {
            event->proc = *proc;
            event->rank = (int)proc->rank;
        }
    }
    return event;
}

void tern_pmix_event_post(struct tern_pmix_event *event)
{
    pthread_mutex_lock(&queue.lock);
    bool was_empty = !queue.first;
    *queue.last = event;
    queue.last = &event->next;
    pthread_mutex_unlock(&queue.lock);
    if (was_empty)
        eventfd_write(queue.event_fd, 1);
}

struct tern_pmix_event *tern_pmix_events_take(void)
{
    if (queue.event_fd < 0)
        return NULL;
    eventfd_t count;
    eventfd_read(queue.event_fd, &count);
    pthread_mutex_lock(&queue.lock);
    struct tern_pmix_event *event = queue.first;
    queue.first = NULL;
    queue.last = &queue.first;
    pthread_mutex_unlock(&queue.lock);
    return event;
}

void tern_pmix_event_free(struct tern_pmix_event *event)
{
    free(event->text);
    free(event->data);
    free(event->procs);
    free(event);
}
