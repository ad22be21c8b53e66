/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/handshake.h"

#include "lib/btl/peer.h"
#include "lib/btl/tcp/frame.h"

#include <string.h>

static const char magic[8] = {'T', 'E', 'R', 'N', 't', 'c', 'p', '\n'};
enum { ORDER = 0x0102, VERSION = 1 };

/* Each message begins with a word of its own, so that none can be taken for another. */
static int prove(const char *word, const struct tern_tcp_hello *hello,
                 const struct tern_tcp_answer *answer, size_t answer_bytes,
                 const unsigned char *secret, unsigned char *ret_proof)
{
    size_t hello_bytes = answer ? sizeof *hello : offsetof(struct tern_tcp_hello, proof);
    struct iovec parts[] = {{(void *)word, strlen(word)},
                            {(void *)hello, hello_bytes},
                            {(void *)answer, answer_bytes}};
    return tern_hmac(secret, parts, answer ? 3 : 2, ret_proof);
}

/* The same in both processes, whatever the length of the name. */
static void short_name(const char *job, char ret_name[64])
{
    size_t length = strlen(job), skip = length > 63 ? length - 63 : 0;
    memset(ret_name, 0, 64);
    memcpy(ret_name, job + skip, length - skip);
}

int tern_tcp_hello_seal(struct tern_tcp_hello *hello, const char *job, const unsigned char *secret)
{
    memcpy(hello->magic, magic, sizeof magic);
    hello->order = ORDER;
    hello->version = VERSION;
    hello->zero = 0;
    short_name(job, hello->job);
    int rc = tern_random(hello->nonce, sizeof hello->nonce);
    return rc ? rc : prove("hello", hello, NULL, 0, secret, hello->proof);
}

int tern_tcp_answer_seal(struct tern_tcp_answer *answer, const struct tern_tcp_hello *hello,
                         const unsigned char *secret)
{
    int rc = tern_random(answer->nonce, sizeof answer->nonce);
    return rc ? rc
              : prove("answer", hello, answer, offsetof(struct tern_tcp_answer, proof), secret,
                      answer->proof);
}

int tern_tcp_confirm_seal(struct tern_tcp_confirm *confirm, const struct tern_tcp_hello *hello,
                          const struct tern_tcp_answer *answer, const unsigned char *secret)
{
    return prove("confirm", hello, answer, sizeof *answer, secret, confirm->proof);
}

bool tern_tcp_hello_begins(const void *bytes, size_t length)
{
    return memcmp(bytes, magic, length < sizeof magic ? length : sizeof magic) == 0;
}

bool tern_tcp_hello_holds(const struct tern_tcp_hello *hello, const char *job, uint32_t job_size,
                          const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    char name[64];
    if (memcmp(hello->magic, magic, sizeof magic) != 0 ||
        prove("hello", hello, NULL, 0, secret, proof) || !tern_proof_equal(proof, hello->proof))
        return false;
    short_name(job, name);
    return hello->order == ORDER && hello->version == VERSION && hello->zero == 0 &&
           memcmp(name, hello->job, sizeof name) == 0 && hello->from < job_size &&
           hello->to < job_size && hello->from != hello->to && hello->lane < TERN_LANES_MAX &&
           hello->link < TERN_TCP_LINKS_MAX;
}

bool tern_tcp_answer_holds(const struct tern_tcp_answer *answer, const struct tern_tcp_hello *hello,
                           const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return prove("answer", hello, answer, offsetof(struct tern_tcp_answer, proof), secret,
                 proof) == 0 &&
           tern_proof_equal(proof, answer->proof) && answer->verdict >= TERN_TCP_WELCOME &&
           answer->verdict <= TERN_TCP_CROSSED;
}

bool tern_tcp_confirm_holds(const struct tern_tcp_confirm *confirm,
                            const struct tern_tcp_hello *hello,
                            const struct tern_tcp_answer *answer, const unsigned char *secret)
{
    unsigned char proof[TERN_PROOF_BYTES];
    return prove("confirm", hello, answer, sizeof *answer, secret, proof) == 0 &&
           tern_proof_equal(proof, confirm->proof);
}
