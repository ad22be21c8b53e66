/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; needs: MPI_Parrived */
/* A partition of the receiver arrives as soon as the partitions of the sender that overlap it are
 * ready, long before the others; those that are not ready never seem to have arrived. */
#include "check.h"

/* The sender marks partition by partition, each after the receiver has seen what came by the one
 * before. */
static void in_turn(int send_partitions, int recv_partitions, int total)
{
    int other = rank ^ 1, receiver = rank & 1, parts = receiver ? recv_partitions : send_partitions;
    int per = total / parts, *data = allocate((size_t)total * sizeof *data);
    MPI_Request request;
    if (receiver)
        CHECK_OK(MPI_Precv_init(data, parts, per, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
    else
        CHECK_OK(MPI_Psend_init(data, parts, per, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < total; i++)
            data[i] = receiver ? -1 : i + round;
        CHECK_OK(MPI_Start(&request));
        for (int k = 0; k < send_partitions; k++) {
            int marked = (k + 1) * (total / send_partitions); /* ints */
            if (!receiver) {
                CHECK_OK(MPI_Pready(k, request));
                CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
                continue;
            }
            for (int i = 0; i < parts; i++) {
                int flag;
                do
                    CHECK_OK(MPI_Parrived(request, i, &flag));
                while (!flag && (i + 1) * per <= marked);
                CHECK_INT(flag, (i + 1) * per <= marked);
                for (int j = i * per; flag && j < (i + 1) * per; j++)
                    CHECK_INT(data[j], j + round);
            }
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD));
        }
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Request_free(&request));
    free(data);
}

/* Empty partitions arrive as their number in proportion says. */
static void empty_ones(void)
{
    enum { PARTS = 6 };
    int other = rank ^ 1, flag;
    MPI_Request request;
    if (rank & 1) {
        CHECK_OK(MPI_Precv_init(NULL, PARTS / 2, 0, MPI_INT, other, 1, MPI_COMM_WORLD,
                                MPI_INFO_NULL, &request));
        CHECK_OK(MPI_Start(&request));
        for (int i = 0; i < PARTS / 2; i++) {
            CHECK_OK(MPI_Send(NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD));
            do
                CHECK_OK(MPI_Parrived(request, i, &flag));
            while (!flag);
            for (int j = i + 1; j < PARTS / 2; j++) {
                CHECK_OK(MPI_Parrived(request, j, &flag));
                CHECK_INT(flag, 0);
            }
        }
    } else {
        CHECK_OK(MPI_Psend_init(NULL, PARTS, 0, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                                &request));
        CHECK_OK(MPI_Start(&request));
        for (int i = 0; i < PARTS; i += 2) {
            CHECK_OK(MPI_Recv(NULL, 0, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_OK(MPI_Pready_range(i, i + 1, request));
        }
    }
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Request_free(&request));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    in_turn(4, 4, 4);
    in_turn(4, 4, 240000); /* not eager */
    in_turn(4, 2, 240000);
    in_turn(4, 8, 240000);
    in_turn(6, 4, 2400);
    in_turn(4, 6, 2400);
    in_turn(1, 3, 300);
    empty_ones();
    return end();
}
