/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FREE_MEMORY_H
#define TERN_FREE_MEMORY_H

/* How much memory this process can still allocate before the system ends processes, and what is
 * short if it cannot. */

#include <stdbool.h>
#include <stdint.h>

/* Room for the text of tern_free_memory. */
enum { TERN_FREE_MEMORY_TEXT = 320 };

/*
 * Returns the bytes that are left: the free memory and swap of the node, or of the control group
 * (cgroup, version 1 or 2) that has less, or of what the system may promise
 * (vm.overcommit_memory=2). Caches of files count as free. Returns INT64_MAX if the system tells
 * nothing. `text` then says whose memory it is: "the node has 12 MiB of free memory". `root` stands
 * in front of all file names: "" except in tests. Thread-safe. Costs some 30 us.
 */
int64_t tern_free_memory(const char *root, char text[TERN_FREE_MEMORY_TEXT]);

/* Checks that `bytes` bytes and what the system needs beside them are left. Returns 0, or
 * TERN_ERR_NO_MEM with a text that says what is short. */
int tern_free_memory_check(uint64_t bytes);
/* Returns `bytes` and what the system needs beside them. */
int64_t tern_free_memory_needed(uint64_t bytes);
/* Says that `bytes` bytes are too many. Returns TERN_ERR_NO_MEM. */
int tern_free_memory_refuse(uint64_t bytes, const char text[TERN_FREE_MEMORY_TEXT]);

/* Finds out why the system did not map `bytes` more bytes here, private or shared ones, and says
 * what is short: addresses (ulimit -v), private memory (ulimit -d), or memory. `what` needs them:
 * "a window". Returns TERN_ERR_NO_MEM. */
int tern_free_memory_unmapped(const char *what, uint64_t bytes, bool is_private);

#endif
