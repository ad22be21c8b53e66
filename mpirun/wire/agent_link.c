/* SPDX-License-Identifier: BSD-3-Clause */
/* Sending never blocks: what the descriptor does not take waits in memory. Processes that produce
 * much data (output) are held back by credit, not by the link. Beats reveal a silent neighbour: a
 * side that has sent nothing for a quarter of the allowed time sends a beat.
 *
 * What silence means: a process that has died closes its descriptors, which ends the link at once.
 * So a silent neighbour was stopped (Ctrl-Z, kill -STOP, a debugger, a batch system that suspends
 * the job), or its host has gone without a word. A process that is about to stop says so if it can.
 * Otherwise the TCP connection below the link, if there is one, tells the two cases apart. */
#include "mpirun/wire/agent_link.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/util/base/error.h"

enum { READ_BYTES = 65536, GREETING_MOST = 65536, READS_AT_ONCE = 16 };

void tern_agent_link_close(struct tern_agent_link *link)
{
    if (!link->open)
        return;
    link->open = false;
    tern_loop_stop_timer(&link->beat);
    tern_loop_watch(&link->in, 0);
    tern_loop_watch(&link->out, 0);
    close(link->in.fd);
    close(link->out.fd);
    tern_parcel_free(&link->outgoing);
    if (!link->busy)
        tern_parcel_free(&link->incoming);
}

static void lose(struct tern_agent_link *link, const char *why)
{
    if (!link->open)
        return;
    tern_agent_link_close(link);
    link->lost(link, why);
}

static void forget_sent(struct tern_agent_link *link)
{
    memmove(link->outgoing.bytes, link->outgoing.bytes + link->sent,
            link->outgoing.size - link->sent);
    link->outgoing.size -= link->sent;
    link->sent = 0;
}

/* Writes what is waiting. A dead neighbour is noticed by the reading side, so that everything it
 * sent before is still read. */
static void send_waiting(struct tern_agent_link *link)
{
    while (link->sent < link->outgoing.size) {
        ssize_t n = write(link->out.fd, link->outgoing.bytes + link->sent,
                          link->outgoing.size - link->sent);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            if (link->sent > READ_BYTES)
                forget_sent(link);
            tern_loop_watch(&link->out, EPOLLOUT);
            return;
        }
        if (n < 0) {
            link->sent = link->outgoing.size;
            break;
        }
        link->sent += n;
        link->spoke_ms = tern_loop_now_ms();
    }
    link->sent = link->outgoing.size = 0;
    tern_loop_watch(&link->out, 0);
}

static void out_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    send_waiting((struct tern_agent_link *)((char *)watch - offsetof(struct tern_agent_link, out)));
}

void tern_agent_link_send(struct tern_agent_link *link, const struct tern_frame *frame)
{
    if (!link->open)
        return;
    tern_frame_write(&link->outgoing, frame);
    send_waiting(link);
}

void tern_agent_link_flush(struct tern_agent_link *link, int timeout_ms)
{
    int64_t end_ms = tern_loop_now_ms() + timeout_ms;
    while (link->open && link->outgoing.size) {
        int64_t left = end_ms - tern_loop_now_ms();
        struct pollfd room = { link->out.fd, POLLOUT, 0 };
        if (left <= 0 || poll(&room, 1, (int)left) <= 0)
            return;
        send_waiting(link);
    }
}

/* Hands over complete lines until one of them means that frames follow. Returns the bytes used. */
static size_t take_lines(struct tern_agent_link *link)
{
    size_t used = 0;
    while (link->line && link->open) {
        char *line = link->incoming.bytes + used;
        char *end = memchr(line, '\n', link->incoming.size - used);
        if (!end)
            break;
        *end = '\0';
        used = end + 1 - link->incoming.bytes;
        if (link->line(link, line))
            link->line = NULL;
    }
    return used;
}

/* Handles the complete frames. Returns false if the link was lost meanwhile. */
static bool take_frames(struct tern_agent_link *link)
{
    size_t used = link->incoming.size ? take_lines(link) : 0;
    struct tern_frame frame;
    while (link->open && !link->line) {
        int64_t n =
            tern_frame_read(link->incoming.bytes + used, link->incoming.size - used, &frame);
        if (n < 0) {
            lose(link, "its answer is not valid (does its shell write to standard output?)");
            break;
        }
        if (n == 0)
            break;
        used += n;
        if (frame.kind == TERN_FRAME_BEAT)
            link->excused = frame.value;
        else
            link->received(link, &frame);
    }
    if (!link->open)
        return false;
    memmove(link->incoming.bytes, link->incoming.bytes + used, link->incoming.size - used);
    link->incoming.size -= used;
    if (link->line && link->incoming.size > GREETING_MOST)
        lose(link, "its output does not end, so it is not an agent (does its shell write to "
                   "standard output?)");
    return link->open;
}

static void in_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct tern_agent_link *link =
        (struct tern_agent_link *)((char *)watch - offsetof(struct tern_agent_link, in));
    static char buffer[READ_BYTES];
    link->busy = true;
    for (int reads = READS_AT_ONCE; reads > 0 && link->open; reads--) {
        ssize_t n = read(link->in.fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            break;
        if (n <= 0) {
            lose(link, n == 0 ? TERN_LINK_ENDED : strerror(errno));
            break;
        }
        link->heard_ms = tern_loop_now_ms();
        tern_parcel_raw(&link->incoming, buffer, n);
        if (!take_frames(link))
            break;
    }
    link->busy = false;
    if (!link->open)
        tern_parcel_free(&link->incoming);
}

static void set_beat(struct tern_agent_link *link)
{
    link->beat_ms = tern_loop_now_ms();
    tern_loop_set_timer(&link->beat, link->silence_ms / 8 + 1);
}

static void beat_expired(struct tern_timer *timer)
{
    struct tern_agent_link *link =
        (struct tern_agent_link *)((char *)timer - offsetof(struct tern_agent_link, beat));
    int64_t now = tern_loop_now_ms();
    /* If this process itself is late (it was stopped, or the machine slept), what the neighbour has
     * sent is still unread: give it another chance. */
    if (link->excused || now - link->beat_ms > link->silence_ms / 2)
        link->heard_ms = now;
    if (now - link->heard_ms >= link->silence_ms && !(link->answers && link->answers(link))) {
        char why[120];
        snprintf(why, sizeof why, "it has been silent for %d s (heartbeat_timeout)",
                 (link->silence_ms + 999) / 1000);
        lose(link, why);
        return;
    }
    if (now - link->spoke_ms >= link->silence_ms / 4 - 1)
        tern_agent_link_send(link, &(struct tern_frame){ .kind = TERN_FRAME_BEAT });
    set_beat(link);
}

void tern_agent_link_excuse(struct tern_agent_link *link, bool stops)
{
    link->heard_ms = tern_loop_now_ms();
    tern_agent_link_send(link, &(struct tern_frame){ .kind = TERN_FRAME_BEAT, .value = stops });
}

void tern_agent_link_watch_silence(struct tern_agent_link *link, int silence_ms)
{
    link->silence_ms = silence_ms;
    link->heard_ms = tern_loop_now_ms();
    link->beat.expired = beat_expired;
    if (silence_ms)
        set_beat(link);
}

int tern_agent_link_open(struct tern_agent_link *link, int in_fd, int out_fd)
{
    link->in = (struct tern_watch){ .fd = in_fd, .ready = in_ready };
    link->out = (struct tern_watch){ .fd = out_fd, .ready = out_ready };
    link->open = true;
    link->heard_ms = link->spoke_ms = tern_loop_now_ms();
    tern_loop_never_wait(in_fd);
    tern_loop_never_wait(out_fd);
    return tern_loop_watch(&link->in, EPOLLIN) < 0
               ? tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno))
               : 0;
}
