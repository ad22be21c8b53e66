/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* What starts a rank may have closed all descriptors it does not know (sudo does): on some ranks, or on all. */
#include "check.h"

int main(int argc, char **argv)
{
    const char *number = getenv("OMPI_COMM_WORLD_RANK");
    if (argc == 1 && number && atoi(number) != 1) {
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
        execl(argv[0], argv[0], "closed", (char *)NULL);
        return 127;
    }
    start(&argc, &argv);
    static char out[70000], in[70000];
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    memset(out, rank + 1, sizeof out);
    CHECK_OK(MPI_Sendrecv(out, sizeof out, MPI_CHAR, right, 0, in, sizeof in, MPI_CHAR, left, 0, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
    CHECK_INT(in[0], left + 1);
    CHECK_INT(in[sizeof in - 1], left + 1);
    return end();
}
