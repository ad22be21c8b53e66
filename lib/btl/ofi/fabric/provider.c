/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/provider.h"

#include "lib/accel/device_range.h"
#include "lib/btl/btl.h"
#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/nic.h"
#include "lib/rte/hardware.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Providers of hardware that messages between ranks are given to without being asked, the best one
 * first. A layer (ofi_rxm) stands behind the provider that it uses. */
static const char *const by_itself[] = {"cxi", "efa", "psm3", "opx", "psm2", "verbs;ofi_rxm"};
enum { BY_ITSELF = sizeof by_itself / sizeof *by_itself };

enum { LIST_ROOM = 400, NAME_ROOM = 128 };

static const char lacks[] = "lacks what messages need: endpoints of type FI_EP_RDM with FI_MSG and "
                            "FI_RMA, on a device that is up";

static const char *name_of(const struct fi_info *info)
{
    return info->fabric_attr->prov_name ? info->fabric_attr->prov_name : "";
}

static const char *device_of(const struct fi_info *info)
{
    return info->domain_attr->name ? info->domain_attr->name : "";
}

bool tern_ofi_provider_routes(const struct fi_info *info)
{
    const char *name = name_of(info);
    return strncmp(name, "verbs", 5) != 0 &&
           (info->addr_format == FI_SOCKADDR_IN || info->addr_format == FI_SOCKADDR_IN6 ||
            info->addr_format == FI_SOCKADDR);
}

/* libfabric before 1.20 gives the buffer back when the last message begins, while others may still
 * arrive (ofiwg/libfabric#9420, test/ofi/bare_multi_recv.c). ofi_rxd of 1.17 does so, too, with
 * messages of more than one datagram; of later versions it is not known. */
bool tern_ofi_provider_fills_buffers(const struct fi_info *info)
{
    const char *name = name_of(info);
    bool by_tcp = strcmp(name, "net") == 0 || strcmp(name, "tcp") == 0;
    bool by_datagrams = strstr(name, "ofi_rxd") != NULL;
    return info->caps & FI_MULTI_RECV && !by_datagrams &&
           !(by_tcp && tern_ofi_library.version() < FI_VERSION(1, 20));
}

/* udp;ofi_rxd of libfabric 1.17 completed a read, on a busy machine, whose bytes had not come
 * (docs/notes/2026-11-27-windows-by-libfabric.md). */
bool tern_ofi_provider_copies(const struct fi_info *info)
{
    return strcmp(name_of(info), "udp;ofi_rxd") != 0;
}

bool tern_ofi_provider_is_hardware(const struct fi_info *info)
{
    for (int i = 0; i < BY_ITSELF; i++)
        if (strcmp(name_of(info), by_itself[i]) == 0)
            return true;
    return false;
}

struct fi_info *tern_ofi_provider_hints(uint64_t caps)
{
    struct fi_info *hints = tern_ofi_library.dupinfo(NULL);
    if (!hints)
        return NULL;
    hints->caps = caps;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY |
                                  FI_MR_ENDPOINT | FI_MR_RAW;
    hints->domain_attr->threading = tern_lane_count > 1 ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
    hints->domain_attr->resource_mgmt = FI_RM_ENABLED;
    return hints;
}

/* Asks libfabric for all that offers `caps`. Returns its error; with 0 *ret_list is to be freed. */
static int ask(uint64_t caps, struct fi_info **ret_list)
{
    struct fi_info *hints = tern_ofi_provider_hints(caps);
    if (!hints)
        return -FI_ENOMEM;
    *ret_list = NULL;
    int error = tern_ofi_library.getinfo(TERN_OFI_VERSION, NULL, NULL, 0, hints, ret_list);
    tern_ofi_library.freeinfo(hints);
    return error;
}

/* Asks libfabric for all providers, of any kind. NULL: there is none. */
static struct fi_info *ask_all(void)
{
    struct fi_info *list = NULL;
    return tern_ofi_library.getinfo(TERN_OFI_VERSION, NULL, NULL, 0, NULL, &list) ? NULL : list;
}

static bool has(const struct fi_info *list, const char *name)
{
    while (list && strcmp(name_of(list), name) != 0)
        list = list->next;
    return list != NULL;
}

/* Returns the name by which this libfabric has the provider `name`: endpoints of type FI_EP_RDM
 * over TCP are offered by `net` in its version 1 and by `tcp` in version 2. Other names stay. */
static const char *name_here(const struct fi_info *able, const char *name)
{
    const char *other = strcmp(name, "net") == 0 ? "tcp" : strcmp(name, "tcp") == 0 ? "net" : NULL;
    return other && !has(able, name) && has(able, other) ? other : name;
}

bool tern_ofi_provider_delivers(const struct fi_info *info)
{
    struct fi_info *hints = tern_ofi_provider_hints(FI_MSG | FI_RMA), *list = NULL;
    if (!hints)
        return false;
    hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;
    hints->fabric_attr->prov_name = strdup(name_of(info));
    int error = tern_ofi_library.getinfo(TERN_OFI_VERSION, NULL, NULL, 0, hints, &list);
    bool promised = !error && has(list, name_of(info));
    if (!error)
        tern_ofi_library.freeinfo(list);
    tern_ofi_library.freeinfo(hints);
    return promised;
}

/* Weighs an address of this host as the address of our endpoint. */
static int weigh_address(const struct fi_info *info)
{
    const struct sockaddr_in6 *six = info->src_addr;
    const struct sockaddr_in *four = info->src_addr;
    if (!tern_ofi_provider_routes(info) || !info->src_addr)
        return 1;
    bool is_four = four->sin_family == AF_INET;
    bool loopback =
        is_four ? ntohl(four->sin_addr.s_addr) >> 24 == 127 : IN6_IS_ADDR_LOOPBACK(&six->sin6_addr);
    if (loopback)
        return tern_rte.node_count > 1 ? 0 : 1;
    return is_four ? 4 : IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) ? 2 : 3;
}

/* Returns the best entry of the provider `name`, by the device that the user has named; NULL if
 * there is none. */
static struct fi_info *best_of(struct fi_info *list, const char *name, const char *device)
{
    struct fi_info *best = NULL;
    int weight = 0;
    for (struct fi_info *info = list; info; info = info->next) {
        if (strcmp(name_of(info), name) != 0 || (*device && strcmp(device_of(info), device) != 0))
            continue;
        int own = weigh_address(info);
        if (own > weight) {
            best = info;
            weight = own;
        }
    }
    return best;
}

/* Writes the names of all providers, or of the devices of the provider `of`, each once. */
static void list_names(const struct fi_info *list, const char *of, char text[LIST_ROOM])
{
    size_t used = 0;
    text[0] = 0;
    for (const struct fi_info *info = list; info && used < LIST_ROOM; info = info->next) {
        bool told = of && strcmp(name_of(info), of) != 0;
        for (const struct fi_info *other = list; other != info && !told; other = other->next)
            told = of ? strcmp(name_of(other), of) == 0 &&
                            strcmp(device_of(other), device_of(info)) == 0
                      : strcmp(name_of(other), name_of(info)) == 0;
        if (!told)
            used += (size_t)snprintf(text + used, LIST_ROOM - used, "%s%s", used ? ", " : "",
                                     of ? device_of(info) : name_of(info));
    }
}

/* Records why the provider that the user has named cannot be used. */
static int explain(struct fi_info *able, const char *name, const char *device)
{
    char names[LIST_ROOM];
    if (*device && best_of(able, name, "")) {
        list_names(able, name, names);
        return tern_error(TERN_ERR_OTHER,
                          "libfabric's provider %s has no device `%s` (btl_ofi_device); it has %s",
                          name, device, names);
    }
    struct fi_info *all = ask_all();
    bool known = has(all, name);
    if (all)
        tern_ofi_library.freeinfo(all);
    if (known)
        return tern_error(TERN_ERR_OTHER, "libfabric's provider %s %s", name, lacks);
    list_names(able, NULL, names);
    return tern_error(TERN_ERR_OTHER,
                      "libfabric has no provider `%s` (btl_ofi_provider) on this host; it "
                      "offers %s",
                      name, *names ? names : "none");
}

/* ---- rails ---- */

/* Returns true if both providers make the same demands. Only such cards are used together. */
static bool are_alike(const struct fi_info *a, const struct fi_info *b)
{
    return a->domain_attr->mr_mode == b->domain_attr->mr_mode &&
           a->domain_attr->mr_key_size == b->domain_attr->mr_key_size &&
           a->ep_attr->protocol == b->ep_attr->protocol && a->addr_format == b->addr_format &&
           (a->caps & FI_MULTI_RECV) == (b->caps & FI_MULTI_RECV);
}

/* Returns true if the device of `info` can be one more rail. */
static bool fits(const struct fi_info *info, struct fi_info *const rails[], uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(device_of(rails[i]), device_of(info)) == 0)
            return false;
    return !count || are_alike(rails[0], info);
}

/* Finds the devices that the user has named, in this order. Sets *ret_unknown to the first that the
 * provider does not have, in `word`, or to NULL. */
static uint32_t take_named(struct fi_info *list, const char *name, const char *devices,
                           struct fi_info *rails[TERN_OFI_RAILS], char word[NAME_ROOM],
                           const char **ret_unknown)
{
    uint32_t count = 0;
    *ret_unknown = NULL;
    while (*devices) {
        size_t length = strcspn(devices, ",");
        snprintf(word, NAME_ROOM, "%.*s", (int)length, devices);
        devices += length + (devices[length] == ',');
        struct fi_info *best = *word ? best_of(list, name, word) : NULL;
        if (*word && !best) {
            *ret_unknown = word;
            return 0;
        }
        if (best && count < TERN_OFI_RAILS && fits(best, rails, count))
            rails[count++] = best;
    }
    return count;
}

/* Returns the number of ranks before this one on this node that the launcher has placed on the same
 * NUMA node. If the places are not known, all ranks before this one count. */
static uint32_t ranks_before(void)
{
    int32_t own[TERN_HW_KINDS], other[TERN_HW_KINDS];
    uint32_t node, count = 0;
    if (!tern_rte_hw_launch_place(tern_rte.rank, &node, own) || own[TERN_HW_NUMA] < 0)
        return tern_rte.local_rank;
    for (uint32_t i = 0; i < tern_rte.local_rank; i++)
        count += tern_rte_hw_launch_place(tern_rte.local_ranks[i], &node, other) &&
                 other[TERN_HW_NUMA] == own[TERN_HW_NUMA];
    return count;
}

/* Returns the distance of a card: to the GPU of this process, or if that is not known yet, to its
 * processors. */
static int distance_of(const char *device)
{
    char address[TERN_ACCEL_BUS_ADDRESS];
    int own = tern_accel_own_device();
    int distance = own >= 0 && tern_accel_bus_address(own, address)
                       ? tern_ofi_nic_device_distance("", device, address)
                       : 0;
    return distance ? distance : tern_ofi_nic_distance("", device);
}

/* Finds all devices of the provider whose link is up, the nearest first. Of a provider that works
 * over any IP interface only the best one is taken: others may lead nowhere. */
static uint32_t take_all(struct fi_info *list, const char *name,
                         struct fi_info *rails[TERN_OFI_RAILS])
{
    enum { DEVICES_MOST = 64 };
    struct fi_info *devices[DEVICES_MOST];
    int distances[DEVICES_MOST];
    uint32_t order[DEVICES_MOST], count = 0, taken = 0;
    uint32_t most = (uint32_t)tern_param_int("btl_ofi_rails");
    rails[0] = best_of(list, name, "");
    if (!rails[0] || tern_ofi_provider_routes(rails[0]))
        return rails[0] ? 1 : 0;
    for (struct fi_info *info = list; info && count < DEVICES_MOST; info = info->next) {
        const char *device = device_of(info);
        if (strcmp(name_of(info), name) != 0 || best_of(list, name, device) != info ||
            !tern_ofi_nic_is_up(device))
            continue;
        distances[count] = distance_of(device);
        devices[count++] = info;
    }
    tern_ofi_nics_order(distances, count, ranks_before(), order);
    for (uint32_t i = 0; i < count && taken < most; i++)
        if (fits(devices[order[i]], rails, taken))
            rails[taken++] = devices[order[i]];
    return taken ? taken : 1; /* all are down: the first, which says why it does not work */
}

/* Sets *ret_choice to copies of the entries of the rails. */
static int copy(struct fi_info *const rails[], uint32_t count, struct tern_ofi_choice *ret_choice)
{
    struct tern_ofi_choice choice = {.count = count};
    for (uint32_t i = 0; i < count; i++) {
        choice.rails[i] = tern_ofi_library.dupinfo(rails[i]);
        if (!choice.rails[i]) {
            while (i--)
                tern_ofi_library.freeinfo(choice.rails[i]);
            return tern_error(TERN_ERR_NO_MEM, "no memory for libfabric");
        }
    }
    *ret_choice = choice;
    return 0;
}

static int choose(struct fi_info *list, const char *name, const char *devices,
                  struct tern_ofi_choice *ret_choice)
{
    struct fi_info *rails[TERN_OFI_RAILS];
    char word[NAME_ROOM] = "";
    const char *unknown = NULL;
    uint32_t count = 0;
    bool named = name && *name;
    for (int i = 0; i < (named ? 1 : BY_ITSELF) && !count && !unknown; i++) {
        const char *provider = named ? name_here(list, name) : by_itself[i];
        count = *devices ? take_named(list, provider, devices, rails, word, &unknown)
                         : take_all(list, provider, rails);
        if (!named)
            unknown = NULL; /* another provider may have it */
    }
    if (count)
        return copy(rails, count, ret_choice);
    if (named)
        return explain(list, name_here(list, name), unknown ? unknown : "");
    char names[LIST_ROOM];
    list_names(list, NULL, names);
    return tern_error(TERN_ERR_UNSUPPORTED,
                      "libfabric offers no provider for the network devices of this host; it "
                      "offers %s, one of which can be named in btl_ofi_provider",
                      *names ? names : "none");
}

/* Limits what ofi_rxm allocates above tcp: for each endpoint 4096 buffers of 16 KiB, 64 MiB, for
 * messages that arrive from any peer. Above verbs it has fewer, for each peer. A variable that the
 * user has set stays. Call it before libfabric's first getinfo. */
static void limit_buffers(const char *provider)
{
    if (provider && strcmp(provider, "tcp;ofi_rxm") == 0)
        setenv("FI_OFI_RXM_MSG_RX_SIZE", "512", 0);
}

int tern_ofi_provider_choose(struct tern_ofi_choice *ret_choice)
{
    const char *name = tern_param_string("btl_ofi_provider");
    const char *device = tern_param_string("btl_ofi_device");
    struct fi_info *list = NULL;
    limit_buffers(name);
    int rc = tern_ofi_library_load();
    if (rc)
        return rc;
    int error = ask(FI_MSG | FI_RMA | FI_MULTI_RECV, &list);
    bool multi = !error;
    rc = error ? TERN_ERR_UNSUPPORTED : choose(list, name, device ? device : "", ret_choice);
    if (multi)
        tern_ofi_library.freeinfo(list);
    if (rc) { /* providers without FI_MULTI_RECV */
        error = ask(FI_MSG | FI_RMA, &list);
        if (error)
            list = NULL;
        rc = choose(list, name, device ? device : "", ret_choice);
        if (list)
            tern_ofi_library.freeinfo(list);
    }
    return rc;
}

/* Returns why a provider is not the chosen one. */
static const char *why_not(const struct fi_info *able, const char *name, const char *wanted)
{
    if (!has(able, name))
        return lacks;
    if (wanted && *wanted)
        return strcmp(name, name_here(able, wanted)) == 0 ? "cannot be used; the last line says why"
                                                          : "btl_ofi_provider names another one";
    for (int i = 0; i < BY_ITSELF; i++)
        if (strcmp(name, by_itself[i]) == 0)
            return "a better one is there, or the last line says why";
    return "only used if btl_ofi_provider names it, because shared memory and tcp of this library "
           "are faster";
}

void tern_ofi_provider_show(const struct fi_info *chosen, const char *used)
{
    const char *wanted = tern_param_string("btl_ofi_provider");
    struct fi_info *able = NULL, *all = ask_all();
    char devices[LIST_ROOM];
    if (ask(FI_MSG | FI_RMA, &able))
        able = NULL;
    for (const struct fi_info *info = all; info; info = info->next) {
        const char *name = name_of(info);
        const struct fi_info *first = all;
        while (strcmp(name_of(first), name) != 0)
            first = first->next;
        if (first != info) /* it has been shown */
            continue;
        list_names(all, name, devices);
        if (chosen && strcmp(name_of(chosen), name) == 0)
            tern_log("fabric: provider %s (%s): chosen, with device %s", name, devices, used);
        else
            tern_log("fabric: provider %s (%s): not chosen: %s", name, devices,
                     why_not(able, name, wanted));
    }
    if (!all)
        tern_log("fabric: libfabric offers no provider");
    if (all)
        tern_ofi_library.freeinfo(all);
    if (able)
        tern_ofi_library.freeinfo(able);
}
