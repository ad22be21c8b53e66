/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_DEVICE_READ_H
#define TERN_OFI_DEVICE_READ_H

/*
 * Where a message that is read belongs, if that is device memory. The network card writes into it
 * directly if it is one run that the provider registers. Otherwise a message is read
 *
 *   - into device memory of ours (lib/accel/device_spare.h), from where kernels unpack it, or
 *   - into host memory of ours (landing.h), from where it is copied piece by piece, while further
 *     pieces are being read.
 *
 * Locks: the lane's lock.
 */

#include "lib/btl/btl.h"

struct tern_ofi_target {
    struct tern_cursor cursor; /* of the program's buffer, from the first byte to be read */
    int64_t start;             /* its offset there */
    size_t length;
    void *spare;    /* all bytes are read to here first; NULL: they are not */
    bool lands;     /* they are copied from host memory of ours */
    bool unpacking; /* from `spare` */
    struct tern_accel_mark mark;
};

/* Lets all bytes of the transfer be read into device memory of ours, and sets *ret_cursor to that.
 * Returns false if there is none, or if the buffer is on several devices or in part in host
 * memory. */
bool tern_ofi_target_spare(struct tern_ofi_target *target, const struct tern_transfer *transfer,
                           struct tern_cursor *ret_cursor);
/* Lets pieces be copied from host memory to the buffer, which is in device memory. */
void tern_ofi_target_land(struct tern_ofi_target *target, const struct tern_transfer *transfer);
/* Copies a piece of such a message, which belongs `offset` bytes behind its first one. */
void tern_ofi_target_landed(struct tern_ofi_target *target, uint64_t offset, const void *bytes,
                            size_t length);
/* Brings all bytes to their places, when all have been read. Returns 0 when they are there;
 * TERN_ERR_AGAIN: call again; or TERN_ERR_* with text. Returns 0 if *target is not in use. */
int tern_ofi_target_end(struct tern_ofi_target *target);
/* Frees what it holds. Nothing is under way any more. */
void tern_ofi_target_free(struct tern_ofi_target *target);

#endif
