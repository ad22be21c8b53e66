/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=shm,self; limit: 600; needs: MPI_T_pvar_handle_alloc */
/* Two ranks that send each other long messages in blocking calls stream them: each is busy copying when the other one looks whether
 * it waits in MPI. What is pulled is counted. */
#include "counter.h"

enum { BYTES = 256 << 10, EXCHANGES = 50, TRIES = 2000 };

static unsigned char *sent, *received;
static struct counter pulled;

static void exchange(int number, int collective)
{
    memset(sent, number + rank, 2 * BYTES);
    if (collective)
        CHECK_OK(MPI_Alltoall(sent, BYTES, MPI_BYTE, received, BYTES, MPI_BYTE, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Sendrecv(sent, BYTES, MPI_BYTE, 1 - rank, 1, received + (1 - rank) * BYTES, BYTES, MPI_BYTE, 1 - rank, 1,
                              MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    const unsigned char *from_other = received + (1 - rank) * BYTES;
    CHECK(from_other[0] == (unsigned char)(number + 1 - rank) && memcmp(from_other, from_other + 1, BYTES - 1) == 0);
}

/* Returns the percentage of the bytes that either rank has pulled in a series of exchanges. */
static int share_pulled(int collective)
{
    unsigned long long before = counter_read(&pulled);
    for (int i = 0; i < EXCHANGES; i++)
        exchange(i, collective);
    unsigned long long bytes = counter_read(&pulled) - before, all;
    CHECK_OK(MPI_Allreduce(&bytes, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, MPI_COMM_WORLD));
    return (int)(100 * all / (2ull * BYTES * EXCHANGES));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    sent = allocate(2 * BYTES);
    received = allocate(2 * BYTES);
    pulled = counter_open("pml_bytes_pulled", MPI_THREAD_SINGLE);
    /* other programs on these processors make it pull now and then */
    for (int collective = 0; collective < 2; collective++) {
        int least = 100;
        for (int try = 0; try < TRIES && least > 10; try++) {
            int share = share_pulled(collective);
            if (share < least)
                least = share;
        }
        CHECK(least <= 10);
    }
    counter_close(&pulled);
    free(received);
    free(sent);
    return end();
}
