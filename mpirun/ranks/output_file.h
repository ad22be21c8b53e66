/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_OUTPUT_FILE_H
#define TERN_MPIRUN_RANKS_OUTPUT_FILE_H

/* The files of --output-filename DIR, which get a copy of what ranks write. */

#include <stddef.h>

#include "mpirun/plan/words/options.h"

/* Makes DIR/1/rank.N/stdout (`which` 1) or stderr (2), as Open MPI names them. The 1 stands for the
 * job and is missing with nojobid. With --output file=FILE they are FILE.N.out and FILE.N.err. N
 * has as many digits as the highest of `ranks`. Returns a descriptor, or TERN_ERR_OTHER. */
int tern_output_file_open(const struct tern_options *options, int ranks, int rank, int which);
/* Writes all bytes. Returns 0 or errno. */
int tern_output_file_write(int fd, const char *data, size_t size);

#endif
