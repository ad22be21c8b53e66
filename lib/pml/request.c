/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/request.h"

int tern_request_refuse_cancel(struct tern_request *request)
{
    (void)request; /* too late: the request is complete */
    return 0;
}

/* Does nothing. Not even a flag may be written: other users use the request at this time. */
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
