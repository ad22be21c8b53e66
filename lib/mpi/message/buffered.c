/* SPDX-License-Identifier: BSD-3-Clause */

/* Buffered sends (MPI-4.1 section 3.4): copy the message to a block of a buffer (buffer_blocks.h),
 * and send it from there. */

#include "lib/mpi/message/buffer_blocks.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

int tern_mpi_bsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                   int tag, struct tern_comm *comm)
{
    size_t length = (size_t)(datatype->type.size * count);
    struct tern_block *block;
    struct tern_request *request;

    if (dest == MPI_PROC_NULL)
        return 0;
    int error = tern_buffer_take_block(comm, length, &block);
    if (error)
        return error;
    if (length) {
        struct tern_cursor cursor;
        tern_cursor_init(&cursor, &datatype->type, buf, count);
        tern_cursor_pack(&cursor, tern_block_room(block), length);
    }
    error = tern_pml_isend(&comm->p2p, tern_block_room(block), (int64_t)length, &tern_type_bytes,
                           dest, tag, TERN_SEND_STANDARD, &request);
    if (error)
        tern_block_drop(block);
    else
        tern_block_follow(block, request);
    return error;
}

/* Starts a buffered send. The message is in the buffer when the call returns, so the request is
 * complete. */
int tern_mpi_ibsend(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                    int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    int error = tern_mpi_bsend(buf, count, datatype, dest, tag, comm);
    if (!error)
        *ret_request = &tern_request_empty;
    return error;
}

/* A persistent buffered send. */
struct persistent_bsend {
    struct tern_request request;
    const void *buf;
    MPI_Count count;
    struct tern_datatype *datatype;
    int dest, tag;
};

static int start_bsend(struct tern_request *request)
{
    struct persistent_bsend *bsend = (struct persistent_bsend *)request;
    int error = tern_mpi_bsend(bsend->buf, bsend->count, bsend->datatype, bsend->dest, bsend->tag,
                               request->comm);
    if (error)
        return error;
    tern_request_restart(request);
    tern_request_complete(request, 0);
    return 0;
}

static int cancel_bsend(struct tern_request *request)
{
    (void)request; /* a buffered send completes as soon as it is started */
    return 0;
}

static void release_bsend(struct tern_request *request)
{
    free(request);
}

static const struct tern_request_kind bsend_kind = {.name = "persistent buffered send",
                                                    .start = start_bsend,
                                                    .cancel = cancel_bsend,
                                                    .release = release_bsend};

int tern_mpi_bsend_init(const void *buf, MPI_Count count, struct tern_datatype *datatype, int dest,
                        int tag, struct tern_comm *comm, struct tern_request **ret_request)
{
    struct persistent_bsend *bsend = malloc(sizeof *bsend);
    if (!bsend)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    tern_request_init(&bsend->request, &bsend_kind, comm);
    bsend->request.lane = comm->p2p.lane;
    tern_request_make_persistent(&bsend->request);
    bsend->buf = buf;
    bsend->count = count;
    bsend->datatype = datatype;
    bsend->dest = dest;
    bsend->tag = tag;
    tern_request_hold_always(&bsend->request, comm, datatype);
    *ret_request = &bsend->request;
    return 0;
}
