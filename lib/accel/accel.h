/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ACCEL_H
#define TERN_ACCEL_H

/*
 * Device memory: which addresses are in it, and copies from and to it. The only room that knows
 * CUDA. All others ask one question, "may the processor touch this address?", and copy with the
 * functions below if not.
 *
 * A program gets device memory from the CUDA driver, so a process without the driver has none, and
 * nothing here costs anything there. The library never loads the driver, never makes a context, and
 * never waits for the program's streams: as the standard asks, a buffer is ready when the call is
 * made (the program synchronises first). Managed memory counts as device memory, because the system
 * calls that move messages cannot read it.
 *
 * An answer about an address is kept for one message only: afterwards the program may free the
 * memory and get the same address for memory of another kind. lib/accel/device_share.h lets other
 * processes of this host copy from device memory.
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* False: this process has no device memory and will have none. Set once, by tern_accel_init. */
extern TERN_OURS bool tern_accel_watched;

/* Returns true if the driver was found in this process. Safe in a signal handler. */
bool tern_accel_has_driver(void);

/* Decides whether to watch for device memory: if the program has loaded the CUDA driver, or may do
 * so later because the host has such a device, or if the parameter `accel` says so. */
void tern_accel_init(void);

/* Prints what the driver refuses to this process, as it may to other ranks. Any thread may call it.
 * NULL: nothing is printed. Set it before tern_accel_init. */
extern void (*tern_accel_say_refused)(const char *text);

enum { TERN_ACCEL_FREED = -2 };

/* What the driver says of an address in device memory. Holds as long as the program must not free
 * the memory: while a message uses it. */
struct tern_accel_place {
    void *context; /* the CUcontext of the memory; NULL: it belongs to no context (VMM, pools) */
    int device;    /* ordinal; TERN_ACCEL_FREED: it was device memory, and all copies fail */
    uint64_t id;   /* of the allocation, never used again in this process; 0: none */
};

/* Returns true if a kernel in the context of one place reaches memory in the other. */
static inline bool tern_accel_same(const struct tern_accel_place *one,
                                   const struct tern_accel_place *other)
{
    return one->device == other->device &&
           (one->context == other->context || !one->context || !other->context);
}

/* Returns true if `address` is in device or managed memory, and sets *ret_place. Asks the driver,
 * unless the address is in the stack or in the heap. False for NULL. */
bool tern_accel_find(const void *address, struct tern_accel_place *ret_place);
/* The same, without the place. */
bool tern_accel_is_device(const void *address);

/* The same, at no cost where there is no driver. */
static inline bool tern_accel_holds(const void *address)
{
    return TERN_UNLIKELY(tern_accel_watched) && tern_accel_is_device(address);
}

/* A context that is current in this thread for a while. */
struct tern_accel_entry {
    void *context; /* NULL: none */
    int device;
    bool pushed;  /* else it was current before */
    bool primary; /* it is held until the end */
};

/*
 * Copies that are started one after the other and awaited together. `device` is the address of one
 * of the buffers in device memory; the copies run in its context. The other buffers may be of any
 * kind. All functions are thread-safe.
 */
struct tern_accel_batch {
    struct tern_accel_entry entry;
    void *stream; /* NULL: nothing was started */
    int error;    /* of the first copy that failed, TERN_ERR_*; it was said */
    void *list;   /* pinned memory that its kernels read (lib/accel/device_kernel.h); NULL: none */
};
/* `place`: where `device` is; NULL: not known yet, asks the driver. */
void tern_accel_begin(struct tern_accel_batch *batch, const void *device,
                      const struct tern_accel_place *place);
void tern_accel_copy_in(struct tern_accel_batch *batch, void *to, const void *from, size_t bytes);
/* Copies `rows` rows of `bytes` bytes each. Strides are in bytes, and at least `bytes`. */
void tern_accel_copy_rows(struct tern_accel_batch *batch, void *to, size_t to_stride,
                          const void *from, size_t from_stride, size_t bytes, size_t rows);
/* Waits for the copies that were started so far. The batch goes on. */
void tern_accel_catch_up(struct tern_accel_batch *batch);
/* Waits for the copies. Returns 0 or the error of the first one that failed. */
int tern_accel_end(struct tern_accel_batch *batch);

/* Copies that are under way. */
struct tern_accel_mark {
    void *event; /* NULL: they have ended */
    void *context;
    void *list;  /* pinned memory to give back at the end, or NULL */
    int primary; /* ordinal of the device whose primary context is held until they end; -1: none */
};
/* Ends a batch without waiting: the copies go on, and tern_accel_test tells when they have ended.
 * Returns 0, or the error of the first copy that failed; then nothing is under way. */
int tern_accel_end_later(struct tern_accel_batch *batch, struct tern_accel_mark *ret_mark);
/* Returns 0 if the copies have ended, TERN_ERR_AGAIN if not yet, or TERN_ERR_* with text if one
 * failed. Ask once more only after TERN_ERR_AGAIN. */
int tern_accel_test(struct tern_accel_mark *mark);
/* Waits until the copies have ended. Returns 0, or TERN_ERR_* with text if one failed. */
int tern_accel_wait(struct tern_accel_mark *mark);

/* Copies between buffers of any kind. Returns 0 or TERN_ERR_*. */
int tern_accel_copy(void *to, const void *from, size_t bytes);

/* Gives back streams, events and memory of ours before MPI ends. Nothing may be under way. */
void tern_accel_leave(void);

#endif
