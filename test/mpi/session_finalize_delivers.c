/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5; args: 3000; needs: MPI_Session_init */
/* MPI_Session_finalize is not collective: who has sent, freed its requests and left has delivered everything, however much
 * it was, also to a rank that receives it only later. */
#include "check.h"

enum { BYTES = 1000, LARGE = 300000 };

static void send_all(MPI_Comm comm, int to, int count)
{
    static unsigned char out[BYTES], large[LARGE];
    static char memory[LARGE + BYTES + MPI_BSEND_OVERHEAD];
    MPI_Request request;
    memset(large, 9, sizeof large);
    CHECK_OK(MPI_Isend(large, LARGE, MPI_BYTE, to, 2, comm, &request));
    CHECK_OK(MPI_Request_free(&request));
    CHECK_OK(MPI_Buffer_attach(memory, sizeof memory)); /* the end of MPI takes it away */
    CHECK_OK(MPI_Bsend(large, LARGE, MPI_BYTE, to, 3, comm));
    for (int i = 0; i < count; i++) {
        memset(out, i, sizeof out);
        CHECK_OK(MPI_Send(out, BYTES, MPI_BYTE, to, 1, comm));
    }
}

static void receive_all(MPI_Comm comm, int from, int count)
{
    static unsigned char in[BYTES], large[LARGE];
    for (int tag = 2; tag < 4; tag++) {
        memset(large, 0, sizeof large);
        CHECK_OK(MPI_Recv(large, LARGE, MPI_BYTE, from, tag, comm, MPI_STATUS_IGNORE));
        CHECK_INT(large[LARGE - 1], 9);
    }
    usleep(100000);
    for (int i = 0; i < count; i++) {
        CHECK_OK(MPI_Recv(in, BYTES, MPI_BYTE, from, 1, comm, MPI_STATUS_IGNORE));
        CHECK_INT(in[0], (unsigned char)i);
        CHECK_INT(in[BYTES - 1], (unsigned char)i);
    }
}

/* With `world` the sender leaves by MPI_Finalize after its session, the receiver receives only after MPI_Finalize. */
static void leave_early(int count, int world)
{
    MPI_Session session;
    MPI_Group all;
    MPI_Comm comm;
    if (world)
        CHECK_OK(MPI_Init(NULL, NULL));
    CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session));
    CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
    CHECK_OK(MPI_Comm_create_from_group(all, "delivers", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm));
    CHECK_OK(MPI_Comm_rank(comm, &rank));
    CHECK_OK(MPI_Comm_size(comm, &size));
    if (rank > 0) {
        send_all(comm, 0, count);
    } else {
        if (world)
            CHECK_OK(MPI_Finalize());
        usleep(100000); /* so that they want to leave before anything is received; and again before the rest */
        for (int from = size - 1; from > 0; from--)
            receive_all(comm, from, count);
    }
    CHECK_OK(MPI_Group_free(&all));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Session_finalize(&session));
    if (world && rank > 0)
        CHECK_OK(MPI_Finalize());
}

int main(int argc, char **argv)
{
    int count = argc > 1 ? atoi(argv[1]) : 3000;
    leave_early(count, 0);
    leave_early(count, 1);
    return 0;
}
