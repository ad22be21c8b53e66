/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self */
/* The thread that writes what a rank leaves behind does not wake up all the time while the rank
 * writes by itself: else others than this job may wait for a processor for seconds
 * (docs/waiting.md). Five thousand times a second was too often, some hundred are enough. */
#include "check.h"

#include <dirent.h>

enum { WINDOW = 64, BYTES = 3000, MOST_PER_SECOND = 2000 };
static const double seconds = 0.5; /* at least; the flusher must have slept in each rank */

/* How often the flusher of this process has slept; 0: there is none yet. */
static long sleeps_of_flusher(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    long sleeps = 0;
    while ((task = readdir(tasks))) {
        char path[300], line[200];
        int is_flusher = 0;
        snprintf(path, sizeof path, "/proc/self/task/%s/status", task->d_name);
        FILE *file = fopen(path, "r");
        while (file && fgets(line, sizeof line, file)) {
            is_flusher |= strcmp(line, "Name:\ttern-flush\n") == 0;
            if (is_flusher)
                sscanf(line, "voluntary_ctxt_switches: %ld", &sleeps);
        }
        if (file)
            fclose(file);
    }
    closedir(tasks);
    return sleeps;
}

static void exchange(void)
{
    static char out[WINDOW][BYTES], in[WINDOW][BYTES];
    MPI_Request requests[2 * WINDOW];
    for (int i = 0; i < WINDOW; i++)
        MPI_Irecv(in[i], BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[i]);
    for (int i = 0; i < WINDOW; i++)
        MPI_Isend(out[i], BYTES, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &requests[WINDOW + i]);
    CHECK_OK(MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 20; i++)
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv)
{
    int more = 1;
    start(&argc, &argv);
    exchange();
    long before = sleeps_of_flusher(), sleeps = 0;
    double begin = MPI_Wtime(), elapsed = 0;
    while (more) {
        exchange();
        elapsed = MPI_Wtime() - begin;
        if (elapsed >= seconds)
            sleeps = sleeps_of_flusher() - before;
        more = sleeps == 0;
        CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &more, 1, MPI_INT, MPI_LOR, MPI_COMM_WORLD));
    }
    if (sleeps > MOST_PER_SECOND * elapsed)
        CHECK_INT(sleeps, (long)(MOST_PER_SECOND * elapsed));
    return end();
}
