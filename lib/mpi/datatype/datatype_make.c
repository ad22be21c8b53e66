/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Type_contiguous to MPI_Type_create_resized. The entry points have checked counts, handles and
 * arrays. These functions check how arguments go together, let lib/type make the layout, and store
 * the arguments for MPI_Type_get_contents.
 */
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/procedures.h"
#include "lib/type/layout.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

static int no_memory(void)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
}

/* Makes a datatype with room for its arguments, from one old type. If `oldtype` is NULL, the caller
 * fills in the types. */
static int start_datatype(int combiner, bool large, int64_t numbers, int64_t addresses,
                          int64_t types, struct tern_datatype *oldtype,
                          struct tern_datatype **ret_datatype)
{
    struct tern_datatype *datatype = tern_datatype_new();
    if (!datatype)
        return no_memory();
    datatype->envelope = tern_envelope_new(combiner, numbers, addresses, types);
    if (!datatype->envelope) {
        tern_datatype_release(datatype);
        return no_memory();
    }
    datatype->envelope->large = large;
    if (oldtype) {
        tern_datatype_retain(oldtype);
        datatype->envelope->types[0] = oldtype;
    }
    *ret_datatype = datatype;
    return 0;
}

/* Returns the datatype to the caller, or frees it if its layout could not be made. */
static int finish_datatype(struct tern_datatype *datatype, int error,
                           struct tern_datatype **ret_datatype)
{
    if (error) {
        tern_datatype_release(datatype);
        return error;
    }
    *ret_datatype = datatype;
    return 0;
}

static void note_array(int64_t *to, struct tern_ints array, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = tern_ints_at(array, i);
}

int tern_mpi_type_contiguous(bool large, MPI_Count count, struct tern_datatype *oldtype,
                             struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error = start_datatype(MPI_COMBINER_CONTIGUOUS, large, 1, 0, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    error = tern_type_make_vector(&oldtype->type, 1, count, 0, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_vector(bool large, MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                         struct tern_datatype *oldtype, struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int64_t bytes;
    if (__builtin_mul_overflow(stride, oldtype->type.extent, &bytes))
        return tern_error(TERN_ERR_ARG, "stride is %lld elements of %lld bytes, together more than "
                                        "2^63 - 1 bytes",
                          (long long)stride, (long long)oldtype->type.extent);
    int error = start_datatype(MPI_COMBINER_VECTOR, large, 3, 0, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    datatype->envelope->numbers[1] = blocklength;
    datatype->envelope->numbers[2] = stride;
    error = tern_type_make_vector(&oldtype->type, count, blocklength, bytes, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_hvector(bool large, MPI_Count count, MPI_Count blocklength,
                                 MPI_Count stride, struct tern_datatype *oldtype,
                                 struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error = start_datatype(MPI_COMBINER_HVECTOR, large, 2, 1, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    datatype->envelope->numbers[1] = blocklength;
    datatype->envelope->addresses[0] = stride;
    error = tern_type_make_vector(&oldtype->type, count, blocklength, stride, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_indexed(bool large, MPI_Count count, struct tern_ints array_of_blocklengths,
                          struct tern_ints array_of_displacements, struct tern_datatype *oldtype,
                          struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error =
        start_datatype(MPI_COMBINER_INDEXED, large, 2 * count + 1, 0, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    note_array(datatype->envelope->numbers + 1, array_of_blocklengths, count);
    note_array(datatype->envelope->numbers + 1 + count, array_of_displacements, count);
    error = tern_type_make_indexed(&oldtype->type, count, array_of_blocklengths,
                                   array_of_displacements, oldtype->type.extent, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_hindexed(bool large, MPI_Count count,
                                  struct tern_ints array_of_blocklengths,
                                  struct tern_ints array_of_displacements,
                                  struct tern_datatype *oldtype, struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error =
        start_datatype(MPI_COMBINER_HINDEXED, large, count + 1, count, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    note_array(datatype->envelope->numbers + 1, array_of_blocklengths, count);
    note_array(datatype->envelope->addresses, array_of_displacements, count);
    error = tern_type_make_indexed(&oldtype->type, count, array_of_blocklengths,
                                   array_of_displacements, 1, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_indexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                       struct tern_ints array_of_displacements,
                                       struct tern_datatype *oldtype,
                                       struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error =
        start_datatype(MPI_COMBINER_INDEXED_BLOCK, large, count + 2, 0, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    datatype->envelope->numbers[1] = blocklength;
    note_array(datatype->envelope->numbers + 2, array_of_displacements, count);
    error = tern_type_make_blocks(&oldtype->type, count, blocklength, array_of_displacements,
                                  oldtype->type.extent, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_hindexed_block(bool large, MPI_Count count, MPI_Count blocklength,
                                        struct tern_ints array_of_displacements,
                                        struct tern_datatype *oldtype,
                                        struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error = start_datatype(MPI_COMBINER_HINDEXED_BLOCK, large, 2, count, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->numbers[0] = count;
    datatype->envelope->numbers[1] = blocklength;
    note_array(datatype->envelope->addresses, array_of_displacements, count);
    error = tern_type_make_blocks(&oldtype->type, count, blocklength, array_of_displacements, 1,
                                  &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_struct(bool large, MPI_Count count, struct tern_ints array_of_blocklengths,
                                struct tern_ints array_of_displacements,
                                const MPI_Datatype array_of_types[],
                                struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error =
        start_datatype(MPI_COMBINER_STRUCT, large, count + 1, count, count, NULL, &datatype);
    if (error)
        return error;
    struct tern_envelope *envelope = datatype->envelope;
    envelope->numbers[0] = count;
    note_array(envelope->numbers + 1, array_of_blocklengths, count);
    note_array(envelope->addresses, array_of_displacements, count);
    const struct tern_type **layouts = malloc((size_t)count * sizeof *layouts + 1);
    if (!layouts)
        return finish_datatype(datatype, no_memory(), ret_newtype);
    for (MPI_Count i = 0; i < count; i++) {
        struct tern_datatype *old = tern_datatype_of(array_of_types[i]);
        tern_datatype_retain(old);
        envelope->types[i] = old;
        layouts[i] = &old->type;
    }
    error = tern_type_make_struct(layouts, count, array_of_blocklengths, array_of_displacements,
                                  &datatype->type);
    free(layouts);
    return finish_datatype(datatype, error, ret_newtype);
}

static int check_box(int ndims, struct tern_ints sizes, struct tern_ints subsizes,
                     struct tern_ints starts)
{
    if (ndims < 1)
        return tern_error(TERN_ERR_ARG, "ndims is %d; expected at least 1", ndims);
    for (int i = 0; i < ndims; i++) {
        long long size = tern_ints_at(sizes, i), subsize = tern_ints_at(subsizes, i),
                  start = tern_ints_at(starts, i);
        if (size < 1)
            return tern_error(TERN_ERR_ARG, "array_of_sizes[%d] is %lld; expected at least 1", i,
                              size);
        if (subsize < 1 || subsize > size)
            return tern_error(
                TERN_ERR_ARG,
                "array_of_subsizes[%d] is %lld; expected 1 to array_of_sizes[%d], %lld", i, subsize,
                i, size);
        if (start < 0 || start > size - subsize)
            return tern_error_index(TERN_ERR_ARG, size - subsize + 1,
                                    "array_of_starts[%d] is %lld, and %lld of %lld elements are "
                                    "selected", i, start, subsize, size);
    }
    return 0;
}

int tern_mpi_type_create_subarray(bool large, int ndims, struct tern_ints array_of_sizes,
                                  struct tern_ints array_of_subsizes,
                                  struct tern_ints array_of_starts, int order,
                                  struct tern_datatype *oldtype, struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error = check_box(ndims, array_of_sizes, array_of_subsizes, array_of_starts);
    if (!error && order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN)
        error = tern_error(TERN_ERR_ARG, "order is %d; expected MPI_ORDER_C or MPI_ORDER_FORTRAN",
                           order);
    if (!error)
        error = start_datatype(MPI_COMBINER_SUBARRAY, large, 3 * (int64_t)ndims + 2, 0, 1, oldtype,
                               &datatype);
    if (error)
        return error;
    struct tern_envelope *envelope = datatype->envelope;
    envelope->numbers[0] = ndims;
    note_array(envelope->numbers + 1, array_of_sizes, ndims);
    note_array(envelope->numbers + 1 + ndims, array_of_subsizes, ndims);
    note_array(envelope->numbers + 1 + 2 * ndims, array_of_starts, ndims);
    envelope->numbers[1 + 3 * ndims] = order;
    error = tern_type_make_subarray(&oldtype->type, ndims, array_of_sizes, array_of_subsizes,
                                    array_of_starts, order == MPI_ORDER_FORTRAN, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}

int tern_mpi_type_create_resized(bool large, struct tern_datatype *oldtype, MPI_Count lb,
                                 MPI_Count extent, struct tern_datatype **ret_newtype)
{
    struct tern_datatype *datatype;
    int error = start_datatype(MPI_COMBINER_RESIZED, large, 0, 2, 1, oldtype, &datatype);
    if (error)
        return error;
    datatype->envelope->addresses[0] = lb;
    datatype->envelope->addresses[1] = extent;
    error = tern_type_make_resized(&oldtype->type, lb, extent, &datatype->type);
    return finish_datatype(datatype, error, ret_newtype);
}
