/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5 8; long: 16; args: 1 250; long-args: 5 5000 */
/* A random sequence of collectives on several communicators, drawn from one seed by all ranks and
 * checked against the closed form of each. args: seed, how many. */
#include "check.h"

enum { MOST = 30000, COMMS = 4 };
static int *a, *b;

/* Element i of world rank r's contribution in round k. */
static int value_of(int k, int r, int i)
{
    return (int) ((unsigned) k * 7919u + (unsigned) r * 104729u + (unsigned) i * 31u) >> 3;
}

static void one(int k, int kind, int n, int root, MPI_Comm comm, const int members[], int m)
{
    int me;
    CHECK_OK(MPI_Comm_rank(comm, &me));
    root %= m;
    int total = kind >= 4 && kind <= 8 ? n * m : n;
    for (int i = 0; i < total; i++) {
        a[i] = value_of(k, rank, i);
        b[i] = -1;
    }
    switch (kind) {
    case 0:
        CHECK_OK(MPI_Bcast(a, n, MPI_INT, root, comm));
        for (int i = 0; i < n; i++)
            CHECK_INT(a[i], value_of(k, members[root], i));
        return;
    case 1:
        CHECK_OK(MPI_Reduce(a, b, n, MPI_INT, MPI_BXOR, root, comm));
        break;
    case 2:
        CHECK_OK(MPI_Allreduce(a, b, n, MPI_INT, MPI_BXOR, comm));
        break;
    case 3:
        CHECK_OK(MPI_Scan(a, b, n, MPI_INT, MPI_BXOR, comm));
        break;
    case 4:
        CHECK_OK(MPI_Gather(a, n, MPI_INT, b, n, MPI_INT, root, comm));
        break;
    case 5:
        CHECK_OK(MPI_Allgather(a, n, MPI_INT, b, n, MPI_INT, comm));
        break;
    case 6:
        CHECK_OK(MPI_Scatter(a, n, MPI_INT, b, n, MPI_INT, root, comm));
        break;
    case 7:
        CHECK_OK(MPI_Alltoall(a, n, MPI_INT, b, n, MPI_INT, comm));
        break;
    case 8:
        CHECK_OK(MPI_Reduce_scatter_block(a, b, n, MPI_INT, MPI_BXOR, comm));
        break;
    default:
        CHECK_OK(MPI_Barrier(comm));
        return;
    }
    int filled = kind == 4 || kind == 5 || kind == 7 ? n * m : n;
    int here = (kind != 1 && kind != 4) || me == root;
    for (int i = 0; here && i < filled; i++) {
        int expected = 0, last = kind == 3 ? me + 1 : m;
        switch (kind) {
        case 4: case 5: expected = value_of(k, members[i / n], i % n); break;
        case 6: expected = value_of(k, members[root], me * n + i); break;
        case 7: expected = value_of(k, members[i / n], me * n + i % n); break;
        default:
            for (int r = 0; r < last; r++)
                expected ^= value_of(k, members[r], (kind == 8 ? me * n : 0) + i);
        }
        if (b[i] != expected)
            FAIL("round %d, kind %d, %d elements, %d ranks: element %d: got %d, expected %d", k,
                 kind, n, m, i, b[i], expected);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = (uint64_t) argument(argc, argv, 1);
    int rounds = argc > 2 ? atoi(argv[2]) : 250, members[COMMS][64], counts[COMMS];
    MPI_Comm comms[COMMS];
    a = allocate((size_t) MOST * 64 * sizeof(int));
    b = allocate((size_t) MOST * 64 * sizeof(int));
    for (int c = 0; c < COMMS; c++) {
        /* All, all in reverse, odd and even, lower and upper half. */
        int color = c == 2 ? rank % 2 : c == 3 ? rank >= size / 2 : 0;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, color, c == 1 ? -rank : rank, &comms[c]));
        counts[c] = 0;
        for (int i = 0; i < size; i++) {
            int r = c == 1 ? size - 1 - i : i;
            if ((c == 2 ? r % 2 : c == 3 ? r >= size / 2 : 0) == color)
                members[c][counts[c]++] = r;
        }
    }
    for (int k = 0; k < rounds; k++) {
        int c = random_below(&seed, COMMS), kind = random_below(&seed, 10);
        int n = random_below(&seed, 40), large = random_below(&seed, 12);
        int root = random_below(&seed, size);
        if (large < 3)
            n = n * (large == 0 ? MOST / 40 : 25);
        one(k, kind, n, root, comms[c], members[c], counts[c]);
    }
    for (int c = 0; c < COMMS; c++)
        CHECK_OK(MPI_Comm_free(&comms[c]));
    free(a);
    free(b);
    return end();
}
