/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* "external32": big-endian, sizes of its own (long is 8, wchar 4), and back to the same values. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int i = 0x01020304, j = 0;
    short s = 0x0506, t = 0;
    double x = 1.0, y = 0;
    unsigned char buffer[64];
    static const unsigned char expected[] = { 1, 2, 3, 4, 5, 6, 0x3f, 0xf0, 0, 0, 0, 0, 0, 0 };
    MPI_Aint bytes = -1, position = 0;
    CHECK_OK(MPI_Pack_external_size("external32", 3, MPI_INT, &bytes));
    CHECK_INT(bytes, 12);
    CHECK_OK(MPI_Pack_external_size("external32", 2, MPI_DOUBLE, &bytes));
    CHECK_INT(bytes, 16);
    CHECK_OK(MPI_Pack_external("external32", &i, 1, MPI_INT, buffer, 64, &position));
    CHECK_OK(MPI_Pack_external("external32", &s, 1, MPI_SHORT, buffer, 64, &position));
    CHECK_OK(MPI_Pack_external("external32", &x, 1, MPI_DOUBLE, buffer, 64, &position));
    CHECK_INT(position, 14);
    CHECK_BYTES(buffer, expected, 14);
    position = 0;
    CHECK_OK(MPI_Unpack_external("external32", buffer, 14, &position, &j, 1, MPI_INT));
    CHECK_OK(MPI_Unpack_external("external32", buffer, 14, &position, &t, 1, MPI_SHORT));
    CHECK_OK(MPI_Unpack_external("external32", buffer, 14, &position, &y, 1, MPI_DOUBLE));
    CHECK_INT(j, i);
    CHECK_INT(t, s);
    CHECK(y == x);
    CHECK_INT(position, 14);
    return end();
}
