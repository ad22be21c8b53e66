/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * What other hardware reaches of device memory. A network card of the tests (test/ofi) asks for the
 * place of some bytes, as the kernel's driver of a card asks the CUDA driver for pages; or it has a
 * descriptor of them (DMA-BUF), which here is a file that names the addresses.
 */
#define _GNU_SOURCE
#include "fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct descriptor {
    uint64_t magic, address, bytes, id;
};
static const uint64_t magic = 0x66616b65646d61;

/* Returns the allocation that holds all of these bytes, if other hardware may reach it; NULL: none.
 * It reaches neither managed memory nor that of pools. */
static const struct fake_allocation *find_reached(const void *address, size_t bytes)
{
    const struct fake_allocation *allocation = fake_find(address);
    bool kind = allocation &&
                (allocation->kind == FAKE_PLAIN || allocation->kind == FAKE_VIRTUAL);
    return kind && fake_reach(address, bytes) ? allocation : NULL;
}

/* Returns the address at which a network card reads and writes the bytes; NULL if it cannot reach them. Sets *ret_device and *ret_id. */
API void *fake_cuda_window(const void *address, size_t bytes, int *ret_device, uint64_t *ret_id)
{
    const struct fake_allocation *allocation = find_reached(address, bytes);
    if (!allocation)
        return NULL;
    *ret_device = allocation->device;
    *ret_id = allocation->id;
    return fake_reach(address, bytes);
}

/* Reads which addresses a descriptor names. Returns false if it is none, or their memory was
 * freed. */
API bool fake_cuda_descriptor(int fd, uint64_t *ret_address, size_t *ret_bytes)
{
    struct descriptor it;
    if (pread(fd, &it, sizeof it, 0) != sizeof it || it.magic != magic)
        return false;
    const struct fake_allocation *allocation = fake_find((void *)(uintptr_t)it.address);
    if (!allocation || allocation->id != it.id)
        return false;
    *ret_address = it.address;
    *ret_bytes = it.bytes;
    return true;
}

API int cuMemGetHandleForAddressRange(void *ret_handle, tern_cu_addr address, size_t bytes,
                                      int type, unsigned long long flags)
{
    enum { PAGE = 4096, DMABUF = 1 };
    const char *wish = getenv("FAKE_CUDA_DMABUF");
    const struct fake_allocation *allocation = find_reached((void *)(uintptr_t)address, 1);
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (wish && strcmp(wish, "none") == 0)
        return FAKE_NOT_SUPPORTED;
    if (!allocation || type != DMABUF || flags || !bytes || address % PAGE || bytes % PAGE ||
        address + bytes > (uintptr_t)fake_arena +
                              (allocation->first + allocation->granules) * FAKE_GRANULE)
        return TERN_CU_INVALID_VALUE;
    struct descriptor it = {magic, address, bytes, allocation->id};
    int fd = memfd_create("fake_dmabuf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, &it, sizeof it) != sizeof it)
        fake_die("fake_cuda: no file for a descriptor\n");
    *(int *)ret_handle = fd;
    return 0;
}
