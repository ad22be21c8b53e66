/* SPDX-License-Identifier: BSD-3-Clause */
/* An error that belongs to no object goes to MPI_COMM_WORLD's handler, as in MPI-3.1 and in other libraries, or with
 * mpi_compat_mpi3 0 to MPI_COMM_SELF's, as in MPI-4; one that belongs to a communicator never does. */
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/life/raise.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/object/running.h"
#include "suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

static MPI_Comm raised_on;
static int raised_code;

static void note(MPI_Comm *comm, int *code, ...)
{
    raised_on = *comm;
    raised_code = *code;
}

static struct tern_errhandler noting = {.obj.refs = 1, .kind = TERN_ERRHANDLER_COMM, .function.comm = note};

static void set_up(void)
{
    tern_world = TERN_WORLD_RUNNING;
    tern_comm_world.errhandler = tern_comm_self.errhandler = &noting;
    raised_on = MPI_COMM_NULL;
}

START_TEST(errors_without_an_object)
{
    ck_assert_int_eq(tern_raise_on(NULL, "MPI_Type_size", TERN_ERR_TYPE), MPI_ERR_TYPE);
    ck_assert_ptr_eq(raised_on, MPI_COMM_WORLD);
    ck_assert_int_eq(raised_code, MPI_ERR_TYPE);
}
END_TEST

START_TEST(errors_without_an_object_in_mpi_4)
{
    setenv("OMPI_MCA_mpi_compat_mpi3", "0", 1);
    ck_assert_int_eq(tern_raise_on(NULL, "MPI_Type_size", TERN_ERR_TYPE), MPI_ERR_TYPE);
    ck_assert_ptr_eq(raised_on, MPI_COMM_SELF);
}
END_TEST

START_TEST(errors_of_a_communicator)
{
    tern_raise_on(&tern_comm_self.obj, "MPI_Send", TERN_ERR_RANK);
    ck_assert_ptr_eq(raised_on, MPI_COMM_SELF);
    tern_raise_next_on(&tern_comm_self);
    tern_raise_on(NULL, "MPI_Wait", TERN_ERR_TRUNCATE);
    ck_assert_ptr_eq(raised_on, MPI_COMM_SELF);
    tern_raise_on(NULL, "MPI_Wait", TERN_ERR_TRUNCATE); /* named for one error only */
    ck_assert_ptr_eq(raised_on, MPI_COMM_WORLD);
}
END_TEST

START_TEST(errors_while_nothing_runs)
{
    setenv("OMPI_MCA_mpi_initial_errhandler", "mpi_errors_return", 1);
    tern_world = TERN_WORLD_ENDED;
    ck_assert_int_eq(tern_raise_on(NULL, "MPI_Info_delete", TERN_ERR_INFO_NOKEY), MPI_ERR_INFO_NOKEY);
    ck_assert_ptr_eq(raised_on, MPI_COMM_NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("raise");
    TCase *tests = suite_case(suite, "raise");
    tcase_add_checked_fixture(tests, set_up, NULL);
    tcase_add_test(tests, errors_without_an_object);
    tcase_add_test(tests, errors_without_an_object_in_mpi_4);
    tcase_add_test(tests, errors_of_a_communicator);
    tcase_add_test(tests, errors_while_nothing_runs);
    return suite_run(suite);
}
