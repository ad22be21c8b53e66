/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DATATYPE_EXTERNAL_H
#define TERN_DATATYPE_EXTERNAL_H

/* Converts typed buffers to external32 and back (MPI-4.1 section 14.5.2), for packing and for
 * files. */

#include "lib/mpi/datatype/datatype.h"

/* Writes `count` elements at `buf` to `external`. Sets *ret_lossy to true if a number did not fit
 * its shorter form there. Returns 0 or TERN_ERR_NO_MEM. */
int tern_external_from(const void *buf, int64_t count, const struct tern_datatype *datatype,
                       char *external, bool *ret_lossy);
/* Reads the first `bytes` bytes of the external form of `count` elements into `buf`. Stops before
 * the first basic element that is not complete. Sets *ret_done to the bytes of the packed stream
 * that were filled. Returns 0 or TERN_ERR_NO_MEM. */
int tern_external_to(void *buf, int64_t count, const struct tern_datatype *datatype,
                     const char *external, int64_t bytes, int64_t *ret_done);

#endif
