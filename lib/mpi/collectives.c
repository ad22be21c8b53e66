/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Collectives (MPI-4.1 sections 6.3 to 6.13), each in its three forms: blocking, nonblocking,
 * persistent. The entry point has looked at each significant argument by itself; what is found here
 * is MPI_IN_PLACE where it may not stand, and an operation that is not defined on the type.
 * Arguments that are not significant on this rank come as NULL.
 */
#include "lib/mpi/collectives.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/check/gate.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/op.h"
#include "lib/mpi/request_object.h"
#include "lib/util/error.h"

#include <stdlib.h>

/* Starts or prepares a call. What it holds (call->held) is let go with the request, or here on failure. */
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

/* Keeps alive what the user may free before the end. Predefined objects stay anyway. */
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

/* Types that are not significant here come as NULL. */
static const struct tern_type *type_of(const struct tern_datatype *datatype)
{
    return datatype ? &datatype->type : &tern_type_bytes;
}

static int root_of(const struct tern_comm *comm, int root)
{
    if (!tern_comm_inter(comm))
        return root;
    return root == MPI_ROOT ? TERN_ROOT_ME : root == MPI_PROC_NULL ? TERN_ROOT_BESIDE_ME : root;
}

/* MPI_IN_PLACE stands for `argument`: `allowed` is whether this rank may say so. */
static int check_in_place(const struct tern_comm *comm, const void *buf, const char *argument,
                          bool allowed)
{
    if (buf != MPI_IN_PLACE)
        return 0;
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_BUFFER,
                          "%s is MPI_IN_PLACE, which has no meaning on an intercommunicator",
                          argument);
    if (!allowed)
        return tern_error(TERN_ERR_BUFFER, "%s is MPI_IN_PLACE, which only the root may give",
                          argument);
    return 0;
}

/* The same buffer twice is not allowed by the standard; it can only mean MPI_IN_PLACE, and other
 * libraries get along with it. */
static const void *input_of(const void *sendbuf, const void *recvbuf, bool has_result)
{
    return sendbuf == recvbuf && has_result ? MPI_IN_PLACE : sendbuf;
}

int tern_mpi_barrier(struct tern_comm *comm, enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    tern_call_barrier(&call, &comm->coll);
    return tern_mpi_coll_proceed(&call, comm, NULL, NULL, NULL, form, ret_request);
}

int tern_mpi_bcast(void *buffer, MPI_Count count, struct tern_datatype *datatype, int root,
                   struct tern_comm *comm, enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    tern_call_bcast(&call, &comm->coll, buffer, count, type_of(datatype), root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, NULL, form, ret_request);
}

int tern_mpi_gather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                    void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                    struct tern_comm *comm, enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gather(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                     type_of(recvtype), root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_gatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                     void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                     struct tern_datatype *recvtype, int root, struct tern_comm *comm,
                     enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_gatherv(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                      recvcounts, displs, type_of(recvtype), root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_scatter(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                     void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                     struct tern_comm *comm, enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatter(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf, recvcount,
                      type_of(recvtype), root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_scatterv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints displs,
                      struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                      struct tern_datatype *recvtype, int root, struct tern_comm *comm,
                      enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, recvbuf, "recvbuf", root == comm->coll.rank);
    if (rc)
        return rc;
    tern_call_scatterv(&call, &comm->coll, sendbuf, sendcounts, displs, type_of(sendtype), recvbuf,
                       recvcount, type_of(recvtype), root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_allgather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                       void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                       struct tern_comm *comm, enum tern_form form,
                       struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgather(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                        recvcount, type_of(recvtype));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_allgatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                        void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                        struct tern_datatype *recvtype, struct tern_comm *comm, enum tern_form form,
                        struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_allgatherv(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                         recvcounts, displs, type_of(recvtype));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_alltoall(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                      struct tern_comm *comm, enum tern_form form,
                      struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoall(&call, &comm->coll, sendbuf, sendcount, type_of(sendtype), recvbuf,
                       recvcount, type_of(recvtype));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
}

int tern_mpi_alltoallv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                       struct tern_datatype *sendtype, void *recvbuf, struct tern_ints recvcounts,
                       struct tern_ints rdispls, struct tern_datatype *recvtype,
                       struct tern_comm *comm, enum tern_form form,
                       struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    if (rc)
        return rc;
    tern_call_alltoallv(&call, &comm->coll, sendbuf, sendcounts, sdispls, type_of(sendtype),
                        recvbuf, recvcounts, rdispls, type_of(recvtype));
    return tern_mpi_coll_proceed(&call, comm, sendtype, recvtype, NULL, form, ret_request);
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

void tern_block_types_add(struct tern_block_types *types, int first, const MPI_Datatype handles[], int count,
                          const int *ranks)
{
    for (int i = 0; i < count; i++) {
        struct tern_datatype *datatype = ranks && ranks[i] < 0 ? NULL : tern_datatype_of(handles[i]);
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
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
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

int tern_mpi_reduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                    struct tern_datatype *datatype, struct tern_op *op, int root,
                    struct tern_comm *comm, enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction = {.commutative = true};
    bool at_root = root == comm->coll.rank && !tern_comm_inter(comm);
    int rc = check_in_place(comm, sendbuf, "sendbuf", at_root);
    if (!rc && op) /* NULL: beside the root of an intercommunicator */
        rc = tern_op_reduction(op, datatype, &reduction);
    if (rc)
        return rc;
    tern_call_reduce(&call, &comm->coll, input_of(sendbuf, recvbuf, at_root), recvbuf, count,
                     type_of(datatype), &reduction, root_of(comm, root));
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}

/* Of those in which every rank may give MPI_IN_PLACE. */
static int prepare_reduction(const void *sendbuf, struct tern_datatype *datatype,
                             struct tern_op *op, struct tern_comm *comm,
                             struct tern_reduction *ret_reduction)
{
    int rc = check_in_place(comm, sendbuf, "sendbuf", true);
    return rc ? rc : tern_op_reduction(op, datatype, ret_reduction);
}

int tern_mpi_allreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                       struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                       enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_reduction(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_allreduce(&call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)),
                        recvbuf, count, &datatype->type, &reduction);
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}

int tern_mpi_reduce_scatter(const void *sendbuf, void *recvbuf, struct tern_ints recvcounts,
                            struct tern_datatype *datatype, struct tern_op *op,
                            struct tern_comm *comm, enum tern_form form,
                            struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_reduction(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter(&call, &comm->coll, input_of(sendbuf, recvbuf, !tern_comm_inter(comm)),
                             recvbuf, recvcounts, &datatype->type, &reduction);
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}

int tern_mpi_reduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                  struct tern_datatype *datatype, struct tern_op *op,
                                  struct tern_comm *comm, enum tern_form form,
                                  struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_reduction(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_reduce_scatter_block(&call, &comm->coll,
                                   input_of(sendbuf, recvbuf, !tern_comm_inter(comm)), recvbuf,
                                   recvcount, &datatype->type, &reduction);
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}

static int prepare_scan(const void *sendbuf, struct tern_datatype *datatype, struct tern_op *op,
                        struct tern_comm *comm, struct tern_reduction *ret_reduction)
{
    if (tern_comm_inter(comm))
        return tern_error(
            TERN_ERR_COMM,
            "comm is an intercommunicator; prefix reductions need an intracommunicator");
    return prepare_reduction(sendbuf, datatype, op, comm, ret_reduction);
}

int tern_mpi_scan(const void *sendbuf, void *recvbuf, MPI_Count count,
                  struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                  enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_scan(&call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count,
                   &datatype->type, &reduction);
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}

int tern_mpi_exscan(const void *sendbuf, void *recvbuf, MPI_Count count,
                    struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                    enum tern_form form, struct tern_request **ret_request)
{
    struct tern_call call;
    struct tern_reduction reduction;
    int rc = prepare_scan(sendbuf, datatype, op, comm, &reduction);
    if (rc)
        return rc;
    tern_call_exscan(&call, &comm->coll, input_of(sendbuf, recvbuf, true), recvbuf, count,
                     &datatype->type, &reduction);
    return tern_mpi_coll_proceed(&call, comm, datatype, NULL, op, form, ret_request);
}
