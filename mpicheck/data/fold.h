/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_FOLD_H
#define TERN_MPICHECK_FOLD_H

#include <stddef.h>

/* Writes many host names in a few words: n[01-07,09],login. The order of the names does not matter;
 * names that stand twice are written once. Returns the text, which the caller frees. If it is
 * longer than `most` bytes, it ends with how many names follow: "n[01-07], ... (64 in all)"; 0: no
 * limit. Exits if there is no memory. */
char *tern_mc_fold(const char *const *names, int count, int most);

/* Formats like printf. Returns the text, which the caller frees. Exits if there is no memory. */
char *tern_mc_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Allocates zeroed memory. Exits if there is none. */
void *tern_mc_alloc(long count, long size);

/* Returns the list with room for one more than `count` entries; NULL is an empty list. The list
 * grows by this function only. Exits if there is no memory. */
void *tern_mc_grow(void *list, int count, size_t size);

#endif
