/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_GREETING_H
#define TERN_TCP_GREETING_H

/* The content of a handshake between ranks (lib/util/net/handshake.h): who connects, and to whom.
 * Pure functions. */

#include "lib/rte/jobs.h"
#include "lib/util/net/handshake.h"

/* The greeting in a hello. */
struct tern_tcp_greeting {
    uint8_t lane;       /* the caller's lane */
    /* index of the link between the two. 0 is the first, which carries all but large messages; 1,
     * 2, ... are further links */
    uint8_t link;
    uint8_t encrypt;    /* 1 if the caller wants the link encrypted (btl_tcp_encrypt), else 0 */
    uint8_t zero; /* must be 0 */
    uint32_t from, to;  /* ranks: the caller's, and the one that it wants */
    /* number of the caller's MPI program (tern_rte_program); 0 if it is of another job */
    uint32_t program;
    /* name of the job, its last bytes if it is too long, closed by a 0 byte. Between two jobs: the
     * byte 1 and the ids of the caller's and the called end's jobs */
    char job[64];
};

/* The service's name and version. */
extern const struct tern_service tern_tcp_service;

/* The called end's verdict on a hello. */
enum tern_tcp_verdict {
    TERN_TCP_WELCOME = 1,
    /* another rank listens here, the answer's `number`: several hosts have this address */
    TERN_TCP_WRONG_RANK,
    /* there is a connection already, or the called end's own call takes precedence */
    TERN_TCP_CROSSED,
    /* the rank runs an earlier or a later MPI program: the answer's `number` */
    TERN_TCP_WRONG_PROGRAM,
    TERN_TCP_UNLIKE, /* btl_tcp_encrypt differs; the called end's value is the answer's `number` */
    /* a relay passes the connection on: the caller reached another address than ours */
    TERN_TCP_RELAYED,
};

/* Writes the greeting and the job's name into a hello, before tern_hello_seal. */
void tern_tcp_greet(struct tern_hello *hello, struct tern_tcp_greeting greeting, const char *job);
/* Reads the greeting from a hello that holds. Returns false if it is for another job, or if ranks,
 * lane or link are out of range. */
bool tern_tcp_greeting_read(const struct tern_hello *hello, const char *job, uint32_t job_size,
                            struct tern_tcp_greeting *ret_greeting);

/* The same for a hello from one job to another. Reading it sets the jobs' ids, too; it returns
 * false if the hello is within one job. */
void tern_tcp_greet_far(struct tern_hello *hello, struct tern_tcp_greeting greeting,
                        struct tern_job_id from, struct tern_job_id to);
bool tern_tcp_greeting_read_far(const struct tern_hello *hello,
                                struct tern_tcp_greeting *ret_greeting,
                                struct tern_job_id *ret_from, struct tern_job_id *ret_to);

#endif
