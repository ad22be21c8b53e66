/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TCP_HANDSHAKE_H
#define TERN_TCP_HANDSHAKE_H

/*
 * How the two ends of a fresh connection find out that they mean each other: same job, the ranks they think. Pure functions
 * over fixed messages:
 *
 *      dials                                 is dialled
 *        hello: who, whom, nonce, proof ->
 *                                            a wrong proof gets no answer at all
 *                                 <- answer: verdict, nonce, proof over hello and answer
 *        confirm: proof over both ->         from here on packets
 *
 * A proof is an HMAC by the job's secret, which itself never travels. Each end proves freshly, by the other's nonce; a hello
 * that somebody recorded and sends again gets an answer, whose nonce it cannot confirm.
 */

#include "lib/util/hmac.h"

#include <stdint.h>

struct tern_tcp_hello {
    char magic[8];
    uint16_t order;     /* 0x0102 as this machine writes it */
    uint16_t version;   /* of handshake, frames and packets */
    uint8_t lane;       /* of the dialler */
    uint8_t link;       /* 0: the first between these two, by which all but large messages go; 1 ...: further ones */
    uint16_t zero;
    uint32_t from, to;  /* ranks */
    char job[64];       /* the end of its name, closed by 0 */
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

enum tern_tcp_verdict {
    TERN_TCP_WELCOME = 1,
    TERN_TCP_WRONG_RANK, /* some other rank listens there: an address that several hosts have */
    TERN_TCP_CROSSED,    /* there is a connection already, or the other end's own call has precedence */
};

struct tern_tcp_answer {
    uint32_t verdict; /* enum tern_tcp_verdict */
    uint32_t rank;    /* who answers */
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

struct tern_tcp_confirm {
    unsigned char proof[TERN_PROOF_BYTES];
};

/* Fill in what is the same for all, nonce and proof: the caller has set lane, link, from, to; verdict, rank. 0 or
 * TERN_ERR_OTHER. */
int tern_tcp_hello_seal(struct tern_tcp_hello *hello, const char *job, const unsigned char *secret);
int tern_tcp_answer_seal(struct tern_tcp_answer *answer, const struct tern_tcp_hello *hello, const unsigned char *secret);
int tern_tcp_confirm_seal(struct tern_tcp_confirm *confirm, const struct tern_tcp_hello *hello,
                          const struct tern_tcp_answer *answer, const unsigned char *secret);

/* Is it one of this job's, whole and sane? Without text: nobody is at fault here. */
bool tern_tcp_hello_holds(const struct tern_tcp_hello *hello, const char *job, uint32_t job_size,
                          const unsigned char *secret);
bool tern_tcp_answer_holds(const struct tern_tcp_answer *answer, const struct tern_tcp_hello *hello,
                           const unsigned char *secret);
bool tern_tcp_confirm_holds(const struct tern_tcp_confirm *confirm, const struct tern_tcp_hello *hello,
                            const struct tern_tcp_answer *answer, const unsigned char *secret);

/* May the first `length` bytes be the beginning of a hello? */
bool tern_tcp_hello_begins(const void *bytes, size_t length);

#endif
