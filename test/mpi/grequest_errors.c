/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* What a callback of a generalized request returns is returned by the call that invoked it: the
 * free callback's code by wait, test and MPI_Request_free, or in the status of calls that report
 * several. */
#include "check.h"

static int query_code, free_code, cancel_code;

static int query(void *state, MPI_Status *status)
{
    (void)state;
    CHECK_OK(MPI_Status_set_elements(status, MPI_BYTE, 0));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return query_code;
}

static int release(void *state)
{
    (void)state;
    return free_code;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return cancel_code;
}

static MPI_Request complete_one(int code_of_query, int code_of_free)
{
    MPI_Request request;
    query_code = code_of_query;
    free_code = code_of_free;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, NULL, &request));
    CHECK_OK(MPI_Grequest_complete(request));
    return request;
}

int main(int argc, char **argv)
{
    int flag, index, mine, x;
    MPI_Request request, list[2];
    MPI_Status statuses[2];
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_OK(MPI_Add_error_class(&mine));

    request = complete_one(MPI_SUCCESS, mine);
    CHECK_INT(MPI_Wait(&request, MPI_STATUS_IGNORE), mine);
    CHECK(request == MPI_REQUEST_NULL);
    request = complete_one(MPI_ERR_OTHER, mine); /* the last callback's */
    CHECK_INT(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), mine);
    CHECK(request == MPI_REQUEST_NULL);
    request = complete_one(mine, MPI_SUCCESS);
    CHECK_INT(MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE), mine);
    query_code = MPI_SUCCESS;
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    request = complete_one(MPI_SUCCESS, mine);
    CHECK_INT(MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE), mine);
    CHECK_INT(index, 0);
    request = complete_one(MPI_SUCCESS, mine);
    CHECK_INT(MPI_Request_free(&request), mine);
    CHECK(request == MPI_REQUEST_NULL);

    list[0] = complete_one(MPI_SUCCESS, mine);
    CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &list[1]));
    CHECK_OK(MPI_Send(&flag, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    CHECK_CLASS(MPI_Waitall(2, list, statuses), MPI_ERR_IN_STATUS);
    CHECK_INT(statuses[0].MPI_ERROR, mine);
    CHECK_INT(statuses[1].MPI_ERROR, MPI_SUCCESS);

    free_code = MPI_SUCCESS;
    cancel_code = mine;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, NULL, &request));
    CHECK_INT(MPI_Cancel(&request), mine);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    /* Only one of MPI_Grequest_start can be completed so, and only once. */
    CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &request));
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    request = complete_one(MPI_SUCCESS, MPI_SUCCESS);
    CHECK_CLASS(MPI_Grequest_complete(request), MPI_ERR_REQUEST);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    return end();
}
