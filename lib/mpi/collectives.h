/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_COLL_H
#define TERN_MPI_COLL_H

/* For the files of collectives: what they check, how a call is filled in, and how it proceeds. */

#include "lib/coll/run/coll.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/procedures.h"

/* The cold sides of the checks below. Return TERN_ERR_BUFFER and TERN_ERR_COMM. */
int tern_mpi_coll_refuse_in_place(const struct tern_comm *comm, const char *argument);
int tern_mpi_coll_refuse_inter(void);

/* Returns 0 unless `buf` is MPI_IN_PLACE on an intercommunicator, or where it is not `allowed`. */
static inline int tern_mpi_coll_check_in_place(const struct tern_comm *comm, const void *buf,
                                               const char *argument, bool allowed)
{
    if (buf != MPI_IN_PLACE || (allowed && !tern_comm_inter(comm)))
        return 0;
    return tern_mpi_coll_refuse_in_place(comm, argument);
}

/* Returns 0 for an intracommunicator. */
static inline int tern_mpi_coll_check_intra(const struct tern_comm *comm)
{
    return tern_comm_inter(comm) ? tern_mpi_coll_refuse_inter() : 0;
}

/* Returns the type of a datatype that is NULL where it is not significant. */
static inline const struct tern_type *tern_mpi_coll_type(const struct tern_datatype *datatype)
{
    return datatype ? &datatype->type : &tern_type_bytes;
}

/* Returns the root as lib/coll names it. */
static inline int tern_mpi_coll_root(const struct tern_comm *comm, int root)
{
    if (!tern_comm_inter(comm))
        return root;
    return root == MPI_ROOT ? TERN_ROOT_ME : root == MPI_PROC_NULL ? TERN_ROOT_BESIDE_ME : root;
}

/* Returns the input of a reduction. The standard does not allow the same buffer twice; it can only
 * mean MPI_IN_PLACE, and other libraries accept it. `has_result`: this rank gets the result. */
static inline const void *tern_mpi_coll_input(const struct tern_comm *comm, const void *sendbuf,
                                              const void *recvbuf, bool has_result)
{
    bool same = sendbuf == recvbuf && has_result && !tern_comm_inter(comm);
    return same ? MPI_IN_PLACE : sendbuf;
}

/* Does it in its form. a, b and op are what it uses, or NULL: kept alive where the user may free
 * them before its end. */
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
/* From flat[first] on; where `ranks` (NULL: all are there) has nobody, the handle does not count.
 */
void tern_block_types_add(struct tern_block_types *types, int first, const MPI_Datatype handles[],
                          int count, const int *ranks);
void tern_block_types_free(void *types);

/* Does the call, which has these types, in its form. */
int tern_mpi_coll_proceed_with_types(struct tern_call *call, struct tern_comm *comm,
                                     struct tern_block_types *types, enum tern_form form,
                                     struct tern_request **ret_request);

#endif
