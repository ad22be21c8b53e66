/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_GREETING_H
#define TERN_TCP_GREETING_H

/* What ranks say to each other in a handshake (lib/util/handshake.h): who calls, and whom it means.
 * Pure functions. */

#include "lib/util/handshake.h"

struct tern_tcp_greeting {
    uint8_t lane;       /* of the caller */
    /* 0: the first between these two, by which all but large messages go; 1 ...: further ones */
    uint8_t link;
    uint8_t encrypt;    /* 1: the caller wants the link encrypted (btl_tcp_encrypt) */
    uint8_t zero;
    uint32_t from, to;  /* ranks */
    uint32_t program;   /* of the caller's, as its record says (address.h) */
    char job[64];       /* the end of its name, closed by 0 */
};

extern const struct tern_service tern_tcp_service;

enum tern_tcp_verdict {
    TERN_TCP_WELCOME = 1,
    /* some other rank, the answer's number, listens there: an address that several hosts have */
    TERN_TCP_WRONG_RANK,
    /* there is a connection already, or the other end's own call has precedence */
    TERN_TCP_CROSSED,
    /* the rank runs an earlier MPI program, or a later one: the answer's number */
    TERN_TCP_WRONG_PROGRAM,
    TERN_TCP_UNLIKE,     /* btl_tcp_encrypt is not the same: the answer's number */
    TERN_TCP_RELAYED,    /* the caller has reached somebody who passes the connection on */
};

/* Writes it, with the job's name, into a hello that is to be sealed. */
void tern_tcp_greet(struct tern_hello *hello, struct tern_tcp_greeting greeting, const char *job);
/* Reads it from a hello that holds. False: another job, or no sane ranks, lane and link. */
bool tern_tcp_greeting_read(const struct tern_hello *hello, const char *job, uint32_t job_size,
                            struct tern_tcp_greeting *ret_greeting);

#endif
