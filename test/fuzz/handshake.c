/* SPDX-License-Identifier: BSD-3-Clause */
/* Both ends of the handshake. One that knows the secret is let in if and only if what it says arrives as it was said; a
 * greeting that is let in names only ranks, lanes and links that there are, whatever an insider writes into it. */
#include "fuzz.h"

#include "lib/btl/packet.h"
#include "lib/btl/peer.h"
#include "lib/btl/tcp/framing.h"
#include "lib/btl/tcp/greeting.h"

#include <sys/socket.h>
#include <unistd.h>

static const unsigned char secret[TERN_SECRET_BYTES] = "the secret of the job of a test";
enum { RANKS = 5 };

/* Inverts bits of one message on its way. True: it is not the same any more. */
static bool damage(void *message, size_t size, struct fuzz_input *input)
{
    unsigned char *bytes = message;
    bool changed = false;
    for (unsigned left = fuzz_byte(input) % 4; left; left--) {
        size_t at = fuzz_number(input) % size;
        unsigned bits = fuzz_byte(input);
        bytes[at] ^= (unsigned char)bits;
        changed |= bits != 0;
    }
    return changed;
}

static void both_ends(struct fuzz_input *input)
{
    struct tern_hello hello = { 0 }, heard_hello;
    struct tern_answer answer = { .verdict = fuzz_byte(input), .number = 3 }, heard_answer;
    struct tern_confirm confirm;
    struct tern_tcp_greeting said = { .lane = 1, .from = 2, .to = 3 }, heard;
    tern_tcp_greet(&hello, said, "job");
    MUST(tern_hello_seal(&hello, &tern_tcp_service, secret) == 0);
    heard_hello = hello;
    bool changed = damage(&heard_hello, sizeof heard_hello, input);
    changed = changed && memcmp(&heard_hello, &hello, sizeof hello);
    MUST(tern_hello_holds(&heard_hello, &tern_tcp_service, secret) == !changed);
    if (changed)
        return;
    MUST(tern_tcp_greeting_read(&heard_hello, "job", RANKS, &heard) && heard.from == 2 && heard.to == 3);
    MUST(!tern_tcp_greeting_read(&heard_hello, "bog", RANKS, &heard));
    MUST(tern_answer_seal(&answer, &heard_hello, secret) == 0);
    heard_answer = answer;
    changed = damage(&heard_answer, sizeof heard_answer, input) && memcmp(&heard_answer, &answer, sizeof answer);
    MUST(tern_answer_holds(&heard_answer, &hello, secret) == !changed);
    MUST(tern_confirm_seal(&confirm, &hello, &heard_answer, secret) == 0);
    struct tern_confirm whole = confirm;
    damage(&confirm, sizeof confirm, input);
    changed |= memcmp(&confirm, &whole, sizeof confirm) != 0;
    MUST(tern_confirm_holds(&confirm, &heard_hello, &answer, secret) == !changed);
}

/* An insider's greeting: anything, sealed rightly. */
static void greeting(struct fuzz_input *input)
{
    struct tern_hello hello = { 0 };
    struct tern_tcp_greeting heard;
    struct tern_tcp_greeting said = { 0 };
    tern_tcp_greet(&hello, said, "job");
    for (size_t i = 0; i < sizeof hello.greeting && input->left; i++)
        hello.greeting[i] ^= (unsigned char)fuzz_byte(input);
    MUST(tern_hello_seal(&hello, &tern_tcp_service, secret) == 0);
    MUST(tern_hello_holds(&hello, &tern_tcp_service, secret));
    if (tern_tcp_greeting_read(&hello, "job", RANKS, &heard))
        MUST(heard.from < RANKS && heard.to < RANKS && heard.from != heard.to && heard.lane < TERN_LANES_MAX &&
             heard.link < TERN_TCP_LINKS_MAX);
}

/* A stranger's bytes, in pieces as they may come. */
static void stranger(struct fuzz_input *input)
{
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
    int ends[2];
    size_t got = 0, sent = 0, step = 1 + fuzz_byte(input), size;
    unsigned char *bytes = fuzz_rest(input, &size);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    enum tern_part part = TERN_PART;
    while (part == TERN_PART && sent < size) {
        size_t n = step < size - sent ? step : size - sent;
        MUST(tern_handshake_write(ends[0], bytes + sent, n));
        sent += n;
        part = tern_handshake_read(ends[1], &hello, sizeof hello, &got);
        MUST(got <= sizeof hello && (part == TERN_WHOLE) == (got == sizeof hello));
        MUST(memcmp(&hello, bytes, got) == 0);
        if (!tern_hello_begins(&tern_tcp_service, &hello, got))
            part = TERN_ENDED;
    }
    close(ends[0]);
    if (part == TERN_PART)
        MUST(tern_handshake_read(ends[1], &hello, sizeof hello, &got) == TERN_ENDED);
    else if (part == TERN_WHOLE)
        MUST(!tern_hello_holds(&hello, &tern_tcp_service, secret));
    close(ends[1]);
    memset(&hello, 1, sizeof hello);
    memset(&answer, 2, sizeof answer);
    memset(&confirm, 3, sizeof confirm);
    memcpy(&answer, bytes, size < sizeof answer ? size : sizeof answer);
    memcpy(&confirm, bytes, size < sizeof confirm ? size : sizeof confirm);
    MUST(!tern_answer_holds(&answer, &hello, secret) && !tern_confirm_holds(&confirm, &hello, &answer, secret));
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    switch (fuzz_byte(&input) % 3) {
    case 0:
        both_ends(&input);
        break;
    case 1:
        greeting(&input);
        break;
    default:
        stranger(&input);
    }
    return 0;
}
