/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_NVML_H
#define TERN_NVML_H

/* What NVIDIA's management library (NVML, libnvidia-ml.so.1) knows of a GPU. It is loaded when it
 * is first asked, and only for what a person wants to read: a message never waits for it. */

#include <stddef.h>

/* Writes the name of the GPU at an address of the PCI bus ("0000:17:00.0"), such as "NVIDIA H100
 * 80GB HBM3". Leaves `name` as it is if that is not known. */
void tern_nvml_name(const char *address, char *name, size_t room);

/* Returns the number of NVLink connections that lead from one GPU straight to another one, or from
 * both to switches of NVLink. 0: none, or not known. */
int tern_nvml_links(const char *one, const char *other);

#endif
