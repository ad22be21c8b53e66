/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* MPI_Probe and MPI_Iprobe name source, tag and length of what the receive then gets. */
#include "check.h"

int main(int argc, char **argv)
{
    start_pairs(&argc, &argv);
    static const int sizes[] = { 0, 1, 100, 4096, 65536, 300000 };
    unsigned char *buffer = allocate(300000);
    if (rank != 0) {
        for (int i = 0; i < 6; i++) {
            fill(buffer, sizes[i], rank + i);
            CHECK_OK(MPI_Send(buffer, sizes[i], MPI_BYTE, 0, 10 + i, pair));
        }
    } else {
        for (int i = 0; i < 6 * (size - 1); i++) {
            MPI_Status probed, status;
            int count = -1, flag = 0;
            if (i % 2) {
                CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &probed));
            } else {
                while (!flag)
                    CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &flag,
                                        &probed));
            }
            CHECK_OK(MPI_Get_count(&probed, MPI_BYTE, &count));
            CHECK_INT(count, sizes[probed.MPI_TAG - 10]);
            memset(buffer, 0, 300000);
            CHECK_OK(MPI_Recv(buffer, count, MPI_BYTE, probed.MPI_SOURCE, probed.MPI_TAG,
                              pair, &status));
            CHECK_INT(status.MPI_SOURCE, probed.MPI_SOURCE);
            CHECK_INT(status.MPI_TAG, probed.MPI_TAG);
            CHECK_FILLED(buffer, (size_t) count, status.MPI_SOURCE + status.MPI_TAG - 10);
        }
        int flag = 1;
        CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, pair, &flag,
                            MPI_STATUS_IGNORE));
        CHECK_INT(flag, 0);
    }
    free(buffer);
    return end();
}
