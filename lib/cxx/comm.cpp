// SPDX-License-Identifier: BSD-3-Clause

/* Communicators of every kind: messages, collectives, and inquiry (MPI-2.2 section 16.1). */

#include "lib/cxx/bindings.h"

#include <vector>

namespace MPI {

Comm::Comm() : Comm_Null(MPI_COMM_NULL) {}

Comm::Comm(const Comm_Null &comm) : Comm_Null(comm) {}

/* ---- messages ---- */

void Comm::Send(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Send(buf, count, datatype, dest, tag, handle);
}

void Comm::Recv(void *buf, int count, const Datatype &datatype, int source, int tag,
                Status &status) const
{
    MPI_Recv(buf, count, datatype, source, tag, handle, status.c());
}

void Comm::Recv(void *buf, int count, const Datatype &datatype, int source, int tag) const
{
    MPI_Recv(buf, count, datatype, source, tag, handle, MPI_STATUS_IGNORE);
}

void Comm::Bsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Bsend(buf, count, datatype, dest, tag, handle);
}

void Comm::Ssend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Ssend(buf, count, datatype, dest, tag, handle);
}

void Comm::Rsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Rsend(buf, count, datatype, dest, tag, handle);
}

Request Comm::Isend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Request Comm::Ibsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibsend(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Request Comm::Issend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Issend(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Request Comm::Irsend(const void *buf, int count, const Datatype &datatype, int dest, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irsend(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Request Comm::Irecv(void *buf, int count, const Datatype &datatype, int source, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(buf, count, datatype, source, tag, handle, &request);
    return request;
}

bool Comm::Iprobe(int source, int tag, Status &status) const
{
    int flag = 0;
    MPI_Iprobe(source, tag, handle, &flag, status.c());
    return flag;
}

bool Comm::Iprobe(int source, int tag) const
{
    int flag = 0;
    MPI_Iprobe(source, tag, handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

void Comm::Probe(int source, int tag, Status &status) const
{
    MPI_Probe(source, tag, handle, status.c());
}

void Comm::Probe(int source, int tag) const
{
    MPI_Probe(source, tag, handle, MPI_STATUS_IGNORE);
}

Prequest Comm::Send_init(const void *buf, int count, const Datatype &datatype, int dest,
                         int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Send_init(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Prequest Comm::Bsend_init(const void *buf, int count, const Datatype &datatype, int dest,
                          int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Bsend_init(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Prequest Comm::Ssend_init(const void *buf, int count, const Datatype &datatype, int dest,
                          int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ssend_init(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Prequest Comm::Rsend_init(const void *buf, int count, const Datatype &datatype, int dest,
                          int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rsend_init(buf, count, datatype, dest, tag, handle, &request);
    return request;
}

Prequest Comm::Recv_init(void *buf, int count, const Datatype &datatype, int source, int tag) const
{
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Recv_init(buf, count, datatype, source, tag, handle, &request);
    return request;
}

void Comm::Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest,
                    int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype, int source,
                    int recvtag, Status &status) const
{
    MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                 recvtag, handle, status.c());
}

void Comm::Sendrecv(const void *sendbuf, int sendcount, const Datatype &sendtype, int dest,
                    int sendtag, void *recvbuf, int recvcount, const Datatype &recvtype, int source,
                    int recvtag) const
{
    MPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source,
                 recvtag, handle, MPI_STATUS_IGNORE);
}

void Comm::Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag,
                            int source, int recvtag, Status &status) const
{
    MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, handle, status.c());
}

void Comm::Sendrecv_replace(void *buf, int count, const Datatype &datatype, int dest, int sendtag,
                            int source, int recvtag) const
{
    MPI_Sendrecv_replace(buf, count, datatype, dest, sendtag, source, recvtag, handle,
                         MPI_STATUS_IGNORE);
}

/* ---- inquiry ---- */

Group Comm::Get_group() const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Comm_group(handle, &group);
    return group;
}

int Comm::Get_size() const
{
    int size = 0;
    MPI_Comm_size(handle, &size);
    return size;
}

int Comm::Get_rank() const
{
    int rank = 0;
    MPI_Comm_rank(handle, &rank);
    return rank;
}

void Comm::Free()
{
    MPI_Comm_free(&handle);
}

bool Comm::Is_inter() const
{
    int flag = 0;
    MPI_Comm_test_inter(handle, &flag);
    return flag;
}

/* ---- collectives ---- */

void Comm::Barrier() const
{
    MPI_Barrier(handle);
}

void Comm::Bcast(void *buffer, int count, const Datatype &datatype, int root) const
{
    MPI_Bcast(buffer, count, datatype, root, handle);
}

void Comm::Gather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                  int recvcount, const Datatype &recvtype, int root) const
{
    MPI_Gather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, handle);
}

void Comm::Gatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                   const int recvcounts[], const int displs[], const Datatype &recvtype,
                   int root) const
{
    MPI_Gatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, root, handle);
}

void Comm::Scatter(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                   int recvcount, const Datatype &recvtype, int root) const
{
    MPI_Scatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root, handle);
}

void Comm::Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                    const Datatype &sendtype, void *recvbuf, int recvcount,
                    const Datatype &recvtype, int root) const
{
    MPI_Scatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype, root, handle);
}

void Comm::Allgather(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                     int recvcount, const Datatype &recvtype) const
{
    MPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, handle);
}

void Comm::Allgatherv(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                      const int recvcounts[], const int displs[], const Datatype &recvtype) const
{
    MPI_Allgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype, handle);
}

void Comm::Alltoall(const void *sendbuf, int sendcount, const Datatype &sendtype, void *recvbuf,
                    int recvcount, const Datatype &recvtype) const
{
    MPI_Alltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, handle);
}

void Comm::Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                     const Datatype &sendtype, void *recvbuf, const int recvcounts[],
                     const int rdispls[], const Datatype &recvtype) const
{
    MPI_Alltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype,
                  handle);
}

/* The arrays have one entry per process: of the remote group if there is one. */
void Comm::Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                     const Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                     const int rdispls[], const Datatype recvtypes[]) const
{
    int inter = 0, size = 0;
    MPI_Comm_test_inter(handle, &inter);
    if (inter)
        MPI_Comm_remote_size(handle, &size);
    else
        MPI_Comm_size(handle, &size);
    bool in_place = sendbuf == MPI_IN_PLACE; /* sendtypes may be anything then */
    std::vector<MPI_Datatype> sends, receives(recvtypes, recvtypes + size);
    if (!in_place)
        sends.assign(sendtypes, sendtypes + size);
    MPI_Alltoallw(sendbuf, sendcounts, sdispls, sends.data(), recvbuf, recvcounts, rdispls,
                  receives.data(), handle);
}

void Comm::Reduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                  const Op &op, int root) const
{
    MPI_Reduce(sendbuf, recvbuf, count, datatype, op, root, handle);
}

void Comm::Allreduce(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                     const Op &op) const
{
    MPI_Allreduce(sendbuf, recvbuf, count, datatype, op, handle);
}

void Comm::Reduce_scatter(const void *sendbuf, void *recvbuf, int recvcounts[],
                          const Datatype &datatype, const Op &op) const
{
    MPI_Reduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, handle);
}

void Intracomm::Scan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                     const Op &op) const
{
    MPI_Scan(sendbuf, recvbuf, count, datatype, op, handle);
}

void Intracomm::Exscan(const void *sendbuf, void *recvbuf, int count, const Datatype &datatype,
                       const Op &op) const
{
    MPI_Exscan(sendbuf, recvbuf, count, datatype, op, handle);
}

/* ---- names, error handlers, attributes ---- */

void Comm::Disconnect()
{
    MPI_Comm_disconnect(&handle);
}

void Comm::Get_name(char *name, int &length) const
{
    MPI_Comm_get_name(handle, name, &length);
}

void Comm::Set_name(const char *name)
{
    MPI_Comm_set_name(handle, name);
}

int Comm::Get_topology() const
{
    int status = MPI_UNDEFINED;
    MPI_Topo_test(handle, &status);
    return status;
}

void Comm::Abort(int errorcode)
{
    MPI_Abort(handle, errorcode);
}

void Comm::Set_errhandler(const Errhandler &errhandler)
{
    MPI_Comm_set_errhandler(handle, errhandler);
}

Errhandler Comm::Get_errhandler() const
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    MPI_Comm_get_errhandler(handle, &errhandler);
    return errhandler;
}

void Comm::Set_attr(int keyval, const void *value) const
{
    MPI_Comm_set_attr(handle, keyval, const_cast<void *>(value));
}

bool Comm::Get_attr(int keyval, void *ret_value) const
{
    int flag = 0;
    MPI_Comm_get_attr(handle, keyval, ret_value, &flag);
    return flag;
}

void Comm::Delete_attr(int keyval)
{
    MPI_Comm_delete_attr(handle, keyval);
}

} // namespace MPI
