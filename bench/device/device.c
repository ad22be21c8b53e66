/* SPDX-License-Identifier: BSD-3-Clause */

/* Times of messages, packing, reductions and collectives with buffers in device memory, beside bare copies of the driver. Two
 * ranks, both on device 0, or with --devices each on the device of its rank. Microseconds, the best of some rounds.
 *
 * Where two processes share a device, the driver lets them take turns, which costs more than all else: most rows are
 * therefore such that only one rank uses the device. */
#include "../../test/device/fake_cuda.h"
#include "best.h"

#include <mpi.h>
#include <string.h>

enum { MOST = 64 << 20, ROUNDS = 5 };

static int rank, devices;
static char *host;
static uint64_t device, other, pool;
static int (*cu_copy)(uint64_t, uint64_t, size_t, void *), (*cu_wait)(void *), (*cu_stream)(void **, unsigned);
static void *stream;

static int times_of(size_t bytes)
{
    return bytes <= 4096 ? 100 : bytes <= 1 << 20 ? 20 : 4;
}

/* Returns us one way: rank 0 sends from `mine`, rank 1 receives to `mine` and answers with an empty message, whose time is not
 * subtracted. */
static double one_way(void *mine, int count, MPI_Datatype type)
{
    MPI_Barrier(MPI_COMM_WORLD);
    int bytes;
    MPI_Type_size(type, &bytes);
    return BEST(times_of((size_t)count * (size_t)bytes), {
        if (rank == 0) {
            MPI_Send(mine, count, type, 1, 0, MPI_COMM_WORLD);
            MPI_Recv(NULL, 0, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else {
            MPI_Recv(mine, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        }
    });
}

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static void copy(uint64_t to, uint64_t from, size_t bytes)
{
    CU(cu_copy(to, from, bytes, stream));
    CU(cu_wait(stream));
}

static void messages(void)
{
    if (rank == 0)
        printf("messages; `device` and `pool`: both ranks use the device\n%10s %9s %9s %9s %9s %9s | bare copies: %9s %9s %9s\n", "bytes",
               "host", "to host", "from host", "device", "pool", "to host", "from host", "device");
    for (size_t bytes = 8; bytes <= MOST; bytes *= 8) {
        int n = (int)bytes;
        double on_host = one_way(host, n, MPI_BYTE), to_host = one_way(rank ? host : at(device), n, MPI_BYTE);
        double from_host = one_way(rank ? at(device) : host, n, MPI_BYTE);
        double both = one_way(at(device), n, MPI_BYTE), pools = one_way(at(pool), n, MPI_BYTE);
        double bare[3] = {0};
        if (rank == 0) {
            bare[0] = BEST(times_of(bytes), CU(cu_to_host(host, device, bytes)));
            bare[1] = BEST(times_of(bytes), CU(cu_to_device(device, host, bytes)));
            bare[2] = BEST(times_of(bytes), copy(device, other, bytes));
            printf("%10d %9.2f %9.2f %9.2f %9.2f %9.2f |              %9.2f %9.2f %9.2f\n", n, on_host, to_host, from_host, both, pools,
                   bare[0], bare[1], bare[2]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* Returns a type of 16 MiB in runs: at twice their length, or at random distances of two or three lengths. */
static MPI_Datatype layout(int run, int random)
{
    int count = (16 << 20) / run, unit = 0;
    MPI_Datatype type;
    if (random) {
        int *places = malloc((size_t)count * sizeof *places);
        for (int i = 0; i < count; i++, unit += 2 + rand() % 2)
            places[i] = unit * run;
        MPI_Type_create_indexed_block(count, run, places, MPI_BYTE, &type);
        free(places);
    } else {
        MPI_Type_vector(count, run, 2 * run, MPI_BYTE, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

static void layouts(void)
{
    static const int runs[] = {4, 8, 64, 1024};
    int bytes = 16 << 20;
    if (rank == 0)
        printf("16 MiB in runs: a rank's message to itself, to one run; between ranks, one way, from device to device and to host\n"
               "%10s %10s %12s %12s %10s %12s %12s\n",
               "run", "distances", "to itself", "bare copy", "GB/s", "to device", "to host");
    for (int random = 0; random < 2; random++)
        for (int i = 0; i < 4; i++) {
            MPI_Datatype type = layout(runs[i], random);
            double us = 1, bare = 1;
            if (rank == 0) {
                us = BEST(3, MPI_Sendrecv(at(device), 1, type, 0, 0, at(other), bytes, MPI_BYTE, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE));
                bare = BEST(3, copy(other, device, (size_t)bytes));
            }
            MPI_Barrier(MPI_COMM_WORLD);
            double both = one_way(at(device), 1, type), to_host = one_way(rank ? host : at(device), 1, type);
            if (rank == 0)
                printf("%10d %10s %12.2f %12.2f %10.2f %12.2f %12.2f\n", runs[i], random ? "random" : "equal", us, bare, bytes / us / 1e3,
                       both, to_host);
            MPI_Type_free(&type);
        }
}

static void reductions(void)
{
    static const struct {
        const char *name;
        int type, size, op;
    } cases[] = {{"float sum", 0, 4, 0}, {"double sum", 1, 8, 0}, {"double max", 1, 8, 1}, {"int8 sum", 2, 1, 0}};
    const MPI_Datatype types[] = {MPI_FLOAT, MPI_DOUBLE, MPI_INT8_T};
    const MPI_Op ops[] = {MPI_SUM, MPI_MAX};
    if (rank)
        return;
    printf("MPI_Reduce_local in device memory\n%12s %10s %12s %20s\n", "", "bytes", "us", "GB/s read + written");
    for (int i = 0; i < 4; i++)
        for (int bytes = 4096; bytes <= MOST; bytes *= bytes == 16 << 20 ? 4 : 16) {
            double us = BEST(5, MPI_Reduce_local(at(device), at(other), bytes / cases[i].size, types[cases[i].type], ops[cases[i].op]));
            printf("%12s %10d %12.2f %20.2f\n", cases[i].name, bytes, us, 3.0 * bytes / us / 1e3);
        }
    double us = BEST(5, copy(other, device, MOST));
    printf("%12s %10d %12.2f %20.2f\n", "bare copy", MOST, us, 2.0 * MOST / us / 1e3);
}

static void collectives(void)
{
    if (rank == 0)
        printf("collectives of both ranks\n%10s %12s %12s %12s\n", "bytes", "allreduce", "bcast", "alltoall");
    for (int bytes = 8; bytes <= MOST / 2; bytes *= 16) {
        MPI_Barrier(MPI_COMM_WORLD);
        double all = BEST(3, MPI_Allreduce(at(device), at(other), bytes / 4, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD));
        MPI_Barrier(MPI_COMM_WORLD);
        double one = BEST(3, MPI_Bcast(at(device), bytes, MPI_BYTE, 0, MPI_COMM_WORLD); MPI_Barrier(MPI_COMM_WORLD));
        MPI_Barrier(MPI_COMM_WORLD);
        double each = BEST(3, MPI_Alltoall(at(device), bytes, MPI_BYTE, at(other), bytes, MPI_BYTE, MPI_COMM_WORLD));
        if (rank == 0)
            printf("%10d %12.2f %12.2f %12.2f\n", bytes, all, one, each);
    }
}

int main(int argc, char **argv)
{
    context primary;
    int size;
    load_driver();
    void *library = dlopen(getenv("FAKE_CUDA"), RTLD_NOW);
    *(void **)&cu_copy = dlsym(library, "cuMemcpyDtoDAsync_v2");
    *(void **)&cu_wait = dlsym(library, "cuStreamSynchronize");
    *(void **)&cu_stream = dlsym(library, "cuStreamCreate");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2) {
        fprintf(stderr, "run it on 2 ranks\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    devices = argc > 1 && strcmp(argv[1], "--devices") == 0;
    CU(cu_retain(&primary, devices ? rank : 0));
    CU(cu_set(primary));
    CU(cu_stream(&stream, 1));
    host = malloc(MOST);
    memset(host, 1, MOST);
    device = (uintptr_t)on_device(MOST);
    other = (uintptr_t)on_device(MOST);
    CU(cu_alloc_pool(&pool, MOST, NULL));
    CU(cu_to_device(device, host, MOST));
    CU(cu_to_device(pool, host, MOST));
    messages();
    layouts();
    reductions();
    collectives();
    CU(cu_free(device));
    CU(cu_free(other));
    CU(cu_free(pool));
    free(host);
    MPI_Finalize();
    return 0;
}
