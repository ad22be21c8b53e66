/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self */
/* What TCP leaves in its buffer, so that many short messages go by one write, is written though its rank does not call MPI again: the
 * receiver tells by a file that it has all of them. */
#include "check.h"

#include <fcntl.h>

enum { MESSAGES = 40, TIMES = 20 };

int main(int argc, char **argv)
{
    int number = 0, numbers[MESSAGES];
    char name[64];
    MPI_Request requests[MESSAGES];
    start(&argc, &argv);
    for (int i = 0; i < 10; i++) { /* makes the connection */
        CHECK_OK(MPI_Send(&number, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD));
        CHECK_OK(MPI_Recv(&number, 1, MPI_INT, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < TIMES; i++) {
        snprintf(name, sizeof name, "received%d", i);
        for (int m = 0; m < MESSAGES && rank == 0; m++) {
            numbers[m] = i * MESSAGES + m;
            CHECK_OK(MPI_Isend(&numbers[m], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[m]));
        }
        while (rank == 0 && access(name, F_OK) != 0)
            usleep(100);
        if (rank == 0) {
            unlink(name);
            CHECK_OK(MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE));
            continue;
        }
        for (int m = 0; m < MESSAGES; m++) {
            CHECK_OK(MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
            CHECK_INT(number, i * MESSAGES + m);
        }
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        CHECK(file >= 0);
        close(file);
    }
    return end();
}
