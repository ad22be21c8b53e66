/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* A generalized request: its callbacks run when they should, and its status is what the query callback says. */
#include "check.h"

static int queried, freed, cancelled_when = -1, query_code, free_code, refused;

static int query(void *state, MPI_Status *status)
{
    CHECK_INT(*(int *) state, 42);
    queried++;
    status->MPI_SOURCE = 7;
    status->MPI_TAG = 8;
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, 3));
    CHECK_OK(MPI_Status_set_cancelled(status, cancelled_when >= 0));
    return query_code;
}

static int release(void *state)
{
    CHECK_INT(*(int *) state, 42);
    freed++;
    return free_code;
}

static int cancel(void *state, int complete)
{
    CHECK_INT(*(int *) state, 42);
    cancelled_when = complete;
    return MPI_SUCCESS;
}

/* What the callbacks return is what the call returns that invoked them; of query and free, free's. */
static void check_codes(void *state)
{
    MPI_Request request, requests[3];
    MPI_Status statuses[3];
    CHECK_OK(MPI_Add_error_code(MPI_ERR_OTHER, &refused));
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    int codes[][2] = {{0, 0}, {refused, 0}, {0, refused}, {MPI_ERR_ARG, refused}};
    for (int i = 0; i < 4; i++) {
        query_code = codes[i][0];
        free_code = codes[i][1];
        int expected = free_code ? free_code : query_code;
        CHECK_OK(MPI_Grequest_start(query, release, cancel, state, &request));
        CHECK_OK(MPI_Grequest_complete(request));
        CHECK_INT(MPI_Wait(&request, MPI_STATUS_IGNORE), expected);
        CHECK(request == MPI_REQUEST_NULL);
        for (int k = 0; k < 3; k++) {
            CHECK_OK(MPI_Grequest_start(query, release, cancel, state, &requests[k]));
            CHECK_OK(MPI_Grequest_complete(requests[k]));
        }
        CHECK_CLASS(MPI_Waitall(3, requests, statuses), expected ? MPI_ERR_IN_STATUS : MPI_SUCCESS);
        for (int k = 0; expected && k < 3; k++)
            CHECK_INT(statuses[k].MPI_ERROR, expected);
        CHECK_OK(MPI_Grequest_start(query, release, cancel, state, &request));
        CHECK_OK(MPI_Grequest_complete(request));
        CHECK_INT(MPI_Request_free(&request), free_code);
        CHECK_OK(MPI_Grequest_start(query, release, cancel, state, &request));
        requests[0] = request;
        CHECK_OK(MPI_Request_free(&request));
        CHECK_INT(MPI_Grequest_complete(requests[0]), free_code);
    }
}

int main(int argc, char **argv)
{
    int state = 42, flag, count;
    MPI_Request request, copy;
    MPI_Status status;

    start(&argc, &argv);
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_INT(cancelled_when, 0);
    CHECK_INT(queried, 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_INT(queried, 1);
    CHECK_INT(freed, 0);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(queried, 2);
    CHECK_INT(freed, 1);
    CHECK_INT(status.MPI_SOURCE, 7);
    CHECK_INT(status.MPI_TAG, 8);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 3);
    CHECK_OK(MPI_Test_cancelled(&status, &flag));
    CHECK_INT(flag, 1);

    /* freed by the user before it is complete */
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &state, &request));
    copy = request;
    CHECK_OK(MPI_Request_free(&copy));
    CHECK(copy == MPI_REQUEST_NULL);
    CHECK_INT(freed, 1);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_INT(freed, 2);
    CHECK_INT(queried, 2);
    check_codes(&state);
    return end();
}
