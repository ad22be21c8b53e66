/* SPDX-License-Identifier: BSD-3-Clause */

/* What a run needs before its first step: memory, a plan, a board. */

#include "lib/coll/run/plan_run.h"

#include "lib/accel/device_spare.h"
#include "lib/coll/run/device_places.h"
#include "lib/type/block.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdio.h>
#include <stdlib.h>

int64_t tern_run_span(const struct tern_type *unit, int64_t units, int64_t *ret_start)
{
    int64_t first = unit->true_lb, last = unit->true_lb + (units - 1) * unit->extent;
    int64_t low = first < last ? first : last,
            high = (first < last ? last : first) + unit->true_extent;
    *ret_start = -low;
    return (high - low + TERN_RUN_ALIGNMENT - 1) & -TERN_RUN_ALIGNMENT;
}

static const struct tern_run_place nowhere = {NULL, 1, &tern_type_bytes};

/* Takes device memory for the temporaries of a call whose buffers are in device memory, so that
 * messages and reductions stay there. Returns NULL if there is none. */
static char *take_device_memory(const struct tern_call *call, int64_t bytes)
{
    struct tern_accel_place place;
    if (!tern_accel_find(tern_block_at(call->recv, call->recv_type->true_lb), &place) &&
        !tern_accel_find(tern_block_at((char *)call->send, call->send_type->true_lb), &place))
        return NULL;
    return tern_accel_spare_take(&place, (size_t)bytes);
}

/* Places the temporaries in `small`, if that is not NULL and long enough, else in new memory. */
static __attribute__((noinline)) int place_temporaries(struct tern_plan_run *run, char *small)
{
    const struct tern_call *call = run->call;
    const struct tern_plan *plan = run->plan;
    const struct tern_type *unit = plan->temp_typed ? call->recv_type : &tern_type_bytes;
    int64_t start, span = tern_run_span(unit, plan->temp_units, &start);
    char *base = small;
    run->on_device = false;
    if (TERN_UNLIKELY(call->args.on_device))
        base = run->memory = take_device_memory(call, span * plan->temp_count);
    if (run->memory)
        run->on_device = true;
    else if (!small || span * plan->temp_count > TERN_RUN_SMALL_BYTES) {
        if (posix_memalign((void **)&run->memory, TERN_RUN_ALIGNMENT,
                           (size_t)(span * plan->temp_count)))
            return tern_error(TERN_ERR_NO_MEM,
                              "no memory for %ld bytes of temporary buffer in a collective",
                              (long)(span * plan->temp_count));
        base = run->memory;
    }
    for (int i = 0; i < plan->temp_count; i++)
        run->places[TERN_TEMPORARY + i] =
            (struct tern_run_place){tern_block_at(base, i * span + start), unit->extent, unit};
    return 0;
}

void tern_run_free_memory(struct tern_plan_run *run)
{
    if (!run->memory)
        return;
    if (TERN_UNLIKELY(run->on_device))
        tern_accel_spare_give(run->memory);
    else
        free(run->memory);
}

int tern_run_place_buffers(struct tern_plan_run *run, char *small)
{
    const struct tern_call *call = run->call;
    run->places[TERN_SEND_BUFFER] =
        (struct tern_run_place){(char *)call->send, call->send_type->extent, call->send_type};
    run->places[TERN_RECV_BUFFER] =
        (struct tern_run_place){call->recv, call->recv_type->extent, call->recv_type};
    run->memory = NULL;
    run->stage = NULL;
    if (run->plan->temp_units)
        return place_temporaries(run, small);
    /* steps may still name temporaries, with length 0 */
#pragma GCC unroll 4
    for (int i = TERN_TEMPORARY; i < TERN_BUFFERS; i++)
        run->places[i] = nowhere;
    return 0;
}

/* Bytes of a segment of a pipeline of devices. */
enum { DEVICE_SEGMENT = 4 << 20 };

static int get_plan(const struct tern_call *call, struct tern_plan **ret_plan)
{
    struct tern_plan *plan = __builtin_expect(tern_coll_forced != NULL, 0)
                                 ? tern_plan_build(tern_coll_forced, &call->args)
                                 : tern_plan_get(&call->coll->plans, &call->args);
    if (!plan)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the plan of a collective");
    *ret_plan = plan;
    return 0;
}

int tern_run_get_device_plan(struct tern_call *call, struct tern_plan **ret_plan)
{
    call->args.on_device = true;
    call->args.sheet = 0; /* the board is in host memory */
    call->args.segment_bytes = DEVICE_SEGMENT;
    int rc = call->coll->told ? tern_coll_order_gpus(call->coll) : 0;
    if (rc)
        return rc;
    call->args.order = call->coll->order;
    return get_plan(call, ret_plan);
}

int tern_run_get_plan_of_messages(struct tern_call *call, struct tern_plan **ret_plan)
{
    call->args.sheet = 0;
    return get_plan(call, ret_plan);
}

int tern_run_get_plan(struct tern_call *call, struct tern_plan **ret_plan)
{
    struct tern_coll *coll = call->coll;
    if (coll->calls < TERN_BOARD_CALLS)
        tern_coll_count_call(coll);
    if (TERN_UNLIKELY(call->args.on_device))
        return tern_run_get_device_plan(call, ret_plan);
    call->args.sheet = coll->sheet;
    int rc = get_plan(call, ret_plan);
    if (rc || (*ret_plan)->post_bytes <= TERN_BOARD_SHEET_BYTES || coll->board.long_sheets ||
        tern_coll_want_long_sheets(coll))
        return rc;
    tern_plan_release(*ret_plan);
    call->args.sheet = TERN_BOARD_SHEET_BYTES;
    return get_plan(call, ret_plan);
}

int tern_run_get_lasting_plan(struct tern_call *call, uint32_t serial, struct tern_board *board,
                            struct tern_plan **ret_plan)
{
    call->args.sheet = tern_coll_own_sheet(call->coll);
    int rc = get_plan(call, ret_plan);
    if (rc || !(*ret_plan)->turns ||
        !tern_coll_open_own_board(call->coll, serial, (*ret_plan)->post_bytes, board))
        return rc;
    tern_plan_release(*ret_plan);
    return tern_run_get_plan_of_messages(call, ret_plan);
}

_Static_assert((int)TERN_COLLECTIVES <= (int)TERN_COLLECTIVES_MAX,
               "each has a counter in the lane");

/* Raises the event that a collective begins. Tools number the algorithms of a collective by the
 * choices of its parameter; 0: none of them. */
__attribute__((cold)) void tern_run_tell_start(const struct tern_plan_run *run)
{
    enum tern_collective collective = run->plan->args.collective;
    bool inter = run->plan->args.remote_size && collective < TERN_NEIGHBOR_ALLGATHER;
    char param[64];
    snprintf(param, sizeof param, "coll_%s_algorithm", tern_plan_collective_name(collective));
    int choice = inter ? 0 : tern_param_find_choice(param, run->plan->algorithm->name);
    tern_event_raise(TERN_EVENT_COLLECTIVE, run->call->coll->context.comm,
                     (int64_t[]){collective, choice < 0 ? 0 : choice});
}
