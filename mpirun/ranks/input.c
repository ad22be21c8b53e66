/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/input.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/uio.h>
#include <unistd.h>

#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"

enum { PIECE_BYTES = 65536, FOREGROUND_CHECK_MS = 500 };

/* A reader of standard input. All targets get the same piece; the next piece is read when all have
 * taken this one. */
struct target {
    struct tern_watch watch;
    /* for a host; NULL: the target is a rank here */
    void (*send)(int host, const char *piece, size_t size);
    int host;
    bool sent;
    size_t taken;
    struct target *next;
};

static struct {
    struct tern_watch source;
    struct tern_timer again;
    struct target *targets;
    char piece[PIECE_BYTES];
    size_t size;
    bool started, always_ready, ended;
    void (*fed)(bool wants_more); /* on an agent: called when the piece was taken */
} input;

static void read_more(void);

static void remove_target(struct target *target)
{
    if (target->send) {
        target->send(target->host, NULL, 0);
    } else {
        tern_loop_watch(&target->watch, 0);
        close(target->watch.fd);
    }
    struct target **link = &input.targets;
    while (*link != target)
        link = &(*link)->next;
    *link = target->next;
    free(target);
}

/* Gives a target the bytes that it has not taken yet, and watches it if its pipe is full. A rank
 * that has closed its input gets no more. */
static void feed(struct target *target)
{
    if (target->send) {
        if (!target->sent)
            target->send(target->host, input.piece, input.size);
        target->sent = true;
        return;
    }
    while (target->taken < input.size) {
        ssize_t n =
            write(target->watch.fd, input.piece + target->taken, input.size - target->taken);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            tern_loop_watch(&target->watch, EPOLLOUT);
            return;
        }
        if (n < 0) {
            remove_target(target);
            return;
        }
        target->taken += n;
    }
    tern_loop_watch(&target->watch, 0);
}

static void feed_all(void)
{
    for (struct target *target = input.targets, *next; target; target = next) {
        next = target->next;
        feed(target);
    }
}

static bool all_taken(void)
{
    for (const struct target *target = input.targets; target; target = target->next) {
        if (target->taken < input.size)
            return false;
    }
    return true;
}

static void end_input(void)
{
    input.ended = true;
    tern_loop_watch(&input.source, 0);
    while (input.targets)
        remove_target(input.targets);
}

/* Asks for the next piece: reads it, or on an agent asks mpirun. */
static void get_more(void)
{
    if (input.fed)
        input.fed(input.targets != NULL);
    else
        read_more();
}

void tern_input_taken(int host, bool wants_more)
{
    struct target *target = input.targets;
    while (target && (!target->send || target->host != host))
        target = target->next;
    if (!target)
        return;
    target->taken = input.size;
    if (!wants_more)
        remove_target(target);
    if (all_taken())
        read_more();
}

void tern_input_feed(const char *piece, size_t size, void (*taken)(bool wants_more))
{
    input.fed = taken;
    if (!size || size > sizeof input.piece) {
        end_input();
        return;
    }
    memcpy(input.piece, piece, size);
    input.size = size;
    for (struct target *target = input.targets; target; target = target->next)
        target->taken = 0;
    feed_all();
    if (all_taken())
        get_more();
}

static void target_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    feed((struct target *)((char *)watch - offsetof(struct target, watch)));
    if (all_taken())
        get_more();
}

/* Returns false if mpirun is in the background of its terminal, which would stop it when it
 * reads. */
static bool may_read(void)
{
    return !isatty(STDIN_FILENO) || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

/* Waits for the next piece, if it may be read and some target wants it. */
static void read_more(void)
{
    if (input.ended || !input.started)
        return;
    if (!input.targets) {
        end_input(); /* leave unread input to the next reader of this file */
        return;
    }
    if (!may_read()) {
        tern_loop_watch(&input.source, 0);
        tern_loop_set_timer(&input.again, FOREGROUND_CHECK_MS);
        return;
    }
    if (input.always_ready)
        tern_loop_set_timer(&input.again, 0);
    else if (tern_loop_watch(&input.source, EPOLLIN) < 0) {
        input.always_ready = true; /* a regular file */
        tern_loop_set_timer(&input.again, 0);
    }
}

static void source_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    tern_loop_watch(watch, 0);
    if (!may_read()) {
        read_more();
        return;
    }
    /* Other processes may read from the same pipe and be faster. Then this must not block, if the
     * kernel can avoid that. */
    struct iovec part = { input.piece, sizeof input.piece };
    ssize_t n = preadv2(STDIN_FILENO, &part, 1, -1, RWF_NOWAIT);
    if (n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS || errno == ESPIPE ||
                  (errno == EAGAIN && input.always_ready)))
        n = read(STDIN_FILENO, input.piece, sizeof input.piece);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        read_more();
        return;
    }
    if (n <= 0) {
        end_input();
        return;
    }
    input.size = n;
    for (struct target *target = input.targets; target; target = target->next) {
        target->taken = 0;
        target->sent = false;
    }
    feed_all();
    if (all_taken())
        read_more();
}

static void again_expired(struct tern_timer *timer)
{
    (void)timer;
    if (input.always_ready && may_read())
        source_ready(&input.source, 0);
    else
        read_more();
}

void tern_input_add(int fd)
{
    struct target *target = tern_must_alloc(sizeof *target);
    target->watch = (struct tern_watch){ .fd = fd, .ready = target_ready };
    tern_loop_never_wait(fd);
    target->next = input.targets;
    input.targets = target;
}

void tern_input_add_host(int host, void (*send)(int host, const char *piece, size_t size))
{
    struct target *target = tern_must_alloc(sizeof *target);
    target->send = send;
    target->host = host;
    target->next = input.targets;
    input.targets = target;
}

void tern_input_start(void)
{
    input.source = (struct tern_watch){ .fd = STDIN_FILENO, .ready = source_ready };
    input.again.expired = again_expired;
    input.started = true;
    if (input.targets)
        read_more();
}

void tern_input_check_foreground(void)
{
    if (input.started && !input.ended && input.targets && all_taken())
        read_more();
}
