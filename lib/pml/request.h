/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_REQUEST_H
#define TERN_REQUEST_H

/*
 * A request: something started that completes later. Sends, receives, collectives and generalized
 * requests embed one.
 *
 * Life: a persistent request is made inactive; any other is made active. Progress sets `complete`
 * once, after status and error are valid, and calls on_complete. Wait and test report completion
 * and make the request inactive; a request that is not persistent is then released through
 * kind->release. MPI_Request_free on an active request leaves the release to its on_complete.
 */

#include "lib/pml/lane.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tern_request;

/* What the kinds of requests do differently. */
struct tern_request_kind {
    /* "send", "recv", "bcast", ... for messages to the user */
    const char *name;
    /* persistent only: starts the request once more */
    int (*start)(struct tern_request *request);
    /* tries to cancel; the result is in status._cancelled on completion */
    int (*cancel)(struct tern_request *request);
    /* frees the request, which must be inactive */
    void (*release)(struct tern_request *request);
    /* fills the status when completion is reported; NULL: the status is already filled */
    int (*query)(struct tern_request *request);
    /* generalized requests only: the user's last callback, called before release */
    int (*finish)(struct tern_request *request);
    /* records again, by tern_error, why the request failed; NULL: nothing to add */
    void (*explain)(struct tern_request *request);
    /* the user may not free the request while it is in flight */
    bool must_complete;
    /* receives one message, whose length is in the status */
    bool receives;
};

struct tern_request {
    struct tern_object obj;
    const struct tern_request_kind *kind;
    /* completed, so `status` is valid; an inactive request counts as complete */
    _Atomic bool complete;
    bool active;            /* started, and its completion was not reported to the user yet */
    bool persistent;
    /* lib/mpi/request/request_object.c: the request holds references to comm and datatype */
    bool held;
    int error;              /* 0, or TERN_ERR_* / positive MPI code, valid when complete */
    MPI_Status status;      /* MPI_SOURCE, MPI_TAG, _cancelled, _ucount (bytes) */
    /* struct tern_comm whose error handler is called; NULL: MPI_COMM_WORLD's. Not a reference by
     * itself (see `held`) */
    void *comm;
    void *datatype;         /* request_object.c: struct tern_datatype held, or NULL */
    /* what the request is a part of; belongs to the code that set on_complete */
    void *owner;
    /* lane in which the request makes progress; the lane's lock guards all members that the user's
     * calls do not own */
    struct tern_lane *lane;
    /* NULL, or called once at completion with the lane's lock held; from then on the callee owns
     * the request */
    void (*on_complete)(struct tern_request *request);
};

/* Returns the request behind a handle. */
static inline struct tern_request *tern_request_of(MPI_Request request)
{
    return ((struct tern_handle *)request)->state;
}

/* The request of any send that was complete when its procedure returned. Static: any number of
 * users may have it at once. */
extern TERN_OURS struct tern_request tern_request_empty;
extern TERN_OURS const struct tern_request_kind tern_request_static_kind;
/* The `cancel` of requests that are complete from the start: does nothing, returns 0. */
int tern_request_refuse_cancel(struct tern_request *request);

/* Makes the request active and incomplete, with no error and an empty status. For kind->start of a
 * persistent request. */
static inline void tern_request_restart(struct tern_request *request)
{
    atomic_store_explicit(&request->complete, false, memory_order_relaxed);
    request->active = true;
    request->error = 0;
    request->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
}

/* Prepares a fresh request of `kind` and its object: incomplete, active, not persistent, empty
 * status, in lane 0 until the caller names another lane. */
void tern_request_init(struct tern_request *request, const struct tern_request_kind *kind,
                       void *comm);

/* Prepares a request like tern_request_init, in `lane`, but leaves the object and its handle as
 * they are. */
static inline void tern_request_set(struct tern_request *request,
                                    const struct tern_request_kind *kind, void *comm,
                                    struct tern_lane *lane)
{
    request->kind = kind;
    request->persistent = false;
    request->held = false;
    request->comm = comm;
    request->lane = lane;
    request->datatype = NULL;
    request->on_complete = NULL;
    tern_request_restart(request);
}

/* Makes a fresh request persistent: inactive until its kind->start. */
void tern_request_make_persistent(struct tern_request *request);

/* Publishes completion with `error`. Fill in the status before. Progress calls this exactly once
 * per start. */
static inline void tern_request_complete(struct tern_request *request, int error)
{
    void (*on_complete)(struct tern_request *) = request->on_complete;
    struct tern_lane *lane = request->lane;
    request->error = error;
    /* release: a thread that sees `complete` must see status and error. From here on the request
     * may be gone: another thread may wait for `complete` without the lane's lock. */
    atomic_store_explicit(&request->complete, true, memory_order_release);
    if (TERN_UNLIKELY(on_complete != NULL))
        on_complete(request);
    tern_lane_tell(lane);
}

#endif
