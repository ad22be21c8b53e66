/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds predefined datatypes by their properties (MPI-4.1 sections 19.1.5 and 6.9.4). */
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/procedures.h"
#include "lib/util/error.h"

int tern_mpi_type_match_size(int typeclass, int size, struct tern_datatype **ret_datatype)
{
    /* If several types fit, has the one that Open MPI returns. */
    static const struct {
        int class;
        struct tern_datatype *datatype;
    } table[] = {
        {MPI_TYPECLASS_INTEGER, &tern_datatype_integer1},
        {MPI_TYPECLASS_INTEGER, &tern_datatype_integer2},
        {MPI_TYPECLASS_INTEGER, &tern_datatype_integer},
        {MPI_TYPECLASS_INTEGER, &tern_datatype_integer8},
        {MPI_TYPECLASS_REAL, &tern_datatype_real},
        {MPI_TYPECLASS_REAL, &tern_datatype_real8},
        {MPI_TYPECLASS_REAL, &tern_datatype_real16},
        {MPI_TYPECLASS_COMPLEX, &tern_datatype_cplex},
        {MPI_TYPECLASS_COMPLEX, &tern_datatype_complex16},
        {MPI_TYPECLASS_COMPLEX, &tern_datatype_complex32},
    };
    bool known = false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        known |= table[i].class == typeclass;
        if (table[i].class != typeclass || table[i].datatype->type.size != size)
            continue;
        *ret_datatype = table[i].datatype;
        return 0;
    }
    if (known)
        return tern_error(TERN_ERR_ARG, "size is %d; no datatype of this class has this size",
                          size);
    return tern_error(TERN_ERR_ARG,
                      "typeclass is %d; expected MPI_TYPECLASS_INTEGER, _REAL or _COMPLEX",
                      typeclass);
}

int tern_mpi_type_get_value_index(struct tern_datatype *value_type,
                                  struct tern_datatype *index_type,
                                  struct tern_datatype **ret_pair_type)
{
    static const struct {
        struct tern_datatype *value, *index, *pair;
    } table[] = {
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
    *ret_pair_type = NULL; /* there is no such pair */
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].value == value_type && table[i].index == index_type)
            *ret_pair_type = table[i].pair;
    return 0;
}
