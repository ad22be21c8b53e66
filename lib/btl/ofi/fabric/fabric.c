/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/fabric.h"

#include "lib/accel/device_range.h"
#include "lib/btl/btl.h"
#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/provider.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/net/hmac.h"
#include "lib/settings/param.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { KEY_TRIES = 16 };

struct tern_ofi_fabric tern_ofi_fabric;

/* guards address vectors, registrations, and which rails are left: the lanes share them */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int failed(uint32_t rail, const char *call, long error)
{
    const char *cure = error == -FI_EACCES || error == -FI_EPERM
                           ? "; give the user access to the device (/dev/infiniband, /dev/cxi)"
                       : error == -FI_ENOMEM
                           ? "; raise the limit of locked memory (ulimit -l unlimited)"
                           : "";
    return tern_error(TERN_ERR_OTHER, "libfabric's provider %s, device %s: %s: %s%s",
                      tern_ofi_fabric.info->fabric_attr->prov_name, tern_ofi_device(rail), call,
                      tern_ofi_error(error), cure);
}

static void read_demands(void)
{
    struct tern_ofi_fabric *fabric = &tern_ofi_fabric;
    int mode = fabric->info->domain_attr->mr_mode;
    size_t key_bytes = fabric->info->domain_attr->mr_key_size;
    fabric->local_keys = mode & FI_MR_LOCAL;
    fabric->allocated = mode & FI_MR_ALLOCATED;
    fabric->virtual_addr = mode & FI_MR_VIRT_ADDR;
    fabric->own_keys = mode & FI_MR_PROV_KEY;
    fabric->by_endpoint = mode & FI_MR_ENDPOINT;
    fabric->raw_keys = mode & FI_MR_RAW;
    const char *keep = tern_param_string("btl_ofi_cache");
    fabric->keeps = strcmp(keep, "auto") == 0 ? fabric->local_keys || fabric->allocated
                                              : strcmp(keep, "always") == 0;
    fabric->keeps_used = strcmp(keep, "always") != 0;
    fabric->keeps_bytes = (uint64_t)tern_param_int("btl_ofi_cache_memory");
    fabric->multi_recv = tern_ofi_provider_fills_buffers(fabric->info);
    fabric->devices = fabric->info->caps & FI_HMEM;
    fabric->inject_max = fabric->info->tx_attr->inject_size;
    fabric->message_max = fabric->info->ep_attr->max_msg_size;
    for (uint32_t i = 1; i < fabric->rail_count; i++) {
        const struct fi_info *other = fabric->rails[i].info;
        if (other->tx_attr->inject_size < fabric->inject_max)
            fabric->inject_max = other->tx_attr->inject_size;
        if (other->ep_attr->max_msg_size < fabric->message_max)
            fabric->message_max = other->ep_attr->max_msg_size;
    }
    fabric->key_mask = key_bytes >= 8 || !key_bytes ? UINT64_MAX : (1ull << 8 * key_bytes) - 1;
}

static void close_rail(struct tern_ofi_rail *rail)
{
    if (rail->abandoned)
        return;
    if (rail->av)
        fi_close(&rail->av->fid);
    if (rail->domain)
        fi_close(&rail->domain->fid);
    if (rail->fabric)
        fi_close(&rail->fabric->fid);
    if (rail->info)
        tern_ofi_library.freeinfo(rail->info);
    *rail = (struct tern_ofi_rail){0};
}

static int open_rail(uint32_t index)
{
    struct tern_ofi_rail *rail = &tern_ofi_fabric.rails[index];
    struct fi_av_attr av = {.type = rail->info->domain_attr->av_type,
                            .count = (size_t)tern_rte.size * tern_lane_count};
    int error = tern_ofi_library.fabric(rail->info->fabric_attr, &rail->fabric, NULL);
    if (error)
        return failed(index, "fi_fabric", error);
    error = fi_domain(rail->fabric, rail->info, &rail->domain, NULL);
    if (error)
        return failed(index, "fi_domain", error);
    error = fi_av_open(rail->domain, &av, &rail->av, NULL);
    return error ? failed(index, "fi_av_open", error) : 0;
}

int tern_ofi_fabric_open(const struct tern_ofi_choice *choice)
{
    struct tern_ofi_fabric *fabric = &tern_ofi_fabric;
    for (uint32_t i = 0; i < choice->count; i++)
        fabric->rails[i].info = choice->rails[i];
    fabric->rail_count = choice->count;
    fabric->info = choice->rails[0];
    read_demands();
    if (fabric->raw_keys && fabric->info->domain_attr->mr_key_size > TERN_OFI_KEY_MAX)
        return tern_error(TERN_ERR_OTHER,
                          "libfabric's provider %s has keys of %zu bytes; at most %d are possible",
                          fabric->info->fabric_attr->prov_name,
                          fabric->info->domain_attr->mr_key_size, TERN_OFI_KEY_MAX);
    for (uint32_t i = 0; i < fabric->rail_count; i++) {
        int rc = open_rail(i);
        if (rc && !tern_ofi_rail_leave_out(i, tern_error_text(rc)))
            return rc;
    }
    return 0;
}

void tern_ofi_fabric_close(void)
{
    for (uint32_t i = 0; i < TERN_OFI_RAILS; i++)
        close_rail(&tern_ofi_fabric.rails[i]);
    tern_ofi_fabric = (struct tern_ofi_fabric){0};
}

const char *tern_ofi_device(uint32_t rail)
{
    return tern_ofi_fabric.rails[rail].info->domain_attr->name;
}

const char *tern_ofi_fabric_name(uint32_t rail)
{
    const char *name = tern_ofi_fabric.rails[rail].info->fabric_attr->name;
    return name ? name : "";
}

void tern_ofi_devices(char *text, size_t room)
{
    size_t used = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count && used < room; i++)
        if (!__atomic_load_n(&tern_ofi_fabric.rails[i].dead, __ATOMIC_RELAXED))
            used += (size_t)snprintf(text + used, room - used, "%s%s", used ? ", " : "",
                                     tern_ofi_device(i));
}

/* ---- rails that die ---- */

bool tern_ofi_rail_is_dead(uint32_t rail)
{
    return __atomic_load_n(&tern_ofi_fabric.rails[rail].dead, __ATOMIC_ACQUIRE);
}

static bool others_live(uint32_t rail)
{
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (i != rail && !tern_ofi_rail_is_dead(i))
            return true;
    return false;
}

bool tern_ofi_rail_leave_out(uint32_t rail, const char *why)
{
    pthread_mutex_lock(&lock);
    bool dead = tern_ofi_rail_is_dead(rail), can = others_live(rail);
    if (can && !dead)
        __atomic_store_n(&tern_ofi_fabric.rails[rail].dead, true, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    if (can && !dead) {
        char text[900], devices[200];
        tern_ofi_devices(devices, sizeof devices);
        snprintf(text, sizeof text,
                 "rank %u on host %.80s leaves out the network card %.80s: %.200s; it goes on with "
                 "%s",
                 tern_rte.rank, tern_rte.host, tern_ofi_device(rail), why, devices);
        tern_rte_remark(TERN_REMARK_RAIL, text);
    }
    return can;
}

/* ---- addresses and memory ---- */

int tern_ofi_insert(uint32_t rail, const struct tern_ofi_name *name, fi_addr_t *ret_address)
{
    pthread_mutex_lock(&lock);
    int count = fi_av_insert(tern_ofi_fabric.rails[rail].av, name->bytes, 1, ret_address, 0, NULL);
    pthread_mutex_unlock(&lock);
    return count == 1 ? 0 : failed(rail, "fi_av_insert", count < 0 ? count : -FI_EADDRNOTAVAIL);
}

/* Makes the registration usable: some providers need to know the endpoint. */
static int enable(struct fid_ep *endpoint, struct fid_mr *mr)
{
    if (!tern_ofi_fabric.by_endpoint)
        return 0;
    int error = fi_mr_bind(mr, &endpoint->fid, 0);
    return error ? error : fi_mr_enable(mr);
}

/* Describes memory to libfabric. Later versions than the one that we were built with read members
 * behind struct fi_mr_attr, which are 0. */
union memory {
    struct fi_mr_attr attr;
    unsigned char room[sizeof(struct fi_mr_attr) + 128];
};

/* Registers memory for an endpoint. Returns 0 or libfabric's error. */
static int enter(uint32_t rail, struct fid_ep *endpoint, union memory *memory, uint64_t flags,
                 struct tern_ofi_region *ret_region)
{
    struct fid_domain *domain = tern_ofi_fabric.rails[rail].domain;
    struct fi_mr_attr *attr = &memory->attr;
    struct fid_mr *mr = NULL;
    uint64_t key = 0;
    int error = -FI_ENOKEY;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KEY_TRIES && error == -FI_ENOKEY; i++) {
        /* nobody can guess a key of 64 bits: whoever reaches the endpoint and names the key may
         * read the memory */
        if (!tern_ofi_fabric.own_keys && tern_random(&key, sizeof key))
            break;
        attr->requested_key = key & tern_ofi_fabric.key_mask;
        error = attr->iface == FI_HMEM_SYSTEM
                    ? fi_mr_reg(domain, attr->mr_iov->iov_base, attr->mr_iov->iov_len, attr->access,
                                0, attr->requested_key, 0, &mr, NULL)
                    : fi_mr_regattr(domain, attr, flags, &mr);
    }
    if (!error && (error = enable(endpoint, mr)))
        fi_close(&mr->fid);
    pthread_mutex_unlock(&lock);
    if (!error)
        *ret_region = (struct tern_ofi_region){.mr = mr, .desc = fi_mr_desc(mr)};
    return error;
}

int tern_ofi_register(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                      uint64_t access, struct tern_ofi_region *ret_region)
{
    struct iovec run = {(void *)start, length};
    union memory memory = {.attr = {.mr_iov = &run, .iov_count = 1, .access = access}};
    int error = enter(rail, endpoint, &memory, 0, ret_region);
    if (error)
        failed(rail, "fi_mr_reg", error);
    return error ? TERN_ERR_UNSUPPORTED : 0;
}

/* Registers device memory by a descriptor of it (DMA-BUF): for a libfabric that was built without
 * CUDA, and hosts without the kernel module nvidia-peermem. */
static int enter_by_descriptor(uint32_t rail, struct fid_ep *endpoint, union memory *memory,
                               const struct tern_accel_place *place,
                               struct tern_ofi_region *ret_region)
{
    const struct iovec run = *memory->attr.mr_iov;
    struct tern_ofi_dmabuf dmabuf = {.length = run.iov_len};
    size_t offset;
    int fd = tern_accel_dmabuf(run.iov_base, run.iov_len, place, &offset);
    if (fd < 0)
        return -FI_EOPNOTSUPP;
    dmabuf.fd = fd;
    dmabuf.offset = offset;
    dmabuf.base = (char *)run.iov_base - offset;
    memory->attr.mr_iov = (const struct iovec *)&dmabuf; /* a union in later headers */
    int error = enter(rail, endpoint, memory, TERN_OFI_MR_DMABUF, ret_region);
    close(fd);
    return error;
}

int tern_ofi_register_device(uint32_t rail, struct fid_ep *endpoint, const void *start,
                             size_t length, uint64_t access, const struct tern_accel_place *place,
                             struct tern_ofi_region *ret_region)
{
    struct iovec run = {(void *)start, length};
    union memory memory = {.attr = {.mr_iov = &run,
                                    .iov_count = 1,
                                    .access = access,
                                    .iface = FI_HMEM_CUDA,
                                    .device.cuda = place->device}};
    bool only = strcmp(tern_param_string("btl_ofi_hmem"), "dmabuf") == 0;
    int error = only ? -FI_ENOSYS : enter(rail, endpoint, &memory, 0, ret_region);
    if (error && (only || tern_ofi_library.version() >= TERN_OFI_DMABUF_VERSION) &&
        enter_by_descriptor(rail, endpoint, &memory, place, ret_region) == 0)
        return 0;
    if (!error)
        return 0;
    return tern_error(error == -FI_ENOMEM ? TERN_ERR_NO_MEM : TERN_ERR_UNSUPPORTED,
                      "libfabric's provider %s, device %s, does not register device memory: %s; "
                      "it needs a libfabric that was built with CUDA, and the kernel module "
                      "nvidia-peermem or DMA-BUF (Linux 5.12, CUDA 11.7, the driver's open kernel "
                      "modules)",
                      tern_ofi_fabric.info->fabric_attr->prov_name, tern_ofi_device(rail),
                      tern_ofi_error(error));
}

int tern_ofi_register_own(uint32_t rail, struct fid_ep *endpoint, const void *start, size_t length,
                          uint64_t access, struct tern_ofi_region *ret_region)
{
    if (tern_ofi_fabric.local_keys)
        return tern_ofi_register(rail, endpoint, start, length, access, ret_region);
    *ret_region = (struct tern_ofi_region){0};
    return 0;
}

int tern_ofi_raw_key(const struct tern_ofi_region *region, struct tern_ofi_raw_key *ret_key)
{
    size_t length = sizeof ret_key->bytes;
    *ret_key = (struct tern_ofi_raw_key){0};
    int error = fi_mr_raw_attr(region->mr, &ret_key->base, ret_key->bytes, &length, 0);
    ret_key->length = (uint32_t)length;
    if (error)
        failed(0, "fi_mr_raw_attr", error);
    return error ? TERN_ERR_UNSUPPORTED : 0;
}

int tern_ofi_map(uint32_t rail, const struct tern_ofi_raw_key *raw, uint64_t *ret_key)
{
    struct tern_ofi_raw_key copy = *raw; /* fi_mr_map_raw wants bytes that may change */
    pthread_mutex_lock(&lock);
    int error = fi_mr_map_raw(tern_ofi_fabric.rails[rail].domain, copy.base, copy.bytes,
                              copy.length, ret_key, 0);
    pthread_mutex_unlock(&lock);
    if (error)
        failed(rail, "fi_mr_map_raw", error);
    return error ? TERN_ERR_UNSUPPORTED : 0;
}

void tern_ofi_unmap(uint32_t rail, uint64_t key)
{
    pthread_mutex_lock(&lock);
    fi_mr_unmap_key(tern_ofi_fabric.rails[rail].domain, key);
    pthread_mutex_unlock(&lock);
}

void tern_ofi_deregister(struct tern_ofi_region *region)
{
    if (!region->mr)
        return;
    pthread_mutex_lock(&lock);
    fi_close(&region->mr->fid);
    pthread_mutex_unlock(&lock);
    region->mr = NULL;
}
