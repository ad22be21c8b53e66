/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_REQUEST_H
#define TERN_MPI_REQUEST_H

/* What lib/mpi adds to requests (lib/pml/request.h): references, statuses, requests that are
 * complete from the start. */

#include "lib/mpi/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/pml/request.h"

/*
 * An active request keeps its communicator and datatype alive, for the user may free both
 * meanwhile. tern_request_hold is for a request just started: it does nothing when that is complete
 * already, so an eager send pays nothing; except when it failed, for then the communicator is asked
 * for its error handler later. A persistent request holds always. The references go when the
 * request is reported or freed. datatype may be NULL.
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

/* Null and inactive requests count as complete, with an empty status. */
static inline bool tern_request_inactive(const struct tern_request *request)
{
    return !request || !request->active;
}

/* The status of nothing: source MPI_ANY_SOURCE, tag MPI_ANY_TAG, 0 bytes. */
extern const MPI_Status tern_status_empty;
/* That of a receive from MPI_PROC_NULL. */
extern const MPI_Status tern_status_proc_null;

/* Copies all but MPI_ERROR, which only calls that complete several requests set; `to` may be
 * MPI_STATUS_IGNORE. */
static inline void tern_status_copy(MPI_Status *to, const MPI_Status *from)
{
    if (to == MPI_STATUS_IGNORE)
        return;
    int error = to->MPI_ERROR;
    *to = *from;
    to->MPI_ERROR = error;
}

/* A receive from MPI_PROC_NULL; static, like tern_request_empty, which is a send to it. */
extern struct tern_request tern_request_no_message;
/* A persistent request that is complete as soon as it is started, with `status`. */
int tern_request_new_idle(struct tern_comm *comm, const MPI_Status *status,
                          struct tern_request **ret_request);

/* The lane of those requests that are under way; NULL: there are several, or only one lane. */
struct tern_lane *tern_requests_lane(int count, const MPI_Request requests[]);

/* Releases the requests that were freed while active and are complete. With no lane in hand. */
void tern_request_release_orphans(void);
/* For MPI_Finalize: progresses until the requests that were freed while active are complete, and
 * frees what they held. */
void tern_request_finish_orphans(void);

#endif
