/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 1 (the only rank, if there is one) crashes as the first argument says; the others wait for
 * it. `handler` before it: the program has a handler of its own, installed before or after MPI_Init.
 * For crash.sh and hosts/crash.sh. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int zero;

static __attribute__((noinline)) void crash_here(volatile int *where)
{
    *where = 7; /* the line that crashes */
}

/* The undefined behaviour sanitizer would end the rank itself. */
__attribute__((no_sanitize("undefined"))) static void divide(void)
{
    zero = 7 / zero;
}

static __attribute__((noinline)) int overflow(int depth)
{
    volatile char room[4096];
    room[depth % 4096] = (char)depth;
    return overflow(depth + 1) + room[0];
}

static __attribute__((noinline)) void cut_file(void)
{
    FILE *file = tmpfile();
    char *bytes = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(file), 0);
    bytes[0] = 1;
}

static void *crash_in_thread(void *unused)
{
    crash_here((volatile int *)16);
    return unused;
}

static void *overflow_in_thread(void *unused)
{
    overflow(0);
    return unused;
}

static void own_handler(int number)
{
    printf("the program's own handler got %d\n", number);
    fflush(stdout);
    _exit(9);
}

static void crash(const char *how)
{
    void (*volatile nowhere)(void) = (void (*)(void))64;
    pthread_t thread;
    if (strcmp(how, "segv") == 0)
        crash_here((volatile int *)16);
    else if (strcmp(how, "jump") == 0)
        nowhere();
    else if (strcmp(how, "stack") == 0)
        overflow(0);
    else if (strcmp(how, "mpi_abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    else if (strcmp(how, "bus") == 0)
        cut_file();
    else if (strcmp(how, "fpe") == 0)
        divide();
    else if (strcmp(how, "ill") == 0)
        __builtin_trap();
    else if (strcmp(how, "abort") == 0)
        abort();
    else if (strcmp(how, "kill") == 0)
        kill(getppid() ? getpid() : 0, SIGSEGV);
    else if (strcmp(how, "thread") == 0 && pthread_create(&thread, NULL, crash_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    else if (strcmp(how, "thread_stack") == 0 &&
             pthread_create(&thread, NULL, overflow_in_thread, NULL) == 0)
        pthread_join(thread, NULL);
    else if (strcmp(how, "child") == 0 && fork() == 0)
        crash_here((volatile int *)16);
}

/* Rank 1 frees the memory of its window, and does not call MPI while rank 0 puts into it. */
static void put_into_freed_window(int rank)
{
    enum { BYTES = 1 << 20 };
    int byte = 1;
    MPI_Win window;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    MPI_Win_create(memory, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    if (rank == 1)
        munmap(memory, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    while (rank == 1)
        pause();
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, window);
    MPI_Put(&byte, 1, MPI_INT, 1, 0, 1, MPI_INT, window);
    MPI_Win_unlock(1, window);
}

int main(int argc, char **argv)
{
    int rank, size;
    const char *handler = argc > 2 ? argv[2] : "";
    const char *place = getenv("OMPI_COMM_WORLD_RANK");
    if (strcmp(argv[1], "early") == 0 && (!place || strcmp(place, "1") == 0))
        crash_here((volatile int *)16);
    if (strcmp(handler, "before") == 0)
        signal(SIGSEGV, own_handler);
    MPI_Init(&argc, &argv);
    if (strcmp(handler, "after") == 0)
        signal(SIGSEGV, own_handler);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 1 || size == 1)
        crash(argv[1]);
    if (strcmp(argv[1], "window") == 0)
        put_into_freed_window(rank);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    if (strcmp(argv[1], "late") == 0 && rank == 1)
        raise(SIGSEGV);
    return 0;
}
