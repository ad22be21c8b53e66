/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_P2P_H
#define TERN_P2P_H

/* Start a send or a receive whose partner is a rank. Inline, so that lib/mpi/message/p2p.c and the
 * entry points need no further call. */

#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"

/* Starts a send. Returns 0 or TERN_ERR_*. */
static inline int tern_p2p_isend(const void *buf, MPI_Count count, struct tern_datatype *datatype,
                                 int dest, int tag, struct tern_comm *comm,
                                 enum tern_send_mode mode, struct tern_request **ret_request)
{
    int error =
        tern_pml_isend(&comm->p2p, buf, count, &datatype->type, dest, tag, mode, ret_request);
    if (!error)
        tern_request_hold(*ret_request, comm, datatype);
    return error;
}

/* Starts a receive. Returns 0 or TERN_ERR_*. */
static inline int tern_p2p_irecv(void *buf, MPI_Count count, struct tern_datatype *datatype,
                                 int source, int tag, struct tern_comm *comm,
                                 struct tern_request **ret_request)
{
    int error = tern_pml_irecv(&comm->p2p, buf, count, &datatype->type, source, tag, ret_request);
    if (!error)
        tern_request_hold(*ret_request, comm, datatype);
    return error;
}

#endif
