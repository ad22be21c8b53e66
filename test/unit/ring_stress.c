/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The shm byte mover between two processes, without MPI: random packets both ways through rings that wrap around and grow,
 * each byte checked. Who finds nothing to do sleeps until the other rings, and nothing else ends that sleep; meanwhile the ranks
 * are stopped at random moments and go on a little later. Then one end is killed at a random moment and the other must not see
 * a torn packet. unit/ring_model runs the same code step by step.
 *
 *      ring_stress [packets per direction] [seed]
 */

#include "lib/btl/btl.h"
#include "lib/node/doorbell.h"
#include "lib/btl/peer.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 32 * 1024, LIMIT_S = 600 };

static uint64_t to_send, sent, received, seed_in, seed_out;
static size_t largest = LARGEST; /* a power of two */
static unsigned char expected[LARGEST], outgoing[LARGEST];

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank %u: ", __FILE__, __LINE__, tern_rte.rank);                                    \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* Packet number n of a direction follows from the direction's seed alone, so the receiver can make it again. */
static size_t make_packet(uint64_t *seed, struct tern_packet *packet, unsigned char *payload)
{
    uint64_t r = next_random(seed);
    size_t length;
    switch (r >> 8 & 7) {
    case 0:
        length = r >> 16 & (largest - 1);
        break;
    case 1:
        length = r >> 16 & (largest / 16 - 1);
        break;
    case 2:
        length = 31 + (r >> 16 & 3); /* around what fits beside the header */
        break;
    default:
        length = r >> 16 & 63;
    }
    *packet = (struct tern_packet){.kind = TERN_PACKET_EAGER, .seq = r, .source = r >> 20, .tag = r >> 30, .id = r >> 3, .context = r};
    for (size_t i = 0; i < length; i += 8) {
        uint64_t word = r * (i + 1);
        memcpy(payload + i, &word, length - i < 8 ? length - i : 8);
    }
    return length;
}

static bool check_packet(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct tern_packet wanted;
    size_t wanted_length = make_packet(&seed_in, &wanted, expected);
    REQUIRE(from->rank == 1 - tern_rte.rank, "packet %lu comes from rank %u", (long)received, from->rank);
    REQUIRE(length == wanted_length, "packet %lu has %zu bytes, expected %zu", (long)received, length, wanted_length);
    REQUIRE(memcmp(packet, &wanted, sizeof wanted) == 0, "packet %lu has another header", (long)received);
    REQUIRE(memcmp(payload, expected, length) == 0, "packet %lu has other bytes", (long)received);
    received++;
    return wanted.seq % 8 > 0; /* else what comes behind it waits for the next round */
}

static void start_rank(uint32_t rank, int fd, size_t size, uint64_t seed)
{
    static uint32_t both[] = {0, 1};
    tern_rte.rank = tern_rte.local_rank = rank;
    tern_rte.size = tern_rte.local_size = 2;
    tern_rte.local_ranks = both;
    tern_rte.node_memory_fd = fd;
    tern_rte.node_memory_size = size;
    seed_out = seed * 2 + rank + 1;
    seed_in = seed * 2 + (1 - rank) + 1;
    tern_btl_deliver = check_packet;
    alarm(LIMIT_S); /* who is not woken ends by that */
    tern_doorbell_init();
    REQUIRE(tern_btl_init() == 0, "no byte mover: %s", tern_error_text(0));
}

/* Some packets out, and what there is in; true: anything. */
static bool do_a_round(struct tern_peer *peer, bool endless)
{
    struct tern_packet packet;
    uint64_t before = seed_out, count = 0, burst = 1 + (next_random(&(uint64_t){seed_out}) & 255);
    for (; count < burst && (endless || sent < to_send); count++, sent++) {
        before = seed_out;
        size_t length = make_packet(&seed_out, &packet, outgoing);
        int rc = peer->btl->send(peer, &packet, outgoing, length);
        REQUIRE(rc == 0 || rc == TERN_ERR_AGAIN, "send: %s", tern_error_text(rc));
        if (rc) {
            seed_out = before;
            break;
        }
    }
    return tern_btl_progress(0) + count > 0;
}

/* Sends and receives until both are through, or (endless) until killed. */
static void run_rank(bool endless)
{
    struct tern_peer *peer = tern_peer_get(0, 0, 1 - tern_rte.rank);
    REQUIRE(peer && tern_peer_connect(peer) == 0 && strcmp(peer->btl->name, "shm") == 0, "the peer is not reached by shm");
    uint64_t idle = 0, patience = seed_in;
    while (endless || sent < to_send || received < to_send) {
        if (do_a_round(peer, endless)) {
            idle = 0;
            continue;
        }
        if (++idle < (next_random(&patience) & 63))
            continue;
        uint32_t armed = tern_doorbell_arm(TERN_POSTS_OF_NONE);
        if (!do_a_round(peer, endless))
            tern_doorbell_sleep(armed, 2ull * LIMIT_S * 1000000);
        tern_doorbell_disarm();
    }
}

static int node_memory(size_t size)
{
    int fd = memfd_create("ring_stress", 0);
    if (fd < 0 || ftruncate(fd, size)) {
        perror("memfd");
        exit(1);
    }
    return fd;
}

/* Both in children, which end when they are through; endless: when they are killed. */
static void start_ranks(pid_t ranks[2], size_t memory, uint64_t seed, bool endless)
{
    int fd = node_memory(memory);
    for (int rank = 0; rank < 2; rank++) {
        ranks[rank] = fork();
        REQUIRE(ranks[rank] >= 0, "cannot fork");
        if (ranks[rank])
            continue;
        start_rank((uint32_t)rank, fd, memory, seed);
        run_rank(endless);
        tern_btl_finalize();
        tern_peer_free_all();
        exit(0);
    }
    close(fd);
}

static void both_ways(size_t memory, uint64_t seed)
{
    pid_t ranks[2];
    start_ranks(ranks, memory, seed, false);
    for (int left = 2; left;) {
        int victim = (int)(next_random(&seed) & 1), status;
        if (ranks[victim]) {
            kill(ranks[victim], SIGSTOP);
            usleep((useconds_t)(next_random(&seed) % 300));
            kill(ranks[victim], SIGCONT);
            usleep((useconds_t)(next_random(&seed) % 2000));
        }
        for (int rank = 0; rank < 2; rank++) {
            if (!ranks[rank] || waitpid(ranks[rank], &status, WNOHANG) == 0)
                continue;
            ranks[rank] = 0;
            left--;
            if (status) {
                if (ranks[!rank])
                    kill(ranks[!rank], SIGKILL);
                REQUIRE(0, "rank %d ended with status %#x", rank, status);
            }
        }
    }
}

/* One is killed, the other must go on (its ring fills up) until it is told to end. */
static void death(int victim, uint64_t seed)
{
    pid_t ranks[2];
    start_ranks(ranks, 64 << 20, seed, true);
    usleep(1000 + seed * 7919 % 20000);
    kill(ranks[victim], SIGKILL);
    usleep(20000);
    int status;
    waitpid(ranks[victim], &status, 0);
    pid_t early = waitpid(ranks[1 - victim], &status, WNOHANG);
    REQUIRE(early == 0, "the survivor ended with status %#x", status);
    kill(ranks[1 - victim], SIGKILL);
    waitpid(ranks[1 - victim], &status, 0);
}

int main(int argc, char **argv)
{
    to_send = argc > 1 ? strtoull(argv[1], NULL, 0) : 100000;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL);
    printf("ring_stress: %lu packets each way, seed %lu\n", (long)to_send, (long)seed);
    fflush(stdout);
    both_ways(64 << 20, seed);
    largest = 4096;
    both_ways((2 << 20) + (1 << 17), seed + 1); /* too little for the largest ring: growing ends early */
    largest = LARGEST;
    for (int i = 0; i < 20; i++)
        death(i & 1, seed + i);
    return 0;
}
