/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_COLL_H
#define TERN_MPI_COLL_H

#include "lib/coll/coll.h"
#include "lib/mpi/procedures.h"

/* Starts or prepares a call. What it holds (call->held) is let go with the request, or here on
 * failure: the errors of tern_call_start and tern_call_prepare. */
int tern_mpi_coll_begin(struct tern_call *call, struct tern_comm *comm, enum tern_form form,
                        struct tern_request **ret_request);

#endif
