/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Subarrays of one to four dimensions in both orders agree with picking elements. */
#include "typemap.h"

/* The typemap by its definition: all elements of the subarray in storage order, array bounds. */
static struct typemap map_subarray(int dims, const int sizes[], const int subsizes[],
                                   const int starts[], int order, int bytes)
{
    int total = 1, whole = 1;
    for (int d = 0; d < dims; d++) {
        total *= subsizes[d];
        whole *= sizes[d];
    }
    struct typemap basic = map_basic(bytes);
    int *lengths = allocate((size_t) total * sizeof(int));
    MPI_Aint *at = allocate((size_t) total * sizeof(MPI_Aint));
    for (int i = 0; i < total; i++) {
        int rest = i, stride = 1;
        lengths[i] = 1;
        for (int k = 0; k < dims; k++) {
            /* From the fastest dimension: the last in C, the first in Fortran. */
            int d = order == MPI_ORDER_C ? dims - 1 - k : k;
            at[i] += (MPI_Aint) (starts[d] + rest % subsizes[d]) * stride * bytes;
            rest /= subsizes[d];
            stride *= sizes[d];
        }
    }
    struct typemap m = map_blocks(total, lengths, at, &basic, 1);
    m.lb = 0;
    m.ub = (MPI_Aint) whole * bytes;
    m.fixed_bounds = 1;
    free(lengths);
    free(at);
    map_free(&basic);
    return m;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    uint64_t seed = 5;
    MPI_Datatype basics[] = { MPI_CHAR, MPI_INT, MPI_DOUBLE }, type;
    int bytes[] = { 1, 4, 8 };
    for (int i = 0; i < 200; i++) {
        int dims = 1 + i % 4, b = i % 3, sizes[4], subsizes[4], starts[4];
        int order = i / 4 % 2 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
        for (int d = 0; d < dims; d++) {
            sizes[d] = 1 + random_below(&seed, 7);
            subsizes[d] = i % 5 == 0 ? sizes[d] : 1 + random_below(&seed, sizes[d]);
            starts[d] = random_below(&seed, sizes[d] - subsizes[d] + 1);
        }
        CHECK_OK(MPI_Type_create_subarray(dims, sizes, subsizes, starts, order, basics[b], &type));
        struct typemap m = map_subarray(dims, sizes, subsizes, starts, order, bytes[b]);
        check_and_free(order == MPI_ORDER_C ? "C subarray" : "Fortran subarray", &type, &m);
    }
    return end();
}
