/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_OFI_FABRIC_H
#define TERN_OFI_FABRIC_H

/* The fabric of this process: libfabric's objects that all lanes share, what the provider demands,
 * and the names of endpoints. */

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the longest name of an endpoint that we carry, and of the provider's and fabric's
 * names. */
enum { TERN_OFI_NAME_MAX = 128, TERN_OFI_TEXT_MAX = 64 };
/* Bytes of the longest raw key. */
enum { TERN_OFI_KEY_MAX = 192 };

/* Rails: network cards that a process uses together, each with a domain of libfabric. */
enum { TERN_OFI_RAILS = 4 };

/* The name by which others reach an endpoint: what fi_getname returns. */
struct tern_ofi_name {
    uint32_t length;
    unsigned char bytes[TERN_OFI_NAME_MAX];
};

struct tern_ofi_rail {
    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    bool dead; /* atomic: the card is left out from now on */
    bool abandoned; /* some endpoint stays open, and so does the rest */
};

struct tern_ofi_fabric {
    const struct fi_info *info; /* of the first rail; NULL: no fabric is open */
    struct tern_ofi_rail rails[TERN_OFI_RAILS]; /* the first one takes this rank's messages */
    uint32_t rail_count;
    /* demands of the provider (fi_mr(3)) */
    bool local_keys;      /* FI_MR_LOCAL: every buffer of ours must be registered */
    bool allocated;       /* FI_MR_ALLOCATED: registered memory is pinned */
    bool keeps;           /* registrations are kept after their use (region_cache.h) ... */
    bool keeps_used;      /* ... but only of memory that is used again ... */
    uint64_t keeps_bytes; /* ... of so much memory */
    bool virtual_addr;    /* FI_MR_VIRT_ADDR: peers name memory by its address, not by an offset */
    bool own_keys;        /* FI_MR_PROV_KEY: the provider chooses the key */
    bool by_endpoint;     /* FI_MR_ENDPOINT: memory is registered for one endpoint */
    bool raw_keys;        /* FI_MR_RAW: keys are longer than 64 bits, and peers must map them */
    bool multi_recv;      /* FI_MULTI_RECV: one buffer takes many messages */
    bool devices;         /* FI_HMEM: memory of devices may be registered (device_regions.h) */
    size_t inject_max;    /* bytes that are sent without a completion */
    size_t message_max;   /* bytes of a message or read */
    uint64_t key_mask;    /* keys that we may choose */
    int delivers;         /* atomic; exposed.c: what is known of FI_DELIVERY_COMPLETE */
};
extern struct tern_ofi_fabric tern_ofi_fabric;

/* What was chosen (provider.h): entries of one provider, each for another device, the first of
 * which is this rank's own. */
struct tern_ofi_choice {
    struct fi_info *rails[TERN_OFI_RAILS];
    uint32_t count;
};
/* Opens the fabric for the chosen provider and devices, whose entries it keeps. Returns 0, or
 * TERN_ERR_OTHER with text. */
int tern_ofi_fabric_open(const struct tern_ofi_choice *choice);
/* Closes what tern_ofi_fabric_open opened. All endpoints must be closed. */
void tern_ofi_fabric_close(void);

/* Writes the devices of all rails that are not dead, such as "mlx5_0, mlx5_1". */
void tern_ofi_devices(char *text, size_t room);
/* Returns the name of a rail's device, or of its fabric. */
const char *tern_ofi_device(uint32_t rail);
const char *tern_ofi_fabric_name(uint32_t rail);

/* Returns true if the rail is left out. Any thread may call. */
bool tern_ofi_rail_is_dead(uint32_t rail);
/* Leaves the rail out from now on, and says so: each lane closes its port when it looks at the
 * rails next. Returns false if no other rail is left. Any thread may call. */
bool tern_ofi_rail_leave_out(uint32_t rail, const char *why);

/* Enters the name of a peer's endpoint, to be reached by a rail. Returns 0, or TERN_ERR_OTHER with
 * text. Any thread may call. */
int tern_ofi_insert(uint32_t rail, const struct tern_ofi_name *name, fi_addr_t *ret_address);

/* A registration of memory. */
struct tern_ofi_region {
    struct fid_mr *mr;
    void *desc; /* of a local buffer, for libfabric's calls; NULL if the provider wants none */
};

/* Registers memory for an endpoint of the rail, with `access` of libfabric (FI_SEND,
 * FI_REMOTE_READ, ...). Returns 0, or TERN_ERR_UNSUPPORTED with text if the provider refuses. */
int tern_ofi_register(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                      uint64_t access, struct tern_ofi_region *ret_region);
/* Registers device memory, which is at `place`, likewise. Returns TERN_ERR_NO_MEM with text if
 * there is no room now. */
struct tern_accel_place;
int tern_ofi_register_device(uint32_t rail, struct fid_ep *endpoint, const void *start,
                             size_t length, uint64_t access, const struct tern_accel_place *place,
                             struct tern_ofi_region *ret_region);
/* Registers a buffer of ours, if the provider wants that. Otherwise only clears *ret_region. */
int tern_ofi_register_own(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                          uint64_t access, struct tern_ofi_region *ret_region);
/* A raw key, as it travels. */
struct tern_ofi_raw_key {
    uint64_t base;   /* as fi_mr_raw_attr says */
    uint32_t length; /* of `bytes` */
    uint32_t zero;
    unsigned char bytes[TERN_OFI_KEY_MAX];
};
/* Sets *ret_key to the raw key of a registration. Returns 0, or TERN_ERR_UNSUPPORTED with text. */
int tern_ofi_raw_key(const struct tern_ofi_region *region, struct tern_ofi_raw_key *ret_key);
/* Makes of a peer's raw key one for fi_read by the rail. Returns likewise. tern_ofi_unmap ends
 * that. */
int tern_ofi_map(uint32_t rail, const struct tern_ofi_raw_key *raw, uint64_t *ret_key);
void tern_ofi_unmap(uint32_t rail, uint64_t key);

/* Ends a registration; does nothing if there is none. */
void tern_ofi_deregister(struct tern_ofi_region *region);

#endif
