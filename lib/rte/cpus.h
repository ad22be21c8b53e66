/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CPUS_H
#define TERN_CPUS_H

/* Processors that the control groups of a process grant it, read from the files of the host at
 * `root` ("" for this one, a directory with recorded files in tests): whole processors, at least 1;
 * INT_MAX: no limit. */
int tern_rte_quota_cpus(const char *root);

#endif
