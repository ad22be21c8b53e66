/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/pml_request.h"

#include <stdlib.h>

int tern_request_refuse_cancel(struct tern_request *request)
{
    (void)request; /* too late: it is complete */
    return 0;
}

/* Not even a flag may be written: others use it at the same time. */
static void keep_static(struct tern_request *request)
{
    (void)request;
}

const struct tern_request_kind tern_request_static_kind = {
    .name = "request complete from the start",
    .cancel = tern_request_refuse_cancel,
    .release = keep_static,
};

struct tern_request tern_request_empty = {
    .obj = {.handle = (struct tern_handle *)&ompi_request_empty, .refs = 1},
    .kind = &tern_request_static_kind,
    .lane = tern_lanes,
    .complete = true,
    .active = true,
    .status = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG},
};

void tern_request_init(struct tern_request *request, const struct tern_request_kind *kind,
                       void *comm)
{
    tern_object_init(&request->obj, TERN_MAGIC_REQUEST);
    request->kind = kind;
    request->persistent = false;
    request->held = false;
    request->comm = comm;
    request->lane = tern_lanes;
    request->datatype = NULL;
    request->on_complete = NULL;
    tern_request_restart(request);
}

void tern_request_make_persistent(struct tern_request *request)
{
    request->persistent = true;
    request->active = false;
    request->complete = true;
}

void tern_request_restart(struct tern_request *request)
{
    atomic_store_explicit(&request->complete, false, memory_order_relaxed);
    request->active = true;
    request->error = 0;
    request->status = (MPI_Status){.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
}

void tern_request_complete(struct tern_request *request, int error)
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

void tern_pml_request_set(struct tern_pml_request *request, const struct tern_request_kind *kind,
                          struct tern_context *context, const void *buf, int64_t count,
                          const struct tern_type *type, int rank, int tag)
{
    tern_request_init(&request->req, kind, context->comm);
    request->req.lane = context->lane;
    request->context = context;
    request->type = type;
    request->buf = (void *)buf;
    request->count = count;
    request->length = count * type->size;
    request->rank = rank;
    request->tag = tag;
    request->number = 0;
    request->cancelling = request->announced = false;
    request->posted = false;
    request->peer = NULL;
}

struct tern_pml_request *tern_pml_request_new(const struct tern_request_kind *kind,
                                              struct tern_context *context, const void *buf,
                                              int64_t count, const struct tern_type *type, int rank,
                                              int tag)
{
    struct tern_lane *lane = context->lane;
    struct tern_pml_request *request = lane->pool;
    if (request)
        lane->pool = request->req.comm;
    else if (!(request = malloc(sizeof *request))) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a request");
        return NULL;
    }
    tern_pml_request_set(request, kind, context, buf, count, type, rank, tag);
    return request;
}

/* Its memory shall not come back soon. */
static __attribute__((cold, noinline)) void release_for_good(struct tern_request *req)
{
    tern_lane_lock(req->lane);
    tern_number_take_back(tern_pml_request_of(req));
    tern_lane_unlock(req->lane);
    tern_object_free(&req->obj);
}

void tern_pml_request_release(struct tern_request *req)
{
    struct tern_pml_request *request = tern_pml_request_of(req);
    struct tern_lane *lane = req->lane;
    if (TERN_UNLIKELY(tern_object_kept())) {
        release_for_good(req);
        return;
    }
    req->obj.own.magic = TERN_MAGIC_FREED;
    tern_lane_lock(lane);
    tern_number_take_back(request);
    req->comm = lane->pool;
    lane->pool = request;
    tern_lane_unlock(lane);
}
