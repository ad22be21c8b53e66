/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_REQUEST_H
#define TERN_REQUEST_H

/*
 * A request: something started that completes later. Sends, receives, collectives and generalized
 * requests embed one.
 *
 * Life: made with `active` false (persistent) or started at once (active true). Progress sets
 * `complete` once, after status and error are valid, and calls on_complete. Wait and test report it
 * and make it inactive; a request that is not persistent is then released through kind->release.
 * MPI_Request_free on an active one leaves that to its on_complete.
 */

#include "lib/pml/lane.h"
#include "lib/util/handle.h"

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>

struct tern_request;

struct tern_request_kind {
    /* "send", "recv", "bcast", ... for messages to people */
    const char *name;
    int (*start)(struct tern_request *request);           /* persistent only: start once more */
    /* try; the result shows in status._cancelled on completion */
    int (*cancel)(struct tern_request *request);
    void (*release)(struct tern_request *request);        /* frees it; not active any more */
    /* fills status when it is reported; NULL: that is done */
    int (*query)(struct tern_request *request);
    /* generalized only, beside query: its last callback, before release */
    int (*finish)(struct tern_request *request);
    /* says once more, by tern_error, why it has failed; NULL: nothing to add */
    void (*explain)(struct tern_request *request);
    /* the user may not free it while it is under way */
    bool must_complete;
    /* one message, whose length its status tells */
    bool receives;
};

struct tern_request {
    struct tern_object obj;
    const struct tern_request_kind *kind;
    _Atomic bool complete;  /* status is valid; inactive requests count as complete */
    bool active;            /* started, and completion not reported to the user yet */
    bool persistent;
    bool held;              /* lib/mpi/request_object.c: references to comm and datatype are held */
    int error;              /* 0, or TERN_ERR_* / positive MPI code, valid when complete */
    MPI_Status status;      /* MPI_SOURCE, MPI_TAG, _cancelled, _ucount (bytes) */
    /* struct tern_comm whose error handler is called; NULL: MPI_COMM_WORLD's. Holds no reference by
     * itself */
    void *comm;
    void *datatype;         /* lib/mpi/request_object.c: struct tern_datatype held, or NULL */
    void *owner;            /* whoever set on_complete: what this is a part of */
    struct tern_lane *lane; /* where it makes progress; its lock guards what is not the user's */
    /* NULL, or called once at completion, with the lane's lock; the request is its own then */
    void (*on_complete)(struct tern_request *request);
};

static inline struct tern_request *tern_request_of(MPI_Request request)
{
    return ((struct tern_handle *)request)->state;
}

/* A send that was complete when its procedure returned. Static, for any number of users at the same
 * time. */
extern TERN_OURS struct tern_request tern_request_empty;
extern TERN_OURS const struct tern_request_kind tern_request_static_kind;
/* A kind's `cancel` for what is complete from the start: nothing to take back, no error. */
int tern_request_refuse_cancel(struct tern_request *request);

/* For kind->start of a persistent one: active, incomplete, no error, empty status. */
static inline void tern_request_restart(struct tern_request *request)
{
    atomic_store_explicit(&request->complete, false, memory_order_relaxed);
    request->active = true;
    request->error = 0;
    request->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
}

/* Prepares a fresh request of `kind`: incomplete, active, not persistent, empty status, in lane 0
 * until the caller names another. */
void tern_request_init(struct tern_request *request, const struct tern_request_kind *kind,
                       void *comm);

/* The same but for the object and its handle, and in that lane. */
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

/* Called by progress exactly once per start: publishes completion with `error` (status is filled in
 * before). */
static inline void tern_request_complete(struct tern_request *request, int error)
{
    void (*on_complete)(struct tern_request *) = request->on_complete;
    struct tern_lane *lane = request->lane;
    request->error = error;
    /* release: whoever sees it complete sees status and error. From here on it may be gone: another
     * thread waits for just this, without the lane's lock. */
    atomic_store_explicit(&request->complete, true, memory_order_release);
    if (TERN_UNLIKELY(on_complete != NULL))
        on_complete(request);
    tern_lane_tell(lane);
}

#endif
