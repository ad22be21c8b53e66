/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Types that exist but have no data (MPI_REAL2, MPI_INTEGER16, which the Fortran compiler has not,
 * and the old bounds MPI_LB and MPI_UB) are known by name, have size 0, and cannot be sent. */
#include "check.h"

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_SELF);
    return_errors(MPI_COMM_WORLD);
    int found = 0;
    /* Some have names for Fortran programs only. */
    for (int i = 0; i < 75; i++) {
        MPI_Datatype type = MPI_Type_f2c(i), pair;
        char name[MPI_MAX_OBJECT_NAME];
        int bytes, x = 0, length, position = 0;
        if (type == NULL || type == MPI_DATATYPE_NULL)
            continue;
        CHECK_OK(MPI_Type_size(type, &bytes));
        if (bytes > 0)
            continue;
        CHECK_OK(MPI_Type_get_name(type, name, &length));
        CHECK(strcmp(name, "MPI_REAL2") == 0 || strcmp(name, "MPI_INTEGER16") == 0
              || strcmp(name, "MPI_LB") == 0 || strcmp(name, "MPI_UB") == 0);
        found++;
        CHECK_OK(MPI_Type_commit(&type)); /* changes nothing */
        CHECK_CLASS(MPI_Send(&x, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Recv(&x, 1, type, MPI_PROC_NULL, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE),
                    MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Bcast(&x, 1, type, 0, MPI_COMM_SELF), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_Pack(&x, 1, type, &x, 4, &position, MPI_COMM_SELF), MPI_ERR_TYPE);
        /* In another type they are nothing. */
        CHECK_OK(MPI_Type_contiguous(2, type, &pair));
        CHECK_OK(MPI_Type_size(pair, &bytes));
        CHECK_INT(bytes, 0);
        CHECK_OK(MPI_Type_commit(&pair));
        CHECK_OK(MPI_Send(&x, 1, pair, MPI_PROC_NULL, 0, MPI_COMM_SELF));
        CHECK_OK(MPI_Type_free(&pair));
    }
    CHECK_INT(found, 4);
    return end();
}
