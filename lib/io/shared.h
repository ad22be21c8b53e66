/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_SHARED_H
#define TERN_SHARED_H

/*
 * What all ranks of a file share: the common pointer, and the lock of atomic mode. Both need
 * nothing in the file system, so they work on every one and leave no file behind.
 *
 * On one node they lie in memory that the ranks share. Over several nodes rank 0 of the file has
 * them, and the others ask it by messages. It answers in rounds of progress: when it is in MPI, or
 * at any time in atomic mode and with MPI_MODE_SEQUENTIAL, where it gets a progress thread.
 * One-sided communication could take the place of the messages.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_file;
struct tern_operation;

/* Makes file->shared. All ranks of the file call it. Blocks. Returns 0 or an error, the same on all
 * ranks. */
int tern_shared_open(struct tern_file *file);
/* Frees file->shared, which may be NULL. Call it when no rank can ask any more. */
void tern_shared_close(struct tern_file *file);

/* Lets rank 0 answer also while its program computes. All ranks call it; only rank 0 does
 * something. Returns 0 or TERN_ERR_OTHER. */
int tern_shared_always(struct tern_file *file);

/* Adds to the common pointer (in etypes). In the next step op->fetched is its value before. */
void tern_shared_add(struct tern_operation *op, int64_t amount);
/* Sets the common pointer. For rank 0 only, between two agreements of all ranks. */
void tern_shared_set(struct tern_file *file, int64_t value);

/* Take and give the lock. The next step after tern_shared_lock has it. */
void tern_shared_lock(struct tern_operation *op);
void tern_shared_unlock(struct tern_operation *op);

#endif
