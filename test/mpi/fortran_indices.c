/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Fortran integers of handles: fixed for predefined ones, given once to others, small, and free again with the object. */
#include "check.h"

enum { REQUESTS = 10 };

int main(int argc, char **argv)
{
    MPI_Request requests[REQUESTS];
    MPI_Fint indices[REQUESTS], largest = 0;
    MPI_Comm comm;
    MPI_Status status, back;
    MPI_Fint fortran_status[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    int in[REQUESTS];

    start(&argc, &argv);
    CHECK_INT(MPI_Comm_c2f(MPI_COMM_WORLD), 0);
    CHECK_INT(MPI_Comm_c2f(MPI_COMM_SELF), 1);
    CHECK_INT(MPI_Comm_c2f(MPI_COMM_NULL), 2);
    CHECK(MPI_Comm_f2c(2) == MPI_COMM_NULL);
    CHECK_INT(MPI_Request_c2f(MPI_REQUEST_NULL), 0);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_DOUBLE)) == MPI_DOUBLE);
    CHECK(MPI_Op_f2c(MPI_Op_c2f(MPI_MAXLOC)) == MPI_MAXLOC);
    CHECK(MPI_Op_f2c(12345) == NULL);
    CHECK(MPI_Op_f2c(-1) == NULL);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    MPI_Fint index = MPI_Comm_c2f(comm);
    CHECK(index > 2);
    CHECK_INT(MPI_Comm_c2f(comm), index);
    CHECK(MPI_Comm_f2c(index) == comm);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK(MPI_Comm_f2c(index) == NULL);

    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < REQUESTS; i++) {
            CHECK_OK(MPI_Irecv(&in[i], 1, MPI_INT, 0, i, MPI_COMM_SELF, &requests[i]));
            indices[i] = MPI_Request_c2f(requests[i]);
            CHECK(MPI_Request_f2c(indices[i]) == requests[i]);
            for (int j = 0; j < i; j++)
                CHECK(indices[j] != indices[i]);
            largest = indices[i] > largest ? indices[i] : largest;
            CHECK_OK(MPI_Cancel(&requests[i]));
        }
        CHECK_OK(MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < REQUESTS; i++)
            CHECK(MPI_Request_f2c(indices[i]) == NULL);
    }
    CHECK(largest < 2 * REQUESTS);

    memset(&status, 0, sizeof status);
    status.MPI_SOURCE = 3;
    status.MPI_TAG = 4;
    CHECK_OK(MPI_Status_set_elements(&status, MPI_INT, 5));
    CHECK_OK(MPI_Status_c2f(&status, fortran_status));
    CHECK_INT(fortran_status[0], 3);
    CHECK_INT(fortran_status[1], 4);
    CHECK_OK(MPI_Status_f2c(fortran_status, &back));
    CHECK_BYTES(&back, &status, sizeof status);
    return end();
}
