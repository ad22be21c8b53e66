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
    tern_request_set(request, kind, comm, tern_lanes);
}

void tern_request_make_persistent(struct tern_request *request)
{
    request->persistent = true;
    request->active = false;
    request->complete = true;
}

struct tern_pml_request *tern_pml_request_make(void)
{
    struct tern_pml_request *request = malloc(sizeof *request);
    if (request)
        tern_object_init(&request->req.obj, TERN_MAGIC_FREED);
    else
        tern_error(TERN_ERR_NO_MEM, "no memory for a request");
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
