/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Handles of memory that other processes open. A handle names the process, its file, and the place
 * in it. Who opens it takes the file from that process (pidfd_getfd), and maps the place over
 * addresses of its own arena. Whether the memory was freed stands in the file.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd /* headers before Linux 5.6 */
#define SYS_pidfd_getfd 438
#endif

struct handle {
    uint32_t magic;
    int32_t pid;
    int32_t file, device; /* device: physical */
    uint64_t started;     /* by the process, as the kernel says */
    uint64_t offset, bytes, id;
    uint32_t number;
};
_Static_assert(sizeof(struct handle) <= sizeof(struct tern_cu_ipc_handle), "a handle has 64 bytes");
enum { MAGIC = 0xfa4ec0da };
static const char opened[] = "handles opened"; /* counted like a call */

/* A handle that is open here. */
struct fake_import {
    struct handle handle;
    struct CUctx_st *context;
    struct fake_shared *shared; /* of the process that owns the memory */
    int references;
};

int fake_device_of(const void *address)
{
    const struct fake_allocation *allocation = fake_in_arena(address) ? fake_find(address) : NULL;
    if (!allocation)
        return -1;
    return allocation->import ? allocation->import->handle.device
                              : fake_physical(allocation->device);
}

/* Returns when a process was started; 0: there is none. */
static uint64_t start_of(int pid)
{
    char path[32], text[1024] = "";
    unsigned long long started = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[length] = 0;
    char *at = strrchr(text, ')'); /* behind the name: field 3; the start is field 22 */
    for (int field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    if (at)
        sscanf(at, "%llu", &started);
    return started;
}

API int cuIpcGetMemHandle(struct tern_cu_ipc_handle *ret_handle, tern_cu_addr address)
{
    int rc = fake_usable(__func__);
    const char *wish = getenv("FAKE_CUDA_IPC");
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    if (rc)
        return rc;
    if (wish && strcmp(wish, "none") == 0)
        return FAKE_NOT_SUPPORTED;
    if (!allocation || allocation->kind != FAKE_PLAIN) /* pools, VMM and managed memory have none */
        return TERN_CU_INVALID_VALUE;
    struct handle handle = {.magic = MAGIC,
                            .pid = getpid(),
                            .file = fake_file,
                            .device = fake_physical(allocation->device),
                            .started = start_of(getpid()),
                            .offset = allocation->first * FAKE_GRANULE,
                            .bytes = allocation->bytes,
                            .id = allocation->id,
                            .number = fake_number(allocation)};
    prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* else Yama may forbid pidfd_getfd */
    memset(ret_handle, 0, sizeof *ret_handle);
    memcpy(ret_handle, &handle, sizeof handle);
    return 0;
}

/* What was found among the handles that are open. */
static struct {
    const struct handle *wanted;
    struct fake_allocation *same;
    bool overlaps;
    bool elsewhere; /* memory of that device of that process is open in another context of this device */
} look;

static void compare(struct fake_allocation *allocation)
{
    const struct handle *wanted = look.wanted,
                        *open = allocation->import ? &allocation->import->handle : NULL;
    if (!open || open->pid != wanted->pid || open->started != wanted->started)
        return;
    if (open->device == wanted->device && allocation->context != fake_current() &&
        allocation->device == fake_current()->device)
        look.elsewhere = true;
    if (open->id == wanted->id)
        look.same = allocation;
    else if (open->offset < wanted->offset + wanted->bytes &&
             wanted->offset < open->offset + open->bytes)
        look.overlaps = true;
}

static int take_file(const struct handle *handle)
{
    int process = (int)syscall(SYS_pidfd_open, handle->pid, 0);
    int file = process < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, process, handle->file, 0);
    if (process >= 0)
        close(process);
    return file;
}

static void cover(void *at, int protection, size_t bytes, int file, size_t offset)
{
    if (mmap(at, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, (off_t)offset) ==
        MAP_FAILED)
        fake_die("fake_cuda: cannot map a handle's memory\n");
}

/* Maps the memory of a handle. Returns its address; NULL: it was freed, or its process is gone. */
static void *map(const struct handle *handle, struct CUctx_st *context)
{
    int file = start_of(handle->pid) == handle->started ? take_file(handle) : -1;
    struct fake_import *import = file < 0 ? NULL : calloc(1, sizeof *import);
    struct fake_shared *shared =
        import ? mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, file,
                      (off_t)fake_arena_bytes)
               : MAP_FAILED;
    void *at = NULL;
    size_t bytes = (handle->bytes + FAKE_GRANULE - 1) & -(size_t)FAKE_GRANULE;
    if (shared != MAP_FAILED && shared->id[handle->number] == handle->id)
        at = fake_take(handle->bytes, (struct fake_allocation){.device = context->device,
                                                               .kind = FAKE_IMPORT,
                                                               .context = context,
                                                               .import = import});
    if (at) {
        *import = (struct fake_import){*handle, context, shared, 1};
        __atomic_fetch_add(&shared->opens[handle->number], 1, __ATOMIC_RELAXED);
        cover(at, PROT_NONE, bytes, file, handle->offset);
        cover(fake_shadow + ((char *)at - fake_arena), PROT_READ | PROT_WRITE, bytes, file,
              handle->offset);
    } else {
        free(import);
        if (shared != MAP_FAILED)
            munmap(shared, sizeof *shared);
    }
    if (file >= 0)
        close(file);
    return at;
}

/* Opens a handle, or once more one that is open. The gate is closed. */
static int open_handle(const struct handle *handle, tern_cu_addr *ret_address)
{
    look.wanted = handle;
    look.same = NULL;
    look.overlaps = look.elsewhere = false;
    fake_each(compare);
    if (look.elsewhere)
        return TERN_CU_INVALID_HANDLE;
    if (look.same && look.same->context == fake_current()) {
        look.same->import->references++;
        *ret_address = (uintptr_t)(fake_arena + look.same->first * FAKE_GRANULE);
        return 0;
    }
    if (look.same || look.overlaps)
        return FAKE_ALREADY_MAPPED;
    void *at = map(handle, fake_current());
    *ret_address = (uintptr_t)at;
    return at ? 0 : TERN_CU_INVALID_VALUE;
}

API int cuIpcOpenMemHandle_v2(tern_cu_addr *ret_address, struct tern_cu_ipc_handle bytes,
                              unsigned flags)
{
    int rc = fake_usable(__func__);
    const char *wish = getenv("FAKE_CUDA_IPC");
    struct handle handle;
    memcpy(&handle, &bytes, sizeof handle);
    if (rc)
        return rc;
    if (handle.magic != MAGIC || flags != 1)
        return TERN_CU_INVALID_VALUE;
    if (handle.pid == getpid())
        return TERN_CU_INVALID_CONTEXT;
    if (wish && strcmp(wish, "mig") == 0)
        return FAKE_INVALID_DEVICE;
    if (!fake_peers(fake_physical(fake_current()->device), handle.device))
        return FAKE_PEER_ACCESS_UNSUPPORTED;
    pthread_mutex_lock(&fake_gate);
    rc = open_handle(&handle, ret_address);
    pthread_mutex_unlock(&fake_gate);
    if (!rc)
        fake_count(opened);
    return rc;
}

void fake_end_import(struct fake_allocation *allocation)
{
    struct fake_import *import = allocation->import;
    size_t bytes = allocation->granules * FAKE_GRANULE, offset = allocation->first * FAKE_GRANULE;
    pthread_mutex_lock(&fake_gate); /* nobody gets the addresses before they are of our file again */
    fake_give(fake_arena + offset);
    cover(fake_arena + offset, PROT_NONE, bytes, fake_file, offset);
    cover(fake_shadow + offset, PROT_READ | PROT_WRITE, bytes, fake_file, offset);
    pthread_mutex_unlock(&fake_gate);
    __atomic_fetch_sub(&import->shared->opens[import->handle.number], 1, __ATOMIC_RELAXED);
    munmap(import->shared, sizeof *import->shared);
    free(import);
}

API int cuIpcCloseMemHandle(tern_cu_addr address)
{
    int rc = fake_usable(__func__);
    struct fake_allocation *allocation = fake_find((void *)(uintptr_t)address);
    if (rc || !allocation || !allocation->import)
        return rc ? rc : TERN_CU_INVALID_VALUE;
    pthread_mutex_lock(&fake_gate);
    if (--allocation->import->references == 0)
        fake_end_import(allocation);
    pthread_mutex_unlock(&fake_gate);
    return 0;
}

static void list(struct fake_allocation *allocation)
{
    if (allocation->import)
        fprintf(stderr, "fake_cuda: a handle of %zu bytes of process %d was not closed\n",
                allocation->bytes, allocation->import->handle.pid);
}

void fake_list_imports(void)
{
    fake_each(list);
}
