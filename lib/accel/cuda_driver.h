/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CUDA_DRIVER_H
#define TERN_CUDA_DRIVER_H

/*
 * The part of the CUDA driver API that Tern calls, declared here, so that a build without CUDA's
 * headers has device memory too. test/unit/test_cuda_header.c compares these declarations with
 * cuda.h where it is installed. Private to lib/accel.
 *
 * The driver is never linked and never loaded: it is used only if the program has loaded it. A
 * program without the driver cannot have device memory.
 */

#include <stddef.h>
#include <stdint.h>

typedef int tern_cu_result;    /* CUresult; 0: success */
typedef uint64_t tern_cu_addr; /* CUdeviceptr */
typedef struct CUctx_st *tern_cu_context;
typedef struct CUstream_st *tern_cu_stream;
typedef struct CUevent_st *tern_cu_event;
typedef struct CUmod_st *tern_cu_module;
typedef struct CUfunc_st *tern_cu_function;

/* CUipcMemHandle. */
struct tern_cu_ipc_handle {
    char bytes[64];
};

/* Values of CUresult. */
enum {
    TERN_CU_INVALID_VALUE = 1,
    TERN_CU_NOT_INITIALIZED = 3,
    TERN_CU_DEINITIALIZED = 4,
    TERN_CU_INVALID_CONTEXT = 201,
    TERN_CU_INVALID_HANDLE = 400,
    TERN_CU_INVALID_DEVICE = 101,
    TERN_CU_ALREADY_MAPPED = 208,
    TERN_CU_PEER_ACCESS_UNSUPPORTED = 217,
    TERN_CU_NOT_READY = 600,
    TERN_CU_CONTEXT_IS_DESTROYED = 709,
    TERN_CU_NOT_SUPPORTED = 801,
};

/* Values of CUpointer_attribute. */
enum {
    TERN_CU_ATTRIBUTE_CONTEXT = 1,
    TERN_CU_ATTRIBUTE_MEMORY_TYPE = 2,
    TERN_CU_ATTRIBUTE_DEVICE_POINTER = 3,
    TERN_CU_ATTRIBUTE_SYNC_MEMOPS = 6,
    TERN_CU_ATTRIBUTE_BUFFER_ID = 7,
    TERN_CU_ATTRIBUTE_IS_MANAGED = 8,
    TERN_CU_ATTRIBUTE_DEVICE_ORDINAL = 9,
};

/* Values of CUmemorytype. */
enum { TERN_CU_HOST = 1, TERN_CU_DEVICE = 2 };

enum {
    TERN_CU_STREAM_NON_BLOCKING = 1,
    /* handles of the program's default streams */
    TERN_CU_STREAM_LEGACY = 1,
    TERN_CU_STREAM_PER_THREAD = 2,
    TERN_CU_EVENT_DISABLE_TIMING = 2,
    TERN_CU_IPC_LAZY_PEER_ACCESS = 1,
    TERN_CU_REGISTER_PORTABLE = 1, /* for all contexts */
    TERN_CU_CONTEXT_SYNC_MEMOPS = 0x80,
    TERN_CU_RANGE_DMABUF = 1, /* CUmemRangeHandleType */
};

/* CUDA_MEMCPY2D of version 2. */
struct tern_cu_copy_2d {
    size_t from_x, from_y; /* in bytes, in rows */
    int from_type;
    const void *from_host;
    tern_cu_addr from_device;
    void *from_array;
    size_t from_pitch; /* in bytes */
    size_t to_x, to_y;
    int to_type;
    void *to_host;
    tern_cu_addr to_device;
    void *to_array;
    size_t to_pitch;
    size_t width, height; /* in bytes, in rows */
};

/* Columns: member, the driver's symbol, arguments. */
#define TERN_CU_CALLS(X)                                                                           \
    X(error_name, cuGetErrorName, (tern_cu_result, const char **))                                 \
    X(error_text, cuGetErrorString, (tern_cu_result, const char **))                               \
    X(pointer_attributes, cuPointerGetAttributes, (unsigned, int *, void **, tern_cu_addr))        \
    X(pointer_set, cuPointerSetAttribute, (const void *, int, tern_cu_addr))                       \
    X(context_current, cuCtxGetCurrent, (tern_cu_context *))                                       \
    X(device_count, cuDeviceGetCount, (int *))                                                     \
    X(context_device, cuCtxGetDevice, (int *))                                                     \
    X(context_push, cuCtxPushCurrent_v2, (tern_cu_context))                                        \
    X(context_pop, cuCtxPopCurrent_v2, (tern_cu_context *))                                        \
    X(primary_state, cuDevicePrimaryCtxGetState, (int, unsigned *, int *))                         \
    X(primary_retain, cuDevicePrimaryCtxRetain, (tern_cu_context *, int))                          \
    X(primary_release, cuDevicePrimaryCtxRelease_v2, (int))                                        \
    X(stream_create, cuStreamCreate, (tern_cu_stream *, unsigned))                                 \
    X(stream_destroy, cuStreamDestroy_v2, (tern_cu_stream))                                        \
    X(stream_query, cuStreamQuery, (tern_cu_stream))                                               \
    X(stream_wait, cuStreamSynchronize, (tern_cu_stream))                                          \
    X(event_create, cuEventCreate, (tern_cu_event *, unsigned))                                    \
    X(event_record, cuEventRecord, (tern_cu_event, tern_cu_stream))                                \
    X(event_query, cuEventQuery, (tern_cu_event))                                                  \
    X(event_wait, cuEventSynchronize, (tern_cu_event))                                             \
    X(event_destroy, cuEventDestroy_v2, (tern_cu_event))                                           \
    X(host_register, cuMemHostRegister_v2, (void *, size_t, unsigned))                             \
    X(host_unregister, cuMemHostUnregister, (void *))                                              \
    X(alloc, cuMemAlloc_v2, (tern_cu_addr *, size_t))                                              \
    X(free, cuMemFree_v2, (tern_cu_addr))                                                          \
    X(address_range, cuMemGetAddressRange_v2, (tern_cu_addr *, size_t *, tern_cu_addr))            \
    X(ipc_get, cuIpcGetMemHandle, (struct tern_cu_ipc_handle *, tern_cu_addr))                     \
    X(ipc_open, cuIpcOpenMemHandle_v2, (tern_cu_addr *, struct tern_cu_ipc_handle, unsigned))      \
    X(ipc_close, cuIpcCloseMemHandle, (tern_cu_addr))                                              \
    X(copy, cuMemcpyAsync, (tern_cu_addr, tern_cu_addr, size_t, tern_cu_stream))                   \
    X(copy_2d, cuMemcpy2DAsync_v2, (const struct tern_cu_copy_2d *, tern_cu_stream))               \
    X(module_load, cuModuleLoadData, (tern_cu_module *, const void *))                             \
    X(module_unload, cuModuleUnload, (tern_cu_module))                                             \
    X(module_function, cuModuleGetFunction, (tern_cu_function *, tern_cu_module, const char *))    \
    X(launch, cuLaunchKernel,                                                                      \
      (tern_cu_function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,     \
       tern_cu_stream, void **, void **))

/* The same, of calls that a driver may lack; the member is NULL then. */
#define TERN_CU_NEW_CALLS(X)                                                                       \
    X(context_id, cuCtxGetId, (tern_cu_context, unsigned long long *)) /* CUDA 12.0 */             \
    X(context_flags, cuCtxGetFlags, (unsigned *))                                                  \
    X(device_bus, cuDeviceGetPCIBusId, (char *, int, int))                                         \
    X(context_set_flags, cuCtxSetFlags, (unsigned)) /* CUDA 12.1 */                                \
    X(range_handle, cuMemGetHandleForAddressRange, /* CUDA 11.7 */                                 \
      (void *, tern_cu_addr, size_t, int, unsigned long long))

struct tern_cu_driver {
#define TERN_CU_MEMBER(member, symbol, arguments) tern_cu_result(*member) arguments;
    TERN_CU_CALLS(TERN_CU_MEMBER)
    TERN_CU_NEW_CALLS(TERN_CU_MEMBER)
#undef TERN_CU_MEMBER
};

/* Returns the driver if this process has loaded it, else NULL. Does not load it. A driver that
 * lacks a call counts as absent; a message says which call. Costs a walk through the list of loaded
 * libraries only when the list has grown since the last call. Thread-safe. */
const struct tern_cu_driver *tern_cu_driver(void);

#endif
