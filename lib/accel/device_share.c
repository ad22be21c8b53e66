/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_share.h"

#include "lib/accel/device_context.h"
#include "lib/util/base/error.h"

#include <string.h>

_Static_assert((int)TERN_ACCEL_HANDLE == (int)sizeof(struct tern_cu_ipc_handle), "a handle");

/* Records that something cannot be shared, with the cure that fits the driver's answer. */
static int unsupported(const struct tern_cu_driver *driver, const char *what, int result,
                       const char *cure)
{
    const char *name = NULL;
    driver->error_name(result, &name);
    return tern_error(TERN_ERR_UNSUPPORTED, "%s (%s): %s", what, name ? name : "unknown error",
                      result == TERN_CU_NOT_SUPPORTED
                          ? "this driver has no CUDA IPC, as in WSL, on Tegra, or on a virtual GPU"
                          : cure);
}

int tern_accel_share(const void *address, const struct tern_accel_place *place,
                     struct tern_accel_shared *ret_shared)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    struct tern_cu_ipc_handle handle;
    tern_cu_addr base;
    size_t bytes;
    int result = tern_cu_enter(driver, place, &entry);
    if (result)
        return tern_cu_say(driver, "find the context of a buffer", result);
    result = driver->address_range(&base, &bytes, (uintptr_t)address);
    if (!result)
        result = driver->ipc_get(&handle, base);
    tern_cu_leave(driver, &entry);
    if (result)
        return unsupported(driver, "the CUDA driver makes no handle of a buffer", result,
                           "it shares only memory of cuMemAlloc and cudaMalloc, not of pools "
                           "(cudaMallocAsync), of cuMemCreate, nor managed memory");
    struct tern_accel_shared shared = {.base = base, .bytes = bytes, .id = place->id};
    memcpy(shared.handle, &handle, sizeof handle);
    *ret_shared = shared;
    return 0;
}

bool tern_accel_lives(uint64_t base, uint64_t id)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_place place;
    return driver && tern_cu_find_place(driver, (void *)(uintptr_t)base, &place) && place.id == id;
}

bool tern_accel_current(struct tern_accel_place *ret_place)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    tern_cu_context context = NULL;
    if (!driver || driver->context_current(&context) || !context)
        return false;
    /* no buffer of this context was met, perhaps, since another one had its address */
    tern_cu_forget_earlier(driver, &(struct tern_accel_entry){.context = context});
    *ret_place = (struct tern_accel_place){.context = context, .device = -1};
    return true;
}

int tern_accel_open(const struct tern_accel_shared *shared, const struct tern_accel_place *place,
                    struct tern_accel_opened *ret_opened)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    struct tern_cu_ipc_handle handle;
    struct tern_accel_opened opened = {0};
    tern_cu_addr base = 0;
    memcpy(&handle, shared->handle, sizeof handle);
    int result = tern_cu_enter(driver, place, &entry);
    if (result)
        return tern_cu_say(driver, "find the context of a buffer", result);
    result = driver->ipc_open(&base, handle, TERN_CU_IPC_LAZY_PEER_ACCESS);
    opened.base = (char *)(uintptr_t)base;
    if (!result && !tern_cu_find_place(driver, opened.base, &opened.place)) {
        driver->ipc_close(base);
        result = TERN_CU_INVALID_VALUE;
    }
    opened.place.context = entry.context;
    opened.place.device = place->device;
    tern_cu_leave(driver, &entry);
    if (result == TERN_CU_ALREADY_MAPPED)
        return TERN_ERR_AGAIN;
    if (result == TERN_CU_PEER_ACCESS_UNSUPPORTED)
        return unsupported(driver, "the CUDA driver opens no handle of another rank", result,
                           "the two devices do not reach each other's memory; `nvidia-smi topo "
                           "-p2p r` shows which do, so place such ranks together");
    if (result)
        return unsupported(driver, "the CUDA driver opens no handle of another rank", result,
                           "the ranks must see the same whole devices: no parts of a MIG device, "
                           "and one container, or containers that share the IPC namespace");
    *ret_opened = opened;
    return 0;
}

void tern_accel_close(struct tern_accel_opened *opened)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    struct tern_accel_entry entry;
    /* it went with its context, which must not be entered then */
    if (opened->base && tern_accel_is_open(opened) &&
        tern_cu_enter(driver, &opened->place, &entry) == 0) {
        driver->ipc_close((uintptr_t)opened->base);
        tern_cu_leave(driver, &entry);
    }
    opened->base = NULL;
}
