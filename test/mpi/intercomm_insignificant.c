/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4; needs: MPI_Bcast_init */
/* Rooted collectives on an intercommunicator look at no argument that is not significant: the root
 * sends nothing to itself, the others of its group take no part, and only the root receives. */
#include "check.h"

enum form { BLOCKING, NONBLOCKING, PERSISTENT, FORMS };
enum { N = 3, RANKS = 4 };

/* Whoever looks at these crashes or refuses them. */
void *no_buffer = (void *)16;
int *no_ints = (int *)16;
#define NO_COUNT (-1)
#define NO_TYPE MPI_DATATYPE_NULL
#define NO_OP MPI_OP_NULL

static MPI_Comm inter;
static int ours, theirs, me;
static enum form form;
static MPI_Request request;
static int out[RANKS * N], in[RANKS * N];

static void finish(void)
{
    if (form == BLOCKING)
        return;
    if (form == PERSISTENT)
        CHECK_OK(MPI_Start(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (form == PERSISTENT)
        CHECK_OK(MPI_Request_free(&request));
}

/* The call in the form of this round. */
#define CALL(name, lower, ...) \
    do { \
        if (form == BLOCKING) \
            CHECK_OK(MPI_##name(__VA_ARGS__, inter)); \
        else if (form == NONBLOCKING) \
            CHECK_OK(MPI_I##lower(__VA_ARGS__, inter, &request)); \
        else \
            CHECK_OK(MPI_##name##_init(__VA_ARGS__, inter, MPI_INFO_NULL, &request)); \
        finish(); \
    } while (0)

static void of_the_root(const int counts[], const int places[])
{
    CALL(Bcast, bcast, out, N, MPI_INT, MPI_ROOT);
    CALL(Scatter, scatter, out, N, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, MPI_ROOT);
    CALL(Scatterv, scatterv, out, counts, places, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, MPI_ROOT);
    CALL(Scatter, scatter, out, N, MPI_INT, MPI_IN_PLACE, NO_COUNT, NO_TYPE, MPI_ROOT);
    CALL(Gather, gather, MPI_IN_PLACE, NO_COUNT, NO_TYPE, in, N, MPI_INT, MPI_ROOT);
    CALL(Gather, gather, no_buffer, NO_COUNT, NO_TYPE, in, N, MPI_INT, MPI_ROOT);
    CALL(Gatherv, gatherv, no_buffer, NO_COUNT, NO_TYPE, in, counts, places, MPI_INT, MPI_ROOT);
    for (int i = 0; i < theirs * N; i++)
        CHECK_INT(in[i], i);
    CALL(Reduce, reduce, no_buffer, in, N, MPI_INT, MPI_MAX, MPI_ROOT);
    CHECK_INT(in[0], (theirs - 1) * N);
    in[0] = -1;
    CALL(Reduce, reduce, in, in, N, MPI_INT, MPI_MIN, MPI_ROOT); /* no overlap */
    CHECK_INT(in[0], 0);
    CALL(Reduce, reduce, MPI_IN_PLACE, in, N, MPI_INT, MPI_MAX, MPI_ROOT);
    CHECK_INT(in[0], (theirs - 1) * N);
}

static void beside_the_root(void)
{
    CALL(Bcast, bcast, no_buffer, NO_COUNT, NO_TYPE, MPI_PROC_NULL);
    CALL(Scatter, scatter, no_buffer, NO_COUNT, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE,
         MPI_PROC_NULL);
    CALL(Scatterv, scatterv, no_buffer, no_ints, no_ints, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE,
         MPI_PROC_NULL);
    CALL(Scatter, scatter, no_buffer, NO_COUNT, NO_TYPE, MPI_IN_PLACE, NO_COUNT, NO_TYPE,
         MPI_PROC_NULL);
    for (int i = 0; i < 2; i++)
        CALL(Gather, gather, MPI_IN_PLACE, NO_COUNT, NO_TYPE, no_buffer, NO_COUNT, NO_TYPE,
             MPI_PROC_NULL);
    CALL(Gatherv, gatherv, no_buffer, NO_COUNT, NO_TYPE, no_buffer, no_ints, no_ints, NO_TYPE,
         MPI_PROC_NULL);
    for (int i = 0; i < 3; i++)
        CALL(Reduce, reduce, no_buffer, no_buffer, NO_COUNT, NO_TYPE, NO_OP, MPI_PROC_NULL);
}

static void of_the_other_group(int root)
{
    int mine[N];
    CALL(Bcast, bcast, in, N, MPI_INT, root);
    CHECK_INT(in[N - 1], N - 1);
    CALL(Scatter, scatter, no_buffer, NO_COUNT, NO_TYPE, in, N, MPI_INT, root);
    CHECK_INT(in[0], me * N);
    in[0] = -1;
    CALL(Scatterv, scatterv, no_buffer, no_ints, no_ints, NO_TYPE, in, N, MPI_INT, root);
    CHECK_INT(in[0], me * N);
    in[0] = -1;
    CALL(Scatter, scatter, in, N, MPI_INT, in, N, MPI_INT, root); /* no overlap */
    CHECK_INT(in[0], me * N);
    for (int i = 0; i < N; i++)
        mine[i] = me * N + i;
    CALL(Gather, gather, mine, N, MPI_INT, mine, N, MPI_INT, root); /* no overlap */
    CALL(Gather, gather, mine, N, MPI_INT, no_buffer, NO_COUNT, NO_TYPE, root);
    CALL(Gatherv, gatherv, mine, N, MPI_INT, no_buffer, no_ints, no_ints, NO_TYPE, root);
    CALL(Reduce, reduce, mine, no_buffer, N, MPI_INT, MPI_MAX, root);
    CALL(Reduce, reduce, mine, mine, N, MPI_INT, MPI_MIN, root); /* no overlap */
    CALL(Reduce, reduce, mine, no_buffer, N, MPI_INT, MPI_MAX, root);
}

/* One of the upper ranks is the root, which the lower ranks send to and receive from. */
static void with_root(int upper, int root, const int counts[], const int places[])
{
    for (form = BLOCKING; form < FORMS; form++)
        if (!upper)
            of_the_other_group(root);
        else if (me == root)
            of_the_root(counts, places);
        else
            beside_the_root();
}

int main(int argc, char **argv)
{
    int upper, counts[RANKS], places[RANKS];
    MPI_Comm local;
    start(&argc, &argv);
    upper = rank >= size / 2;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &local));
    CHECK_OK(MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, upper ? 0 : size / 2, 1, &inter));
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_size(inter, &ours));
    CHECK_OK(MPI_Comm_remote_size(inter, &theirs));
    for (int i = 0; i < RANKS; i++) {
        counts[i] = N;
        places[i] = i * N;
    }
    for (int i = 0; i < RANKS * N; i++)
        out[i] = i;
    for (int root = 0; root < (upper ? ours : theirs); root++)
        with_root(upper, root, counts, places);
    CHECK_OK(MPI_Comm_free(&inter));
    CHECK_OK(MPI_Comm_free(&local));
    return end();
}
