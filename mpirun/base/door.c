/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/base/door.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/base/scarcity.h"

enum { VISIT_MS = 60 * 1000 };

/* ---- the rule's functions ---- */

static struct tern_visit *visit_of(const struct tern_list_node *node)
{
    return TERN_CONTAINER(node, struct tern_visit, node);
}

static enum tern_standing standing(const struct tern_list_node *visitor)
{
    return visit_of(visitor)->door->keeper->standing(visit_of(visitor));
}

static const struct tern_hello *hello_of(const struct tern_list_node *visitor)
{
    return visit_of(visitor)->door->keeper->hello(visit_of(visitor));
}

static bool hear(struct tern_list_node *visitor)
{
    return visit_of(visitor)->door->keeper->hear(visit_of(visitor));
}

static void close_visitor(struct tern_list_node *visitor)
{
    visit_of(visitor)->door->keeper->close(visit_of(visitor));
}

/* ---- visits ---- */

static void visit_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    hear(&TERN_CONTAINER(watch, struct tern_visit, watch)->node);
}

static void time_is_up(struct tern_timer *timer)
{
    struct tern_visit *visit = TERN_CONTAINER(timer, struct tern_visit, limit);
    tern_visitors_end(&visit->door->rule, &visit->node);
}

void tern_visit_renew(struct tern_visit *visit)
{
    tern_loop_set_timer(&visit->limit, VISIT_MS);
}

bool tern_visit_has_copy(const struct tern_visit *visit)
{
    return tern_visitors_have_copy(&visit->door->rule, &visit->node);
}

void tern_visit_end(struct tern_visit *visit)
{
    tern_list_remove(&visit->node);
    tern_loop_stop_timer(&visit->limit);
    tern_loop_watch(&visit->watch, 0);
}

/* ---- the door ---- */

/* Hears a new visitor at once: what it knows may have arrived with it. Then the visitors have room,
 * or one of them leaves. */
static void let_in(struct tern_door *door, struct tern_visit *visit, int fd)
{
    visit->door = door;
    visit->watch = (struct tern_watch){.fd = fd, .ready = visit_ready};
    visit->limit.expired = time_is_up;
    tern_list_append(&door->visits, &visit->node);
    tern_visit_renew(visit);
    if (tern_loop_watch(&visit->watch, EPOLLIN) < 0)
        door->keeper->close(visit);
    else if (hear(&visit->node) && tern_visitors_unanswered(&door->rule) > door->strangers)
        tern_visitors_make_room(&door->rule);
}

static void door_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct tern_door *door = TERN_CONTAINER(watch, struct tern_door, watch);
    int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        if (!tern_scarcity_is(error) || !tern_visitors_make_room(&door->rule))
            tern_loop_rest_if_scarce(&door->rest, watch, error);
        return;
    }
    struct tern_visit *visit = door->keeper->receive(fd);
    if (visit)
        let_in(door, visit, fd);
    else
        close(fd);
}

int tern_door_open(struct tern_door *door, int fd)
{
    tern_list_init(&door->visits);
    door->rule = (struct tern_visitors){.list = &door->visits,
                                        .standing = standing,
                                        .hello = hello_of,
                                        .hear = hear,
                                        .close = close_visitor};
    door->watch = (struct tern_watch){.fd = fd, .ready = door_ready};
    return tern_loop_watch(&door->watch, EPOLLIN);
}

void tern_door_close(struct tern_door *door)
{
    while (!tern_list_empty(&door->visits))
        close_visitor(door->visits.next);
    tern_loop_stop_timer(&door->rest.timer);
    tern_loop_watch(&door->watch, 0);
    close(door->watch.fd);
}
