/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INFO_H
#define TERN_INFO_H

/* Info objects: keys and values in the order in which they were set first (MPI-4.1 chapter 10). */

#include "lib/util/handle.h"

#include <mpi.h>

struct tern_info_pair {
    char *key, *value;
};

struct tern_info {
    struct tern_object obj;
    int count, capacity;
    struct tern_info_pair *pairs;
};

extern struct tern_info tern_info_env;

static inline struct tern_info *tern_info_of(MPI_Info info)
{
    return ((struct tern_handle *)info)->state;
}

/* An empty one with one reference; NULL: no memory. */
struct tern_info *tern_info_new(void);
void tern_info_release(struct tern_info *info);

/* Value of `key`, or NULL. Valid until the info changes. `info` may be NULL: nothing is in it. */
const char *tern_info_find(const struct tern_info *info, const char *key);
/* Sets or replaces; copies both. 0, TERN_ERR_INFO_KEY, TERN_ERR_INFO_VALUE (too long),
 * TERN_ERR_NO_MEM. */
int tern_info_put(struct tern_info *info, const char *key, const char *value);
/* A copy with one reference. */
int tern_info_copy(const struct tern_info *info, struct tern_info **ret_info);

/* Fills MPI_INFO_ENV (in MPI_Init). */
void tern_info_fill_env(int argc, char **argv, int thread_level);

#endif
