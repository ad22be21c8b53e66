/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CPUS_H
#define TERN_CPUS_H

/* The processors that this process may use. */

#include <stdint.h>

/* A control group's limit of processor time: `quota_us` in each period of `period_us`, for all its
 * processes together. quota_us is 0 if there is no limit. */
struct tern_rte_quota {
    int64_t quota_us, period_us;
};

/* Returns the number of processors on which this process may run now (affinity), at least 1. */
int tern_rte_cpus(void);

/* Returns the tightest limit that the control groups of this process set; quota_us is 0 if there is
 * none. Reads the files of the host at `root`: "" for this host, or in tests a directory with
 * recorded files. */
struct tern_rte_quota tern_rte_read_quota(const char *root);

#endif
