/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton 1 2 4 */
/* A program that has closed its standard streams runs: no socket or file of the library takes their numbers, so that what the
 * program prints does not reach it, but fails as before. */
#include "check.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

int main(int argc, char **argv)
{
    enum { STREAMS = 3, ABOVE = 300, WORDS = 1000 };
    static const char text[] = "these words must not reach the library\n";
    char byte;
    int wrote[STREAMS], error[STREAMS], sum;
    struct stat kinds[STREAMS];
    for (int fd = 0; fd < STREAMS; fd++) {
        if (fcntl(fd, F_DUPFD, ABOVE + fd) < 0)
            return 2;
        close(fd);
    }
    start(&argc, &argv);
    for (int fd = 0; fd < STREAMS; fd++)
        if (fstat(fd, &kinds[fd]))
            kinds[fd].st_mode = 0;
    for (int i = 0; i < WORDS; i++)
        for (int fd = 0; fd < STREAMS; fd++) {
            wrote[fd] = (int)write(fd, text, sizeof text);
            error[fd] = errno;
        }
    int in = (int)read(STDIN_FILENO, &byte, 1);
    sum = rank;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int fd = 0; fd < STREAMS; fd++)
        dup2(ABOVE + fd, fd);
    /* from here on a check can say what is wrong */
    for (int fd = 0; fd < STREAMS; fd++) {
        CHECK(!S_ISSOCK(kinds[fd].st_mode) && !S_ISREG(kinds[fd].st_mode) && !S_ISFIFO(kinds[fd].st_mode));
        CHECK_INT(wrote[fd], -1);
        CHECK_INT(error[fd], EBADF);
    }
    CHECK(in <= 0);
    CHECK_INT(sum, size * (size - 1) / 2);
    return end();
}
