/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_BTL_LIST_H
#define TERN_BTL_LIST_H

/* Lists of byte movers, as the parameter `btl` has them: names to use, or with a leading ^ names to
 * leave out, separated by commas. Pure functions. */

#include <stdbool.h>
#include <stddef.h>

/* Returns true if the word of `length` bytes names this byte mover. Blanks around the word do not
 * count. Open MPI's names of its shared-memory movers mean shm, and shm brings ipc with it. */
bool tern_btl_list_names(const char *word, size_t length, const char *name);
/* Returns true if the list has a name that is none of the `count` names of byte movers. */
bool tern_btl_list_names_others(const char *list, const char *const *names, int count);
/* Returns true if the list permits this byte mover. An empty list, or NULL, permits all. */
bool tern_btl_list_permits(const char *list, const char *name);

#endif
