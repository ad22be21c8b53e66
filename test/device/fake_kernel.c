/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Modules and kernels. The driver takes the library's own kernels only (lib/accel/ptx.c), by the name of the entry in their
 * text, and does their work in C: written a second time, so that a test of what they compute means something. That the
 * text does the same, test/device/kernels.c shows on a machine with a GPU.
 */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 1024, NAME = 48 };

struct CUfunc_st {
    char name[NAME];
};

static struct CUmod_st {
    struct CUctx_st *context; /* NULL: free entry */
    struct CUfunc_st function;
} modules[MODULES];

API int cuModuleLoadData(struct CUmod_st **ret_module, const void *text)
{
    char name[NAME];
    const char *entry = strstr(text, ".visible .entry ");
    int rc = fake_usable(__func__);
    if (rc)
        return rc;
    if (strncmp(text, ".version 6.0\n.target sm_60\n", 27) != 0 || !entry ||
        sscanf(entry, ".visible .entry %47[a-z0-9_](", name) != 1 || strncmp(name, "tern_", 5) != 0)
        return 218; /* CUDA_ERROR_INVALID_PTX */
    if (getenv("FAKE_CUDA_KERNELS") && strcmp(getenv("FAKE_CUDA_KERNELS"), "none") == 0)
        return 222; /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */
    pthread_mutex_lock(&fake_gate);
    rc = FAKE_OUT_OF_MEMORY;
    for (int i = 0; i < MODULES && rc; i++)
        if (!modules[i].context) {
            modules[i].context = fake_current();
            strcpy(modules[i].function.name, name);
            *ret_module = &modules[i];
            rc = 0;
        }
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

API int cuModuleUnload(struct CUmod_st *module)
{
    int rc = fake_usable(__func__);
    if (!rc && module->context != fake_current())
        rc = TERN_CU_INVALID_HANDLE;
    pthread_mutex_lock(&fake_gate);
    if (!rc)
        module->context = NULL;
    pthread_mutex_unlock(&fake_gate);
    return rc;
}

API int cuModuleGetFunction(struct CUfunc_st **ret_function, struct CUmod_st *module, const char *name)
{
    int rc = fake_usable(__func__);
    if (!rc && module->context != fake_current())
        rc = TERN_CU_INVALID_HANDLE;
    if (!rc && strcmp(module->function.name, name) != 0)
        rc = 500; /* CUDA_ERROR_NOT_FOUND */
    if (!rc)
        *ret_function = &module->function;
    return rc;
}

void fake_forget_modules(const struct CUctx_st *context)
{
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < MODULES; i++)
        if (modules[i].context == context)
            modules[i].context = NULL;
    pthread_mutex_unlock(&fake_gate);
}

void fake_list_modules(void)
{
    for (int i = 0; i < MODULES; i++)
        if (modules[i].context)
            fprintf(stderr, "fake_cuda: the kernel %s was not unloaded\n", modules[i].function.name);
}

/* ---- what the kernels do ---- */

/* Returns where the bytes are; NULL: a kernel of this context must not touch them. No program here
 * lets devices access each other's memory; managed memory and handles opened in the context are
 * reached. */
static char *reach(const struct CUctx_st *context, uint64_t address, size_t bytes)
{
    const void *at = (const void *)(uintptr_t)address;
    const struct fake_allocation *allocation = fake_find(at);
    if (allocation ? allocation->kind != FAKE_MANAGED &&
                         (allocation->context ? allocation->context != context
                                              : allocation->device != context->device)
                   : !fake_holds_pinned(at))
        return NULL;
    return fake_reach(at, bytes);
}

static bool move(const struct fake_launch *launch, bool pack, int unit, int loops)
{
    for (uint32_t i = 0; i < launch->units; i++) {
        uint64_t number = (uint64_t)launch->first_unit + i, at = launch->base;
        at += number % launch->per * (uint64_t)unit;
        number /= launch->per;
        for (int k = 0; k < loops; k++) {
            uint64_t count = k < loops - 1 ? launch->counts[k] : UINT64_MAX;
            at += number % count * (uint64_t)launch->strides[k];
            number /= count;
        }
        uint64_t packed_at = launch->packed + (uint64_t)i * (uint64_t)unit;
        char *buffer = reach(launch->context, at, (size_t)unit),
             *packed = reach(launch->context, packed_at, (size_t)unit);
        if (!buffer || !packed || at % (uint64_t)unit || packed_at % (uint64_t)unit)
            return false;
        memcpy(pack ? packed : buffer, pack ? buffer : packed, (size_t)unit);
    }
    return true;
}

/* Runs of a list, as struct tern_ptx_run has them. */
static bool move_listed(const struct fake_launch *launch, bool gather, int unit)
{
    struct {
        uint64_t address;
        uint32_t bytes, packed;
    } *runs = (void *)reach(launch->context, launch->base, launch->count * 16);
    if (!runs)
        return false;
    for (uint64_t i = 0; i < launch->count; i++) {
        uint64_t packed_at = launch->packed + runs[i].packed;
        char *buffer = reach(launch->context, runs[i].address, runs[i].bytes);
        char *packed = reach(launch->context, packed_at, runs[i].bytes);
        if (!buffer || !packed || (runs[i].address | packed_at | runs[i].bytes) % (uint64_t)unit)
            return false;
        memcpy(gather ? packed : buffer, gather ? buffer : packed, runs[i].bytes);
    }
    return true;
}

#define IS(text) (strcmp(op, text) == 0)
#define ORDER(T) IS("max") ? (b > a ? b : a) : IS("min") ? (b < a ? b : a)
#define INTEGERS(name, T, U)                                                                                                  \
    static bool name(const char *op, const T *in, T *inout, uint64_t count)                                                    \
    {                                                                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                                                 \
            T a = in[i], b = inout[i];                                                                                         \
            inout[i] = (T)(ORDER(T)                                                                                            \
                           : IS("sum")  ? (T)((U)a + (U)b)                                                                     \
                           : IS("prod") ? (T)((U)a * (U)b)                                                                     \
                           : IS("land") ? (a && b)                                                                             \
                           : IS("lor")  ? (a || b)                                                                             \
                           : IS("lxor") ? (!a != !b)                                                                           \
                           : IS("band") ? (a & b)                                                                              \
                           : IS("bor")  ? (a | b)                                                                              \
                                        : (a ^ b));                                                                            \
        }                                                                                                                      \
        return true;                                                                                                           \
    }
#define FLOATS(name, T)                                                                                                       \
    static bool name(const char *op, const T *in, T *inout, uint64_t count)                                                    \
    {                                                                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                                                 \
            T a = in[i], b = inout[i];                                                                                         \
            inout[i] = ORDER(T) : IS("sum") ? a + b : a * b;                                                                   \
        }                                                                                                                      \
        return true;                                                                                                           \
    }                                                                                                                          \
    static bool complex_##name(const char *op, const T *in, T *inout, uint64_t count)                                          \
    {                                                                                                                          \
        for (uint64_t i = 0; i < 2 * count; i += 2) {                                                                          \
            T a = in[i], c = in[i + 1], b = inout[i], d = inout[i + 1];                                                        \
            inout[i] = IS("sum") ? a + b : a * b - c * d;                                                                      \
            inout[i + 1] = IS("sum") ? c + d : a * d + c * b;                                                                  \
        }                                                                                                                      \
        return true;                                                                                                           \
    }
#define PAIRS(name, V, I)                                                                                                     \
    struct name {                                                                                                              \
        V value;                                                                                                               \
        I index;                                                                                                               \
    };                                                                                                                         \
    static bool pair_##name(const char *op, const struct name *in, struct name *inout, uint64_t count)                         \
    {                                                                                                                          \
        for (uint64_t i = 0; i < count; i++) {                                                                                 \
            struct name a = in[i], b = inout[i];                                                                               \
            bool ahead = IS("maxloc") ? a.value > b.value : a.value < b.value;                                                 \
            if (ahead || (a.value == b.value && a.index < b.index)) {                                                          \
                inout[i].value = a.value;                                                                                      \
                inout[i].index = a.index;                                                                                      \
            }                                                                                                                  \
        }                                                                                                                      \
        return true;                                                                                                           \
    }
INTEGERS(s8, int8_t, unsigned)
INTEGERS(u8, uint8_t, unsigned)
INTEGERS(s16, int16_t, unsigned)
INTEGERS(u16, uint16_t, unsigned)
INTEGERS(s32, int32_t, uint32_t)
INTEGERS(u32, uint32_t, uint32_t)
INTEGERS(s64, int64_t, uint64_t)
INTEGERS(u64, uint64_t, uint64_t)
FLOATS(f32, float)
FLOATS(f64, double)
PAIRS(f32_s32, float, int)
PAIRS(f64_s32, double, int)
PAIRS(s64_s32, long, int)
PAIRS(s32_s32, int, int)
PAIRS(s16_s32, short, int)
PAIRS(f32_f32, float, float)
PAIRS(f64_f64, double, double)

static bool reduce(const struct fake_launch *launch, const char *op, const char *type)
{
#define TYPE(name, T)                                                                                                         \
    if (strcmp(type, #name) == 0) {                                                                                            \
        char *in = reach(launch->context, launch->base, launch->count * sizeof(T));                                            \
        char *inout = reach(launch->context, launch->packed, launch->count * sizeof(T));                                       \
        return in && inout && name(op, (const void *)in, (void *)inout, launch->count);                                        \
    }
    TYPE(s8, int8_t)
    TYPE(u8, uint8_t)
    TYPE(s16, int16_t)
    TYPE(u16, uint16_t)
    TYPE(s32, int32_t)
    TYPE(u32, uint32_t)
    TYPE(s64, int64_t)
    TYPE(u64, uint64_t)
    TYPE(f32, float)
    TYPE(f64, double)
    TYPE(complex_f32, float[2])
    TYPE(complex_f64, double[2])
    TYPE(pair_f32_s32, struct f32_s32)
    TYPE(pair_f64_s32, struct f64_s32)
    TYPE(pair_s64_s32, struct s64_s32)
    TYPE(pair_s32_s32, struct s32_s32)
    TYPE(pair_s16_s32, struct s16_s32)
    TYPE(pair_f32_f32, struct f32_f32)
    TYPE(pair_f64_f64, struct f64_f64)
    return false;
}

int fake_do_launch(const struct fake_launch *launch)
{
    char op[8] = "";
    int unit, loops;
    bool done;
    if (sscanf(launch->name, "tern_pack_%d_%d", &unit, &loops) == 2)
        done = move(launch, true, unit, loops);
    else if (sscanf(launch->name, "tern_unpack_%d_%d", &unit, &loops) == 2)
        done = move(launch, false, unit, loops);
    else if (sscanf(launch->name, "tern_gather_%d", &unit) == 1)
        done = move_listed(launch, true, unit);
    else if (sscanf(launch->name, "tern_scatter_%d", &unit) == 1)
        done = move_listed(launch, false, unit);
    else
        done = sscanf(launch->name, "tern_%7[a-z]_", op) == 1 && reduce(launch, op, launch->name + 6 + strlen(op));
    return done ? 0 : FAKE_ILLEGAL_ADDRESS;
}

/* Reads the arguments, as their kernel has them. */
bool fake_read_launch(struct CUfunc_st *function, void **arguments, struct fake_launch *ret_launch)
{
    struct fake_launch launch = {0};
    bool known = false;
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < MODULES && !known; i++)
        known = function == &modules[i].function && modules[i].context == fake_current();
    pthread_mutex_unlock(&fake_gate);
    if (!known)
        return false;
    strcpy(launch.name, function->name);
    launch.context = fake_current();
    launch.base = *(uint64_t *)arguments[0];
    launch.packed = *(uint64_t *)arguments[1];
    if (strncmp(function->name, "tern_pack_", 10) == 0 || strncmp(function->name, "tern_unpack_", 12) == 0) {
        launch.first_unit = *(uint32_t *)arguments[2];
        launch.units = *(uint32_t *)arguments[3];
        launch.per = *(uint32_t *)arguments[4];
        for (int k = 0; k < 3; k++)
            launch.counts[k] = *(uint32_t *)arguments[5 + k];
        for (int k = 0; k < 4; k++)
            launch.strides[k] = *(int64_t *)arguments[8 + k];
    } else if (strncmp(function->name, "tern_gather_", 12) == 0 || strncmp(function->name, "tern_scatter_", 13) == 0) {
        launch.count = *(uint32_t *)arguments[2];
        if (!fake_in_arena((void *)(uintptr_t)launch.base))
            fake_count("lists in host memory"); /* counted like a call */
    } else {
        launch.count = *(uint64_t *)arguments[2];
    }
    *ret_launch = launch;
    return true;
}
