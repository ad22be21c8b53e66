/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A shared counter, by one-sided communication: whoever is free takes the next piece of work. Rank 0 owns the counter
 * and does nothing for it; MPI_Fetch_and_op reads and raises it in one step. So ranks on a slow host get less work,
 * and nobody waits for them.
 *
 *     mpirun -n 4 ./counter
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { PIECES = 400 };

/* Counts the primes of one piece of the numbers; the later ones take longer. */
static long count_primes(int piece)
{
    long count = 0;
    for (long n = piece * 250L; n < (piece + 1) * 250L; n++) {
        long divisor = 2;
        while (divisor * divisor <= n && n % divisor)
            divisor++;
        count += n > 1 && divisor * divisor > n;
    }
    return count;
}

int main(int argc, char **argv)
{
    int rank, size, *counter, one = 1, piece;
    long work[2] = {0, 0}, all[2]; /* primes, pieces */
    MPI_Win window;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Win_allocate(rank == 0 ? sizeof *counter : 0, sizeof *counter, MPI_INFO_NULL, MPI_COMM_WORLD, &counter,
                     &window);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
        *counter = 0;
        MPI_Win_unlock(0, window);
    }
    MPI_Barrier(MPI_COMM_WORLD); /* nobody counts before it is 0 */

    MPI_Win_lock_all(0, window);
    for (;;) {
        MPI_Fetch_and_op(&one, &piece, MPI_INT, 0, 0, MPI_SUM, window);
        MPI_Win_flush(0, window);
        if (piece >= PIECES)
            break;
        work[0] += count_primes(piece);
        work[1]++;
    }
    MPI_Win_unlock_all(window);

    MPI_Reduce(work, all, 2, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    fprintf(stderr, "rank %d did %ld of %d pieces\n", rank, work[1], PIECES);
    int wrong = rank == 0 && all[1] != PIECES;
    if (rank == 0)
        printf("%ld primes below %d; each piece was done %s\n", all[0], PIECES * 250, wrong ? "NOT once" : "once");
    MPI_Win_free(&window);
    MPI_Finalize();
    return wrong;
}
