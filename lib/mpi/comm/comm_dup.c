/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Duplicates, blocking or not (MPI-4.1 section 7.4.2). Usually the id is known already
 * (lib/mpi/comm/comm_ids.h). Then a duplicate needs only a barrier, which within a node sends
 * nothing. Otherwise the processes agree on ids, too. MPI_Comm_idup returns meanwhile. Attributes
 * and hints are copied in the call, so that later changes to them have no effect. Only the contexts
 * are opened later, when the request is reported. Messages of faster processes wait until then, as
 * with every communicator.
 */

#include "lib/mpi/object/attr.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/comm/comm_ids.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/request/request_object.h"
#include "lib/mpi/object/topo_data.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

struct duplication {
    struct tern_request request;
    struct tern_comm *twin; /* the user's duplicate; its contexts are not open yet */
    struct tern_id id;      /* the id for `twin`; dropped when the contexts are open */
};

static struct duplication *duplication_of(struct tern_request *request)
{
    return (struct duplication *)request;
}

/* Opens the contexts of the duplicate, and drops the id. */
static int connect(struct tern_comm *twin, struct tern_id *id)
{
    int rc = tern_comm_connect(twin, tern_id_value(id));
    if (!rc)
        tern_id_give_rest(id, twin);
    tern_id_drop(id);
    return rc;
}

/* Opens the duplicate when the request is reported. No other process waits for this, and a context
 * must not be opened inside progress. */
static int open_twin(struct tern_request *request)
{
    struct duplication *dup = duplication_of(request);
    if (!dup->id.block || request->error)
        return 0;
    tern_lock(); /* a thread that waits for a request holds no lock */
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

/* Makes a copy with attributes, hints and topology, whose contexts are not open. */
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

/* Takes the id before anything can fail, such as copying an attribute. The other processes take
 * their id, too, and all processes must count alike. */
int tern_mpi_comm_idup_with_info(struct tern_comm *comm, struct tern_info *info,
                                 struct tern_comm **ret_newcomm, struct tern_request **ret_request)
{
    struct tern_id id;
    struct duplication *dup = NULL;
    struct tern_comm *twin;
    int rc = tern_id_start(comm, &id);
    if (rc)
        return rc;
    rc = make_twin(comm, info, &twin);
    if (!rc && !(dup = malloc(sizeof *dup))) {
        tern_comm_release(twin);
        rc = tern_error(TERN_ERR_NO_MEM, "no memory for the duplicate of a communicator");
    }
    if (rc) {
        /* the agreement and the barrier use comm, which the user may free now */
        tern_id_await(&id);
        tern_id_drop(&id);
        return rc;
    }
    dup->twin = twin;
    dup->id = id;
    tern_request_init(&dup->request, &kind, comm);
    dup->request.lane = comm->coll.context.lane;
    tern_id_complete_when_known(&dup->id, &dup->request);
    tern_request_hold_always(&dup->request, comm, NULL);
    *ret_newcomm = twin;
    *ret_request = &dup->request;
    return 0;
}

/* Does not copy hints (MPI-4.1), as Open MPI and MPICH do not. */
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
