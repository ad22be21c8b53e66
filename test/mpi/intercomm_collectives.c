/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 6 */
/* Collectives on an intercommunicator move data between the groups, roots named by MPI_ROOT. */
#include "check.h"

static MPI_Comm inter;
static int upper, me, ours, theirs;

static void rooted(int root_upper, int root)
{
    int value[64], many[64], expected = 0;
    int i_am = upper == root_upper, where = i_am ? (me == root ? MPI_ROOT : MPI_PROC_NULL) : root;
    /* broadcast: from one rank of a group to all of the other */
    value[0] = i_am && me == root ? 77 + root : -1;
    CHECK_OK(MPI_Bcast(value, 1, MPI_INT, where, inter));
    CHECK_INT(value[0], i_am && me != root ? -1 : 77 + root);
    /* reduce: the other group's sum arrives at the root */
    value[0] = me + 1;
    many[0] = -1;
    CHECK_OK(MPI_Reduce(value, many, 1, MPI_INT, MPI_SUM, where, inter));
    CHECK_INT(many[0], where == MPI_ROOT ? theirs * (theirs + 1) / 2 : -1);
    /* gather and scatter */
    value[0] = 100 + me;
    for (int i = 0; i < theirs; i++)
        many[i] = -1;
    CHECK_OK(MPI_Gather(value, 1, MPI_INT, many, 1, MPI_INT, where, inter));
    for (int i = 0; i < theirs; i++)
        CHECK_INT(many[i], where == MPI_ROOT ? 100 + i : -1);
    for (int i = 0; i < theirs; i++)
        many[i] = 200 + i;
    value[0] = -1;
    CHECK_OK(MPI_Scatter(many, 1, MPI_INT, value, 1, MPI_INT, where, inter));
    expected = i_am ? -1 : 200 + me;
    CHECK_INT(value[0], expected);
}

static void all(void)
{
    int value[64], many[64], counts[64], places[64];
    CHECK_OK(MPI_Barrier(inter));
    value[0] = me + 1 + upper * 100;
    CHECK_OK(MPI_Allreduce(value, many, 1, MPI_INT, MPI_SUM, inter));
    CHECK_INT(many[0], theirs * (theirs + 1) / 2 + !upper * 100 * theirs);
    CHECK_OK(MPI_Allgather(value, 1, MPI_INT, many, 1, MPI_INT, inter));
    for (int i = 0; i < theirs; i++)
        CHECK_INT(many[i], i + 1 + !upper * 100);
    for (int i = 0; i < theirs; i++) {
        counts[i] = 1;
        places[i] = theirs - 1 - i;
    }
    CHECK_OK(MPI_Allgatherv(value, 1, MPI_INT, many, counts, places, MPI_INT, inter));
    for (int i = 0; i < theirs; i++)
        CHECK_INT(many[theirs - 1 - i], i + 1 + !upper * 100);
    for (int i = 0; i < theirs; i++)
        value[i] = me * 10 + i + upper * 100;
    CHECK_OK(MPI_Alltoall(value, 1, MPI_INT, many, 1, MPI_INT, inter));
    for (int i = 0; i < theirs; i++)
        CHECK_INT(many[i], i * 10 + me + !upper * 100);
    /* Both groups reduce ours * theirs elements; each rank gets its share of the other's sum. */
    for (int i = 0; i < ours * theirs; i++)
        value[i] = i + me;
    CHECK_OK(MPI_Reduce_scatter_block(value, many, theirs, MPI_INT, MPI_SUM, inter));
    for (int i = 0; i < theirs; i++)
        CHECK_INT(many[i], (me * theirs + i) * theirs + theirs * (theirs - 1) / 2);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm local;
    upper = rank >= size / 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 1, &inter));
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_size(inter, &ours));
    CHECK_OK(MPI_Comm_remote_size(inter, &theirs));
    for (int root_upper = 0; root_upper < 2; root_upper++)
        for (int root = 0; root < (root_upper == upper ? ours : theirs); root++)
            rooted(root_upper, root);
    all();
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return end();
}
