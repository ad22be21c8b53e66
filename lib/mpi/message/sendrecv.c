/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A send and a receive as one operation (MPI-4.1 section 3.10). The receive is always posted first.
 * So two ranks that call this for each other never wait for each other.
 *
 * The nonblocking calls usually need no request of their own: if the send is complete when it was
 * started, the user gets the request of the receive. Otherwise a pair stands for both requests. The
 * pair completes when both are complete, with the status of the receive and the first error of
 * either.
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

/* ---- blocking ---- */

/* Waits for a receive that has no user's handle, and frees it. `procedure` is the user's call. */
static int finish_recv(struct tern_request *request, const char *procedure, MPI_Status *status)
{
    tern_request_wait_in(request, procedure);
    int error = request->error;
    tern_status_copy(status, &request->status);
    request->active = false;
    request->kind->release(request);
    return error;
}

/* Cancels the receive after its send has failed. */
static void drop_recv(struct tern_request *request)
{
    request->kind->cancel(request);
    finish_recv(request, NULL, MPI_STATUS_IGNORE);
}

/* Receives and sends. `procedure` is the user's call, for people. */
static int exchange(const char *procedure, const void *sendbuf, MPI_Count sendcount,
                    struct tern_datatype *sendtype, int dest, int sendtag, void *recvbuf,
                    MPI_Count recvcount, struct tern_datatype *recvtype, int source, int recvtag,
                    struct tern_comm *comm, MPI_Status *status)
{
    struct tern_request *recv = NULL;
    int error;

    if (source != MPI_PROC_NULL) {
        error =
            tern_pml_irecv(&comm->p2p, recvbuf, recvcount, &recvtype->type, source, recvtag, &recv);
        if (error)
            return error;
    }
    tern_wait_procedure = procedure;
    error = tern_mpi_send(sendbuf, sendcount, sendtype, dest, sendtag, comm);
    tern_wait_procedure = NULL;
    if (error) {
        if (recv)
            drop_recv(recv);
        return error;
    }
    if (recv)
        return finish_recv(recv, procedure, status);
    tern_status_copy(status, &tern_status_proc_null);
    return 0;
}

int tern_mpi_sendrecv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                      struct tern_datatype *recvtype, int source, int recvtag,
                      struct tern_comm *comm, MPI_Status *status)
{
    return exchange("MPI_Sendrecv", sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                    recvtype, source, recvtag, comm, status);
}

/* Packs the message aside, into `small` or allocated memory, because the receive may overwrite the
 * send buffer. */
static int pack_aside(const void *buf, MPI_Count count, const struct tern_type *type, int dest,
                      char *small, size_t small_bytes, char **ret_packed, size_t *ret_length)
{
    size_t length = dest == MPI_PROC_NULL ? 0 : (size_t)(type->size * count);
    char *packed = length > small_bytes ? malloc(length) : small;
    if (length > small_bytes && !packed)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a copy of the %zu bytes to be sent",
                          length);
    if (length) {
        struct tern_cursor cursor;
        tern_cursor_init(&cursor, type, buf, count);
        tern_cursor_pack(&cursor, packed, length);
    }
    *ret_packed = packed;
    *ret_length = length;
    return 0;
}

int tern_mpi_sendrecv_replace(void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                              int sendtag, int source, int recvtag, struct tern_comm *comm,
                              MPI_Status *status)
{
    char small[2048], *packed = small;
    size_t length = 0;

    small[0] = 0; /* gcc cannot see that no byte is read before it is packed */
    int error =
        pack_aside(buf, count, &datatype->type, dest, small, sizeof small, &packed, &length);
    if (error)
        return error;
    error = exchange("MPI_Sendrecv_replace", packed, (MPI_Count)length, tern_datatype_of(MPI_BYTE),
                     dest, sendtag, buf, count, datatype, source, recvtag, comm, status);
    if (packed != small)
        free(packed);
    return error;
}

/* ---- nonblocking ---- */

struct pair {
    struct tern_request request;
    struct tern_request *send, *recv; /* under way, or NULL */
    struct tern_datatype *send_type;  /* a reference */
    int error;                        /* the first error of either half */
    char *packed;                     /* a copy of the message, or NULL; freed with the pair */
};

static void finish_pair_if_done(struct pair *pair)
{
    if (!pair->send && !pair->recv)
        tern_request_complete(&pair->request, pair->error);
}

/* Takes the result of a complete half and frees the half. */
static void take_half(struct pair *pair, struct tern_request *half)
{
    if (half->error && !pair->error)
        pair->error = half->error;
    if (half == pair->recv) {
        pair->request.status = half->status;
        pair->recv = NULL;
    } else {
        pair->send = NULL;
    }
    half->kind->release(half);
}

/* Handles a complete half; an on_complete function. */
static void half_completed(struct tern_request *half)
{
    struct pair *pair = half->owner;
    take_half(pair, half);
    finish_pair_if_done(pair);
}

static void adopt(struct pair *pair, struct tern_request *half)
{
    if (!half)
        return;
    if (half->complete) {
        take_half(pair, half);
        return;
    }
    half->owner = pair;
    half->on_complete = half_completed;
}

/* Cancels the halves that are not matched; a half that is matched continues. */
static int cancel_pair(struct tern_request *request)
{
    struct pair *pair = (struct pair *)request;
    struct tern_lane *lane = request->lane;
    int rc = 0;
    tern_lane_lock(lane);
    struct tern_request *send = pair->send;
    if (pair->recv) /* the receive may complete at once, and the pair with it */
        pair->recv->kind->cancel(pair->recv);
    if (send)
        rc = send->kind->cancel(send);
    tern_lane_unlock(lane);
    return rc;
}

static void release_pair(struct tern_request *request)
{
    struct pair *pair = (struct pair *)request;
    tern_datatype_release(pair->send_type);
    free(pair->packed);
    request->obj.own.magic = TERN_MAGIC_FREED;
    free(pair);
}

static const struct tern_request_kind pair_kind = {
    .name = "send and receive", .cancel = cancel_pair, .release = release_pair, .receives = true};

/* Fills in a pair. The send is under way. The receive is under way, too, or NULL if its source is
 * MPI_PROC_NULL. */
static void make_pair(struct pair *pair, struct tern_request *send, struct tern_datatype *send_type,
                      struct tern_request *recv, struct tern_datatype *recv_type,
                      struct tern_comm *comm)
{
    struct tern_lane *lane = comm->p2p.lane;
    tern_request_init(&pair->request, &pair_kind, comm);
    pair->request.lane = lane;
    pair->send = send;
    pair->recv = recv;
    pair->send_type = send_type;
    tern_datatype_retain(send_type);
    pair->error = 0;
    if (!recv)
        pair->request.status = tern_status_proc_null;
    tern_lane_lock(lane); /* keeps the halves from completing while they are adopted */
    adopt(pair, recv);
    adopt(pair, send);
    finish_pair_if_done(pair);
    tern_lane_unlock(lane);
    tern_request_hold(&pair->request, comm, recv_type);
}

/* Starts a pair. `packed` is NULL, or it is sendbuf and was made by malloc; then it is freed when
 * it is no longer needed. */
static int start_pair(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                      int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                      struct tern_datatype *recvtype, int source, int recvtag,
                      struct tern_comm *comm, char *packed, struct tern_request **ret_request)
{
    struct tern_request *send = &tern_request_empty, *recv = NULL;
    struct pair *pair = malloc(sizeof *pair); /* before anything is started */
    int error = 0;

    if (!pair) {
        error = tern_error(TERN_ERR_NO_MEM, "no memory for a request");
        goto free_packed;
    }
    pair->packed = packed;
    if (source != MPI_PROC_NULL)
        error =
            tern_pml_irecv(&comm->p2p, recvbuf, recvcount, &recvtype->type, source, recvtag, &recv);
    if (error)
        goto free_pair;
    if (dest != MPI_PROC_NULL)
        error = tern_pml_isend(&comm->p2p, sendbuf, sendcount, &sendtype->type, dest, sendtag,
                               TERN_SEND_STANDARD, &send);
    if (error) {
        if (recv)
            drop_recv(recv);
        goto free_pair;
    }
    if (send == &tern_request_empty) {
        if (recv)
            tern_request_hold(recv, comm, recvtype);
        *ret_request = recv ? recv : &tern_request_no_message;
        goto free_pair;
    }
    make_pair(pair, send, sendtype, recv, recvtype, comm);
    *ret_request = &pair->request;
    return 0;

free_pair:
    free(pair);
free_packed:
    free(packed);
    return error;
}

int tern_mpi_isendrecv(const void *sendbuf, MPI_Count sendcount, struct tern_datatype *sendtype,
                       int dest, int sendtag, void *recvbuf, MPI_Count recvcount,
                       struct tern_datatype *recvtype, int source, int recvtag,
                       struct tern_comm *comm, struct tern_request **ret_request)
{
    return start_pair(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                      source, recvtag, comm, NULL, ret_request);
}

int tern_mpi_isendrecv_replace(void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                               int sendtag, int source, int recvtag, struct tern_comm *comm,
                               struct tern_request **ret_request)
{
    char *packed;
    size_t length;
    int error = pack_aside(buf, count, &datatype->type, dest, NULL, 0, &packed, &length);
    if (error)
        return error;
    return start_pair(packed, (MPI_Count)length, tern_datatype_of(MPI_BYTE), dest, sendtag, buf,
                      count, datatype, source, recvtag, comm, packed, ret_request);
}
