/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; needs: MPI_Status_c2f08 MPI_Status_get_source */
/* A status keeps its fields, count and cancellation on every way between C, mpif.h and mpi_f08;
 * ignored ones are refused. Fields can be read and written by procedures. */
#include "check.h"

static void check_all(const MPI_Status *status)
{
    int source = 0, tag = 0, error = 0, count = 0, cancelled = 0;
    CHECK_OK(MPI_Status_get_source(status, &source));
    CHECK_OK(MPI_Status_get_tag(status, &tag));
    CHECK_OK(MPI_Status_get_error(status, &error));
    CHECK_INT(source, 11);
    CHECK_INT(tag, 12);
    CHECK_INT(error, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Get_count(status, MPI_DOUBLE, &count));
    CHECK_INT(count, 1000000007);
    CHECK_OK(MPI_Test_cancelled(status, &cancelled));
    CHECK_INT(cancelled, 1);
}

int main(int argc, char **argv)
{
    MPI_Status status, back;
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_F08_status f08, other;

    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    memset(&status, 0, sizeof status);
    CHECK_OK(MPI_Status_set_source(&status, 11));
    CHECK_OK(MPI_Status_set_tag(&status, 12));
    CHECK_OK(MPI_Status_set_error(&status, MPI_ERR_TRUNCATE));
    CHECK_OK(MPI_Status_set_elements(&status, MPI_DOUBLE, 1000000007));
    CHECK_OK(MPI_Status_set_cancelled(&status, 1));
    CHECK_INT(status.MPI_SOURCE, 11);
    CHECK_INT(status.MPI_TAG, 12);
    CHECK_INT(status.MPI_ERROR, MPI_ERR_TRUNCATE);
    check_all(&status);

    memset(&back, 0, sizeof back);
    memset(f, 0, sizeof f);
    memset(&f08, 0, sizeof f08);
    memset(&other, 0, sizeof other);
    CHECK_OK(MPI_Status_c2f08(&status, &f08));
    CHECK_INT(f08.MPI_SOURCE, 11);
    CHECK_INT(f08.MPI_TAG, 12);
    CHECK_INT(f08.MPI_ERROR, MPI_ERR_TRUNCATE);
    CHECK_OK(MPI_Status_f082f(&f08, f));
    CHECK_OK(MPI_Status_f2f08(f, &other));
    CHECK_OK(MPI_Status_f082c(&other, &back));
    check_all(&back);
    memset(&back, 0, sizeof back);
    memset(f, 0, sizeof f);
    CHECK_OK(MPI_Status_c2f(&status, f));
    CHECK_OK(MPI_Status_f2c(f, &back));
    check_all(&back);

    CHECK_CLASS(MPI_Status_f082c(MPI_F08_STATUS_IGNORE, &back), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f082c(MPI_F08_STATUSES_IGNORE, &back), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f082f(MPI_F08_STATUS_IGNORE, f), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f2f08(MPI_F_STATUS_IGNORE, &f08), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_f2c(MPI_F_STATUSES_IGNORE, &back), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_c2f(MPI_STATUS_IGNORE, f), MPI_ERR_ARG);
    CHECK_CLASS(MPI_Status_c2f08(MPI_STATUS_IGNORE, &f08), MPI_ERR_ARG);
    check_all(&back);
    return end();
}
