/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The pair types of a value and an index, for MPI_MAXLOC and MPI_MINLOC (MPI-4.1 section 6.9.4).
 *
 * Some have names, such as MPI_DOUBLE_INT. The others are made when first asked for: a C structure
 * of a number and an integer. As asking twice gives the same handle, which programs may not free,
 * they are never freed. Inside the library such a type is a struct that is predefined
 * (tern_datatype_is_pair), so that whatever walks through datatypes knows it.
 */
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/procedures.h"
#include "lib/type/reduction.h"
#include "lib/util/base/error.h"

#include <search.h>
#include <stdlib.h>

struct pair {
    struct tern_datatype *value, *index, *datatype;
};

static const struct pair named[] = {
    {&tern_datatype_float, &tern_datatype_int, &tern_datatype_float_int},
    {&tern_datatype_double, &tern_datatype_int, &tern_datatype_double_int},
    {&tern_datatype_long, &tern_datatype_int, &tern_datatype_long_int},
    {&tern_datatype_int, &tern_datatype_int, &tern_datatype_2int},
    {&tern_datatype_short, &tern_datatype_int, &tern_datatype_short_int},
    {&tern_datatype_long_double, &tern_datatype_int, &tern_datatype_longdbl_int},
    {&tern_datatype_real, &tern_datatype_real, &tern_datatype_2real},
    {&tern_datatype_dblprec, &tern_datatype_dblprec, &tern_datatype_2dblprec},
    {&tern_datatype_integer, &tern_datatype_integer, &tern_datatype_2integer},
};

static void *unnamed; /* a tree of struct pair (tsearch), in the order of compare() */

static int compare(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    uintptr_t left = (uintptr_t)x->value, right = (uintptr_t)y->value;
    if (left == right) {
        left = (uintptr_t)x->index;
        right = (uintptr_t)y->index;
    }
    return (left > right) - (left < right);
}

/* Makes the datatype of a C structure of both. */
static int make_datatype(struct pair *pair)
{
    int64_t align = pair->index->type.alignment;
    const int64_t lengths[2] = {1, 1};
    const int64_t places[2] = {0, (pair->value->type.extent + align - 1) / align * align};
    const MPI_Datatype types[2] = {tern_datatype_handle(pair->value),
                                   tern_datatype_handle(pair->index)};
    int error = tern_mpi_type_create_struct(false, 2, (struct tern_ints){lengths, 8},
                                            (struct tern_ints){places, 8}, types, &pair->datatype);
    if (!error)
        error = tern_mpi_type_commit(&pair->datatype);
    return error;
}

/* Finds or makes the datatype of a pair that has no name. */
static int find_unnamed(struct tern_datatype *value, struct tern_datatype *index,
                        struct tern_datatype **ret_datatype)
{
    struct pair key = {.value = value, .index = index}, *pair;
    struct pair **found = tfind(&key, &unnamed, compare);
    if (!found) {
        int error = make_datatype(&key);
        if (error)
            return error;
        pair = malloc(sizeof *pair);
        if (pair) {
            *pair = key;
            found = tsearch(pair, &unnamed, compare);
        }
        if (!found) {
            free(pair);
            tern_datatype_release(key.datatype);
            return tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
        }
        tern_datatype_keep(key.datatype);
        key.datatype->type.basic = TERN_BASIC_NONE; /* its elements are pairs, not their parts */
        key.datatype->type.pair =
            (uint8_t)(tern_reduce_pair_number(value->type.basic, index->type.basic) + 1);
    }
    *ret_datatype = (*found)->datatype;
    return 0;
}

int tern_mpi_type_get_value_index(struct tern_datatype *value_type,
                                  struct tern_datatype *index_type,
                                  struct tern_datatype **ret_pair_type)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i].value == value_type && named[i].index == index_type) {
            *ret_pair_type = named[i].datatype;
            return 0;
        }
    *ret_pair_type = NULL; /* there is no such pair */
    if (!value_type->predefined || !index_type->predefined ||
        tern_reduce_pair_number(value_type->type.basic, index_type->type.basic) < 0)
        return 0;
    return find_unnamed(value_type, index_type, ret_pair_type);
}
