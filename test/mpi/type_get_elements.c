/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* A receive of a part of its type: MPI_Get_count is undefined, MPI_Get_elements counts. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Datatype pair, mixed;
    int lengths[] = { 2, 1 }, to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Aint at[] = { 0, 8 };
    MPI_Datatype types[] = { MPI_INT, MPI_DOUBLE };
    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &pair));
    CHECK_OK(MPI_Type_commit(&pair));
    CHECK_OK(MPI_Type_create_struct(2, lengths, at, types, &mixed));
    CHECK_OK(MPI_Type_commit(&mixed));
    for (int n = 0; n <= 7; n++) {
        int out[7] = { 1, 2, 3, 4, 5, 6, 7 }, in[20], count, elements;
        MPI_Count elements_x;
        MPI_Status status;
        memset(in, 0, sizeof in);
        CHECK_OK(MPI_Sendrecv(out, n, MPI_INT, to, 1, in, 4, pair, from, 1, MPI_COMM_WORLD,
                              &status));
        CHECK_OK(MPI_Get_count(&status, pair, &count));
        CHECK_INT(count, n % 2 ? MPI_UNDEFINED : n / 2);
        CHECK_OK(MPI_Get_elements(&status, pair, &elements));
        CHECK_INT(elements, n);
        CHECK_OK(MPI_Get_elements_x(&status, pair, &elements_x));
        CHECK_INT(elements_x, n);
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, n);
        /* Element k lies at pair k / 2 (extent four ints), member k % 2. */
        for (int k = 0; k < n; k++)
            CHECK_INT(in[k / 2 * 4 + k % 2 * 3], k + 1);
        for (int i = 0; i < 16; i++)
            if (i % 4 == 1 || i % 4 == 2)
                CHECK_INT(in[i], 0);
    }
    /* Members of different size: {int int double}, cut after each member. */
    static const int bytes[] = { 0, 4, 8, 16, 20, 24, 32 }, expected[] = { 0, 1, 2, 3, 4, 5, 6 };
    for (int i = 0; i < 7; i++) {
        char out[32] = { 0 }, in[64];
        int count, elements;
        MPI_Status status;
        CHECK_OK(MPI_Sendrecv(out, bytes[i], MPI_BYTE, to, 1, in, 3, mixed, from, 1, MPI_COMM_WORLD,
                              &status));
        CHECK_OK(MPI_Get_count(&status, mixed, &count));
        CHECK_INT(count, bytes[i] % 16 ? MPI_UNDEFINED : bytes[i] / 16);
        CHECK_OK(MPI_Get_elements(&status, mixed, &elements));
        CHECK_INT(elements, expected[i]);
    }
    CHECK_OK(MPI_Type_free(&pair));
    CHECK_OK(MPI_Type_free(&mixed));
    return end();
}
