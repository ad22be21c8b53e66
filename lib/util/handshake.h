/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HANDSHAKE_H
#define TERN_HANDSHAKE_H

/*
 * How the two ends of a fresh connection prove to each other that they know a job's secret, before
 * any other byte is interpreted. Three messages of fixed sizes:
 *
 *      calls                                 is called
 *        hello: greeting, nonce, proof  ->
 *                                            a wrong proof gets no answer at all
 *                                 <- answer: verdict, nonce, proof over hello and answer
 *        confirm: proof over both ->         from here on the service's own language
 *
 * What a greeting says, and what verdicts there are, is the service's: ranks name ranks
 * (lib/btl/tcp/greeting.h). A proof is an HMAC by the secret, which itself never travels. Each end
 * proves freshly, by the other's nonce; a hello that somebody recorded and sends again gets an
 * answer, whose nonce it cannot confirm.
 *
 * A stranger who is called by mistake could call the right process itself and pass on what both
 * say: both proofs would hold, and afterwards it could read and change everything. Therefore the
 * hello says which address the caller has reached, and the called end compares it with its own. The
 * caller's address is not compared: many networks change it (NAT). A relay that passes packets on
 * without changing addresses, as a router does, is not noticed.
 *
 * All but the last four functions are pure. The bytes are the machine's own, which the hello lets
 * the called end check.
 */

#include "lib/util/hmac.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_service {
    char name[8];     /* "TERNtcp\n": all of the bytes count */
    uint16_t version; /* of all that is said after the handshake */
};

enum { TERN_GREETING_BYTES = 96 };

/* An address and port as one end of a connection sees it; all zero if it has none. */
struct tern_reached {
    uint8_t family; /* 4 or 6 */
    uint8_t zero;
    uint16_t port;
    unsigned char bytes[16]; /* 4 or all of them */
};

struct tern_hello {
    struct tern_service service;
    uint16_t order; /* 0x0102 as this machine writes it */
    uint32_t zero;
    unsigned char greeting[TERN_GREETING_BYTES];
    struct tern_reached reached;
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

struct tern_answer {
    uint32_t verdict; /* the service's */
    uint32_t number;  /* who answers, or whatever else belongs to the verdict */
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

struct tern_confirm {
    unsigned char proof[TERN_PROOF_BYTES];
};

/* Fill in what is the same for all, nonce and proof: the caller has set the greeting (all of its
 * bytes) and `reached`; verdict and number. 0 or TERN_ERR_OTHER with text. */
int tern_hello_seal(struct tern_hello *hello, const struct tern_service *service,
                    const unsigned char *secret);
int tern_answer_seal(struct tern_answer *answer, const struct tern_hello *hello,
                     const unsigned char *secret);
int tern_confirm_seal(struct tern_confirm *confirm, const struct tern_hello *hello,
                      const struct tern_answer *answer, const unsigned char *secret);

/* Is it from one who knows the secret, for this service in this version? Without text: nobody is at
 * fault here. */
bool tern_hello_holds(const struct tern_hello *hello, const struct tern_service *service,
                      const unsigned char *secret);
bool tern_answer_holds(const struct tern_answer *answer, const struct tern_hello *hello,
                       const unsigned char *secret);
bool tern_confirm_holds(const struct tern_confirm *confirm, const struct tern_hello *hello,
                        const struct tern_answer *answer, const unsigned char *secret);

/* Makes a key that both ends can make and nobody else, another one for each word and each
 * handshake. 0 or TERN_ERR_OTHER with text. */
int tern_handshake_key(const char *word, const struct tern_hello *hello,
                       const struct tern_answer *answer, const unsigned char *secret,
                       unsigned char ret_key[TERN_PROOF_BYTES]);

/* May the first `length` bytes be the beginning of a hello for the service? */
bool tern_hello_begins(const struct tern_service *service, const void *bytes, size_t length);

/* The address that a connected socket leads to, for the hello of the caller. */
struct tern_reached tern_handshake_reached(int fd);
/* Returns true if the caller has reached the address that the called end's socket has: nobody
 * between them passes the connection on. */
bool tern_hello_is_direct(const struct tern_hello *hello, int fd);

/* Of a message of `size` bytes that comes by a socket in pieces, *got bytes are there. Does not
 * block. TERN_ENDED: the rest will never come; errno, 0: the other end has closed. */
enum tern_part { TERN_PART, TERN_WHOLE, TERN_ENDED };
enum tern_part tern_handshake_read(int fd, void *message, size_t size, size_t *got);
/* The messages are short, and each the first on its way: on a connected socket there is room. False
 * with errno: it has ended. Does not block. */
bool tern_handshake_write(int fd, const void *message, size_t size);

#endif
