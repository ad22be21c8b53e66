/* SPDX-License-Identifier: BSD-3-Clause */

/* Sets, gets and deletes attributes of communicators and datatypes (MPI-4.1 section 7.7), and the
 * predefined attributes of communicators. */

#include "lib/mpi/attr.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/errhandler.h"
#include "lib/mpi/fortran.h"
#include "lib/mpi/procedures.h"
#include "lib/rte/rte.h"

#include <limits.h>
#include <string.h>

/* ---- communicators ---- */

/* Finds the value of a predefined attribute. In C it is a pointer to int. */
static bool predefined_comm_attr(int keyval, int **ret_value)
{
    static int tag_ub = INT_MAX, host = MPI_PROC_NULL, io = MPI_ANY_SOURCE, wtime_is_global,
               appnum, universe_size;

    switch (keyval) {
    case MPI_TAG_UB:
        *ret_value = &tag_ub;
        return true;
    case MPI_HOST:
        *ret_value = &host;
        return true;
    case MPI_IO:
        *ret_value = &io;
        return true;
    case MPI_WTIME_IS_GLOBAL: /* the clock counts from the boot of the machine */
        wtime_is_global = tern_rte.local_size == tern_rte.size;
        *ret_value = &wtime_is_global;
        return true;
    case MPI_APPNUM:
        appnum = (int)tern_rte.appnum;
        *ret_value = &appnum;
        return true;
    case MPI_LASTUSEDCODE:
        *ret_value = &tern_error_last_used;
        return true;
    case MPI_UNIVERSE_SIZE:
        universe_size = (int)tern_rte.universe_size;
        *ret_value = &universe_size;
        return true;
    }
    return false;
}

int tern_mpi_comm_set_attr(struct tern_comm *comm, int keyval, void *value)
{
    return tern_attrs_set(TERN_ATTR_COMM, &comm->obj, &comm->attrs, keyval, value);
}

int tern_mpi_comm_get_attr(struct tern_comm *comm, int keyval, void *ret_value, int *flag)
{
    int *predefined;
    bool found = false;
    void *value = NULL;

    if (predefined_comm_attr(keyval, &predefined)) {
        value =
            tern_fortran_caller() == TERN_LANGUAGE_C ? predefined : (void *)(MPI_Aint)*predefined;
        found = true;
    } else {
        int error = tern_attrs_get(TERN_ATTR_COMM, comm->attrs, keyval, &value, &found);
        if (error)
            return error;
    }
    *flag = found;
    if (found)
        memcpy(ret_value, &value, sizeof value);
    return 0;
}

int tern_mpi_comm_delete_attr(struct tern_comm *comm, int keyval)
{
    return tern_attrs_delete(TERN_ATTR_COMM, &comm->obj, &comm->attrs, keyval);
}

/* ---- datatypes ---- */

int tern_mpi_type_set_attr(struct tern_datatype *datatype, int keyval, void *value)
{
    return tern_attrs_set(TERN_ATTR_TYPE, &datatype->obj, &datatype->attrs, keyval, value);
}

int tern_mpi_type_get_attr(struct tern_datatype *datatype, int keyval, void *ret_value, int *flag)
{
    bool found;
    void *value;

    int error = tern_attrs_get(TERN_ATTR_TYPE, datatype->attrs, keyval, &value, &found);
    if (error)
        return error;
    *flag = found;
    if (found)
        memcpy(ret_value, &value, sizeof value);
    return 0;
}

int tern_mpi_type_delete_attr(struct tern_datatype *datatype, int keyval)
{
    return tern_attrs_delete(TERN_ATTR_TYPE, &datatype->obj, &datatype->attrs, keyval);
}
