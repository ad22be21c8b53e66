/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The provider strict (strict.h): device memory. The card that it plays reaches such memory by a window, which the tests' CUDA
 * driver shows it (test/device/fake_dmabuf.c), so bytes move without a call of the program's driver, as they do with GPUDirect.
 */
#include "strict.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* Of struct fi_mr_dmabuf of later headers than 1.17. */
struct descriptor {
    int fd;
    uint64_t offset;
    size_t length;
    void *base;
};

enum { MEMORY_TYPE = 2, BUFFER_ID = 7, ON_DEVICE = 2, SMALL = 8 << 20 };

/* The driver of this process, if it has loaded it. */
static struct {
    void *(*window)(const void *address, size_t bytes, int *ret_device, uint64_t *ret_id);
    bool (*descriptor)(int fd, uint64_t *ret_address, size_t *ret_bytes);
    long (*calls)(const char *name);
    int (*attributes)(unsigned count, int *attributes, void **values, uint64_t address);
} driver;

static bool find_driver(void)
{
    if (driver.attributes)
        return true;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return false;
    *(void **)&driver.window = dlsym(library, "fake_cuda_window");
    *(void **)&driver.descriptor = dlsym(library, "fake_cuda_descriptor");
    *(void **)&driver.calls = dlsym(library, "fake_cuda_calls");
    *(void **)&driver.attributes = dlsym(library, "cuPointerGetAttributes");
    if (!driver.window || !driver.descriptor || !driver.calls || !driver.attributes)
        strict_broken("the CUDA driver of this process is not that of the tests");
    return true;
}

static const char *wish(void)
{
    const char *text = getenv("STRICT_HMEM");
    return text ? text : "";
}

bool strict_offers_devices(void)
{
    return *wish() != 0;
}

/* Returns the number of the allocation; 0: the address is in host memory. */
static uint64_t device_id(const void *address)
{
    int wanted[] = {MEMORY_TYPE, BUFFER_ID};
    unsigned type = 0;
    uint64_t id = 0;
    void *values[] = {&type, &id};
    if (!find_driver() || driver.attributes(2, wanted, values, (uintptr_t)address))
        return 0;
    return type == ON_DEVICE ? id : 0;
}

void strict_check_host(const void *buffer, const char *call)
{
    if (device_id(buffer))
        strict_broken("%s: %p is in device memory, which is not registered as such", call, buffer);
}

void strict_check_device(const struct strict_mr *mr, const void *buffer, const char *call)
{
    if (!mr->window)
        strict_check_host(buffer, call);
    else if (device_id(mr->start) != mr->device_id)
        strict_broken("%s: the device memory of the registration was freed since it was registered", call);
}

void strict_note_step(uint64_t *count)
{
    static long begun[2]; /* atomic */
    long *before = &begun[count == &strict_counts.steps_in];
    long now = find_driver() ? driver.calls("cuMemcpyAsync") : 0;
    if (__atomic_exchange_n(before, now, __ATOMIC_RELAXED) != now)
        __atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}

/* Finds the addresses of a descriptor's memory. */
static bool read_descriptor(const struct descriptor *descriptor, char **ret_start, size_t *ret_length)
{
    uint64_t address;
    size_t bytes;
    if (!driver.descriptor(descriptor->fd, &address, &bytes))
        strict_broken("fi_mr_regattr: no descriptor of device memory");
    if (descriptor->offset + descriptor->length > bytes || (uintptr_t)descriptor->base != address)
        strict_broken("fi_mr_regattr: the descriptor has %zu bytes at %#llx, not %zu bytes at offset %llu of %p", bytes,
                      (unsigned long long)address, descriptor->length, (unsigned long long)descriptor->offset, descriptor->base);
    *ret_start = (char *)descriptor->base + descriptor->offset;
    *ret_length = descriptor->length;
    return true;
}

static int refused(int error)
{
    STRICT_COUNT(device_refused);
    return error;
}

int strict_find_device(const struct fi_mr_attr *attr, uint64_t flags, char **ret_start, size_t *ret_length, char **ret_window,
                       uint64_t *ret_id)
{
    const uint64_t by_descriptor = 1ull << 40;
    int device;
    if (attr->iface != FI_HMEM_CUDA)
        strict_broken("fi_mr_regattr: iface %d; host memory is registered by fi_mr_reg here", attr->iface);
    if (!find_driver())
        strict_broken("fi_mr_regattr: FI_HMEM_CUDA, but this process has not loaded the driver");
    if (flags & ~by_descriptor)
        strict_broken("fi_mr_regattr: flags %#llx", (unsigned long long)flags);
    if (strcmp(wish(), "refuses") == 0 || (strcmp(wish(), "dmabuf") == 0 && !flags))
        return refused(-FI_ENOSYS);
    if (flags) {
        read_descriptor((const struct descriptor *)(const void *)attr->mr_iov, ret_start, ret_length);
    } else {
        *ret_start = attr->mr_iov->iov_base;
        *ret_length = attr->mr_iov->iov_len;
    }
    if (!device_id(*ret_start))
        strict_broken("fi_mr_regattr: %p is not in device memory", (void *)*ret_start);
    if (strcmp(wish(), "small") == 0 && *ret_length > SMALL)
        return refused(-FI_ENOMEM);
    *ret_window = driver.window(*ret_start, *ret_length, &device, ret_id);
    if (!*ret_window)
        return refused(-FI_EINVAL);
    if (device != attr->device.cuda)
        strict_broken("fi_mr_regattr: device %d; the memory is on device %d", attr->device.cuda, device);
    return 0;
}
