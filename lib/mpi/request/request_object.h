/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_REQUEST_OBJECT_H
#define TERN_MPI_REQUEST_OBJECT_H

/* What lib/mpi adds to requests (lib/pml/request.h): references, statuses, and requests that are
 * complete from the start. */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/pml/request.h"

/*
 * Keep the communicator and the datatype alive while a request is active, because the user may free
 * both meanwhile. `datatype` may be NULL. The references are dropped when the request is reported
 * complete or freed.
 *
 * tern_request_hold is for a request that was just started. It does nothing if the request is
 * already complete, so an eager send pays nothing. A request that failed takes the references all
 * the same, because the communicator's error handler is needed later. tern_request_hold_always is
 * for persistent requests.
 */
static inline void tern_request_hold_always(struct tern_request *request, struct tern_comm *comm,
                                            struct tern_datatype *datatype)
{
    tern_comm_retain(comm);
    if (datatype && datatype->predefined)
        datatype = NULL;
    if (datatype)
        tern_datatype_retain(datatype);
    request->comm = comm;
    request->datatype = datatype;
    request->held = true;
}

static inline void tern_request_hold(struct tern_request *request, struct tern_comm *comm,
                                     struct tern_datatype *datatype)
{
    if (!request->complete || request->error)
        tern_request_hold_always(request, comm, datatype);
}

/* What lib/mpi/check does with the requests at check_level full. */
struct tern_request_checks {
    /* Checks the buffers of a persistent request before it is started. Returns 0 or
     * TERN_ERR_BUFFER, as tern_check_buffers does. */
    int (*started)(struct tern_request *request);
    /* Gives the buffers of a completed or freed request back to the user. Returns 0,
     * TERN_ERR_BUFFER if the user has changed the bytes of a send while the request was active, or
     * TERN_ERR_COUNT if a received message breaks the hint mpi_assert_exact_length. */
    int (*done)(struct tern_request *request, bool freed);
};
/* Set before the level can be full. */
extern const struct tern_request_checks *tern_request_checks;

/* Returns true if the request is null or inactive. Such a request counts as complete, with an empty
 * status. */
static inline bool tern_request_inactive(const struct tern_request *request)
{
    return !request || !request->active;
}

/* The empty status: source MPI_ANY_SOURCE, tag MPI_ANY_TAG, 0 bytes. */
extern const MPI_Status tern_status_empty;
/* The status of a receive from MPI_PROC_NULL. */
extern const MPI_Status tern_status_proc_null;

/* Copies a status except MPI_ERROR, which only calls that complete several requests set. `to` may
 * be MPI_STATUS_IGNORE. */
static inline void tern_status_copy(MPI_Status *to, const MPI_Status *from)
{
    if (to == MPI_STATUS_IGNORE)
        return;
    int error = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = error;
}

/* The request of a receive from MPI_PROC_NULL. Static, like tern_request_empty, the request of a
 * send to MPI_PROC_NULL. */
extern struct tern_request tern_request_no_message;
/* Makes a persistent request that completes as soon as it is started, with `status`. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_request_new_idle(struct tern_comm *comm, const MPI_Status *status,
                          struct tern_request **ret_request);

/* Returns the lane of those requests that are under way. Returns NULL if they have several lanes,
 * or if there is only one lane. */
struct tern_lane *tern_requests_lane(int count, const MPI_Request requests[]);
/* Tells of a test of several requests that has found nothing, if it is time for it
 * (tern_test_tell). `all`: the first one that is not complete, if all must be; else NULL. */
void tern_requests_tell_test(const char *procedure, int count, const MPI_Request requests[],
                             struct tern_request *all);

/* Releases the requests that the user freed while they were active and that are complete now. Hold
 * no lane. */
void tern_request_release_orphans(void);
/* Waits until all requests that the user freed while they were active are complete, and drops their
 * references. Called by MPI_Finalize. Blocks. */
void tern_request_finish_orphans(void);

#endif
