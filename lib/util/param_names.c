/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/param_names.h"

#include <ctype.h>
#include <string.h>

/* First words of the names of Open MPI's parameters. */
static const char *const open_mpi_words[] = {
    "accelerator",
    "allocator",
    "async",
    "atomic",
    "backtrace",
    "bml",
    "btl",
    "carto",
    "coll",
    "common",
    "compress",
    "crcp",
    "crs",
    "dfs",
    "dl",
    "dpm",
    "dstore",
    "errmgr",
    "ess",
    "event",
    "fbtl",
    "fcoll",
    "filem",
    "fs",
    "grpcomm",
    "gds",
    "hook",
    "hwloc",
    "if",
    "initial",
    "installdirs",
    "io",
    "iof",
    "mca",
    "memchecker",
    "memcpy",
    "memheap",
    "memory",
    "mpi",
    "mpiext",
    "mpool",
    "mtl",
    "notifier",
    "odls",
    "ompi",
    "ompio",
    "oob",
    "op",
    "opal",
    "orte",
    "osc",
    "oshmem",
    "paffinity",
    "part",
    "patcher",
    "pdl",
    "plm",
    "pmix",
    "pml",
    "preg",
    "propagate",
    "prrte",
    "prte",
    "prtebacktrace",
    "prtereachable",
    "pshmem",
    "psec",
    "psensor",
    "pstat",
    "pstrg",
    "ptl",
    "pubsub",
    "ras",
    "rcache",
    "reachable",
    "regx",
    "rmaps",
    "rml",
    "routed",
    "rsh",
    "rtc",
    "rte",
    "schizo",
    "scoll",
    "sec",
    "sensor",
    "sharedfp",
    "shmem",
    "smsc",
    "snapc",
    "spml",
    "sshmem",
    "sstore",
    "state",
    "threads",
    "timer",
    "topo",
    "treematch",
    "vprotocol",
    NULL,
};

const struct tern_param *tern_param_find_known(const char *name)
{
    for (const struct tern_param_alias *alias = tern_param_aliases; alias->name; alias++)
        if (strcmp(alias->other, name) == 0)
            return tern_param_find(alias->name);
    return tern_param_find(name);
}

bool tern_param_known(const char *name)
{
    return tern_param_find_known(name) != NULL;
}

/* Returns the known name within `most` slips of `name`, or NULL. */
static const char *nearest_within(const char *name, int most)
{
    const char *nearest = NULL;
    const struct tern_param *param;

    for (int index = 0; (param = tern_param_at(index, NULL)); index++) {
        int distance = tern_edit_distance(name, param->name);
        if (distance <= most) {
            most = distance - 1;
            nearest = param->name;
        }
    }
    return nearest;
}

bool tern_param_accepted(const char *name)
{
    enum { LONG_NAME = 12, SLIPS = 2 };
    size_t length = strcspn(name, "_");

    if (strlen(name) >= LONG_NAME && nearest_within(name, SLIPS))
        return false; /* ours was meant: Open MPI has no long name so similar to one of ours */
    for (const char *const *word = open_mpi_words; *word; word++)
        if (strlen(*word) == length && strncmp(*word, name, length) == 0)
            return true;
    return false;
}

const char *tern_param_nearest(const char *name)
{
    /* at a larger distance it is another word */
    return nearest_within(name, 1 + (int)strlen(name) / 4);
}

static int least_of(int a, int b, int c)
{
    int least = a < b ? a : b;
    return least < c ? least : c;
}

/* Computes the optimal string alignment distance: insertions, deletions, substitutions, and swaps
 * of neighbours. */
int tern_edit_distance(const char *a, const char *b)
{
    enum { MOST = 255 }; /* no name is longer: the rest of a longer word is ignored */
    int rows[3][MOST + 1];
    int a_length = (int)strnlen(a, MOST), b_length = (int)strnlen(b, MOST);
    int *before = rows[0], *previous = rows[1], *current = rows[2];

    for (int j = 0; j <= b_length; j++)
        previous[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int x = tolower((unsigned char)a[i - 1]);
        current[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int y = tolower((unsigned char)b[j - 1]);
            current[j] = least_of(previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]) && before[j - 2] + 1 < current[j])
                current[j] = before[j - 2] + 1;
        }
        int *spare = before;
        before = previous;
        previous = current;
        current = spare;
    }
    return previous[b_length];
}
