/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_RUNS_H
#define TERN_DEVICE_RUNS_H

/*
 * Lists of runs that kernels read. The processor writes a list into pinned memory; a copy of a long
 * one stays on the device, so that the next message with the same buffer and datatype needs no new
 * one.
 *
 * Each context keeps up to 16 lists, each in a megabyte of device memory. The one that was not used
 * for the longest time makes room. Memory is used again and not freed, because the driver waits for
 * the whole device when memory is freed. All that is done with a list is done by one stream, so a
 * list can be replaced while kernels that read it are under way: the copy comes behind them.
 */

#include "lib/accel/device_kernel.h"

/* What a list describes: bytes of a buffer's packed stream. It has no padding, so that it can be
 * compared as bytes. */
struct tern_accel_runs_key {
    uint64_t program; /* the number of the datatype's program, never used again */
    uint64_t base;    /* address of the buffer */
    int64_t start, size, extent, count; /* of the datatype, and its elements */
    int64_t offset;   /* first byte of the stream */
    uint64_t most;    /* bytes that were asked for */
};

/* Sets *ret_runs to the list that is kept for a batch's context; call tern_accel_runs_started when
 * the kernel that reads it was started. Returns false if there is none. Thread-safe. */
bool tern_accel_runs_find(struct tern_accel_batch *batch, const struct tern_accel_runs_key *key,
                          struct tern_accel_runs *ret_runs);
/* Tells that the kernel was started, or will not be: from now on the list may make room. */
void tern_accel_runs_started(const struct tern_accel_runs *runs);
/* Starts to copy the batch's list to the device, where it is kept, if it is long enough to be worth
 * that. `runs` is the list. Thread-safe. */
void tern_accel_runs_keep(struct tern_accel_batch *batch, const struct tern_accel_runs_key *key,
                          const struct tern_accel_runs *runs);

/* Forgets all lists of a program, which is freed: their memory is free for others. Thread-safe. */
void tern_accel_runs_forget(uint64_t program);

/* Frees the lists in a context, which is current. For tern_accel_leave only. */
void tern_accel_runs_leave(const void *context);

#endif
