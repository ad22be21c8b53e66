/* SPDX-License-Identifier: BSD-3-Clause */

/* probe CPU,CPU,... pair|switch|crowd|board: started by `mpi_info --measure` through mpirun, with
 * one rank for each processor named. Each rank binds itself to its processor. Rank 0 prints lines
 * `name value`, in ns, or in ps per byte.
 *
 * All operations are tried in turn, again and again for a second or two, a few times each, and the
 * least time counts. Other work of the machine only adds to it, and the processors of a virtual
 * machine may be nearer to each other at one time than at another. For bytes in no cache, and for
 * those of posts, the median counts: other caches of the machine may sometimes hold the first, and
 * the least time of the second was a half of what a collective takes on one processor. */
#include <mpi.h>

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 300, PAUSE_US = 5000, AREA = 32 << 20, SHORT = 8, WINDOW = 64, CROWD_MOST = 64,
       POST = 16 << 10 };
static const double limit_s = 4; /* on a machine that is busy with other work */

static int rank, size;
static char *area; /* AREA bytes to send from, or to receive into */

static int bind_to(const char *list)
{
    const char *own = getenv("OMPI_COMM_WORLD_LOCAL_RANK");
    for (int skip = own ? atoi(own) : 0; skip > 0 && list; skip--) {
        list = strchr(list, ',');
        list += list != NULL;
    }
    cpu_set_t set;
    CPU_ZERO(&set);
    if (!list)
        return -1;
    CPU_SET(atoi(list), &set);
    return sched_setaffinity(0, sizeof set, &set);
}

/* Returns ns per repetition. */
static double since(double begin, int repetitions)
{
    return (MPI_Wtime() - begin) * 1e9 / repetitions;
}

/* Returns the time of a message of `bytes` one way: half of there and back. With `walk`, messages
 * go through the whole area; else they stay at its beginning. */
static double one_way(int bytes, int repetitions, int walk)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        char *at = area + (walk ? (size_t)i * (size_t)bytes % AREA : 0);
        if (rank == 0)
            MPI_Send(at, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(at, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(at, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
    return since(begin, 2 * repetitions);
}

/* Returns the time per byte of a long message. Over the rounds, both ranks go through their whole
 * areas, which are larger than a cache that cores share. */
static double long_way(int round)
{
    enum { PIECE = 2 << 20 };
    char *at = area + (size_t)round * PIECE % AREA;
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    if (rank == 0)
        MPI_Send(at, PIECE, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    else
        MPI_Recv(at, PIECE, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    return since(begin, PIECE);
}

/* Returns the time of a window of short messages that are under way together. */
static double each_of_many(int repetitions)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; k < WINDOW && rank == 0; k++)
            MPI_Send(area, SHORT, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
        for (int k = 0; k < WINDOW && rank == 1; k++)
            MPI_Recv(area, SHORT, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(area, SHORT, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(area, SHORT, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return since(begin, repetitions);
}

static double barrier(int repetitions)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    return since(begin, repetitions);
}

/* Returns the time that each byte of a post takes at either end: both ranks post POST bytes, then
 * read the other one's post. `posts` is the node's memory, of POST bytes for each rank. */
static double posting(char *const posts[2], double barrier_ns, int repetitions)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        memcpy(posts[rank], area, POST);
        MPI_Barrier(MPI_COMM_WORLD);
        memcpy(area + POST, posts[1 - rank], POST);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    double both = since(begin, repetitions) - 2 * barrier_ns;
    return both / (2 * POST);
}

/* Returns the time of a collective that needs no messages. */
static double calls(int repetitions)
{
    double in = 0, out;
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
    return since(begin, repetitions);
}

enum { IN_CACHE = 128 << 10 };

static double copying(int repetitions)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        memcpy(area, area + IN_CACHE, IN_CACHE);
        __asm__ volatile("" ::: "memory"); /* keeps the compiler from removing repetitions */
    }
    return since(begin, repetitions);
}

static double joining(int repetitions)
{
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++)
        MPI_Reduce_local(area, area + IN_CACHE, IN_CACHE / 8, MPI_DOUBLE, MPI_SUM);
    return since(begin, repetitions);
}

static void keep_least(double *least, double value)
{
    if (*least == 0 || value < *least)
        *least = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static void print(const char *name, double value)
{
    if (rank == 0)
        printf("%s %.0f\n", name, value > 0 ? value : 0);
}

/* Returns true if there is another round. All ranks get the same answer. */
static int goes_on(int round, double begin)
{
    int on = round < 3 || (round < ROUNDS && MPI_Wtime() - begin < limit_s);
    if (round)
        usleep(PAUSE_US);
    MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return on;
}

/* Allocates the node's memory for one post of each rank, and sets where both are. */
static MPI_Win allocate_posts(char *ret_posts[2])
{
    MPI_Win win;
    char *own;
    MPI_Win_allocate_shared(POST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &own, &win);
    for (int r = 0; r < 2; r++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(win, r, &bytes, &unit, &ret_posts[r]);
    }
    memset(ret_posts[rank], 0, POST);
    return win;
}

static void measure_pair(void)
{
    double begin = MPI_Wtime();
    double t_short = 0, many = 0, t_16k = 0, t_64k = 0, t_128k = 0, t_512k = 0, memory = 0,
           board = 0, copy = 0, join = 0, call = 0, uncached[ROUNDS], post[ROUNDS];
    int rounds = 0;
    char *posts[2];
    MPI_Win win = allocate_posts(posts);
    for (int i = 0; goes_on(i, begin); i++) {
        keep_least(&t_short, one_way(SHORT, 50, 0));
        keep_least(&many, each_of_many(4));
        keep_least(&t_16k, one_way(16 << 10, 10, 0));
        keep_least(&t_64k, one_way(64 << 10, 5, 0));
        keep_least(&t_128k, one_way(128 << 10, 3, 0));
        keep_least(&t_512k, one_way(512 << 10, 2, 0));
        keep_least(&memory, one_way(4 << 20, 2, 1) / (4 << 20));
        uncached[rounds++] = long_way(i);
        keep_least(&board, barrier(50));
        post[rounds - 1] = posting(posts, board, 20);
        keep_least(&call, calls(50));
        keep_least(&copy, copying(3) / IN_CACHE);
        keep_least(&join, joining(3) / IN_CACHE);
    }
    MPI_Win_free(&win);
    /* without the window's last message and the answer, which travel alone */
    double overhead = (many - 2 * t_short) / WINDOW;
    if (overhead > t_short / 2 || overhead <= 0)
        overhead = t_short / 4;
    double latency = t_short - 2 * overhead;
    /* gap of short messages, where both ends copy in turn, and of long ones, where they copy at
     * once */
    double in_turn = (t_16k - t_short) / (2.0 * (16 << 10)),
           streaming = (t_512k - t_128k) / (384 << 10);
    double gap = (in_turn + streaming) / 2;
    print("latency", latency);
    print("overhead", overhead);
    print("gap", gap * 1000);
    print("rendezvous", t_64k - t_short - (64 << 10) * gap);
    print("memory_gap", (memory > gap ? memory : gap) * 1000);
    print("uncached_gap", median(uncached, rounds) * 1000);
    print("copy_gap", copy * 1000);
    print("reduce_gap", join * 1000);
    print("barrier", board);
    print("board_gap", median(post, rounds) * 1000);
    print("call", call);
}

/* Measures ranks that share a core: a message waits for the other rank's turn. */
static void measure_switch(void)
{
    double least = 0, begin = MPI_Wtime();
    for (int i = 0; goes_on(10 * i, begin); i++)
        keep_least(&least, one_way(SHORT, 20, 0));
    print("switch", least);
}

/* Returns the time in which all ranks exchange a short message with all others. */
static double all_for_all(int repetitions)
{
    MPI_Request requests[2 * CROWD_MOST];
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    for (int i = 0; i < repetitions; i++) {
        int count = 0;
        for (int r = 0; r < size; r++) {
            MPI_Irecv(area + 64 * r, SHORT, MPI_BYTE, r, 0, MPI_COMM_WORLD, &requests[count++]);
            MPI_Isend(area + 64 * (size + r), SHORT, MPI_BYTE, r, 0, MPI_COMM_WORLD,
                      &requests[count++]);
        }
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    }
    return since(begin, repetitions);
}

/* Measures many ranks that share a core. In a barrier by the board, each rank needs one turn. What
 * messages take beyond that is their own cost. */
static void measure_crowd(void)
{
    double turns = 0, messages = 0, begin = MPI_Wtime();
    if (size > CROWD_MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; goes_on(3 * i, begin); i++) {
        keep_least(&turns, barrier(20));
        keep_least(&messages, all_for_all(10));
    }
    print("switch", turns / size);
    print("message", (messages - turns) / (size * (size - 1.0)));
}

static void measure_board(void)
{
    double least = 0, begin = MPI_Wtime();
    for (int i = 0; goes_on(5 * i, begin); i++)
        keep_least(&least, barrier(30));
    print("barrier", least);
}

int main(int argc, char **argv)
{
    if (argc != 3 || bind_to(argv[1])) {
        fputs("usage: mpirun -n N probe CPU,CPU,... pair|switch|crowd|board (`mpi_info --measure` "
              "starts this)\n",
              stderr);
        return 2;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    area = malloc(AREA);
    if (!area)
        MPI_Abort(MPI_COMM_WORLD, 3);
    memset(area, 0, AREA); /* sums of zeros stay zero */
    if (strcmp(argv[2], "pair") == 0 && size == 2)
        measure_pair();
    else if (strcmp(argv[2], "switch") == 0 && size == 2)
        measure_switch();
    else if (strcmp(argv[2], "crowd") == 0)
        measure_crowd();
    else
        measure_board();
    free(area);
    MPI_Finalize();
    return 0;
}
