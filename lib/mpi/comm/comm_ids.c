/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * An agreement on a block of ids. Rank 0 makes the ids and broadcasts the first one. On an
 * intercommunicator this happens in each group; at the same time a reduction brings to each group
 * the offer of the other group's rank 0. The lower offer wins. An agreement that is started
 * completes by itself.
 *
 * Blocks grow from FEWEST communicators to MOST. So a communicator that is duplicated once wastes
 * few ids. One that is duplicated again and again pays for 1 agreement in MOST calls.
 */
#include "lib/mpi/comm/comm_ids.h"

#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/datatype/op.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdlib.h>

enum { FEWEST = 4, GROWTH = 4, MOST = 4096, EACH = 5 };

struct tern_id_block {
    /* Complete when the ids are known or the agreement has failed. */
    struct tern_request request;
    /* first id that rank 0 of the local group offers; 0 if it has none */
    uint64_t ours;
    /* For an intercommunicator: input and result of the reduction. Rank 0 puts in its offer, other
     * ranks the highest number. */
    uint64_t mine, theirs;
    bool inter;
    /* number of collectives under way; one more while they are being started */
    int parts;
    /* duplications that complete together with this block, linked by `owner` */
    struct tern_request *awaiting;
    struct tern_id_range range; /* on the process that made the ids: their range */
};

static uint64_t first_id(const struct tern_id_block *block)
{
    return block->inter && block->theirs < block->ours ? block->theirs : block->ours;
}

/* The kind of the request. No user has a handle of it, so none of its functions is called. */
static const struct tern_request_kind kind = {.name = "agreement on ids"};

static void complete(struct tern_id_block *block)
{
    int error = block->request.error;
    struct tern_request *next;
    for (struct tern_request *request = block->awaiting; request; request = next) {
        next = request->owner;
        tern_request_complete(request, error);
    }
    block->awaiting = NULL;
    tern_request_complete(&block->request, error);
}

static void end_part(struct tern_id_block *block, int error)
{
    if (error && !block->request.error)
        block->request.error = error;
    if (--block->parts == 0)
        complete(block);
}

static void part_completed(struct tern_request *part)
{
    struct tern_id_block *block = part->owner;
    int error = part->error;
    part->kind->release(part);
    end_part(block, error);
}

static int start_part(struct tern_id_block *block, struct tern_call *call)
{
    struct tern_request *part;
    tern_call_set_inside(call);
    int rc = tern_call_start(call, &part);
    if (rc)
        return rc;
    block->parts++;
    part->owner = block;
    part->on_complete = part_completed;
    if (part->complete)
        part_completed(part);
    return 0;
}

/* Starts the collectives of an agreement. Needs the lane: all parts belong to this lane, and none
 * may complete between its start and the setting of its on_complete. */
static int start_parts(struct tern_id_block *block, struct tern_comm *comm)
{
    struct tern_coll *own = comm->local ? &comm->local->coll : &comm->coll;
    struct tern_call call;
    int rc = 0;
    if (own->size > 1) {
        tern_call_bcast(&call, own, &block->ours, sizeof block->ours, &tern_type_bytes, 0);
        rc = start_part(block, &call);
    }
    if (rc || !block->inter)
        return rc;
    struct tern_reduction min;
    rc = tern_op_reduction(&tern_op_min, &tern_datatype_uint64_t, &min);
    if (rc)
        return rc;
    tern_call_allreduce(&call, &comm->coll, &block->mine, &block->theirs, 1,
                        &tern_datatype_uint64_t.type, &min);
    return start_part(block, &call);
}

static int start_agreement(struct tern_comm *comm, uint32_t count, struct tern_id_block **ret_block)
{
    struct tern_lane *lane = comm->coll.context.lane;
    struct tern_id_block *block = calloc(1, sizeof *block);
    if (!block)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the ids of communicators");
    tern_request_init(&block->request, &kind, comm);
    block->request.lane = lane;
    block->inter = tern_comm_inter(comm);
    block->parts = 1;
    block->mine = UINT64_MAX;
    if (comm->group->rank == 0)
        block->mine = block->ours = tern_context_new_ids(count, &block->range);
    tern_lane_lock(lane);
    int rc = start_parts(block, comm);
    end_part(block, rc);
    tern_lane_unlock(lane);
    *ret_block = block;
    return 0;
}

/* Drops a reference to a block. When the last one is dropped the agreement is complete, because
 * each request that waits for it holds one. */
static void release_block(struct tern_id_block *block)
{
    if (!block || tern_unref(&block->request.obj.refs))
        return;
    tern_lock();
    tern_ids_drop(&block->range);
    tern_unlock();
    free(block);
}

static int refill(struct tern_comm *comm)
{
    struct tern_comm_ids *ids = &comm->ids;
    uint32_t count = ids->agreed == 0     ? FEWEST
                     : ids->agreed < MOST ? ids->agreed * GROWTH
                                          : MOST;
    struct tern_id_block *block = NULL;
    int rc = start_agreement(comm, count * EACH, &block);
    if (rc)
        return rc;
    release_block(ids->block);
    *ids =
        (struct tern_comm_ids){.block = block, .end = count * EACH, .each = EACH, .agreed = count};
    return 0;
}

/* Takes the next id. */
static int take(struct tern_comm *comm, struct tern_id *ret_id)
{
    struct tern_comm_ids *ids = &comm->ids;
    int rc = ids->next == ids->end ? refill(comm) : 0;
    if (rc)
        return rc;
    tern_ref(&ids->block->request.obj.refs);
    *ret_id = (struct tern_id){.block = ids->block, .index = ids->next, .count = ids->each};
    ids->next += ids->each;
    return 0;
}

void tern_id_give_rest(struct tern_id *id, struct tern_comm *twin)
{
    if (id->count == 1)
        return;
    twin->ids = (struct tern_comm_ids){id->block, id->index + 1, id->index + id->count, 1, 0};
    tern_ref(&id->block->request.obj.refs);
}

void tern_id_drop(struct tern_id *id)
{
    release_block(id->block);
    id->block = NULL;
}

int tern_id_await(struct tern_id *id)
{
    int rc = 0;
    if (id->meeting) {
        tern_request_wait(id->meeting);
        rc = id->meeting->error;
        id->meeting->kind->release(id->meeting);
        id->meeting = NULL;
    }
    tern_request_wait(&id->block->request);
    return rc ? rc : id->block->request.error;
}

int tern_id_agree(struct tern_comm *comm, struct tern_id *ret_id)
{
    int rc = take(comm, ret_id);
    if (rc)
        return rc;
    rc = tern_id_await(ret_id);
    int meet_rc = tern_comm_meet(comm); /* also after a failure: the other processes wait */
    rc = rc ? rc : meet_rc;
    if (rc)
        tern_id_drop(ret_id);
    return rc;
}

int tern_id_start(struct tern_comm *comm, struct tern_id *ret_id)
{
    struct tern_call barrier;
    int rc = take(comm, ret_id);
    if (rc || !tern_comm_synchronizes())
        return rc;
    tern_call_barrier(&barrier, &comm->coll);
    tern_call_set_inside(&barrier);
    rc = tern_call_start(&barrier, &ret_id->meeting);
    if (rc) {
        tern_id_await(ret_id);
        tern_id_drop(ret_id);
    }
    return rc;
}

bool tern_comm_synchronizes(void)
{
    static struct tern_param_kept kept;
    return tern_param_keep(&kept, "mpi_comm_synchronize");
}

int tern_comm_meet(struct tern_comm *comm)
{
    return tern_comm_synchronizes() ? tern_coll_barrier(&comm->coll) : 0;
}

uint64_t tern_id_value(const struct tern_id *id)
{
    uint64_t first = first_id(id->block);
    return first ? first + 2 * (uint64_t)id->index : 0;
}

/* Completes `request` when the ids of `block` are known. Needs the lane of the request. A block of
 * another lane is the parent's, and known, because the communicator got its own id from it. */
static void complete_when_known(struct tern_id_block *block, struct tern_request *request)
{
    if (block->request.complete) {
        tern_request_complete(request, block->request.error);
    } else {
        request->owner = block->awaiting;
        block->awaiting = request;
    }
}

/* The barrier of a request has ended: now the request waits for the ids only. */
static void met(struct tern_request *meeting)
{
    struct tern_request *request = meeting->owner;
    int error = meeting->error;
    meeting->kind->release(meeting);
    if (error)
        tern_request_complete(request, error);
    else
        complete_when_known(request->owner, request);
}

void tern_id_complete_when_known(struct tern_id *id, struct tern_request *request)
{
    struct tern_request *meeting = id->meeting;
    tern_lane_lock(request->lane);
    id->meeting = NULL;
    if (meeting && !meeting->complete) {
        request->owner = id->block;
        meeting->owner = request;
        meeting->on_complete = met;
    } else {
        if (meeting)
            meeting->kind->release(meeting);
        complete_when_known(id->block, request);
    }
    tern_lane_unlock(request->lane);
}

void tern_comm_ids_drop(struct tern_comm_ids *ids)
{
    release_block(ids->block);
    ids->block = NULL;
}
