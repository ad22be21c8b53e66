/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Duplicates, blocking or not (MPI-4.1 section 7.4.2). The processes have to agree on an id, and
 * that goes on by itself once it is started: a broadcast from rank 0; on an intercommunicator a
 * broadcast within each group and, at the same time, a reduction that brings each group what the
 * other's rank 0 offers. Attributes and hints are copied in the call, so that what happens to them
 * later is not seen; only the contexts are opened when the request is reported. Messages of those
 * who are faster wait until then, as with every communicator.
 */

#include "lib/mpi/attr.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/datatype_named.h"
#include "lib/mpi/op.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/request.h"
#include "lib/mpi/topo.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"

#include <stdlib.h>

enum { PARTS = 2 };

struct duplication {
    struct tern_request request;
    struct tern_comm *twin; /* the user's; its contexts are not open yet */
    uint64_t ours;          /* id that rank 0 of the local group offers */
    uint64_t mine, theirs;  /* of an intercommunicator: rank 0's id, elsewhere the highest number */
    struct tern_request *parts[PARTS];
    int part_count, waiting; /* for so many parts; one more while they are started */
    bool open;
};

static struct duplication *duplication_of(struct tern_request *request)
{
    return (struct duplication *)request;
}

static void one_less(struct duplication *dup)
{
    if (--dup->waiting > 0)
        return;
    int error = 0;
    for (int i = 0; i < dup->part_count; i++)
        error = error ? error : dup->parts[i]->error;
    tern_request_complete(&dup->request, error);
}

static void part_completed(struct tern_request *part)
{
    one_less(part->owner);
}

/* The part of reporting: nobody waits for this, and a context is not opened within progress. */
static int open_twin(struct tern_request *request)
{
    struct duplication *dup = duplication_of(request);
    if (dup->open || request->error)
        return 0;
    bool theirs = tern_comm_inter(dup->twin) && dup->theirs < dup->ours;
    tern_lock(); /* who waits for a request has none */
    int rc = tern_comm_connect(dup->twin, theirs ? dup->theirs : dup->ours);
    tern_unlock();
    dup->open = !rc;
    return rc;
}

static void release(struct tern_request *request)
{
    struct duplication *dup = duplication_of(request);
    for (int i = 0; i < dup->part_count; i++) {
        dup->parts[i]->kind->release(dup->parts[i]);
    }
    request->obj.own.magic = TERN_MAGIC_FREED;
    free(dup);
}

static int cannot_cancel(struct tern_request *request)
{
    (void)request;
    return tern_error(TERN_ERR_REQUEST, "the duplication of a communicator cannot be cancelled");
}

static const struct tern_request_kind kind = {.name = "duplication of a communicator",
                                              .cancel = cannot_cancel,
                                              .release = release,
                                              .query = open_twin};

static int start_part(struct duplication *dup, struct tern_call *call)
{
    struct tern_request *part;
    int rc = tern_call_prepare(call, &part);
    if (rc)
        return rc;
    part->owner = dup;
    part->on_complete = part_completed;
    dup->waiting++;
    rc = part->kind->start(part);
    if (rc) {
        dup->waiting--;
        part->kind->release(part);
        return rc;
    }
    dup->parts[dup->part_count++] = part;
    return 0;
}

static int start_parts(struct duplication *dup, struct tern_comm *comm)
{
    struct tern_coll *own = comm->local ? &comm->local->coll : &comm->coll;
    struct tern_call call;
    tern_call_bcast(&call, own, &dup->ours, sizeof dup->ours, &tern_type_bytes, 0);
    int rc = start_part(dup, &call);
    if (rc || !comm->local)
        return rc;
    dup->mine = comm->group->rank == 0 ? dup->ours : UINT64_MAX;
    struct tern_reduction min;
    rc = tern_op_reduction(&tern_op_min, &tern_datatype_uint64_t, &min);
    if (rc)
        return rc;
    tern_call_allreduce(&call, &comm->coll, &dup->mine, &dup->theirs, 1,
                        &tern_datatype_uint64_t.type, &min);
    return start_part(dup, &call);
}

/* The twin has attributes, hints and topology when this returns. A callback that fails must not
 * keep the others waiting, so the agreement is seen through. */
static int copy_properties(struct tern_comm *comm, struct tern_info *info, struct tern_comm *twin)
{
    if (comm->topo) {
        tern_topo_retain(comm->topo);
        twin->topo = comm->topo;
    }
    tern_comm_take_hints(twin, info);
    int rc = tern_attrs_copy(TERN_ATTR_COMM, &comm->obj, comm->attrs, &twin->attrs);
    if (rc)
        tern_attrs_delete_all(TERN_ATTR_COMM, &twin->obj, &twin->attrs);
    return rc;
}

static int start(struct tern_comm *comm, struct tern_info *info, struct duplication **ret_dup)
{
    struct duplication *dup = calloc(1, sizeof *dup);
    if (!dup)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the duplicate of a communicator");
    int rc = tern_comm_new(comm, comm->group, comm->remote_group, &dup->twin);
    if (rc) {
        free(dup);
        return rc;
    }
    tern_request_init(&dup->request, &kind, comm);
    dup->request.lane = comm->coll.context.lane;
    dup->waiting = 1;
    if (comm->group->rank == 0)
        dup->ours = tern_context_new_id();
    tern_lane_lock(dup->request.lane); /* all parts are this lane's */
    rc = start_parts(dup, comm);
    one_less(dup);
    tern_lane_unlock(dup->request.lane);
    int copy_rc = copy_properties(comm, info, dup->twin);
    rc = rc ? rc : copy_rc;
    if (rc) {
        tern_request_wait(&dup->request);
        tern_comm_release(dup->twin);
        release(&dup->request);
        return rc;
    }
    *ret_dup = dup;
    return 0;
}

int tern_mpi_comm_idup_with_info(struct tern_comm *comm, struct tern_info *info,
                                 struct tern_comm **ret_newcomm, struct tern_request **ret_request)
{
    struct duplication *dup;
    int rc = start(comm, info, &dup);
    if (rc)
        return rc;
    tern_request_hold_always(&dup->request, comm, NULL);
    *ret_newcomm = dup->twin;
    *ret_request = &dup->request;
    return 0;
}

/* Hints are not copied (MPI-4.1), as in Open MPI and MPICH. */
int tern_mpi_comm_idup(struct tern_comm *comm, struct tern_comm **ret_newcomm,
                       struct tern_request **ret_request)
{
    return tern_mpi_comm_idup_with_info(comm, NULL, ret_newcomm, ret_request);
}

int tern_mpi_comm_dup_with_info(struct tern_comm *comm, struct tern_info *info,
                                struct tern_comm **ret_newcomm)
{
    struct duplication *dup;
    int rc = start(comm, info, &dup);
    if (rc)
        return rc;
    tern_request_wait(&dup->request);
    rc = dup->request.error ? dup->request.error : open_twin(&dup->request);
    if (rc)
        tern_comm_release(dup->twin);
    else
        *ret_newcomm = dup->twin;
    release(&dup->request);
    return rc;
}

int tern_mpi_comm_dup(struct tern_comm *comm, struct tern_comm **ret_newcomm)
{
    return tern_mpi_comm_dup_with_info(comm, NULL, ret_newcomm);
}
