/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; needs: MPI_Comm_idup_with_info */
/* What MPI_Comm_get_info says of the promises of a program; MPI_Comm_dup does not copy them, MPI_Comm_dup_with_info and
 * MPI_Comm_idup_with_info set them; values other than true and false, and unknown hints, are ignored. A receive with a
 * wildcard that was promised not to be used is an error on that communicator only. */
#include "check.h"

static const char *const keys[] = {"mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length",
                                   "mpi_assert_allow_overtaking", "mpi_assert_strict_start_ordering"};
enum { KEYS = sizeof keys / sizeof *keys };

static void check_hint(MPI_Comm comm, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL] = "";
    int flag;
    CHECK_OK(MPI_Comm_get_info(comm, &info));
    CHECK_OK(MPI_Info_get(info, key, sizeof value - 1, value, &flag));
    CHECK_INT(flag, expected != NULL);
    if (expected)
        CHECK(strcmp(value, expected) == 0);
    CHECK_OK(MPI_Info_free(&info));
}

static void set_hint(MPI_Comm comm, const char *key, const char *value)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, key, value));
    CHECK_OK(MPI_Comm_set_info(comm, info));
    CHECK_OK(MPI_Info_free(&info));
}

static void wildcards(void)
{
    MPI_Comm comm;
    MPI_Request request;
    MPI_Message message;
    int in = -1, flag, out = rank;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    return_errors(comm);
    set_hint(comm, "mpi_assert_no_any_source", "true");
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, &request), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Improbe(MPI_ANY_SOURCE, 0, comm, &flag, &message, MPI_STATUS_IGNORE), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, MPI_ANY_SOURCE, 0, comm, MPI_STATUS_IGNORE),
                MPI_ERR_RANK);
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE));
    CHECK_INT(in, rank);
    set_hint(comm, "mpi_assert_no_any_tag", "true");
    CHECK_CLASS(MPI_Recv(&in, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    CHECK_CLASS(MPI_Sendrecv(&out, 1, MPI_INT, rank, 0, &in, 1, MPI_INT, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE),
                MPI_ERR_TAG);
    CHECK_CLASS(MPI_Sendrecv_replace(&out, 1, MPI_INT, rank, 0, rank, MPI_ANY_TAG, comm, MPI_STATUS_IGNORE), MPI_ERR_TAG);
    CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, rank, 4, &in, 1, MPI_INT, rank, 4, comm, MPI_STATUS_IGNORE));
    /* taken back; and never true of other communicators */
    set_hint(comm, "mpi_assert_no_any_source", "false");
    set_hint(comm, "mpi_assert_no_any_tag", "false");
    for (int i = 0; i < 2; i++) {
        MPI_Comm other = i ? MPI_COMM_WORLD : comm;
        CHECK_OK(MPI_Sendrecv(&out, 1, MPI_INT, rank, 4, &in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, other,
                              MPI_STATUS_IGNORE));
    }
    CHECK_OK(MPI_Comm_free(&comm));
}

int main(int argc, char **argv)
{
    MPI_Info info;
    MPI_Comm with, without, started;
    MPI_Request request;
    start(&argc, &argv);
    for (int i = 0; i < KEYS; i++) {
        check_hint(MPI_COMM_WORLD, keys[i], "false");
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, keys[i], "true"));
        CHECK_OK(MPI_Info_set(info, "no_such_hint", "true"));
        CHECK_OK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &with));
        CHECK_OK(MPI_Comm_idup_with_info(MPI_COMM_WORLD, info, &started, &request));
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Comm_dup(with, &without));
        for (int k = 0; k < KEYS; k++) {
            check_hint(with, keys[k], k == i ? "true" : "false");
            check_hint(started, keys[k], k == i ? "true" : "false");
            check_hint(without, keys[k], "false");
        }
        check_hint(with, "no_such_hint", NULL);
        set_hint(with, keys[i], "maybe");
        check_hint(with, keys[i], "true");
        set_hint(with, keys[(i + 1) % KEYS], "true"); /* those not named stay */
        check_hint(with, keys[i], "true");
        set_hint(with, keys[i], "false");
        check_hint(with, keys[i], "false");
        CHECK_OK(MPI_Comm_free(&with));
        CHECK_OK(MPI_Comm_free(&without));
        CHECK_OK(MPI_Comm_free(&started));
    }
    wildcards();
    return end();
}
