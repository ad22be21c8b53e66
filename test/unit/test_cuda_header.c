/* SPDX-License-Identifier: BSD-3-Clause */

/* What lib/accel declares of the CUDA driver API is what CUDA's header says, where it is installed. */
#include "config.h"
#include "lib/accel/cuda_driver.h"

#if HAVE_CUDA
#include "suite.h"

#include <cuda.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #theirs)
SAME(TERN_CU_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
SAME(TERN_CU_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
SAME(TERN_CU_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
SAME(TERN_CU_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
SAME(TERN_CU_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
SAME(TERN_CU_CONTEXT_IS_DESTROYED, CUDA_ERROR_CONTEXT_IS_DESTROYED);
SAME(TERN_CU_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
SAME(TERN_CU_ALREADY_MAPPED, CUDA_ERROR_ALREADY_MAPPED);
SAME(TERN_CU_PEER_ACCESS_UNSUPPORTED, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
SAME(TERN_CU_NOT_READY, CUDA_ERROR_NOT_READY);
SAME(TERN_CU_NOT_SUPPORTED, CUDA_ERROR_NOT_SUPPORTED);
SAME(TERN_CU_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
SAME(TERN_CU_IPC_LAZY_PEER_ACCESS, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
SAME(sizeof(struct tern_cu_ipc_handle), sizeof(CUipcMemHandle));
SAME(TERN_CU_ATTRIBUTE_CONTEXT, CU_POINTER_ATTRIBUTE_CONTEXT);
SAME(TERN_CU_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(TERN_CU_ATTRIBUTE_SYNC_MEMOPS, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS);
SAME(TERN_CU_ATTRIBUTE_BUFFER_ID, CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME(TERN_CU_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_IS_MANAGED);
SAME(TERN_CU_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(TERN_CU_HOST, CU_MEMORYTYPE_HOST);
SAME(TERN_CU_DEVICE, CU_MEMORYTYPE_DEVICE);
SAME(TERN_CU_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
SAME(TERN_CU_RANGE_DMABUF, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
SAME(sizeof(tern_cu_addr), sizeof(CUdeviceptr));
SAME(sizeof(tern_cu_result), sizeof(CUresult));

typedef struct tern_cu_copy_2d ours;
SAME(sizeof(ours), sizeof(CUDA_MEMCPY2D));
#define PLACE(mine, theirs) SAME(offsetof(ours, mine), offsetof(CUDA_MEMCPY2D, theirs))
PLACE(from_x, srcXInBytes);
PLACE(from_y, srcY);
PLACE(from_type, srcMemoryType);
PLACE(from_host, srcHost);
PLACE(from_device, srcDevice);
PLACE(from_array, srcArray);
PLACE(from_pitch, srcPitch);
PLACE(to_x, dstXInBytes);
PLACE(to_y, dstY);
PLACE(to_type, dstMemoryType);
PLACE(to_host, dstHost);
PLACE(to_device, dstDevice);
PLACE(to_array, dstArray);
PLACE(to_pitch, dstPitch);
PLACE(width, WidthInBytes);
PLACE(height, Height);

/* The driver's symbols have version numbers, which the header's macros add. */
#define STRING(x) #x
#define NAME(x) STRING(x)

START_TEST(versions)
{
    ck_assert_str_eq(NAME(cuCtxPushCurrent), "cuCtxPushCurrent_v2");
    ck_assert_str_eq(NAME(cuCtxPopCurrent), "cuCtxPopCurrent_v2");
    ck_assert_str_eq(NAME(cuDevicePrimaryCtxRelease), "cuDevicePrimaryCtxRelease_v2");
    ck_assert_str_eq(NAME(cuMemcpy2DAsync), "cuMemcpy2DAsync_v2");
    ck_assert_str_eq(NAME(cuMemcpyAsync), "cuMemcpyAsync");
    ck_assert_str_eq(NAME(cuCtxGetCurrent), "cuCtxGetCurrent");
    ck_assert_str_eq(NAME(cuStreamDestroy), "cuStreamDestroy_v2");
    ck_assert_str_eq(NAME(cuEventCreate), "cuEventCreate");
    ck_assert_str_eq(NAME(cuEventRecord), "cuEventRecord");
    ck_assert_str_eq(NAME(cuEventQuery), "cuEventQuery");
    ck_assert_str_eq(NAME(cuEventDestroy), "cuEventDestroy_v2");
    ck_assert_str_eq(NAME(cuMemGetAddressRange), "cuMemGetAddressRange_v2");
    ck_assert_str_eq(NAME(cuIpcGetMemHandle), "cuIpcGetMemHandle");
    ck_assert_str_eq(NAME(cuIpcOpenMemHandle), "cuIpcOpenMemHandle_v2");
    ck_assert_str_eq(NAME(cuIpcCloseMemHandle), "cuIpcCloseMemHandle");
    ck_assert_str_eq(NAME(cuStreamCreate), "cuStreamCreate");
    ck_assert_str_eq(NAME(cuMemGetHandleForAddressRange), "cuMemGetHandleForAddressRange");
    ck_assert_str_eq(NAME(cuDeviceGetPCIBusId), "cuDeviceGetPCIBusId");
    ck_assert_str_eq(NAME(cuPointerGetAttributes), "cuPointerGetAttributes");
}
END_TEST
int main(void)
{
    Suite *suite = suite_create("cuda_header");
    tcase_add_test(suite_case(suite, "versions"), versions);
    return suite_run(suite);
}
#else
#include <stdio.h>

int main(void)
{
    puts("no cuda.h here: nothing to compare with");
    return 77;
}
#endif
