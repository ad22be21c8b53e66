/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* A rank may fork: children run programs and leave by exit(), and the parent's MPI goes on. */
#include "check.h"
#include <sys/wait.h>

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    for (int round = 0; round < 3; round++) {
        int status = -1, x = rank + round, y = -1;
        MPI_Request request;
        CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, from, 1, MPI_COMM_WORLD, &request));
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            if (round == 0)
                execl("/bin/true", "true", (char *) NULL);
            /* Exit handlers of the library run in the child and must not touch the job. */
            exit(round);
        }
        CHECK_OK(MPI_Send(&x, 1, MPI_INT, to, 1, MPI_COMM_WORLD));
        CHECK_INT(waitpid(pid, &status, 0), pid);
        CHECK(WIFEXITED(status));
        CHECK_INT(WEXITSTATUS(status), round);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_INT(y, from + round);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    CHECK_INT(system("exit 5") >> 8, 5);
    return end();
}
