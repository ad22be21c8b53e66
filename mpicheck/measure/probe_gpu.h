/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_PROBE_GPU_H
#define TERN_MPICHECK_PROBE_GPU_H

/* Memory of GPUs, by the CUDA driver API. The first call of these functions loads the driver, so
 * that the program runs on hosts without it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the number of GPUs that this process may use; 0 without a driver. */
int probe_gpu_count(void);

/* Writes the name of a GPU, with "-" for each space; "?" if the driver does not tell. */
void probe_gpu_name(int gpu, char *ret_name, int room);

/* Makes a GPU the current one of this thread. Returns false if the driver refuses. */
bool probe_gpu_use(int gpu);

/* Returns memory of the current GPU, or 0. It lives as long as the process. */
uint64_t probe_gpu_alloc(size_t bytes);

/* Returns host memory that the driver has locked, or NULL. It lives as long as the process. */
void *probe_gpu_alloc_host(size_t bytes);

/* Copies between any two addresses, of host or GPUs. Returns when the bytes are there; false if
 * the driver refuses. */
bool probe_gpu_copy(uint64_t to, uint64_t from, size_t bytes);

#endif
