/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_IPC_H
#define TERN_IPC_H

/*
 * What the files of the byte mover ipc share. It moves device memory between ranks of a node: the
 * sender makes a handle of its allocation, the receiver opens the handle and copies.
 *
 *      exports.c   the sender's side: handles of its allocations, as records in the node's memory
 *      imports.c   the receiver's side: handles of others that are open here
 *      ipc.c       copies under way, start and end
 *
 * Both sides keep what they have made, by the allocation's id. The driver never gives an id twice,
 * so memory that was freed, and got again at the same address, is not taken for the old one.
 */

#include "lib/accel/device_share.h"
#include "lib/btl/btl.h"
#include "lib/btl/device_access.h"

/* What the path to a peer says when device memory goes by this mover (btl/path.h). */
#define TERN_IPC_PATH "device memory: CUDA IPC"

/* An allocation of this rank, in the node's memory. A transfer's key is the record's offset. */
struct tern_ipc_record {
    uint32_t magic, owner; /* owner: local rank */
    /* shared.id is atomic. 0: the record is free, and a peer that has opened the handle should
     * close it */
    struct tern_accel_shared shared;
} __attribute__((aligned(TERN_CACHE_LINE)));
enum { TERN_IPC_MAGIC = 0x1bc0ffee };

/* btl->register_memory, register_copy, deregister_memory. */
int tern_ipc_register(struct tern_peer *peer, const void *start, size_t length,
                      struct tern_registration *ret_registration);
int tern_ipc_register_copy(struct tern_peer *peer, struct tern_cursor *cursor,
                           struct tern_registration *ret_registration);
void tern_ipc_deregister(struct tern_peer *peer, const struct tern_registration *registration);
/* As in struct tern_device_access. */
uint64_t tern_ipc_share(const void *start);
void tern_ipc_unshare(uint64_t key);
void *tern_ipc_open(uint32_t owner, uint64_t key, uint64_t address, uint64_t bytes,
                    const struct tern_accel_place *place, char **ret_memory);

/* Frees all records. No transfer may be under way. */
void tern_ipc_forget_exports(void);

/* An allocation of another rank that is open here. */
struct tern_ipc_import {
    uint32_t owner;  /* local rank */
    uint32_t users;  /* copies under way */
    uint64_t record; /* offset in the node's memory; 0: free entry */
    struct tern_accel_shared shared;
    struct tern_accel_opened opened; /* not open: it was refused, and is not tried again */
    uint64_t used; /* number of the last use */
};

/* Finds or opens the allocation of local rank `owner` that a transfer names. `place`: where our
 * buffer is; NULL: in host memory. Returns NULL if that is not possible. The caller gives the
 * result back by tern_ipc_release. */
struct tern_ipc_import *tern_ipc_find_import(uint32_t owner, const struct tern_transfer *transfer,
                                             const struct tern_accel_place *place);
void tern_ipc_release(struct tern_ipc_import *import);
/* Closes everything. No transfer may be under way. */
void tern_ipc_forget_imports(void);

/* Says once per job, with the text of the last error, that messages go through the host. */
void tern_ipc_say_staged(void);

#endif
