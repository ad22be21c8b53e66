/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A model check of the shm byte mover: its own code, with rings that fill up, wrap around and grow, and ranks that sleep, run by
 * two coroutines in the place of two processes. Before each atomic operation on shared memory, and only there, the other one
 * may get its turn. An atomic store may also stay in a buffer, seen by nobody but its owner, as processors do it: until the
 * owner does an atomic read-modify-write, a system call or a later store, or somebody a membarrier, or at any other time. A
 * sleep has no end but by being woken.
 *
 * Turns taken away, stores kept back and stores let go are deviations. Of each scene all executions with no more than a few of
 * them are run (of the first scene with one more in the long run), one after the other, then random ones with many. Every packet must come once, in order, with its bytes, and
 * nobody may be left asleep. Without membarrier somebody must be, and a cell that is handed out twice must bring wrong bytes: so
 * the check is known to find what it looks for.
 * (That loads and plain stores are ordered by the atomic ones is not seen here; unit/ring_wrap shows it to the thread sanitizer.)
 *
 *      ring_model [random executions per scene] [further deviations] [seed]
 */

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t model_load(const void *word, size_t size);
static void model_store(void *word, size_t size, uint64_t value);
static uint64_t model_exchange(void *word, size_t size, uint64_t value);
static uint64_t model_add(void *word, size_t size, uint64_t value);
static bool model_compare(void *word, size_t size, void *expected, uint64_t value);
static long model_syscall(long number, ...);

#define RAW(value)                                                                                                     \
    ({                                                                                                                 \
        __auto_type value_ = (value);                                                                                  \
        uint64_t raw_ = 0;                                                                                             \
        memcpy(&raw_, &value_, sizeof value_);                                                                         \
        raw_;                                                                                                          \
    })
#define __atomic_load_n(word, order) ((__typeof__(*(word)))model_load(word, sizeof *(word)))
#define __atomic_store_n(word, value, order) model_store(word, sizeof *(word), RAW(value))
#define __atomic_exchange_n(word, value, order) ((__typeof__(*(word)))model_exchange(word, sizeof *(word), RAW(value)))
#define __atomic_fetch_add(word, value, order) model_add(word, sizeof *(word), RAW(value))
#define __atomic_compare_exchange_n(word, expected, value, weak, success, failure)                                     \
    model_compare(word, sizeof *(word), expected, RAW(value))
#define syscall model_syscall
#define pthread_mutex_lock(mutex) ((void)(mutex))
#define pthread_mutex_unlock(mutex) ((void)(mutex))

#include "lib/util/machine/copy_pages.h"
static bool in_turn; /* which order of cells the byte mover finds best */
#define tern_copy_pages_gains() in_turn

#include "lib/node/doorbell.c"
#include "lib/btl/shm/ring.c"
#include "lib/btl/shm/shm.c"

enum { FIRST_RING = 4096, ARENA = 1 << 21, PACKETS = 64, LONGEST = TERN_RING_CELL_LEAST, KEPT_BACK = 4, DEPTH = 4096, STEPS = 100000,
       STACK = 4 << 20 /* so far apart that valgrind knows them for two */ };

struct scene {
    const char *name;
    int packets[2];         /* that each rank sends */
    uint32_t lengths[4];    /* of their payloads, in turn, as long as they are not 0 */
    uint64_t ring_budget;   /* bytes of larger rings */
    int deviations;
    int at_once;            /* packets sent before those that came are read; 0: as many as there is room for */
    bool in_turn;           /* the cell that was read first is taken first */
};

static const struct scene scenes[] = {
    {"a packet each way", {1, 1}, {8}, 0, 5, 0, false},
    {"one after the other", {3, 2}, {8}, 0, 3, 0, false},
    {"a ring full of short packets", {40, 1}, {8}, 0, 2, 0, false},
    {"two full rings", {36, 36}, {8}, 0, 2, 0, false},
    {"a full data area, and around its end", {14, 1}, {400, 33, 448, 100}, 0, 2, 0, false},
    {"a ring grows for a long payload", {4, 1}, {8, 2000, 33, 2500}, 40 << 10, 3, 0, false},
    {"a ring grows as it is full", {36, 1}, {8}, 40 << 10, 2, 0, false},
    {"both grow", {6, 6}, {8, 2000}, 40 << 10, 2, 0, false},
    {"cells change hands", {8, 7}, {TERN_RING_CELL_LEAST}, 3 << 20, 1, 2, false},
    {"cells change hands in turn", {11, 10}, {TERN_RING_CELL_LEAST}, 3 << 20, 1, 2, true},
};

/* What a process has for itself in the code above. */
struct image {
    struct lane lane;
    struct tern_segment_rank *self;
    uint64_t ring_bytes, cell_bytes;
    struct tern_bell *doorbell;
    int sleepers;
    uint32_t armings;
};

static struct process {
    ucontext_t place;
    struct image image;
    struct tern_peer peer; /* the other */
    bool finished;
    uint32_t *waits_at; /* asleep on this word; NULL: no */
    int sent, received;
    struct {
        void *word;
        size_t size;
        uint64_t value;
    } kept_back[KEPT_BACK];
    int kept_back_count;
    char *stack;
    void *fiber; /* what the thread sanitizer calls a coroutine */
} processes[2];

static const struct scene *scene;
static ucontext_t checker;
static void *checker_fiber;
static int now; /* whose turn it is */
static bool membarrier_works, left_asleep;
static bool cell_twice, wrong_bytes; /* a fault that is planted, and what it must bring */
static int further_deviations;
static bool thorough; /* the long run */
static char arena[ARENA] __attribute__((aligned(4096)));
static size_t allocated;

static void fail(const char *what);

/* --- choices --- */

/* This execution's, each with how many there were; those up to `given` are taken again. */
static struct {
    uint8_t taken, of;
} path[DEPTH];
static int path_length, given, deviations_left, steps;
static uint64_t random_state; /* 0: none is random */

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* 0: go on as if nothing were; else one of count - 1 deviations. */
static int choose(int count)
{
    if (random_state)
        return next_random() % 8 ? 0 : (int)(next_random() % (unsigned)count);
    if (!deviations_left || count == 1)
        return 0;
    if (path_length == DEPTH)
        fail("there are too many choices");
    int taken = path_length < given ? path[path_length].taken : 0;
    path[path_length].taken = (uint8_t)taken;
    path[path_length++].of = (uint8_t)count;
    deviations_left -= taken > 0;
    return taken;
}

/* The next execution with another last choice; false: there is none. */
static bool next_path(void)
{
    while (path_length && path[path_length - 1].taken + 1 == path[path_length - 1].of)
        path_length--;
    if (!path_length)
        return false;
    path[path_length - 1].taken++;
    given = path_length;
    return true;
}

static void fail(const char *what)
{
    fprintf(stderr, "ring_model: %s: %s; choices:", scene->name, what);
    for (int i = 0; i < path_length; i++)
        if (path[i].taken)
            fprintf(stderr, " %d at %d", path[i].taken, i);
    fprintf(stderr, "\n");
    for (int i = 0; i < 2; i++)
        fprintf(stderr, "rank %d: %d sent, %d received%s\n", i, processes[i].sent, processes[i].received,
                processes[i].waits_at ? ", asleep" : "");
    exit(1);
}

/* --- turns --- */

static void save(struct image *image)
{
    *image = (struct image){lanes[0], self, my_ring_bytes, my_cell_bytes, doorbell, sleepers, armings};
}

static void restore(const struct image *image)
{
    lanes[0] = image->lane;
    self = image->self;
    my_ring_bytes = image->ring_bytes;
    my_cell_bytes = image->cell_bytes;
    doorbell = image->doorbell;
    sleepers = image->sleepers;
    armings = image->armings;
    tern_rte.local_rank = tern_rte.rank = (uint32_t)now;
}

/* To the thread sanitizer, which has nothing to find here, each coroutine is a thread that is dear to make. */
#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
enum { FURTHER = -6 };
#else
enum { FURTHER = 0 };
#define __tsan_get_current_fiber() NULL
#define __tsan_create_fiber(flags) NULL
#define __tsan_destroy_fiber(fiber) (void)(fiber)
#define __tsan_switch_to_fiber(fiber, flags) (void)(fiber)
#endif

static void switch_turns(void)
{
    int before = now;
    save(&processes[before].image);
    now = !before;
    restore(&processes[now].image);
    __tsan_switch_to_fiber(processes[now].fiber, 0);
    swapcontext(&processes[before].place, &processes[now].place);
}

/* The execution is over. */
static void end_turns(void)
{
    left_asleep = !processes[0].finished || !processes[1].finished;
    if (left_asleep && membarrier_works)
        fail("a rank is left asleep");
    __tsan_switch_to_fiber(checker_fiber, 0);
    swapcontext(&processes[now].place, &checker);
}

static bool able(const struct process *process)
{
    return !process->finished && !process->waits_at;
}

static void let_go(struct process *process, int count)
{
    for (int i = 0; i < count; i++)
        memcpy(process->kept_back[i].word, &process->kept_back[i].value, process->kept_back[i].size);
    process->kept_back_count -= count;
    memmove(process->kept_back, process->kept_back + count,
            (size_t)process->kept_back_count * sizeof process->kept_back[0]);
}

static void let_all_go(struct process *process)
{
    let_go(process, process->kept_back_count);
}

static bool shared(const void *word)
{
    return (const char *)word >= arena && (const char *)word < arena + ARENA;
}

/* Before an operation on a shared word. */
static void point(void)
{
    struct process *other = &processes[!now];
    bool turn = able(other);
    int choice;
    if (++steps > STEPS)
        fail("an execution takes too long");
    while ((choice = choose(1 + turn + (other->kept_back_count > 0))) > turn)
        let_go(other, 1);
    if (choice)
        switch_turns();
}

/* --- memory --- */

static uint64_t model_load(const void *word, size_t size)
{
    uint64_t value = 0;
    if (shared(word))
        point();
    memcpy(&value, word, size);
    const struct process *process = &processes[now];
    for (int i = 0; i < process->kept_back_count; i++)
        if (process->kept_back[i].word == word)
            value = process->kept_back[i].value;
    return value;
}

static void model_store(void *word, size_t size, uint64_t value)
{
    if (shared(word)) {
        point();
        struct process *process = &processes[now];
        bool room = process->kept_back_count < KEPT_BACK;
        if (room && choose(2)) {
            int at = process->kept_back_count++;
            process->kept_back[at].word = word;
            process->kept_back[at].size = size;
            process->kept_back[at].value = value;
            return;
        }
        let_all_go(process);
    }
    memcpy(word, &value, size);
}

/* Before a read-modify-write, which has all earlier stores seen. */
static uint64_t begin_change(const void *word, size_t size)
{
    uint64_t value = 0;
    if (shared(word)) {
        point();
        let_all_go(&processes[now]);
    }
    memcpy(&value, word, size);
    return value;
}

static uint64_t model_exchange(void *word, size_t size, uint64_t value)
{
    uint64_t before = begin_change(word, size);
    memcpy(word, &value, size);
    return before;
}

static uint64_t model_add(void *word, size_t size, uint64_t value)
{
    uint64_t before = begin_change(word, size), after = before + value;
    memcpy(word, &after, size);
    return before;
}

static bool model_compare(void *word, size_t size, void *expected, uint64_t value)
{
    uint64_t before = begin_change(word, size);
    bool same = memcmp(&before, expected, size) == 0;
    memcpy(same ? word : expected, same ? &value : &before, size);
    return same;
}

static void sleep_on(uint32_t *word, uint32_t value)
{
    struct process *process = &processes[now];
    point();
    let_all_go(process);
    if (*word != value)
        return;
    process->waits_at = word;
    if (able(&processes[!now]))
        switch_turns();
    else
        end_turns();
}

static long model_syscall(long number, ...)
{
    va_list arguments;
    va_start(arguments, number);
    if (number == SYS_membarrier) {
        point();
        for (int i = 0; i < 2 && membarrier_works; i++)
            let_all_go(&processes[i]);
    } else if (number == SYS_futex) {
        uint32_t *word = va_arg(arguments, uint32_t *);
        int what = va_arg(arguments, int);
        uint32_t value = va_arg(arguments, uint32_t);
        struct process *other = &processes[!now];
        if (what == FUTEX_WAIT) {
            sleep_on(word, value);
        } else {
            point();
            let_all_go(&processes[now]);
            if (other->waits_at == word)
                other->waits_at = NULL;
        }
    } else {
        fail("an unknown system call");
    }
    va_end(arguments);
    return 0;
}

/* --- what is around the byte mover --- */

struct tern_segment tern_segment;
struct tern_rte tern_rte;
uint32_t tern_lane_count = 1;
bool (*tern_btl_deliver)(struct tern_peer *, const struct tern_packet *, const void *, size_t);

struct tern_segment_rank *tern_segment_rank(uint32_t local_rank)
{
    return (struct tern_segment_rank *)arena + local_rank;
}

/* The model's ranks are one process, and copy through rings only. */
bool tern_segment_can_read(const struct tern_segment_rank *block)
{
    (void)block;
    return false;
}

int tern_segment_allocate(size_t size, uint64_t *ret_offset)
{
    if (allocated + size > ARENA)
        return TERN_ERR_NO_MEM;
    *ret_offset = allocated;
    allocated += size;
    return 0;
}

/* Nobody may care for what was there. */
bool tern_segment_discard(uint64_t offset, size_t size)
{
    memset(arena + offset, 0xee, size);
    return true;
}

struct tern_peer *tern_peer_get(uint32_t lane, uint32_t job, uint32_t rank)
{
    return lane == 0 && job == 0 && rank == processes[now].peer.rank ? &processes[now].peer : NULL;
}

/* Only for tern_btl_shm's other functions. */
int tern_segment_attach(void)
{
    return 0;
}
int tern_segment_attend(void)
{
    return 0;
}
void tern_segment_detach(void)
{
}
void tern_program_leave(void)
{
}
int tern_program_return(void)
{
    return 0;
}
int64_t tern_rte_local_rank(uint32_t rank)
{
    return rank;
}

/* --- ranks --- */

static uint32_t length_of(int number)
{
    int count = 0;
    while (count < 4 && scene->lengths[count])
        count++;
    return scene->lengths[number % count];
}

static void fill(unsigned char *payload, int from, int number)
{
    for (uint32_t i = 0; i < length_of(number); i++)
        payload[i] = (unsigned char)(from * 101 + number * 7 + i / 8);
}

static bool check(struct tern_peer *from, const struct tern_packet *packet, const void *payload, size_t length)
{
    struct process *process = &processes[now];
    unsigned char expected[LONGEST];
    int number = process->received++;
    if (from != &process->peer || number >= scene->packets[!now] || packet->id != (uint32_t)number)
        fail("a packet comes out of turn");
    fill(expected, !now, number);
    bool wrong = length != length_of(number) || memcmp(payload, expected, length);
    if (wrong && !cell_twice)
        fail("a packet has other bytes");
    wrong_bytes |= wrong;
    return number % 3 > 0; /* the rest waits for the next round */
}

/* True: something went or came. */
static bool do_a_round(struct process *process)
{
    bool did = false;
    for (int i = 0; process->sent < scene->packets[now] && (!scene->at_once || i < scene->at_once); i++) {
        unsigned char payload[LONGEST];
        fill(payload, now, process->sent);
        struct tern_packet packet = {.kind = TERN_PACKET_EAGER, .id = (uint32_t)process->sent};
        int rc = shm_send(&process->peer, &packet, payload, length_of(process->sent));
        if (rc == TERN_ERR_AGAIN)
            break;
        if (rc)
            fail("a packet cannot be sent");
        process->sent++;
        did = true;
        struct tern_cells *cells = &((struct tern_shm_endpoint *)process->peer.endpoint)->cells;
        if (cell_twice && cells->fresh_end - cells->fresh == (CELLS_AT_ONCE - 1) * TERN_RING_CELL)
            cells->fresh -= TERN_RING_CELL; /* the first cell seems to be free again */
    }
    return shm_progress(0) || did;
}

/* As a rank waits (lib/pml/progress.c), without any patience. */
static void live(void)
{
    struct process *process = &processes[now];
    while (process->sent < scene->packets[now] || process->received < scene->packets[!now]) {
        if (do_a_round(process))
            continue;
        uint32_t armed = tern_doorbell_arm(TERN_POSTS_OF_NONE);
        if (!do_a_round(process))
            tern_doorbell_sleep(armed, 1000000);
        tern_doorbell_disarm();
    }
    let_all_go(process);
    process->finished = true;
    if (able(&processes[!now]))
        switch_turns();
    else
        end_turns();
}

static void begin_rank(int rank)
{
    struct process *process = &processes[rank];
    char *stack = process->stack;
    *process = (struct process){
        .stack = stack,
        .fiber = __tsan_create_fiber(0),
        .peer = {.rank = (uint32_t)!rank, .btl = &tern_btl_shm},
    };
    getcontext(&process->place);
    process->place.uc_stack.ss_sp = stack;
    process->place.uc_stack.ss_size = STACK;
    makecontext(&process->place, live, 0);
    now = rank;
    restore(&(struct image){
        .lane.endpoints = calloc(2, sizeof(struct tern_shm_endpoint)),
        .self = tern_segment_rank((uint32_t)rank),
        .doorbell = &tern_segment_rank((uint32_t)rank)->bell,
    });
    if (!lanes[0].endpoints || shm_connect(&process->peer))
        fail("no memory");
    save(&process->image);
}

static void execute(void)
{
    memset(arena, 0, allocated);
    allocated = FIRST_RING; /* the blocks of the ranks */
    my_ring_budget = FIRST_RING + scene->ring_budget;
    in_turn = scene->in_turn;
    path_length = steps = 0;
    int least = membarrier_works ? 1 : 2;
    deviations_left = scene->deviations + further_deviations;
    if (scene->deviations == 5 && !thorough) /* the fifth takes two thirds of the whole time */
        deviations_left--;
    if (deviations_left < least)
        deviations_left = least;
    begin_rank(1);
    begin_rank(0);
    __tsan_switch_to_fiber(processes[0].fiber, 0);
    swapcontext(&checker, &processes[0].place);
    save(&processes[now].image);
    for (int i = 0; i < 2; i++) {
        restore(&processes[i].image);
        close_lane(&lanes[0]);
        tern_path_free(&processes[i].peer.path);
        __tsan_destroy_fiber(processes[i].fiber);
    }
}

static void play(int randoms, uint64_t seed)
{
    unsigned long executions = 0;
    given = 0;
    do {
        execute();
        executions++;
    } while (next_path());
    random_state = seed;
    for (int i = 0; i < randoms; i++)
        execute();
    random_state = 0;
    printf("%s: %lu executions, %d random ones\n", scene->name, executions, randoms);
    fflush(stdout);
}

/* The processor's and the kernel's part is what the rest is about. */
static void play_without_membarrier(void)
{
    membarrier_works = false;
    given = 0;
    do {
        execute();
        if (left_asleep)
            return;
    } while (next_path());
    fail("nobody misses the membarrier");
}

static void play_with_cell_twice(void)
{
    cell_twice = true;
    wrong_bytes = false;
    given = 0;
    do
        execute();
    while (!wrong_bytes && next_path());
    if (!wrong_bytes)
        fail("a cell that is handed out twice is not noticed");
    cell_twice = false;
}

int main(int argc, char **argv)
{
    int randoms = argc > 1 ? atoi(argv[1]) : 1000;
    further_deviations = argc > 2 ? atoi(argv[2]) : FURTHER;
    thorough = argc > 1 || getenv("TERN_TEST_LONG");
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1;
    checker_fiber = __tsan_get_current_fiber();
    allocated = ARENA;
    for (int i = 0; i < 2; i++)
        if (!(processes[i].stack = malloc(STACK)))
            return 1;
    have_membarrier = true;
    tern_btl_deliver = check;
    tern_segment = (struct tern_segment){.base = arena, .size = ARENA, .local_size = 2};
    tern_rte.size = tern_rte.local_size = 2;
    tern_rte.local_ranks = (uint32_t[]){0, 1};
    scene = &scenes[0];
    play_without_membarrier();
    membarrier_works = true;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        scene = &scenes[i];
        play(randoms, seed);
        if (scene->lengths[0] >= TERN_RING_CELL_LEAST)
            play_with_cell_twice();
    }
    for (int i = 0; i < 2; i++)
        free(processes[i].stack);
    return 0;
}
