/* SPDX-License-Identifier: BSD-3-Clause */
/* What this machine can do at best: two bare processes and a ring in shared memory, without
 * envelopes, matching or MPI. The protocol is the fastest of those tried (docs/performance.md).
 * Prints the lines of `latency`, `bandwidth`, `types` and the ring of `crowd`, to compare with
 * theirs. "switch" is one turn of two processes that yield to each other on one processor.
 *
 *     cc -O2 limits.c -o limits && ./limits */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINE = 64, INLINE_MOST = 48, RING_BYTES = 256 << 10, MOST = 4 << 20, WINDOW = 64, BATCHES = 11, WAY_BYTES = 8192 };

/* A slot is a cache line with its turn (the number of the piece + 1) and the data: up to 48 bytes
 * in the same line, or more bytes in the lines after it. */
struct ring {
    uint32_t consumed __attribute__((aligned(LINE)));
    char slots[RING_BYTES] __attribute__((aligned(LINE)));
};

struct end { struct ring *ring; uint32_t next, published, owned; };

struct test {
    size_t bytes, piece, stride; /* bytes of a message, of a piece of it, and from slot to slot */
    uint32_t slots;
    size_t block; /* bytes of a block, followed by a gap of the same size; 0: contiguous */
    void (*once)(struct test *t);
    struct end out, in;
    char *buffer;
    int rank, ranks;
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* --- blocks --- */

#define BLOCKS(size) \
    for (; length > 0; length -= size, packed += size, at += 2 * size) \
        memcpy(pack ? packed : at, pack ? at : packed, size)

static inline __attribute__((always_inline)) void blocks(int pack, char *packed, char *at, size_t block, size_t length)
{
    if (block == 8)
        BLOCKS(8);
    else if (block == 64)
        BLOCKS(64);
    else
        BLOCKS(512);
}

/* Copies data into a slot. Blocks are first gathered in a buffer that fits into the first cache: a
 * long memcpy from there overwrites the ring's lines without fetching them. */
static void put_bytes(const struct test *t, char *slot, size_t offset, size_t length)
{
    static char way[WAY_BYTES] __attribute__((aligned(LINE)));
    for (size_t part; t->block && length; length -= part, offset += part, slot += part) {
        part = length < sizeof way ? length : sizeof way;
        blocks(1, way, t->buffer + 2 * offset, t->block, part);
        memcpy(slot, way, part);
    }
    memcpy(slot, t->buffer + offset, length);
}

static void take_bytes(const struct test *t, char *slot, size_t offset, size_t length)
{
    if (t->block)
        blocks(0, slot, t->buffer + 2 * offset, t->block, length);
    else
        memcpy(t->buffer + offset, slot, length);
}

/* --- the ring --- */

static char *slot_of(const struct test *t, const struct end *end, uint32_t number)
{
    return end->ring->slots + number % t->slots * t->stride;
}

/* Sends the next piece of a message. Returns 0 if there is no room. */
static int put(struct test *t, size_t offset, size_t length)
{
    struct end *out = &t->out;
    if (out->next - out->published == t->slots) {
        out->published = __atomic_load_n(&out->ring->consumed, __ATOMIC_ACQUIRE);
        if (out->next - out->published == t->slots)
            return 0;
    }
    char *slot = slot_of(t, out, out->next);
    put_bytes(t, slot + (length > INLINE_MOST ? LINE : LINE - INLINE_MOST), offset, length);
    __atomic_store_n((uint32_t *) slot, ++out->next, __ATOMIC_RELEASE);
    return 1;
}

/* Writes to the lines of slots that have been read, so that the reader owns them: a line that both
 * ends have read is slow to write. Called before the slots are given back, and when the reader has
 * nothing else to do. */
static void own(struct test *t)
{
    for (struct end *in = &t->in; in->owned != in->next; in->owned++) {
        volatile char *slot = slot_of(t, in, in->owned);
        for (size_t at = LINE; t->stride > LINE && at < t->stride; at += LINE)
            slot[at] = slot[at];
    }
}

/* Receives the next piece of a message. Returns 0 if there is none. */
static int take(struct test *t, size_t offset, size_t length)
{
    struct end *in = &t->in;
    char *slot = slot_of(t, in, in->next);
    if (__atomic_load_n((uint32_t *) slot, __ATOMIC_ACQUIRE) != in->next + 1)
        return 0;
    take_bytes(t, slot + (length > INLINE_MOST ? LINE : LINE - INLINE_MOST), offset, length);
    if (++in->next - in->published > t->slots / 4) {
        own(t);
        __atomic_store_n(&in->ring->consumed, in->published = in->next, __ATOMIC_RELEASE);
    }
    return 1;
}

/* Sends `sends` messages to the other process, and receives `receives` messages from it. */
static void transfer(struct test *t, int sends, int receives, size_t bytes)
{
    size_t put_at = 0, take_at = 0; /* offsets in the current messages */
    while (sends || receives) {
        size_t put_length = bytes - put_at < t->piece ? bytes - put_at : t->piece;
        size_t take_length = bytes - take_at < t->piece ? bytes - take_at : t->piece;
        int done = 0;
        if (sends && put(t, put_at, put_length)) {
            done = 1;
            if ((put_at += put_length) >= bytes)
                put_at = 0, sends--;
        }
        if (receives && take(t, take_at, take_length)) {
            done = 1;
            if ((take_at += take_length) >= bytes)
                take_at = 0, receives--;
        }
        if (!done) {
            own(t);
            relax();
        }
    }
}

static void ping_pong(struct test *t)
{
    transfer(t, t->rank == 0, t->rank == 1, t->bytes);
    transfer(t, t->rank == 1, t->rank == 0, t->bytes);
}

static void window(struct test *t)
{
    transfer(t, t->rank == 0 ? WINDOW : 0, t->rank == 1 ? WINDOW : 0, t->bytes);
    transfer(t, t->rank == 1, t->rank == 0, 0);
}

static void windows(struct test *t)
{
    transfer(t, WINDOW, WINDOW, t->bytes);
    transfer(t, t->rank == 1, t->rank == 0, 0);
}

/* Passes a turn round all ranks. Each polls its own line (`in`) and yields, then writes the next
 * rank's line (`out`). */
static void go_round(struct test *t)
{
    uint32_t turn = ++t->in.next;
    if (t->rank == 0)
        __atomic_store_n(&t->out.ring->consumed, turn, __ATOMIC_RELEASE);
    while (__atomic_load_n(&t->in.ring->consumed, __ATOMIC_ACQUIRE) != turn)
        sched_yield();
    if (t->rank != 0)
        __atomic_store_n(&t->out.ring->consumed, turn, __ATOMIC_RELEASE);
}

/* --- measuring --- */

static void *memory(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

/* Stores the seconds of each batch, as rank 0 sees them. The first batch warms up and is not
 * stored. */
static void run(struct test *t, int repetitions, double *seconds)
{
    memset(t->buffer, 1, 2 * (size_t) MOST);
    for (int i = 0; i <= BATCHES; i++) {
        struct timespec begin, end;
        clock_gettime(CLOCK_MONOTONIC, &begin);
        for (int k = 0; k < repetitions; k++)
            t->once(t);
        clock_gettime(CLOCK_MONOTONIC, &end);
        if (i > 0)
            seconds[i - 1] = (double) (end.tv_sec - begin.tv_sec) + 1e-9 * (double) (end.tv_nsec - begin.tv_nsec);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Returns the median of the seconds per repetition, measured in fresh processes. */
static double measure(struct test *t, int ranks, int repetitions)
{
    double seconds[BATCHES];
    struct ring *rings = memory((size_t) ranks * sizeof *rings, MAP_SHARED);
    t->ranks = ranks;
    t->buffer = memory(2 * (size_t) MOST, MAP_PRIVATE);
    for (t->rank = ranks - 1; t->rank > 0; t->rank--) {
        pid_t pid = fork();
        if (pid < 0) {
            perror("fork");
            exit(1); /* and so end the processes before */
        }
        if (pid == 0)
            break;
    }
    if (t->rank > 0)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    t->in = (struct end) { .ring = &rings[t->rank] };
    t->out = (struct end) { .ring = &rings[(t->rank + 1) % ranks] };
    run(t, repetitions, seconds);
    if (t->rank > 0)
        _exit(0);
    while (wait(NULL) > 0)
        ;
    munmap(rings, (size_t) ranks * sizeof *rings);
    munmap(t->buffer, 2 * (size_t) MOST);
    qsort(seconds, BATCHES, sizeof *seconds, compare);
    return seconds[BATCHES / 2] / repetitions;
}

/* Measures messages of `bytes` bytes, with enough repetitions to take some milliseconds. Pieces let
 * both ends copy at the same time. */
static double measure_messages(void (*once)(struct test *t), size_t bytes, size_t block, int at_once)
{
    size_t piece = bytes > 64 << 10 ? 32 << 10 : bytes > 8 << 10 ? 8 << 10 : bytes;
    size_t stride = LINE + (piece > INLINE_MOST ? (piece + LINE - 1) / LINE * LINE : 0);
    struct test t = { .bytes = bytes, .piece = piece, .stride = stride, .slots = RING_BYTES / (uint32_t) stride, .block = block,
                      .once = once };
    int repetitions = (int) (64e6 / ((double) bytes + 3000) / at_once);
    return measure(&t, 2, repetitions < 4 ? 4 : repetitions);
}

static void print(const char *operation, size_t size, double value, const char *unit)
{
    printf("%s %zu %.4g %s\n", operation, size, value, unit);
    fflush(stdout);
}

int main(void)
{
    static const size_t sizes[] = { 8, 64, 512, 1024, 4096, 16384, 65536, 262144, 1 << 20, MOST };
    enum { SIZES = sizeof sizes / sizeof *sizes };
    for (size_t i = 0; i < SIZES; i++)
        print("latency", sizes[i], measure_messages(ping_pong, sizes[i], 0, 2) / 2 * 1e6, "us");
    for (size_t i = 0; i < SIZES; i++)
        print("bandwidth", sizes[i], (double) sizes[i] * WINDOW / measure_messages(window, sizes[i], 0, WINDOW) / 1e6, "MB/s");
    for (size_t i = 0; i < SIZES; i++)
        print("bandwidth-both-ways", sizes[i],
              (double) sizes[i] * 2 * WINDOW / measure_messages(windows, sizes[i], 0, 2 * WINDOW) / 1e6, "MB/s");
    for (size_t block = 8; block <= 512; block *= 8) {
        char name[40];
        snprintf(name, sizeof name, "vector-%zu", block);
        print(name, 65536, measure_messages(ping_pong, 65536, block, 2) / 2 * 1e6, "us");
        print(name, MOST, measure_messages(ping_pong, MOST, block, 2) / 2 * 1e6, "us");
    }
    struct test t = { .once = go_round };
    for (int ranks = 4; ranks <= 64; ranks *= 2)
        print("ring", (size_t) ranks, measure(&t, ranks, 4000 / ranks) / ranks * 1e6, "us");
    cpu_set_t one, all;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    for (int cpu = 0; CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET((size_t) cpu, &all))
            CPU_SET((size_t) cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
    print("switch", 2, measure(&t, 2, 2000) / 2 * 1e6, "us");
    return 0;
}
