/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/accel/device_kernel.h"

#include "lib/accel/device_context.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <pthread.h>
#include <stdint.h>

/* A group of at most 2^SHIFT_MOST threads moves a run. */
enum { THREADS = 256, BLOCKS_MOST = 4096, SHIFT_MOST = 5 };

/* The most kernels of all contexts, and of one. */
enum { KERNELS = 256, OF_CONTEXT = 64 };

/* The kernels that were loaded, by context. A context's id is never used again, so a kernel that
 * went with its context is not taken for one of a context at the same address. */
static struct loaded {
    unsigned long long context; /* id; 0: free entry */
    struct tern_ptx_kernel kernel;
    tern_cu_module module;
    tern_cu_function function; /* NULL: it cannot be loaded, and is not tried again */
    uint64_t used; /* number of the last use */
} all[KERNELS];
static uint64_t uses;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static bool same(const struct tern_ptx_kernel *one, const struct tern_ptx_kernel *other)
{
    return one->kind == other->kind && one->unit == other->unit && one->loops == other->loops &&
           one->op == other->op && one->number == other->number;
}

static struct loaded *find(unsigned long long context, const struct tern_ptx_kernel *kernel)
{
    for (int i = 0; i < KERNELS; i++)
        if (all[i].context == context && same(&all[i].kernel, kernel))
            return &all[i];
    return NULL;
}

static void say_missing(const struct tern_cu_driver *driver, const char *name, int result)
{
    static bool said;
    const char *error = NULL;
    driver->error_name(result, &error);
    if (!said)
        tern_log("the CUDA driver does not load the kernel %s (%s): buffers in device memory are "
                 "packed and reduced without kernels, which is slower",
                 name, error ? error : "unknown error");
    said = true;
}

/* Returns the entry of the kernel that was not used for the longest time: of `context`, if it has
 * as many as it may have, else a free one, else of any context. */
static struct loaded *find_room(unsigned long long context)
{
    struct loaded *own = NULL, *any = all;
    int count = 0;
    for (struct loaded *loaded = all; loaded < all + KERNELS; loaded++) {
        if (any->context && (!loaded->context || loaded->used < any->used))
            any = loaded;
        if (loaded->context != context)
            continue;
        count++;
        if (!own || loaded->used < own->used)
            own = loaded;
    }
    return count < OF_CONTEXT ? any : own;
}

/* Loads a kernel into the current context. What must make room for it is unloaded after all that
 * the stream does; a kernel of another context goes with that context, which may be gone. */
static struct loaded *make(const struct tern_cu_driver *driver, unsigned long long context,
                           tern_cu_stream stream, const struct tern_ptx_kernel *kernel)
{
    char name[TERN_PTX_NAME], text[TERN_PTX_TEXT];
    struct loaded *loaded = find_room(context);
    if (loaded->context == context && loaded->module) {
        driver->stream_wait(stream);
        driver->module_unload(loaded->module);
    }
    *loaded = (struct loaded){.context = context, .kernel = *kernel};
    tern_ptx_name(name, kernel);
    tern_ptx_write(text, kernel);
    int result = driver->module_load(&loaded->module, text);
    if (!result)
        result = driver->module_function(&loaded->function, loaded->module, name);
    if (result) {
        loaded->function = NULL;
        say_missing(driver, name, result);
    }
    return loaded;
}

/* Returns a kernel for the batch's context, which is current; NULL: there is none. The gate is
 * closed until it was started. */
static tern_cu_function load(struct tern_accel_batch *batch, const struct tern_ptx_kernel *kernel)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    unsigned long long context;
    if (!driver->context_id || driver->context_id(batch->entry.context, &context))
        return NULL;
    struct loaded *loaded = find(context, kernel);
    if (!loaded)
        loaded = make(driver, context, batch->stream, kernel);
    loaded->used = ++uses;
    return loaded->function;
}

/* Starts a kernel on `elements` elements. */
static int launch(struct tern_accel_batch *batch, const struct tern_ptx_kernel *kernel,
                  int64_t elements, void **arguments)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    if (!batch->entry.context || batch->error)
        return 0; /* the batch has failed, and says so at its end */
    int64_t blocks = (elements + THREADS - 1) / THREADS;
    int result = 0;
    pthread_mutex_lock(&gate);
    tern_cu_function function = load(batch, kernel);
    if (function)
        result = driver->launch(function, blocks < BLOCKS_MOST ? (unsigned)blocks : BLOCKS_MOST, 1,
                                1, THREADS, 1, 1, 0, batch->stream, arguments, NULL);
    pthread_mutex_unlock(&gate);
    if (!function)
        return TERN_ERR_UNSUPPORTED;
    if (result && !batch->error)
        batch->error = tern_cu_say(driver, "start a kernel", result);
    return 0;
}

/* Returns the most bytes, a power of two up to 16, that divide all places of a nest. */
static int find_unit(const struct tern_accel_nest *nest, const void *base, const void *packed,
                     int64_t first, int64_t bytes)
{
    uint64_t all = (uint64_t)nest->run | (uintptr_t)base | (uintptr_t)packed | (uint64_t)first |
                   (uint64_t)bytes | 16;
    for (int i = 0; i < nest->loops; i++)
        all |= (uint64_t)nest->strides[i];
    return (int)(all & -all);
}

int tern_accel_start_move(struct tern_accel_batch *batch, const struct tern_accel_nest *nest,
                          void *base, void *packed, int64_t first, int64_t bytes, bool pack)
{
    int unit = find_unit(nest, base, packed, first, bytes);
    struct tern_ptx_kernel kernel = {
        .kind = pack ? TERN_PTX_PACK : TERN_PTX_UNPACK, .unit = unit, .loops = nest->loops};
    int64_t limit = INT32_MAX;
    uint32_t per = (uint32_t)(nest->run / unit), counts[TERN_PTX_LOOPS - 1] = {0};
    uint32_t first_unit, units;
    if ((first + bytes) / unit > limit)
        return TERN_ERR_UNSUPPORTED;
    first_unit = (uint32_t)(first / unit);
    units = (uint32_t)(bytes / unit);
    for (int i = 0; i < nest->loops - 1; i++) {
        if (nest->counts[i] > limit)
            return TERN_ERR_UNSUPPORTED;
        counts[i] = (uint32_t)nest->counts[i];
    }
    void *arguments[] = {&base,
                         &packed,
                         &first_unit,
                         &units,
                         &per,
                         &counts[0],
                         &counts[1],
                         &counts[2],
                         (void *)&nest->strides[0],
                         (void *)&nest->strides[1],
                         (void *)&nest->strides[2],
                         (void *)&nest->strides[3]};
    return launch(batch, &kernel, units, arguments);
}

struct tern_ptx_run *tern_accel_list(struct tern_accel_batch *batch,
                                     const struct tern_accel_place *place)
{
    bool reached = true;
    if (!batch->list)
        batch->list = tern_accel_pinned_take(place, &reached);
    if (!reached && batch->list) {
        tern_accel_pinned_give(batch->list);
        batch->list = NULL;
    }
    return batch->list;
}

struct tern_accel_runs tern_accel_runs_of(struct tern_ptx_run *list, int count)
{
    struct tern_accel_runs runs = {.list = list, .count = count};
    for (int i = 0; i < count; i++) {
        runs.places |= list[i].address | list[i].bytes | list[i].packed;
        runs.bytes += list[i].bytes;
    }
    return runs;
}

int tern_accel_start_runs(struct tern_accel_batch *batch, const struct tern_accel_runs *runs,
                          void *packed, bool pack)
{
    struct tern_ptx_run *list = runs->list;
    uint64_t all = (uintptr_t)packed | 16 | runs->places;
    uint32_t number = (uint32_t)runs->count, shift = 0;
    struct tern_ptx_kernel kernel = {.kind = pack ? TERN_PTX_GATHER : TERN_PTX_SCATTER,
                                     .unit = (int)(all & -all)};
    uint64_t units = runs->bytes / (uint64_t)kernel.unit / number; /* of a run, about */
    while (shift < SHIFT_MOST && (1U << shift) < units)
        shift++;
    void *arguments[] = {&list, &packed, &number, &shift};
    return launch(batch, &kernel, (int64_t)number << shift, arguments);
}

int tern_accel_start_reduce(struct tern_accel_batch *batch, enum tern_ptx_op op,
                            enum tern_ptx_number number, const void *in, void *inout,
                            int64_t count)
{
    struct tern_ptx_kernel kernel = {.kind = TERN_PTX_REDUCE, .op = op, .number = number};
    void *arguments[] = {&in, &inout, &count};
    return launch(batch, &kernel, count, arguments);
}

void tern_accel_kernels_leave(const void *context)
{
    const struct tern_cu_driver *driver = tern_cu_driver();
    unsigned long long id;
    if (!driver->context_id || driver->context_id((void *)context, &id))
        return;
    pthread_mutex_lock(&gate);
    for (int i = 0; i < KERNELS; i++)
        if (all[i].context == id) {
            if (all[i].module)
                driver->module_unload(all[i].module);
            all[i].context = 0;
        }
    pthread_mutex_unlock(&gate);
}
