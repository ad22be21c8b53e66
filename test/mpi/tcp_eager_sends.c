/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=tcp,self; needs: MPI_T_pvar_handle_alloc */
/* By TCP, messages of up to 64 KiB go at once, those of blocking sends up to 256 KiB, received before or after they have come; up to 1 MiB
 * if the socket takes the message as a whole; longer ones, and synchronous ones beyond 64 KiB, are announced. */
#include "counter.h"

enum { MOST = 1100 * 1024 };

static unsigned char data[MOST];

enum how { SEND, ISEND, SSEND };

static void send_by(enum how how, int bytes)
{
    MPI_Request request;
    fill(data, (size_t) bytes, (unsigned) bytes);
    if (how == SEND)
        CHECK_OK(MPI_Send(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    else if (how == SSEND)
        CHECK_OK(MPI_Ssend(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD));
    else {
        CHECK_OK(MPI_Isend(data, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    }
}

static void receive(int bytes)
{
    memset(data, 0, sizeof data);
    CHECK_OK(MPI_Recv(data, MOST, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_FILLED(data, (size_t) bytes, (unsigned) bytes);
}

static void check_announced(enum how how, int bytes, int announced)
{
    for (int late = 0; late < 2; late++) {
        struct counter counter = counter_open("pml_rendezvous_sent", MPI_THREAD_SINGLE);
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        if (rank == 0)
            send_by(how, bytes);
        else {
            usleep(late ? 3000 : 0);
            receive(bytes);
        }
        if (rank == 0)
            CHECK_INT((int) counter_read(&counter), announced);
        counter_close(&counter);
    }
}

/* Returns how many messages of 1 MiB are announced: none, if the system permits the send buffer that the library asks for (576 KiB). */
static int long_announced(void)
{
    long most = 0;
    FILE *file = fopen("/proc/sys/net/core/wmem_max", "r");
    if (file && fscanf(file, "%ld", &most) != 1)
        most = 0;
    if (file)
        fclose(file);
    return most < 576 * 1024;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    check_announced(ISEND, 1, 0); /* makes the connection */
    check_announced(SEND, 64 * 1024, 0);
    check_announced(SEND, 64 * 1024 + 1, 0);
    check_announced(SEND, 256 * 1024, 0);
    check_announced(SEND, 1024 * 1024, long_announced());
    check_announced(SEND, 1024 * 1024 + 1, 1);
    check_announced(ISEND, 64 * 1024, 0);
    check_announced(ISEND, 64 * 1024 + 1, 1);
    check_announced(SSEND, 64 * 1024, 0);
    check_announced(SSEND, 64 * 1024 + 1, 1);
    return end();
}
