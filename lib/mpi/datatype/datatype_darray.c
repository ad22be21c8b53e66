/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Type_create_darray (MPI-4.1 section 5.1.4). */
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/procedures.h"
#include "lib/type/layout.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

/* Finds the block length of dimension `i`. Checks that the blocks cover the whole dimension. */
static int choose_block(int i, int64_t size, int distribution, int darg, int processes,
                        int64_t *ret_block)
{
    bool chosen = darg != MPI_DISTRIBUTE_DFLT_DARG;
    int64_t share = (size + processes - 1) / processes;
    if (distribution != MPI_DISTRIBUTE_NONE && chosen && darg < 1)
        return tern_error(TERN_ERR_ARG,
                          "array_of_dargs[%d] is %d; expected at least 1, or "
                          "MPI_DISTRIBUTE_DFLT_DARG",
                          i, darg);
    switch (distribution) {
    case MPI_DISTRIBUTE_NONE:
        if (processes != 1)
            return tern_error(TERN_ERR_ARG,
                              "array_of_psizes[%d] is %d, but dimension %d is not distributed; "
                              "expected 1",
                              i, processes, i);
        *ret_block = size;
        return 0;
    case MPI_DISTRIBUTE_BLOCK:
        if (chosen && darg < share)
            return tern_error(TERN_ERR_ARG,
                              "array_of_dargs[%d] is %d; %d blocks of this size do not cover "
                              "array_of_gsizes[%d], which is %lld",
                              i, darg, processes, i, (long long)size);
        *ret_block = chosen ? darg : share;
        return 0;
    case MPI_DISTRIBUTE_CYCLIC: *ret_block = chosen ? darg : 1; return 0;
    default:
        return tern_error(TERN_ERR_ARG,
                          "array_of_distribs[%d] is %d; expected MPI_DISTRIBUTE_BLOCK, "
                          "MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE",
                          i, distribution);
    }
}

/* Finds the place of `rank` in the grid of processes, which is row-major whatever the order of the
 * array. */
static int place_process(int size, int rank, int ndims, const int psizes[],
                         struct tern_deal deals[])
{
    int64_t grid = 1;
    for (int i = 0; i < ndims; i++) {
        if (psizes[i] < 1)
            return tern_error(TERN_ERR_ARG, "array_of_psizes[%d] is %d; expected at least 1", i,
                              psizes[i]);
        grid *= psizes[i];
        if (grid > size)
            break;
    }
    if (grid != size)
        return tern_error(TERN_ERR_ARG, "the product of array_of_psizes differs from size, which "
                                        "is %d", size);
    if (rank < 0 || rank >= size)
        return tern_error_index(TERN_ERR_ARG, size, "rank is %d", rank);
    for (int i = ndims - 1; i >= 0; i--) {
        deals[i].processes = psizes[i];
        deals[i].coordinate = rank % psizes[i];
        rank /= psizes[i];
    }
    return 0;
}

static int make_deals(int size, int rank, int ndims, struct tern_ints gsizes, const int distribs[],
                      const int dargs[], const int psizes[], struct tern_deal deals[])
{
    int error = place_process(size, rank, ndims, psizes, deals);
    for (int i = 0; i < ndims && !error; i++) {
        deals[i].size = tern_ints_at(gsizes, i);
        if (deals[i].size < 1)
            return tern_error(TERN_ERR_ARG, "array_of_gsizes[%d] is %lld; expected at least 1", i,
                              (long long)deals[i].size);
        error = choose_block(i, deals[i].size, distribs[i], dargs[i], psizes[i], &deals[i].block);
    }
    return error;
}

static struct tern_envelope *make_envelope(bool large, int size, int rank, int ndims,
                                           struct tern_ints gsizes, const int distribs[],
                                           const int dargs[], const int psizes[], int order,
                                           struct tern_datatype *oldtype)
{
    struct tern_envelope *envelope =
        tern_envelope_new(MPI_COMBINER_DARRAY, 4 * (int64_t)ndims + 4, 0, 1);
    if (!envelope)
        return NULL;
    int64_t *to = envelope->numbers;
    *to++ = size;
    *to++ = rank;
    *to++ = ndims;
    envelope->large = large;
    for (int i = 0; i < ndims; i++)
        *to++ = tern_ints_at(gsizes, i);
    for (int i = 0; i < ndims; i++)
        *to++ = distribs[i];
    for (int i = 0; i < ndims; i++)
        *to++ = dargs[i];
    for (int i = 0; i < ndims; i++)
        *to++ = psizes[i];
    *to = order;
    tern_datatype_retain(oldtype);
    envelope->types[0] = oldtype;
    return envelope;
}

int tern_mpi_type_create_darray(bool large, int size, int rank, int ndims,
                                struct tern_ints array_of_gsizes, const int array_of_distribs[],
                                const int array_of_dargs[], const int array_of_psizes[], int order,
                                struct tern_datatype *oldtype, struct tern_datatype **ret_newtype)
{
    if (ndims < 1)
        return tern_error(TERN_ERR_ARG, "ndims is %d; expected at least 1", ndims);
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        return tern_error(TERN_ERR_ARG, "order is %d; expected MPI_ORDER_C or MPI_ORDER_FORTRAN",
                          order);
    struct tern_deal *deals = malloc((size_t)ndims * sizeof *deals);
    struct tern_datatype *datatype = tern_datatype_new();
    int error;
    if (!deals || !datatype)
        goto no_memory;
    error = make_deals(size, rank, ndims, array_of_gsizes, array_of_distribs, array_of_dargs,
                       array_of_psizes, deals);
    if (error)
        goto drop_datatype;
    datatype->envelope = make_envelope(large, size, rank, ndims, array_of_gsizes, array_of_distribs,
                                       array_of_dargs, array_of_psizes, order, oldtype);
    if (!datatype->envelope)
        goto no_memory;
    error = tern_type_make_distributed(&oldtype->type, ndims, deals, order == MPI_ORDER_FORTRAN,
                                       &datatype->type);
    if (error)
        goto drop_datatype;
    free(deals);
    *ret_newtype = datatype;
    return 0;

no_memory:
    error = tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
drop_datatype:
    if (datatype)
        tern_datatype_release(datatype);
    free(deals);
    return error;
}
