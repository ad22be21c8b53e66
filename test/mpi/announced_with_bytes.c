/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* First bytes of a long message may go with its announcement (btl->send_head). They count once,
 * whichever way the rest takes: the receive is posted before or after, has room for less than those
 * bytes, for them alone, for less than the message or for more, in one run or in many, and the
 * sender waits in MPI or computes. */
#include "check.h"

enum { MOST = 300000, EDGE = 64 };

static unsigned char out[2 * MOST], in[2 * MOST + EDGE];

/* Where byte `at` of the packed message lies: `gap` 0: in one run, else in pairs with gaps of 2. */
static int place(int at, int gap)
{
    return gap ? at / 2 * 4 + at % 2 : at;
}

/* A type of `bytes` packed bytes. */
static MPI_Datatype type_of(int bytes, int gap)
{
    MPI_Datatype type;
    if (gap)
        CHECK_OK(MPI_Type_vector(bytes / 2, 2, 4, MPI_BYTE, &type));
    else
        CHECK_OK(MPI_Type_contiguous(bytes, MPI_BYTE, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* Computes for about 100 us, so that the peer finds this rank outside of MPI. */
static void compute(void)
{
    for (double end = MPI_Wtime() + 1e-4; MPI_Wtime() < end;)
        ;
}

static void meet(int peer)
{
    CHECK_OK(MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, 2, NULL, 0, MPI_BYTE, peer, 2, MPI_COMM_WORLD,
                          MPI_STATUS_IGNORE));
}

static void send_one(int bytes, int gap, int late, int busy, int salt)
{
    MPI_Datatype type = type_of(bytes, gap);
    MPI_Request request;
    for (int i = 0; i < bytes; i++)
        out[place(i, gap)] = pattern((unsigned) salt, (size_t) i);
    meet(1);
    CHECK_OK(MPI_Isend(out, 1, type, 1, 1, MPI_COMM_WORLD, &request));
    if (late) /* the receive is posted only when this has arrived, so after the announcement */
        CHECK_OK(MPI_Send(NULL, 0, MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    if (busy)
        compute();
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Type_free(&type));
}

static void receive_one(int bytes, int room, int gap, int late, int salt)
{
    MPI_Datatype type = type_of(room, gap);
    MPI_Request request;
    MPI_Status status;
    int got = -1, expected = room < bytes ? room : bytes;
    memset(in, 0xee, sizeof in);
    if (late) {
        meet(0);
        CHECK_OK(MPI_Recv(NULL, 0, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Irecv(in, 1, type, 0, 1, MPI_COMM_WORLD, &request));
    if (!late)
        meet(0);
    CHECK_CLASS(MPI_Wait(&request, &status), room < bytes ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
    CHECK_OK(MPI_Get_count(&status, MPI_BYTE, &got));
    CHECK_INT(got, expected);
    for (int i = 0; i < expected; i++)
        if (in[place(i, gap)] != pattern((unsigned) salt, (size_t) i))
            FAIL("byte %d of %d (room %d, gap %d, late %d): got 0x%02x, expected 0x%02x", i, bytes, room,
                 gap, late, in[place(i, gap)], pattern((unsigned) salt, (size_t) i));
    for (int i = expected; i < expected + EDGE / 4; i++)
        CHECK_INT(in[place(i, gap)], 0xee);
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    static const int sizes[] = { 32766, 32768, 32770, 40000, 65536, 131074, 300000 };
    static const int rooms[] = { 0, 2, 16382, 16384, 16386, 0x7fffffff };
    int salt = 0;
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t r = 0; r < sizeof rooms / sizeof *rooms; r++)
            for (int how = 0; how < 16; how++) {
                int bytes = sizes[s];
                int room = rooms[r] > MOST ? bytes - 2 + (how >> 3) * 4 : rooms[r];
                salt++;
                if (rank == 0)
                    send_one(bytes, how >> 1 & 1, how >> 2 & 1, how & 1, salt);
                else if (rank == 1)
                    receive_one(bytes, room, how >> 1 & 1, how >> 2 & 1, salt);
            }
    return end();
}
