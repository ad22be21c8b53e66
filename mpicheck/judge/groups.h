/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_GROUPS_H
#define TERN_MPICHECK_GROUPS_H

/* Which hosts belong together: their pairs are fast, those with other hosts are slow. If half of
 * the hosts are slow, or stand behind a slow link, the median of all pairs is slow itself: then
 * hosts are compared with what the groups have inside. */

#include "mpicheck/data/measured.h"

enum tern_mc_kinds {
    TERN_MC_ALIKE,  /* no groups */
    TERN_MC_SPLIT,  /* two groups or more, each fast inside, and slow pairs between them */
    TERN_MC_UNLIKE, /* one group is fast inside, and all other hosts are slow with everybody */
};

enum { TERN_MC_SINGLE = -1, TERN_MC_UNKNOWN = -2 };

struct tern_mc_groups {
    enum tern_mc_kinds kinds;
    int *of;     /* by host: its group, TERN_MC_SINGLE, or TERN_MC_UNKNOWN: not measured */
    int count;   /* number of groups; each has two members or more */
    int *sizes;  /* by group */
    int hosts;   /* number of those that were measured */
    int largest; /* the group with the most members */
    double inside, across; /* MB/s, typical of pairs in a group, and of other pairs */
};

/* Finds the groups. Free the result with tern_mc_groups_free. Exits if there is no memory. */
void tern_mc_groups_find(const struct tern_mc_data *data, struct tern_mc_groups *ret_groups);
void tern_mc_groups_free(struct tern_mc_groups *groups);

/* Returns true if both hosts are in one group. */
static inline bool tern_mc_groups_joins(const struct tern_mc_groups *groups, int a, int b)
{
    return groups->of[a] >= 0 && groups->of[a] == groups->of[b];
}

/* Returns the group that has more than half of the hosts, or -1 if none has. */
static inline int tern_mc_groups_main(const struct tern_mc_groups *groups)
{
    return 2 * groups->sizes[groups->largest] > groups->hosts ? groups->largest : -1;
}

/* Lists the members of a group, or the singles. Returns their number. */
int tern_mc_groups_members(const struct tern_mc_groups *groups, int hosts, int group,
                           int *ret_members);

#endif
