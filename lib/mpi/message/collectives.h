/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_COLLECTIVES_H
#define TERN_MPI_COLLECTIVES_H

/* What the files of collectives share: checks of arguments, and how a call is started. */

#include "lib/coll/run/coll.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/procedures.h"

/* Refuse an argument; called by the checks below, rarely. Return TERN_ERR_BUFFER and
 * TERN_ERR_COMM. */
int tern_mpi_coll_refuse_in_place(const struct tern_comm *comm, const char *argument);
int tern_mpi_coll_refuse_inter(void);

/* Returns true if the root's block of a rooted call may be MPI_IN_PLACE on this process: at the
 * root, and on an intercommunicator in all its group, where the argument is not significant. */
static inline bool tern_mpi_coll_may_be_in_place(const struct tern_comm *comm, int root)
{
    return tern_comm_inter(comm) ? root < 0 : root == comm->coll.rank;
}

/* Checks an argument that may be MPI_IN_PLACE. Returns 0, or TERN_ERR_BUFFER if `buf` is
 * MPI_IN_PLACE although `allowed` is false. */
static inline int tern_mpi_coll_check_in_place(const struct tern_comm *comm, const void *buf,
                                               const char *argument, bool allowed)
{
    if (buf != MPI_IN_PLACE || allowed)
        return 0;
    return tern_mpi_coll_refuse_in_place(comm, argument);
}

/* Returns 0 for an intracommunicator, else TERN_ERR_COMM. */
static inline int tern_mpi_coll_check_intra(const struct tern_comm *comm)
{
    return tern_comm_inter(comm) ? tern_mpi_coll_refuse_inter() : 0;
}

/* Returns the flat type of `datatype`. `datatype` is NULL where it is not significant; then returns
 * a type of bytes. */
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

/* Returns the input buffer of a reduction. The standard does not allow equal send and receive
 * buffers. They can only mean MPI_IN_PLACE, and other libraries accept them. `has_result` is true
 * if this rank gets the result. */
static inline const void *tern_mpi_coll_input(const struct tern_comm *comm, const void *sendbuf,
                                              const void *recvbuf, bool has_result)
{
    bool same = sendbuf == recvbuf && has_result && !tern_comm_inter(comm);
    return same ? MPI_IN_PLACE : sendbuf;
}

/* Runs the call in its form: blocking, nonblocking or persistent. `a`, `b` and `op` are what the
 * call uses, or NULL. Keeps them alive, because the user may free them before the call
 * completes. */
int tern_mpi_coll_proceed(struct tern_call *call, struct tern_comm *comm, struct tern_datatype *a,
                          struct tern_datatype *b, struct tern_op *op, enum tern_form form,
                          struct tern_request **ret_request);

/* The types of the blocks of a call. Holds a reference to each derived type. */
struct tern_block_types {
    int held_count;                 /* number of references in `held` */
    struct tern_datatype **held;    /* the derived types, to release */
    const struct tern_type *flat[]; /* types of the sent blocks, then of the received blocks */
};

/* Allocates room for the types of `blocks` blocks. Returns NULL if there is no memory, and reports
 * that. */
struct tern_block_types *tern_block_types_new(int64_t blocks);
/* Stores the types of `count` handles from flat[first] on. Ignores a handle if `ranks` has no
 * process at its index. A NULL `ranks` means that every process is there. */
void tern_block_types_add(struct tern_block_types *types, int first, const MPI_Datatype handles[],
                          int count, const int *ranks);
/* Releases the types and frees them. Takes void *, because it serves as a callback of the call. */
void tern_block_types_free(void *types);

/* Runs a call that uses `types`, in its form. Takes ownership of `types`. */
int tern_mpi_coll_proceed_with_types(struct tern_call *call, struct tern_comm *comm,
                                     struct tern_block_types *types, enum tern_form form,
                                     struct tern_request **ret_request);

#endif
