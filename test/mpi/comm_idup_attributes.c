/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3; needs: MPI_Comm_idup */
/* Attributes are copied in the call of MPI_Comm_idup: what changes later is not seen. A copy callback that fails makes the
 * call fail on its rank and leaves the others in peace; what was copied until then is deleted again. */
#include "check.h"

static int copies, deletes;

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *copied, int *flag)
{
    (void)comm, (void)keyval;
    copies++;
    if (state && *(int *)state == rank)
        return MPI_ERR_OTHER;
    *(void **)copied = (char *)value + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)value, (void)state;
    deletes++;
    return MPI_SUCCESS;
}

static char cells[10];

static void *attribute(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? value : NULL;
}

int main(int argc, char **argv)
{
    MPI_Comm original, twin = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int kept, failing, unlucky;
    start(&argc, &argv);
    unlucky = size - 1;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &original));
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &kept, NULL));
    CHECK_OK(MPI_Comm_set_attr(original, kept, &cells[2]));
    CHECK_OK(MPI_Comm_idup(original, &twin, &request));
    CHECK_INT(copies, 1);
    CHECK_OK(MPI_Comm_set_attr(original, kept, &cells[5]));
    CHECK_INT(deletes, 1);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_INT(copies, 1);
    CHECK(attribute(twin, kept) == &cells[3]);
    CHECK(attribute(original, kept) == &cells[5]);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_INT(deletes, 2);

    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &failing, &unlucky));
    CHECK_OK(MPI_Comm_set_attr(original, failing, &cells[7]));
    return_errors(original);
    int code = MPI_Comm_idup(original, &twin, &request);
    if (rank == unlucky) {
        CHECK_CLASS(code, MPI_ERR_OTHER);
        CHECK_INT(deletes, 3); /* of the first attribute's copy */
    } else {
        CHECK_OK(code);
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        CHECK(attribute(twin, failing) == &cells[8]);
        CHECK_OK(MPI_Comm_free(&twin));
        CHECK_INT(deletes, 4);
    }
    CHECK_OK(MPI_Barrier(original));
    CHECK_OK(MPI_Comm_free(&original));
    CHECK_INT(deletes, rank == unlucky ? 5 : 6);
    CHECK_OK(MPI_Comm_free_keyval(&kept));
    CHECK_OK(MPI_Comm_free_keyval(&failing));
    return end();
}
