/* SPDX-License-Identifier: BSD-3-Clause */

/* Converts statuses between C, Fortran's array of integers and TYPE(MPI_Status) of mpi_f08 (MPI-4.1
 * section 19.3.5). All three have one layout, so each conversion is a copy. No status may be an
 * ignored one. */

#include "lib/util/base/error.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/mpi/procedures.h"

_Static_assert(sizeof(MPI_Status) == 6 * sizeof(MPI_Fint), "a Fortran status is a C status");
_Static_assert(sizeof(MPI_F08_status) == sizeof(MPI_Status) &&
                   offsetof(MPI_F08_status, _ucount) == offsetof(MPI_Status, _ucount),
               "an mpi_f08 status is a C status");

static bool ignored(const void *status)
{
    return status == MPI_F_STATUS_IGNORE || status == MPI_F_STATUSES_IGNORE ||
           status == MPI_F08_STATUS_IGNORE || status == MPI_F08_STATUSES_IGNORE;
}

static int convert(const void *from, const char *from_name, void *to, const char *to_name)
{
    if (ignored(from) || ignored(to))
        return tern_error(TERN_ERR_ARG, "%s is Fortran's MPI_STATUS_IGNORE; expected a status",
                          ignored(from) ? from_name : to_name);
    memcpy(to, from, sizeof(MPI_Status));
    return 0;
}

int tern_mpi_status_c2f(const MPI_Status *c_status, MPI_Fint *f_status)
{
    return convert(c_status, "c_status", f_status, "f_status");
}

int tern_mpi_status_f2c(const MPI_Fint *f_status, MPI_Status *c_status)
{
    return convert(f_status, "f_status", c_status, "c_status");
}

int tern_mpi_status_c2f08(const MPI_Status *c_status, MPI_F08_status *f08_status)
{
    return convert(c_status, "c_status", f08_status, "f08_status");
}

int tern_mpi_status_f082c(const MPI_F08_status *f08_status, MPI_Status *c_status)
{
    return convert(f08_status, "f08_status", c_status, "c_status");
}

int tern_mpi_status_f082f(const MPI_F08_status *f08_status, MPI_Fint *f_status)
{
    return convert(f08_status, "f08_status", f_status, "f_status");
}

int tern_mpi_status_f2f08(const MPI_Fint *f_status, MPI_F08_status *f08_status)
{
    return convert(f_status, "f_status", f08_status, "f08_status");
}
