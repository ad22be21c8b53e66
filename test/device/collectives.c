/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and persistent collectives on buffers that are at each rank somewhere else, many under way at a time. The first
 * argument says where: `devices`: on three devices in turn; `managed`: managed memory; `host`: rank 1 in host memory, the others
 * on devices; `all`: device, managed, pool, host in turn; `turns`: at each round another rank is in host memory. A second
 * argument `nonblocking` or `persistent`: only those; the third, `ipc` or `staged`, which way the long ones must go. */
#include "../mpi/check.h"
#include "fake_cuda.h"
#include "ints.h"

enum { LONG = 1 << 18, SHORT = 100, KINDS = 6, MOST_RANKS = 8 };

/* A collective call with its buffers. */
struct call {
    int what; /* ALLREDUCE ... */
    int n;    /* ints of a block */
    int *in, *out;
    int in_kind, out_kind;
    MPI_Request request;
};
enum { ALLREDUCE, BCAST, REDUCE, ALLGATHER, ALLTOALL, REDUCE_SCATTER };

static const char *where = "devices";
static int rounds = 4, starts = 8; /* of nonblocking calls, of a persistent one */

static int kind_of(int round)
{
    static const int kinds[] = {DEVICE, MANAGED, POOL, HOST};
    if (strcmp(where, "managed") == 0)
        return MANAGED;
    if (strcmp(where, "host") == 0)
        return rank == 1 ? HOST : DEVICE;
    if (strcmp(where, "all") == 0)
        return kinds[(rank + round) % 4];
    if (strcmp(where, "turns") == 0)
        return (rank + round) % (size + 1) == 0 ? HOST : DEVICE;
    return DEVICE;
}

/* The value of element i that `from` gives to `to`. */
static int value(int seed, int from, int to, int i)
{
    return seed * 1000 + from * 100 + to * 10 + i % 7;
}

static void write_block(int kind, int *at, int n, int seed, int from, int to)
{
    int *host = malloc((size_t)n * sizeof *host);
    for (int i = 0; i < n; i++)
        host[i] = value(seed, from, to, i);
    if (kind == HOST)
        memcpy(at, host, (size_t)n * sizeof *host);
    else
        CU(cu_to_device((uintptr_t)at, host, (size_t)n * sizeof *host));
    free(host);
}

/* Checks a block from rank `from` to rank `to`, or the sum of the blocks of all ranks (from -1). */
static void check_block(const struct call *call, const int *at, int seed, int from, int to)
{
    int *host = malloc((size_t)call->n * sizeof *host);
    if (call->out_kind == HOST)
        memcpy(host, at, (size_t)call->n * sizeof *host);
    else
        CU(cu_to_host(host, (uintptr_t)at, (size_t)call->n * sizeof *host));
    for (int i = 0; i < call->n; i++) {
        int expected = 0;
        for (int r = 0; r < size; r++)
            expected += from < 0 || r == from ? value(seed, r, to, i) : 0;
        if (host[i] != expected)
            FAIL("collective %d of %d ints: element %d is %d, expected %d", call->what, call->n, i, host[i], expected);
    }
    free(host);
}

static int root_of(const struct call *call)
{
    return call->n % size;
}

static int blocks_in(const struct call *call)
{
    return call->what == ALLTOALL || call->what == REDUCE_SCATTER ? size : 1;
}

static int blocks_out(const struct call *call)
{
    return call->what == ALLTOALL || call->what == ALLGATHER ? size : 1;
}

static void make(struct call *call, int what, int n, int round)
{
    *call = (struct call){.what = what, .n = n, .in_kind = kind_of(round), .out_kind = kind_of(round)};
    call->in = take_ints(call->in_kind, n * blocks_in(call));
    call->out = take_ints(call->out_kind, n * blocks_out(call));
}

static void set_input(const struct call *call, int seed)
{
    for (int to = 0; to < blocks_in(call); to++)
        write_block(call->in_kind, call->in + (size_t)to * (size_t)call->n, call->n, seed, rank, to);
    if (call->what == BCAST)
        write_block(call->out_kind, call->out, call->n, rank == root_of(call) ? seed : -1, rank, 0);
}

static void check_output(const struct call *call, int seed)
{
    switch (call->what) {
    case ALLREDUCE: check_block(call, call->out, seed, -1, 0); break;
    case BCAST: check_block(call, call->out, seed, root_of(call), 0); break;
    case REDUCE:
        if (rank == root_of(call))
            check_block(call, call->out, seed, -1, 0);
        break;
    case REDUCE_SCATTER: check_block(call, call->out, seed, -1, rank); break;
    default:
        for (int from = 0; from < size; from++)
            check_block(call, call->out + (size_t)from * (size_t)call->n, seed, from,
                        call->what == ALLTOALL ? rank : 0);
    }
}

static void start_call(struct call *c, MPI_Comm comm)
{
    switch (c->what) {
    case ALLREDUCE: CHECK_OK(MPI_Iallreduce(c->in, c->out, c->n, MPI_INT, MPI_SUM, comm, &c->request)); break;
    case BCAST: CHECK_OK(MPI_Ibcast(c->out, c->n, MPI_INT, root_of(c), comm, &c->request)); break;
    case REDUCE: CHECK_OK(MPI_Ireduce(c->in, c->out, c->n, MPI_INT, MPI_SUM, root_of(c), comm, &c->request)); break;
    case ALLGATHER: CHECK_OK(MPI_Iallgather(c->in, c->n, MPI_INT, c->out, c->n, MPI_INT, comm, &c->request)); break;
    case ALLTOALL: CHECK_OK(MPI_Ialltoall(c->in, c->n, MPI_INT, c->out, c->n, MPI_INT, comm, &c->request)); break;
    default: CHECK_OK(MPI_Ireduce_scatter_block(c->in, c->out, c->n, MPI_INT, MPI_SUM, comm, &c->request));
    }
}

static void prepare_call(struct call *c, MPI_Comm comm)
{
    MPI_Info none = MPI_INFO_NULL;
    switch (c->what) {
    case ALLREDUCE: CHECK_OK(MPI_Allreduce_init(c->in, c->out, c->n, MPI_INT, MPI_SUM, comm, none, &c->request)); break;
    case BCAST: CHECK_OK(MPI_Bcast_init(c->out, c->n, MPI_INT, root_of(c), comm, none, &c->request)); break;
    case REDUCE:
        CHECK_OK(MPI_Reduce_init(c->in, c->out, c->n, MPI_INT, MPI_SUM, root_of(c), comm, none, &c->request));
        break;
    case ALLGATHER:
        CHECK_OK(MPI_Allgather_init(c->in, c->n, MPI_INT, c->out, c->n, MPI_INT, comm, none, &c->request));
        break;
    case ALLTOALL:
        CHECK_OK(MPI_Alltoall_init(c->in, c->n, MPI_INT, c->out, c->n, MPI_INT, comm, none, &c->request));
        break;
    default:
        CHECK_OK(MPI_Reduce_scatter_block_init(c->in, c->out, c->n, MPI_INT, MPI_SUM, comm, none, &c->request));
    }
}

/* A long and a short call of each kind at a time, and a blocking one among them. */
static void check_nonblocking(MPI_Comm comm)
{
    struct call calls[2 * KINDS];
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 2 * KINDS; i++) {
            make(&calls[i], i / 2, i % 2 ? SHORT : LONG, round);
            set_input(&calls[i], 10 * round + i);
        }
        for (int i = 0; i < 2 * KINDS; i++) {
            start_call(&calls[i], comm);
            if (round % 2 && i == KINDS) {
                struct call one;
                make(&one, ALLREDUCE, LONG, round);
                set_input(&one, i);
                CHECK_OK(MPI_Allreduce(one.in, one.out, one.n, MPI_INT, MPI_SUM, comm));
                check_output(&one, i);
                give_ints(one.in_kind, one.in);
                give_ints(one.out_kind, one.out);
            }
        }
        for (int i = 0; i < 2 * KINDS; i++) /* awaited in another order at each rank */
            CHECK_OK(MPI_Wait(&calls[(i + rank) % (2 * KINDS)].request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 2 * KINDS; i++) {
            check_output(&calls[i], 10 * round + i);
            give_ints(calls[i].in_kind, calls[i].in);
            give_ints(calls[i].out_kind, calls[i].out);
        }
    }
}

/* Started again and again, with other data, in another order at each rank. */
static void check_persistent(MPI_Comm comm)
{
    struct call calls[2 * KINDS];
    for (int i = 0; i < 2 * KINDS; i++) {
        make(&calls[i], i / 2, i % 2 ? SHORT : LONG, 1);
        prepare_call(&calls[i], comm);
    }
    for (int round = 0; round < starts; round++) {
        for (int i = 0; i < 2 * KINDS; i++)
            set_input(&calls[i], 10 * round + i);
        for (int i = 0; i < 2 * KINDS; i++)
            CHECK_OK(MPI_Start(&calls[(i + rank) % (2 * KINDS)].request));
        for (int i = 0; i < 2 * KINDS; i++)
            CHECK_OK(MPI_Wait(&calls[i].request, MPI_STATUS_IGNORE));
        for (int i = 0; i < 2 * KINDS; i++)
            check_output(&calls[i], 10 * round + i);
    }
    for (int i = 0; i < 2 * KINDS; i++) {
        CHECK_OK(MPI_Request_free(&calls[i].request));
        give_ints(calls[i].in_kind, calls[i].in);
        give_ints(calls[i].out_kind, calls[i].out);
    }
}

int main(int argc, char **argv)
{
    context primary;
    MPI_Comm comm;
    if (argc > 1)
        where = argv[1];
    if (!getenv("TERN_TEST_LONG")) {
        rounds = strcmp(where, "turns") ? 2 : 4; /* each of 3 ranks in turn, and none */
        starts = 3;
    }
    load_driver();
    long (*count)(const char *) = find_calls();
    start(&argc, &argv);
    CU(cu_retain(&primary, rank % 3));
    CU(cu_set(primary));
    if (size > MOST_RANKS)
        FAIL("on %d ranks; expected %d at most", size, MOST_RANKS);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    if (argc < 3 || strcmp(argv[2], "persistent"))
        check_nonblocking(comm);
    if (argc < 3 || strcmp(argv[2], "nonblocking"))
        check_persistent(comm);
    CHECK_OK(MPI_Comm_free(&comm));
    long opened = count("handles opened");
    if (argc > 3 && (strcmp(argv[3], "ipc") == 0) != (opened > 0))
        FAIL("%ld handles of other ranks were opened", opened);
    return end();
}
