/* SPDX-License-Identifier: BSD-3-Clause */

/* Finds predefined datatypes by their class and size (MPI-4.1 section 19.1.5). */
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/procedures.h"
#include "lib/util/base/error.h"

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
