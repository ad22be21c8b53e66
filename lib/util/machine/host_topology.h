/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_HOST_TOPOLOGY_H
#define TERN_HOST_TOPOLOGY_H

/* What a host is made of, in lines for a person: NUMA nodes with their processors and memory, the
 * GPUs and network cards near each, and the ways between these devices. Read from /sys; links
 * between GPUs (NVLink) are asked of NVIDIA's management library, if the host has it. */

/* Prints it. `root` is "" for this host, or in tests a directory with recorded files. */
void tern_host_topology_show(const char *root);

#endif
