/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPI_PATHS_H
#define TERN_MPI_PATHS_H

/* Prints the paths by which this rank reached the others of its job, one line for each path, if the
 * parameter btl_show_paths is set (mpirun --display paths). Call it before MPI ends. */
void tern_paths_show(void);

#endif
