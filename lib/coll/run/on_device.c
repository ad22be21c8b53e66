/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/run/on_device.h"

#include "lib/accel/device_pinned.h"
#include "lib/type/block.h"

#include <stdlib.h>

/* How many units of the two buffers a call uses. */
struct extent {
    int64_t send, recv;
    bool in, out; /* the receive buffer has input; gets output */
};

/* Returns false for calls whose blocks differ, and for those of two groups. */
static bool find_extent(const struct tern_plan_args *args, struct extent *ret_extent)
{
    bool root = args->root == args->rank;
    int64_t all = args->size, send = args->send_count, recv = args->recv_count;
    struct extent extent = {.in = args->in_place, .out = true};
    if (args->remote_size || args->blocks)
        return false;
    switch (args->collective) {
    case TERN_BCAST:
        extent = (struct extent){.recv = recv, .in = root, .out = !root};
        break;
    case TERN_GATHER:
        extent.send = send;
        extent.recv = root ? recv * all : 0;
        break;
    case TERN_SCATTER:
        extent.send = root ? send * all : 0;
        extent.recv = recv;
        extent.in = false; /* in place means that the root keeps its block */
        break;
    case TERN_ALLGATHER:
        extent.send = send;
        extent.recv = recv * all;
        break;
    case TERN_ALLTOALL:
        extent.send = send * all;
        extent.recv = recv * all;
        break;
    case TERN_REDUCE:
        extent.send = recv;
        extent.recv = root ? recv : 0;
        break;
    case TERN_EXSCAN:
        extent.out = args->rank > 0; /* rank 0 has no result */
        /* fall through */
    case TERN_ALLREDUCE:
    case TERN_SCAN: extent.send = extent.recv = recv; break;
    case TERN_REDUCE_SCATTER_BLOCK:
        extent.send = recv * all;
        extent.recv = args->in_place ? recv * all : recv;
        break;
    default: return false;
    }
    if (args->in_place && args->collective != TERN_SCATTER)
        extent.send = 0;
    if (args->in_place && args->collective == TERN_SCATTER && root)
        extent.recv = 0;
    *ret_extent = extent;
    return true;
}

/* Returns where a buffer is; TERN_TYPE_HOST if it is not used. */
static enum tern_type_memory memory_of(const void *base, int64_t units,
                                       const struct tern_type *type,
                                       struct tern_accel_place *ret_place)
{
    return units ? (enum tern_type_memory)tern_type_memory_of(type, base, units, ret_place)
                 : TERN_TYPE_HOST;
}

bool tern_run_is_on_device(const struct tern_call *call, int *ret_device)
{
    struct extent extent;
    struct tern_accel_place place = {.device = -1};
    if (!find_extent(&call->args, &extent) ||
        (extent.send && memory_of(call->send, extent.send, call->send_type, &place) !=
                            TERN_TYPE_DEVICE) ||
        (extent.recv &&
         memory_of(call->recv, extent.recv, call->recv_type, &place) != TERN_TYPE_DEVICE))
        return false;
    *ret_device = place.device;
    return true;
}

/* The copy of a call's buffers on the host. */
struct tern_run_stage {
    struct extent extent;
    char *memory;
    bool pinned;
    bool recv; /* the receive buffer has a copy */
};

static void note(struct tern_plan_run *run, int64_t copied)
{
    if (copied < 0 && !run->error)
        run->error = (int)copied;
}

/* A copy spans its buffer, gaps included. Buffers with longer gaps are moved step by step. */
enum { GAPS_MOST = 64 << 20 };

/* Returns true if the gaps of a buffer are short. */
static bool is_dense(const struct tern_type *type, int64_t units, int64_t span)
{
    return span - type->size * units <= GAPS_MOST;
}

/* Takes memory for both copies. */
static struct tern_run_stage *make_stage(int64_t bytes, const struct tern_accel_place *place)
{
    struct tern_run_stage *stage = malloc(sizeof *stage);
    if (!stage)
        return NULL;
    bool reached; /* no kernel uses it */
    *stage = (struct tern_run_stage){0};
    if (bytes <= TERN_ACCEL_PINNED && place)
        stage->memory = tern_accel_pinned_take(place, &reached);
    stage->pinned = stage->memory != NULL;
    if (!stage->pinned && posix_memalign((void **)&stage->memory, TERN_RUN_ALIGNMENT,
                                         (size_t)bytes)) {
        free(stage);
        return NULL;
    }
    return stage;
}

void tern_run_stage(struct tern_plan_run *run)
{
    const struct tern_call *call = run->call;
    struct extent extent;
    struct tern_accel_place send_place, recv_place;
    int64_t send_start = 0, recv_start = 0;
    if (call->args.on_device || !find_extent(&call->args, &extent))
        return;
    enum tern_type_memory
        send = memory_of(call->send, extent.send, call->send_type, &send_place),
        recv = memory_of(call->recv, extent.recv, call->recv_type, &recv_place);
    if (!send && !recv)
        return;
    int64_t send_bytes = send ? tern_run_span(call->send_type, extent.send, &send_start) : 0,
            recv_bytes = recv ? tern_run_span(call->recv_type, extent.recv, &recv_start) : 0;
    if ((send && !is_dense(call->send_type, extent.send, send_bytes)) ||
        (recv && !is_dense(call->recv_type, extent.recv, recv_bytes)))
        return;
    struct tern_run_stage *stage =
        make_stage(send_bytes + recv_bytes, send == TERN_TYPE_DEVICE   ? &send_place
                                            : recv == TERN_TYPE_DEVICE ? &recv_place
                                                                       : NULL);
    if (!stage)
        return;
    stage->extent = extent;
    stage->recv = recv != TERN_TYPE_HOST;
    run->stage = stage;
    if (send) {
        char *copy = tern_block_at(stage->memory, send_start);
        note(run, tern_type_copy(copy, extent.send, call->send_type, call->send, extent.send,
                                 call->send_type));
        run->places[TERN_SEND_BUFFER].base = copy;
    }
    if (recv) {
        char *copy = tern_block_at(stage->memory, send_bytes + recv_start);
        if (extent.in)
            note(run, tern_type_copy(copy, extent.recv, call->recv_type, call->recv, extent.recv,
                                     call->recv_type));
        run->places[TERN_RECV_BUFFER].base = copy;
    }
}

void tern_run_unstage(struct tern_plan_run *run)
{
    struct tern_run_stage *stage = run->stage;
    const struct tern_call *call = run->call;
    if (!stage)
        return;
    run->stage = NULL;
    if (stage->recv && stage->extent.out)
        note(run, tern_type_copy(call->recv, stage->extent.recv, call->recv_type,
                                 run->places[TERN_RECV_BUFFER].base, stage->extent.recv,
                                 call->recv_type));
    run->places[TERN_SEND_BUFFER].base = (char *)call->send; /* a persistent run starts again */
    run->places[TERN_RECV_BUFFER].base = call->recv;
    if (stage->pinned)
        tern_accel_pinned_give(stage->memory);
    else
        free(stage->memory);
    free(stage);
}
