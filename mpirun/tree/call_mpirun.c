/* SPDX-License-Identifier: BSD-3-Clause */
/* Some addresses of mpirun's host may lead nowhere from here, or to another machine (docker0 has
 * the same address on every host). So all are tried, each a little after the one before, and the
 * first is used at which the other side proves that it knows the secret. If a connection is closed
 * without an answer, mpirun may have had too many connections: that address is tried again. */
#include "mpirun/tree/call_mpirun.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/loop.h"
#include "mpirun/tree/agent_bootstrap.h"
#include "mpirun/tree/agent_port.h"

enum { STAGGER_MS = 200, AGAIN_MS = 200, CLOSED_MOST = 8, DIRECTIONS_MS = 60 * 1000, WHY = 600 };

enum step { WAITING, CONNECTING, AWAITING_ANSWER, FAILED };

struct attempt {
    enum step step;
    const char *address;
    int64_t due_ms; /* when it begins */
    int closed;     /* how often it was closed without an answer */
    int fd;
    size_t got;
    struct tern_hello hello;
    struct tern_answer answer;
};

static struct {
    struct tern_directions directions;
    int32_t host;
    struct attempt *attempts;
    char why[WHY]; /* the addresses that failed, with reasons */
} call;

static void give_up(struct attempt *attempt, const char *why)
{
    size_t used = strlen(call.why);
    snprintf(call.why + used, sizeof call.why - used, "%s%s: %s", used ? "; " : "",
             attempt->address, why);
    if (attempt->fd >= 0)
        close(attempt->fd);
    attempt->fd = -1;
    attempt->step = FAILED;
}

/* Handles a connection that was closed without an answer. `error` is its errno, or 0 if it was
 * closed in order. */
static void heed_close(struct attempt *attempt, int error)
{
    if (++attempt->closed == CLOSED_MOST) {
        give_up(attempt, error ? strerror(error) : "another program listens there");
        return;
    }
    close(attempt->fd);
    attempt->fd = -1;
    attempt->got = 0;
    attempt->step = WAITING;
    attempt->due_ms = tern_loop_now_ms() + AGAIN_MS;
}

static void begin(struct attempt *attempt)
{
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found;
    char port[8];
    snprintf(port, sizeof port, "%d", call.directions.port);
    attempt->fd = -1;
    int wrong = getaddrinfo(attempt->address, port, &hints, &found);
    if (wrong) {
        give_up(attempt, gai_strerror(wrong));
        return;
    }
    attempt->fd = socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    attempt->step = CONNECTING;
    if (attempt->fd < 0 ||
        (connect(attempt->fd, found->ai_addr, found->ai_addrlen) && errno != EINPROGRESS))
        give_up(attempt, strerror(errno));
    freeaddrinfo(found);
}

static void say_hello(struct attempt *attempt)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(attempt->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        give_up(attempt, strerror(error));
        return;
    }
    memset(&attempt->hello, 0, sizeof attempt->hello);
    memcpy(attempt->hello.greeting, &call.host, sizeof call.host);
    attempt->hello.reached = tern_handshake_reached(attempt->fd);
    attempt->step = AWAITING_ANSWER;
    if (tern_hello_seal(&attempt->hello, &tern_agent_service, call.directions.secret))
        give_up(attempt, tern_error_text(TERN_ERR_OTHER));
    else if (!tern_handshake_write(attempt->fd, &attempt->hello, sizeof attempt->hello))
        heed_close(attempt, errno);
}

/* Reads mpirun's answer. Returns true if it is complete and valid, so the connection can be
 * used. */
static bool read_answer(struct attempt *attempt)
{
    const unsigned char *secret = call.directions.secret;
    struct tern_confirm confirm;
    switch (
        tern_handshake_read(attempt->fd, &attempt->answer, sizeof attempt->answer, &attempt->got)) {
    case TERN_PART:
        return false;
    case TERN_ENDED:
        heed_close(attempt, errno);
        return false;
    case TERN_WHOLE:
        break;
    }
    bool known = tern_answer_holds(&attempt->answer, &attempt->hello, secret);
    if (known && attempt->answer.verdict == TERN_AGENT_WELCOME &&
        tern_confirm_seal(&confirm, &attempt->hello, &attempt->answer, secret) == 0 &&
        tern_handshake_write(attempt->fd, &confirm, sizeof confirm))
        return true;
    give_up(attempt, known && attempt->answer.verdict == TERN_AGENT_RELAYED
                         ? "a relay there passes connections on to mpirun, and could read and "
                           "change the messages"
                         : "another program listens there");
    return false;
}

/* Goes on with the attempts whose sockets are ready; waits for that at most `wait_ms`. Returns the
 * attempt that has succeeded, or NULL. */
static struct attempt *go_on(int wait_ms)
{
    int count = call.directions.addresses.count;
    struct pollfd *polled = tern_must_alloc(count * sizeof *polled);
    struct attempt *through = NULL;
    for (int i = 0; i < count; i++) {
        struct attempt *attempt = &call.attempts[i];
        bool open = attempt->step == CONNECTING || attempt->step == AWAITING_ANSWER;
        polled[i].fd = open ? attempt->fd : -1;
        polled[i].events = attempt->step == CONNECTING ? POLLOUT : POLLIN;
    }
    poll(polled, (nfds_t)count, wait_ms);
    for (int i = 0; i < count && !through; i++) {
        struct attempt *attempt = &call.attempts[i];
        if (polled[i].fd < 0 || !polled[i].revents)
            continue;
        if (attempt->step == CONNECTING)
            say_hello(attempt);
        else if (read_answer(attempt))
            through = attempt;
    }
    free(polled);
    return through;
}

/* Returns the attempt to begin next, or NULL. *ret_open is the number of attempts under way. */
static struct attempt *find_next(int *ret_open)
{
    struct attempt *next = NULL;
    *ret_open = 0;
    for (int i = 0; i < call.directions.addresses.count; i++) {
        struct attempt *attempt = &call.attempts[i];
        *ret_open += attempt->step == CONNECTING || attempt->step == AWAITING_ANSWER;
        if (attempt->step == WAITING && (!next || attempt->due_ms < next->due_ms))
            next = attempt;
    }
    return next;
}

static int call_addresses(int *ret_fd)
{
    int count = call.directions.addresses.count, open;
    int64_t now = tern_loop_now_ms(), end = now + call.directions.timeout_ms;
    struct attempt *through = NULL, *next;
    call.attempts = tern_must_alloc(count * sizeof *call.attempts);
    for (int i = 0; i < count; i++)
        call.attempts[i] = (struct attempt){.address = call.directions.addresses.items[i],
                                            .due_ms = now + i * STAGGER_MS,
                                            .fd = -1};
    while (!through && now < end && ((next = find_next(&open)) || open)) {
        if (next && (now >= next->due_ms || (!open && !next->closed))) {
            begin(next);
            continue;
        }
        int64_t until = next && next->due_ms < end ? next->due_ms : end;
        through = go_on((int)(until - now));
        now = tern_loop_now_ms();
    }
    for (int i = 0; i < count; i++) {
        struct attempt *attempt = &call.attempts[i];
        if (attempt == through || attempt->step == FAILED)
            continue;
        if (!through)
            give_up(attempt, "no answer");
        else if (attempt->fd >= 0)
            close(attempt->fd);
    }
    if (!through)
        return tern_error(TERN_ERR_OTHER, "cannot connect to mpirun at port %d: "
                                          "%s", call.directions.port,
                          call.why);
    *ret_fd = through->fd;
    free(call.attempts);
    return 0;
}

static int read_directions(int fd)
{
    char *text = NULL;
    size_t size = 0, room = 0;
    int64_t end = tern_loop_now_ms() + DIRECTIONS_MS;
    while (!tern_directions_end(text, size)) {
        int64_t left = end - tern_loop_now_ms();
        struct pollfd polled = {fd, POLLIN, 0};
        if (room - size < 2)
            text = tern_must_grow(text, room = room ? 2 * room : 4096);
        ssize_t n = left > 0 && poll(&polled, 1, (int)left) > 0
                        ? read(fd, text + size, room - size - 1)
                        : 0;
        if (n < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n <= 0 || size + (size_t)n > TERN_DIRECTIONS_MOST) {
            free(text);
            return tern_error(TERN_ERR_ARG, "standard input does not say where mpirun is");
        }
        size += (size_t)n;
    }
    text[size] = '\0';
    int error = tern_directions_read(text, &call.directions);
    explicit_bzero(text, size);
    free(text);
    return error;
}

/* Returns this host's number, or -1 if the list lacks it. */
static int32_t find_host(void)
{
    char own[256] = "";
    const char *name = getenv("SLURMD_NODENAME");
    gethostname(own, sizeof own - 1);
    for (int host = 0; host < call.directions.hosts.count; host++) {
        if (strcasecmp(call.directions.hosts.items[host], name ? name : own) == 0)
            return host;
    }
    return -1;
}

int tern_call_mpirun(int in_fd, int *ret_fd)
{
    const char *where = getenv("SLURM_LAUNCH_NODE_IPADDR");
    int error = read_directions(in_fd);
    if (error)
        return error;
    call.host = find_host();
    if (call.host < 0)
        return tern_error(TERN_ERR_OTHER, "mpirun waits for no agent of this host");
    /* first of all: Slurm's daemon on this host has just been reached from that address */
    if (where) {
        struct tern_strings all = {0};
        tern_strings_add(&all, where);
        for (int i = 0; i < call.directions.addresses.count; i++) {
            if (strcmp(call.directions.addresses.items[i], where) != 0)
                tern_strings_add(&all, call.directions.addresses.items[i]);
        }
        tern_strings_free(&call.directions.addresses);
        call.directions.addresses = all;
    }
    error = call_addresses(ret_fd);
    explicit_bzero(call.directions.secret, sizeof call.directions.secret);
    tern_strings_free(&call.directions.addresses);
    tern_strings_free(&call.directions.hosts);
    return error;
}
