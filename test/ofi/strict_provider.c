/* SPDX-License-Identifier: BSD-3-Clause */
/* The provider strict (strict.h): what it offers, its fabric, its decisions and its report. */
#include "strict.h"

#include <fcntl.h>
#include <rdma/providers/fi_prov.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The provider below: what libfabric 1 calls net is tcp in libfabric 2. */
static char *inner_name(void)
{
    return FI_MAJOR(fi_version()) >= 2 ? "tcp" : "net";
}

struct strict_counts strict_counts;

void strict_broken(const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(2, "strict: rule broken: %s\n", text);
    abort();
}

uint64_t strict_random(void)
{
    static uint64_t state;
    const char *seed = getenv("STRICT_SEED");
    if (!__atomic_load_n(&state, __ATOMIC_RELAXED))
        __atomic_fetch_add(&state, (uint64_t)getpid() * 7919 + (seed ? strtoull(seed, NULL, 0) : 0), __ATOMIC_RELAXED);
    uint64_t z = __atomic_add_fetch(&state, 0x9e3779b97f4a7c15, __ATOMIC_RELAXED);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

bool strict_happens(enum strict_chance chance)
{
    static const char *const names[STRICT_CHANCES] = {"STRICT_AGAIN", "STRICT_READ_FAILS", "STRICT_WRITE_FAILS", "STRICT_REFUSES",
                                                      "STRICT_SEND_FAILS"};
    const char *text = getenv(names[chance]);
    return text && strict_random() % 1000 < strtoull(text, NULL, 0);
}

/* Writes the line of STRICT_REPORT. */
static __attribute__((destructor)) void report(void)
{
    const struct strict_counts *c = &strict_counts;
    const char *file = getenv("STRICT_REPORT");
    char line[800];
    int fd = file ? open(file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : -1;
    if (fd < 0 || !c->receives)
        return;
    int length = snprintf(line, sizeof line,
                          "registrations %llu maps %llu sends %llu injects %llu receives %llu reads %llu again %llu failed_reads %llu "
                           "refused %llu failed_sends %llu overtaken %llu left %llu writes %llu failed_writes %llu "
                           "device_registrations %llu device_reads %llu device_refused %llu device_left %llu steps_out %llu steps_in %llu\n",
                          (unsigned long long)c->registrations, (unsigned long long)c->maps, (unsigned long long)c->sends,
                          (unsigned long long)c->injects, (unsigned long long)c->receives, (unsigned long long)c->reads,
                          (unsigned long long)c->again, (unsigned long long)c->failed_reads, (unsigned long long)c->refused,
                          (unsigned long long)c->failed_sends, (unsigned long long)c->overtaken, (unsigned long long)c->left,
                           (unsigned long long)c->writes, (unsigned long long)c->failed_writes,
                           (unsigned long long)c->device_registrations, (unsigned long long)c->device_reads,
                           (unsigned long long)c->device_refused, (unsigned long long)c->device_left,
                           (unsigned long long)c->steps_out, (unsigned long long)c->steps_in);
    if (write(fd, line, (size_t)length) != length)
        dprintf(2, "strict: cannot write %s\n", file);
    close(fd);
}

bool strict_short_keys(void)
{
    return getenv("STRICT_SHORT_KEYS") != NULL;
}

/* The bits of mr_mode that are demanded. */
static int modes(void)
{
    return STRICT_MODES | (strict_short_keys() ? 0 : FI_MR_RAW);
}

void *strict_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);
    if (!memory)
        strict_broken("no memory");
    return memory;
}

void strict_lock(struct strict_domain *domain, pthread_mutex_t *lock)
{
    if (!domain->one_thread)
        pthread_mutex_lock(lock);
    else if (pthread_mutex_trylock(lock))
        strict_broken("two threads at once, but FI_THREAD_DOMAIN was asked for");
}

/* ---- what is offered ---- */

static void describe(struct fi_info *info, bool devices)
{
    free(info->fabric_attr->prov_name);
    info->fabric_attr->prov_name = NULL; /* libfabric sets it */
    info->mode = FI_CONTEXT | FI_CONTEXT2;
    info->domain_attr->mr_mode = modes() | (devices ? FI_MR_HMEM : 0);
    if (devices)
        info->caps |= FI_HMEM;
    info->domain_attr->mr_key_size = strict_short_keys() ? sizeof(uint64_t) : sizeof(struct strict_key);
    info->tx_attr->inject_size = STRICT_INJECT;
    info->tx_attr->msg_order = info->rx_attr->msg_order = 0;
    if (getenv("STRICT_LACKS_RMA"))
        info->caps &= ~(uint64_t)(FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE);
}

static int get_info(uint32_t version, const char *node, const char *service, uint64_t flags, const struct fi_info *hints,
                    struct fi_info **ret_info)
{
    struct fi_info *wanted = hints ? fi_dupinfo(hints) : fi_allocinfo();
    if (!wanted)
        return -FI_ENOMEM;
    int error = -FI_ENODATA;
    bool able = !hints || (!hints->domain_attr ? 1 : (hints->domain_attr->mr_mode & modes()) == modes());
    if (hints && getenv("STRICT_LACKS_RMA") && hints->caps & FI_RMA)
        able = false;
    if (hints && getenv("STRICT_LACKS_DELIVERY") && hints->tx_attr && hints->tx_attr->op_flags & FI_DELIVERY_COMPLETE)
        able = false;
    bool devices = hints && hints->caps & FI_HMEM;
    if (devices && (!strict_offers_devices() || !hints->domain_attr || !(hints->domain_attr->mr_mode & FI_MR_HMEM)))
        able = false;
    /* who asks for nothing in particular sees everything */
    if (able || (hints && !hints->caps)) {
        free(wanted->fabric_attr->prov_name);
        wanted->fabric_attr->prov_name = strdup(inner_name());
        wanted->domain_attr->mr_mode = 0;
        wanted->caps &= ~FI_HMEM;
        error = fi_getinfo(version, node, service, flags, wanted, ret_info);
        for (struct fi_info *info = error ? NULL : *ret_info; info; info = info->next)
            describe(info, devices);
    }
    fi_freeinfo(wanted);
    return error;
}

/* ---- the fabric ---- */

static int fabric_close(struct fid *fid)
{
    struct strict_fabric *fabric = STRICT_OF(fid, struct strict_fabric, fid.fid);
    int error = fi_close(&fabric->inner->fid);
    free(fabric);
    return error;
}

static int fabric_trywait(struct fid_fabric *fid, struct fid **fids, int count)
{
    struct strict_fabric *fabric = STRICT_OF(fid, struct strict_fabric, fid);
    for (int i = 0; i < count; i++) {
        struct strict_cq *cq = STRICT_OF(fids[i], struct strict_cq, fid.fid);
        struct fid *inner = &cq->inner->fid;
        int error = cq->held_count || cq->has_failed ? -FI_EAGAIN : fi_trywait(fabric->inner, &inner, 1);
        if (error)
            return error;
    }
    return 0;
}

static int open_fabric(struct fi_fabric_attr *attr, struct fid_fabric **ret_fabric, void *context)
{
    static struct fi_ops ops = {.size = sizeof ops, .close = fabric_close};
    static struct fi_ops_fabric fabric_ops = {
        .size = sizeof fabric_ops, .domain = strict_domain_open, .trywait = fabric_trywait};
    struct strict_fabric *fabric = strict_allocate(sizeof *fabric);
    struct fi_fabric_attr inner = *attr;
    inner.prov_name = inner_name();
    int error = fi_fabric(&inner, &fabric->inner, context);
    if (error) {
        free(fabric);
        return error;
    }
    fabric->fid = (struct fid_fabric){.fid = {.fclass = FI_CLASS_FABRIC, .context = context, .ops = &ops}, .ops = &fabric_ops};
    *ret_fabric = &fabric->fid;
    return 0;
}

static void clean_up(void)
{
}

struct fi_provider *fi_prov_ini(void);
__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
    static struct fi_provider provider = {.version = FI_VERSION(1, 0),
                                          .fi_version = FI_VERSION(1, 17),
                                          .name = "strict",
                                          .getinfo = get_info,
                                          .fabric = open_fabric,
                                          .cleanup = clean_up};
    return &provider;
}
