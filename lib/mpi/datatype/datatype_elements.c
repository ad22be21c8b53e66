/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Converts between bytes and basic elements (MPI_Get_elements, MPI_Status_set_elements).
 *
 * The program of a type knows only bytes, because it merges runs of different elements. Whole
 * elements of a datatype are counted by its totals. For the rest the code goes down the envelopes,
 * with one division or one list per level.
 */
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

/* Returns the bytes of the first element of a predefined pair, or 0 if the type is not a pair. */
static int64_t first_of_pair(const struct tern_type *type)
{
    switch (type->basic) {
    case TERN_BASIC_FLOAT_INT: return sizeof(float);
    case TERN_BASIC_DOUBLE_INT: return sizeof(double);
    case TERN_BASIC_LONG_DOUBLE_INT: return sizeof(long double);
    case TERN_BASIC_LONG_INT: return sizeof(long);
    case TERN_BASIC_SHORT_INT: return sizeof(short);
    case TERN_BASIC_2INT:
    case TERN_BASIC_2FLOAT:
    case TERN_BASIC_2DOUBLE:
    case TERN_BASIC_2FLOAT_COMPLEX:
    case TERN_BASIC_2DOUBLE_COMPLEX: return type->size / type->elements;
    default: return 0;
    }
}

/* The unit of a given or wanted amount. */
enum unit { BYTES, ELEMENTS };

static int64_t amount_of(const struct tern_datatype *datatype, enum unit unit)
{
    return unit == BYTES ? datatype->type.size : datatype->type.elements;
}

/* Finds the old type of a struct in which the first `*left` units end. Subtracts the blocks before
 * it from *left, and adds them to *total in the other unit. Returns NULL if the struct does not
 * have that many units. */
static const struct tern_datatype *find_block(const struct tern_envelope *envelope, enum unit have,
                                              int64_t *left, int64_t *total)
{
    enum unit want = have == BYTES ? ELEMENTS : BYTES;
    for (int64_t i = 0; i < envelope->type_count; i++) {
        const struct tern_datatype *type = envelope->types[i];
        int64_t length = envelope->numbers[1 + i];
        if (*left < length * amount_of(type, have))
            return type;
        *left -= length * amount_of(type, have);
        *total += length * amount_of(type, want);
    }
    return NULL;
}

/* Returns the number of basic elements in the first `left` bytes of a sequence of the datatype, or
 * the bytes of the first `left` basic elements. Returns -1 if the amount ends inside an element, if
 * the datatype has no elements, or if the result needs more than 63 bits. */
static int64_t convert(const struct tern_datatype *datatype, int64_t left, enum unit have)
{
    enum unit want = have == BYTES ? ELEMENTS : BYTES;
    int64_t total = 0;
    while (left > 0) {
        if (!datatype || amount_of(datatype, have) == 0)
            return -1;
        int64_t whole = left / amount_of(datatype, have);
        int64_t more;
        if (__builtin_mul_overflow(whole, amount_of(datatype, want), &more) ||
            __builtin_add_overflow(total, more, &total))
            return -1;
        left -= whole * amount_of(datatype, have);
        const struct tern_envelope *envelope = datatype->envelope;
        if (left == 0)
            break;
        if (!envelope || envelope->type_count == 0) { /* predefined */
            int64_t first = first_of_pair(&datatype->type);
            if (left != (have == BYTES ? first : 1))
                return -1;
            return total + (have == BYTES ? 1 : first);
        }
        datatype = envelope->combiner == MPI_COMBINER_STRUCT
                       ? find_block(envelope, have, &left, &total)
                       : envelope->types[0];
    }
    return total;
}

int tern_mpi_get_elements(const MPI_Status *status, struct tern_datatype *datatype,
                          MPI_Count *ret_count)
{
    int64_t elements = convert(datatype, (int64_t)status->_ucount, BYTES);
    *ret_count = elements < 0 ? MPI_UNDEFINED : elements;
    return 0;
}

int tern_mpi_get_count(const MPI_Status *status, struct tern_datatype *datatype,
                       MPI_Count *ret_count)
{
    int64_t bytes = (int64_t)status->_ucount, size = datatype->type.size;
    if (size == 0)
        *ret_count = bytes == 0 ? 0 : MPI_UNDEFINED;
    else
        *ret_count = bytes % size == 0 ? bytes / size : MPI_UNDEFINED;
    return 0;
}

int tern_mpi_status_set_elements(MPI_Status *status, struct tern_datatype *datatype,
                                 MPI_Count count)
{
    if (count < 0)
        return tern_error(TERN_ERR_COUNT, "count is %lld; it may not be negative",
                          (long long)count);
    int64_t bytes = convert(datatype, count, ELEMENTS);
    if (bytes < 0)
        return tern_error(
            TERN_ERR_ARG,
            "count is %lld, but datatype has no basic elements, or so many elements take more than "
            "2^63 - 1 bytes",
            (long long)count);
    status->_ucount = (size_t)bytes;
    return 0;
}
