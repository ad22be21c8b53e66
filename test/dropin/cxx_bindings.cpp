// SPDX-License-Identifier: BSD-3-Clause

// What an Open MPI C++ program reaches of libmpi_cxx.so.40 beside the C functions: the constructor of communicators,
// freeing a datatype, and a user operation written against the C++ bindings.
#include <mpi.h>
#include <stdio.h>

static void add_elements(const void *in, void *inout, int count, const MPI::Datatype &datatype)
{
    int width = datatype.Get_size() / (int)sizeof(int);
    for (int i = 0; i < count * width; i++) {
        static_cast<int *>(inout)[i] += static_cast<const int *>(in)[i];
    }
}

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    MPI::Intracomm none;
    bool good = static_cast<MPI_Comm>(none) == MPI_COMM_NULL;

    MPI_Datatype made;
    MPI_Type_contiguous(2, MPI_INT, &made);
    MPI_Type_commit(&made);
    MPI::Datatype pair(made);

    MPI::Op add;
    add.Init(add_elements, true);
    int mine[4] = {1, rank, 2, -rank}, sum[4] = {0, 0, 0, 0};
    MPI_Allreduce(mine, sum, 2, pair, add, MPI_COMM_WORLD);
    int ranks = size * (size - 1) / 2;
    good = good && sum[0] == size && sum[1] == ranks && sum[2] == 2 * size && sum[3] == -ranks;

    add.Free();
    pair.Free();
    good = good && static_cast<MPI_Datatype>(pair) == MPI_DATATYPE_NULL;
    if (good) {
        printf("rank %d is right\n", rank);
    }
    MPI_Finalize();
    return !good;
}
