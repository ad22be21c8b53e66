/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HANDSHAKE_H
#define TERN_HANDSHAKE_H

/*
 * The two ends of a fresh connection prove to each other that they know a job's secret, before
 * either interprets any other byte. Three messages of fixed sizes:
 *
 *      caller (connect)                      called end (accept)
 *        hello: greeting, nonce, proof  ->
 *                                            sends no answer if the proof is wrong
 *                                 <- answer: verdict, nonce, proof over hello and answer
 *        confirm: proof over both ->         from here on the service's own protocol
 *
 * The service defines what a greeting contains and which verdicts exist; between ranks a greeting
 * names the ranks (lib/btl/tcp/greeting.h). A proof is an HMAC with the secret as key; the secret
 * itself never travels. Each proof is fresh, because it includes the other end's nonce. A recorded
 * hello that somebody sends again gets an answer, but the sender cannot confirm the answer's nonce.
 *
 * A stranger who is called by mistake could call the right process and pass on what both ends say.
 * Both proofs would hold, and afterwards the stranger could read and change everything. Therefore
 * the hello contains the address that the caller has reached, and the called end compares it with
 * its own address. The caller's address is not compared, because many networks change it (NAT). A
 * relay that passes packets on without changing addresses, as a router does, is not noticed.
 *
 * The functions that check a message or derive a key depend only on their arguments. Those that
 * seal a hello or an answer also draw random numbers for the nonce, and the last four use a socket.
 * All that compute a proof load Nettle when they are first called (lib/util/net/hmac.h). The
 * messages use the byte order of the sender's machine; the hello contains a number by which the
 * called end checks the order.
 */

#include "lib/util/net/hmac.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A protocol that begins with the handshake. */
struct tern_service {
    char name[8];     /* "TERNtcp\n": all 8 bytes count */
    uint16_t version; /* of the protocol that follows the handshake */
};

/* Bytes of the part of a hello that the service fills. */
enum { TERN_GREETING_BYTES = 96 };

/* An address and port as one end of a connection sees it. All zero if that end has none. */
struct tern_reached {
    uint8_t family; /* 4 or 6 */
    uint8_t zero;
    uint16_t port;
    unsigned char bytes[16]; /* the first 4 or all 16 */
};

/* The first message, from the caller. */
struct tern_hello {
    struct tern_service service;
    uint16_t order; /* 0x0102 in this machine's byte order */
    uint32_t zero;
    unsigned char greeting[TERN_GREETING_BYTES];
    struct tern_reached reached;
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

/* The second message, from the called end. */
struct tern_answer {
    uint32_t verdict; /* defined by the service */
    uint32_t number;  /* the rank that answers, or another number that belongs to the verdict */
    unsigned char nonce[TERN_NONCE_BYTES];
    unsigned char proof[TERN_PROOF_BYTES];
};

/* The third message, from the caller. */
struct tern_confirm {
    unsigned char proof[TERN_PROOF_BYTES];
};

/* Complete a message: fill in the service, the nonce and the proof. Before, the caller has set all
 * bytes of a hello's greeting and `reached`, or an answer's verdict and number. Return 0, or
 * TERN_ERR_OTHER with text. */
int tern_hello_seal(struct tern_hello *hello, const struct tern_service *service,
                    const unsigned char *secret);
int tern_answer_seal(struct tern_answer *answer, const struct tern_hello *hello,
                     const unsigned char *secret);
int tern_confirm_seal(struct tern_confirm *confirm, const struct tern_hello *hello,
                      const struct tern_answer *answer, const unsigned char *secret);

/* Check a message. Return true if the proof holds, so that the sender knows the secret; a hello
 * must also name this service, version and byte order. Record no error text: a stranger's
 * connection is not our fault. */
bool tern_hello_holds(const struct tern_hello *hello, const struct tern_service *service,
                      const unsigned char *secret);
bool tern_answer_holds(const struct tern_answer *answer, const struct tern_hello *hello,
                       const unsigned char *secret);
bool tern_confirm_holds(const struct tern_confirm *confirm, const struct tern_hello *hello,
                        const struct tern_answer *answer, const unsigned char *secret);

/* Derives a key that only the two ends can compute. Each `word` and each handshake gives another
 * key. Returns 0, or TERN_ERR_OTHER with text. */
int tern_handshake_key(const char *word, const struct tern_hello *hello,
                       const struct tern_answer *answer, const unsigned char *secret,
                       unsigned char ret_key[TERN_PROOF_BYTES]);

/* Returns true if the first `length` bytes may be the beginning of a hello for the service. */
bool tern_hello_begins(const struct tern_service *service, const void *bytes, size_t length);

/* Returns the address to which a connected socket leads, for the caller's hello. */
struct tern_reached tern_handshake_reached(int fd);
/* Returns true if the address that the caller has reached is the local address of the called end's
 * socket. Then nobody in between relays the connection with other addresses. */
bool tern_hello_is_direct(const struct tern_hello *hello, int fd);

/* Reads the bytes that have arrived of a message of `size` bytes; *got counts the bytes read so
 * far. Returns TERN_WHOLE if the message is complete, TERN_PART if bytes are missing, TERN_ENDED if
 * the rest will never come. For TERN_ENDED errno says why; 0: the other end has closed the
 * connection. Does not block. */
enum tern_part { TERN_PART, TERN_WHOLE, TERN_ENDED };
enum tern_part tern_handshake_read(int fd, void *message, size_t size, size_t *got);
/* Writes a message. Does not block: the messages are short and each is the first in its direction,
 * so the socket has room. Returns false with errno if the connection has ended. */
bool tern_handshake_write(int fd, const void *message, size_t size);

#endif
