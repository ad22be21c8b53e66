/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/jobs/port_call.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include "lib/util/net/port.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"

enum { CONNECT_MS = 3000, ANSWER_MS = 20 * 1000 }; /* for one address; for the rest */

/* A call to a port, at one of its addresses after the other. */
struct call {
    struct tern_watch watch; /* first: the callbacks convert it to the call */
    struct tern_timer limit;
    struct tern_port_name port;
    int next;     /* address to try next */
    int repeats;  /* calls that were unheard */
    bool answers; /* the present address is connected */
    struct tern_line line;
    char *bytes;
    size_t length;
};

char *tern_answer_pack(const struct tern_answer_text *answer, size_t *ret_length)
{
    struct tern_line_head head = {answer->kind, answer->error};
    size_t text = answer->text ? strlen(answer->text) : 0;
    char *bytes = tern_must_alloc(sizeof head + text);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + sizeof head, answer->text ? answer->text : "", text);
    *ret_length = sizeof head + text;
    return bytes;
}

/* Begins to call the next address that can be called, or the same if it has not heard. Returns
 * false if there is none left. */
static bool call_next(struct call *call)
{
    bool again = call->line.unheard && call->repeats++ < TERN_LINE_REPEATS;
    if (call->next > 0)
        tern_line_close(&call->line);
    call->next -= again;
    while (call->next < call->port.count) {
        tern_line_call(&call->line, &call->port.addresses[call->next++], call->port.token);
        if (call->line.step != TERN_LINE_FAILED &&
            tern_line_say(&call->line, call->bytes, call->length) == 0)
            return true;
        tern_line_close(&call->line);
    }
    return false;
}

/* Goes on with a call. Returns false if it is over: *ret_arrived says how. */
static bool go_on(struct call *call, bool *ret_arrived)
{
    while (tern_line_go_on(&call->line) && !tern_line_is_over(&call->line))
        ;
    *ret_arrived = call->line.step == TERN_LINE_DONE;
    return !tern_line_is_over(&call->line);
}

static struct call *make_call(const char *port, const struct tern_answer_text *answer)
{
    struct call *call = tern_must_alloc(sizeof *call);
    call->bytes = tern_answer_pack(answer, &call->length);
    if (tern_port_name_read(port, &call->port) && call_next(call))
        return call;
    free(call->bytes);
    free(call);
    return NULL;
}

static void free_call(struct call *call)
{
    tern_line_close(&call->line);
    free(call->bytes);
    free(call);
}

/* ---- from the loop ---- */

static void watch(struct call *call);

static void end(struct call *call)
{
    tern_loop_watch(&call->watch, 0);
    tern_loop_stop_timer(&call->limit);
    free_call(call);
}

/* Leaves this address and calls the next one. */
static void try_next(struct call *call)
{
    tern_loop_watch(&call->watch, 0);
    if (call_next(call))
        watch(call);
    else
        end(call);
}

static void ready(struct tern_watch *of, uint32_t events)
{
    struct call *call = (struct call *)of;
    bool arrived;
    (void)events;
    if (go_on(call, &arrived))
        watch(call);
    else if (arrived)
        end(call);
    else
        try_next(call);
}

static void watch(struct call *call)
{
    bool connects = call->line.step == TERN_LINE_CONNECTING;
    call->watch.fd = call->line.fd;
    call->watch.ready = ready;
    if (connects || !call->answers)
        tern_loop_set_timer(&call->limit, connects ? CONNECT_MS : ANSWER_MS);
    call->answers = !connects;
    tern_loop_watch(&call->watch,
                    tern_line_events(&call->line) & POLLOUT ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static void limit_expired(struct tern_timer *timer)
{
    struct call *call = (struct call *)((char *)timer - offsetof(struct call, limit));
    if (call->answers)
        end(call);
    else
        try_next(call);
}

void tern_port_answer(const char *port, const struct tern_answer_text *answer)
{
    struct call *call = make_call(port, answer);
    if (!call)
        return;
    call->limit.expired = limit_expired;
    watch(call);
}

/* ---- at once ---- */

bool tern_port_answer_now(const char *port, const struct tern_answer_text *answer, int limit_ms)
{
    struct call *call = make_call(port, answer);
    int64_t until_ms = tern_loop_now_ms() + limit_ms, left_ms;
    bool arrived = false;
    if (!call)
        return false;
    do {
        if (!go_on(call, &arrived)) {
            if (arrived || !call_next(call))
                break;
            continue;
        }
        struct pollfd socket = {.fd = call->line.fd, .events = tern_line_events(&call->line)};
        poll(&socket, 1, 100);
        left_ms = until_ms - tern_loop_now_ms();
    } while (left_ms > 0);
    free_call(call);
    return arrived;
}
