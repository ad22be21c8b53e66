/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 sends rank 1 long messages, several at a time: argument 1 of them, each in memory that was used for no other. Rank 1
 * receives every other one into columns of a matrix, and compares all bytes. The last of each group is cut by a shorter sender. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { LENGTH = 2 << 20, SHORTER = 1400001, ROWS = 4096, TOGETHER = 4 };

static int length_of(int message)
{
    return message % TOGETHER == TOGETHER - 1 ? SHORTER : LENGTH;
}

static unsigned char byte_of(int message, int at)
{
    return (unsigned char)(at * 7 + (at >> 8) * 3 + message * 31 + 1);
}

/* The place of a byte in the receiver's memory: columns of each second message lie apart. */
static int place_of(int message, int at)
{
    return message % 2 ? at / (LENGTH / ROWS) * (2 * LENGTH / ROWS) + at % (LENGTH / ROWS) : at;
}

int main(int argc, char **argv)
{
    int messages = argc > 1 ? atoi(argv[1]) : 2 * TOGETHER, rank;
    MPI_Datatype columns;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_vector(ROWS, LENGTH / ROWS, 2 * LENGTH / ROWS, MPI_BYTE, &columns);
    MPI_Type_commit(&columns);
    for (int first = 0; first < messages; first += TOGETHER) {
        unsigned char *memory[TOGETHER];
        MPI_Request requests[TOGETHER];
        for (int i = 0; i < TOGETHER; i++) {
            int message = first + i, length = length_of(message);
            memory[i] = calloc(2, LENGTH);
            if (rank == 0) {
                for (int at = 0; at < length; at++)
                    memory[i][at] = byte_of(message, at);
                MPI_Isend(memory[i], length, MPI_BYTE, 1, message, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(memory[i], message % 2 ? 1 : LENGTH, message % 2 ? columns : MPI_BYTE, 0, message, MPI_COMM_WORLD,
                          &requests[i]);
            }
        }
        MPI_Waitall(TOGETHER, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < TOGETHER; i++) {
            for (int at = 0; rank == 1 && at < LENGTH; at++) {
                unsigned char expected = at < length_of(first + i) ? byte_of(first + i, at) : 0;
                if (memory[i][place_of(first + i, at)] != expected) {
                    printf("message %d, byte %d: %d, expected %d\n", first + i, at, memory[i][place_of(first + i, at)], expected);
                    MPI_Abort(MPI_COMM_WORLD, 1);
                }
            }
            free(memory[i]);
        }
    }
    MPI_Type_free(&columns);
    if (rank == 1)
        puts("all bytes are right");
    MPI_Finalize();
    return 0;
}
