/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/pml_request.h"

#include <stdlib.h>

struct tern_pml_request *tern_pml_request_make(void)
{
    struct tern_pml_request *request = malloc(sizeof *request);
    if (request)
        tern_object_init(&request->req.obj, TERN_MAGIC_FREED);
    else
        tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    return request;
}

/* Frees the request so that its memory is not used again soon (tern_object_keep_freed). */
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

bool tern_pml_describe(const struct tern_request *req, struct tern_message_facts *ret_facts)
{
    const struct tern_pml_request *request = (const struct tern_pml_request *)req;
    if (req->kind != &tern_pml_send_kind && req->kind != &tern_pml_recv_kind)
        return false;
    *ret_facts = (struct tern_message_facts){.context = request->context,
                                             .sends = req->kind == &tern_pml_send_kind,
                                             .rank = request->rank,
                                             .tag = request->tag,
                                             .bytes = request->length};
    return true;
}
