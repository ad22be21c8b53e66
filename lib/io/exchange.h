/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EXCHANGE_H
#define TERN_EXCHANGE_H

/*
 * Collective buffering in two phases. The range of the file that the ranks access together is
 * divided into domains, one for each aggregator, which are whole blocks of the file system. All
 * ranks exchange data with the aggregators; only the aggregators read and write, each in its own
 * domain. So small pieces of many ranks become few large accesses, and no block is written by two
 * hosts. An aggregator writes exactly the bytes that it got: it never reads what it is about to
 * write.
 *
 * The exchange goes in rounds: in each, an aggregator takes the next `cb_buffer_size` bytes of its
 * domain.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_exchange;
struct tern_file;
struct tern_operation;

/* Returns true if an aggregator of this host should access one part of the file while the data of
 * another one are exchanged: the access waits for something else than this node's processors, or
 * some of these have nothing to do. */
bool tern_exchange_should_overlap(const struct tern_file *file);

/* Begins the exchange of an operation that covers the bytes begin .. end - 1 of the file. All ranks
 * of the file do so with the same range and the same `ahead`. `ahead`: a read of several rounds
 * reads the next one while the data of one are exchanged. Goes on with `after`; then access.done is
 * set. Returns 0, or TERN_ERR_NO_MEM: then nothing has begun. */
int tern_exchange_begin(struct tern_operation *op, int64_t begin, int64_t end, bool ahead,
                        void (*after)(struct tern_operation *op));

#endif
