/* SPDX-License-Identifier: BSD-3-Clause */

/* Sets, gets and deletes attributes of communicators, datatypes and windows (MPI-4.1 section 7.7),
 * and the predefined attributes of communicators and windows. */

#include "lib/mpi/object/attr.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/win/win.h"
#include "lib/rte/rte.h"

#include <limits.h>
#include <string.h>

static int give(bool found, void *value, void *ret_value, int *flag)
{
    *flag = found;
    if (found)
        memcpy(ret_value, &value, sizeof value);
    return 0;
}

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
    return give(found, value, ret_value, flag);
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
    return error ? error : give(found, value, ret_value, flag);
}

int tern_mpi_type_delete_attr(struct tern_datatype *datatype, int keyval)
{
    return tern_attrs_delete(TERN_ATTR_TYPE, &datatype->obj, &datatype->attrs, keyval);
}

/* ---- windows ---- */

/* Finds the value of a predefined attribute (MPI-4.1 section 12.2.6): in C the window's memory or
 * the address of a number, in Fortran an address or the number itself. */
static bool predefined_win_attr(struct tern_win *win, int keyval, void **ret_value)
{
    int *number = NULL;
    if (keyval < MPI_WIN_BASE || keyval > MPI_WIN_MODEL)
        return false; /* the caller's language is told once, so leave it to tern_attrs_get */
    bool c = tern_fortran_caller() == TERN_LANGUAGE_C;
    switch (keyval) {
    case MPI_WIN_BASE:
        *ret_value = tern_win_hides_base(win, win->size) ? NULL : win->base;
        return true;
    case MPI_WIN_SIZE: *ret_value = c ? (void *)&win->size : (void *)win->size; return true;
    case MPI_WIN_DISP_UNIT: number = &win->disp_unit; break;
    case MPI_WIN_CREATE_FLAVOR: number = &win->flavor; break;
    default: number = &win->model;
    }
    *ret_value = c ? (void *)number : (void *)(MPI_Aint)*number;
    return true;
}

int tern_mpi_win_set_attr(struct tern_win *win, int keyval, void *value)
{
    return tern_attrs_set(TERN_ATTR_WIN, &win->obj, &win->attrs, keyval, value);
}

int tern_mpi_win_get_attr(struct tern_win *win, int keyval, void *ret_value, int *flag)
{
    void *value = NULL;
    bool found = predefined_win_attr(win, keyval, &value);
    int error = found ? 0 : tern_attrs_get(TERN_ATTR_WIN, win->attrs, keyval, &value, &found);
    return error ? error : give(found, value, ret_value, flag);
}

int tern_mpi_win_delete_attr(struct tern_win *win, int keyval)
{
    return tern_attrs_delete(TERN_ATTR_WIN, &win->obj, &win->attrs, keyval);
}
