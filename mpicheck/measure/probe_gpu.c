/* SPDX-License-Identifier: BSD-3-Clause */

/* GPUs of a host: how fast bytes go to each, from each, within each, and to each other one. */
#include "probe_gpu.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "probe.h"

enum { GPUS_MOST = 64, BYTES = 32 << 20, TRIES = 5, NAME_MOST = 96 };

typedef struct CUctx_st *gpu_context;
typedef struct CUstream_st *gpu_stream;

/* ---- the driver ---- */

static struct {
    bool asked, works;
    int (*init)(unsigned);
    int (*count)(int *);
    int (*name)(char *, int, int); /* NULL: not in this driver */
    int (*retain)(gpu_context *, int);
    int (*use)(gpu_context);
    int (*alloc)(uint64_t *, size_t);
    int (*alloc_host)(void **, size_t);
    int (*copy)(uint64_t, uint64_t, size_t, gpu_stream);
    int (*stream_create)(gpu_stream *, unsigned);
    int (*stream_wait)(gpu_stream);
    int (*can_reach)(int *, int, int);
    gpu_context contexts[GPUS_MOST];
    gpu_stream streams[GPUS_MOST];
    int current;
} driver;

/* Returns false if the driver lacks the call. */
static bool find_call(void *library, const char *symbol, void *ret_call)
{
    void *call = dlsym(library, symbol);
    memcpy(ret_call, &call, sizeof call); /* C has no conversion from objects to functions */
    return call;
}

static bool load_driver(void)
{
    if (driver.asked)
        return driver.works;
    driver.asked = true;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return false;
    find_call(library, "cuDeviceGetName", &driver.name);
    driver.works = find_call(library, "cuInit", &driver.init) &&
                   find_call(library, "cuDeviceGetCount", &driver.count) &&
                   find_call(library, "cuDevicePrimaryCtxRetain", &driver.retain) &&
                   find_call(library, "cuCtxSetCurrent", &driver.use) &&
                   find_call(library, "cuMemAlloc_v2", &driver.alloc) &&
                   find_call(library, "cuMemAllocHost_v2", &driver.alloc_host) &&
                   find_call(library, "cuMemcpyAsync", &driver.copy) &&
                   find_call(library, "cuStreamCreate", &driver.stream_create) &&
                   find_call(library, "cuStreamSynchronize", &driver.stream_wait) &&
                   find_call(library, "cuDeviceCanAccessPeer", &driver.can_reach) &&
                   driver.init(0) == 0;
    return driver.works;
}

int probe_gpu_count(void)
{
    int count;
    if (!load_driver() || driver.count(&count) != 0)
        return 0;
    return count < GPUS_MOST ? count : GPUS_MOST;
}

void probe_gpu_name(int gpu, char *ret_name, int room)
{
    snprintf(ret_name, (size_t)room, "?");
    if (driver.name && driver.name(ret_name, room, gpu) == 0)
        for (char *at = ret_name; *at; at++)
            if (*at == ' ')
                *at = '-';
}

bool probe_gpu_use(int gpu)
{
    if (gpu < 0 || gpu >= probe_gpu_count())
        return false;
    if (!driver.contexts[gpu] && driver.retain(&driver.contexts[gpu], gpu) != 0)
        return false;
    if (driver.use(driver.contexts[gpu]) != 0)
        return false;
    driver.current = gpu;
    return driver.streams[gpu] || driver.stream_create(&driver.streams[gpu], 1) == 0;
}

uint64_t probe_gpu_alloc(size_t bytes)
{
    uint64_t memory = 0;
    return driver.alloc(&memory, bytes) == 0 ? memory : 0;
}

void *probe_gpu_alloc_host(size_t bytes)
{
    void *memory = NULL;
    return driver.alloc_host(&memory, bytes) == 0 ? memory : NULL;
}

bool probe_gpu_copy(uint64_t to, uint64_t from, size_t bytes)
{
    gpu_stream stream = driver.streams[driver.current];
    return driver.copy(to, from, bytes, stream) == 0 && driver.stream_wait(stream) == 0;
}

/* ---- the phase ---- */

/* A copy's rate, and the part of the time in which this process had a processor. */
struct rate {
    double gbs, share;
};

/* Returns the best of several copies; gbs is 0 if the driver refuses. */
static struct rate measure(uint64_t to, uint64_t from)
{
    struct rate best = {0};
    for (int i = 0; i < TRIES; i++) {
        double waited = probe_waited(), begin = probe_now();
        if (!probe_gpu_copy(to, from, BYTES))
            return (struct rate){0};
        double took = probe_now() - begin, gbs = 1e-9 * BYTES / took;
        if (gbs > best.gbs)
            best = (struct rate){gbs, 1 - (probe_waited() - waited) / took};
    }
    return best;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

void probe_gpus(const struct probe_job *job)
{
    int count = probe_gpu_count(), id = job->ids[job->rank];
    uint64_t first[GPUS_MOST] = {0}, second[GPUS_MOST] = {0};
    for (int gpu = 0; gpu < count; gpu++) {
        char name[NAME_MOST];
        void *host = probe_gpu_use(gpu) ? probe_gpu_alloc_host(BYTES) : NULL;
        first[gpu] = host ? probe_gpu_alloc(BYTES) : 0;
        second[gpu] = first[gpu] ? probe_gpu_alloc(BYTES) : 0;
        probe_gpu_name(gpu, name, NAME_MOST);
        if (!second[gpu]) {
            probe_say("gpu %d %d 0 0 0 1 %s", id, gpu, name);
            continue;
        }
        memset(host, gpu + 1, BYTES);
        struct rate to = measure(first[gpu], (uintptr_t)host);
        struct rate from = measure((uintptr_t)host, first[gpu]);
        struct rate within = measure(second[gpu], first[gpu]);
        probe_say("gpu %d %d %.3f %.3f %.3f %.3f %s", id, gpu, to.gbs, from.gbs, within.gbs,
                  least(to.share, least(from.share, within.share)), name);
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < count; b++) {
            int reaches = 0;
            if (a == b || !second[a] || !second[b] || !probe_gpu_use(a))
                continue;
            struct rate rate = measure(second[b], first[a]);
            driver.can_reach(&reaches, b, a);
            probe_say("gpupair %d %d %d %.3f %.3f %d", id, a, b, rate.gbs, rate.share, reaches);
        }
}
