/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of runs stay on the device: the second message with a buffer and a datatype that no loops describe writes none. On 2
 * ranks; what arrives is compared each time, also when types are freed while messages are under way, when there are more types
 * than lists can be kept, and when contexts come and go. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { RUNS = 3000, SPAN = 4 * RUNS, MANY = 40 };

static long (*calls)(const char *);

/* Returns a type of RUNS ints at distances that differ, others for each `seed`. */
static MPI_Datatype make_type(int seed, int places[RUNS])
{
    MPI_Datatype type;
    for (int i = 0; i < RUNS; i++)
        places[i] = 4 * i + (i * i + seed + i / 7) % 4;
    CHECK_OK(MPI_Type_create_indexed_block(RUNS, 1, places, MPI_INT, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void check_arrived(const int *device, const int places[RUNS], int first, const char *what)
{
    int *host = malloc(SPAN * sizeof *host);
    CU(cu_to_host(host, (uintptr_t)device, SPAN * sizeof *host));
    for (int i = 0, at = 0; i < SPAN; i++) {
        bool run = at < RUNS && places[at] == i;
        at += run;
        if (host[i] != (run ? first + i : -1 - i))
            FAIL("%s: element %d is %d", what, i, host[i]);
    }
    free(host);
}

static void reset(int *device, int first)
{
    int *host = malloc(SPAN * sizeof *host);
    for (int i = 0; i < SPAN; i++)
        host[i] = rank == 0 ? first + i : -1 - i;
    CU(cu_to_device((uintptr_t)device, host, SPAN * sizeof *host));
    free(host);
}

/* Passes a message of one element from rank 0 to rank 1. Returns how many lists both have read from host memory. */
static long passes(int *device, MPI_Datatype type, const int places[RUNS], int first, const char *what)
{
    long before = calls("lists in host memory"), mine, both;
    reset(device, first);
    if (rank == 0)
        CHECK_OK(MPI_Send(device, 1, type, 1, 1, MPI_COMM_WORLD));
    else
        CHECK_OK(MPI_Recv(device, 1, type, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    if (rank == 1)
        check_arrived(device, places, first, what);
    mine = calls("lists in host memory") - before;
    CHECK_OK(MPI_Allreduce(&mine, &both, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD));
    return both;
}

static void check_kept(int *device)
{
    int places[RUNS];
    MPI_Datatype copy, type = make_type(1, places);
    CHECK_INT(passes(device, type, places, 100, "first use"), 2);
    CHECK_INT(passes(device, type, places, 200, "second use"), 0);
    CHECK_OK(MPI_Type_dup(type, &copy));
    CHECK_INT(passes(device, copy, places, 300, "duplicate"), 0);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_INT(passes(device, copy, places, 400, "the duplicate of a freed type"), 0);
    CHECK_OK(MPI_Type_free(&copy));
    type = make_type(2, places); /* its memory may be that of the first one */
    CHECK_INT(passes(device, type, places, 500, "another type"), 2);
    CHECK_INT(passes(device, type, places, 600, "another type again"), 0);
    CHECK_OK(MPI_Type_free(&type));
}

/* Many messages under way; each type is freed as soon as its message has begun. */
static void check_freed(int *devices[MANY])
{
    int(*places)[RUNS] = malloc(MANY * sizeof *places);
    MPI_Request requests[MANY];
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            reset(devices[i], 10 * i + round);
        for (int i = 0; i < MANY; i++) {
            MPI_Datatype type = make_type(i + round, places[i]);
            if (rank == 0)
                CHECK_OK(MPI_Isend(devices[i], 1, type, 1, i, MPI_COMM_WORLD, &requests[i]));
            else
                CHECK_OK(MPI_Irecv(devices[i], 1, type, 0, i, MPI_COMM_WORLD, &requests[i]));
            CHECK_OK(MPI_Type_free(&type));
        }
        CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < MANY && rank == 1; i++)
            check_arrived(devices[i], places[i], 10 * i + round, "freed type");
    }
    free(places);
}

/* More types than lists can be kept, in turn. */
static void check_many(int *device)
{
    int(*places)[RUNS] = malloc(MANY * sizeof *places);
    MPI_Datatype types[MANY];
    for (int i = 0; i < MANY; i++)
        types[i] = make_type(i % 4, places[i]);
    for (int i = 0; i < 3 * MANY; i++)
        passes(device, types[i % MANY], places[i % MANY], i, "many types");
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_Type_free(&types[i]));
    free(places);
}

static void check_contexts(void)
{
    int places[RUNS];
    context own, before = NULL;
    MPI_Datatype type = make_type(3, places);
    CU(cu_retain(&before, 0));
    for (int i = 0; i < 4; i++) {
        CU(cu_create(&own, 0, 0));
        CU(cu_set(own));
        int *device = take_ints(DEVICE, SPAN);
        if (passes(device, type, places, i, "a context of its own") == 0)
            FAIL("no list was written for context %d", i);
        CHECK_INT(passes(device, type, places, i, "the same again"), 0);
        CU(cu_destroy(own));
        CU(cu_set(before));
    }
    CHECK_OK(MPI_Type_free(&type));
}

int main(int argc, char **argv)
{
    context primary;
    int *devices[MANY];
    load_driver();
    calls = find_calls();
    start(&argc, &argv);
    CU(cu_retain(&primary, 0));
    CU(cu_set(primary));
    for (int i = 0; i < MANY; i++)
        devices[i] = take_ints(DEVICE, SPAN);
    check_kept(devices[0]);
    check_freed(devices);
    check_many(devices[0]);
    check_contexts();
    for (int i = 0; i < MANY; i++)
        give_ints(DEVICE, devices[i]);
    return end();
}
