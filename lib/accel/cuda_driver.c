/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/cuda_driver.h"

#include "lib/accel/accel.h"
#include "lib/util/base/log.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>

static const struct tern_cu_driver *found; /* atomic */
static unsigned long long looked_at;       /* libraries loaded so far at the last look; atomic */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* Reads how many libraries were ever loaded, from the first entry of the list. */
static int read_loads(struct dl_phdr_info *info, size_t size, void *ret_loads)
{
    (void)size;
    *(unsigned long long *)ret_loads = info->dlpi_adds;
    return 1;
}

static bool bind(struct tern_cu_driver *driver)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
#define TERN_CU_BIND(member, symbol, arguments)                                                    \
    *(void **)&driver->member = dlsym(library, #symbol);                                           \
    if (!driver->member) {                                                                         \
        tern_log("the CUDA driver (libcuda.so.1) of this program lacks " #symbol                   \
                 ": buffers in device memory cannot be used; a driver for CUDA 11 or later has "   \
                 "it");                                                                            \
        return false; /* the library stays: nobody may unload it under the program */              \
    }
    TERN_CU_CALLS(TERN_CU_BIND)
#undef TERN_CU_BIND
#define TERN_CU_BIND(member, symbol, arguments)                                                    \
    *(void **)&driver->member = dlsym(library, #symbol);
    TERN_CU_NEW_CALLS(TERN_CU_BIND)
#undef TERN_CU_BIND
    return true;
}

bool tern_accel_has_driver(void)
{
    return __atomic_load_n(&found, __ATOMIC_ACQUIRE) != NULL;
}

const struct tern_cu_driver *tern_cu_driver(void)
{
    static struct tern_cu_driver driver;
    unsigned long long loads = 0;
    const struct tern_cu_driver *now = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (now)
        return now;
    dl_iterate_phdr(read_loads, &loads);
    if (loads == __atomic_load_n(&looked_at, __ATOMIC_RELAXED))
        return NULL;
    pthread_mutex_lock(&gate);
    if (!found && bind(&driver))
        __atomic_store_n(&found, &driver, __ATOMIC_RELEASE);
    __atomic_store_n(&looked_at, loads, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&gate);
    return found;
}
