/* SPDX-License-Identifier: BSD-3-Clause */

/* Generalized requests (MPI-4.1 section 13.2): the program itself reports that they are
 * complete. */

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/face.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

struct grequest {
    struct tern_request request;
    MPI_Grequest_query_function *query;
    MPI_Grequest_free_function *free;
    MPI_Grequest_cancel_function *cancel;
    void *extra_state;
    const struct tern_face *face; /* how the functions are called; NULL: from C */
};

static struct grequest *grequest_of(struct tern_request *request)
{
    return (struct grequest *)request;
}

/* Returns the error of a callback. */
static int result(int code, const char *callback)
{
    return tern_error_of_callback(code, "%s of a generalized request", callback);
}

static int query(struct tern_request *request)
{
    struct grequest *grequest = grequest_of(request);
    request->status.MPI_ERROR = MPI_SUCCESS;
    if (!grequest->query)
        return 0;
    return result(grequest->face ? grequest->face->query((tern_face_function *)grequest->query,
                                                         grequest->extra_state, &request->status)
                                 : grequest->query(grequest->extra_state, &request->status),
                  "query_fn");
}

static int cancel(struct tern_request *request)
{
    struct grequest *grequest = grequest_of(request);
    if (!grequest->cancel)
        return 0;
    return result(grequest->face ? grequest->face->cancel((tern_face_function *)grequest->cancel,
                                                          grequest->extra_state, request->complete)
                                 : grequest->cancel(grequest->extra_state, request->complete),
                  "cancel_fn");
}

static int finish(struct tern_request *request)
{
    struct grequest *grequest = grequest_of(request);
    if (!grequest->free)
        return 0;
    return result(grequest->face ? grequest->face->free((tern_face_function *)grequest->free,
                                                        grequest->extra_state)
                                 : grequest->free(grequest->extra_state),
                  "free_fn");
}

static void release(struct tern_request *request)
{
    tern_object_free(&request->obj);
}

static const struct tern_request_kind kind = {.name = "generalized request",
                                              .cancel = cancel,
                                              .release = release,
                                              .query = query,
                                              .finish = finish};

int tern_mpi_grequest_start(MPI_Grequest_query_function *query_fn,
                            MPI_Grequest_free_function *free_fn,
                            MPI_Grequest_cancel_function *cancel_fn, void *extra_state,
                            struct tern_request **ret_request)
{
    struct grequest *grequest = malloc(sizeof *grequest);
    if (!grequest)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    tern_request_init(&grequest->request, &kind, NULL);
    grequest->query = query_fn;
    grequest->free = free_fn;
    grequest->cancel = cancel_fn;
    grequest->extra_state = extra_state;
    grequest->face = tern_face_caller();
    *ret_request = &grequest->request;
    return 0;
}

int tern_mpi_grequest_complete(struct tern_request *request)
{
    if (request->kind != &kind)
        return tern_error(TERN_ERR_REQUEST, "request is a %s; expected one of MPI_Grequest_start",
                          request->kind->name);
    if (request->complete)
        return tern_error(TERN_ERR_REQUEST, "request was completed already");
    struct tern_lane *lane = request->lane;
    int error = 0;
    tern_lane_lock(lane); /* another thread may be freeing the request */
    bool freed = request->on_complete != NULL;
    tern_lane_unlock(lane);
    if (freed) { /* free_fn is called now, and its code is returned */
        error = finish(request);
        grequest_of(request)->free = NULL;
    }
    tern_lane_lock(lane);
    tern_request_complete(request, 0);
    tern_lane_unlock(lane);
    tern_request_release_orphans();
    return error;
}
