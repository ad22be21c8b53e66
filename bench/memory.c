/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory per rank in MiB after a ring, an allreduce and an alltoall of 8 bytes: the mean over ranks
 * of Pss from /proc/self/smaps_rollup (each process counts its share of a shared page), and the
 * largest. */
#include "bench.h"

/* Returns this process's Pss in KiB, or -1 if the kernel has no such file. */
static double pss_kib(void)
{
    char line[256];
    double kib = -1;
    FILE *f = fopen("/proc/self/smaps_rollup", "r");
    if (f == NULL)
        return -1;
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Pss: %lf kB", &kib) == 1)
            break;
    fclose(f);
    return kib;
}

int main(int argc, char **argv)
{
    bench_start(&argc, &argv, 8);
    int64_t x = rank, y = 0;
    int64_t *a = calloc((size_t) size, 8), *b = calloc((size_t) size, 8);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Sendrecv(&x, 8, MPI_BYTE, right, 1, &y, 8, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    MPI_Allreduce(&x, &y, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Alltoall(a, 8, MPI_BYTE, b, 8, MPI_BYTE, MPI_COMM_WORLD);
    /* Read only when all ranks have mapped everything, and end only when all have read. */
    MPI_Barrier(MPI_COMM_WORLD);
    double kib = pss_kib(), sum = 0, most = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Reduce(&kib, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&kib, &most, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (kib < 0) {
        fprintf(stderr, "no /proc/self/smaps_rollup here, so no memory to tell\n");
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    bench_print("memory-mean", size, sum / size / 1024, "MiB");
    bench_print("memory-most", size, most / 1024, "MiB");
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
