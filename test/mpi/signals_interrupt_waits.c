/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* A timer of the program interrupts every system call of ours (no SA_RESTART), children come and go: nothing is lost. */
#include "check.h"

#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { BYTES = 1 << 20 };

static volatile sig_atomic_t caught;

static void count_signal(int number)
{
    (void)number;
    caught++;
}

int main(int argc, char **argv)
{
    struct sigaction action = {.sa_handler = count_signal};
    struct itimerval timer = {{0, 500}, {0, 500}};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGCHLD, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    start(&argc, &argv);
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    unsigned char *out = malloc(BYTES), *in = malloc(BYTES);
    for (int round = 0; round < 20; round++) {
        memset(out, round + rank, BYTES);
        CHECK_OK(MPI_Sendrecv(out, BYTES, MPI_BYTE, right, 0, in, BYTES, MPI_BYTE, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        for (int i = 0; i < BYTES; i++)
            CHECK_INT(in[i], (unsigned char)(round + left));
        if (round % 5 == 0) {
            pid_t pid = fork();
            if (pid == 0)
                exit(0); /* a child that runs the program's own ends */
            while (waitpid(pid, NULL, 0) < 0)
                ;
        }
        if (round == 10 && rank == 0)
            usleep(100000); /* the others fall asleep meanwhile */
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    }
    free(out);
    free(in);
    end();
    setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
    CHECK_INT(caught > 0, 1);
    return 0;
}
