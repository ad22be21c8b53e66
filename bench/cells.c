/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares ways to stream through shared memory: two bare processes, without MPI. Each scheme says
 * which piece of shared memory ("cell") a sender takes next, who writes to lines that both caches
 * have, and how bytes are copied. The schemes run in turn, in a new random order each round. Prints
 * better quartiles, of rounds with near and with far cores.
 *
 *     cc -O2 cells.c -o cells && ./cells [-n ROUNDS] [-s BYTES,BYTES...] [-o SCHEME,SCHEME...] [-r]
 *
 * -r takes real-time priority for both processes (as root), so that other programs do not disturb,
 * and leaves them half of the time. */
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
#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    LINE = 64, SLOTS = 128, CELLS_MOST = 128, POOL = 2 << 20, MOST = 4 << 20, WINDOW = 16,
    ROUNDS_MOST = 400, SIZES_MOST = 16, LISTED = 28
};

/* --- copies --- */

typedef void copy_fn(char *to, const char *from, size_t bytes); /* `bytes` is a multiple of 256 */

static void copy_memcpy(char *to, const char *from, size_t bytes)
{
    memcpy(to, from, bytes);
}

#if defined(__x86_64__)
static void copy_rep(char *to, const char *from, size_t bytes)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}

#define COPY(name, isa, vector, load, store)                                                       \
    static __attribute__((target(isa))) void name(char *to, const char *from, size_t bytes)        \
    {                                                                                              \
        for (; bytes; bytes -= 4 * sizeof(vector), to += 4 * sizeof(vector),                       \
                      from += 4 * sizeof(vector)) {                                                \
            vector a = load((const void *) from), b = load((const void *) (from + sizeof a)),      \
                   c = load((const void *) (from + 2 * sizeof a)),                                 \
                   d = load((const void *) (from + 3 * sizeof a));                                 \
            store((void *) to, a);                                                                 \
            store((void *) (to + sizeof a), b);                                                    \
            store((void *) (to + 2 * sizeof a), c);                                                \
            store((void *) (to + 3 * sizeof a), d);                                                \
        }                                                                                          \
    }
COPY(copy_32, "avx2", __m256i, _mm256_loadu_si256, _mm256_storeu_si256)
COPY(copy_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_storeu_si512)
COPY(around_32, "avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
COPY(around_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static void copy_around(char *to, const char *from, size_t bytes)
{
    around_32(to, from, bytes);
    _mm_sfence();
}

static void copy_around_64(char *to, const char *from, size_t bytes)
{
    around_64(to, from, bytes);
    _mm_sfence();
}
#endif

/* --- schemes --- */

/* OLDEST: a sender has cells of its own, and takes the one that came back first (a ring). NEWEST:
 * the one that came back last. HANDS: a cell belongs to the end that has read it, which takes the
 * newest for what it sends, and gives the oldest back when it has more than its half. KEEP: the
 * same, but nothing is given back. An end without such a cell takes the oldest of its own ring. */
enum policy { OLDEST, NEWEST, HANDS, KEEP };

struct scheme {
    const char *name;
    enum policy policy;
    uint32_t cell_bytes;
    uint32_t cells; /* of both ends together */
    int own;        /* the reader writes to each line before it gives a cell back */
    uint32_t batch; /* cells given back at a time */
    copy_fn *in, *out;
    uint32_t kept; /* KEEP: cells that change hands */
};

#define PLAIN copy_memcpy, copy_memcpy
static const struct scheme schemes[] = {
    {"ring-32k", OLDEST, 32768, 12, 1, 2, PLAIN}, /* as the library */
    {"ring-16k", OLDEST, 16384, 24, 1, 3, PLAIN},
    {"ring-8k", OLDEST, 8192, 48, 1, 6, PLAIN},
    {"ring-4k", OLDEST, 4096, 64, 1, 8, PLAIN},
    {"ring-8k-unowned", OLDEST, 8192, 48, 0, 6, PLAIN},
    {"hot-4k", NEWEST, 4096, 16, 1, 1, PLAIN},
    {"hot-8k", NEWEST, 8192, 16, 1, 1, PLAIN},
    {"hot-16k", NEWEST, 16384, 8, 1, 1, PLAIN},
    {"hot-32k", NEWEST, 32768, 8, 1, 1, PLAIN},
    {"hot-8k-unowned", NEWEST, 8192, 16, 0, 1, PLAIN},
    {"hot-16k-unowned", NEWEST, 16384, 8, 0, 1, PLAIN},
    {"hands-4k", HANDS, 4096, 64, 1, 4, PLAIN},
    {"hands-8k", HANDS, 8192, 32, 1, 4, PLAIN},
    {"hands-8k-16", HANDS, 8192, 16, 1, 2, PLAIN},
    {"hands-16k", HANDS, 16384, 16, 1, 2, PLAIN},
    {"hands-32k", HANDS, 32768, 8, 1, 1, PLAIN},
    {"hands-8k-unowned", HANDS, 8192, 32, 0, 4, PLAIN},
    {"keep-4k", KEEP, 4096, 64, 1, 8, PLAIN, 64},
    {"keep-8k", KEEP, 8192, 48, 1, 6, PLAIN, 32},
    {"keep-8k-16", KEEP, 8192, 48, 1, 6, PLAIN, 16},
    {"keep-8k-64", KEEP, 8192, 48, 1, 6, PLAIN, 64},
    {"keep-16k", KEEP, 16384, 24, 1, 3, PLAIN, 16},
    {"keep-16k-32", KEEP, 16384, 24, 1, 3, PLAIN, 32},
    {"keep-32k", KEEP, 32768, 12, 1, 2, PLAIN, 8},
    {"keep-32k-16", KEEP, 32768, 12, 1, 2, PLAIN, 16},
#if defined(__x86_64__)
    {"keep-8k-32b", KEEP, 8192, 48, 1, 6, copy_32, copy_32, 32},
    {"keep-16k-32b", KEEP, 16384, 24, 1, 3, copy_32, copy_32, 16},
    {"ring-8k-rep", OLDEST, 8192, 48, 1, 6, copy_rep, copy_rep},
    {"ring-8k-32", OLDEST, 8192, 48, 1, 6, copy_32, copy_32},
    {"ring-8k-64", OLDEST, 8192, 48, 1, 6, copy_64, copy_64},
    {"ring-8k-around", OLDEST, 8192, 48, 0, 6, copy_around, copy_32},
    {"hot-8k-around", NEWEST, 8192, 16, 0, 1, copy_around_64, copy_64},
    {"hot-8k-64", NEWEST, 8192, 16, 1, 1, copy_64, copy_64},
    {"hands-8k-rep", HANDS, 8192, 32, 1, 4, copy_rep, copy_rep},
    {"hands-8k-32", HANDS, 8192, 32, 1, 4, copy_32, copy_32},
    {"hands-8k-64", HANDS, 8192, 32, 1, 4, copy_64, copy_64},
    {"hands-4k-32", HANDS, 4096, 64, 1, 4, copy_32, copy_32},
    {"hands-8k-64-rep", HANDS, 8192, 32, 1, 4, copy_rep, copy_64},
    {"hands-8k-rep-64", HANDS, 8192, 32, 1, 4, copy_64, copy_rep},
#endif
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

/* --- two ends --- */

struct slot { /* a line */
    uint32_t turn;
    uint16_t cell; /* or the number of cells given back */
    uint16_t cells[LISTED];
} __attribute__((aligned(LINE)));

/* One direction: what is sent, and the cells that its receiver gives back. */
struct way {
    struct slot sent[SLOTS], back[SLOTS];
};

struct shared {
    uint32_t arrived[2][LINE / 4]; /* a barrier: each end's line */
    struct way ways[2];            /* by sender */
    char pool[POOL] __attribute__((aligned(4096)));
};

struct end {
    const struct scheme *scheme;
    struct shared *shared;
    int rank;
    uint32_t sent, taken, given, got; /* slots used in each of the four rings */
    uint16_t cells[4 * CELLS_MOST];   /* to send with: a queue, newest last */
    uint32_t oldest, newest;
    uint16_t kept[CELLS_MOST]; /* KEEP: a stack */
    uint32_t keeps;
    uint16_t read[CELLS_MOST]; /* read, and to be given back */
    uint32_t reads, owned;     /* of `read`: those at the front are owned */
    char *out, *in;
};

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void barrier(struct shared *shared, int rank)
{
    static uint32_t turn;
    turn++;
    __atomic_store_n(&shared->arrived[rank][0], turn, __ATOMIC_RELEASE);
    for (int i = 0; (int32_t) (__atomic_load_n(&shared->arrived[!rank][0], __ATOMIC_ACQUIRE) - turn) < 0; i++)
        if (i % 1000 == 999)
            sched_yield();
        else
            relax();
}

static char *cell_at(struct end *e, uint32_t cell)
{
    return e->shared->pool + (size_t) cell * e->scheme->cell_bytes;
}

static void push(struct end *e, uint16_t cell)
{
    e->cells[e->newest++ % (4 * CELLS_MOST)] = cell;
}

/* Reads the cells that the peer has given back. */
static void read_back(struct end *e)
{
    for (;;) {
        struct slot *slot = &e->shared->ways[e->rank].back[e->got % SLOTS];
        if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != e->got + 1)
            return;
        for (uint32_t i = 0; i < slot->cell; i++)
            push(e, slot->cells[i]);
        e->got++;
    }
}

/* Writes to the lines of the cells that wait to be given back. */
static void own(struct end *e)
{
    for (; e->scheme->own && e->owned < e->reads; e->owned++) {
        volatile char *at = cell_at(e, e->read[e->owned]);
        for (uint32_t i = 0; i < e->scheme->cell_bytes; i += LINE)
            at[i] = at[i];
    }
}

static void give_back(struct end *e)
{
    own(e);
    struct slot *slot = &e->shared->ways[!e->rank].back[e->given % SLOTS];
    slot->cell = (uint16_t) e->reads;
    memcpy(slot->cells, e->read, e->reads * sizeof *e->read);
    e->reads = e->owned = 0;
    __atomic_store_n(&slot->turn, ++e->given, __ATOMIC_RELEASE);
}

static void send_cell(struct end *e, uint16_t cell, const char *from, size_t length)
{
    e->scheme->in(cell_at(e, cell), from, length);
    struct slot *slot = &e->shared->ways[e->rank].sent[e->sent % SLOTS];
    slot->cell = cell;
    __atomic_store_n(&slot->turn, ++e->sent, __ATOMIC_RELEASE);
}

static int put(struct end *e, const char *from, size_t length)
{
    if (e->keeps) {
        send_cell(e, e->kept[--e->keeps], from, length);
        return 1;
    }
    if (e->scheme->policy == NEWEST || e->oldest == e->newest) {
        read_back(e);
        if (e->oldest == e->newest)
            return 0;
    }
    int ring = e->scheme->policy == OLDEST || e->scheme->policy == KEEP;
    uint16_t cell = e->cells[(ring ? e->oldest++ : --e->newest) % (4 * CELLS_MOST)];
    send_cell(e, cell, from, length);
    return 1;
}

static int take(struct end *e, char *to, size_t length)
{
    struct slot *slot = &e->shared->ways[!e->rank].sent[e->taken % SLOTS];
    if (__atomic_load_n(&slot->turn, __ATOMIC_ACQUIRE) != e->taken + 1)
        return 0;
    e->taken++;
    uint16_t cell = slot->cell;
    e->scheme->out(to, cell_at(e, cell), length);
    if (cell >= e->scheme->cells) {
        e->kept[e->keeps++] = cell;
    } else if (e->scheme->policy == HANDS) {
        read_back(e); /* what it has got counts, too */
        push(e, cell);
        if (e->newest - e->oldest >= e->scheme->cells / 2 + e->scheme->batch) {
            while (e->reads < e->scheme->batch)
                e->read[e->reads++] = e->cells[e->oldest++ % (4 * CELLS_MOST)];
            give_back(e);
        }
    } else {
        e->read[e->reads++] = cell;
        if (e->reads == e->scheme->batch)
            give_back(e);
    }
    return 1;
}

/* Sends `sends` messages to the other process, and receives `receives` messages from it. */
static void transfer(struct end *e, int sends, int receives, size_t bytes)
{
    size_t put_at = 0, take_at = 0, cell = e->scheme->cell_bytes;
    int idle = 0;
    while (sends || receives) {
        int done = 0;
        if (sends) {
            size_t length = bytes - put_at < cell ? bytes - put_at : cell;
            if (put(e, e->out + put_at, length)) {
                done = 1;
                if ((put_at += length) == bytes)
                    put_at = 0, sends--;
            }
        }
        if (receives) {
            size_t length = bytes - take_at < cell ? bytes - take_at : cell;
            if (take(e, e->in + take_at, length)) {
                done = 1;
                if ((take_at += length) == bytes)
                    take_at = 0, receives--;
            }
        }
        if (done) {
            idle = 0;
        } else {
            own(e);
            if (++idle % 10000 == 0)
                sched_yield();
            relax();
        }
    }
}

enum test { ONE_WAY, STREAM, BOTH_WAYS, TESTS };
static const char *const tests[] = {"one-way", "bandwidth", "both-ways"};

static void once(struct end *e, enum test test, size_t bytes)
{
    int first = e->rank == 0;
    if (test == ONE_WAY) {
        transfer(e, first, !first, bytes);
        transfer(e, !first, first, bytes);
        return;
    }
    transfer(e, first || test == BOTH_WAYS ? WINDOW : 0, !first || test == BOTH_WAYS ? WINDOW : 0, bytes);
    transfer(e, !first, first, 256);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* Returns the time of one round trip of a line. */
static double line_time(struct shared *shared, int rank)
{
    enum { TURNS = 200 };
    barrier(shared, rank);
    double begin = now();
    for (int i = 0; i < TURNS; i++)
        barrier(shared, rank);
    return (now() - begin) / TURNS;
}

/* Returns the seconds per repetition. */
static double measure(struct end *e, const struct scheme *scheme, enum test test, size_t bytes)
{
    barrier(e->shared, e->rank);
    if (e->rank == 0)
        memset(e->shared->ways, 0, sizeof e->shared->ways);
    *e = (struct end){.scheme = scheme, .shared = e->shared, .rank = e->rank, .out = e->out, .in = e->in};
    for (uint32_t i = 0; i < scheme->cells / 2; i++)
        push(e, (uint16_t) (i + (uint32_t) e->rank * (scheme->cells / 2)));
    for (uint32_t i = (uint32_t) e->rank; i < scheme->kept; i += 2)
        e->kept[e->keeps++] = (uint16_t) (scheme->cells + i);
    if (test == ONE_WAY)
        e->in = e->out; /* a ping-pong has one buffer */
    char *in = e->in;
    int at_once = test == ONE_WAY ? 2 : test == STREAM ? WINDOW : 2 * WINDOW;
    int repetitions = (int) (6e6 / ((double) bytes + 8000) / at_once) + 1;
    double best = 1e9;
    for (int batch = 0; batch < 3; batch++) {
        barrier(e->shared, e->rank);
        double begin = now();
        for (int i = 0; i < repetitions; i++)
            once(e, test, bytes);
        double seconds = (now() - begin) / repetitions;
        best = batch && seconds < best ? seconds : best;
    }
    e->in = in;
    return best;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *) a, y = *(const double *) b;
    return (x > y) - (x < y);
}

/* Returns the better quartile of the rounds whose cores were near, or far; 0 if there are none. */
static double quartile(const double *values, const double *lines, int rounds, double limit, int far)
{
    double chosen[ROUNDS_MOST];
    int n = 0;
    for (int i = 0; i < rounds; i++)
        if ((lines[i] > limit) == far)
            chosen[n++] = values[i];
    qsort(chosen, (size_t) n, sizeof *chosen, compare);
    return n ? chosen[n / 4] : 0;
}

static void *memory(size_t bytes, int flags)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return at;
}

static int chosen(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == 0))
            return 1;
    return !list;
}

int main(int argc, char **argv)
{
    static double values[SCHEMES][TESTS][SIZES_MOST][ROUNDS_MOST], lines[SCHEMES][TESTS][SIZES_MOST][ROUNDS_MOST];
    size_t sizes[SIZES_MOST] = {8192, 16384, 65536, 262144, 1 << 20, MOST};
    int size_count = 6, rounds = 20, real_time = 0, option;
    const char *only = NULL;
    while ((option = getopt(argc, argv, "n:s:o:r")) != -1) {
        if (option == 'n') {
            rounds = atoi(optarg) < ROUNDS_MOST ? atoi(optarg) : ROUNDS_MOST;
        } else if (option == 's') {
            size_count = 0;
            for (char *at = strtok(optarg, ","); at && size_count < SIZES_MOST; at = strtok(NULL, ","))
                sizes[size_count++] = strtoul(at, NULL, 0) / 256 * 256;
        } else if (option == 'o') {
            only = optarg;
        } else if (option == 'r') {
            real_time = 1;
        } else {
            return 2;
        }
    }
    struct end e = {.shared = memory(sizeof *e.shared, MAP_SHARED)};
    e.out = memory(MOST, MAP_PRIVATE);
    e.in = memory(MOST, MAP_PRIVATE);
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof all, &all);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        return 1;
    }
    e.rank = pid == 0;
    if (e.rank)
        prctl(PR_SET_PDEATHSIG, SIGKILL);
    CPU_ZERO(&one);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET((size_t) cpu, &all) && seen++ == e.rank)
            CPU_SET((size_t) cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) && e.rank)
        fprintf(stderr, "cells: only one processor, so the times tell nothing\n");
    memset(e.out, 1, MOST);
    memset(e.in, 1, MOST);
    memset(e.shared->pool, 1, POOL);
    if (real_time && sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){.sched_priority = 1}))
        perror("real-time priority");
    int order[SCHEMES * TESTS * SIZES_MOST], count = 0;
    for (int s = 0; s < SCHEMES; s++)
        for (int k = 0; chosen(only, schemes[s].name) && k < TESTS * size_count; k++)
            order[count++] = s * TESTS * size_count + k;
    srand(1); /* both ends take the same order */
    for (int round = 0; round < rounds; round++) {
        for (int i = count - 1; i > 0; i--) {
            int j = rand() % (i + 1), swap = order[i];
            order[i] = order[j], order[j] = swap;
        }
        for (int i = 0; i < count; i++) {
            int s = order[i] / (TESTS * size_count), t = order[i] / size_count % TESTS, z = order[i] % size_count;
            double begin = now();
            double line = line_time(e.shared, e.rank);
            values[s][t][z][round] = measure(&e, &schemes[s], (enum test) t, sizes[z]);
            double after = line_time(e.shared, e.rank);
            lines[s][t][z][round] = line > after ? line : after;
            if (real_time) /* let other programs run */
                usleep((useconds_t) ((now() - begin) * 1e6));
        }
    }
    if (e.rank)
        _exit(0);
    wait(NULL);
    double fastest = 1;
    for (int s = 0; s < SCHEMES; s++)
        for (int r = 0; r < rounds; r++)
            if (lines[s][0][0][r] > 0 && lines[s][0][0][r] < fastest)
                fastest = lines[s][0][0][r];
    printf("round trip of a line: at best %.0f ns; near: up to twice that\n", fastest * 1e9);
    for (int far = 0; far < 2; far++)
        for (int t = 0; t < TESTS; t++) {
            printf("\n%s, %s, %s\n%-18s", tests[t], far ? "far" : "near", t ? "GB/s" : "us", "");
            for (int z = 0; z < size_count; z++)
                printf(" %8zu", sizes[z]);
            printf("\n");
            for (int s = 0; s < SCHEMES; s++) {
                if (!chosen(only, schemes[s].name))
                    continue;
                printf("%-18s", schemes[s].name);
                for (int z = 0; z < size_count; z++) {
                    double seconds = quartile(values[s][t][z], lines[s][t][z], rounds, 2 * fastest, far);
                    if (seconds == 0)
                        printf(" %8s", "-");
                    else
                        printf(" %8.3g", t == ONE_WAY ? seconds / 2 * 1e6
                                                      : (double) sizes[z] * WINDOW * t / seconds / 1e9);
                }
                printf("\n");
            }
        }
    return 0;
}
