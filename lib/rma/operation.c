/* SPDX-License-Identifier: BSD-3-Clause */

/* Operations: what all ways to a target share. Checks the epoch, the sizes and the range. */

#include "lib/rma/epoch.h"
#include "lib/rma/reach.h"

#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Returns the bytes of a buffer. Wraps around if they do not fit; fill_in finds that out. */
static inline int64_t bytes_of(const struct tern_type *type, int64_t count)
{
    return (int64_t)((uint64_t)type->size * (uint64_t)count);
}

static int check_sizes(int64_t origin, int64_t target)
{
    if (TERN_LIKELY(origin == target))
        return 0;
    return tern_error(TERN_ERR_TRUNCATE,
                      "the buffer of the origin has %lld bytes and that of the target %lld; "
                      "expected equal sizes",
                      (long long)origin, (long long)target);
}

/* Finds the first and the last byte of `count` elements, relative to the buffer's beginning.
 * Returns false if they do not fit 63 bits. */
static bool find_bounds(const struct tern_type *type, int64_t count, int64_t *ret_low,
                        int64_t *ret_high)
{
    int64_t last;
    if (__builtin_mul_overflow(count - 1, type->extent, &last))
        return false;
    *ret_low = type->true_lb + (last < 0 ? last : 0);
    return !__builtin_add_overflow(type->true_lb + type->true_extent, last > 0 ? last : 0,
                                   ret_high);
}

static int refuse_range(const struct tern_window *window, const struct tern_rma_place *place,
                        int64_t low, int64_t high)
{
    const struct tern_rma_target *target = &window->targets[place->rank];
    if (window->dynamic)
        return tern_error(TERN_ERR_RMA_RANGE,
                          "the target is rank %d, which has not attached all of the %lld bytes at "
                          "%#llx; attach them by MPI_Win_attach first",
                          place->rank, (long long)(high - low),
                          (unsigned long long)place->disp + (unsigned long long)low);
    return tern_error(TERN_ERR_RMA_RANGE,
                      "the target is rank %d, whose window has %lld bytes; the operation would use "
                      "bytes %lld to %lld (target_disp %lld, displacement unit %lld)",
                      place->rank, (long long)target->size, (long long)low, (long long)high - 1,
                      (long long)place->disp, (long long)target->disp_unit);
}

/* Returns true if each run of the target's buffer is attached: they may lie in several regions. */
static bool holds_runs(const struct tern_rma_regions *regions, const struct tern_rma_place *place)
{
    enum { RUNS = 64 };
    struct iovec runs[RUNS];
    struct tern_cursor cursor;
    tern_cursor_init_host(&cursor, place->type, (char *)(uintptr_t)place->disp, place->count);
    while (cursor.offset < cursor.length) {
        int count = tern_cursor_runs(&cursor, runs, RUNS, SIZE_MAX, NULL);
        for (int i = 0; i < count; i++)
            if (!tern_regions_hold(regions, (uintptr_t)runs[i].iov_base, (int64_t)runs[i].iov_len))
                return false;
    }
    return true;
}

/* Checks that bytes `low` to `high` of the target's buffer are attached to the dynamic window, or
 * all runs between them. A target that is asked does so itself. */
static int check_attached(struct tern_window *window, const struct tern_rma_place *place,
                          int64_t low, int64_t high)
{
    const struct tern_rma_regions *regions;
    if (place->rank != window->rank && window->targets[place->rank].way == &tern_rma_asked)
        return 0;
    tern_lane_lock(window->context->lane); /* another thread may attach memory */
    int rc = tern_window_find_regions(window, place->rank, &regions);
    if (!rc && !tern_regions_hold(regions, (uint64_t)(place->disp + low), high - low) &&
        !holds_runs(regions, place))
        rc = refuse_range(window, place, low, high);
    tern_lane_unlock(window->context->lane);
    return rc;
}

/* Checks that the operation stays within the target's window. */
static int check_range(struct tern_window *window, const struct tern_rma_target *target,
                       const struct tern_rma_place *place)
{
    int64_t at, low, high, begin;
    if (__builtin_mul_overflow(place->disp, target->disp_unit, &at) ||
        !find_bounds(place->type, place->count, &low, &high) ||
        __builtin_add_overflow(at, low, &begin))
        return refuse_range(window, place, 0, INT64_MAX);
    if (window->dynamic)
        return check_attached(window, place, low, high);
    if (TERN_UNLIKELY(begin < 0 || high > target->size - at))
        return refuse_range(window, place, begin, begin + (high - low));
    return 0;
}

/* Fills in an operation and checks sizes and range. A result of 0 with no bytes means that nothing
 * is to be done. */
static inline int fill_in(struct tern_window *window, const struct tern_rma_place *place,
                          int64_t origin_bytes, struct tern_request **ret_request,
                          struct tern_rma_operation *ret)
{
    struct tern_rma_target *target = &window->targets[place->rank];
    ret->window = window;
    ret->target = target;
    ret->rank = place->rank;
    ret->at = (uint64_t)place->disp * (uint64_t)target->disp_unit;
    ret->count = place->count;
    ret->type = place->type;
    ret->compare = NULL;
    ret->origin = ret->result = NULL;
    ret->ret_request = ret_request;
    if (__builtin_mul_overflow(place->type->size, place->count, &ret->bytes))
        return refuse_range(window, place, 0, INT64_MAX);
    int rc = check_sizes(origin_bytes, ret->bytes);
    if (!rc && ret->bytes)
        rc = check_range(window, target, place);
    if (!rc && !ret->bytes)
        tern_rma_complete_now(ret);
    return rc;
}

/* The same for an operation of the user, which needs an epoch. */
static inline int prepare(struct tern_window *window, const struct tern_rma_place *place,
                          int64_t origin_bytes, struct tern_request **ret_request,
                          struct tern_rma_operation *ret)
{
    bool open = tern_epoch_is_open(window, &window->targets[place->rank]);
    if (TERN_UNLIKELY(!open || (ret_request && tern_epoch_access(window) < TERN_RMA_LOCK))) {
        tern_lane_lock(window->context->lane);
        int rc = open ? tern_epoch_check_request(window, place->rank)
                      : tern_epoch_refuse(window, place->rank);
        tern_lane_unlock(window->context->lane);
        return rc;
    }
    __atomic_store_n(&window->used, true, __ATOMIC_RELAXED); /* threads may do so at a time */
    return fill_in(window, place, origin_bytes, ret_request, ret);
}

/* lock_all takes the lock of a target that is not mapped only when it is first used. */
static inline int hold_lazily(struct tern_window *window, struct tern_rma_target *target, int rank)
{
    if (tern_epoch_access(window) != TERN_RMA_LOCK_ALL || window->nocheck ||
        __atomic_load_n(&target->holds, __ATOMIC_ACQUIRE))
        return 0;
    tern_lane_lock(window->context->lane);
    int rc = tern_rma_hold(window, rank);
    tern_lane_unlock(window->context->lane);
    return rc;
}

/* A rank may have attached memory of MPI_Alloc_mem to a dynamic window: no copies by the system are
 * needed there. If so, makes `operation->at` the address here and returns true. */
static bool is_mapped_after_all(struct tern_rma_operation *operation)
{
    const struct tern_rma_target *target = operation->target;
    int64_t low, high;
    if (!target->node_bytes ||
        !find_bounds(operation->type, operation->count, &low, &high))
        return false;
    char *here = tern_window_find_near(target, operation->at + (uint64_t)low, high - low);
    if (here)
        operation->at = (uintptr_t)here - (uint64_t)low;
    return here;
}

/* Prepares an operation that has bytes, and finds its way. Returns 0 or TERN_ERR_*. */
static int choose_way(struct tern_rma_operation *operation, const struct tern_rma_way **ret_way)
{
    int rc = hold_lazily(operation->window, operation->target, operation->rank);
    if (rc)
        return rc;
    bool mapped = operation->window->dynamic && is_mapped_after_all(operation);
    *ret_way = mapped ? &tern_rma_mapped : operation->target->way;
    return 0;
}

/* ---- the short way: one run of memory that is mapped ---- */

/* Returns the address of the target's buffer if it is one run of `bytes` bytes, mapped here and
 * open to the operation. Returns NULL if the long way must decide. */
static inline char *near_run(struct tern_window *window, const struct tern_rma_place *place,
                             int64_t bytes)
{
    const struct tern_rma_target *target = &window->targets[place->rank];
    int64_t at, length;
    if (target->way != &tern_rma_mapped || window->dynamic || !tern_epoch_is_open(window, target) ||
        !(place->type->contiguous || (place->type->gapless && place->count == 1)) ||
        __builtin_mul_overflow(place->type->size, place->count, &length) || length != bytes ||
        __builtin_mul_overflow(place->disp, target->disp_unit, &at) ||
        __builtin_add_overflow(at, place->type->true_lb, &at) || at < 0 ||
        at > target->size - bytes)
        return NULL;
    __atomic_store_n(&window->used, true, __ATOMIC_RELAXED); /* threads may do so at a time */
    return target->base + at;
}

/* Does a put or get at once. Returns false if it did not. */
static inline bool copy_near(struct tern_window *window, const struct tern_rma_buffer *buffer,
                             const struct tern_rma_place *place, bool put,
                             struct tern_request **ret_request)
{
    int64_t bytes = bytes_of(buffer->type, buffer->count);
    void *here;
    char *there;
    if ((ret_request && tern_epoch_access(window) < TERN_RMA_LOCK) ||
        !tern_type_run(buffer->type, buffer->base, buffer->count, &here) ||
        !(there = near_run(window, place, bytes)))
        return false;
    if (put)
        tern_rma_copy_run(there, here, bytes);
    else
        tern_rma_copy_run(here, there, bytes);
    if (ret_request)
        *ret_request = &tern_request_empty;
    return true;
}

/* Does an accumulate without a request at once. Returns false if it did not. */
static inline bool combine_near(struct tern_window *window, const struct tern_rma_buffer *origin,
                                const struct tern_rma_buffer *result,
                                const struct tern_rma_place *place, enum tern_reduce_op op)
{
    const struct tern_rma_target *target = &window->targets[place->rank];
    int basic = origin->type->basic; /* NONE for pairs without a name, which go the long way */
    int64_t bytes = bytes_of(origin->type, origin->count);
    const struct tern_rma_combine *combine = tern_rma_combine_find(op, basic);
    void *from, *before = NULL;
    char *there;
    if (!combine || place->type->basic != basic || target->serial || tern_rma_has_hole(combine) ||
        !tern_type_run(origin->type, origin->base, origin->count, &from))
        return false;
    if (result && (result->type->basic != basic ||
                   bytes_of(result->type, result->count) != bytes ||
                   !tern_type_run(result->type, result->base, result->count, &before)))
        return false;
    if (!(there = near_run(window, place, bytes)))
        return false;
    uint64_t scratch;
    if (bytes != combine->packed || place->type->size != bytes ||
        !tern_rma_fetch_word(&target->turf, place->type, op, there, from, NULL,
                             before ? before : (void *)&scratch))
        tern_rma_combine_run(combine, &target->turf, there, from, before, bytes / combine->packed);
    return true;
}

/* ---- operations ---- */

int tern_window_put(struct tern_window *window, const struct tern_rma_buffer *origin,
                    const struct tern_rma_place *place, struct tern_request **ret_request)
{
    const struct tern_rma_way *way;
    struct tern_rma_operation operation;
    if (TERN_LIKELY(copy_near(window, origin, place, true, ret_request)))
        return 0;
    int rc = prepare(window, place, bytes_of(origin->type, origin->count), ret_request, &operation);
    if (rc || !operation.bytes)
        return rc;
    operation.origin = origin;
    rc = choose_way(&operation, &way);
    return rc ? rc : way->put(&operation);
}

int tern_window_get(struct tern_window *window, const struct tern_rma_buffer *result,
                    const struct tern_rma_place *place, struct tern_request **ret_request)
{
    const struct tern_rma_way *way;
    struct tern_rma_operation operation;
    if (TERN_LIKELY(copy_near(window, result, place, false, ret_request)))
        return 0;
    int rc = prepare(window, place, bytes_of(result->type, result->count), ret_request, &operation);
    if (rc || !operation.bytes)
        return rc;
    operation.result = result;
    rc = choose_way(&operation, &way);
    return rc ? rc : way->get(&operation);
}

/* Checks the types of an accumulate, and prepares to combine their elements. */
static int prepare_combine(const struct tern_rma_place *place, const struct tern_rma_buffer *origin,
                           const struct tern_rma_buffer *result, enum tern_reduce_op op,
                           const struct tern_rma_combine **ret)
{
    int basic = tern_rma_class(place->type);
    if (basic == TERN_BASIC_NONE)
        return tern_error(TERN_ERR_TYPE, "the datatype of the target has elements of several "
                                         "predefined types; expected one predefined type");
    if ((origin && tern_rma_class(origin->type) != basic) ||
        (result && tern_rma_class(result->type) != basic))
        return tern_error(TERN_ERR_TYPE, "the datatypes of the call have elements of different "
                                         "predefined types; expected one predefined type");
    *ret = tern_rma_combine_find(op, basic);
    if (!*ret)
        return tern_error(TERN_ERR_OP, "the operation is not defined on the elements of the "
                                       "datatype");
    return 0;
}

int tern_window_fetch(struct tern_window *window, const struct tern_rma_buffer *origin,
                      const void *compare, const struct tern_rma_buffer *result,
                      const struct tern_rma_place *place, enum tern_reduce_op op,
                      struct tern_request **ret_request)
{
    const struct tern_rma_way *way;
    struct tern_rma_operation operation;
    if (op == TERN_REDUCE_NO_OP)
        origin = NULL;
    if (origin && !compare && !ret_request && combine_near(window, origin, result, place, op))
        return 0;
    const struct tern_rma_buffer *one = origin ? origin : result;
    int64_t bytes = one ? bytes_of(one->type, one->count) : bytes_of(place->type, place->count);
    int rc = prepare(window, place, bytes, ret_request, &operation);
    if (!rc && origin && result)
        rc = check_sizes(bytes_of(result->type, result->count), bytes);
    if (rc || !operation.bytes)
        return rc;
    rc = prepare_combine(place, origin, result, op, &operation.combine);
    operation.origin = origin;
    operation.result = result;
    operation.compare = compare;
    if (!rc)
        rc = choose_way(&operation, &way);
    return rc ? rc : way->fetch(&operation);
}

/* Does the operation at once if the target is mapped, as most are. Returns false if it did not. */
static inline bool fetch_near(struct tern_window *window, struct tern_rma_target *target,
                              const void *origin, const void *compare, void *result,
                              const struct tern_type *type, int64_t disp, enum tern_reduce_op op)
{
    int64_t at;
    if (target->way != &tern_rma_mapped || target->serial || window->dynamic ||
        !tern_epoch_is_open(window, target) ||
        __builtin_mul_overflow(disp, target->disp_unit, &at) || at > target->size - type->size)
        return false;
    __atomic_store_n(&window->used, true, __ATOMIC_RELAXED);
    return tern_rma_fetch_word(&target->turf, type, op, target->base + at, origin, compare,
                               result);
}

int tern_window_fetch_one(struct tern_window *window, const void *origin, const void *compare,
                          void *result, const struct tern_type *type, int rank, int64_t disp,
                          enum tern_reduce_op op)
{
    char here[64]; /* more than any predefined type has */
    if (TERN_UNLIKELY(tern_accel_watched)) {
        int error = compare ? tern_accel_copy(here, compare, (size_t)type->extent) : 0;
        if (error)
            return error;
        compare = compare ? here : NULL;
    }
    if (TERN_LIKELY(!tern_accel_holds(origin) && !tern_accel_holds(result) &&
                    fetch_near(window, &window->targets[rank], origin, compare, result, type, disp,
                               op)))
        return 0;
    struct tern_rma_buffer from = {origin, 1, type}, to = {result, 1, type};
    struct tern_rma_place place = {rank, disp, 1, type};
    return tern_window_fetch(window, &from, compare, &to, &place, op, NULL);
}

int tern_window_fetch_add(struct tern_window *window, int rank, int64_t disp, int64_t add,
                          int64_t *ret_before)
{
    static const struct tern_type word = {.size = 8, .extent = 8, .true_extent = 8, .elements = 1,
                                          .alignment = 8, .basic = TERN_BASIC_INT64,
                                          .gapless = true, .contiguous = true, .committed = true};
    struct tern_rma_buffer origin = {&add, 1, &word}, result = {ret_before, 1, &word};
    struct tern_rma_place place = {rank, disp, 1, &word};
    struct tern_rma_operation operation;
    struct tern_rma_target *target = &window->targets[rank];
    int rc = fill_in(window, &place, word.size, NULL, &operation);
    if (!rc)
        rc = prepare_combine(&place, &origin, &result, TERN_REDUCE_SUM, &operation.combine);
    operation.origin = &origin;
    operation.result = &result;
    if (!rc)
        rc = target->way->fetch(&operation);
    if (rc || target->way != &tern_rma_asked)
        return rc;
    return tern_window_flush(window, rank, true);
}
