/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory is watched (userfaultfd: uw in smaps) when it was used for several messages, and not when it is mapped for each message:
 * then munmap would wait for the library's thread each time. Prints how many of the mappings were watched at their end. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { LENGTH = 1 << 20, TIMES = 200 };

static int rank;

static char *map(void)
{
    char *start = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED)
        MPI_Abort(MPI_COMM_WORLD, 1);
    memset(start, rank, LENGTH);
    return start;
}

static int is_watched(const char *start)
{
    char line[1000];
    unsigned long from, to;
    int here = 0, watched = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here = from <= (unsigned long)start && to > (unsigned long)start;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            watched = strstr(line, " uw") != NULL;
    }
    if (maps)
        fclose(maps);
    return watched;
}

static void exchange(char *start)
{
    MPI_Sendrecv(start, LENGTH / 2, MPI_CHAR, 1 - rank, 0, start + LENGTH / 2, LENGTH / 2, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int fresh = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    char *again = map();
    for (int i = 0; i < TIMES; i++) {
        char *start = map();
        exchange(start);
        fresh += is_watched(start);
        munmap(start, LENGTH);
        if (i < 10)
            exchange(again);
    }
    printf("watched: %s of the memory used again, %d of %d used once\n", is_watched(again) ? "all" : "none", fresh, TIMES);
    MPI_Finalize();
    return 0;
}
