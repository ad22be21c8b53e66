/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_INFO_H
#define TERN_INFO_H

/* Info objects: pairs of key and value, in the order in which the keys were first set (MPI-4.1
 * chapter 10). */

#include "lib/util/base/handle.h"

#include <mpi.h>

/* A key and its value; both malloc'ed. */
struct tern_info_pair {
    char *key, *value;
};

/* An info object. */
struct tern_info {
    struct tern_object obj;
    int count, capacity; /* number of pairs; room for pairs */
    struct tern_info_pair *pairs;
};

/* MPI_INFO_ENV. */
extern struct tern_info tern_info_env;

/* Returns the info object of a valid handle. */
static inline struct tern_info *tern_info_of(MPI_Info info)
{
    return ((struct tern_handle *)info)->state;
}

/* Makes an empty info object with one reference. Returns NULL if there is no memory. */
struct tern_info *tern_info_new(void);
/* Drops a reference. Dropping the last one frees the object. MPI_INFO_ENV is never freed. */
void tern_info_release(struct tern_info *info);

/* Returns the value of `key`, or NULL. The value is valid until the info object changes. A NULL
 * `info` is empty. */
const char *tern_info_find(const struct tern_info *info, const char *key);
/* Returns the alignment that the hint mpi_minimum_memory_alignment asks for, as a power of two.
 * Without a valid hint returns the size of a cache line. */
size_t tern_info_alignment(const struct tern_info *info);
/* Sets or replaces a value. Copies both strings. Returns 0 or TERN_ERR_NO_MEM. */
int tern_info_put(struct tern_info *info, const char *key, const char *value);
/* Makes a copy with one reference. Returns 0 or TERN_ERR_NO_MEM. */
int tern_info_copy(const struct tern_info *info, struct tern_info **ret_info);

/* Fills MPI_INFO_ENV. Called by MPI_Init. */
void tern_info_fill_env(int argc, char **argv, int thread_level);

#endif
