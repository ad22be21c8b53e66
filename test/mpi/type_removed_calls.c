/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; libs: -ldl */
/* Datatype procedures that MPI-3.0 removed are still in the library, for programs built long ago: no
 * header declares them without a complaint, so they are called by their symbols. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include "check.h"
#include <dlfcn.h>

#define OLD(name, parameters) \
    int (*name) parameters; \
    *(void **) &name = dlsym(RTLD_DEFAULT, "MPI_" #name); \
    CHECK(name != NULL); \
    CHECK(dlsym(RTLD_DEFAULT, "PMPI_" #name) != NULL)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    OLD(Address, (void *, MPI_Aint *));
    OLD(Type_extent, (MPI_Datatype, MPI_Aint *));
    OLD(Type_lb, (MPI_Datatype, MPI_Aint *));
    OLD(Type_ub, (MPI_Datatype, MPI_Aint *));
    OLD(Type_hvector, (int, int, MPI_Aint, MPI_Datatype, MPI_Datatype *));
    OLD(Type_hindexed, (int, int[], MPI_Aint[], MPI_Datatype, MPI_Datatype *));
    OLD(Type_struct, (int, int[], MPI_Aint[], MPI_Datatype[], MPI_Datatype *));

    struct { char c; double d[2]; int i; } x[2] = { { 'a', { 1, 2 }, 3 }, { 'b', { 4, 5 }, 6 } }, y[2];
    MPI_Aint at[4], base, value;
    int lengths[] = { 1, 2, 1, 1 };
    /* The old bounds: a lower one at 0, an upper one at the end of the structure. */
    MPI_Datatype types[4] = { MPI_CHAR, MPI_DOUBLE, MPI_INT, NULL }, type, other;
    for (int i = 0; i < 75; i++) {
        char name[MPI_MAX_OBJECT_NAME];
        int length;
        MPI_Datatype named = MPI_Type_f2c(i);
        if (named == NULL || named == MPI_DATATYPE_NULL)
            continue;
        CHECK_OK(MPI_Type_get_name(named, name, &length));
        if (strcmp(name, "MPI_UB") == 0)
            types[3] = named;
    }
    CHECK(types[3] != NULL);
    memset(y, 0, sizeof y);
    CHECK_OK(Address(&x[0], &base));
    CHECK_OK(Address(&x[0].c, &at[0]));
    CHECK_OK(Address(&x[0].d, &at[1]));
    CHECK_OK(Address(&x[0].i, &at[2]));
    CHECK_OK(Address(&x[1], &at[3]));
    for (int i = 0; i < 4; i++)
        at[i] -= base;
    CHECK_OK(Type_struct(4, lengths, at, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    CHECK_OK(Type_extent(type, &value));
    CHECK_INT(value, sizeof x[0]);
    CHECK_OK(Type_lb(type, &value));
    CHECK_INT(value, 0);
    CHECK_OK(Type_ub(type, &value));
    CHECK_INT(value, sizeof x[0]);
    CHECK_OK(MPI_Sendrecv(x, 2, type, 0, 1, y, 2, type, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    CHECK(y[1].c == 'b' && y[1].d[0] == 4 && y[1].d[1] == 5 && y[1].i == 6);
    CHECK_OK(MPI_Type_free(&type));

    int ints, addresses, n_types, combiner;
    CHECK_OK(Type_hvector(2, 1, 12, MPI_INT, &type));
    CHECK_OK(MPI_Type_get_envelope(type, &ints, &addresses, &n_types, &combiner));
    CHECK_INT(combiner, MPI_COMBINER_HVECTOR);
    CHECK_OK(Type_extent(type, &value));
    CHECK_INT(value, 16);
    CHECK_OK(Type_hindexed(2, lengths, (MPI_Aint[]) { -8, 8 }, type, &other));
    CHECK_OK(MPI_Type_get_envelope(other, &ints, &addresses, &n_types, &combiner));
    CHECK_INT(combiner, MPI_COMBINER_HINDEXED);
    CHECK_OK(Type_lb(other, &value));
    CHECK_INT(value, -8);
    CHECK_OK(Type_ub(other, &value));
    CHECK_INT(value, 8 + 32);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&other));
    return end();
}
