/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_ENVELOPE_H
#define TERN_DATATYPE_ENVELOPE_H

/*
 * What a derived datatype was made of, for MPI_Type_get_envelope and _contents (MPI-4.1
 * section 5.1.13) and for counting the basic elements of a part. Private to lib/mpi/datatype.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_datatype;

struct tern_envelope {
    int combiner;
    bool large; /* made by MPI_Type_xxx_c */
    int64_t number_count, address_count, type_count;
    int64_t
        *numbers; /* integers, in the order of the standard's table for calls with int arguments */
    int64_t *addresses;           /* displacements and strides in bytes, likewise */
    struct tern_datatype **types; /* a reference to each */
};

/* Room for that many of each, to be filled by the caller (types are NULL); NULL: no memory. It goes
 * with the datatype, by free. */
struct tern_envelope *tern_envelope_new(int combiner, int64_t number_count, int64_t address_count,
                                        int64_t type_count);

#endif
