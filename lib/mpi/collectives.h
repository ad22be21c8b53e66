/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_COLL_H
#define TERN_MPI_COLL_H

/* For the files of collectives: how a call that was filled in goes on. */

#include "lib/coll/run/coll.h"
#include "lib/mpi/procedures.h"

/* Does it in its form. a, b and op are what it uses, or NULL: kept alive where the user may free them before its end. */
int tern_mpi_coll_proceed(struct tern_call *call, struct tern_comm *comm, struct tern_datatype *a,
                          struct tern_datatype *b, struct tern_op *op, enum tern_form form,
                          struct tern_request **ret_request);

/* Types of blocks, derived ones retained. */
struct tern_block_types {
    int held_count;
    struct tern_datatype **held;
    const struct tern_type *flat[]; /* of what is sent, then of what is received */
};

/* Room for the types of so many blocks. NULL: no memory, which is said. */
struct tern_block_types *tern_block_types_new(int64_t blocks);
/* From flat[first] on; where `ranks` (NULL: all are there) has nobody, the handle does not count. */
void tern_block_types_add(struct tern_block_types *types, int first, const MPI_Datatype handles[], int count,
                          const int *ranks);
void tern_block_types_free(void *types);

/* Does the call, which has these types, in its form. */
int tern_mpi_coll_proceed_with_types(struct tern_call *call, struct tern_comm *comm,
                                     struct tern_block_types *types, enum tern_form form,
                                     struct tern_request **ret_request);

#endif
