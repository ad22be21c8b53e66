/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What the ways to make communicators share: bytes between the processes of a communicator, and an
 * intracommunicator with an id that the parent's processes have agreed on. The ways themselves
 * stand above (comm_create.c, comm_inter.c, topo/).
 */

#include "lib/mpi/object/comm.h"

#include "lib/mpi/comm/comm_ids.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>

/* Collectives use tags from 0 up, and TERN_TAG_EXCHANGE is -2. Users' tags are mapped to the tags
 * below it; the two highest users' tags share one. */
int tern_comm_user_tag(int tag)
{
    return tag < INT_MAX - 1 ? TERN_TAG_EXCHANGE - 1 - tag : INT_MIN;
}

int tern_comm_bcast_bytes(struct tern_comm *comm, void *bytes, int64_t length, int root)
{
    return tern_coll_bcast(&comm->coll, bytes, length, &tern_type_bytes, root);
}

int tern_comm_bcast_failure(struct tern_comm *comm, int64_t length, int root, int failed)
{
    struct tern_call call;
    char *nothing = calloc(1, (size_t)length + 1);
    if (!nothing)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %ld bytes", (long)length);
    tern_call_bcast(&call, &comm->coll, nothing, length, &tern_type_bytes, root);
    call.failed = failed;
    int rc = tern_call_run(&call);
    free(nothing);
    return rc;
}

int tern_comm_allgather_bytes(struct tern_comm *comm, const void *send, void *recv, int64_t length)
{
    return tern_coll_allgather(&comm->coll, send, length, &tern_type_bytes, recv, length,
                               &tern_type_bytes);
}

int tern_comm_sendrecv(struct tern_comm *comm, int tag, const void *send, int64_t send_bytes,
                       int to, void *recv, int64_t recv_bytes, int from)
{
    struct tern_request *incoming, *outgoing;
    int rc = tern_pml_irecv(&comm->coll.context, recv, recv_bytes, &tern_type_bytes, from, tag,
                            &incoming);
    if (rc)
        return rc;
    int send_rc = tern_pml_isend(&comm->coll.context, send, send_bytes, &tern_type_bytes, to, tag,
                                 TERN_SEND_STANDARD, &outgoing);
    if (!send_rc) {
        tern_request_wait(outgoing);
        send_rc = outgoing->error;
        outgoing->kind->release(outgoing);
    }
    tern_request_wait(incoming);
    rc = incoming->error;
    incoming->kind->release(incoming);
    return send_rc ? send_rc : rc;
}

void tern_comm_refuse(struct tern_comm *comm, int tag, int other, void *recv, int64_t recv_bytes)
{
    struct tern_request *incoming;
    if (tern_pml_irecv(&comm->coll.context, recv, recv_bytes, &tern_type_bytes, other, tag,
                       &incoming))
        return;
    tern_pml_send_failure(&comm->coll.context, other, tag);
    tern_request_wait(incoming);
    incoming->kind->release(incoming);
}

int tern_comm_exchange(struct tern_comm *inter, const void *send, int64_t send_bytes, void *recv,
                       int64_t recv_bytes)
{
    int rc = 0;
    if (inter->group->rank == 0)
        rc = tern_comm_sendrecv(inter, TERN_TAG_EXCHANGE, send, send_bytes, 0, recv, recv_bytes, 0);
    if (rc)
        return tern_comm_bcast_failure(inter->local, recv_bytes, 0, rc);
    return tern_comm_bcast_bytes(inter->local, recv, recv_bytes, 0);
}

int tern_comm_make(struct tern_comm *comm, struct tern_group *group, struct tern_comm **ret_comm)
{
    struct tern_id id;
    int rc = tern_id_agree(comm, &id);
    if (rc)
        return rc;
    if (group)
        rc = tern_comm_open(comm, group, tern_id_value(&id), ret_comm);
    else
        *ret_comm = NULL;
    tern_id_drop(&id);
    return rc;
}
