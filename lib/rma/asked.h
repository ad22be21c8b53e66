/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RMA_ASKED_H
#define TERN_RMA_ASKED_H

/* What lib/rma/asked.c and direct.c share: requests of the user, and operations by messages. Locks:
 * the lane's lock. */

#include "lib/rma/reach.h"

/* The request of MPI_Rput and its kin. Completes with its last part. */
struct tern_rma_request {
    struct tern_request request;
    int parts; /* parts that are not complete */
};

/* Makes a request with one part: the call itself, until it has started all others. Returns NULL
 * with text if there is no memory. Needs no lock. */
struct tern_rma_request *tern_rma_request_new(struct tern_window *window);
/* Frees a request that the user will not get. */
void tern_rma_request_drop(struct tern_rma_request *request);

/* Let a request wait for one more part of its operation, and end such a part with an error or 0.
 * Do nothing if `request` is NULL. */
void tern_rma_request_add_part(struct tern_rma_request *request);
void tern_rma_request_end_part(struct tern_rma_request *request, int error);

/* Puts many bytes to one run, at displacement `at`, by messages: the pml moves them from buffer to
 * window without a copy between. The target answers when the bytes are there. Returns 0 or
 * TERN_ERR_*. */
int tern_rma_ask_put_long(const struct tern_rma_operation *operation, uint64_t at,
                          struct tern_rma_request *request);
/* Gets by messages. Returns 0 or TERN_ERR_*. */
int tern_rma_ask_get(const struct tern_rma_operation *operation, struct tern_rma_request *request);

/* Lets the network do a put or get, if it can. Returns false if messages must do it. */
bool tern_rma_copy_direct(const struct tern_rma_operation *operation,
                          struct tern_rma_request *request);

#endif
