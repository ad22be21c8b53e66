/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 */
/* A large message of a sender that enters MPI while the receiver copies it from its memory arrives whole,
 * whatever the moment: into one run of memory, into blocks with gaps, and cut off by a shorter receive. */
#include "check.h"

enum { WORDS = 2 << 20, BLOCK = 512 };

static unsigned word(int message, long i)
{
    return (unsigned)i * 2654435761u + (unsigned)message;
}

static void compute(double seconds)
{
    double end = MPI_Wtime() + seconds;
    while (MPI_Wtime() < end)
        ;
}

static void send_late(int message, const unsigned *words)
{
    MPI_Request request;
    CHECK_OK(MPI_Isend(words, WORDS, MPI_UNSIGNED, 1, message, MPI_COMM_WORLD, &request));
    compute(1e-4 * (message % 12));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

/* stride: words from one block to the next. */
static void receive(int message, unsigned *words, long stride, long wanted)
{
    MPI_Datatype type;
    MPI_Status status;
    long blocks = wanted / BLOCK;
    CHECK_OK(MPI_Type_vector((int)blocks, BLOCK, (int)stride, MPI_UNSIGNED, &type));
    CHECK_OK(MPI_Type_commit(&type));
    int error = MPI_Recv(words, 1, type, 0, message, MPI_COMM_WORLD, &status);
    if (wanted < WORDS)
        CHECK_CLASS(error, MPI_ERR_TRUNCATE);
    else
        CHECK_OK(error);
    for (long i = 0; i < wanted; i++)
        CHECK(words[i / BLOCK * stride + i % BLOCK] == word(message, i));
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    unsigned *words = malloc(2 * WORDS * sizeof *words);
    CHECK(words != NULL);
    for (int message = 0; message < 36; message++) {
        for (long i = 0; i < 2 * WORDS; i++)
            words[i] = rank == 0 ? word(message, i) : 0;
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            send_late(message, words);
        else
            receive(message, words, message % 2 ? BLOCK : 2 * BLOCK,
                    message % 3 == 2 ? WORDS - 100 * BLOCK : WORDS);
    }
    free(words);
    MPI_Finalize();
    return 0;
}
