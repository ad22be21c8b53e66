/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DATATYPES_H
#define DATATYPES_H

/* What tests of datatypes have in common. */

#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/procedures.h"

#include <check.h>
#include <stdlib.h>

static inline struct tern_ints ints(const int *values)
{
    return (struct tern_ints){values, 4};
}

static inline struct tern_ints aints(const int64_t *values)
{
    return (struct tern_ints){values, 8};
}

static inline void drop(struct tern_datatype *datatype)
{
    if (!datatype->predefined)
        ck_assert_int_eq(tern_mpi_type_free(&datatype), 0);
}

/* What MPI_Type_get_contents tells of a type. */
struct contents {
    int combiner;
    MPI_Count integers, addresses, large, types;
    int *integer;
    MPI_Aint *address;
    MPI_Count *large_count;
    MPI_Datatype *type;
};

static inline struct contents get_contents(struct tern_datatype *datatype)
{
    struct contents c;
    ck_assert_int_eq(tern_mpi_type_get_envelope(datatype, &c.integers, &c.addresses, &c.large,
                                                &c.types, &c.combiner),
                     0);
    c.integer = calloc((size_t)c.integers + 1, sizeof *c.integer);
    c.address = calloc((size_t)c.addresses + 1, sizeof *c.address);
    c.large_count = calloc((size_t)c.large + 1, sizeof *c.large_count);
    c.type = calloc((size_t)c.types + 1, sizeof *c.type);
    if (c.combiner != MPI_COMBINER_NAMED)
        ck_assert_int_eq(tern_mpi_type_get_contents(datatype, c.integers, c.addresses,
                                                    c.large ? c.large : -1, c.types, c.integer,
                                                    c.address, c.large_count, c.type),
                         0);
    return c;
}

static inline void drop_contents(struct contents *c)
{
    for (MPI_Count i = 0; i < c->types; i++)
        drop(tern_datatype_of(c->type[i]));
    free(c->integer);
    free(c->address);
    free(c->large_count);
    free(c->type);
}

#endif
