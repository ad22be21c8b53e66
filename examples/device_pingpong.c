/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A message goes from the memory of one GPU to that of another and back: MPI gets the addresses on the devices. CUDA's
 * driver is loaded when the program runs, so it compiles without CUDA and says so where there is no device.
 *
 *     mpirun -n 2 ./device_pingpong
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 4 << 20, ROUNDS = 20 };

/* What is used of the driver. All return 0 if they succeed; an address on a device is a number. */
static struct {
    int (*init)(unsigned flags);
    int (*device_count)(int *count);
    int (*device_get)(int *device, int number);
    int (*context_retain)(void **context, int device);
    int (*context_set)(void *context);
    int (*allocate)(uint64_t *address, size_t bytes);
    int (*release)(uint64_t address);
    int (*to_device)(uint64_t to, const void *from, size_t bytes);
    int (*to_host)(void *to, uint64_t from, size_t bytes);
} cuda;

/* Loads the driver. Returns NULL, or what is missing. */
static const char *load_driver(void)
{
    static const struct {
        const char *name;
        void *at;
    } functions[] = {
        {"cuInit", &cuda.init},
        {"cuDeviceGetCount", &cuda.device_count},
        {"cuDeviceGet", &cuda.device_get},
        {"cuDevicePrimaryCtxRetain", &cuda.context_retain},
        {"cuCtxSetCurrent", &cuda.context_set},
        {"cuMemAlloc_v2", &cuda.allocate},
        {"cuMemFree_v2", &cuda.release},
        {"cuMemcpyHtoD_v2", &cuda.to_device},
        {"cuMemcpyDtoH_v2", &cuda.to_host},
    };
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return "there is no libcuda.so.1";
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *found = dlsym(driver, functions[i].name);
        if (!found)
            return "libcuda.so.1 is too old";
        memcpy(functions[i].at, &found, sizeof found);
    }
    return NULL;
}

/* Chooses a device for this rank and allocates the buffer there. Returns NULL, or why that is impossible. */
static const char *prepare(int rank, uint64_t *buffer)
{
    int count = 0, device;
    void *context;
    const char *missing = load_driver();
    if (missing)
        return missing;
    if (cuda.init(0) || cuda.device_count(&count) || count == 0)
        return "there is no CUDA device";
    if (cuda.device_get(&device, rank % count) || cuda.context_retain(&context, device) || cuda.context_set(context) ||
        cuda.allocate(buffer, BYTES))
        return "no memory on the device";
    return NULL;
}

static void fill(unsigned char *bytes, int seed)
{
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + i / 251 + seed);
}

int main(int argc, char **argv)
{
    int rank, size, length, wrong = 0;
    char host[MPI_MAX_PROCESSOR_NAME];
    uint64_t buffer = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Get_processor_name(host, &length);
    if (size < 2) {
        fprintf(stderr, "device_pingpong: needs two ranks: mpirun -n 2 ./device_pingpong\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    /* all ranks go on, or none does */
    const char *missing = rank < 2 ? prepare(rank, &buffer) : NULL;
    int can = !missing, all_can;
    MPI_Allreduce(&can, &all_can, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (missing)
        printf("device_pingpong: skipped, on %s %s\n", host, missing);

    unsigned char *sent = malloc(BYTES), *back = malloc(BYTES);
    if (!sent || !back)
        MPI_Abort(MPI_COMM_WORLD, 1);
    double begin = MPI_Wtime();
    for (int round = 0; all_can && rank < 2 && round < ROUNDS; round++) {
        void *on_device = (void *)(uintptr_t)buffer;
        if (rank == 0) {
            fill(sent, round);
            wrong |= cuda.to_device(buffer, sent, BYTES);
            MPI_Send(on_device, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(on_device, BYTES, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong |= cuda.to_host(back, buffer, BYTES) || memcmp(sent, back, BYTES);
        } else {
            MPI_Recv(on_device, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(on_device, BYTES, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    }
    if (rank == 0 && all_can) {
        printf("%d messages of %d bytes between devices and back, %s\n", ROUNDS, BYTES, wrong ? "WRONG" : "right");
        fprintf(stderr, "%.2f GB/s, with filling and comparing\n", 2e-9 * BYTES * ROUNDS / (MPI_Wtime() - begin));
    }
    free(sent);
    free(back);
    if (buffer)
        cuda.release(buffer);
    MPI_Finalize();
    return wrong != 0;
}
