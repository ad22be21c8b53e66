/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Contiguous, vector and hvector types of basic types agree with their typemaps. */
#include "typemap.h"

int main(int argc, char **argv)
{
    static const struct { int count, length, stride; } cases[] = {
        { 1, 1, 1 }, { 4, 1, 1 }, { 4, 1, 2 }, { 4, 3, 3 }, { 5, 2, 7 }, { 3, 2, -4 }, { 7, 1, -1 },
        { 0, 3, 5 }, { 4, 0, 5 }, { 1, 5, 100 }, { 1, 5, -100 }, { 3, 2, 0 }, { 100, 1, 3 },
        { 33, 9, 10 },
    };
    start(&argc, &argv);
    MPI_Datatype basics[] = { MPI_CHAR, MPI_SHORT, MPI_INT, MPI_DOUBLE }, type;
    int sizes[] = { 1, 2, 4, 8 };
    for (int b = 0; b < 4; b++) {
        struct typemap basic = map_basic(sizes[b]), m;
        for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            int count = cases[i].count, length = cases[i].length, stride = cases[i].stride;
            int overlap = count > 1 && length > 0 && abs(stride) < length;
            char name[100];
            snprintf(name, sizeof name, "vector(%d, %d, %d) of %d bytes", count, length, stride,
                     sizes[b]);
            CHECK_OK(MPI_Type_vector(count, length, stride, basics[b], &type));
            m = map_vector(count, length, (MPI_Aint) stride * sizes[b], &basic);
            if (overlap) {
                check_bounds(name, type, &m);
                CHECK_OK(MPI_Type_free(&type));
                map_free(&m);
            } else {
                check_and_free(name, &type, &m);
            }
            /* Byte strides need not be a multiple of the type. */
            MPI_Aint bytes = (MPI_Aint) stride * sizes[b] * 2;
            if (overlap)
                continue;
            snprintf(name, sizeof name, "hvector(%d, %d, %ld)", count, length, (long) bytes);
            CHECK_OK(MPI_Type_create_hvector(count, length, bytes, basics[b], &type));
            m = map_vector(count, length, bytes, &basic);
            check_and_free(name, &type, &m);
        }
        for (int n = 0; n < 40; n = 2 * n + 1) {
            CHECK_OK(MPI_Type_contiguous(n, basics[b], &type));
            m = map_vector(1, n, 0, &basic);
            check_and_free("contiguous", &type, &m);
        }
        map_free(&basic);
    }
    return end();
}
