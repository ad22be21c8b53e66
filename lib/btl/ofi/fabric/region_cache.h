/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_REGION_CACHE_H
#define TERN_OFI_REGION_CACHE_H

/*
 * Registrations of the program's memory. Where registering is dear, the registration of memory that
 * is used again is kept, for the next message from or to that memory, as long as it is watched
 * (memory_watch.h) and has not changed. Where memory cannot be watched, a registration ends with
 * its use. Any thread may call.
 */

#include "lib/btl/ofi/fabric/fabric.h"

struct tern_memory_watch;

/* A registration in use, or kept. */
struct tern_ofi_kept {
    struct tern_ofi_region region;
    uintptr_t start, end; /* what is registered */
    /* of the cache: */
    uint32_t rail;
    struct fid_ep *endpoint;
    uint64_t access;
    struct tern_memory_watch *watch; /* NULL: the registration ends with its use */
    bool by_id; /* of device memory (device_regions.h) */
    int uses;
    uint64_t used_at; /* number of the last use */
};

/* Registers memory of any kind, or finds a registration that covers it, for the endpoint of the
 * rail and with the access of libfabric. Returns 0; TERN_ERR_NO_MEM; or TERN_ERR_UNSUPPORTED with
 * text if the provider refuses. */
int tern_ofi_cache_get(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                       uint64_t access, struct tern_ofi_kept **ret_kept);
/* Ends a use. NULL: does nothing. */
void tern_ofi_cache_put(struct tern_ofi_kept *kept);
/* Ends all registrations that are kept for the endpoint, whose operations have all ended. Those
 * that are in use remain to be put. */
void tern_ofi_cache_forget(struct fid_ep *endpoint);
/* Ends the watching. Nothing is kept any more. */
void tern_ofi_cache_stop(void);

#endif
