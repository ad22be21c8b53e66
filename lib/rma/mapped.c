/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations on memory that is mapped here. They are complete when they return. */

#include "lib/rma/reach.h"

/* Returns the address of the target's buffer. Computed as integers: in a dynamic window base is
 * NULL and `at` an address. */
static inline char *place_of(const struct tern_rma_operation *operation)
{
    return (char *)((uintptr_t)operation->target->base + (uintptr_t)operation->at);
}

static int mapped_put(const struct tern_rma_operation *operation)
{
    const struct tern_rma_buffer *origin = operation->origin;
    char *place = place_of(operation);
    int64_t copied;
    void *to, *from;
    if (TERN_LIKELY(tern_type_one_run(operation->type, place, operation->count, &to) &&
                    tern_type_run(origin->type, origin->base, origin->count, &from)))
        tern_rma_copy_run(to, from, operation->bytes);
    else if ((copied = tern_type_copy(place, operation->count, operation->type, origin->base,
                                      origin->count, origin->type)) < 0)
        return (int)copied;
    tern_rma_complete_now(operation);
    return 0;
}

static int mapped_get(const struct tern_rma_operation *operation)
{
    const struct tern_rma_buffer *result = operation->result;
    char *place = place_of(operation);
    int64_t copied;
    void *to, *from;
    if (TERN_LIKELY(tern_type_one_run(operation->type, place, operation->count, &from) &&
                    tern_type_run(result->type, result->base, result->count, &to)))
        tern_rma_copy_run(to, from, operation->bytes);
    else if ((copied = tern_type_copy((void *)result->base, result->count, result->type, place,
                                      operation->count, operation->type)) < 0)
        return (int)copied;
    tern_rma_complete_now(operation);
    return 0;
}

/* Under control->serial nobody else changes the memory. */
static const struct tern_rma_turf *turf_of(const struct tern_rma_operation *operation)
{
    return TERN_UNLIKELY(operation->target->serial) ? NULL : &operation->target->turf;
}

static int apply(const struct tern_rma_operation *operation, struct tern_cursor *target,
                 const char *origin, char *before, int64_t bytes)
{
    const struct tern_rma_combine *combine = operation->combine;
    const struct tern_rma_turf *turf = turf_of(operation);
    while (bytes > 0) {
        int64_t got;
        char *at = tern_rma_next_elements(target, combine, bytes, &got);
        if (operation->compare)
            tern_rma_compare_and_swap(combine, turf, at, origin, operation->compare,
                                      before);
        else
            tern_rma_combine_run(combine, turf, at, origin, before,
                                 got / combine->packed);
        bytes -= got;
        origin = origin ? origin + got : NULL;
        before = before ? before + got : NULL;
    }
    return 0;
}

/* Returns true and sets *ret_run if the buffer is one run, or if there is no buffer. */
static inline bool run_of(const struct tern_rma_buffer *buffer, void **ret_run)
{
    *ret_run = NULL;
    return !buffer || tern_type_run(buffer->type, buffer->base, buffer->count, ret_run);
}

static int fetch(const struct tern_rma_operation *operation)
{
    void *at, *origin, *result;
    if (tern_rma_has_hole(operation->combine) ||
        !tern_type_one_run(operation->type, place_of(operation), operation->count, &at) ||
        !run_of(operation->origin, &origin) || !run_of(operation->result, &result))
        return tern_rma_in_pieces(operation, apply);
    if (operation->compare)
        tern_rma_compare_and_swap(operation->combine, turf_of(operation), at, origin,
                                  operation->compare, result);
    else
        tern_rma_combine_run(operation->combine, turf_of(operation), at, origin, result,
                             operation->bytes / operation->combine->packed);
    return 0;
}

static int mapped_fetch(const struct tern_rma_operation *operation)
{
    struct tern_rma_target *target = operation->target;
    if (TERN_UNLIKELY(target->serial))
        tern_rma_spin(&target->control->serial);
    int rc = fetch(operation);
    if (TERN_UNLIKELY(target->serial))
        tern_rma_unspin(&target->control->serial);
    tern_rma_complete_now(operation);
    return rc;
}

const struct tern_rma_way tern_rma_mapped = {
    .put = mapped_put, .get = mapped_get, .fetch = mapped_fetch};
