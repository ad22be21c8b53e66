/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_btl=shm,self; needs: MPI_T_pvar_handle_alloc */
/* A long message is streamed when its sender waits in a call, also when it has waited so long that it sleeps; from one that does
 * something else it is pulled, where one process may read the other's memory. */
#define _GNU_SOURCE /* process_vm_readv */
#include "counter.h"

#include <signal.h>
#include <sys/uio.h>
#include <time.h>

enum { BYTES = 4 << 20, TRIES = 800, LONG_ENOUGH_US = 20 * 1000, PATIENCE_S = 10 };

static unsigned char *data;
static struct counter pulled;
static int sender_pid;
static sigset_t signals; /* the one that is waited for */

/* Can rank 1 read the sender's memory? */
static int may_pull(void)
{
    struct { void *address; int pid; } sender = {data, (int) getpid()};
    unsigned char byte = 0;
    CHECK_OK(MPI_Bcast(&sender, sizeof sender, MPI_BYTE, 0, MPI_COMM_WORLD));
    sender_pid = sender.pid;
    struct iovec here = {&byte, 1}, there = {sender.address, 1};
    int may = rank == 1 && process_vm_readv(sender.pid, &here, 1, &there, 1, 0) == 1;
    CHECK_OK(MPI_Bcast(&may, 1, MPI_INT, 1, MPI_COMM_WORLD));
    return may;
}

/* Returns the bytes that were pulled of one message. absent: its sender waits for a signal, outside MPI, until it has been received;
 * not for ever, as the receiver may ask for the sender when that is about to leave its last call. */
static long long pass(int absent)
{
    unsigned long long before = counter_read(&pulled);
    char go = 0;
    MPI_Request request;
    int got = !absent;
    if (rank == 0) {
        CHECK_OK(MPI_Isend(data, BYTES, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &request));
        CHECK_OK(MPI_Send(&go, 1, MPI_CHAR, 1, 2, MPI_COMM_WORLD));
        if (absent)
            got = sigtimedwait(&signals, NULL, &(struct timespec){.tv_sec = PATIENCE_S}) > 0;
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        if (!got)
            sigwait(&signals, &got);
    } else {
        CHECK_OK(MPI_Recv(&go, 1, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        usleep(LONG_ENOUGH_US);
        memset(data, 0, BYTES);
        CHECK_OK(MPI_Recv(data, BYTES, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK(data[0] == 5 && data[BYTES - 1] == 5);
        if (absent)
            CHECK_INT(kill(sender_pid, SIGUSR1), 0);
    }
    return (long long) (counter_read(&pulled) - before);
}

/* Passes messages until rank 1 has pulled exactly `bytes` bytes of one message. */
static void find(int absent, long long bytes)
{
    for (int try = 0, found = 0; !found; try++) {
        CHECK(try < TRIES);
        found = pass(absent) == bytes;
        CHECK_OK(MPI_Bcast(&found, 1, MPI_INT, 1, MPI_COMM_WORLD));
    }
}

int main(int argc, char **argv)
{
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    start(&argc, &argv);
    data = allocate(BYTES);
    memset(data, 5, BYTES);
    pulled = counter_open("pml_bytes_pulled", MPI_THREAD_SINGLE);
    /* other programs on these processors may keep the sender in a call, and out of one, now and then */
    if (may_pull())
        find(1, BYTES);
    find(0, 0);
    counter_close(&pulled);
    free(data);
    return end();
}
