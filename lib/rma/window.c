/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Opens and closes windows. All ranks know all offers, so each can tell the way between any two
 * ranks, and they agree:
 *
 *   own memory                                            mapped
 *   same node, memory in the node's memory                mapped
 *   same node, and all ranks of the node may pull         pulled
 *   else                                                  asked
 *
 * The parameter rma_mechanism forces a way where it is possible. A target whose memory is in a
 * device's is pulled from by the ranks that can open it, itself included, and asked by the others.
 * Ranks of a dynamic window that may attach device memory are asked, all of them, themselves too:
 * so one rank alone changes each memory.
 */

#include "lib/rma/window.h"

#include "lib/accel/accel.h"
#include "lib/node/free_memory.h"
#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "lib/pml/pml.h"
#include "lib/rma/device_mapped.h"
#include "lib/rma/reach.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum forced { AUTO, FORCE_MAPPED, FORCE_PULLED, FORCE_ASKED }; /* in the order of the choices */

/* Names the control words among the memory that ranks take by name (tern_segment_meet). */
enum { CONTROL_SERIAL = 0x52000000 };

bool tern_window_is_near(const struct tern_context *context, int rank, uint32_t *ret_local)
{
    struct tern_process process = tern_peers_process(context->peers, rank);
    int64_t local = process.job == 0 ? tern_rte_local_rank(process.rank) : -1;
    if (local < 0 || !tern_segment.base)
        return false;
    *ret_local = (uint32_t)local;
    return true;
}

enum tern_rma_pulls tern_window_pulls(const struct tern_context *context)
{
    enum tern_rma_pulls pulls = TERN_RMA_PULLS;
    uint32_t local;
    if (!tern_window_is_near(context, context->rank, &local))
        return TERN_RMA_PULLS_NOT;
    for (int rank = 0; rank < context->size; rank++) {
        if (rank == context->rank || !tern_window_is_near(context, rank, &local))
            continue;
        const struct tern_segment_rank *block = tern_segment_rank(local);
        if (!tern_load_acquire(&block->attached))
            pulls = TERN_RMA_PULLS_UNKNOWN;
        else if (!tern_segment_can_read(block))
            return TERN_RMA_PULLS_NOT;
    }
    return pulls;
}

static bool all_near(const struct tern_context *context)
{
    uint32_t local;
    for (int rank = 0; rank < context->size; rank++)
        if (rank != context->rank && !tern_window_is_near(context, rank, &local))
            return false;
    return true;
}

/* Lets a network reach the memory, if there are ranks that cannot reach it otherwise. */
static void expose(struct tern_window *window, struct tern_context *context,
                   struct tern_rma_offer *offer)
{
    const char *wanted = tern_param_string("rma_direct");
    if (!offer->address || offer->size <= 0 || offer->device || strcmp(wanted, "no") == 0 ||
        tern_param_choice("rma_mechanism") == FORCE_ASKED || all_near(context))
        return;
    struct tern_exposure *exposure = &window->exposure;
    tern_lane_lock(context->lane);
    tern_btl_expose(context->lane->index, (void *)(uintptr_t)offer->address, (size_t)offer->size,
                    exposure);
    if (exposure->guessable && strcmp(wanted, "auto") == 0)
        tern_btl_conceal(exposure);
    tern_lane_unlock(context->lane);
    offer->direct = exposure->mover != NULL;
    offer->direct_address = exposure->address;
    offer->direct_key = exposure->key;
    offer->direct_lane = exposure->by_lane;
}

/* Call with no lock of a lane. */
static void conceal(struct tern_window *window)
{
    if (!window->exposure.mover)
        return;
    struct tern_lane *lane = &tern_lanes[window->exposure.lane];
    tern_lane_lock(lane);
    tern_btl_conceal(&window->exposure);
    tern_lane_unlock(lane);
}

void tern_window_offer(struct tern_window *window, struct tern_context *context, void *base,
                       int64_t size, int64_t disp_unit, struct tern_rma_offer *ret_offer)
{
    uint32_t local = 0;
    bool near = tern_window_is_near(context, context->rank, &local);
    char *memory = base;
    bool inside = near && memory >= tern_segment.base &&
                  memory + size <= tern_segment.base +
                                       __atomic_load_n(&tern_segment.size, __ATOMIC_ACQUIRE);
    *ret_offer = (struct tern_rma_offer){
        .address = (uintptr_t)base,
        .offset = inside ? (uint64_t)(memory - tern_segment.base) : TERN_RMA_NOT_THERE,
        .size = size,
        .disp_unit = disp_unit,
        .node_address = near ? (uintptr_t)tern_segment.base : 0,
        .pid = getpid(),
        .pulls = tern_window_pulls(context),
        .fences = tern_rma_join_fences(),
        .device = base ? tern_accel_holds(base) : tern_accel_watched,
    };
    expose(window, context, ret_offer);
    if (TERN_UNLIKELY(ret_offer->device) && base && near)
        ret_offer->key = tern_rma_device_share(base);
}

/* What the ranks agree on. */
struct agreement {
    enum forced forced;
    bool pulls; /* all ranks of the window on this node may pull */
    bool fences; /* all of them take part in membarrier */
    int near_count, near_index, leader; /* leader: local rank of the first near rank */
};

static struct agreement agree(const struct tern_context *context, bool dynamic,
                              const struct tern_rma_offer *offers)
{
    struct agreement agreement = {.forced = (enum forced)tern_param_choice("rma_mechanism"),
                                  .pulls = true,
                                  .fences = offers[context->rank].fences,
                                  .leader = -1};
    for (int rank = 0; rank < context->size; rank++) {
        uint32_t local;
        if (!tern_window_is_near(context, rank, &local))
            continue;
        if (agreement.leader < 0)
            agreement.leader = (int)local;
        if (rank == context->rank)
            agreement.near_index = agreement.near_count;
        agreement.near_count++;
        agreement.pulls &= offers[rank].pulls == TERN_RMA_PULLS;
        agreement.fences &= offers[rank].fences != 0;
    }
    for (int rank = 0; rank < context->size && dynamic; rank++)
        if (offers[rank].device)
            agreement.forced = FORCE_ASKED;
    return agreement;
}

/* Finds the control words that the ranks of this node share, or makes some for this rank alone. */
static int open_control(struct tern_window *window, const struct agreement *agreement)
{
    struct tern_context *context = window->context;
    window->control_offset = TERN_RMA_NOT_THERE;
    if (agreement->near_count > 1 && agreement->forced != FORCE_ASKED) {
        struct tern_segment_name name = {context->id, (uint32_t)agreement->leader,
                                         CONTROL_SERIAL};
        uint64_t offset;
        size_t bytes = (size_t)agreement->near_count * sizeof(struct tern_rma_control);
        if (tern_segment_meet(&name, (uint32_t)agreement->near_count, bytes, &offset) == 0) {
            window->control_offset = offset;
            window->control = (struct tern_rma_control *)(tern_segment.base + offset);
            window->controls_near = true;
            window->leads = agreement->near_index == 0;
            window->guards = (struct tern_rma_guards){window->control, agreement->near_count,
                                                      &window->control[agreement->near_index].mark,
                                                      agreement->fences};
            return 0;
        }
    }
    window->control = aligned_alloc(TERN_CACHE_LINE, sizeof *window->control);
    if (!window->control)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a window");
    memset(window->control, 0, sizeof *window->control);
    window->guards = (struct tern_rma_guards){window->control, 1, &window->control->mark,
                                              agreement->fences};
    return 0;
}

/* Chooses the way to a target whose memory is in a device's. All ranks that reach its control words
 * change the memory under control->serial. */
static void choose_device_way(struct tern_rma_target *target, bool self,
                              const struct tern_rma_offer *offer, bool near, const void *mine)
{
    if (near)
        tern_rma_device_open(target, self, offer, mine);
    target->serial = near;
    target->way = target->device ? &tern_rma_device : &tern_rma_asked;
}

static void choose_way(struct tern_window *window, const struct agreement *agreement, int rank,
                       int near_index, const struct tern_rma_offer *offer, const void *mine)
{
    struct tern_rma_target *target = &window->targets[rank];
    bool self = rank == window->rank, near = window->controls_near && near_index >= 0;
    bool shared = offer->offset != TERN_RMA_NOT_THERE && agreement->forced != FORCE_PULLED;
    bool pullable = agreement->pulls && agreement->forced != FORCE_MAPPED;
    target->address = window->dynamic ? 0 : offer->address;
    target->size = offer->size;
    target->disp_unit = offer->disp_unit;
    target->pid = offer->pid;
    target->control = near ? &window->control[near_index] : self ? window->control : NULL;
    target->serial = near && !shared && pullable;
    if (self)
        target->base = window->dynamic ? NULL : (char *)(uintptr_t)offer->address;
    else if (near_index >= 0 && offer->offset != TERN_RMA_NOT_THERE)
        target->base = tern_segment.base + offer->offset;
    target->turf = (struct tern_rma_turf){&window->guards, target->control, target->base};
    if (agreement->forced == FORCE_ASKED)
        target->way = &tern_rma_asked;
    else if (self || (near && shared))
        target->way = &tern_rma_mapped;
    else
        target->way = near && pullable ? &tern_rma_pulled : &tern_rma_asked;
    if (window->dynamic && target->way == &tern_rma_pulled && agreement->forced == AUTO) {
        target->node_address = offer->node_address;
        target->node_bytes = &tern_segment_rank((uint32_t)target->node_rank)->mapped;
    }
    if (TERN_UNLIKELY(offer->device) && !window->dynamic && agreement->forced != FORCE_ASKED)
        choose_device_way(target, self, offer, near || self, mine);
    window->any_asked |= target->way == &tern_rma_asked;
    target->direct = target->way == &tern_rma_asked && agreement->forced != FORCE_ASKED &&
                     offer->direct && !window->dynamic;
    target->direct_address = offer->direct_address;
    target->direct_key = offer->direct_key;
    target->direct_lane = offer->direct_lane;
}

/* Maps the memory of the ranks of this node. */
static int map_offers(struct tern_window *window, const struct tern_rma_offer *offers)
{
    for (int rank = 0; rank < window->size; rank++) {
        uint32_t local;
        if (offers[rank].offset != TERN_RMA_NOT_THERE &&
            tern_window_is_near(window->context, rank, &local) &&
            !tern_segment_reach(offers[rank].offset + (uint64_t)offers[rank].size))
            return tern_free_memory_unmapped("another rank's part of a window",
                                             (uint64_t)offers[rank].size, false);
    }
    return 0;
}

static void choose_ways(struct tern_window *window, const struct agreement *agreement,
                        const struct tern_rma_offer *offers)
{
    int near_index = 0;
    for (int rank = 0; rank < window->size; rank++) {
        uint32_t local = 0;
        bool near = tern_window_is_near(window->context, rank, &local);
        window->targets[rank].node_rank = near ? (int32_t)local : -1;
        choose_way(window, agreement, rank, near ? near_index : -1, &offers[rank],
                   (const void *)(uintptr_t)offers[window->rank].address);
        near_index += near;
    }
}

/* Returns true if some rank must ask this one. */
static bool is_asked(const struct tern_window *window, const struct agreement *agreement,
                     const struct tern_rma_offer *offer)
{
    bool shared = offer->offset != TERN_RMA_NOT_THERE && agreement->forced != FORCE_PULLED;
    bool pullable = agreement->pulls && agreement->forced != FORCE_MAPPED;
    if (agreement->forced == FORCE_ASKED || agreement->near_count < window->size ||
        window->on_device)
        return agreement->forced == FORCE_ASKED || window->size > 1;
    return window->size > 1 && !(window->controls_near && (shared || pullable));
}

/* Lets this rank be asked. Its program may compute for long, so a thread answers. With the hint
 * no_locks all ranks meet at the end of each epoch, in MPI. */
static int open_server(struct tern_window *window)
{
    int rc = tern_rma_serve_open(window);
    if (rc || window->unlockable)
        return rc;
    rc = tern_progress_thread_retain();
    window->has_thread = !rc;
    return rc;
}

int tern_window_open(struct tern_window *window, struct tern_context *context, bool dynamic,
                     bool unlockable, const struct tern_rma_offer *offers)
{
    struct agreement agreement = agree(context, dynamic, offers);
    window->device_key = offers[context->rank].key;
    tern_rma_combine_init();
    window->context = context;
    window->rank = context->rank;
    window->size = context->size;
    window->dynamic = dynamic;
    window->on_device = offers[context->rank].device;
    window->unlockable = unlockable;
    window->targets = calloc((unsigned)window->size, sizeof *window->targets);
    int rc = open_control(window, &agreement); /* also after a failure: the others count on it */
    if (!window->targets)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a window of %d ranks", window->size);
    if (!rc)
        rc = map_offers(window, offers);
    if (rc)
        return rc;
    choose_ways(window, &agreement, offers);
    if (is_asked(window, &agreement, &offers[window->rank]))
        rc = open_server(window);
    return rc;
}

int tern_window_finish(struct tern_window *window)
{
    int rc = tern_window_flush(window, -1, false);
    tern_lane_lock(window->context->lane);
    tern_rma_await(window, &window->sending);
    tern_lane_unlock(window->context->lane);
    return rc;
}

void tern_window_close(struct tern_window *window)
{
    if (window->has_thread)
        tern_progress_thread_release();
    tern_rma_serve_close(window);
    if (window->context) {
        tern_lane_lock(window->context->lane);
        tern_rma_await(window, &window->sending);
        tern_lane_unlock(window->context->lane);
    }
    conceal(window);
    tern_rma_device_unshare(window->device_key);
    for (int rank = 0; window->targets && rank < window->size; rank++)
        tern_rma_device_close(&window->targets[rank]);
    if (!window->controls_near)
        free(window->control);
    else if (window->leads)
        tern_segment_part(window->control_offset);
    free(window->targets);
    for (int rank = 0; window->copies && rank < window->size; rank++)
        tern_regions_free(&window->copies[rank]);
    free(window->copies);
    tern_regions_free(&window->regions);
    free(window->started_ranks);
    free(window->exposed_ranks);
    free(window->completions);
    *window = (struct tern_window){0};
}
