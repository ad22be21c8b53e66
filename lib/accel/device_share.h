/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_SHARE_H
#define TERN_DEVICE_SHARE_H

/*
 * Device memory of another process on this host (CUDA IPC). The owner makes a handle of a whole
 * allocation. Another process opens it, and then copies from an address of its own.
 *
 * Whether two processes reach each other's memory is found out by opening a handle, never from the
 * numbers of devices: these differ from process to process (CUDA_VISIBLE_DEVICES).
 */

#include "lib/accel/accel.h"

enum { TERN_ACCEL_HANDLE = 64 };

/* An allocation that others may open. Goes through shared memory as it is. */
struct tern_accel_shared {
    char handle[TERN_ACCEL_HANDLE]; /* the driver's */
    uint64_t base, bytes; /* in the owner's address space */
    uint64_t id;          /* of the allocation, never used again by the owner; not 0 */
};

/* Makes a handle of the allocation that holds `address`. `place` is where it is. Returns 0, or
 * TERN_ERR_UNSUPPORTED with a text that names cause and cure. */
int tern_accel_share(const void *address, const struct tern_accel_place *place,
                     struct tern_accel_shared *ret_shared);

/* Returns true if the allocation `id` at `base` has not been freed. */
bool tern_accel_lives(uint64_t base, uint64_t id);

/* Another process's allocation, as this process reaches it. */
struct tern_accel_opened {
    char *base; /* first byte; NULL: not open */
    /* in which context and on which device it is open; `id` is this process's own */
    struct tern_accel_place place;
};

/* Opens a handle in the context of `place`. Returns 0; TERN_ERR_AGAIN if a handle that is open now
 * covers the same addresses of the owner: close it first; or TERN_ERR_UNSUPPORTED with a text that
 * names cause and cure. */
int tern_accel_open(const struct tern_accel_shared *shared, const struct tern_accel_place *place,
                    struct tern_accel_opened *ret_opened);
/* Closes it. Nothing may use it any more. */
void tern_accel_close(struct tern_accel_opened *opened);
/* Returns true if what was opened is still there: it goes with its context. */
static inline bool tern_accel_is_open(const struct tern_accel_opened *opened)
{
    return tern_accel_lives((uintptr_t)opened->base, opened->place.id);
}

/* Sets *ret_place to the context that is current in this thread. Returns false if there is none. */
bool tern_accel_current(struct tern_accel_place *ret_place);

#endif
