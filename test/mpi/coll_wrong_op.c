/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; needs: MPI_Allreduce_init */
/* An operation on a type that it is not defined for is MPI_ERR_OP: in every collective that has
 * one, blocking, nonblocking and persistent, on intra- and intercommunicators; nobody waits, and
 * the next call works. */
#include "check.h"

enum { WRONG = 4 };

static struct wrong {
    MPI_Op op;
    MPI_Datatype type;
} wrong[WRONG] = {{MPI_MINLOC, MPI_INT},
                  {MPI_BAND, MPI_DOUBLE},
                  {MPI_LOR, MPI_FLOAT_INT},
                  {MPI_SUM, MPI_DATATYPE_NULL}};

static double in[64], out[64];
static int counts[64];

#define REFUSED(Name, name, ...)                                                                   \
    do {                                                                                           \
        MPI_Request request = MPI_REQUEST_NULL;                                                    \
        CHECK_CLASS(MPI_##Name(__VA_ARGS__), MPI_ERR_OP);                                          \
        CHECK_CLASS(MPI_I##name(__VA_ARGS__, &request), MPI_ERR_OP);                               \
        CHECK_CLASS(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &request), MPI_ERR_OP);          \
    } while (0)

static void refused_by_all(struct wrong w, MPI_Comm comm, int inter, int root)
{
    REFUSED(Reduce, reduce, in, out, 1, w.type, w.op, root, comm);
    REFUSED(Allreduce, allreduce, in, out, 1, w.type, w.op, comm);
    REFUSED(Reduce_scatter, reduce_scatter, in, out, counts, w.type, w.op, comm);
    REFUSED(Reduce_scatter_block, reduce_scatter_block, in, out, 1, w.type, w.op, comm);
    CHECK_CLASS(MPI_Reduce_local(in, out, 1, w.type, w.op), MPI_ERR_OP);
    if (inter)
        return;
    REFUSED(Scan, scan, in, out, 1, w.type, w.op, comm);
    REFUSED(Exscan, exscan, in, out, 1, w.type, w.op, comm);
    REFUSED(Allreduce, allreduce, MPI_IN_PLACE, out, 1, w.type, w.op, comm);
}

static void sum_works(MPI_Comm comm, int others)
{
    int one = 1, sum = 0;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, others);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Comm comm, inter;
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &wrong[3].type));
    CHECK_OK(MPI_Type_commit(&wrong[3].type));
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    for (int i = 0; i < size; i++)
        counts[i] = 1;
    for (int i = 0; i < WRONG; i++) {
        refused_by_all(wrong[i], MPI_COMM_WORLD, 0, size - 1);
        sum_works(MPI_COMM_WORLD, size);
    }
    if (size > 1) {
        int second = rank > 0, others = second ? 1 : size - 1;
        CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, second, rank, &comm));
        CHECK_OK(MPI_Intercomm_create(comm, 0, MPI_COMM_WORLD, !second, 5, &inter));
        return_errors(inter);
        for (int i = 0; i < WRONG; i++)
            refused_by_all(wrong[i], inter, 1, second ? 0 : MPI_ROOT);
        sum_works(inter, others);
        CHECK_OK(MPI_Comm_free(&inter));
        CHECK_OK(MPI_Comm_free(&comm));
    }
    CHECK_OK(MPI_Type_free(&wrong[3].type));
    return end();
}
