/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8 */
/* A hundred nonblocking collectives on overlapping communicators complete, in whatever order they
 * are waited for. */
#include "check.h"

enum { ROUNDS = 10, KINDS = 10, LENGTH = 300 };

struct slot {
    int in[LENGTH * 8], out[LENGTH * 8];
    MPI_Request request;
};

static struct slot slots[ROUNDS][KINDS];

static MPI_Comm comms[3];

static void begin(struct slot *slot, int kind, MPI_Comm comm, int round)
{
    int me, n, length = round % 2 ? LENGTH : 3;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &n));
    int root = round % n;
    for (int i = 0; i < LENGTH * 8; i++) {
        slot->in[i] = me * 1000 + i + round;
        slot->out[i] = -1;
    }
    MPI_Request *request = &slot->request;
    switch (kind) {
    case 0: CHECK_OK(MPI_Ibarrier(comm, request)); break;
    case 1:
        memcpy(slot->out, slot->in, sizeof slot->in);
        CHECK_OK(MPI_Ibcast(slot->out, length, MPI_INT, root, comm, request));
        break;
    case 2:
        CHECK_OK(MPI_Iallreduce(slot->in, slot->out, length, MPI_INT, MPI_SUM, comm, request));
        break;
    case 3:
        CHECK_OK(MPI_Ireduce(slot->in, slot->out, length, MPI_INT, MPI_MAX, root, comm, request));
        break;
    case 4:
        CHECK_OK(
            MPI_Iallgather(slot->in, length, MPI_INT, slot->out, length, MPI_INT, comm, request));
        break;
    case 5:
        CHECK_OK(
            MPI_Ialltoall(slot->in, length, MPI_INT, slot->out, length, MPI_INT, comm, request));
        break;
    case 6:
        CHECK_OK(MPI_Igather(slot->in, length, MPI_INT, slot->out, length, MPI_INT, root, comm,
                             request));
        break;
    case 7:
        CHECK_OK(MPI_Iscatter(slot->in, length, MPI_INT, slot->out, length, MPI_INT, root, comm,
                              request));
        break;
    case 8:
        CHECK_OK(MPI_Iscan(slot->in, slot->out, length, MPI_INT, MPI_SUM, comm, request));
        break;
    default:
        CHECK_OK(MPI_Ireduce_scatter_block(slot->in, slot->out, length, MPI_INT, MPI_SUM, comm,
                                           request));
    }
}

static void check(struct slot *slot, int kind, MPI_Comm comm, int round)
{
    int me, n, length = round % 2 ? LENGTH : 3;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &n));
    int root = round % n, ranks = n * (n - 1) / 2, below = me * (me + 1) / 2;
    for (int i = 0; i < length; i++) {
        int x = i + round;
        switch (kind) {
        case 0: break;
        case 1: CHECK_INT(slot->out[i], root * 1000 + x); break;
        case 2: CHECK_INT(slot->out[i], ranks * 1000 + n * x); break;
        case 3: CHECK_INT(slot->out[i], me == root ? (n - 1) * 1000 + x : -1); break;
        case 4:
            for (int r = 0; r < n; r++)
                CHECK_INT(slot->out[r * length + i], r * 1000 + x);
            break;
        case 5:
            for (int r = 0; r < n; r++)
                CHECK_INT(slot->out[r * length + i], r * 1000 + me * length + x);
            break;
        case 6:
            for (int r = 0; r < n; r++)
                CHECK_INT(slot->out[r * length + i], me == root ? r * 1000 + x : -1);
            break;
        case 7: CHECK_INT(slot->out[i], root * 1000 + me * length + x); break;
        case 8: CHECK_INT(slot->out[i], below * 1000 + (me + 1) * x); break;
        default: CHECK_INT(slot->out[i], ranks * 1000 + n * (me * length + x));
        }
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    comms[0] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    for (int order = 0; order < 3; order++) {
        for (int round = 0; round < ROUNDS; round++)
            for (int kind = 0; kind < KINDS; kind++)
                begin(&slots[round][kind], kind, comms[(round + kind) % 3], round);
        /* Forwards, backwards, or all over the place, differently on each rank. */
        for (int i = 0; i < ROUNDS * KINDS; i++) {
            int turn = order == 0   ? i
                       : order == 1 ? ROUNDS * KINDS - 1 - i
                                    : (i * 37 + rank * 11) % (ROUNDS * KINDS);
            struct slot *slot = &slots[turn / KINDS][turn % KINDS];
            CHECK_OK(MPI_Wait(&slot->request, MPI_STATUS_IGNORE));
            check(slot, turn % KINDS, comms[(turn / KINDS + turn % KINDS) % 3], turn / KINDS);
        }
    }
    CHECK_OK(MPI_Comm_free(&comms[1]));
    CHECK_OK(MPI_Comm_free(&comms[2]));
    return end();
}
