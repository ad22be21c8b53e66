/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 8; long: 4 6 7 9 16; needs: MPI_Bcast_init */
/* A hundred nonblocking collectives on overlapping communicators complete, in whatever order they
 * are waited for: one by one, all at once, whichever comes first, or polled. So do as many persistent
 * ones, which each rank starts, and lets go of, in its own order. */
#include "check.h"

enum { ROUNDS = 10, KINDS = 10, ALL = ROUNDS * KINDS, LENGTH = 300, MOST_RANKS = 16 };
enum order { FORWARDS, BACKWARDS, MIXED, AT_RANDOM, WAITALL, WAITANY, WAITSOME, TESTSOME, TESTANY, ORDERS };

struct slot {
    int in[LENGTH * MOST_RANKS], out[LENGTH * MOST_RANKS];
    MPI_Request request;
};

static struct slot slots[ROUNDS][KINDS];

static MPI_Comm comms[3];

#define CALL(Name, name, ...) \
    CHECK_OK(persistent ? MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, request) : MPI_I##name(__VA_ARGS__, request))

static void begin(struct slot *slot, int kind, MPI_Comm comm, int round, int persistent)
{
    int me, n, length = round % 2 ? LENGTH : 3;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    CHECK_OK(MPI_Comm_size(comm, &n));
    int root = round % n;
    for (int i = 0; i < LENGTH * MOST_RANKS; i++) {
        slot->in[i] = me * 1000 + i + round;
        slot->out[i] = -1;
    }
    MPI_Request *request = &slot->request;
    switch (kind) {
    case 0: CALL(Barrier, barrier, comm); break;
    case 1:
        memcpy(slot->out, slot->in, sizeof slot->in);
        CALL(Bcast, bcast, slot->out, length, MPI_INT, root, comm);
        break;
    case 2:
        CALL(Allreduce, allreduce, slot->in, slot->out, length, MPI_INT, MPI_SUM, comm);
        break;
    case 3:
        CALL(Reduce, reduce, slot->in, slot->out, length, MPI_INT, MPI_MAX, root, comm);
        break;
    case 4:
        CALL(Allgather, allgather, slot->in, length, MPI_INT, slot->out, length, MPI_INT, comm);
        break;
    case 5:
        CALL(Alltoall, alltoall, slot->in, length, MPI_INT, slot->out, length, MPI_INT, comm);
        break;
    case 6:
        CALL(Gather, gather, slot->in, length, MPI_INT, slot->out, length, MPI_INT, root, comm);
        break;
    case 7:
        CALL(Scatter, scatter, slot->in, length, MPI_INT, slot->out, length, MPI_INT, root, comm);
        break;
    case 8:
        CALL(Scan, scan, slot->in, slot->out, length, MPI_INT, MPI_SUM, comm);
        break;
    default:
        CALL(Reduce_scatter_block, reduce_scatter_block, slot->in, slot->out, length, MPI_INT, MPI_SUM, comm);
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

static void check_one(int turn)
{
    int round = turn / KINDS, kind = turn % KINDS;
    check(&slots[round][kind], kind, comms[(round + kind) % 3], round);
}

static void wait_one_by_one(enum order order, MPI_Request *requests, uint64_t *random)
{
    int turns[ALL];
    for (int i = 0; i < ALL; i++) {
        int j = order == AT_RANDOM ? random_below(random, i + 1) : i;
        turns[i] = turns[j];
        turns[j] = order == BACKWARDS ? ALL - 1 - i : order == MIXED ? (i * 37 + rank * 11) % ALL : i;
    }
    for (int i = 0; i < ALL; i++) {
        CHECK_OK(MPI_Wait(&requests[turns[i]], MPI_STATUS_IGNORE));
        check_one(turns[i]);
    }
}

static void wait_as_they_come(enum order order, MPI_Request *requests, int persistent)
{
    int done[ALL], count, flag;
    for (int left = ALL; left; left -= count) {
        count = 1;
        switch (order) {
        case WAITANY: CHECK_OK(MPI_Waitany(ALL, requests, &done[0], MPI_STATUS_IGNORE)); break;
        case WAITSOME: CHECK_OK(MPI_Waitsome(ALL, requests, &count, done, MPI_STATUSES_IGNORE)); break;
        case TESTSOME: CHECK_OK(MPI_Testsome(ALL, requests, &count, done, MPI_STATUSES_IGNORE)); break;
        default:
            CHECK_OK(MPI_Testany(ALL, requests, &done[0], &flag, MPI_STATUS_IGNORE));
            count = flag;
        }
        CHECK(count != MPI_UNDEFINED);
        for (int i = 0; i < count; i++) {
            CHECK(done[i] >= 0 && done[i] < ALL && (persistent || requests[done[i]] == MPI_REQUEST_NULL));
            check_one(done[i]);
        }
    }
}

/* Does it to all of them, in an order of this rank's own. */
static void each(int (*what)(MPI_Request *), MPI_Request *requests, uint64_t *random)
{
    int turns[ALL];
    for (int i = 0; i < ALL; i++) {
        int j = random_below(random, i + 1);
        turns[i] = turns[j];
        turns[j] = i;
    }
    for (int i = 0; i < ALL; i++)
        CHECK_OK(what(&requests[turns[i]]));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t random = (uint64_t)rank + 1;
    MPI_Request requests[ALL];
    comms[0] = MPI_COMM_WORLD;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comms[1]));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]));
    /* Each rank waits in another way, and in the end all in the same one. */
    for (int again = 0; again < 2 * ORDERS; again++) {
        enum order order = (enum order)((again + (again < ORDERS ? rank : 0)) % ORDERS);
        int persistent = again % 2;
        for (int i = 0; i < ALL; i++) {
            int round = i / KINDS, kind = i % KINDS;
            begin(&slots[round][kind], kind, comms[(round + kind) % 3], round, persistent);
            requests[i] = slots[round][kind].request;
        }
        if (persistent)
            each(MPI_Start, requests, &random);
        if (order < WAITALL)
            wait_one_by_one(order, requests, &random);
        else if (order == WAITALL) {
            CHECK_OK(MPI_Waitall(ALL, requests, MPI_STATUSES_IGNORE));
            for (int i = 0; i < ALL; i++)
                check_one(i);
        } else
            wait_as_they_come(order, requests, persistent);
        if (persistent)
            each(MPI_Request_free, requests, &random);
    }
    CHECK_OK(MPI_Comm_free(&comms[1]));
    CHECK_OK(MPI_Comm_free(&comms[2]));
    return end();
}
