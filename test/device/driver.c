/* SPDX-License-Identifier: BSD-3-Clause */
/* The fake driver is as strict as the manual of the real one: what is not awaited has not happened, handles open in other
 * processes only, stale ones are refused, misuse fails. Links the fake driver; no MPI. With the argument `leak` it frees
 * nothing, and the driver says so. */
#include "lib/accel/cuda_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct tern_cu_ipc_handle handle;
int cuInit(unsigned), cuDeviceGetCount(int *), cuDevicePrimaryCtxRetain(tern_cu_context *, int);
int cuDevicePrimaryCtxRelease_v2(int), cuCtxSetCurrent(tern_cu_context), cuMemFree_v2(uint64_t);
int cuMemAlloc_v2(uint64_t *, size_t), cuMemAllocAsync(uint64_t *, size_t, tern_cu_stream);
int cuMemcpyHtoD_v2(uint64_t, const void *, size_t), cuMemcpyDtoH_v2(void *, uint64_t, size_t);
int cuMemcpyAsync(uint64_t, uint64_t, size_t, tern_cu_stream), cuStreamCreate(tern_cu_stream *, unsigned);
int cuStreamSynchronize(tern_cu_stream), cuStreamDestroy_v2(tern_cu_stream), cuStreamWaitEvent(tern_cu_stream, tern_cu_event, unsigned);
int cuEventCreate(tern_cu_event *, unsigned), cuEventRecord(tern_cu_event, tern_cu_stream), cuEventQuery(tern_cu_event);
int cuEventSynchronize(tern_cu_event), cuEventDestroy_v2(tern_cu_event);
int cuIpcGetMemHandle(handle *, uint64_t), cuIpcOpenMemHandle_v2(uint64_t *, handle, unsigned), cuIpcCloseMemHandle(uint64_t);
int cuMemGetAddressRange_v2(uint64_t *, size_t *, uint64_t), cuMemAllocHost_v2(void **, size_t), cuMemFreeHost(void *);
int cuMemAddressReserve(uint64_t *, size_t, size_t, uint64_t, uint64_t), cuMemCreate(uint64_t *, size_t, const void *, uint64_t);
int cuMemMap(uint64_t, size_t, size_t, uint64_t, uint64_t), cuMemSetAccess(uint64_t, size_t, const void *, size_t);
int cuMemUnmap(uint64_t, size_t), cuMemRelease(uint64_t), cuMemAddressFree(uint64_t, size_t);
int cuPointerGetAttributes(unsigned, int *, void **, uint64_t), cuPointerSetAttribute(const void *, int, uint64_t);
int cuStreamQuery(tern_cu_stream);
int cuMemHostAlloc(void **, size_t, unsigned), cuMemHostRegister_v2(void *, size_t, unsigned), cuMemHostUnregister(void *);
int cuMemGetHandleForAddressRange(void *, uint64_t, size_t, int, unsigned long long), cuDeviceGetPCIBusId(char *, int, int);
bool fake_cuda_descriptor(int, uint64_t *, size_t *);
void *fake_cuda_window(const void *, size_t, int *, uint64_t *);

enum { BYTES = 5000, NOT_READY = 600, ALREADY_MAPPED = 208, ILLEGAL_ADDRESS = 700, HUGE_PAGE = 2 << 20 };

static void expect(int result, int expected, const char *call, int line)
{
    if (result == expected)
        return;
    printf("FAILED driver.c:%d: %s returns %d, expected %d\n", line, call, result, expected);
    exit(1);
}
#define IS(call, expected) expect(call, expected, #call, __LINE__)
#define OK(call) IS(call, 0)

static tern_cu_context primary;

/* Copies from the host, which has ended when it returns. */
static int copy_in(uint64_t device, const void *from, size_t bytes)
{
    unsigned on = 1;
    cuPointerSetAttribute(&on, TERN_CU_ATTRIBUTE_SYNC_MEMOPS, device);
    return cuMemcpyHtoD_v2(device, from, bytes);
}

static void begin(void)
{
    IS(cuMemFree_v2(1), 1);
    OK(cuInit(0));
    uint64_t none;
    IS(cuMemAlloc_v2(&none, 8), 201); /* no context */
    OK(cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cuCtxSetCurrent(primary));
}

static int first_byte(uint64_t device)
{
    char byte;
    OK(cuMemcpyDtoH_v2(&byte, device, 1));
    return byte;
}

static void check_streams(void)
{
    uint64_t device;
    tern_cu_stream stream, other;
    tern_cu_event event;
    char ones[BYTES], back[BYTES] = "";
    memset(ones, 1, sizeof ones);
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(copy_in(device, back, BYTES));
    OK(cuStreamCreate(&stream, 1));
    OK(cuStreamCreate(&other, 1));
    OK(cuEventCreate(&event, 2));
    OK(cuEventQuery(event)); /* never recorded */
    OK(cuMemcpyAsync(device, (uintptr_t)ones, BYTES, stream));
    OK(cuEventRecord(event, stream));
    if (!getenv("FAKE_CUDA_DELAY_US")) {
        IS(cuEventQuery(event), NOT_READY);
        IS(first_byte(device), 0);
    }
    OK(cuStreamWaitEvent(other, event, 0));
    OK(cuMemcpyAsync((uintptr_t)back, device, BYTES, other));
    OK(cuStreamSynchronize(other));
    IS(memcmp(ones, back, BYTES), 0);
    OK(cuEventQuery(event));
    memset(ones, 2, sizeof ones);
    OK(cuMemcpyAsync(device, (uintptr_t)ones, BYTES, stream));
    OK(cuEventRecord(event, stream));
    int asked = 0;
    while (cuEventQuery(event) == NOT_READY)
        asked++;
    IS(asked > 1, 1);
    IS(first_byte(device), 2);
    IS(cuMemcpyAsync(device, (uintptr_t)ones, BYTES + 1, stream), 1); /* behind the end */
    OK(cuEventDestroy_v2(event));
    IS(cuEventQuery(event), 400);
    if (!getenv("FAKE_CUDA_DELAY_US")) { /* freed while a copy waits */
        OK(cuMemcpyAsync(device, (uintptr_t)ones, BYTES, stream));
        OK(cuMemFree_v2(device));
        IS(cuStreamSynchronize(stream), ILLEGAL_ADDRESS);
    } else {
        OK(cuMemFree_v2(device));
    }
    IS(cuMemFree_v2(device), 1);
    OK(cuStreamDestroy_v2(stream));
    OK(cuStreamDestroy_v2(other));
}

/* A short copy from the host may come later than the next operation of another stream. */
static void check_late_copies(void)
{
    uint64_t device;
    tern_cu_stream stream;
    char ones[BYTES], back[BYTES];
    memset(ones, 1, sizeof ones);
    if (getenv("FAKE_CUDA_DELAY_US"))
        return; /* then nobody knows */
    OK(cuStreamCreate(&stream, 1));
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(cuMemcpyHtoD_v2(device, ones, BYTES));
    OK(cuMemcpyAsync((uintptr_t)back, device, BYTES, stream));
    OK(cuStreamSynchronize(stream));
    IS(back[0] == 1, 0);
    IS(cuStreamQuery((tern_cu_stream)TERN_CU_STREAM_LEGACY), NOT_READY);
    IS(first_byte(device), 1);
    OK(cuStreamQuery((tern_cu_stream)TERN_CU_STREAM_LEGACY));
    OK(cuMemcpyHtoD_v2(device, ones, BYTES));
    OK(cuMemFree_v2(device)); /* waits for it */
    OK(cuStreamQuery((tern_cu_stream)TERN_CU_STREAM_LEGACY));
    OK(cuStreamDestroy_v2(stream));
}

static void check_virtual(void)
{
    struct {
        int type, handles, location, device;
    } properties = {1, 0, 1, 0}, access = {1, 0, 3, 0};
    uint64_t at, memory, none;
    handle no_handle;
    OK(cuMemAddressReserve(&at, HUGE_PAGE, 0, 0, 0));
    OK(cuMemCreate(&memory, HUGE_PAGE, &properties, 0));
    OK(cuMemMap(at, HUGE_PAGE, 0, memory, 0));
    IS(copy_in(at, &properties, 16), 1); /* no access yet */
    OK(cuMemSetAccess(at, HUGE_PAGE, &access, 1));
    OK(copy_in(at, &properties, 16));
    IS(cuIpcGetMemHandle(&no_handle, at), 1);
    OK(cuMemRelease(memory));
    OK(cuMemUnmap(at, HUGE_PAGE));
    IS(copy_in(at, &properties, 16), 1);
    OK(cuMemAddressFree(at, HUGE_PAGE));
    OK(cuMemAllocAsync(&none, 16, NULL));
    IS(cuIpcGetMemHandle(&no_handle, none), 1);
    OK(cuMemFree_v2(none));
    void *pinned;
    int attribute = TERN_CU_ATTRIBUTE_MEMORY_TYPE;
    unsigned type = 0;
    void *values[] = {&type};
    OK(cuMemAllocHost_v2(&pinned, 100));
    OK(cuPointerGetAttributes(1, &attribute, values, (uintptr_t)pinned));
    IS((int)type, TERN_CU_HOST);
    OK(cuMemFreeHost(pinned));
}

/* Pinned memory counts against the limit of locked memory: whole pages, registered or allocated. */
static void check_limit(void)
{
    enum { OUT_OF_MEMORY = 2, PAGE = 4096, PAGES = 4 };
    struct rlimit limit;
    void *one, *two;
    if (!getenv("FAKE_CUDA_PINNED"))
        return;
    char *memory = aligned_alloc(PAGE, PAGES * PAGE);
    OK(getrlimit(RLIMIT_MEMLOCK, &limit));
    limit.rlim_cur = PAGES * PAGE;
    OK(setrlimit(RLIMIT_MEMLOCK, &limit));
    OK(cuMemHostRegister_v2(memory, PAGES * PAGE, 1));
    IS(cuMemHostAlloc(&one, 1, 1), OUT_OF_MEMORY);
    OK(cuMemHostUnregister(memory));
    OK(cuMemHostAlloc(&one, 1, 1));
    OK(cuMemAllocHost_v2(&two, 1));
    IS(cuMemHostRegister_v2(memory + PAGE - 1, PAGE + 2, 1), OUT_OF_MEMORY); /* in three pages */
    OK(cuMemHostRegister_v2(memory + PAGE - 1, PAGE + 1, 1));
    OK(cuMemHostUnregister(memory + PAGE - 1));
    OK(cuMemFreeHost(one));
    OK(cuMemHostRegister_v2(memory + PAGE - 1, PAGE + 2, 1));
    OK(cuMemHostUnregister(memory + PAGE - 1));
    OK(cuMemFreeHost(two));
    free(memory);
}

/* What one process tells the other. */
struct note {
    handle handle;
    uint64_t bytes;
};

/* Opens handles that the parent makes, frees, and makes again at the same address. */
static void import(int in, int out)
{
    struct note note;
    uint64_t first, again, second, base;
    size_t size;
    begin();
    IS((int)read(in, &note, sizeof note), sizeof note);
    IS(cuIpcOpenMemHandle_v2(&first, note.handle, 0), 1); /* flags */
    OK(cuIpcOpenMemHandle_v2(&first, note.handle, 1));
    OK(cuIpcOpenMemHandle_v2(&again, note.handle, 1));
    IS(first == again, 1);
    OK(cuMemGetAddressRange_v2(&base, &size, first + 7));
    IS(base == first && size == note.bytes, 1);
    IS(first_byte(first), 'a');
    OK(copy_in(first + note.bytes - 1, "z", 1));
    OK(cuIpcCloseMemHandle(again));
    IS(first_byte(first), 'a');
    IS(cuMemFree_v2(first), 1); /* not ours */
    handle stale = note.handle;
    IS((int)write(out, "", 1), 1);
    IS((int)read(in, &note, sizeof note), sizeof note);
    IS(cuIpcOpenMemHandle_v2(&second, note.handle, 1), ALREADY_MAPPED);
    OK(cuIpcCloseMemHandle(first));
    IS(cuIpcCloseMemHandle(first), 1);
    IS(cuIpcOpenMemHandle_v2(&second, stale, 1), 1);
    OK(cuIpcOpenMemHandle_v2(&second, note.handle, 1));
    IS(first_byte(second), 'b');
    OK(cuIpcCloseMemHandle(second));
    OK(cuDevicePrimaryCtxRelease_v2(0));
    exit(0);
}

static uint64_t export(int to, const char *byte)
{
    struct note note = {.bytes = BYTES};
    uint64_t device, opened;
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(copy_in(device, byte, 1));
    OK(cuIpcGetMemHandle(&note.handle, device + 100)); /* of the whole allocation */
    IS(cuIpcOpenMemHandle_v2(&opened, note.handle, 1), 201); /* in the process that made it */
    IS((int)write(to, &note, sizeof note), sizeof note);
    return device;
}

static void check_handles(int in, int out, pid_t child)
{
    char byte;
    int status;
    uint64_t first = export(out, "a");
    IS((int)read(in, &byte, 1), 1);
    OK(cuMemcpyDtoH_v2(&byte, first + BYTES - 1, 1));
    IS(byte, 'z');
    OK(cuMemFree_v2(first));
    uint64_t second = export(out, "b");
    IS(first == second, 1); /* FAKE_CUDA_REUSE */
    IS(waitpid(child, &status, 0), child);
    IS(status, 0);
    OK(cuMemFree_v2(second));
}

/* What other hardware reaches: not pools, and nothing that was freed. */
static void check_descriptors(void)
{
    uint64_t device, pool, address, id;
    size_t bytes;
    int fd, number;
    char bus[16];
    OK(cuDeviceGetPCIBusId(bus, sizeof bus, 0));
    IS(cuDeviceGetPCIBusId(bus, sizeof bus, 9), 101);
    OK(cuMemAlloc_v2(&device, BYTES));
    OK(cuMemAllocAsync(&pool, BYTES, NULL));
    IS(cuMemGetHandleForAddressRange(&fd, device, BYTES, 1, 0), 1); /* no whole pages */
    IS(cuMemGetHandleForAddressRange(&fd, device, HUGE_PAGE, 1, 0), 1); /* longer than the allocation */
    IS(cuMemGetHandleForAddressRange(&fd, pool, 4096, 1, 0), 1);
    OK(cuMemGetHandleForAddressRange(&fd, device, 8192, 1, 0));
    IS(fake_cuda_descriptor(fd, &address, &bytes) && address == device && bytes == 8192, 1);
    IS(fake_cuda_window((void *)(uintptr_t)device, BYTES, &number, &id) != NULL, 1);
    IS(fake_cuda_window((void *)(uintptr_t)device, BYTES + 1, &number, &id) != NULL, 0);
    IS(fake_cuda_window((void *)(uintptr_t)pool, BYTES, &number, &id) != NULL, 0);
    OK(cuMemFree_v2(device));
    IS(fake_cuda_descriptor(fd, &address, &bytes), 0);
    OK(cuMemFree_v2(pool));
    OK(close(fd));
}

int main(int argc, char **argv)
{
    int down[2], up[2], devices;
    if (argc > 1 && strcmp(argv[1], "leak") == 0) {
        uint64_t device;
        tern_cu_stream stream;
        begin();
        OK(cuMemAlloc_v2(&device, BYTES));
        OK(cuStreamCreate(&stream, 1));
        return 0;
    }
    OK(pipe(down));
    OK(pipe(up));
    pid_t child = fork();
    if (child == 0)
        import(down[0], up[1]);
    begin();
    OK(cuDeviceGetCount(&devices));
    IS(devices, getenv("CUDA_VISIBLE_DEVICES") ? 1 : 3);
    check_streams();
    check_late_copies();
    check_virtual();
    check_limit();
    check_descriptors();
    check_handles(up[0], down[1], child);
    OK(cuDevicePrimaryCtxRelease_v2(0));
    return 0;
}
