/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/handshake.h"

#include "lib/util/net/tcp_address.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum { ORDER = 0x0102 };

/* Computes a message's proof. Each kind of message begins with its own word, so that none can be
 * taken for another. */
static int prove(const char *word, const struct tern_hello *hello, const struct tern_answer *answer,
                 size_t answer_bytes, const unsigned char *secret, unsigned char *ret_proof)
{
    size_t hello_bytes = answer ? sizeof *hello : offsetof(struct tern_hello, proof);
    struct iovec parts[] = {{(void *)word, strlen(word)},
                            {(void *)hello, hello_bytes},
                            {(void *)answer, answer_bytes}};
    return tern_hmac(secret, parts, answer ? 3 : 2, ret_proof);
}

int tern_hello_seal(struct tern_hello *hello, const struct tern_service *service,
                    const unsigned char *secret)
{
    hello->service = *service;
    hello->order = ORDER;
    hello->zero = 0;
    int rc = tern_random(hello->nonce, sizeof hello->nonce);
    return rc ? rc : prove("hello", hello, NULL, 0, secret, hello->proof);
}

int tern_answer_seal(struct tern_answer *answer, const struct tern_hello *hello,
                     const unsigned char *secret)
{
    int rc = tern_random(answer->nonce, sizeof answer->nonce);
    return rc ? rc
              : prove("answer", hello, answer, offsetof(struct tern_answer, proof), secret,
                      answer->proof);
}

int tern_confirm_seal(struct tern_confirm *confirm, const struct tern_hello *hello,
                      const struct tern_answer *answer, const unsigned char *secret)
{
    return prove("confirm", hello, answer, sizeof *answer, secret, confirm->proof);
}

int tern_handshake_key(const char *word, const struct tern_hello *hello,
                       const struct tern_answer *answer, const unsigned char *secret,
                       unsigned char ret_key[TERN_PROOF_BYTES])
{
    return prove(word, hello, answer, sizeof *answer, secret, ret_key);
}

bool tern_hello_begins(const struct tern_service *service, const void *bytes, size_t length)
{
    return memcmp(bytes, service->name,
                  length < sizeof service->name ? length : sizeof service->name) == 0;
}

bool tern_hello_holds(const struct tern_hello *hello, const struct tern_service *service,
                      const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return tern_hello_begins(service, hello, sizeof service->name) &&
           prove("hello", hello, NULL, 0, secret, proof) == 0 &&
           tern_proof_equal(proof, hello->proof) && hello->service.version == service->version &&
           hello->order == ORDER && hello->zero == 0;
}

bool tern_answer_holds(const struct tern_answer *answer, const struct tern_hello *hello,
                       const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return prove("answer", hello, answer, offsetof(struct tern_answer, proof), secret, proof) ==
               0 &&
           tern_proof_equal(proof, answer->proof);
}

bool tern_confirm_holds(const struct tern_confirm *confirm, const struct tern_hello *hello,
                        const struct tern_answer *answer, const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return prove("confirm", hello, answer, sizeof *answer, secret, proof) == 0 &&
           tern_proof_equal(proof, confirm->proof);
}

static struct tern_reached reached(const struct sockaddr_storage *name)
{
    struct tern_tcp_address address;
    struct tern_reached result = {0};
    if (name->ss_family != AF_INET && name->ss_family != AF_INET6)
        return result;
    tern_tcp_from_sockaddr(name, &address);
    result.family = address.family;
    result.port = address.port;
    memcpy(result.bytes, address.bytes, sizeof result.bytes);
    return result;
}

struct tern_reached tern_handshake_reached(int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    getpeername(fd, (struct sockaddr *)&name, &size);
    return reached(&name);
}

bool tern_hello_is_direct(const struct tern_hello *hello, int fd)
{
    struct sockaddr_storage name = {0};
    socklen_t size = sizeof name;
    getsockname(fd, (struct sockaddr *)&name, &size);
    struct tern_reached own = reached(&name);
    return memcmp(&own, &hello->reached, sizeof own) == 0;
}

enum tern_part tern_handshake_read(int fd, void *message, size_t size, size_t *got)
{
    if (*got >= size) /* a caller that goes on behind this part asks for it again */
        return TERN_WHOLE;
    ssize_t n = recv(fd, (char *)message + *got, size - *got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return TERN_PART;
    if (n <= 0) {
        errno = n == 0 ? 0 : errno;
        return TERN_ENDED;
    }
    *got += (size_t)n;
    return *got == size ? TERN_WHOLE : TERN_PART;
}

bool tern_handshake_write(int fd, const void *message, size_t size)
{
    return send(fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}
