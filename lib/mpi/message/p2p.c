/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Sends and receives of MPI (MPI-4.1 chapter 3), over lib/pml. The entry points have checked the
 * arguments. These functions handle MPI_PROC_NULL, and the objects that a request must keep alive.
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/message/p2p.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"

#include "lib/mpi/procedures.h"

int tern_mpi_send(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                  int tag, struct tern_comm *comm)
{
    if (dest == MPI_PROC_NULL)
        return 0;
    return tern_pml_send(&comm->p2p, buf, count, &datatype->type, dest, tag, TERN_SEND_STANDARD);
}

int tern_mpi_ssend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                   int tag, struct tern_comm *comm)
{
    if (dest == MPI_PROC_NULL)
        return 0;
    return tern_pml_send(&comm->p2p, buf, count, &datatype->type, dest, tag, TERN_SEND_SYNCHRONOUS);
}

int tern_mpi_rsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                   int tag, struct tern_comm *comm)
{
    if (dest == MPI_PROC_NULL)
        return 0;
    return tern_pml_send(&comm->p2p, buf, count, &datatype->type, dest, tag, TERN_SEND_READY);
}

int tern_mpi_recv(void *buf, MPI_Count count, struct tern_datatype *datatype, int source, int tag,
                  struct tern_comm *comm, MPI_Status *status)
{
    if (source == MPI_PROC_NULL) {
        tern_status_copy(status, &tern_status_proc_null);
        return 0;
    }
    return tern_pml_recv(&comm->p2p, buf, count, &datatype->type, source, tag, status);
}

static int start_send(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                      int tag, struct tern_comm *comm, enum tern_send_mode mode,
                      struct tern_request **ret_request)
{
    if (dest == MPI_PROC_NULL) {
        *ret_request = &tern_request_empty;
        return 0;
    }
    return tern_p2p_isend(buf, count, datatype, dest, tag, comm, mode, ret_request);
}

int tern_mpi_isend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                   int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return start_send(buf, count, datatype, dest, tag, comm, TERN_SEND_STANDARD, ret_request);
}

int tern_mpi_issend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                    int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return start_send(buf, count, datatype, dest, tag, comm, TERN_SEND_SYNCHRONOUS, ret_request);
}

int tern_mpi_irsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                    int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return start_send(buf, count, datatype, dest, tag, comm, TERN_SEND_READY, ret_request);
}

int tern_mpi_irecv(void *buf, MPI_Count count, struct tern_datatype *datatype, int source, int tag,
                   struct tern_comm *comm, struct tern_request **ret_request)
{
    if (source == MPI_PROC_NULL) {
        *ret_request = &tern_request_no_message;
        return 0;
    }
    return tern_p2p_irecv(buf, count, datatype, source, tag, comm, ret_request);
}

/* Prepares a persistent send. The request refers to its communicator and type as long as it
 * exists. */
static int prepare_send(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                        int tag, struct tern_comm *comm, enum tern_send_mode mode,
                        struct tern_request **ret_request)
{
    if (dest == MPI_PROC_NULL)
        return tern_request_new_idle(comm, &tern_status_empty, ret_request);
    int error =
        tern_pml_send_init(&comm->p2p, buf, count, &datatype->type, dest, tag, mode, ret_request);
    if (!error)
        tern_request_hold_always(*ret_request, comm, datatype);
    return error;
}

int tern_mpi_send_init(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                       int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return prepare_send(buf, count, datatype, dest, tag, comm, TERN_SEND_STANDARD, ret_request);
}

int tern_mpi_ssend_init(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                        int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return prepare_send(buf, count, datatype, dest, tag, comm, TERN_SEND_SYNCHRONOUS, ret_request);
}

int tern_mpi_rsend_init(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                        int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    return prepare_send(buf, count, datatype, dest, tag, comm, TERN_SEND_READY, ret_request);
}

int tern_mpi_recv_init(void *buf, MPI_Count count, struct tern_datatype *datatype, int source,
                       int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    if (source == MPI_PROC_NULL)
        return tern_request_new_idle(comm, &tern_status_proc_null, ret_request);
    int error =
        tern_pml_recv_init(&comm->p2p, buf, count, &datatype->type, source, tag, ret_request);
    if (!error)
        tern_request_hold_always(*ret_request, comm, datatype);
    return error;
}

static int probe(int source, int tag, struct tern_comm *comm, int *flag, MPI_Status *status)
{
    MPI_Status found_status;
    bool found = true;

    if (source == MPI_PROC_NULL) {
        tern_status_copy(status, &tern_status_proc_null);
    } else {
        int error = tern_pml_iprobe(&comm->p2p, source, tag, &found, &found_status);
        if (error)
            return error;
        if (found)
            tern_status_copy(status, &found_status);
    }
    *flag = found;
    return 0;
}

int tern_mpi_iprobe(int source, int tag, struct tern_comm *comm, int *flag, MPI_Status *status)
{
    int error = probe(source, tag, comm, flag, status);
    if (!error && !*flag)
        tern_test_note_probe("MPI_Iprobe", &comm->p2p, source, tag);
    return error;
}

int tern_mpi_probe(int source, int tag, struct tern_comm *comm, MPI_Status *status)
{
    const struct tern_probe awaited = {.context = &comm->p2p, .source = source, .tag = tag};
    struct tern_waiter waiter = {
        .lane = comm->p2p.lane, .procedure = "MPI_Probe", .probe = &awaited};

    for (;;) {
        int found;
        int error = probe(source, tag, comm, &found, status);
        if (error || found)
            return error;
        tern_wait(&waiter);
    }
}
