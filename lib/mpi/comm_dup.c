/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Duplicates, blocking or not (MPI-4.1 section 7.4.2). The id is mostly known already
 * (lib/mpi/comm_ids.h); then a duplicate is made without a message, and without waiting for the
 * other processes. Otherwise MPI_Comm_idup returns while the processes agree. Attributes and hints
 * are copied in the call, so that what happens to them later is not seen; only the contexts are
 * opened when the request is reported. Messages of those who are faster wait until then, as with
 * every communicator.
 */

#include "lib/mpi/attr.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/comm_ids.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/request_object.h"
#include "lib/mpi/topo/topo.h"
#include "lib/pml/pml.h"
#include "lib/util/error.h"

#include <stdlib.h>

struct duplication {
    struct tern_request request;
    struct tern_comm *twin; /* the user's; its contexts are not open yet */
    struct tern_id id;      /* for it; dropped when they are */
};

static struct duplication *duplication_of(struct tern_request *request)
{
    return (struct duplication *)request;
}

/* Opens the contexts, and drops the id. */
static int connect(struct tern_comm *twin, struct tern_id *id)
{
    int rc = tern_comm_connect(twin, tern_id_value(id));
    if (!rc)
        tern_id_give_rest(id, twin);
    tern_id_drop(id);
    return rc;
}

/* The part of reporting: nobody waits for this, and a context is not opened within progress. */
static int open_twin(struct tern_request *request)
{
    struct duplication *dup = duplication_of(request);
    if (!dup->id.block || request->error)
        return 0;
    tern_lock(); /* who waits for a request has none */
    int rc = connect(dup->twin, &dup->id);
    tern_unlock();
    return rc;
}

static void release(struct tern_request *request)
{
    struct duplication *dup = duplication_of(request);
    tern_id_drop(&dup->id);
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

/* A copy with attributes, hints and topology, whose contexts are not open. */
static int make_twin(struct tern_comm *comm, struct tern_info *info, struct tern_comm **ret_twin)
{
    struct tern_comm *twin;
    int rc = tern_comm_new(comm, comm->group, comm->remote_group, &twin);
    if (rc)
        return rc;
    if (comm->topo) {
        tern_topo_retain(comm->topo);
        twin->topo = comm->topo;
    }
    tern_comm_take_hints(twin, info);
    rc = tern_attrs_copy(TERN_ATTR_COMM, &comm->obj, comm->attrs, &twin->attrs);
    if (rc) {
        tern_attrs_delete_all(TERN_ATTR_COMM, &twin->obj, &twin->attrs);
        tern_comm_release(twin);
        return rc;
    }
    *ret_twin = twin;
    return 0;
}

/* The id is taken before anything can fail, such as the copying of an attribute: the other
 * processes take theirs, too, and all must count alike. */
int tern_mpi_comm_idup_with_info(struct tern_comm *comm, struct tern_info *info,
                                 struct tern_comm **ret_newcomm, struct tern_request **ret_request)
{
    struct tern_id id;
    struct duplication *dup = NULL;
    struct tern_comm *twin;
    int rc = tern_id_take(comm, &id);
    if (rc)
        return rc;
    rc = make_twin(comm, info, &twin);
    if (!rc && !(dup = malloc(sizeof *dup))) {
        tern_comm_release(twin);
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the duplicate of a communicator");
    }
    if (rc) {
        tern_id_await(&id); /* the agreement uses comm, which the user may free now */
        tern_id_drop(&id);
        return rc;
    }
    dup->twin = twin;
    dup->id = id;
    tern_request_init(&dup->request, &kind, comm);
    dup->request.lane = comm->coll.context.lane;
    tern_id_complete_when_known(&id, &dup->request);
    tern_request_hold_always(&dup->request, comm, NULL);
    *ret_newcomm = twin;
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
    struct tern_id id;
    struct tern_comm *twin;
    int rc = tern_id_agree(comm, &id);
    if (rc)
        return rc;
    rc = make_twin(comm, info, &twin);
    if (rc) {
        tern_id_drop(&id);
        return rc;
    }
    rc = connect(twin, &id);
    if (rc)
        tern_comm_release(twin);
    else
        *ret_newcomm = twin;
    return rc;
}

int tern_mpi_comm_dup(struct tern_comm *comm, struct tern_comm **ret_newcomm)
{
    return tern_mpi_comm_dup_with_info(comm, NULL, ret_newcomm);
}
