/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CPUS_H
#define TERN_CPUS_H

/* Returns the number of whole processors that the control groups of this process grant it, at least
 * 1; INT_MAX if there is no limit. Reads the files of the host at `root`: "" for this host, or in
 * tests a directory with recorded files. */
int tern_rte_quota_cpus(const char *root);

#endif
