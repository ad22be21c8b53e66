/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PORT_H
#define TERN_PORT_H

/*
 * Ports: where one job waits for another (MPI-4.1 section 11.9). The name of a port is all that the
 * other job needs. It contains a token, a secret of 32 bytes. Only a process that has the name can
 * prove that it knows the token (lib/util/net/handshake.h), so no other process gets in.
 *
 *     tern-port-1/HOST/PORT/TOKEN/ADDRESS,ADDRESS,...
 *
 * A line is a connection to a port. After the handshake each end sends one message, encrypted
 * (lib/util/net/cipher.h), because the messages contain the keys of processes. No function here
 * blocks.
 */

#include "lib/util/net/cipher.h"
#include "lib/util/net/tcp_address.h"
#include "lib/util/net/visitors.h"

#include <stdbool.h>
#include <stddef.h>

/* The parts of a name. */
struct tern_port_name {
    char host[64]; /* for people */
    unsigned char token[TERN_SECRET_BYTES];
    struct tern_tcp_address addresses[TERN_TCP_ADDRESSES_MAX]; /* with the port */
    int count;
};
enum { TERN_PORT_NAME_MOST = 1024 }; /* MPI_MAX_PORT_NAME */

/* Writes the name. Leaves out the last addresses if there is no room. */
void tern_port_name_write(const struct tern_port_name *name, char text[TERN_PORT_NAME_MOST]);
/* Reads a name. Returns false if `text` is not one. */
bool tern_port_name_read(const char *text, struct tern_port_name *ret_name);

/* Opens a listening socket for both families if the host has both, at one of the ports from `first`
 * to `last`; 0: any port. Sets *ret_port. Returns -1 with errno on failure. */
int tern_port_listen(uint16_t first, uint16_t last, uint16_t *ret_port, bool *ret_only_four);

/* What a line waits for. */
enum tern_line_step {
    TERN_LINE_CONNECTING,
    TERN_LINE_AWAITING_ANSWER,
    TERN_LINE_AWAITING_HELLO,
    TERN_LINE_CALLED, /* the hello holds, and nobody has answered it yet */
    TERN_LINE_AWAITING_CONFIRM,
    TERN_LINE_EXCHANGING, /* both messages are under way */
    TERN_LINE_DONE,       /* ours was written, and `received` is theirs */
    TERN_LINE_FAILED,     /* for the reason `why` */
};

/* A line. The caller frees it with tern_line_close. */
struct tern_line {
    int fd;
    enum tern_line_step step;
    bool calls; /* this end has connected */
    const unsigned char *token; /* of the port; must stay valid */
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    size_t got; /* bytes read of the handshake's message, or of the record, that arrives */
    struct tern_cipher *sends, *receives;
    unsigned char *out; /* this end's message; NULL: none yet */
    bool sealed;        /* `out` is encrypted: out_begin to out_end is not written yet */
    size_t out_begin, out_end;
    uint32_t record_length; /* data bytes of the record that arrives; 0: its head is missing */
    unsigned char *record;
    uint64_t expected; /* bytes of the other end's message; valid when `received` is not NULL */
    unsigned char *received;
    size_t received_bytes;
    bool unheard; /* it failed because the other end closed it before any answer: call again */
    char why[160];
};
/* How often an end calls again, in all, if its calls are unheard. The called end may have had no
 * room, or may have heard a copy of the hello before. */
enum { TERN_LINE_REPEATS = 10 };

/* Begins a line to an address. */
void tern_line_call(struct tern_line *line, const struct tern_tcp_address *address,
                    const unsigned char *token);
/* Begins a line on a connection that exists: as the end that calls, or as the called one. */
void tern_line_take(struct tern_line *line, int fd, bool calls, const unsigned char *token);
/* Answers the hello of a line in the step TERN_LINE_CALLED. */
void tern_line_answer(struct tern_line *line);
/* Sends this end's message; call it once, in any step before TERN_LINE_DONE. An end that must read
 * the other's message first may call it when `received` is whole. Returns 0, or
 * TERN_ERR_NO_MEM. Owner: copies `bytes`. */
int tern_line_say(struct tern_line *line, const void *bytes, size_t length);
/* Does what is possible without waiting. Returns true if the step has changed. */
bool tern_line_go_on(struct tern_line *line);
/* Returns the events of the socket for which the line waits, as for poll. */
short tern_line_events(const struct tern_line *line);
/* Frees what the line holds, and closes the socket unless it is -1. */
void tern_line_close(struct tern_line *line);

/* Returns how much the other end of an accepted line has proved. */
static inline enum tern_standing tern_line_standing(const struct tern_line *line)
{
    return line->step <= TERN_LINE_CALLED          ? TERN_VISITOR_SILENT
           : line->step == TERN_LINE_AWAITING_CONFIRM ? TERN_VISITOR_ANSWERED
                                                      : TERN_VISITOR_KNOWN;
}

/* A line is over if it is done or has failed. */
static inline bool tern_line_is_over(const struct tern_line *line)
{
    return line->step >= TERN_LINE_DONE;
}

#endif
