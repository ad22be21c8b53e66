/* SPDX-License-Identifier: BSD-3-Clause */

/* What the calls of the CUDA driver cost on this machine, without MPI's messages: microseconds, the best of many. Two ranks on
 * device 0; MPI only passes handles and keeps the ranks in step. Each line: what, then the figure of rank 0. The design of
 * lib/accel and lib/btl/ipc rests on these. Needs no CUDA Toolkit. */
#define _GNU_SOURCE
#include "../../lib/accel/cuda_driver.h"
#include "best.h"

#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { ROUNDS = 20 };

#define CALLS(X)                                                                                                              \
    TERN_CU_CALLS(X)                                                                                                           \
    X(host_device, cuMemHostGetDevicePointer_v2, (tern_cu_addr *, void *, unsigned))                                           \
    X(init, cuInit, (unsigned))                                                                                                \
    X(version, cuDriverGetVersion, (int *))                                                                                    \
    X(device_attribute, cuDeviceGetAttribute, (int *, int, int))                                                               \
    X(context_set, cuCtxSetCurrent, (tern_cu_context))                                                                         \
    X(alloc_pool, cuMemAllocAsync, (tern_cu_addr *, size_t, tern_cu_stream))                                                   \
    X(alloc_managed, cuMemAllocManaged, (tern_cu_addr *, size_t, unsigned))                                                    \
    X(alloc_host, cuMemAllocHost_v2, (void **, size_t))                                                                        \
    X(to_host, cuMemcpyDtoH_v2, (void *, tern_cu_addr, size_t))                                                                \
    X(to_device, cuMemcpyHtoD_v2, (tern_cu_addr, const void *, size_t))                                                        \
    X(write_value, cuStreamWriteValue32_v2, (tern_cu_stream, tern_cu_addr, uint32_t, unsigned))

static struct {
#define MEMBER(member, symbol, arguments) tern_cu_result(*member) arguments;
    CALLS(MEMBER)
} cu;

static int rank;
static tern_cu_context primary;
static tern_cu_stream stream;

/* Stands for a call that the driver lacks. */
static int missing(void)
{
    return TERN_CU_NOT_SUPPORTED;
}

static void bind(void)
{
    const char *name = getenv("FAKE_CUDA");
    void *library = dlopen(name ? name : "libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(1);
    }
#define BIND(member, symbol, arguments)                                                                                       \
    *(void **)&cu.member = dlsym(library, #symbol);                                                                            \
    if (!cu.member) {                                                                                                          \
        *(void **)&cu.member = (void *)missing;                                                                                \
        if (rank == 0)                                                                                                         \
            printf("the driver lacks %s\n", #symbol);                                                                          \
    }
    CALLS(BIND)
}

/* Prints what the driver answers if it is no success. Returns true on success. */
static bool ok(int result, const char *what)
{
    const char *name = NULL;
    if (result && !cu.error_name(result, &name))
        printf("rank %d: %s: %s\n", rank, what, name ? name : "?");
    return result == 0;
}
#define OK(call) ok(call, #call)

static void say(const char *what, double us)
{
    if (rank == 0)
        printf("%-64s %10.3f us\n", what, us);
    fflush(stdout);
}

static void say_rate(const char *what, size_t bytes, double us)
{
    if (rank == 0)
        printf("%-44s %10zu B %10.2f us %9.2f GB/s\n", what, bytes, us, (double)bytes / us / 1e3);
    fflush(stdout);
}

static int ask(tern_cu_addr address, uint64_t *ret_id)
{
    int wanted[] = {TERN_CU_ATTRIBUTE_MEMORY_TYPE, TERN_CU_ATTRIBUTE_CONTEXT, TERN_CU_ATTRIBUTE_DEVICE_ORDINAL,
                    TERN_CU_ATTRIBUTE_IS_MANAGED, TERN_CU_ATTRIBUTE_BUFFER_ID};
    unsigned type = 0, managed = 0;
    int device = -1;
    void *context = NULL;
    void *values[] = {&type, &context, &device, &managed, ret_id};
    int result = cu.pointer_attributes(5, wanted, values, address);
    return result ? -1 : (int)(type | (managed & 0xff) << 8 | (context ? 0x10000u : 0));
}

static void questions(tern_cu_addr device)
{
    static const struct {
        int number;
        const char *name;
    } attributes[] = {{41, "unified addressing"}, {83, "managed memory"}, {88, "pageable memory access"}, {91, "host pointer of registered memory"},
                      {92, "stream memory operations"}, {102, "virtual memory management"}, {103, "handles as file descriptors"},
                      {115, "memory pools"}, {116, "GPUDirect RDMA"}, {119, "kinds of handles of pools"}, {124, "dmabuf"},
                      {132, "multicast"}, {16, "multiprocessors"}, {40, "copy engines"}, {112, "cooperative? (IPC events)"}};
    char *far = malloc(8 << 20);
    uint64_t id;
    tern_cu_addr pool = 0, managed = 0;
    tern_cu_context current;
    int answer;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (rank == 0 && !cu.device_attribute(&answer, attributes[i].number, 0))
            printf("attribute %d, %s: %d\n", attributes[i].number, attributes[i].name, answer);
    OK(cu.alloc_pool(&pool, 4096, NULL));
    OK(cu.alloc_managed(&managed, 4096, 1));
    if (rank == 0)
        printf("what memory is this (type, managed, context): device %#x, pool %#x, managed %#x, host %#x\n", ask(device, &id),
               ask(pool, &id), ask(managed, &id), ask((uintptr_t)far, &id));
    say("5 attributes of device memory", BEST(1000, ask(device + 4096, &id)));
    say("5 attributes of a pool's memory", BEST(1000, ask(pool, &id)));
    say("5 attributes of host memory", BEST(1000, ask((uintptr_t)far, &id)));
    int kind = TERN_CU_ATTRIBUTE_MEMORY_TYPE;
    unsigned type;
    void *ret_type = &type;
    say("1 attribute of device memory", BEST(1000, cu.pointer_attributes(1, &kind, &ret_type, device + 4096)));
    say("1 attribute of host memory", BEST(1000, cu.pointer_attributes(1, &kind, &ret_type, (uintptr_t)far)));
    say("current context", BEST(1000, cu.context_current(&current)));
    say("push and pop a context", BEST(1000, cu.context_push(primary); cu.context_pop(&current)));
    unsigned on = 1;
    say("set SYNC_MEMOPS", BEST(100, cu.pointer_set(&on, TERN_CU_ATTRIBUTE_SYNC_MEMOPS, device)));
    size_t bytes;
    tern_cu_addr base;
    say("address range", BEST(1000, cu.address_range(&base, &bytes, device + 4096)));
    cu.free(pool);
    cu.free(managed);
    free(far);
}

static void wait_by_query(void)
{
    while (cu.stream_query(stream) == TERN_CU_NOT_READY)
        ;
}

static void copies(tern_cu_addr device, char *host, const char *what)
{
    static const size_t sizes[] = {8, 1024, 8192, 32768, 65536, 262144, 1 << 20, 4 << 20, 64 << 20};
    char name[99];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int times = sizes[i] <= 65536 ? 50 : sizes[i] <= 4 << 20 ? 5 : 1;
        snprintf(name, sizeof name, "%s <- device, awaited", what);
        say_rate(name, sizes[i], BEST(times, cu.copy((uintptr_t)host, device, sizes[i], stream); cu.stream_wait(stream)));
        snprintf(name, sizeof name, "%s <- device, asked", what);
        say_rate(name, sizes[i], BEST(times, cu.copy((uintptr_t)host, device, sizes[i], stream); wait_by_query()));
        snprintf(name, sizeof name, "device <- %s, awaited", what);
        say_rate(name, sizes[i], BEST(times, cu.copy(device, (uintptr_t)host, sizes[i], stream); cu.stream_wait(stream)));
        if (sizes[i] > 65536)
            continue;
        snprintf(name, sizeof name, "%s <- device, cuMemcpyDtoH", what);
        say_rate(name, sizes[i], BEST(times, cu.to_host(host, device, sizes[i])));
        snprintf(name, sizeof name, "device <- %s, cuMemcpyHtoD", what);
        say_rate(name, sizes[i], BEST(times, cu.to_device(device, host, sizes[i])));
    }
}

static void device_copies(tern_cu_addr to, tern_cu_addr from, const char *what)
{
    for (size_t bytes = 8; bytes <= 256 << 20; bytes *= 8) {
        int times = bytes <= 1 << 20 ? 20 : 2;
        say_rate(what, bytes, BEST(times, cu.copy(to, from, bytes, stream); cu.stream_wait(stream)));
    }
    size_t bytes = 256 << 20;
    say_rate(what, bytes, BEST(2, cu.copy(to, from, bytes, stream); cu.stream_wait(stream)));
}

/* Copies bytes between addresses of any kind, then writes 1 to a flag that the host may await. */
static const char ptx[] =
    ".version 6.0\n.target sm_60\n.address_size 64\n"
    ".visible .entry copy8(.param .u64 to, .param .u64 from, .param .u64 n, .param .u64 flag, .param .u32 value) {\n"
    ".reg .b64 %rd<12>; .reg .b32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd1,[to]; ld.param.u64 %rd2,[from]; ld.param.u64 %rd3,[n]; ld.param.u64 %rd9,[flag]; ld.param.u32 %r5,[value];\n"
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x;\n"
    "mul.wide.u32 %rd4,%r1,%r2; cvt.u64.u32 %rd5,%r3; add.s64 %rd4,%rd4,%rd5;\n"
    "mov.u32 %r4,%nctaid.x; mul.wide.u32 %rd6,%r4,%r2;\n"
    "L: setp.ge.u64 %p,%rd4,%rd3; @%p bra E;\n"
    "shl.b64 %rd7,%rd4,3; add.s64 %rd8,%rd2,%rd7; ld.global.u64 %rd10,[%rd8]; add.s64 %rd8,%rd1,%rd7; st.global.u64 [%rd8],%rd10;\n"
    "add.s64 %rd4,%rd4,%rd6; bra L;\n"
    "E: setp.eq.u64 %p,%rd9,0; @%p bra F; membar.sys; bar.sync 0; setp.ne.u32 %p,%r3,0; @%p bra F; st.volatile.global.u32 [%rd9],%r5;\n"
    "F: ret; }\n";

static int start_kernel(tern_cu_function function, unsigned blocks, tern_cu_addr to, tern_cu_addr from, size_t bytes, tern_cu_addr flag, uint32_t value)
{
    uint64_t count = bytes / 8;
    void *arguments[] = {&to, &from, &count, &flag, &value};
    unsigned threads = count < 256 ? 32 : 256;
    return cu.launch(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, NULL);
}

static void kernels(tern_cu_addr to, tern_cu_addr from, char *pinned)
{
    tern_cu_module module;
    tern_cu_function function;
    double begin = MPI_Wtime();
    if (!OK(cu.module_load(&module, ptx)) || !OK(cu.module_function(&function, module, "copy8")))
        return;
    say("load a module of PTX (compiled by the driver)", (MPI_Wtime() - begin) * 1e6);
    begin = MPI_Wtime();
    OK(start_kernel(function, 1, to, from, 8, 0, 0));
    cu.stream_wait(stream);
    say("first launch", (MPI_Wtime() - begin) * 1e6);
    say("start a kernel (not awaited)", BEST(20, start_kernel(function, 1, to, from, 8, 0, 0)));
    cu.stream_wait(stream);
    for (size_t bytes = 8; bytes <= 64 << 20; bytes *= 8) {
        unsigned blocks = (unsigned)(bytes / 8 / 256 / 4) + 1;
        blocks = blocks > 1056 ? 1056 : blocks;
        say_rate("kernel device <- device, awaited", bytes, BEST(5, start_kernel(function, blocks, to, from, bytes, 0, 0); cu.stream_wait(stream)));
    }
    tern_cu_addr host;
    if (!OK(cu.host_device(&host, pinned, 0)))
        return;
    volatile uint32_t *flag = (uint32_t *)(pinned + (1 << 20));
    static uint32_t value;
    *flag = 0;
    for (size_t bytes = 8; bytes <= 65536; bytes *= 8) {
        say_rate("kernel pinned <- device, awaited", bytes, BEST(20, start_kernel(function, 1, host, from, bytes, 0, 0); cu.stream_wait(stream)));
        say_rate("kernel pinned <- device, flag read by the host", bytes, BEST(20, {
                     start_kernel(function, 1, host, from, bytes, host + (1 << 20), ++value);
                     while (*flag != value)
                         ;
                 }));
        say_rate("kernel device <- pinned, flag read by the host", bytes, BEST(20, {
                     start_kernel(function, 1, to, host, bytes, host + (1 << 20), ++value);
                     while (*flag != value)
                         ;
                 }));
    }
    if (!cu.write_value(stream, host + (1 << 20), ++value, 0)) {
        cu.stream_wait(stream);
        say_rate("copy pinned <- device, flag by cuStreamWriteValue32", 8, BEST(20, {
                     cu.copy((uintptr_t)pinned, from, 8, stream);
                     cu.write_value(stream, host + (1 << 20), ++value, 0);
                     while (*flag != value)
                         ;
                 }));
    }
}

static void rows(tern_cu_addr to, tern_cu_addr from, char *pinned)
{
    static const size_t widths[] = {4, 8, 64, 1024};
    char name[99];
    for (size_t i = 0; i < 4; i++) {
        size_t height = widths[i] < 1024 ? 65536 : 4096;
        struct tern_cu_copy_2d copy = {.from_type = TERN_CU_DEVICE, .from_device = from, .from_pitch = 2 * widths[i], .to_type = TERN_CU_DEVICE,
                                       .to_device = to, .to_pitch = widths[i], .width = widths[i], .height = height};
        snprintf(name, sizeof name, "rows of %zu B, device <- device", widths[i]);
        say_rate(name, widths[i] * height, BEST(2, cu.copy_2d(&copy, stream); cu.stream_wait(stream)));
        copy.to_type = TERN_CU_HOST;
        copy.to_host = pinned;
        snprintf(name, sizeof name, "rows of %zu B, pinned <- device", widths[i]);
        say_rate(name, widths[i] * height, BEST(2, cu.copy_2d(&copy, stream); cu.stream_wait(stream)));
    }
}

static void events(tern_cu_addr to, tern_cu_addr from)
{
    tern_cu_event event;
    if (!OK(cu.event_create(&event, TERN_CU_EVENT_DISABLE_TIMING)))
        return;
    say("record an event (empty stream)", BEST(100, cu.event_record(event, stream)));
    cu.stream_wait(stream);
    say("ask an event that has come", BEST(100, cu.event_query(event)));
    say("copy 8 B on the device, record, ask until it has come", BEST(20, {
            cu.copy(to, from, 8, stream);
            cu.event_record(event, stream);
            while (cu.event_query(event) == TERN_CU_NOT_READY)
                ;
        }));
    say("create and destroy an event", BEST(20, cu.event_destroy(event); cu.event_create(&event, TERN_CU_EVENT_DISABLE_TIMING)));
}

/* Rank 1 shares, rank 0 opens. */
static void shared_memory(tern_cu_addr mine, tern_cu_addr other, size_t bytes)
{
    struct tern_cu_ipc_handle handle;
    tern_cu_addr opened = 0;
    int result = cu.ipc_get(&handle, mine);
    ok(result, "cuIpcGetMemHandle");
    say("make a handle", BEST(20, cu.ipc_get(&handle, mine)));
    MPI_Sendrecv_replace(&handle, sizeof handle, MPI_BYTE, 1 - rank, 0, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0 && OK(cu.ipc_open(&opened, handle, TERN_CU_IPC_LAZY_PEER_ACCESS))) {
        say("close and open a handle", BEST(1, cu.ipc_close(opened); cu.ipc_open(&opened, handle, TERN_CU_IPC_LAZY_PEER_ACCESS)));
        device_copies(other, opened, "device <- IPC mapping, the owner idle");
        uint64_t id;
        printf("an IPC mapping is (type, managed, context): %#x\n", ask(opened, &id));
        if (OK(cu.copy(other, opened, bytes, stream)))
            OK(cu.stream_wait(stream));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (opened)
        OK(cu.ipc_close(opened));
}

/* Memory that two processes share, registered by both. */
static void node_memory(tern_cu_addr device)
{
    enum { BYTES = 64 << 20 };
    int pid[2] = {getpid(), 0};
    int fd = rank == 0 ? memfd_create("bare", 0) : -1;
    char path[64];
    if (fd >= 0 && ftruncate(fd, BYTES))
        perror("ftruncate");
    pid[1] = fd;
    MPI_Bcast(pid, 2, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid[0], pid[1]);
    FILE *file = rank == 0 ? NULL : fopen(path, "r+");
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, rank == 0 ? fd : file ? fileno(file) : -1, 0);
    if (memory == MAP_FAILED) {
        perror("mmap");
        return;
    }
    memset(memory, 1, BYTES);
    double begin = MPI_Wtime();
    if (OK(cu.host_register(memory, BYTES, 3)))
        say("register 64 MiB of shared memory", (MPI_Wtime() - begin) * 1e6);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        copies(device, memory, "registered shared");
    MPI_Barrier(MPI_COMM_WORLD);
    begin = MPI_Wtime();
    OK(cu.host_unregister(memory));
    say("unregister 64 MiB", (MPI_Wtime() - begin) * 1e6);
    munmap(memory, BYTES);
}

int main(int argc, char **argv)
{
    int version = 0;
    size_t bytes = 256 << 20;
    tern_cu_addr from = 0, to = 0;
    char *pinned;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bind();
    double begin = MPI_Wtime();
    if (!OK(cu.init(0)) || !OK(cu.primary_retain(&primary, 0)) || !OK(cu.context_set(primary)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    say("start the driver, make a context", (MPI_Wtime() - begin) * 1e6);
    OK(cu.version(&version));
    if (rank == 0)
        printf("driver for CUDA %d.%d\n", version / 1000, version % 1000 / 10);
    OK(cu.stream_create(&stream, TERN_CU_STREAM_NON_BLOCKING));
    if (!OK(cu.alloc(&from, bytes)) || !OK(cu.alloc(&to, bytes)) || !OK(cu.alloc_host((void **)&pinned, 64 << 20)))
        MPI_Abort(MPI_COMM_WORLD, 1);
    char *pageable = malloc(64 << 20);
    memset(pageable, 1, 64 << 20);
    cu.to_device(from, pageable, 64 << 20);
    for (int alone = 0; alone < 1; alone++) {
        if (rank == 0) {
            questions(from);
            events(to, from);
            copies(from, pageable, "pageable");
            copies(from, pinned, "pinned");
            kernels(to, from, pinned);
            rows(to, from, pinned);
            device_copies(to, from, "device <- device");
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    node_memory(from);
    shared_memory(from, to, bytes);
    MPI_Finalize();
    return 0;
}
