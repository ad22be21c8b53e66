/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/libfabric.h"

#include "lib/util/base/error.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>

struct tern_ofi_library tern_ofi_library;

static const char file[] = "libfabric.so.1";

static void *opened;

static bool find(const char *name, void *ret_function)
{
    return (*(void **)ret_function = dlsym(opened, name)) != NULL;
}

/* ---- signals ---- */

/* Libraries that libfabric loads (libpsm2, libpsm_infinipath) install handlers for SIGSEGV,
 * SIGABRT, SIGTERM and others as soon as they are loaded. Those print a backtrace and call exit(1).
 * Then the program's own handlers, our report of a crash, its core file and its exit status are
 * lost. So what was installed before is put back. */
struct dispositions {
    struct sigaction of[NSIG];
    bool known[NSIG];
};

static void note_dispositions(struct dispositions *ret)
{
    for (int i = 1; i < NSIG; i++)
        ret->known[i] = sigaction(i, NULL, &ret->of[i]) == 0;
}

static void restore_dispositions(const struct dispositions *before)
{
    struct sigaction now;
    for (int i = 1; i < NSIG; i++)
        if (before->known[i] && sigaction(i, NULL, &now) == 0 &&
            now.sa_sigaction != before->of[i].sa_sigaction)
            sigaction(i, &before->of[i], NULL);
}

static int (*real_getinfo)(uint32_t, const char *, const char *, uint64_t, const struct fi_info *,
                           struct fi_info **);

/* Calls fi_getinfo, which loads providers when it is called first. */
static int getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **ret_info)
{
    struct dispositions before;
    note_dispositions(&before);
    int error = real_getinfo(version, node, service, flags, hints, ret_info);
    restore_dispositions(&before);
    return error;
}

/* ---- the library ---- */

static void *open_library(void)
{
    struct dispositions before;
    note_dispositions(&before);
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    restore_dispositions(&before);
    return library;
}

int tern_ofi_library_load(void)
{
    struct tern_ofi_library *library = &tern_ofi_library;
    if (opened)
        return 0;
    /* libfabric watches the program's memory for its own cache of registrations, by patching code
     * or by handling page faults. Ours needs neither. A variable that the user has set stays. */
    setenv("FI_MR_CACHE_MONITOR", "disabled", 0);
    opened = open_library();
    if (!opened)
        return tern_error(TERN_ERR_OTHER,
                          "cannot load libfabric: %s; install it on this host (Debian: "
                          "libfabric1), or name its directory in LD_LIBRARY_PATH",
                          dlerror());
    if (find("fi_version", &library->version) && find("fi_getinfo", &real_getinfo) &&
        find("fi_freeinfo", &library->freeinfo) && find("fi_dupinfo", &library->dupinfo) &&
        find("fi_fabric", &library->fabric) && find("fi_strerror", &library->strerror) &&
        library->version() >= TERN_OFI_VERSION) {
        library->getinfo = getinfo;
        return 0;
    }
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
    return dladdr(*(void **)&real_getinfo, &info) && info.dli_fname ? info.dli_fname
                                                                                : file;
}

const char *tern_ofi_error(long code)
{
    return tern_ofi_library.strerror((int)(code < 0 ? -code : code));
}
