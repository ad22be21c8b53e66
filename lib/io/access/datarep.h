/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATAREP_H
#define TERN_DATAREP_H

/*
 * Data representations (MPI-4.1 section 14.5): how basic elements lie in a file. "native" and
 * "internal" are the packed stream as it is. "external32" is the portable form. Others are the
 * user's: MPI_Register_datarep.
 */

#include "lib/mpi/datatype/datatype.h"

#include <mpi.h>
#include <stdbool.h>

/* A data representation. It lives as long as the process. */
struct tern_datarep {
    char name[MPI_MAX_DATAREP_STRING];
    bool native;   /* elements lie in the file as in memory */
    bool external; /* external32 */
    /* The rest is of a user's representation. A conversion is one of the two functions; both are
     * NULL if the elements of this direction need no conversion. */
    bool fortran;
    MPI_Datarep_conversion_function *read, *write;
    MPI_Datarep_conversion_function_c *read_c, *write_c;
    MPI_Datarep_extent_function *extent;
    void *extra_state;
    struct tern_datarep *next;
};

/* Returns the representation of this name, or NULL. */
const struct tern_datarep *tern_datarep_find(const char *name);

/* Finds the type that lies in a file where `datatype` lies in memory: displacements in elements
 * grow and shrink with the elements, displacements in bytes stay. The caller owns a reference to
 * *ret_layout. Returns 0, the code of the user's extent function, or another TERN_ERR_*. */
int tern_datarep_layout(const struct tern_datarep *datarep, struct tern_datatype *datatype,
                        struct tern_datatype **ret_layout);

/* Returns true if data are converted when they are written (`writes`) or read. Else the file gets
 * or has the packed stream as it is. */
static inline bool tern_datarep_converts(const struct tern_datarep *datarep, bool writes)
{
    return datarep->external ||
           (writes ? datarep->write || datarep->write_c : datarep->read || datarep->read_c);
}

/* Returns the bytes in a file of `count` elements of the datatype, or TERN_ERR_*, which is
 * negative, with text. */
int64_t tern_datarep_bytes(const struct tern_datarep *datarep, struct tern_datatype *datatype,
                           int64_t count);

/* Convert `count` elements at `buf` to the file's form, and the first `bytes` bytes of the file's
 * form back, if the data are converted. Call no user's function unless the representation is the
 * user's. tern_datarep_write refuses a number that does not fit external32. tern_datarep_read
 * sets *ret_done to the bytes of the packed stream that it has filled: only whole basic elements
 * count. Return 0, the code of the user's function, or another TERN_ERR_*. */
int tern_datarep_write(const struct tern_datarep *datarep, struct tern_datatype *datatype,
                       const void *buf, int64_t count, char *file_form);
int tern_datarep_read(const struct tern_datarep *datarep, struct tern_datatype *datatype, void *buf,
                      int64_t count, const char *file_form, int64_t bytes, int64_t *ret_done);

#endif
