/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 5; args: 0; long-args: 1; needs: MPI_Op_create_c MPI_Reduce_local_c MPI_Allreduce_c */
/* An operation made by MPI_Op_create_c gets its count as MPI_Count, whichever reduction uses it; one
 * made by MPI_Op_create gets more elements than an int counts in several calls. args: 1: do that. */
#include "check.h"

static long long calls, seen;

static void add_large(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (MPI_Count i = 0; i < *n; i++)
        ((int *) inout)[i] += ((int *) in)[i];
    calls++;
    seen += *n;
}

/* Keeps the left one of {first, last}: associative, not commutative. */
static void join(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    int *a = in, *b = inout;
    (void) type;
    for (MPI_Count i = 0; i < *n; i++)
        b[2 * i] = a[2 * i];
}

static void or_bytes(void *in, void *inout, int *n, MPI_Datatype *type)
{
    CHECK(*type == MPI_BYTE && *n > 0);
    for (int i = 0; i < *n; i++)
        ((char *) inout)[i] |= ((char *) in)[i];
    calls++;
    seen += *n;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Op op;
    int commutes = -1, in[100], out[100];
    for (int i = 0; i < 100; i++)
        in[i] = rank + i;
    CHECK_OK(MPI_Op_create_c(add_large, 1, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, 1);
    CHECK_OK(MPI_Allreduce_c(in, out, 100, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < 100; i++)
        CHECK_INT(out[i], size * (size - 1) / 2 + size * i);
    CHECK_OK(MPI_Scan(in, out, 100, MPI_INT, op, MPI_COMM_WORLD));
    for (int i = 0; i < 100; i++)
        CHECK_INT(out[i], rank * (rank + 1) / 2 + (rank + 1) * i);
    calls = seen = 0;
    CHECK_OK(MPI_Reduce_local(in, out, 100, MPI_INT, op));
    CHECK_INT(seen, 100);
    CHECK_OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);

    MPI_Datatype two;
    int ends[2] = { rank, rank }, all[2] = { -1, -1 };
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &two));
    CHECK_OK(MPI_Type_commit(&two));
    CHECK_OK(MPI_Op_create_c(join, 0, &op));
    CHECK_OK(MPI_Op_commutative(op, &commutes));
    CHECK_INT(commutes, 0);
    CHECK_OK(MPI_Reduce(ends, all, 1, two, op, size - 1, MPI_COMM_WORLD));
    if (rank == size - 1)
        CHECK(all[0] == 0 && all[1] == size - 1);
    CHECK_OK(MPI_Op_free(&op));
    CHECK_OK(MPI_Type_free(&two));

    if (argument(argc, argv, 0) && rank == 0) {
        MPI_Count n = ((MPI_Count) 1 << 31) + 7;
        char *a = allocate((size_t) n), *b = allocate((size_t) n);
        a[0] = a[n - 1] = 5;
        b[n - 1] = 2;
        calls = seen = 0;
        CHECK_OK(MPI_Op_create(or_bytes, 1, &op));
        CHECK_OK(MPI_Reduce_local_c(a, b, n, MPI_BYTE, op));
        CHECK_INT(calls, 2);
        CHECK_INT(seen, n);
        CHECK(b[0] == 5 && b[n - 1] == 7);
        CHECK_OK(MPI_Op_free(&op));
        free(a);
        free(b);
    }
    return end();
}
