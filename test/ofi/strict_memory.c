/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider strict (strict.h): its domain, registrations and raw keys. */
#include "strict.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const uint64_t magic = 0x53747269636b6579;

/* A key of 64 bits: the page where the registration begins, and the key of net. There the registration begins with the page. */
enum { PAGE_SHIFT = 12, INNER_BITS = 24 };

static uint64_t page_of(const void *start)
{
    return (uintptr_t)start >> PAGE_SHIFT;
}

static uint64_t check_of(const struct strict_key *key)
{
    return (key->magic ^ key->base * 3 ^ key->length * 5 ^ key->inner * 7) * 0x9e3779b97f4a7c15 ^ key->salt;
}

/* ---- registrations ---- */

static int mr_close(struct fid *fid)
{
    struct strict_mr *mr = STRICT_OF(fid, struct strict_mr, fid.fid);
    struct strict_domain *domain = mr->domain;
    pthread_mutex_lock(&domain->lock);
    struct strict_mr **at = &domain->regions;
    while (*at && *at != mr)
        at = &(*at)->next;
    if (!*at)
        strict_broken("fi_close of a registration that is not there");
    if (mr->uses)
        strict_broken("fi_close of a registration that %d operations under way use", mr->uses);
    *at = mr->next;
    pthread_mutex_unlock(&domain->lock);
    if (mr->access & STRICT_COPIES)
        STRICT_UNCOUNT(left);
    if (mr->window)
        STRICT_UNCOUNT(device_left);
    if (mr->inner)
        fi_close(&mr->inner->fid);
    strict_unpin(mr);
    memset(mr, 0xee, sizeof *mr);
    free(mr);
    return 0;
}

static int mr_bind(struct fid *fid, struct fid *other, uint64_t flags)
{
    struct strict_mr *mr = STRICT_OF(fid, struct strict_mr, fid.fid);
    if (other->fclass != FI_CLASS_EP || flags || mr->enabled || mr->endpoint)
        strict_broken("fi_mr_bind: not to one endpoint, once, before fi_mr_enable");
    mr->endpoint = STRICT_OF(other, struct strict_ep, fid.fid);
    return 0;
}

static int mr_enable(struct strict_mr *mr)
{
    if (!mr->endpoint || mr->enabled)
        strict_broken("fi_mr_enable of a registration that is %s", mr->enabled ? "enabled" : "bound to no endpoint");
    if (mr->access & (FI_REMOTE_READ | FI_REMOTE_WRITE)) {
        char *start = mr->window                ? mr->window
                      : strict_short_keys() ? (char *)(page_of(mr->start) << PAGE_SHIFT)
                                            : mr->start;
        size_t length = mr->window ? mr->length : (size_t)(mr->start + mr->length - start);
        int error = fi_mr_reg(mr->domain->inner, start, length, mr->access, 0, mr->key, 0, &mr->inner, NULL);
        if (error)
            return error;
        if (strict_short_keys())
            mr->fid.key = page_of(mr->start) << INNER_BITS | mr->key;
    }
    mr->enabled = true;
    return 0;
}

static int mr_raw(struct strict_mr *mr, const struct fi_mr_raw_attr *attr)
{
    struct strict_key key = {.magic = magic,
                             .base = (uintptr_t)mr->start,
                             .length = mr->length,
                             .inner = mr->key,
                             .salt = strict_random()};
    if (strict_short_keys())
        strict_broken("fi_mr_raw_attr without FI_MR_RAW");
    if (!mr->inner)
        strict_broken("fi_mr_raw_attr of a registration that is not enabled, or not for peers");
    strict_check_pins(mr, "fi_mr_raw_attr");
    strict_check_device(mr, mr->start, "fi_mr_raw_attr");
    key.check = check_of(&key);
    if (*attr->key_size < sizeof key) {
        *attr->key_size = sizeof key;
        return -FI_ETOOSMALL;
    }
    *attr->key_size = sizeof key;
    *attr->base_addr = key.base;
    memcpy(attr->raw_key, &key, sizeof key);
    return 0;
}

static int mr_control(struct fid *fid, int command, void *arg)
{
    struct strict_mr *mr = STRICT_OF(fid, struct strict_mr, fid.fid);
    return command == FI_ENABLE       ? mr_enable(mr)
           : command == FI_GET_RAW_MR ? mr_raw(mr, arg)
                                      : -FI_ENOSYS;
}

/* The memory must be there: FI_MR_ALLOCATED. */
static void check_allocated(const void *start, size_t length)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start & -page, last = (uintptr_t)start + length;
    size_t pages = (last - first + page - 1) / page;
    unsigned char *resident = strict_allocate(pages + 1);
    if (!length || mincore((void *)first, pages * page, resident))
        strict_broken("fi_mr_reg of %zu bytes at %p, which are not all mapped", length, start);
    free(resident);
}

/* Makes a registration; `window`: where device memory is reached, or NULL. */
static int make(struct strict_domain *domain, const void *start, size_t length, uint64_t access, char *window, void *context,
                struct strict_mr **ret_mr)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = mr_close, .bind = mr_bind, .control = mr_control};
    static uint64_t serial;
    const char *most = getenv("STRICT_MOST");
    if (access & STRICT_COPIES &&
        (strict_happens(STRICT_REFUSES) || (most && length > strtoull(most, NULL, 0)))) {
        STRICT_COUNT(refused);
        return -FI_ENOMEM;
    }
    struct strict_mr *mr = strict_allocate(sizeof *mr);
    *mr = (struct strict_mr){.fid = {.fid = {.fclass = FI_CLASS_MR, .context = context, .ops = &ops},
                                     .mem_desc = mr,
                                     .key = FI_KEY_NOTAVAIL},
                             .domain = domain,
                             .start = (char *)start,
                             .length = length,
                             .access = access,
                             .window = window,
                             .key = __atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED)};
    mr->pins[0] = -1;
    if (access & STRICT_COPIES && !window)
        strict_pin(mr);
    pthread_mutex_lock(&domain->lock);
    mr->next = domain->regions;
    domain->regions = mr;
    pthread_mutex_unlock(&domain->lock);
    STRICT_COUNT(registrations);
    if (access & STRICT_COPIES)
        STRICT_COUNT(left);
    *ret_mr = mr;
    return 0;
}

static int mr_register(struct fid *fid, const void *start, size_t length, uint64_t access, uint64_t offset, uint64_t key,
                       uint64_t flags, struct fid_mr **ret_mr, void *context)
{
    struct strict_mr *mr;
    (void)key;
    if (offset || flags || !access)
        strict_broken("fi_mr_reg with an offset, flags, or no access");
    check_allocated(start, length);
    strict_check_host(start, "fi_mr_reg");
    int error = make(STRICT_OF(fid, struct strict_domain, fid.fid), start, length, access, NULL, context, &mr);
    if (!error)
        *ret_mr = &mr->fid;
    return error;
}

static int mr_register_device(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags, struct fid_mr **ret_mr)
{
    struct strict_domain *domain = STRICT_OF(fid, struct strict_domain, fid.fid);
    struct strict_mr *mr;
    char *start, *window;
    size_t length;
    uint64_t id;
    if (!domain->devices)
        strict_broken("fi_mr_regattr, but FI_HMEM was not asked for");
    if (attr->offset || !attr->access || attr->iov_count != 1)
        strict_broken("fi_mr_regattr with an offset, several runs, or no access");
    int error = strict_find_device(attr, flags, &start, &length, &window, &id);
    if (!error)
        error = make(domain, start, length, attr->access, window, attr->context, &mr);
    if (error)
        return error;
    mr->device_id = id;
    STRICT_COUNT(device_registrations);
    STRICT_COUNT(device_left);
    *ret_mr = &mr->fid;
    return 0;
}

struct fi_ops_mr strict_mr_ops = {.size = sizeof strict_mr_ops, .reg = mr_register, .regattr = mr_register_device};

struct strict_mr *strict_use(struct strict_ep *endpoint, const void *buffer, size_t length, void *desc, uint64_t access,
                             const char *call)
{
    struct strict_domain *domain = endpoint->domain;
    pthread_mutex_lock(&domain->lock);
    struct strict_mr *mr = domain->regions;
    while (mr && mr != desc)
        mr = mr->next;
    if (!mr)
        strict_broken("%s: the descriptor %p is of no registration", call, desc);
    if (!mr->enabled || mr->endpoint != endpoint)
        strict_broken("%s: the registration is %s", call, mr->enabled ? "another endpoint's" : "not enabled");
    if ((mr->access & access) != access)
        strict_broken("%s: the registration has access %#llx, needed %#llx", call, (unsigned long long)mr->access,
                      (unsigned long long)access);
    if ((const char *)buffer < mr->start || (const char *)buffer + length > mr->start + mr->length)
        strict_broken("%s: %zu bytes at %p are not in the registration of %zu bytes at %p", call, length, buffer, mr->length,
                      (void *)mr->start);
    strict_check_device(mr, buffer, call);
    mr->uses++;
    pthread_mutex_unlock(&domain->lock);
    if (access & STRICT_COPIES)
        strict_check_pins(mr, call);
    return mr;
}

void strict_end_use(struct strict_mr *mr)
{
    pthread_mutex_lock(&mr->domain->lock);
    mr->uses--;
    pthread_mutex_unlock(&mr->domain->lock);
}

/* ---- raw keys of peers ---- */

static int map_raw(struct strict_domain *domain, const struct fi_mr_map_raw *attr)
{
    struct strict_map *map = strict_allocate(sizeof *map);
    if (attr->key_size != sizeof map->key || attr->flags)
        strict_broken("fi_mr_map_raw of a key of %zu bytes", attr->key_size);
    memcpy(&map->key, attr->raw_key, sizeof map->key);
    if (map->key.magic != magic || map->key.check != check_of(&map->key) || map->key.base != attr->base_addr)
        strict_broken("fi_mr_map_raw of a key that nobody has given");
    map->handle = strict_random();
    pthread_mutex_lock(&domain->lock);
    map->next = domain->maps;
    domain->maps = map;
    pthread_mutex_unlock(&domain->lock);
    STRICT_COUNT(maps);
    STRICT_COUNT(left);
    *attr->key = map->handle;
    return 0;
}

static int unmap(struct strict_domain *domain, uint64_t handle)
{
    pthread_mutex_lock(&domain->lock);
    struct strict_map **at = &domain->maps, *map;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    map = *at;
    if (!map)
        strict_broken("fi_mr_unmap_key of a key that is not mapped");
    *at = map->next;
    pthread_mutex_unlock(&domain->lock);
    free(map);
    STRICT_UNCOUNT(left);
    return 0;
}

int strict_domain_control(struct fid *fid, int command, void *arg)
{
    struct strict_domain *domain = STRICT_OF(fid, struct strict_domain, fid.fid);
    return command == FI_MAP_RAW_MR  ? map_raw(domain, arg)
           : command == FI_UNMAP_KEY ? unmap(domain, *(uint64_t *)arg)
                                     : -FI_ENOSYS;
}

void strict_translate(struct strict_domain *domain, uint64_t address, size_t length, uint64_t handle, uint64_t *ret_offset,
                      uint64_t *ret_key)
{
    if (strict_short_keys()) {
        *ret_offset = address - (handle >> INNER_BITS << PAGE_SHIFT);
        *ret_key = handle & ((1u << INNER_BITS) - 1);
        return;
    }
    pthread_mutex_lock(&domain->lock);
    const struct strict_map *map = domain->maps;
    while (map && map->handle != handle)
        map = map->next;
    if (!map)
        strict_broken("a read or write with a key that is not mapped");
    if (address < map->key.base || address + length > map->key.base + map->key.length)
        strict_broken("a read or write of %zu bytes at %#llx, outside the peer's registration", length, (unsigned long long)address);
    *ret_offset = address - map->key.base;
    *ret_key = map->key.inner;
    pthread_mutex_unlock(&domain->lock);
}

/* ---- the domain ---- */

static int domain_close(struct fid *fid)
{
    struct strict_domain *domain = STRICT_OF(fid, struct strict_domain, fid.fid);
    if (domain->regions)
        strict_broken("the domain is closed while memory is registered: %zu bytes, access %#llx", domain->regions->length,
                      (unsigned long long)domain->regions->access);
    if (domain->maps)
        strict_broken("the domain is closed while keys are mapped");
    int error = fi_close(&domain->inner->fid);
    free(domain);
    return error;
}

static int domain_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **ret_av, void *context)
{
    return fi_av_open(STRICT_OF(fid, struct strict_domain, fid)->inner, attr, ret_av, context);
}

int strict_domain_open(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **ret_domain, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = domain_close, .control = strict_domain_control};
    static struct fi_ops_domain domain_ops = {
        .size = sizeof domain_ops, .av_open = domain_av_open, .cq_open = strict_cq_open, .endpoint = strict_ep_open};
    struct strict_domain *domain = strict_allocate(sizeof *domain);
    struct fi_info *inner = fi_dupinfo(info);
    inner->mode = 0;
    inner->caps &= ~FI_HMEM;
    inner->domain_attr->mr_mode = 0;
    inner->domain_attr->mr_key_size = 8;
    int error = fi_domain(STRICT_OF(fabric, struct strict_fabric, fid)->inner, inner, &domain->inner, context);
    fi_freeinfo(inner);
    if (error) {
        free(domain);
        return error;
    }
    domain->fid = (struct fid_domain){.fid = {.fclass = FI_CLASS_DOMAIN, .context = context, .ops = &ops},
                                      .ops = &domain_ops,
                                      .mr = &strict_mr_ops};
    domain->devices = info->caps & FI_HMEM;
    domain->one_thread = info->domain_attr->threading == FI_THREAD_DOMAIN;
    pthread_mutex_init(&domain->lock, NULL);
    *ret_domain = &domain->fid;
    return 0;
}
