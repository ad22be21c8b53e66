/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* On an intercommunicator ranks name the remote group: sends, wildcards, probes, duplicates. */
#include "check.h"

static void exchange(MPI_Comm inter, int upper)
{
    int remote, me;
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_OK(MPI_Comm_rank(inter, &me));
    MPI_Request requests[64];
    int values[64], *large = allocate(50000 * sizeof(int));
    for (int i = 0; i < remote; i++) {
        values[i] = upper * 1000 + me * 10 + i;
        CHECK_OK(MPI_Isend(&values[i], 1, MPI_INT, i, me, inter, &requests[i]));
    }
    for (int i = 0; i < remote; i++) {
        MPI_Status status;
        int got = -1;
        if (i % 2)
            CHECK_OK(MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, inter, &status));
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, i % 2 ? status.MPI_SOURCE : MPI_ANY_SOURCE,
                          MPI_ANY_TAG, inter, &status));
        CHECK_INT(status.MPI_SOURCE, status.MPI_TAG);
        CHECK_INT(got, !upper * 1000 + status.MPI_SOURCE * 10 + me);
    }
    CHECK_OK(MPI_Waitall(remote, requests, MPI_STATUSES_IGNORE));
    /* Nobody's wildcard may meet the large message. */
    CHECK_OK(MPI_Barrier(inter));
    if (me == 0) {
        for (int i = 0; i < 50000; i++)
            large[i] = upper ? 0 : i;
        if (upper)
            CHECK_OK(MPI_Recv(large, 50000, MPI_INT, 0, 99, inter, MPI_STATUS_IGNORE));
        else
            CHECK_OK(MPI_Send(large, 50000, MPI_INT, 0, 99, inter));
        for (int i = 0; i < 50000; i++)
            CHECK_INT(large[i], i);
    }
    free(large);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm local, inter, copy, part;
    int upper = rank >= size / 2, result;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 1, &inter));
    exchange(inter, upper);
    CHECK_OK(MPI_Comm_dup(inter, &copy));
    CHECK_OK(MPI_Comm_compare(inter, copy, &result));
    CHECK_INT(result, MPI_CONGRUENT);
    exchange(copy, upper);
    /* Splitting by colour gives intercommunicators between the groups' like-coloured parts. */
    int me, remote;
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_split(inter, me == 0 ? 0 : MPI_UNDEFINED, 0, &part));
    CHECK((part == MPI_COMM_NULL) == (me != 0));
    if (part != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_remote_size(part, &remote));
        CHECK_INT(remote, 1);
        exchange(part, upper);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_free(&copy));
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return end();
}
