/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/rma/asked.h"

#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

static void release_request(struct tern_request *request)
{
    request->obj.own.magic = TERN_MAGIC_FREED;
    free(request);
}

static const struct tern_request_kind request_kind = {.name = "one-sided operation",
                                                      .cancel = tern_request_refuse_cancel,
                                                      .release = release_request};

struct tern_rma_request *tern_rma_request_new(struct tern_window *window)
{
    struct tern_rma_request *mine = calloc(1, sizeof *mine);
    if (!mine) {
        tern_error(TERN_ERR_NO_MEM, "no memory for the request of a one-sided operation");
        return NULL;
    }
    tern_request_init(&mine->request, &request_kind, window->context->comm);
    mine->request.lane = window->context->lane;
    mine->parts = 1;
    return mine;
}

void tern_rma_request_drop(struct tern_rma_request *request)
{
    release_request(&request->request);
}

void tern_rma_request_add_part(struct tern_rma_request *request)
{
    if (request)
        request->parts++;
}

void tern_rma_request_end_part(struct tern_rma_request *request, int error)
{
    if (!request)
        return;
    if (error && !request->request.error)
        request->request.error = error;
    if (--request->parts == 0)
        tern_request_complete(&request->request, request->request.error);
}
