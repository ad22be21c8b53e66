/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A provider says that it knows device memory only if it is asked for FI_HMEM. So the devices are
 * chosen without that, as for host memory, and then the provider is asked once more. The
 * second answer must have the same kinds of addresses and keys as the first one, because ranks with
 * a GPU exchange them with ranks without one.
 */
#include "lib/btl/ofi/fabric/device_choice.h"

#include "lib/accel/accel.h"
#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/provider.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char why_not[300] = "no fabric is open";
static bool refused; /* atomic */

static bool refuse(const char *why)
{
    snprintf(why_not, sizeof why_not, "%s", why);
    return false;
}

const char *tern_ofi_devices_why_not(void)
{
    return why_not;
}

void tern_ofi_devices_failed(const char *why)
{
    refuse(why);
}

void tern_ofi_devices_refused(int error)
{
    enum { NO_ROOM_MOST = 8 };
    static int no_room; /* atomic */
    char text[900];
    if (error == TERN_ERR_NO_MEM &&
        __atomic_add_fetch(&no_room, 1, __ATOMIC_RELAXED) < NO_ROOM_MOST)
        return;
    if (__atomic_exchange_n(&refused, true, __ATOMIC_RELAXED))
        return;
    snprintf(text, sizeof text,
             "messages between device memory of different hosts go through the hosts' memory, "
             "which is slower: %.700s",
             tern_error_text(error));
    tern_rte_remark(TERN_REMARK_HMEM, text);
}

bool tern_ofi_devices_are_refused(void)
{
    return __atomic_load_n(&refused, __ATOMIC_RELAXED);
}

void tern_ofi_choice_free(struct tern_ofi_choice *choice)
{
    for (uint32_t i = 0; i < choice->count; i++)
        tern_ofi_library.freeinfo(choice->rails[i]);
    choice->count = 0;
}

/* Returns true if device memory may be given to the provider. Providers that move bytes by sockets
 * would copy them to the host themselves, one piece after the other. */
static bool is_wanted(const struct fi_info *info)
{
    const char *wish = tern_param_string("btl_ofi_hmem");
    if (!tern_accel_watched)
        return refuse("the program has not loaded the CUDA driver, and this host has no NVIDIA "
                      "device");
    if (strcmp(wish, "never") == 0)
        return refuse("the parameter btl_ofi_hmem says so");
    if (strcmp(wish, "auto") == 0 && !tern_ofi_provider_is_hardware(info))
        return refuse("this provider moves bytes by the processor");
    return true;
}

static bool is_same(const char *one, const char *other)
{
    return strcmp(one ? one : "", other ? other : "") == 0;
}

/* Returns true if `other` is the same device of the same provider, with the same address. */
static bool is_same_device(const struct fi_info *info, const struct fi_info *other)
{
    return is_same(info->fabric_attr->prov_name, other->fabric_attr->prov_name) &&
           is_same(info->fabric_attr->name, other->fabric_attr->name) &&
           is_same(info->domain_attr->name, other->domain_attr->name) &&
           info->ep_attr->protocol == other->ep_attr->protocol &&
           info->addr_format == other->addr_format &&
           info->src_addrlen == other->src_addrlen &&
           (!info->src_addrlen ||
            memcmp(info->src_addr, other->src_addr, info->src_addrlen) == 0);
}

/* Returns true if keys and addresses mean the same with both entries. */
static bool is_same_key(const struct fi_info *info, const struct fi_info *other)
{
    const int both = FI_MR_VIRT_ADDR | FI_MR_RAW;
    return (info->domain_attr->mr_mode & both) == (other->domain_attr->mr_mode & both) &&
           info->domain_attr->mr_key_size == other->domain_attr->mr_key_size;
}

/* Asks for the entry with FI_HMEM. Returns a copy of it, or NULL with the reason. */
static struct fi_info *ask(const struct fi_info *info)
{
    struct fi_info *list = NULL, *found = NULL;
    uint64_t caps = FI_MSG | FI_RMA | FI_HMEM | (info->caps & FI_MULTI_RECV);
    struct fi_info *hints = tern_ofi_provider_hints(caps);
    if (!hints)
        return NULL;
    hints->domain_attr->mr_mode |= FI_MR_HMEM;
    hints->fabric_attr->prov_name = strdup(info->fabric_attr->prov_name);
    int error = tern_ofi_library.getinfo(TERN_OFI_VERSION, NULL, NULL, 0, hints, &list);
    tern_ofi_library.freeinfo(hints);
    refuse("the provider does not offer it (FI_HMEM); libfabric must have been built with CUDA");
    for (struct fi_info *at = error ? NULL : list; at && !found; at = at->next) {
        if (!is_same_device(info, at) || !(at->caps & FI_HMEM))
            continue;
        if (is_same_key(info, at))
            found = tern_ofi_library.dupinfo(at);
        else
            refuse("the provider names memory in another way with FI_HMEM");
    }
    if (!error)
        tern_ofi_library.freeinfo(list);
    return found;
}

bool tern_ofi_choose_devices(struct tern_ofi_choice *choice, struct tern_ofi_choice *ret_before)
{
    struct tern_ofi_choice with = {0};
    if (!is_wanted(choice->rails[0]))
        return false;
    for (uint32_t i = 0; i < choice->count; i++) {
        struct fi_info *info = ask(choice->rails[i]);
        if (!info) {
            tern_ofi_choice_free(&with);
            return false;
        }
        with.rails[with.count++] = info;
    }
    *ret_before = *choice;
    *choice = with;
    return true;
}
