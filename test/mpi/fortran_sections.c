/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; args: 1500; long-args: 20000; libs: -lmpi_usempif08 -lmpi_mpifh */
/* Array sections as buffers of mpi_f08, as a compiler passes them: random ones of rank 1 to 15, with gaps and backwards,
 * in counts that do not fill a dimension, against elements gathered one by one. Also as receive buffers, where nothing
 * but the elements may change, in nonblocking calls, in reductions and in gathers. */
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

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1500;
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;

    printf("seed %llu\n", (unsigned long long)seed);
    self = MPI_Comm_c2f(MPI_COMM_SELF);
    world_type[0] = MPI_Type_c2f(MPI_INT);
    for (int i = 0; i < rounds; i++) {
        state = seed + (uint64_t)i;
        one(4, MPI_Type_c2f(MPI_INT), 4);
        one(8, MPI_Type_c2f(MPI_DOUBLE), 8);
        one(4, MPI_Type_c2f(MPI_2INT), 8);
        one(8, MPI_Type_c2f(MPI_BYTE), 1);
        one(3, MPI_Type_c2f(MPI_CHAR), 1);
        collective();
    }
    return end();
}
