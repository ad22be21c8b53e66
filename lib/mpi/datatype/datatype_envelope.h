/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_ENVELOPE_H
#define TERN_DATATYPE_ENVELOPE_H

/*
 * What a derived datatype was made of: for MPI_Type_get_envelope and MPI_Type_get_contents (MPI-4.1
 * section 5.1.13), and to count the basic elements of part of a message. Private to
 * lib/mpi/datatype.
 */

#include "lib/mpi/datatype/datatype.h"

#include <stdbool.h>
#include <stdint.h>

/* MPI_COMBINER_VALUE_INDEX; mpi.h does not have the name yet. */
enum { TERN_COMBINER_VALUE_INDEX = 19 };

/* How a datatype was made. */
struct tern_envelope {
    int combiner;                                    /* MPI_COMBINER_* */
    bool large;                                      /* made by MPI_Type_xxx_c */
    int64_t number_count, address_count, type_count; /* lengths of the arrays below */
    /* integers, in the order of the standard's table for calls with int arguments */
    int64_t *numbers;
    int64_t *addresses;           /* displacements and strides in bytes, in that order */
    struct tern_datatype **types; /* a reference to each datatype */
};

/* Allocates an envelope with room for the given numbers of items. The caller fills it; all types
 * are NULL. The datatype frees it with free(). Returns NULL if there is no memory. */
struct tern_envelope *tern_envelope_new(int combiner, int64_t number_count, int64_t address_count,
                                        int64_t type_count);

/* Returns true for an unnamed pair of MPI_Type_get_value_index (datatype_pair.c): types[0] is the
 * value's, types[1] the index's. It is the only predefined type that is a struct; programs see the
 * combiner MPI_COMBINER_VALUE_INDEX. */
static inline bool tern_datatype_is_pair(const struct tern_datatype *datatype)
{
    return datatype->predefined && datatype->envelope &&
           datatype->envelope->combiner == MPI_COMBINER_STRUCT;
}

#endif
