/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 4 5 8; long: 16; needs: MPI_Comm_idup_with_info */
/* MPI_Comm_idup returns without the others, several may be under way on one communicator, they are finished by any kind
 * of waiting, and each gives a communicator of its own, on inter- and intracommunicators. */
#include "check.h"

enum { MANY = 20 };

static void check_apart(MPI_Comm comms[], int count, MPI_Comm like)
{
    for (int i = 0; i < count; i++) {
        int relation;
        CHECK_OK(MPI_Comm_compare(comms[i], like, &relation));
        CHECK_INT(relation, MPI_CONGRUENT);
    }
    /* A message sent on one is received on that one, whatever the order of receiving. */
    int peers, me, out[MANY];
    MPI_Request sends[MANY];
    int inter;
    CHECK_OK(MPI_Comm_test_inter(like, &inter));
    CHECK_OK(inter ? MPI_Comm_remote_size(like, &peers) : MPI_Comm_size(like, &peers));
    CHECK_OK(MPI_Comm_rank(like, &me));
    for (int i = 0; i < count; i++) {
        out[i] = 1000 * i + me;
        CHECK_OK(MPI_Isend(&out[i], 1, MPI_INT, me % peers, 3, comms[i], &sends[i]));
    }
    for (int i = count - 1; i >= 0; i--)
        for (int from = 0; from < size; from++) {
            int in = -1, theirs;
            /* who sends to me: those whose rank is mine modulo the number of those they reach */
            CHECK_OK(inter ? MPI_Comm_size(like, &theirs) : MPI_Comm_size(like, &theirs));
            if (from >= peers || from % theirs != me)
                continue;
            CHECK_OK(MPI_Recv(&in, 1, MPI_INT, from, 3, comms[i], MPI_STATUS_IGNORE));
            CHECK_INT(in, 1000 * i + from);
        }
    CHECK_OK(MPI_Waitall(count, sends, MPI_STATUSES_IGNORE));
}

static void several(MPI_Comm comm)
{
    MPI_Comm comms[MANY];
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Comm_idup(comm, &comms[i], &requests[i]));
    /* other collectives may come in between */
    CHECK_OK(MPI_Barrier(comm));
    for (int i = 0; i < MANY / 2; i++) {
        int flag = 0;
        while (!flag)
            CHECK_OK(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
        CHECK(requests[i] == MPI_REQUEST_NULL);
    }
    CHECK_OK(MPI_Waitall(MANY / 2, requests + MANY / 2, MPI_STATUSES_IGNORE));
    check_apart(comms, MANY, comm);
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
}

/* Nobody waits in the call: rank 0 comes only after all others have told it that they are through with theirs. */
static void does_not_block(void)
{
    MPI_Comm first, second;
    MPI_Request requests[2];
    int token = 7, index;
    for (int i = 1; rank == 0 && i < size; i++)
        CHECK_OK(MPI_Recv(&token, 1, MPI_INT, i, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &first, &requests[0]));
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &second, &requests[1]));
    if (rank > 0)
        CHECK_OK(MPI_Send(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE));
    check_apart((MPI_Comm[]){first, second}, 2, MPI_COMM_WORLD);
    CHECK_OK(MPI_Comm_free(&first));
    CHECK_OK(MPI_Comm_free(&second));
}

/* The one who is through at once sends on the new communicator while others have not even begun. */
static void early_messages(void)
{
    MPI_Comm comm;
    MPI_Request request;
    int in = -1;
    CHECK_OK(MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request));
    if (rank == 0) {
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        for (int to = 1; to < size; to++) {
            CHECK_OK(MPI_Send(&to, 1, MPI_INT, to, 5, comm));
            CHECK_OK(MPI_Send(&to, 1, MPI_INT, to, 5, MPI_COMM_WORLD));
        }
    } else {
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        in = -1;
        CHECK_OK(MPI_Recv(&in, 1, MPI_INT, 0, 5, comm, MPI_STATUS_IGNORE));
        CHECK_INT(in, rank);
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

/* The original may be freed while its duplicate is under way. */
static void original_freed(void)
{
    MPI_Comm original, twin;
    MPI_Request request;
    int sum = 0, one = 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &original));
    CHECK_OK(MPI_Comm_idup(original, &twin, &request));
    CHECK_OK(MPI_Comm_free(&original));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, twin));
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Comm_free(&twin));
}

int main(int argc, char **argv)
{
    MPI_Comm half, inter;
    start(&argc, &argv);
    several(MPI_COMM_WORLD);
    several(MPI_COMM_SELF);
    does_not_block();
    early_messages();
    original_freed();
    if (size > 1) {
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &half));
        CHECK_OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 9, &inter));
        several(inter);
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Comm_free(&half));
    }
    return end();
}
