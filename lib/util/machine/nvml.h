/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NVML_H
#define TERN_NVML_H

/* What NVIDIA's management library (NVML, libnvidia-ml.so.1) knows of a GPU. It is loaded when it
 * is first asked: for what a person wants to read, and for the first long collective on device
 * buffers of four ranks of a node or more. Thread-safe. */

#include "lib/util/machine/gpu_way.h"

#include <stddef.h>

/* Writes the name of the GPU at an address of the PCI bus ("0000:17:00.0"), such as "NVIDIA H100
 * 80GB HBM3". Leaves `name` as it is if that is not known. */
void tern_nvml_name(const char *address, char *name, size_t room);

/* Returns the number of NVLink connections that lead from one GPU straight to another one, or from
 * both to switches of NVLink. 0: none, or not known. */
int tern_nvml_links(const char *one, const char *other);

/* Sets `linked` to the addresses (tern_gpu_address) at the other ends of a GPU's NVLink connections
 * that lead to other devices, and *ret_switched to the number of those that lead to switches.
 * Returns the number of addresses. */
int tern_nvml_linked(const char *address, uint64_t linked[TERN_GPU_LINKS], int *ret_switched);

#endif
