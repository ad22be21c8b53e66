/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Items packed one after another arrive as MPI_PACKED or as their types; no room is an error. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    int position = 0, room = 0, bytes, n = 3;
    double x[10], y[10];
    char text[] = "hello", got[6];
    MPI_Datatype odd;
    MPI_Status status;
    CHECK_OK(MPI_Type_vector(5, 1, 2, MPI_DOUBLE, &odd));
    CHECK_OK(MPI_Type_commit(&odd));
    for (int i = 0; i < 10; i++) {
        x[i] = i + rank;
        y[i] = -1;
    }
    CHECK_OK(MPI_Pack_size(1, MPI_INT, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= (int) sizeof(int));
    room += bytes;
    CHECK_OK(MPI_Pack_size(1, odd, MPI_COMM_WORLD, &bytes));
    CHECK(bytes >= 40);
    room += bytes;
    CHECK_OK(MPI_Pack_size(6, MPI_CHAR, MPI_COMM_WORLD, &bytes));
    room += bytes;
    char *out = allocate((size_t) room), *in = allocate((size_t) room);
    CHECK_OK(MPI_Pack(&n, 1, MPI_INT, out, room, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(x, 1, odd, out, room, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Pack(text, 6, MPI_CHAR, out, room, &position, MPI_COMM_WORLD));
    CHECK(position <= room);
    CHECK_OK(MPI_Sendrecv(out, position, MPI_PACKED, to, 1, in, room, MPI_PACKED, from, 1,
                          MPI_COMM_WORLD, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_PACKED, &bytes));
    CHECK_INT(bytes, position);
    position = 0;
    n = 0;
    CHECK_OK(MPI_Unpack(in, bytes, &position, &n, 1, MPI_INT, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(in, bytes, &position, y, 1, odd, MPI_COMM_WORLD));
    CHECK_OK(MPI_Unpack(in, bytes, &position, got, 6, MPI_CHAR, MPI_COMM_WORLD));
    CHECK_INT(position, bytes);
    CHECK_INT(n, 3);
    CHECK_STRING(got, "hello");
    for (int i = 0; i < 10; i++)
        CHECK(y[i] == (i % 2 ? -1 : i + from));

    /* Packed data may be received with the type it was packed from. */
    position = 0;
    CHECK(MPI_Pack(x, 10, MPI_DOUBLE, in, room, &position, MPI_COMM_WORLD) != MPI_SUCCESS);
    char *ten = allocate(200);
    CHECK_OK(MPI_Pack(x, 10, MPI_DOUBLE, ten, 200, &position, MPI_COMM_WORLD));
    CHECK_OK(MPI_Sendrecv(ten, position, MPI_PACKED, to, 2, y, 10, MPI_DOUBLE, from, 2,
                          MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < 10; i++)
        CHECK(y[i] == i + from);
    free(out);
    free(in);
    free(ten);
    CHECK_OK(MPI_Type_free(&odd));
    return end();
}
