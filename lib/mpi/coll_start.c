/* SPDX-License-Identifier: BSD-3-Clause */

/* Nonblocking and persistent collectives (MPI-4.1 sections 6.12 and 6.13): the blocking ones'
 * calls, started or prepared. */
#include "lib/mpi/check.h"
#include "lib/mpi/coll_describe.h"
#include "lib/mpi/request.h"
#include "lib/util/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

/* Keeps alive what the user may free before the end: types, operation; `memory` is freed.
 * Predefined objects stay anyway. */
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

static int start(struct tern_call *call, struct tern_comm *comm, struct tern_datatype *a,
                 struct tern_datatype *b, struct tern_op *op, struct tern_request **ret_request)
{
    if (tern_check_full())
        call->permit = tern_check_take_permit();
    int rc = hold_arguments(call, a, b, op);
    if (!rc)
        rc = tern_call_start(call, ret_request);
    if (rc)
        tern_call_let_go(call);
    else
        tern_request_hold(*ret_request, comm, NULL);
    return rc;
}

static int prepare(struct tern_call *call, struct tern_comm *comm, struct tern_datatype *a,
                   struct tern_datatype *b, struct tern_op *op, struct tern_request **ret_request)
{
    if (tern_check_full())
        call->permit = tern_check_take_permit();
    int rc = hold_arguments(call, a, b, op);
    if (!rc)
        rc = tern_call_prepare(call, ret_request);
    if (rc)
        tern_call_let_go(call);
    else
        tern_request_hold_always(*ret_request, comm, NULL);
    return rc;
}

/* --- nonblocking --- */

int tern_mpi_ibarrier(struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_barrier(&call, comm);
    return rc ? rc : start(&call, comm, NULL, NULL, NULL, ret_request);
}

int tern_mpi_ibcast(void *buffer, MPI_Count count, struct tern_datatype *datatype, int root,
                    struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_bcast(&call, buffer, count, datatype, root, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, NULL, ret_request);
}

int tern_mpi_igather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                     void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                     struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_gather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                  root, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_igatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                      struct tern_datatype *recvtype, int root, struct tern_comm *comm,
                      struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_gatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, root, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_iscatter(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                      struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_scatter(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, root, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_iscatterv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints displs,
                       struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                       struct tern_datatype *recvtype, int root, struct tern_comm *comm,
                       struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_scatterv(&call, sendbuf, sendcounts, displs, sendtype, recvbuf,
                                    recvcount, recvtype, root, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_iallgather(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                        void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                        struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_allgather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                     recvtype, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_iallgatherv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                         void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                         struct tern_datatype *recvtype, struct tern_comm *comm,
                         struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_allgatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                      displs, recvtype, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_ialltoall(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                       void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                       struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_alltoall(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                    recvtype, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_ialltoallv(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                        struct tern_datatype *sendtype, void *recvbuf, struct tern_ints recvcounts,
                        struct tern_ints rdispls, struct tern_datatype *recvtype,
                        struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_alltoallv(&call, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm);
    return rc ? rc : start(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_ireduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                     struct tern_datatype *datatype, struct tern_op *op, int root,
                     struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_reduce(&call, sendbuf, recvbuf, count, datatype, op, root, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_iallreduce(const void *sendbuf, void *recvbuf, MPI_Count count,
                        struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                        struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_allreduce(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_ireduce_scatter(const void *sendbuf, void *recvbuf, struct tern_ints recvcounts,
                             struct tern_datatype *datatype, struct tern_op *op,
                             struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_reduce_scatter(&call, sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_ireduce_scatter_block(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                   struct tern_datatype *datatype, struct tern_op *op,
                                   struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc =
        tern_describe_reduce_scatter_block(&call, sendbuf, recvbuf, recvcount, datatype, op, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_iscan(const void *sendbuf, void *recvbuf, MPI_Count count,
                   struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                   struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_scan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_iexscan(const void *sendbuf, void *recvbuf, MPI_Count count,
                     struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                     struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = tern_describe_exscan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : start(&call, comm, datatype, NULL, op, ret_request);
}

/* --- persistent: hints in `info` have no meaning here --- */

int tern_mpi_barrier_init(struct tern_comm *comm, struct tern_info *info,
                          struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_barrier(&call, comm);
    return rc ? rc : prepare(&call, comm, NULL, NULL, NULL, ret_request);
}

int tern_mpi_bcast_init(void *buffer, MPI_Count count, struct tern_datatype *datatype, int root,
                        struct tern_comm *comm, struct tern_info *info,
                        struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_bcast(&call, buffer, count, datatype, root, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, NULL, ret_request);
}

int tern_mpi_gather_init(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                         void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                         int root, struct tern_comm *comm, struct tern_info *info,
                         struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_gather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                  root, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_gatherv_init(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                          void *recvbuf, struct tern_ints recvcounts, struct tern_ints displs,
                          struct tern_datatype *recvtype, int root, struct tern_comm *comm,
                          struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_gatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                   recvtype, root, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_scatter_init(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                          void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                          int root, struct tern_comm *comm, struct tern_info *info,
                          struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_scatter(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                   recvtype, root, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_scatterv_init(const void *sendbuf, struct tern_ints sendcounts,
                           struct tern_ints displs, struct tern_datatype *sendtype, void *recvbuf,
                           MPI_Count recvcount, struct tern_datatype *recvtype, int root,
                           struct tern_comm *comm, struct tern_info *info,
                           struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_scatterv(&call, sendbuf, sendcounts, displs, sendtype, recvbuf,
                                    recvcount, recvtype, root, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_allgather_init(const void *sendbuf, MPI_Count sendcount,
                            struct tern_datatype *sendtype, void *recvbuf, MPI_Count recvcount,
                            struct tern_datatype *recvtype, struct tern_comm *comm,
                            struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_allgather(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                     recvtype, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_allgatherv_init(const void *sendbuf, MPI_Count sendcount,
                             struct tern_datatype *sendtype, void *recvbuf,
                             struct tern_ints recvcounts, struct tern_ints displs,
                             struct tern_datatype *recvtype, struct tern_comm *comm,
                             struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_allgatherv(&call, sendbuf, sendcount, sendtype, recvbuf, recvcounts,
                                      displs, recvtype, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_alltoall_init(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                           void *recvbuf, MPI_Count recvcount, struct tern_datatype *recvtype,
                           struct tern_comm *comm, struct tern_info *info,
                           struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_alltoall(&call, sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                    recvtype, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_alltoallv_init(const void *sendbuf, struct tern_ints sendcounts,
                            struct tern_ints sdispls, struct tern_datatype *sendtype, void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            struct tern_datatype *recvtype, struct tern_comm *comm,
                            struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_alltoallv(&call, sendbuf, sendcounts, sdispls, sendtype, recvbuf,
                                     recvcounts, rdispls, recvtype, comm);
    return rc ? rc : prepare(&call, comm, sendtype, recvtype, NULL, ret_request);
}

int tern_mpi_reduce_init(const void *sendbuf, void *recvbuf, MPI_Count count,
                         struct tern_datatype *datatype, struct tern_op *op, int root,
                         struct tern_comm *comm, struct tern_info *info,
                         struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_reduce(&call, sendbuf, recvbuf, count, datatype, op, root, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_allreduce_init(const void *sendbuf, void *recvbuf, MPI_Count count,
                            struct tern_datatype *datatype, struct tern_op *op,
                            struct tern_comm *comm, struct tern_info *info,
                            struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_allreduce(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_reduce_scatter_init(const void *sendbuf, void *recvbuf, struct tern_ints recvcounts,
                                 struct tern_datatype *datatype, struct tern_op *op,
                                 struct tern_comm *comm, struct tern_info *info,
                                 struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_reduce_scatter(&call, sendbuf, recvbuf, recvcounts, datatype, op, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_reduce_scatter_block_init(const void *sendbuf, void *recvbuf, MPI_Count recvcount,
                                       struct tern_datatype *datatype, struct tern_op *op,
                                       struct tern_comm *comm, struct tern_info *info,
                                       struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc =
        tern_describe_reduce_scatter_block(&call, sendbuf, recvbuf, recvcount, datatype, op, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_scan_init(const void *sendbuf, void *recvbuf, MPI_Count count,
                       struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                       struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_scan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

int tern_mpi_exscan_init(const void *sendbuf, void *recvbuf, MPI_Count count,
                         struct tern_datatype *datatype, struct tern_op *op, struct tern_comm *comm,
                         struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = tern_describe_exscan(&call, sendbuf, recvbuf, count, datatype, op, comm);
    return rc ? rc : prepare(&call, comm, datatype, NULL, op, ret_request);
}

/* --- alltoallw: as many types as there are blocks --- */

struct hold_types {
    int count;
    const struct tern_type **flat;
    struct tern_datatype *types[];
};

static void let_types_go(void *held)
{
    struct hold_types *hold = held;
    for (int i = 0; i < hold->count; i++)
        tern_datatype_release(hold->types[i]);
    free(hold->flat);
    free(hold);
}

static int hold_types(struct tern_call *call, const MPI_Datatype sendtypes[],
                      const MPI_Datatype recvtypes[], int blocks, const struct tern_type **flat)
{
    struct hold_types *hold = malloc(sizeof *hold + 2 * (size_t)blocks * sizeof hold->types[0]);
    if (!hold)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d blocks", blocks);
    hold->count = 0;
    hold->flat = flat;
    for (int i = 0; i < blocks; i++) {
        if (sendtypes)
            tern_datatype_retain(hold->types[hold->count++] = tern_datatype_of(sendtypes[i]));
        tern_datatype_retain(hold->types[hold->count++] = tern_datatype_of(recvtypes[i]));
    }
    call->held = hold;
    call->let_go = let_types_go;
    return 0;
}

static int describe_alltoallw(struct tern_call *call, const void *sendbuf,
                              struct tern_ints sendcounts, struct tern_ints sdispls,
                              const MPI_Datatype sendtypes[], void *recvbuf,
                              struct tern_ints recvcounts, struct tern_ints rdispls,
                              const MPI_Datatype recvtypes[], struct tern_comm *comm)
{
    int blocks = tern_comm_blocks(comm);
    const struct tern_type **flat = malloc(2 * (size_t)blocks * sizeof *flat);
    if (!flat)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the types of %d blocks", blocks);
    int rc = tern_describe_alltoallw(call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf,
                                     recvcounts, rdispls, recvtypes, comm, flat);
    if (!rc)
        rc = hold_types(call, sendbuf == MPI_IN_PLACE ? NULL : sendtypes, recvtypes, blocks, flat);
    if (rc)
        free(flat);
    return rc;
}

int tern_mpi_ialltoallw(const void *sendbuf, struct tern_ints sendcounts, struct tern_ints sdispls,
                        const MPI_Datatype sendtypes[], void *recvbuf, struct tern_ints recvcounts,
                        struct tern_ints rdispls, const MPI_Datatype recvtypes[],
                        struct tern_comm *comm, struct tern_request **ret_request)
{
    struct tern_call call;
    int rc = describe_alltoallw(&call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm);
    return rc ? rc : start(&call, comm, NULL, NULL, NULL, ret_request);
}

int tern_mpi_alltoallw_init(const void *sendbuf, struct tern_ints sendcounts,
                            struct tern_ints sdispls, const MPI_Datatype sendtypes[], void *recvbuf,
                            struct tern_ints recvcounts, struct tern_ints rdispls,
                            const MPI_Datatype recvtypes[], struct tern_comm *comm,
                            struct tern_info *info, struct tern_request **ret_request)
{
    struct tern_call call;
    (void)info;
    int rc = describe_alltoallw(&call, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, comm);
    return rc ? rc : prepare(&call, comm, NULL, NULL, NULL, ret_request);
}
