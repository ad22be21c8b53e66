/* SPDX-License-Identifier: BSD-3-Clause */
/* What libfabric and the libraries that it loads do to the process besides: handlers of signals stay as they were before
 * MPI_Init, and the lanes of many windows take a limited amount of memory. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

enum { WINDOWS = 16, MOST_MIB = 450 };

static void own_handler(int number)
{
    (void)number;
}

static long resident_mib(void)
{
    char line[200];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmRSS: %ld", &kib) == 1)
            break;
    if (status)
        fclose(status);
    return kib / 1024;
}

static void (*handler_of(int number))(int)
{
    struct sigaction now;
    sigaction(number, NULL, &now);
    return now.sa_handler;
}

static int signals_changed(void)
{
    int changed = 0;
    if (handler_of(SIGSEGV) != own_handler || handler_of(SIGTERM) != own_handler)
        changed += printf("a handler of the program was replaced\n");
    if (handler_of(SIGINT) != SIG_DFL || handler_of(SIGHUP) != SIG_DFL)
        changed += printf("a handler was installed that the program does not want\n");
    return changed;
}

static int put_everywhere(int rank, int size)
{
    static int memory[WINDOWS];
    int wrong = 0, peer = (rank + 1) % size;
    MPI_Win windows[WINDOWS];
    for (int i = 0; i < WINDOWS; i++) {
        int value = 100 + i;
        MPI_Win_create(&memory[i], sizeof memory[i], 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[i]);
        MPI_Win_fence(0, windows[i]);
        MPI_Put(&value, 1, MPI_INT, peer, 0, 1, MPI_INT, windows[i]);
        MPI_Win_fence(0, windows[i]);
        wrong += memory[i] != 100 + i;
    }
    if (resident_mib() > MOST_MIB)
        wrong += printf("%d windows: %ld MiB are resident\n", WINDOWS, resident_mib());
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_free(&windows[i]);
    return wrong;
}

int main(int argc, char **argv)
{
    int rank, size, wrong;
    signal(SIGSEGV, own_handler);
    signal(SIGTERM, own_handler);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    wrong = signals_changed();
    /* a sanitizer takes memory of its own */
    if (argc < 2 || strcmp(argv[1], "signals") != 0)
        wrong += put_everywhere(rank, size);
    MPI_Finalize();
    return wrong != 0;
}
