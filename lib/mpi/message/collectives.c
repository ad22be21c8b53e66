/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives (MPI-4.1 sections 6.3 to 6.13), each in three forms: blocking, nonblocking and
 * persistent. One function does all forms of a collective. These functions are generated
 * (api/collective_bodies.py). This file has the functions that they call, and MPI_Alltoallw, which
 * has a type for each block.
 *
 * The entry point has checked each significant argument by itself. Two faults are left:
 * MPI_IN_PLACE where it is not allowed, and an operation that is not defined on the type. Arguments
 * that are not significant on this rank are NULL.
 */
#include "lib/mpi/message/collectives.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/op.h"
#include "lib/mpi/request/request_object.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* Starts or prepares a call. The objects that the call holds (call->held) are released with the
 * request, or here on failure. */
static int begin(struct tern_call *call, struct tern_comm *comm, enum tern_form form,
                 struct tern_request **ret_request)
{
    if (tern_check_full())
        call->permit = tern_check_take_permit();
    int rc = (form == TERN_PERSISTENT ? tern_call_prepare : tern_call_start)(call, ret_request);
    if (rc)
        tern_call_let_go(call);
    else if (form == TERN_PERSISTENT)
        tern_request_hold_always(*ret_request, comm, NULL);
    else
        tern_request_hold(*ret_request, comm, NULL);
    return rc;
}

/* Objects that the user may free before the call completes: holds references to them. Predefined
 * objects are never freed. */
struct hold {
    struct tern_datatype *types[2];
    struct tern_op *op;
};

static void let_go(void *held)
{
    struct hold *hold = held;
    for (int i = 0; i < 2; i++)
        if (hold->types[i])
            tern_datatype_release(hold->types[i]);
    if (hold->op)
        tern_op_release(hold->op);
    free(hold);
}

static bool derived(const struct tern_datatype *datatype)
{
    return datatype && !datatype->predefined;
}

static int hold_arguments(struct tern_call *call, struct tern_datatype *a, struct tern_datatype *b,
                          struct tern_op *op)
{
    bool user_op = op && !op->predefined;
    if (!derived(a) && !derived(b) && !user_op)
        return 0;
    struct hold *hold = calloc(1, sizeof *hold);
    if (!hold)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a collective");
    struct tern_datatype *types[2] = {a, b};
    for (int i = 0; i < 2; i++)
        if (derived(types[i]))
            tern_datatype_retain(hold->types[i] = types[i]);
    if (user_op)
        tern_op_retain(hold->op = op);
    call->held = hold;
    call->let_go = let_go;
    return 0;
}

int tern_mpi_coll_proceed(struct tern_call *call, struct tern_comm *comm, struct tern_datatype *a,
                          struct tern_datatype *b, struct tern_op *op, enum tern_form form,
                          struct tern_request **ret_request)
{
    if (form == TERN_BLOCKING)
        return tern_call_run(call);
    int rc = hold_arguments(call, a, b, op);
    return rc ? rc : begin(call, comm, form, ret_request);
}

int tern_mpi_coll_refuse_in_place(const struct tern_comm *comm, const char *argument)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_BUFFER,
                          "%s is MPI_IN_PLACE, which has no meaning on an intercommunicator",
                          argument);
    return tern_error(TERN_ERR_BUFFER, "%s is MPI_IN_PLACE, which only the root may give",
                      argument);
}

int tern_mpi_coll_refuse_inter(void)
{
    return tern_error(TERN_ERR_COMM,
                      "comm is an intercommunicator; prefix reductions need an intracommunicator");
}

struct tern_block_types *tern_block_types_new(int64_t blocks)
{
    struct tern_block_types *types =
        malloc(sizeof *types + (size_t)blocks * (sizeof types->flat[0] + sizeof types->held[0]));
    if (types)
        *types = (struct tern_block_types){.held = (struct tern_datatype **)(types->flat + blocks)};
    else
        tern_error(TERN_ERR_NO_MEM, "no memory for the types of %lld blocks", (long long)blocks);
    return types;
}

void tern_block_types_free(void *freed)
{
    struct tern_block_types *types = freed;
    for (int i = 0; i < types->held_count; i++)
        tern_datatype_release(types->held[i]);
    free(types);
}

void tern_block_types_add(struct tern_block_types *types, int first, const MPI_Datatype handles[],
                          int count, const int *ranks)
{
    for (int i = 0; i < count; i++) {
        struct tern_datatype *datatype =
            ranks && ranks[i] < 0 ? NULL : tern_datatype_of(handles[i]);
        types->flat[first + i] = datatype ? &datatype->type : NULL;
        if (derived(datatype))
            tern_datatype_retain(types->held[types->held_count++] = datatype);
    }
}

int tern_mpi_coll_proceed_with_types(struct tern_call *call, struct tern_comm *comm,
                                     struct tern_block_types *types, enum tern_form form,
                                     struct tern_request **ret_request)
{
    if (form == TERN_BLOCKING) {
        int rc = tern_call_run(call);
        tern_block_types_free(types);
        return rc;
    }
    call->held = types;
    call->let_go = tern_block_types_free;
    return begin(call, comm, form, ret_request);
}

int tern_mpi_alltoallw(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       const MPI_Datatype sendtypes[], void *recvbuf, struct tern_ints recvcounts,
                       struct tern_ints rdispls, const MPI_Datatype recvtypes[],
                       struct tern_comm *comm, enum tern_form form,
                       struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_mpi_coll_check_in_place(comm, sendbuf, "sendbuf", !tern_comm_inter(comm));
    if (rc)
        return rc;
    int blocks = comm->coll.remote_size ? comm->coll.remote_size : comm->coll.size;
    struct tern_block_types *types = tern_block_types_new(2 * (int64_t)blocks);
    if (!types)
        return TERN_ERR_NO_MEM;
    if (sendbuf != MPI_IN_PLACE)
        tern_block_types_add(types, 0, sendtypes, blocks, NULL);
    tern_block_types_add(types, blocks, recvtypes, blocks, NULL);
    tern_call_alltoallw(&call, &comm->coll, sendbuf, sendcounts, sdispls, types->flat, recvbuf,
                        recvcounts, rdispls, types->flat + blocks);
    return tern_mpi_coll_proceed_with_types(&call, comm, types, form, ret_request);
}
