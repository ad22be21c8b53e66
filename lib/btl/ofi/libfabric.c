/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/libfabric.h"

#include "lib/util/error.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>

struct tern_ofi_library tern_ofi_library;

static const char file[] = "libfabric.so.1";

static void *opened;

static bool find(const char *name, void *ret_function)
{
    return (*(void **)ret_function = dlsym(opened, name)) != NULL;
}

int tern_ofi_library_load(void)
{
    struct tern_ofi_library *library = &tern_ofi_library;
    if (opened)
        return 0;
    /* libfabric watches the program's memory for its own cache of registrations, by patching code
     * or by handling page faults. Ours needs neither. A variable that the user has set stays. */
    setenv("FI_MR_CACHE_MONITOR", "disabled", 0);
    opened = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!opened)
        return tern_error(TERN_ERR_OTHER,
                          "cannot load libfabric: %s; install it on this host (Debian: "
                          "libfabric1), or name its directory in LD_LIBRARY_PATH",
                          dlerror());
    if (find("fi_version", &library->version) && find("fi_getinfo", &library->getinfo) &&
        find("fi_freeinfo", &library->freeinfo) && find("fi_dupinfo", &library->dupinfo) &&
        find("fi_fabric", &library->fabric) && find("fi_strerror", &library->strerror) &&
        library->version() >= TERN_OFI_VERSION)
        return 0;
    uint32_t version = library->version ? library->version() : 0;
    dlclose(opened);
    opened = NULL;
    return tern_error(TERN_ERR_OTHER,
                      "%s has interface version %u.%u; 1.17 or later is needed", file,
                      FI_MAJOR(version), FI_MINOR(version));
}

const char *tern_ofi_library_file(void)
{
    Dl_info info;
    return dladdr(*(void **)&tern_ofi_library.getinfo, &info) && info.dli_fname ? info.dli_fname
                                                                                : file;
}

const char *tern_ofi_error(long code)
{
    return tern_ofi_library.strerror((int)(code < 0 ? -code : code));
}
