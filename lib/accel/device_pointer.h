/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_DEVICE_POINTER_H
#define TERN_DEVICE_POINTER_H

/* What the driver says about an address. Private to lib/accel. */

#include <stdbool.h>
#include <stdint.h>

struct tern_device_pointer {
    void *context; /* the CUcontext of the memory; NULL: it belongs to no context (VMM, pools) */
    int device;    /* ordinal */
    uint64_t id;   /* BUFFER_ID, never used again in this process; 0: none */
};

/* Asks the driver. Returns false if the address is in no device or managed memory, or if there is
 * no driver. */
bool tern_device_pointer_find(const void *address, struct tern_device_pointer *ret_pointer);

#endif
