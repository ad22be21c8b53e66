/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/port.h"

#include "lib/util/base/error.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const struct tern_service service = {{'T', 'E', 'R', 'N', 'p', 'r', 't', '\n'}, 1};
static const char prefix[] = "tern-port-1/";

enum { WELCOME = 1, MESSAGE_MOST = 1 << 30, RECORD_ROOM = TERN_RECORD_MOST + TERN_RECORD_EXTRA };

/* ---- names ---- */

void tern_port_name_write(const struct tern_port_name *name, char text[TERN_PORT_NAME_MOST])
{
    char token[2 * TERN_SECRET_BYTES + 1], plain[TERN_TCP_TEXT];
    tern_secret_write(name->token, token);
    size_t used =
        (size_t)snprintf(text, TERN_PORT_NAME_MOST, "%s%s/%u/%s/", prefix, name->host,
                         name->count ? (unsigned)name->addresses[0].port : 0, token);
    for (int i = 0; i < name->count; i++) {
        struct tern_tcp_address address = name->addresses[i];
        address.port = 0;
        tern_tcp_text(&address, plain);
        if (used + strlen(plain) + 2 > TERN_PORT_NAME_MOST)
            break;
        used += (size_t)snprintf(text + used, TERN_PORT_NAME_MOST - used, "%s%s", i ? "," : "",
                                 plain);
    }
}

/* Reads an address without a port. */
static bool read_address(const char *text, size_t length, uint16_t port,
                         struct tern_tcp_address *ret)
{
    char plain[TERN_TCP_TEXT];
    struct tern_tcp_address address = {.port = port};
    if (length == 0 || length >= sizeof plain)
        return false;
    memcpy(plain, text, length);
    plain[length] = 0;
    address.family = strchr(plain, ':') ? 6 : 4;
    address.prefix = address.family == 4 ? 32 : 128;
    if (inet_pton(address.family == 4 ? AF_INET : AF_INET6, plain, address.bytes) != 1)
        return false;
    *ret = address;
    return true;
}

bool tern_port_name_read(const char *text, struct tern_port_name *ret_name)
{
    struct tern_port_name name = {.count = 0};
    char token[2 * TERN_SECRET_BYTES + 1];
    unsigned port;
    int used = 0;
    if (strncmp(text, prefix, sizeof prefix - 1) != 0 ||
        sscanf(text + sizeof prefix - 1, "%63[^/]/%u/%64[0-9a-f]/%n", name.host, &port, token,
               &used) != 3 ||
        !used || port == 0 || port > UINT16_MAX || !tern_secret_read(token, name.token))
        return false;
    for (const char *at = text + sizeof prefix - 1 + used;; at++) {
        size_t length = strcspn(at, ",");
        if (name.count == TERN_TCP_ADDRESSES_MAX ||
            !read_address(at, length, (uint16_t)port, &name.addresses[name.count++]))
            return false;
        at += length;
        if (!*at)
            break;
    }
    *ret_name = name;
    return true;
}

/* ---- the listening socket ---- */

int tern_port_listen(uint16_t first, uint16_t last, uint16_t *ret_port, bool *ret_only_four)
{
    /* now, while the process has descriptors; if it fails, the first connection says why */
    tern_hmac_load();
    return tern_tcp_listen(first, last, NULL, ret_port, ret_only_four);
}

/* ---- lines ---- */

static bool fail(struct tern_line *line, const char *why)
{
    snprintf(line->why, sizeof line->why, "%s", why);
    line->step = TERN_LINE_FAILED;
    return true;
}

static bool fail_by_errno(struct tern_line *line, const char *otherwise)
{
    return fail(line, errno ? strerror(errno) : otherwise);
}

void tern_line_call(struct tern_line *line, const struct tern_tcp_address *address,
                    const unsigned char *token)
{
    struct sockaddr_storage to;
    *line = (struct tern_line){.calls = true, .token = token};
    line->fd = socket(address->family == 4 ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    socklen_t size = tern_tcp_sockaddr(address, address->port, &to);
    if (line->fd < 0 ||
        (connect(line->fd, (struct sockaddr *)&to, size) && errno != EINPROGRESS))
        fail_by_errno(line, "");
}

static void say_hello(struct tern_line *line)
{
    line->hello.reached = tern_handshake_reached(line->fd);
    if (tern_hello_seal(&line->hello, &service, line->token))
        fail(line, tern_error_text(TERN_ERR_OTHER));
    else if (!tern_handshake_write(line->fd, &line->hello, sizeof line->hello))
        fail_by_errno(line, "");
    else
        line->step = TERN_LINE_AWAITING_ANSWER;
}

void tern_line_take(struct tern_line *line, int fd, bool calls, const unsigned char *token)
{
    *line = (struct tern_line){.fd = fd,
                               .calls = calls,
                               .token = token,
                               .step = calls ? TERN_LINE_CONNECTING : TERN_LINE_AWAITING_HELLO};
}

/* Makes the keys of both directions, and goes on to the messages. */
static void begin_exchange(struct tern_line *line)
{
    line->sends = tern_cipher_new(line->calls ? TERN_FROM_CALLER : TERN_FROM_CALLED, &line->hello,
                                  &line->answer, line->token);
    line->receives = line->sends ? tern_cipher_new(line->calls ? TERN_FROM_CALLED
                                                               : TERN_FROM_CALLER,
                                                   &line->hello, &line->answer, line->token)
                                 : NULL;
    line->got = 0;
    line->step = TERN_LINE_EXCHANGING;
    if (!line->receives)
        fail(line, tern_error_text(TERN_ERR_OTHER));
}

void tern_line_answer(struct tern_line *line)
{
    line->answer.verdict = WELCOME;
    line->got = 0;
    line->step = TERN_LINE_AWAITING_CONFIRM;
    if (tern_answer_seal(&line->answer, &line->hello, line->token) ||
        !tern_handshake_write(line->fd, &line->answer, sizeof line->answer))
        fail_by_errno(line, "the connection was closed");
}

/* ---- the message that this end sends ---- */

/* Keeps the message as it is until the keys are known. */
int tern_line_say(struct tern_line *line, const void *bytes, size_t length)
{
    uint64_t head = length;
    line->out = malloc(sizeof head + length);
    if (!line->out)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %zu bytes", length);
    memcpy(line->out, &head, sizeof head);
    memcpy(line->out + sizeof head, bytes, length);
    line->out_begin = 0;
    line->out_end = sizeof head + length;
    return 0;
}

/* Turns the message into records. */
static bool encrypt(struct tern_line *line)
{
    size_t plain = line->out_end;
    size_t records = (plain + TERN_RECORD_MOST - 1) / TERN_RECORD_MOST;
    unsigned char *sealed = malloc(plain + records * TERN_RECORD_EXTRA);
    size_t end = 0;
    if (!sealed)
        return false;
    for (size_t at = 0; at < plain;) {
        size_t part = plain - at < TERN_RECORD_MOST ? plain - at : TERN_RECORD_MOST;
        memcpy(sealed + end + TERN_RECORD_HEAD, line->out + at, part);
        tern_cipher_seal(line->sends, sealed + end, (uint32_t)part);
        end += part + TERN_RECORD_EXTRA;
        at += part;
    }
    free(line->out);
    line->out = sealed;
    line->sealed = true;
    line->out_end = end;
    return true;
}

/* Writes what the socket takes. */
static void write_message(struct tern_line *line)
{
    if (!line->out)
        return;
    if (!line->sealed && !encrypt(line)) {
        fail(line, "no memory");
        return;
    }
    while (line->out_begin < line->out_end) {
        ssize_t n = send(line->fd, line->out + line->out_begin, line->out_end - line->out_begin,
                         MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN)
            fail_by_errno(line, "");
        if (n < 0)
            return;
        line->out_begin += (size_t)n;
    }
}

static bool has_written(const struct tern_line *line)
{
    return line->sealed && line->out_begin == line->out_end;
}

/* ---- the message of the other end ---- */

/* Reads at most up to `size` bytes of the record: never bytes behind it, because the socket may be
 * the user's (MPI_Comm_join). */
static enum tern_part read_up_to(struct tern_line *line, size_t size)
{
    return tern_handshake_read(line->fd, line->record, size, &line->got);
}

/* Appends the data of a record to the message. */
static bool append(struct tern_line *line, const unsigned char *data, size_t length)
{
    uint64_t expected;
    if (!line->received) {
        if (length < sizeof expected)
            return false;
        memcpy(&expected, data, sizeof expected);
        if (expected > MESSAGE_MOST || !(line->received = malloc(expected + 1)))
            return false;
        line->received_bytes = 0;
        line->expected = expected;
        data += sizeof expected;
        length -= sizeof expected;
    }
    if (length > line->expected - line->received_bytes)
        return false;
    memcpy(line->received + line->received_bytes, data, length);
    line->received_bytes += length;
    return true;
}

/* Reads records until the message is whole. Returns true if it is. */
static bool read_message(struct tern_line *line)
{
    enum tern_part part = TERN_WHOLE;
    if (!line->record && !(line->record = malloc(RECORD_ROOM)))
        return !fail(line, "no memory");
    while (!line->received || line->received_bytes < line->expected) {
        part = read_up_to(line, TERN_RECORD_HEAD);
        if (line->got < TERN_RECORD_HEAD)
            break;
        if (!line->record_length)
            line->record_length = tern_cipher_read_head(line->receives, line->record);
        if (!line->record_length || line->record_length > TERN_RECORD_MOST)
            return !fail(line, "the data received are not the data that were sent");
        size_t whole = line->record_length + (size_t)TERN_RECORD_EXTRA;
        part = read_up_to(line, whole);
        if (line->got < whole)
            break;
        if (!tern_cipher_open(line->receives, line->record, line->record_length) ||
            !append(line, line->record + TERN_RECORD_HEAD, line->record_length))
            return !fail(line, "the data received are not the data that were sent");
        line->got = 0;
        line->record_length = 0;
    }
    if (part == TERN_ENDED)
        return !fail_by_errno(line, "the other end closed the connection");
    return line->received && line->received_bytes == line->expected;
}

/* ---- steps ---- */

static void finish_connect(struct tern_line *line)
{
    struct pollfd ready = {.fd = line->fd, .events = POLLOUT};
    int error = 0;
    socklen_t size = sizeof error;
    if (poll(&ready, 1, 0) != 1)
        return;
    getsockopt(line->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    errno = error;
    if (error)
        fail_by_errno(line, "");
    else
        say_hello(line);
}

static void read_answer(struct tern_line *line)
{
    enum tern_part part =
        tern_handshake_read(line->fd, &line->answer, sizeof line->answer, &line->got);
    if (part == TERN_ENDED) {
        line->unheard = true;
        fail_by_errno(line, "it closed the connection: the port's name is not the one that it "
                            "opened, or the port was closed");
    }
    if (part != TERN_WHOLE)
        return;
    if (tern_hmac_load())
        fail(line, tern_error_text(TERN_ERR_OTHER));
    else if (!tern_answer_holds(&line->answer, &line->hello, line->token) ||
             line->answer.verdict != WELCOME)
        fail(line, "the program that listens there does not know this port");
    else if (tern_confirm_seal(&line->confirm, &line->hello, &line->answer, line->token) ||
             !tern_handshake_write(line->fd, &line->confirm, sizeof line->confirm))
        fail_by_errno(line, "");
    else
        begin_exchange(line);
}

static void read_hello(struct tern_line *line)
{
    enum tern_part part =
        tern_handshake_read(line->fd, &line->hello, sizeof line->hello, &line->got);
    if (!tern_hello_begins(&service, &line->hello, line->got))
        fail(line, "it does not use this protocol");
    else if (part == TERN_ENDED)
        fail(line, "it closed the connection");
    else if (part == TERN_WHOLE && tern_hmac_load())
        fail(line, tern_error_text(TERN_ERR_OTHER)); /* the caller calls again */
    else if (part == TERN_WHOLE && tern_hello_holds(&line->hello, &service, line->token))
        line->step = TERN_LINE_CALLED;
    else if (part == TERN_WHOLE)
        fail(line, "it does not know the port's name");
}

static void read_confirm(struct tern_line *line)
{
    enum tern_part part =
        tern_handshake_read(line->fd, &line->confirm, sizeof line->confirm, &line->got);
    if (part == TERN_ENDED)
        fail(line, "it closed the connection");
    else if (part == TERN_WHOLE && tern_confirm_holds(&line->confirm, &line->hello, &line->answer,
                                                      line->token))
        begin_exchange(line);
    else if (part == TERN_WHOLE)
        fail(line, "it does not know the port's name");
}

static void exchange(struct tern_line *line)
{
    write_message(line);
    if (line->step == TERN_LINE_FAILED)
        return;
    bool whole = read_message(line);
    if (line->step != TERN_LINE_FAILED && whole && has_written(line))
        line->step = TERN_LINE_DONE;
}

bool tern_line_go_on(struct tern_line *line)
{
    enum tern_line_step before = line->step;
    if (line->step == TERN_LINE_CONNECTING)
        finish_connect(line);
    else if (line->step == TERN_LINE_AWAITING_ANSWER)
        read_answer(line);
    else if (line->step == TERN_LINE_AWAITING_HELLO)
        read_hello(line);
    else if (line->step == TERN_LINE_AWAITING_CONFIRM)
        read_confirm(line);
    if (line->step == TERN_LINE_EXCHANGING)
        exchange(line);
    return line->step != before;
}

short tern_line_events(const struct tern_line *line)
{
    bool writes = line->step == TERN_LINE_CONNECTING ||
                  (line->step == TERN_LINE_EXCHANGING && line->out &&
                   line->out_begin < line->out_end);
    return writes ? POLLIN | POLLOUT : POLLIN;
}

void tern_line_close(struct tern_line *line)
{
    if (line->fd >= 0)
        close(line->fd);
    tern_cipher_free(line->sends);
    tern_cipher_free(line->receives);
    free(line->out);
    free(line->record);
    free(line->received);
    *line = (struct tern_line){.fd = -1, .step = TERN_LINE_FAILED};
}
