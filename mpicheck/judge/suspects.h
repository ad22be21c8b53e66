/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_SUSPECTS_H
#define TERN_MPICHECK_SUSPECTS_H

/* Which hosts and pairs seem slow in the tournament. Its samples are short, and other pairs are
 * under way: they only make suspects, which are measured again alone. */

#include "mpicheck/judge/findings.h"
#include "mpicheck/judge/groups.h"
#include "mpicheck/data/medians.h"

struct tern_mc_speed {
    const struct tern_mc_data *data;
    const struct tern_mc_expected *expected;
    struct tern_mc_groups groups;
    struct tern_mc_fit fit; /* of the pairs inside the groups, if there are groups */
    struct tern_mc_fit before; /* fits the baseline's pairs; all zero: there is no baseline */
    double latency;         /* us, median of all pairs */
    bool *sends, *receives; /* by host: suspicious */
    int (*pairs)[2];
    int count, most;
    int suspects; /* the pairs before this one are suspicious, the others are good */
};

/* Returns true if `pair` is of these two hosts, in either order. */
static inline bool tern_mc_is_pair(const int pair[2], int a, int b)
{
    return (pair[0] == a && pair[1] == b) || (pair[0] == b && pair[1] == a);
}

/* Fits the bandwidths and chooses suspicious pairs, and behind them good ones to compare with.
 * `pairs` has room for TERN_MC_SUSPECTS_MOST. Free the result with tern_mc_speed_free. */
void tern_mc_speed_make(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                        int (*pairs)[2], struct tern_mc_speed *ret_speed);
void tern_mc_speed_free(struct tern_mc_speed *speed);

/* Returns the bandwidth of a pair in the baseline, in MB/s: what was measured, but not more than
 * its two hosts reached with others: one short sample may be lucky. Returns 0 if it is not known.
 */
double tern_mc_speed_before(const struct tern_mc_speed *speed, int from, int to);

/* Returns the bandwidth below which a pair counts as slow, in MB/s. */
double tern_mc_speed_wanted(const struct tern_mc_speed *speed, int from, int to);

/* Returns the latency above which a pair counts as late, where `usual` is that of good pairs; in
 * us. */
double tern_mc_late(double usual);

/* Returns true if a pair seems slow in the tournament. */
bool tern_mc_looks_slow(const struct tern_mc_speed *speed, int from, int to);

#endif
