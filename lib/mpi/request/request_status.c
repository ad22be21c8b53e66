/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Looks at requests without completing them (MPI-4.1 section 3.7.6).
 *
 * A request that failed counts as complete. Looking at it is no error: the error is raised once,
 * when the request is waited for or tested. Calls that return several statuses store the code in
 * them.
 */

#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include "lib/mpi/procedures.h"

/* Stores the status of a request that is complete or inactive. Returns the result of a generalized
 * request's query function, else 0. */
static int look(struct tern_request *request, MPI_Status *status)
{
    if (tern_request_inactive(request)) {
        tern_status_copy(status, &tern_status_empty);
        return 0;
    }
    int error = request->kind->query ? request->kind->query(request) : 0;
    tern_status_copy(status, &request->status);
    return error;
}

/* Does what look() does for element `i` of an array, and sets MPI_ERROR of the status. */
static int look_at(MPI_Request handle, MPI_Status statuses[], int i)
{
    struct tern_request *request = tern_request_of(handle);
    MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
    int error = look(request, status);
    if (status != MPI_STATUS_IGNORE)
        status->MPI_ERROR = tern_error_class(tern_request_inactive(request) ? 0
                                             : error                        ? error
                                                                            : request->error);
    return error;
}

static bool under_way(const struct tern_request *request)
{
    return !tern_request_inactive(request) && !request->complete;
}

int tern_mpi_request_get_status(struct tern_request *request, int *flag, MPI_Status *status)
{
    if (under_way(request))
        tern_lane_poll(request->lane);
    *flag = !under_way(request);
    if (!*flag)
        tern_test_note_request("MPI_Request_get_status", request);
    return *flag ? look(request, status) : 0;
}

/* Returns the first request that is under way, or NULL. */
static struct tern_request *first_under_way(int count, const MPI_Request requests[])
{
    for (int i = 0; i < count; i++)
        if (under_way(tern_request_of(requests[i])))
            return tern_request_of(requests[i]);
    return NULL;
}

int tern_mpi_request_get_status_all(int count, const MPI_Request array_of_requests[], int *flag,
                                    MPI_Status array_of_statuses[])
{
    if (first_under_way(count, array_of_requests))
        tern_lane_poll(tern_requests_lane(count, array_of_requests));
    struct tern_request *first = first_under_way(count, array_of_requests);
    *flag = !first;
    if (first)
        tern_requests_tell_test("MPI_Request_get_status_all", count, array_of_requests, first);
    int error = 0;
    for (int i = 0; i < count && *flag; i++) {
        int query_error = look_at(array_of_requests[i], array_of_statuses, i);
        error = error ? error : query_error;
    }
    return error;
}

/* Returns the index of the first active request that is complete, or -1. Sets *ret_active to true
 * if any request is active. */
static int find_complete(int count, const MPI_Request requests[], bool *ret_active)
{
    *ret_active = false;
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request))
            continue;
        *ret_active = true;
        if (request->complete)
            return i;
    }
    return -1;
}

int tern_mpi_request_get_status_any(int count, const MPI_Request array_of_requests[], int *index,
                                    int *flag, MPI_Status *status)
{
    bool active;
    int i = find_complete(count, array_of_requests, &active);

    if (i < 0 && active) {
        tern_lane_poll(tern_requests_lane(count, array_of_requests));
        i = find_complete(count, array_of_requests, &active);
    }
    *flag = i >= 0 || !active;
    *index = i >= 0 ? i : MPI_UNDEFINED;
    if (!*flag)
        tern_requests_tell_test("MPI_Request_get_status_any", count, array_of_requests, NULL);
    if (i >= 0)
        return look(tern_request_of(array_of_requests[i]), status);
    if (*flag && status != MPI_STATUS_IGNORE)
        *status = tern_status_empty;
    return 0;
}

int tern_mpi_request_get_status_some(int count, const MPI_Request array_of_requests[],
                                     int *outcount, int array_of_indices[],
                                     MPI_Status array_of_statuses[])
{
    bool active;
    int found = 0, error = 0;

    tern_lane_poll(tern_requests_lane(count, array_of_requests));
    find_complete(count, array_of_requests, &active);
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(array_of_requests[i]);
        if (tern_request_inactive(request) || !request->complete)
            continue;
        int query_error = look_at(array_of_requests[i], array_of_statuses, found);
        error = error ? error : query_error;
        array_of_indices[found++] = i;
    }
    *outcount = active ? found : MPI_UNDEFINED;
    if (active && !found)
        tern_requests_tell_test("MPI_Request_get_status_some", count, array_of_requests, NULL);
    return error;
}
