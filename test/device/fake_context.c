/* SPDX-License-Identifier: BSD-3-Clause */

/* Devices and contexts. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 64, DEPTH = 32 };

static struct CUctx_st contexts[CONTEXTS];
static __thread struct CUctx_st *stack[DEPTH];
static __thread int depth;
bool fake_initialized;
static int visible[FAKE_DEVICES], visible_count; /* physical numbers */

/* Reads CUDA_VISIBLE_DEVICES: numbers, of which the first wrong one ends the list. */
static void look_at_devices(void)
{
    const char *list = getenv("CUDA_VISIBLE_DEVICES");
    visible_count = 0;
    for (int i = 0; !list && i < FAKE_SEEN; i++)
        visible[visible_count++] = i;
    while (list && *list && visible_count < FAKE_DEVICES) {
        char *end;
        long device = strtol(list, &end, 10);
        if (end == list || device < 0 || device >= FAKE_DEVICES)
            break;
        visible[visible_count++] = (int)device;
        list = *end == ',' ? end + 1 : "";
    }
}

int fake_physical(int device)
{
    return visible[device];
}

bool fake_peers(int physical, int other)
{
    const char *wish = getenv("FAKE_CUDA_PEERS");
    return physical == other || !wish || strcmp(wish, "none") != 0;
}

struct CUctx_st *fake_current(void)
{
    return depth ? stack[depth - 1] : NULL;
}

static bool lives(const struct CUctx_st *context)
{
    return context && __atomic_load_n(&context->alive, __ATOMIC_RELAXED);
}

int fake_usable(const char *name)
{
    struct CUctx_st *context = fake_current();
    fake_count(name);
    return !fake_initialized  ? TERN_CU_NOT_INITIALIZED
           : !context         ? TERN_CU_INVALID_CONTEXT
           : !lives(context)  ? TERN_CU_CONTEXT_IS_DESTROYED
                              : 0;
}

static struct CUctx_st *make(int device, bool primary)
{
    static unsigned long long ids;
    struct CUctx_st *made = NULL;
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < CONTEXTS && !made; i++)
        if (!lives(&contexts[i])) {
            contexts[i] = (struct CUctx_st){device, primary, false, 1, ++ids, 0};
            made = &contexts[i];
            __atomic_store_n(&made->alive, true, __ATOMIC_RELAXED);
        }
    pthread_mutex_unlock(&fake_gate);
    return made;
}

struct CUctx_st *fake_primary_of(int device)
{
    struct CUctx_st *found = NULL;
    pthread_mutex_lock(&fake_gate);
    for (int i = 0; i < CONTEXTS && !found; i++)
        if (lives(&contexts[i]) && contexts[i].primary && contexts[i].device == device)
            found = &contexts[i];
    pthread_mutex_unlock(&fake_gate);
    return found;
}

struct CUctx_st *fake_make_primary(int device)
{
    fake_initialized = true;
    if (!visible_count)
        look_at_devices();
    return make(device, true);
}

static void destroy(struct CUctx_st *context)
{
    __atomic_store_n(&context->alive, false, __ATOMIC_RELAXED);
    fake_forget_streams(context);
    fake_forget_modules(context);
    fake_forget_registered(context);
    fake_give_all_of(context);
}

void fake_list_contexts(void)
{
    for (int i = 0; i < CONTEXTS; i++)
        if (contexts[i].alive && !contexts[i].primary)
            fprintf(stderr, "fake_cuda: a context of device %d was not destroyed\n",
                    contexts[i].device);
}

API int cuInit(unsigned flags)
{
    if (flags)
        return TERN_CU_INVALID_VALUE;
    look_at_devices();
    if (!visible_count)
        return 100; /* CUDA_ERROR_NO_DEVICE */
    fake_initialized = true;
    return 0;
}

API int cuCtxGetId(struct CUctx_st *context, unsigned long long *ret_id)
{
    fake_count(__func__);
    if (!lives(context))
        return TERN_CU_INVALID_CONTEXT;
    *ret_id = context->id;
    return 0;
}

API int cuCtxGetFlags(unsigned *ret_flags)
{
    int rc = fake_usable(__func__);
    if (!rc)
        *ret_flags = __atomic_load_n(&fake_current()->flags, __ATOMIC_RELAXED);
    return rc;
}

API int cuCtxSetFlags(unsigned flags)
{
    int rc = fake_usable(__func__);
    if (!rc && getenv("FAKE_CUDA_FLAGS"))
        rc = FAKE_NOT_SUPPORTED;
    if (!rc)
        __atomic_store_n(&fake_current()->flags, flags, __ATOMIC_RELAXED);
    return rc;
}

API int cuDriverGetVersion(int *ret_version)
{
    *ret_version = 13000;
    return 0;
}

API int cuDeviceGetCount(int *ret_count)
{
    *ret_count = visible_count;
    return fake_initialized ? 0 : TERN_CU_NOT_INITIALIZED;
}

API int cuDeviceGetName(char *ret_name, int room, int device)
{
    if (device < 0 || device >= visible_count)
        return FAKE_INVALID_DEVICE;
    snprintf(ret_name, (size_t)room, "Fake GPU 1");
    return 0;
}

API int cuDeviceGetPCIBusId(char *ret_address, int room, int device)
{
    enum { FIRST = 0x1a };
    if (device < 0 || device >= visible_count)
        return FAKE_INVALID_DEVICE;
    snprintf(ret_address, (size_t)room, "0000:%02X:00.0", FIRST + visible[device]);
    return 0;
}

API int cuDeviceGet(int *ret_device, int ordinal)
{
    *ret_device = ordinal;
    return ordinal >= 0 && ordinal < visible_count ? 0 : FAKE_INVALID_DEVICE;
}

API int cuDeviceCanAccessPeer(int *ret_can, int device, int peer)
{
    if (device < 0 || device >= visible_count || peer < 0 || peer >= visible_count)
        return FAKE_INVALID_DEVICE;
    *ret_can = device != peer && fake_peers(visible[device], visible[peer]);
    return 0;
}

API int cuGetErrorName(int error, const char **ret_name)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {{0, "CUDA_SUCCESS"},
                 {1, "CUDA_ERROR_INVALID_VALUE"},
                 {2, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {3, "CUDA_ERROR_NOT_INITIALIZED"},
                 {100, "CUDA_ERROR_NO_DEVICE"},
                 {101, "CUDA_ERROR_INVALID_DEVICE"},
                 {201, "CUDA_ERROR_INVALID_CONTEXT"},
                 {208, "CUDA_ERROR_ALREADY_MAPPED"},
                 {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED"},
                 {400, "CUDA_ERROR_INVALID_HANDLE"},
                 {600, "CUDA_ERROR_NOT_READY"},
                 {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED"},
                 {801, "CUDA_ERROR_NOT_SUPPORTED"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].error == error) {
            *ret_name = names[i].name;
            return 0;
        }
    *ret_name = NULL;
    return TERN_CU_INVALID_VALUE;
}

API int cuGetErrorString(int error, const char **ret_text)
{
    (void)error;
    *ret_text = "says the fake driver";
    return 0;
}

API int cuCtxPushCurrent_v2(struct CUctx_st *context)
{
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (!lives(context))
        return TERN_CU_INVALID_CONTEXT;
    if (depth == DEPTH)
        fake_die("fake_cuda: contexts are pushed and never popped\n");
    stack[depth++] = context;
    return 0;
}

API int cuCtxPopCurrent_v2(struct CUctx_st **ret_context)
{
    fake_count(__func__);
    if (!depth)
        return TERN_CU_INVALID_CONTEXT;
    *ret_context = stack[--depth];
    return 0;
}

API int cuCtxSetCurrent(struct CUctx_st *context)
{
    fake_count(__func__);
    if (!context) {
        depth -= depth > 0;
        return 0;
    }
    depth = depth ? depth : 1;
    stack[depth - 1] = context;
    return 0;
}

API int cuCtxGetCurrent(struct CUctx_st **ret_context)
{
    fake_count(__func__);
    *ret_context = fake_current();
    return fake_initialized ? 0 : TERN_CU_NOT_INITIALIZED;
}

API int cuCtxGetDevice(int *ret_device)
{
    int rc = fake_usable(__func__);
    if (!rc)
        *ret_device = fake_current()->device;
    return rc;
}

API int cuCtxCreate_v2(struct CUctx_st **ret_context, unsigned flags, int device)
{
    (void)flags;
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (device < 0 || device >= visible_count)
        return FAKE_INVALID_DEVICE;
    *ret_context = make(device, false);
    return *ret_context ? cuCtxPushCurrent_v2(*ret_context) : FAKE_OUT_OF_MEMORY;
}

API int cuCtxDestroy_v2(struct CUctx_st *context)
{
    fake_count(__func__);
    if (!lives(context) || context->primary)
        return TERN_CU_INVALID_CONTEXT;
    if (fake_current() == context)
        depth--;
    destroy(context);
    return 0;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *ret_flags, int *ret_active)
{
    fake_count(__func__);
    if (device < 0 || device >= visible_count)
        return FAKE_INVALID_DEVICE;
    struct CUctx_st *context = fake_primary_of(device);
    *ret_flags = context ? __atomic_load_n(&context->flags, __ATOMIC_RELAXED) : 0;
    *ret_active = context != NULL;
    return 0;
}

API int cuDevicePrimaryCtxRetain(struct CUctx_st **ret_context, int device)
{
    fake_count(__func__);
    if (!fake_initialized)
        return TERN_CU_NOT_INITIALIZED;
    if (device < 0 || device >= visible_count)
        return FAKE_INVALID_DEVICE;
    pthread_mutex_lock(&fake_gate);
    *ret_context = fake_primary_of(device);
    if (*ret_context)
        (*ret_context)->refs++;
    else
        *ret_context = make(device, true);
    pthread_mutex_unlock(&fake_gate);
    return *ret_context ? 0 : FAKE_OUT_OF_MEMORY;
}

API int cuDevicePrimaryCtxRelease_v2(int device)
{
    fake_count(__func__);
    pthread_mutex_lock(&fake_gate);
    struct CUctx_st *context = fake_primary_of(device);
    bool last = context && --context->refs == 0;
    pthread_mutex_unlock(&fake_gate);
    if (last)
        destroy(context);
    return context ? 0 : TERN_CU_INVALID_CONTEXT;
}
