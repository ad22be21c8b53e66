/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The predefined, unnamed datatypes of Fortran's parameterized kinds (MPI-4.1 section 19.1.5).
 *
 * Each (precision, range) is a datatype of its own, because the standard matches them so. Asking
 * twice gives the same handle: programs may not free these handles, so new ones would pile up. They
 * are made when first asked for and are never freed.
 *
 * The kinds are gfortran's. Precision 16 to 18 is kind 10, an x87 long double.
 */
#include "lib/mpi/datatype/datatype_envelope.h"
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

#include <search.h>

static void *known; /* a tree of these datatypes (tsearch), in the order of compare() */

static int compare(const void *a, const void *b)
{
    const struct tern_envelope *x = ((const struct tern_datatype *)a)->envelope,
                               *y = ((const struct tern_datatype *)b)->envelope;
    if (x->combiner != y->combiner)
        return x->combiner < y->combiner ? -1 : 1;
    for (int64_t i = 0; i < x->number_count; i++)
        if (x->numbers[i] != y->numbers[i])
            return x->numbers[i] < y->numbers[i] ? -1 : 1;
    return 0;
}

/* Finds or makes the datatype for `numbers`, laid out like `type`. */
static int find_datatype(int combiner, int number_count, const int numbers[],
                         const struct tern_type *type, struct tern_datatype **ret_datatype)
{
    struct tern_datatype *datatype = tern_datatype_new(), **found = NULL;
    if (datatype)
        datatype->envelope = tern_envelope_new(combiner, number_count, 0, 0);
    if (datatype && datatype->envelope) {
        datatype->type = *type;
        for (int i = 0; i < number_count; i++)
            datatype->envelope->numbers[i] = numbers[i];
        found = tsearch(datatype, &known, compare);
    }
    if (found && *found == datatype)
        tern_datatype_keep(datatype);
    else if (datatype)
        tern_datatype_release(datatype);
    if (!found)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a datatype");
    *ret_datatype = *found;
    return 0;
}

int tern_mpi_type_create_f90_integer(int r, struct tern_datatype **ret_newtype)
{
    static const struct tern_type int128 = TERN_TYPE_OF(TERN_BASIC_INT128, __int128);
    static const struct {
        int r; /* decimal digits */
        const struct tern_type *type;
    } table[] = {
        {2, &tern_datatype_integer1.type},
        {4, &tern_datatype_integer2.type},
        {9, &tern_datatype_integer4.type},
        {18, &tern_datatype_integer8.type},
        {38, &int128},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (r <= table[i].r)
            return find_datatype(MPI_COMBINER_F90_INTEGER, 1, &r, table[i].type, ret_newtype);
    return tern_error(TERN_ERR_ARG, "r is %d; integers have at most 38 decimal digits", r);
}

/* Finds a real or complex type. Both have one table; only the element types differ. */
static int create_floating(int p, int r, bool is_complex, struct tern_datatype **ret_newtype)
{
    static const struct {
        int p, r;                        /* decimal digits, decimal exponent */
        const struct tern_type *type[2]; /* real, complex */
    } table[] = {
        {6, 37, {&tern_datatype_real4.type, &tern_datatype_complex8.type}},
        {15, 307, {&tern_datatype_real8.type, &tern_datatype_complex16.type}},
        {18, 4931, {&tern_datatype_long_double.type, &tern_datatype_c_long_double_complex.type}},
        {33, 4931, {&tern_datatype_real16.type, &tern_datatype_complex32.type}},
    };
    int combiner = is_complex ? MPI_COMBINER_F90_COMPLEX : MPI_COMBINER_F90_REAL;
    if (p == MPI_UNDEFINED && r == MPI_UNDEFINED)
        return tern_error(TERN_ERR_ARG,
                          "p and r are both MPI_UNDEFINED; one of them must be given");
    /* MPI_UNDEFINED is negative, so it requires nothing. */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (p <= table[i].p && r <= table[i].r)
            return find_datatype(combiner, 2, (int[]){p, r}, table[i].type[is_complex],
                                 ret_newtype);
    return tern_error(
        TERN_ERR_ARG,
        "p is %d, r is %d; reals have at most 33 decimal digits and exponents to 4931", p, r);
}

int tern_mpi_type_create_f90_real(int p, int r, struct tern_datatype **ret_newtype)
{
    return create_floating(p, r, false, ret_newtype);
}

int tern_mpi_type_create_f90_complex(int p, int r, struct tern_datatype **ret_newtype)
{
    return create_floating(p, r, true, ret_newtype);
}
