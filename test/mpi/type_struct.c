/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Structs match what the compiler lays out, padding included, and can be sent as arrays. */
#include "typemap.h"
#include <stddef.h>

struct record { char tag; double x; int n; char name[5]; short s; };

static MPI_Datatype record_type(void)
{
    int lengths[] = { 1, 1, 1, 5, 1 };
    MPI_Aint at[] = { offsetof(struct record, tag), offsetof(struct record, x),
                      offsetof(struct record, n), offsetof(struct record, name),
                      offsetof(struct record, s) };
    MPI_Datatype types[] = { MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_CHAR, MPI_SHORT }, type;
    CHECK_OK(MPI_Type_create_struct(5, lengths, at, types, &type));
    struct typemap children[] = { map_basic(1), map_basic(8), map_basic(4), map_basic(1),
                                  map_basic(2) };
    struct typemap m = map_blocks(5, lengths, at, children, 0);
    CHECK_OK(MPI_Type_commit(&type));
    check_bounds("record", type, &m);
    CHECK_INT(m.ub, sizeof(struct record));
    for (int count = 0; count < 5; count++)
        check_type("record", type, &m, count);
    map_free(&m);
    for (int i = 0; i < 5; i++)
        map_free(&children[i]);
    return type;
}

int main(int argc, char **argv)
{
    enum { N = 5000 };
    start(&argc, &argv);
    MPI_Datatype type = record_type(), empty, again;
    struct record *records = allocate(N * sizeof *records);
    if (rank == 0)
        for (int i = 0; i < N; i++)
            records[i] = (struct record) { (char) i, i * 0.5, i * 3, "abcd", (short) -i };
    if (size > 1 && rank == 0)
        CHECK_OK(MPI_Send(records, N, type, 1, 1, MPI_COMM_WORLD));
    if (size > 1 && rank == 1)
        CHECK_OK(MPI_Recv(records, N, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    for (int i = 0; i < N; i++) {
        CHECK_INT(records[i].tag, (char) i);
        CHECK(records[i].x == i * 0.5);
        CHECK_INT(records[i].n, i * 3);
        CHECK_STRING(records[i].name, "abcd");
        CHECK_INT(records[i].s, (short) -i);
    }
    /* A struct of structs, blocks out of order; and a struct of nothing. */
    int lengths[] = { 2, 0, 1 }, bytes = -1;
    MPI_Aint at[] = { 160, 8, 0 };
    MPI_Datatype types[] = { type, MPI_INT, MPI_CHAR };
    CHECK_OK(MPI_Type_create_struct(3, lengths, at, types, &again));
    CHECK_OK(MPI_Type_size(again, &bytes));
    CHECK_INT(bytes, 2 * (1 + 8 + 4 + 5 + 2) + 1);
    CHECK_OK(MPI_Type_create_struct(0, lengths, at, types, &empty));
    CHECK_OK(MPI_Type_commit(&empty));
    CHECK_OK(MPI_Type_size(empty, &bytes));
    CHECK_INT(bytes, 0);
    CHECK_OK(MPI_Type_free(&empty));
    CHECK_OK(MPI_Type_free(&again));
    CHECK_OK(MPI_Type_free(&type));
    free(records);
    return end();
}
