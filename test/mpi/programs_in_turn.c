/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 5 */
/* A rank may be a script that runs one MPI program after another: each finds the job as the first did. */
#include "check.h"

#include <sys/wait.h>

enum { BYTES = 100000 };

static void program(void)
{
    static unsigned char out[BYTES], in[BYTES];
    int right = (rank + 1) % size, left = (rank + size - 1) % size, sum;
    for (int i = 0; i < BYTES; i++)
        out[i] = i + rank;
    for (int round = 0; round < 20; round++) {
        int bytes = round * BYTES / 20 + 1;
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Sendrecv(out, bytes, MPI_BYTE, right, round, in, bytes, MPI_BYTE, left, round, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE));
        for (int i = 0; i < bytes; i++)
            CHECK_INT(in[i], (unsigned char)(i + left));
    }
    CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size * (size - 1) / 2);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        start(&argc, &argv);
        program();
        return end();
    }
    for (int i = 0; i < 3; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) {
            execl(argv[0], argv[0], "program", (char *)NULL);
            _exit(127);
        }
        waitpid(pid, &status, 0);
        CHECK_INT(status, 0);
    }
    return 0;
}
