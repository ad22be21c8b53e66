/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; args: 1500; long-args: 20000; libs: -lmpi_usempif08 -lmpi_mpifh */
/* Array sections as buffers of mpi_f08, as a compiler passes them: random ones of rank 1 to 15, with gaps and backwards,
 * in counts that do not fill a dimension, against elements gathered one by one. Also as receive buffers, where nothing
 * but the elements may change, in nonblocking and persistent calls, in reductions and in gathers, and with datatypes
 * that have gaps themselves. */
#include "check.h"

/* The part of ISO_Fortran_binding.h's descriptor that all compilers share. */
struct descriptor {
    void *base;
    size_t element_bytes;
    int version;
    unsigned char rank;
    signed char differs[3];
    struct {
        ptrdiff_t lower, extent, stride;
    } dim[15];
};

void mpi_sendrecv_f08ts(struct descriptor *, int *, MPI_Fint *, int *, int *, struct descriptor *, int *, MPI_Fint *,
                        int *, int *, MPI_Fint *, void *, MPI_Fint *);
void mpi_isend_f08ts(struct descriptor *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_irecv_c_f08ts(struct descriptor *, MPI_Count *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_waitall_(int *, MPI_Fint *, void *, MPI_Fint *);
void mpi_wait_(MPI_Fint *, void *, MPI_Fint *);
void mpi_allreduce_f08ts(struct descriptor *, struct descriptor *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                         MPI_Fint *);
void mpi_iallreduce_f08ts(struct descriptor *, struct descriptor *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                          MPI_Fint *, MPI_Fint *);
void mpi_allgather_f08ts(struct descriptor *, int *, MPI_Fint *, struct descriptor *, int *, MPI_Fint *, MPI_Fint *,
                         MPI_Fint *);
void mpi_allreduce_init_f08ts(struct descriptor *, struct descriptor *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *,
                              MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_allgather_init_f08ts(struct descriptor *, int *, MPI_Fint *, struct descriptor *, int *, MPI_Fint *,
                              MPI_Fint *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_recv_init_f08ts(struct descriptor *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *, MPI_Fint *);
void mpi_send_f08ts(struct descriptor *, int *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *);
void mpi_psend_init_f08ts(struct descriptor *, int *, MPI_Count *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *,
                          MPI_Fint *, MPI_Fint *);
void mpi_precv_init_f08ts(struct descriptor *, int *, MPI_Count *, MPI_Fint *, int *, int *, MPI_Fint *, MPI_Fint *,
                          MPI_Fint *, MPI_Fint *);
void mpi_start_(MPI_Fint *, MPI_Fint *);
void mpi_pready_(int *, MPI_Fint *, MPI_Fint *);
void mpi_request_free_(MPI_Fint *, MPI_Fint *);
void mpi_pack_f08ts(struct descriptor *, int *, MPI_Fint *, struct descriptor *, int *, int *, MPI_Fint *, MPI_Fint *);

enum { ROOM = 1 << 16 };
static unsigned char store[ROOM], before[ROOM], flat[ROOM + 64], back[ROOM + 64];
static uint64_t state;

static int below(int limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)limit);
}

/* A section somewhere in `store`. */
static struct descriptor random_section(size_t bytes)
{
    struct descriptor d = {.element_bytes = bytes, .rank = (unsigned char)(1 + below(15))};
    ptrdiff_t distance = (ptrdiff_t)bytes, begin = 0;
    int most = d.rank <= 2 ? 12 : d.rank <= 4 ? 5 : 2;

    for (int i = 0; i < d.rank; i++) {
        ptrdiff_t extent = 1 + below(most), step = d.rank > 6 ? 1 : 1 + below(3);
        ptrdiff_t whole = extent * step + (d.rank > 8 ? below(8) == 0 : below(2));
        d.dim[i].extent = extent;
        d.dim[i].stride = distance * step;
        if (below(3) == 0)
            d.dim[i].stride = -d.dim[i].stride;
        if (distance * whole > ROOM) { /* no room for more dimensions */
            d.rank = (unsigned char)i;
            break;
        }
        distance *= whole;
    }
    for (int i = 0; i < d.rank; i++)
        if (d.dim[i].stride < 0)
            begin -= d.dim[i].stride * (d.dim[i].extent - 1);
    d.base = store + begin;
    return d;
}

static long elements_of(const struct descriptor *d)
{
    long n = 1;
    for (int i = 0; i < d->rank; i++)
        n *= d->dim[i].extent;
    return n;
}

static unsigned char *element(const struct descriptor *d, long index)
{
    unsigned char *at = d->base;
    for (int i = 0; i < d->rank; i++) {
        at += index % d->dim[i].extent * d->dim[i].stride;
        index /= d->dim[i].extent;
    }
    return at;
}

static void naive_pack(const struct descriptor *d, unsigned char *run)
{
    for (long i = 0; i < elements_of(d); i++)
        memcpy(run + i * d->element_bytes, element(d, i), d->element_bytes);
}

static struct descriptor run_of(void *memory, size_t bytes, long n)
{
    return (struct descriptor){
        .base = memory, .element_bytes = bytes, .rank = 1, .dim = {{1, n, (ptrdiff_t)bytes}}};
}

static void fill_store(void)
{
    for (int i = 0; i < ROOM; i++)
        store[i] = (unsigned char)below(256);
    memcpy(before, store, ROOM);
    memset(flat, 0xEE, sizeof flat);
}

/* All of `store` is as it was, but for the first `bytes` bytes of the section's elements, which are those of `run`. */
static void check_store(const struct descriptor *d, const unsigned char *run, long bytes)
{
    memcpy(back, run, bytes);
    for (long i = 0; i < bytes; i++)
        before[element(d, i / d->element_bytes) - store + i % d->element_bytes] = back[i];
    CHECK(memcmp(before, store, ROOM) == 0);
}

static MPI_Fint self, world_type[4], null_status[6];
static int zero = 0, ok;

static void one(size_t bytes, MPI_Fint type, int type_bytes)
{
    fill_store();
    struct descriptor d = random_section(bytes), run = run_of(flat, bytes, elements_of(&d));
    long most = elements_of(&d) * (long)bytes / type_bytes;
    int count = below(4) ? below((int)most + 1) : (int)most;
    long used = (long)count * type_bytes;
    MPI_Count count_c = count;
    MPI_Fint requests[2];

    naive_pack(&d, back);
    mpi_sendrecv_f08ts(&d, &count, &type, &zero, &zero, &run, &count, &type, &zero, &zero, &self, null_status, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    CHECK(memcmp(flat, back, used) == 0);
    CHECK(flat[used] == 0xEE);
    for (long i = 0; i < used; i++)
        flat[i] = (unsigned char)below(256);
    mpi_irecv_c_f08ts(&d, &count_c, &type, &zero, &zero, &self, &requests[0], &ok);
    mpi_isend_f08ts(&run, &count, &type, &zero, &zero, &self, &requests[1], &ok);
    int two = 2;
    MPI_Status statuses[2];
    mpi_waitall_(&two, requests, statuses, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    check_store(&d, flat, used);

    memset(flat, 0xEE, sizeof flat);
    naive_pack(&d, back);
    int position = 0, room = sizeof flat;
    mpi_pack_f08ts(&d, &count, &type, &run, &room, &position, &self, &ok);
    CHECK_INT(position, used);
    CHECK(memcmp(flat, back, used) == 0);
}

/* Reductions and gathers of one rank give what was sent. */
static void collective(void)
{
    fill_store();
    struct descriptor d = random_section(4), run = run_of(flat, 4, elements_of(&d));
    MPI_Fint type = world_type[0], op = MPI_Op_c2f(MPI_SUM), request;
    int count = (int)elements_of(&d);

    naive_pack(&d, back);
    mpi_allreduce_f08ts(&d, &run, &count, &type, &op, &self, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    CHECK(memcmp(flat, back, 4 * count) == 0);
    memset(flat, 0xEE, sizeof flat);
    mpi_allgather_f08ts(&d, &count, &type, &run, &count, &type, &self, &ok);
    CHECK(memcmp(flat, back, 4 * count) == 0);
    for (int i = 0; i < 4 * count; i++)
        flat[i] = (unsigned char)below(256);
    if (below(2))
        mpi_allgather_f08ts(&run, &count, &type, &d, &count, &type, &self, &ok);
    else {
        mpi_iallreduce_f08ts(&run, &d, &count, &type, &op, &self, &request, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        mpi_wait_(&request, null_status, &ok);
    }
    CHECK_INT(ok, MPI_SUCCESS);
    check_store(&d, flat, 4 * count);
}

static void fill_flat(long bytes)
{
    for (long i = 0; i < bytes; i++)
        flat[i] = (unsigned char)below(256);
}

/* Persistent collectives of one rank: each start takes what the section holds then, each completion writes there. */
static void persistent(void)
{
    fill_store();
    struct descriptor d = random_section(4), run = run_of(flat, 4, elements_of(&d));
    MPI_Fint type = world_type[0], op = MPI_Op_c2f(MPI_SUM), info = MPI_Info_c2f(MPI_INFO_NULL), request;
    int count = (int)elements_of(&d), out = below(2);

    if (out)
        mpi_allreduce_init_f08ts(&d, &run, &count, &type, &op, &self, &info, &request, &ok);
    else if (below(2))
        mpi_allgather_init_f08ts(&run, &count, &type, &d, &count, &type, &self, &info, &request, &ok);
    else
        mpi_allreduce_init_f08ts(&run, &d, &count, &type, &op, &self, &info, &request, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    for (int round = 0; round < 3; round++) {
        if (out)
            fill_store();
        else
            fill_flat(4 * count);
        naive_pack(&d, back);
        mpi_start_(&request, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        mpi_wait_(&request, null_status, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        if (out)
            CHECK(memcmp(flat, back, 4 * count) == 0);
        else
            check_store(&d, flat, 4 * count);
    }
    mpi_request_free_(&request, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
}

/* A datatype of two elements with a gap of one between them: as if the section were an array without gaps. */
static void with_gaps(MPI_Fint gaps)
{
    fill_store();
    struct descriptor d = random_section(4), run = run_of(flat, 4, elements_of(&d));
    int count = (int)elements_of(&d) / 3, twice = 2 * count;
    MPI_Fint type = world_type[0], request, received;
    MPI_Count room = twice;

    naive_pack(&d, back);
    mpi_isend_f08ts(&d, &count, &gaps, &zero, &zero, &self, &request, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    mpi_irecv_c_f08ts(&run, &room, &type, &zero, &zero, &self, &received, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    mpi_wait_(&received, null_status, &ok);
    mpi_wait_(&request, null_status, &ok);
    for (int i = 0; i < count; i++) {
        CHECK(memcmp(flat + 8 * i, back + 12 * i, 4) == 0);
        CHECK(memcmp(flat + 8 * i + 4, back + 12 * i + 8, 4) == 0);
    }

    fill_flat(8 * count);
    mpi_recv_init_f08ts(&d, &count, &gaps, &zero, &zero, &self, &request, &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    for (int round = 0; round < 2; round++) {
        fill_flat(8 * count);
        naive_pack(&d, back);
        for (int i = 0; i < count; i++) {
            memcpy(back + 12 * i, flat + 8 * i, 4);
            memcpy(back + 12 * i + 8, flat + 8 * i + 4, 4);
        }
        mpi_start_(&request, &ok);
        mpi_send_f08ts(&run, &twice, &type, &zero, &zero, &self, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        mpi_wait_(&request, null_status, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        check_store(&d, back, 12 * count);
    }
    mpi_request_free_(&request, &ok);
}

/* Partitions of every second and every third element. */
static void partitions(void)
{
    fill_store();
    struct descriptor from = {.base = store, .element_bytes = 4, .rank = 1, .dim = {{1, 40, 8}}};
    struct descriptor to = {.base = store + 1000, .element_bytes = 4, .rank = 1, .dim = {{1, 40, 12}}};
    MPI_Fint type = world_type[0], info = MPI_Info_c2f(MPI_INFO_NULL), requests[2];
    int parts = 8, two = 2;
    MPI_Count count = 5;
    MPI_Status statuses[2];

    mpi_psend_init_f08ts(&from, &parts, &count, &type, &zero, &zero, &self, &info, &requests[0], &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    mpi_precv_init_f08ts(&to, &parts, &count, &type, &zero, &zero, &self, &info, &requests[1], &ok);
    CHECK_INT(ok, MPI_SUCCESS);
    for (int round = 0; round < 2; round++) {
        mpi_start_(&requests[1], &ok);
        mpi_start_(&requests[0], &ok);
        for (int i = 0; i < 40; i++) /* written after the start, ready one by one */
            store[8 * i] = (unsigned char)below(256);
        memcpy(before, store, ROOM);
        for (int i = parts - 1; i >= 0; i--)
            mpi_pready_(&i, &requests[0], &ok);
        mpi_waitall_(&two, requests, statuses, &ok);
        CHECK_INT(ok, MPI_SUCCESS);
        naive_pack(&from, flat);
        check_store(&to, flat, 160);
    }
    mpi_request_free_(&requests[0], &ok);
    mpi_request_free_(&requests[1], &ok);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1500;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

    printf("seed %llu\n", (unsigned long long)seed);
    self = MPI_Comm_c2f(MPI_COMM_SELF);
    world_type[0] = MPI_Type_c2f(MPI_INT);
    MPI_Datatype gaps;
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    for (int i = 0; i < rounds; i++) {
        state = seed + (uint64_t)i;
        one(4, MPI_Type_c2f(MPI_INT), 4);
        one(8, MPI_Type_c2f(MPI_DOUBLE), 8);
        one(4, MPI_Type_c2f(MPI_2INT), 8);
        one(8, MPI_Type_c2f(MPI_BYTE), 1);
        one(3, MPI_Type_c2f(MPI_CHAR), 1);
        collective();
        persistent();
        with_gaps(MPI_Type_c2f(gaps));
    }
    partitions();
    CHECK_OK(MPI_Type_free(&gaps));
    return end();
}
