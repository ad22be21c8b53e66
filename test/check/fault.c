/* SPDX-License-Identifier: BSD-3-Clause */
/* One fault for each word, for faults.sh: fault WORD. Errors are returned; each rank prints what its error handler was told.
 * fault other WHO CALL OTHERS BARRIERS COUNT: after so many barriers rank WHO makes one call and the others another one, and errors
 * are fatal. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;
static int a[64], b[64];
static MPI_Comm world = MPI_COMM_WORLD;

static void say(MPI_Comm *comm, int *code, ...)
{
    va_list more;
    int class;
    (void)comm;
    MPI_Error_class(*code, &class);
    va_start(more, code);
    printf("[%d] class %d: %s\n", rank, class, va_arg(more, const char *));
    fflush(stdout);
    va_end(more);
}

/* ---- ranks that differ ---- */

static void bcast_root(void)
{
    MPI_Bcast(a, 10, MPI_INT, rank == 3, world);
}

static void bcast_count(void)
{
    MPI_Bcast(a, 10 + (rank == 1), MPI_INT, 0, world);
}

static void bcast_type(void)
{
    MPI_Bcast(a, 8, rank == 2 ? MPI_FLOAT : MPI_INT, 0, world);
}

static void bcast_types_alike(void) /* no fault */
{
    MPI_Datatype ten;
    MPI_Type_contiguous(10, MPI_INT, &ten);
    MPI_Type_commit(&ten);
    if (rank == 0)
        MPI_Bcast(a, 20, MPI_INT, 0, world);
    else
        MPI_Bcast(a, 2, ten, 0, world);
    MPI_Type_free(&ten);
}

static void bcast_of_pairs(void) /* no fault: a pair has the signature of its parts */
{
    MPI_Datatype pairs, parts, packed;
    MPI_Type_contiguous(2, MPI_2INT, &pairs);
    MPI_Type_create_struct(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT}, &parts);
    MPI_Type_contiguous(12, MPI_PACKED, &packed);
    MPI_Type_commit(&pairs);
    MPI_Type_commit(&parts);
    MPI_Type_commit(&packed);
    if (rank == 0)
        MPI_Bcast(a, 1, pairs, 0, world);
    else
        MPI_Bcast(a, 4, MPI_INT, 0, world);
    MPI_Bcast(a, 1, rank ? parts : MPI_DOUBLE_INT, 0, world);
    MPI_Bcast(a, 2, rank ? MPI_LONG : MPI_INT64_T, 0, world);
    MPI_Bcast(a, 2, rank ? MPI_UNSIGNED_LONG : MPI_UINT64_T, 0, world);
    if (rank == 1)
        MPI_Bcast(a, 3, MPI_INT, 0, world);
    else
        MPI_Bcast(a, rank ? 12 : 1, rank ? MPI_PACKED : packed, 0, world);
    MPI_Type_free(&pairs);
    MPI_Type_free(&parts);
    MPI_Type_free(&packed);
}

static void bcast_beside_packed(void)
{
    MPI_Bcast(a, rank == 0 ? 12 : 3, rank == 0 ? MPI_PACKED : rank == 1 ? MPI_FLOAT : MPI_INT, 0, world);
}

static void split_types(void)
{
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split_type(world, rank == 3 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part); /* no fault */
    if (part != MPI_COMM_NULL)
        MPI_Comm_free(&part);
    MPI_Comm_split_type(world, rank == 1 ? MPI_COMM_TYPE_HW_GUIDED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part);
}

static void merge_high(void)
{
    MPI_Comm half, inter, both = MPI_COMM_NULL;
    MPI_Comm_split(world, rank / 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, rank < 2 ? 2 : 0, 5, &inter);
    MPI_Intercomm_merge(inter, rank < 2 ? 0 : rank, &both); /* no fault: 2 and 3 are true */
    MPI_Comm_free(&both);
    MPI_Intercomm_merge(inter, rank == 1, &both);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void other_procedure(void)
{
    if (rank == 2)
        MPI_Barrier(world);
    else
        MPI_Bcast(a, 10, MPI_INT, 0, world);
}

static void blocking_and_not(void)
{
    MPI_Request request;
    if (rank != 2)
        MPI_Barrier(world);
    else if (MPI_Ibarrier(world, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void finalize_early(void)
{
    if (rank != 2)
        MPI_Barrier(world);
}

static void reduce_op(void)
{
    MPI_Reduce(a, b, 4, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, 0, world);
}

static void gather_block(void)
{
    MPI_Gather(a, rank == 2 ? 5 : 4, MPI_INT, b, 4, MPI_INT, 0, world);
}

static void gatherv_block(void)
{
    int counts[] = {1, 2, 3, 4}, displs[] = {0, 1, 3, 6};
    MPI_Gatherv(a, rank == 2 ? 2 : rank + 1, MPI_INT, b, counts, displs, MPI_INT, 0, world);
}

static void scatter_block(void)
{
    MPI_Scatter(a, 3, MPI_INT, b, rank == 1 ? 4 : 3, MPI_INT, 0, world);
}

static void scatterv_block(void)
{
    int counts[] = {1, 2, 3, 4}, displs[] = {0, 1, 3, 6};
    MPI_Scatterv(a, counts, displs, MPI_INT, b, rank == 3 ? 5 : rank + 1, MPI_INT, 0, world);
}

static void allgather_block(void)
{
    MPI_Allgather(a, rank == 3 ? 2 : 1, MPI_INT, b, 1, MPI_INT, world);
}

static void allgatherv_counts(void)
{
    int counts[] = {1, 1, rank == 0 ? 2 : 1, 1}, displs[] = {0, 1, 2, 4};
    MPI_Allgatherv(a, 1, MPI_INT, b, counts, displs, MPI_INT, world);
}

static void alltoall_block(void)
{
    MPI_Alltoall(a, 2, MPI_INT, b, rank == 1 ? 1 : 2, MPI_INT, world);
}

static void alltoallv_pair(void)
{
    int out[] = {1, 1, 1, 1}, in[] = {1, 1, 1, 1}, at[] = {0, 4, 8, 12};
    if (rank == 1)
        out[2] = 3; /* what 1 sends to 2 */
    MPI_Alltoallv(a, out, at, MPI_INT, b, in, at, MPI_INT, world);
}

static void alltoallw_pair(void)
{
    int counts[] = {1, 1, 1, 1}, at[] = {0, 16, 32, 48};
    MPI_Datatype out[] = {MPI_INT, MPI_INT, MPI_INT, MPI_INT};
    MPI_Datatype in[] = {MPI_INT, rank == 3 ? MPI_FLOAT : MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallw(a, counts, at, out, b, counts, at, in, world);
}

static void reduce_scatter_counts(void)
{
    int counts[] = {1, rank == 2 ? 3 : 1, 1, 1};
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, world);
}

static void scan_count(void)
{
    MPI_Scan(a, b, rank == 0 ? 2 : 1, MPI_INT, MPI_SUM, world);
}

static void ibcast_root(void)
{
    MPI_Request request;
    if (MPI_Ibcast(a, 4, MPI_INT, rank == 2 ? 2 : 1, world, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void iallreduce_count(void)
{
    MPI_Request requests[2];
    int sums[2];
    MPI_Iallreduce(a, b, rank == 1 ? 3 : 4, MPI_INT, MPI_SUM, world, &requests[0]);
    MPI_Iallreduce(&a[32], sums, 2, MPI_INT, MPI_SUM, world, &requests[1]); /* this one is right */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void persistent_init(void)
{
    MPI_Request request;
    if (MPI_Bcast_init(a, 4, MPI_INT, rank == 2, world, MPI_INFO_NULL, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

static void neighbor_procedure(void)
{
    MPI_Comm ring;
    int dims[] = {size}, periods[] = {1};
    MPI_Cart_create(world, 1, dims, periods, 0, &ring);
    if (rank == 1)
        MPI_Neighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, ring);
    else
        MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void create_procedure(void)
{
    MPI_Comm copy = MPI_COMM_NULL;
    if (rank == 1)
        MPI_Comm_split(world, 0, 0, &copy);
    else
        MPI_Comm_dup(world, &copy);
    if (copy != MPI_COMM_NULL)
        MPI_Comm_free(&copy);
}

static void cart_dims(void)
{
    MPI_Comm grid = MPI_COMM_NULL;
    int dims[] = {rank == 2 ? 4 : 2, rank == 2 ? 1 : 2}, periods[] = {0, 0};
    MPI_Cart_create(world, 2, dims, periods, 0, &grid);
    if (grid != MPI_COMM_NULL)
        MPI_Comm_free(&grid);
}

static void intercomm_root(void)
{
    MPI_Comm half, inter;
    int odd = rank % 2;
    MPI_Comm_split(world, odd, 0, &half);
    MPI_Intercomm_create(half, 0, world, !odd, 5, &inter);
    MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
    if (odd)
        MPI_Bcast(a, 1, MPI_INT, 1, inter);
    else
        MPI_Bcast(a, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

/* ---- neighbours ---- */

/* Each rank sends to the next one. `forget`: and receives from nobody. */
static MPI_Comm make_ring(int forget)
{
    MPI_Comm ring;
    int from[] = {(rank + size - 1) % size}, to[] = {(rank + 1) % size};
    MPI_Dist_graph_create_adjacent(world, !forget, from, MPI_UNWEIGHTED, 1, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &ring);
    MPI_Comm_set_name(ring, "ring");
    return ring;
}

static void neighbor_block(void)
{
    MPI_Comm ring = make_ring(0);
    MPI_Neighbor_alltoall(a, rank == 1 ? 3 : 2, MPI_INT, b, 2, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

static void neighbor_type(void)
{
    MPI_Comm ring = make_ring(0);
    MPI_Request request;
    if (MPI_Ineighbor_allgather(a, 2, MPI_INT, b, 2, rank == 3 ? MPI_FLOAT : MPI_INT, ring, &request) == MPI_SUCCESS)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&ring);
}

static void neighbor_counts(void) /* rank 0 and 1 send each other two blocks; the second differs */
{
    MPI_Comm pair;
    int others[] = {!rank, !rank}, out[] = {1, 2}, in[] = {1, rank == 1 ? 1 : 2}, at[] = {0, 4};
    int n = rank < 2 ? 2 : 0;
    MPI_Dist_graph_create_adjacent(world, n, others, MPI_UNWEIGHTED, n, others, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &pair);
    MPI_Neighbor_alltoallv(a, out, at, MPI_INT, b, in, at, MPI_INT, pair);
    MPI_Comm_free(&pair);
}

static void neighbor_types(void)
{
    MPI_Comm ring = make_ring(0);
    int counts[] = {1};
    MPI_Aint at[] = {0};
    MPI_Datatype out[] = {rank == 0 ? MPI_DOUBLE : MPI_LONG}, in[] = {MPI_LONG};
    MPI_Neighbor_alltoallw(a, counts, at, out, b, counts, at, in, ring);
    MPI_Comm_free(&ring);
}

static void neighbor_missing(void)
{
    MPI_Comm ring = make_ring(rank == 2);
    MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, ring);
    MPI_Comm_free(&ring);
}

/* No fault: in a ring of two, both neighbours are one rank; what goes down comes from above. */
static void neighbor_grids(void)
{
    int dims[] = {2, 2, 1}, periods[] = {1, 0, 1}, at[] = {0, 2, 4, 6, 8, 10}, out[6], in[6];
    MPI_Comm grid;
    MPI_Cart_create(world, 3, dims, periods, 0, &grid);
    for (int i = 0; i < 6; i++) {
        out[i] = i % 2 ? 2 : 1;
        in[i] = i % 2 ? 1 : 2;
    }
    MPI_Neighbor_alltoallv(a, out, at, MPI_INT, b, in, at, MPI_INT, grid);
    MPI_Comm_free(&grid);
}

/* ---- starts of persistent collectives ---- */

static MPI_Comm copy_with(const char *key)
{
    MPI_Info info;
    MPI_Comm copy;
    MPI_Info_create(&info);
    MPI_Info_set(info, key, "true");
    MPI_Comm_dup_with_info(world, info, &copy);
    MPI_Info_free(&info);
    MPI_Comm_set_name(copy, "ocean");
    return copy;
}

static void start_twice(MPI_Comm comm, int swap, const int order[2])
{
    MPI_Request requests[2];
    MPI_Barrier_init(comm, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(a, 4, MPI_INT, 1, comm, MPI_INFO_NULL, &requests[1]);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 2; i++)
            MPI_Start(&requests[order[i] ^ (swap && round == 1)]);
        for (int i = 0; i < 2; i++)
            MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void starts_in_any_order(void) /* no fault: nothing was promised */
{
    start_twice(world, rank == 1, (int[]){0, 1});
}

static void starts_promised(void)
{
    MPI_Comm copy = copy_with("mpi_assert_strict_start_ordering");
    start_twice(copy, rank == 1, (int[]){0, 1});
    MPI_Comm_free(&copy);
}

static void starts_kept(void) /* no fault */
{
    MPI_Comm copy = copy_with("mpi_assert_strict_start_ordering");
    start_twice(copy, 0, (int[]){1, 0});
    MPI_Comm_free(&copy);
}

static void starts_promised_by_one(void)
{
    MPI_Comm copy = copy_with(rank == 3 ? "mpi_assert_strict_start_ordering" : "nothing");
    MPI_Request request;
    if (MPI_Barrier_init(copy, MPI_INFO_NULL, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
    MPI_Comm_free(&copy);
}

/* Never ends: rank 2 has started the other one. */
static void late_start(void)
{
    MPI_Request requests[2];
    MPI_Barrier_init(world, MPI_INFO_NULL, &requests[0]);
    MPI_Bcast_init(a, 4, MPI_INT, 1, world, MPI_INFO_NULL, &requests[1]);
    MPI_Start(&requests[rank == 2]);
    MPI_Wait(&requests[rank == 2], MPI_STATUS_IGNORE);
}

/* ---- calls of a part of a communicator ---- */

static void create_group(int tag, int n, const int *ranks)
{
    MPI_Group all, group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, n, ranks, &group);
    MPI_Comm_create_group(world, group, tag, &comm);
    if (comm != MPI_COMM_NULL)
        MPI_Comm_free(&comm);
    MPI_Group_free(&group);
    MPI_Group_free(&all);
}

static void group_tag(void)
{
    if (rank > 0)
        create_group(rank == 2 ? 6 : 5, 3, (int[]){1, 2, 3});
    create_group(0, 4, (int[]){0, 1, 2, 3}); /* this one is right */
}

static void group_members(void)
{
    create_group(5, rank == 1 ? 3 : 4, (int[]){0, 1, 2, 3});
    create_group(5, 4, (int[]){0, 1, 2, 3});
}

static void group_order(void)
{
    if (rank < 2)
        create_group(5, 2, (int[]){rank, !rank});
}

static void groups_in_turn(void) /* no fault: rank 1 comes to the other group first */
{
    if (rank == 1)
        create_group(2, 2, (int[]){1, 2});
    if (rank < 2)
        create_group(1, 2, (int[]){0, 1});
    if (rank == 2)
        create_group(2, 2, (int[]){1, 2});
}

static void group_from_session(void)
{
    MPI_Group group;
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(say, &errhandler);
    MPI_Comm_group(world, &group);
    MPI_Comm_create_from_group(group, rank == 1 ? "sea" : "land", MPI_INFO_NULL, errhandler, &comm);
    MPI_Errhandler_free(&errhandler);
    MPI_Group_free(&group);
}

/* Pairs 0 1 and 2 3. */
static void join(int tag, int remote_leader)
{
    MPI_Comm half, inter = MPI_COMM_NULL;
    MPI_Comm_split(world, rank / 2, 0, &half);
    MPI_Intercomm_create(half, 0, world, remote_leader, tag, &inter);
    if (inter != MPI_COMM_NULL)
        MPI_Comm_free(&inter);
    MPI_Comm_free(&half);
}

static void leaders_tag(void)
{
    join(rank < 2 ? 5 : 6, rank < 2 ? 2 : 0);
    join(7, rank < 2 ? 2 : 0);
}

static void leaders_tag_from_groups(void)
{
    MPI_Group all, groups[2];
    MPI_Comm inter = MPI_COMM_NULL;
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(say, &errhandler);
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 2, (int[]){0, 1}, &groups[0]);
    MPI_Group_incl(all, 2, (int[]){2, 3}, &groups[1]);
    MPI_Intercomm_create_from_groups(groups[rank / 2], 0, groups[rank < 2], 0, rank < 2 ? "sea" : "land", MPI_INFO_NULL,
                                     errhandler, &inter);
    MPI_Errhandler_free(&errhandler);
    for (int i = 0; i < 2; i++)
        MPI_Group_free(&groups[i]);
    MPI_Group_free(&all);
}

/* Never ends: rank 1 waits for a message. */
static void late_in_group(void)
{
    if (rank == 1)
        MPI_Recv(a, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
    if (rank < 2)
        create_group(5, 2, (int[]){0, 1});
    else
        MPI_Barrier(world);
}

/* Never ends: the leaders name others, in a circle. */
static void late_leaders(void)
{
    MPI_Comm inter;
    if (rank < 3)
        MPI_Intercomm_create(MPI_COMM_SELF, 0, world, (rank + 1) % 3, 5, &inter);
}

/* Never ends: rank 2 waits for a message that nobody sends. */
static void late(void)
{
    if (rank == 2)
        MPI_Recv(a, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
    MPI_Barrier(world);
}

static void late_outside(void)
{
    if (rank == 0)
        pause();
    MPI_Barrier(world);
}

static void late_nonblocking(void)
{
    MPI_Request request;
    if (rank == 2)
        MPI_Probe(1, 0, world, MPI_STATUS_IGNORE);
    MPI_Ibarrier(world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- memory ---- */

static void overlap_sendrecv(void)
{
    MPI_Sendrecv(a, 4, MPI_INT, rank, 0, a + 2, 4, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
}

static void overlap_collective(void)
{
    MPI_Allreduce(a, a, 4, MPI_INT, MPI_SUM, world);
}

static void overlap_reduce_local(void)
{
    MPI_Reduce_local(a, a, 4, MPI_INT, MPI_SUM);
    MPI_Reduce_local(a, a + 3, 4, MPI_INT, MPI_SUM);
    MPI_Reduce_local(a, a + 4, 4, MPI_INT, MPI_SUM); /* no fault */
}

static void overlap_pack(void) /* what is packed is being received */
{
    char packed[64];
    int position = 0;
    MPI_Request request;
    MPI_Irecv(a, 4, MPI_INT, rank, 0, world, &request);
    MPI_Pack(a + 4, 4, MPI_INT, packed, sizeof packed, &position, world); /* no fault */
    MPI_Pack(a + 3, 4, MPI_INT, packed, sizeof packed, &position, world);
    MPI_Send(b, 4, MPI_INT, rank, 0, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void overlap_packed(void)
{
    int position = 0;
    MPI_Aint far = 0;
    MPI_Pack(a, 4, MPI_INT, a + 2, 100, &position, world);
    MPI_Pack(a, 4, MPI_INT, a, 100, &position, world);
    MPI_Unpack(a, 16, &position, a + 1, 4, MPI_INT, world);
    MPI_Pack_external("external32", a, 4, MPI_INT, a + 1, 100, &far);
    MPI_Unpack_external("external32", a, 16, &far, a + 3, 4, MPI_INT);
    position = 8;
    MPI_Pack(a, 4, MPI_INT, a + 2, 100, &position, world); /* no fault */
    MPI_Unpack_external("external32", a, 16, &far, a + 4, 4, MPI_INT); /* no fault */
}

static void say_of_window(MPI_Win *win, int *code, ...)
{
    va_list more;
    (void)win;
    va_start(more, code);
    printf("[%d] code %d: %s\n", rank, *code, va_arg(more, const char *));
    fflush(stdout);
    va_end(more);
}

static void make_window(MPI_Win *ret)
{
    MPI_Errhandler errhandler;
    MPI_Win_create(a, sizeof a, sizeof(int), MPI_INFO_NULL, world, ret);
    MPI_Win_create_errhandler(say_of_window, &errhandler);
    MPI_Win_set_errhandler(*ret, errhandler);
    MPI_Errhandler_free(&errhandler);
}

static void put_next(MPI_Win win)
{
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, win);
}

/* The fence that ends the epoch is missing; it comes after the complaint. */
static void win_fence_open(void)
{
    MPI_Win win;
    make_window(&win);
    MPI_Win_fence(0, win);
    put_next(win);
    MPI_Win_free(&win);
    MPI_Win_fence(0, win);
    printf("[%d] got %d\n", rank, a[0] == (rank + size - 1) % size);
    MPI_Win_free(&win);
}

/* Each epoch is closed, or had no operation: a fence may be the last call before MPI_Win_free. */
static void win_epochs_closed(void)
{
    MPI_Group all;
    MPI_Comm_group(world, &all);
    for (int way = 0; way < 7; way++) {
        MPI_Win win;
        make_window(&win);
        switch (way) {
        case 0: break; /* never used */
        case 1: MPI_Win_fence(0, win); break;
        case 2:
        case 3:
            MPI_Win_fence(MPI_MODE_NOPRECEDE, win);
            put_next(win);
            MPI_Win_fence(way == 2 ? 0 : MPI_MODE_NOSUCCEED, win);
            break;
        case 4: /* an operation on nobody is none */
            MPI_Win_fence(0, win);
            MPI_Put(&rank, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win);
            break;
        case 5: /* a fence without operations, then locks */
            MPI_Win_fence(0, win);
            MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win);
            put_next(win);
            MPI_Win_unlock((rank + 1) % size, win);
            MPI_Win_lock_all(0, win);
            put_next(win);
            MPI_Win_unlock_all(win);
            break;
        case 6:
            MPI_Win_fence(0, win);
            MPI_Win_post(all, 0, win);
            MPI_Win_start(all, 0, win);
            put_next(win);
            MPI_Win_complete(win);
            MPI_Win_wait(win);
        }
        MPI_Win_free(&win);
    }
    MPI_Group_free(&all);
}

static void op_on_window(void)
{
    MPI_Win win;
    MPI_Win_create(a, sizeof a, 1, MPI_INFO_NULL, world, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    MPI_Win_fence(0, win);
    int codes[] = {MPI_Accumulate(b, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_MAX, win),
                   MPI_Get_accumulate(b, 1, MPI_CHAR, b + 1, 1, MPI_CHAR, rank, 0, 1, MPI_CHAR, MPI_SUM, win),
                   MPI_Fetch_and_op(b, b + 1, MPI_BYTE, rank, 0, MPI_MIN, win),
                   MPI_Accumulate(b, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_REPLACE, win), /* from here no fault */
                   MPI_Accumulate(b, 1, MPI_BYTE, rank, 0, 1, MPI_BYTE, MPI_BOR, win),
                   MPI_Fetch_and_op(NULL, b + 1, MPI_CHAR, rank, 0, MPI_NO_OP, win)};
    for (int i = 0; i < 6; i++)
        printf("[%d] operation %d: %d\n", rank, i, codes[i]);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
}

static void op_beyond_the_table(void)
{
    MPI_Reduce_local(a, b, 4, MPI_BYTE, MPI_MAX);
    MPI_Allreduce(a, b, 4, MPI_CHAR, MPI_SUM, world);
    MPI_Reduce(a, b, 4, MPI_INTEGER, MPI_LOR, 0, world);
    MPI_Reduce(a, b, 4, MPI_INT, MPI_LOR, 0, world); /* no fault */
}

static void overlap_columns(void) /* no fault: two columns of one matrix */
{
    MPI_Datatype column;
    MPI_Type_vector(8, 1, 8, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Sendrecv(a, 1, column, rank, 0, a + 1, 1, column, rank, 0, world, MPI_STATUS_IGNORE);
    MPI_Type_free(&column);
}

static void overlap_blocks(void)
{
    int counts[] = {2, 2, 2, 2}, displs[] = {0, 1, 4, 6};
    MPI_Allgatherv(a, 2, MPI_INT, b, counts, displs, MPI_INT, world);
}

static void overlap_requests(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Irecv(a, 4, MPI_INT, rank, 1, world, &requests[0]);
    MPI_Irecv(a + 3, 4, MPI_INT, rank, 2, world, &requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(a + 3, 4, MPI_INT, rank, 2, world, &requests[1]); /* free again */
    MPI_Cancel(&requests[1]);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void overlap_persistent(void)
{
    MPI_Request requests[2];
    MPI_Recv_init(a, 4, MPI_INT, rank, 1, world, &requests[0]);
    MPI_Recv_init(a, 4, MPI_INT, rank, 2, world, &requests[1]); /* may be prepared, not active */
    MPI_Start(&requests[0]);
    MPI_Start(&requests[1]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

static void changed_send(void)
{
    MPI_Request request;
    MPI_Isend(a, 64, MPI_INT, rank, 0, world, &request);
    a[63]++;
    MPI_Recv(b, 64, MPI_INT, rank, 0, world, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- promises ---- */

static void exact_length(void)
{
    MPI_Comm copy = copy_with("mpi_assert_exact_length");
    MPI_Sendrecv(a, 3, MPI_INT, rank, 0, b, 4, MPI_INT, rank, 0, copy, MPI_STATUS_IGNORE);
    MPI_Sendrecv(a, 4, MPI_INT, rank, 0, b, 4, MPI_INT, rank, 0, copy, MPI_STATUS_IGNORE); /* right */
    MPI_Sendrecv(a, 4, MPI_INT, MPI_PROC_NULL, 0, b, 4, MPI_INT, MPI_PROC_NULL, 0, copy, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
}

static void exact_length_of_requests(void)
{
    MPI_Comm copy = copy_with("mpi_assert_exact_length");
    MPI_Request requests[2];
    MPI_Recv_init(b, 8, MPI_BYTE, rank, 1, copy, &requests[0]);
    for (int round = 0; round < 2; round++) { /* the second is the short one */
        MPI_Start(&requests[0]);
        MPI_Send(a, 8 - 4 * round, MPI_BYTE, rank, 1, copy);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&requests[0]);
    MPI_Irecv(b, 2, MPI_INT, rank, 2, copy, &requests[0]);
    MPI_Irecv(b + 2, 2, MPI_INT, rank, 3, copy, &requests[1]);
    MPI_Cancel(&requests[1]); /* no message, no fault */
    MPI_Send(a, 1, MPI_INT, rank, 2, copy);
    MPI_Comm_free(&copy);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void exact_length_of_a_matched_message(void)
{
    MPI_Comm copy = copy_with("mpi_assert_exact_length");
    MPI_Message message;
    MPI_Request request;
    MPI_Send(a, 1, MPI_INT, rank, 2, copy);
    MPI_Mprobe(rank, 2, copy, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(b, 2, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Send(a, 1, MPI_INT, rank, 2, copy);
    MPI_Mprobe(rank, 2, copy, &message, MPI_STATUS_IGNORE);
    MPI_Comm_free(&copy);
    MPI_Imrecv(b, 2, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- sessions ---- */

static MPI_Comm self_of(MPI_Session session)
{
    MPI_Group group;
    MPI_Comm comm;
    MPI_Errhandler errhandler;
    MPI_Comm_create_errhandler(say, &errhandler);
    MPI_Group_from_session_pset(session, "mpi://SELF", &group);
    MPI_Comm_create_from_group(group, "", MPI_INFO_NULL, errhandler, &comm);
    MPI_Group_free(&group);
    MPI_Errhandler_free(&errhandler);
    return comm;
}

static void two_sessions(void)
{
    MPI_Session sessions[2];
    MPI_Comm comms[2];
    MPI_Group groups[2];
    MPI_Request requests[2];
    int result;
    for (int i = 0; i < 2; i++) {
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &sessions[i]);
        comms[i] = self_of(sessions[i]);
        MPI_Comm_group(comms[i], &groups[i]);
        MPI_Irecv(b + i, 1, MPI_INT, 0, 0, comms[i], &requests[i]);
        MPI_Send(a, 1, MPI_INT, 0, 0, comms[i]);
    }
    MPI_Comm_compare(comms[0], comms[1], &result);
    MPI_Group_compare(groups[0], groups[1], &result);
    MPI_Group_compare(groups[0], MPI_GROUP_EMPTY, &result); /* belongs to all */
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; i++) {
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
        MPI_Group_free(&groups[i]);
        MPI_Comm_free(&comms[i]);
        MPI_Session_finalize(&sessions[i]);
    }
}

/* ---- handles ---- */

static void freed_type(void)
{
    MPI_Datatype type, keep;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    keep = type;
    MPI_Type_free(&type);
    MPI_Type_contiguous(2, MPI_INT, &type); /* must not come to lie there */
    MPI_Send(a, 1, keep, rank, 0, world);
    MPI_Type_free(&type);
}

static void freed_but_alive(void) /* the library still needs the type */
{
    MPI_Datatype type, keep, outer;
    MPI_Type_contiguous(2, MPI_INT, &type);
    keep = type;
    MPI_Type_contiguous(2, type, &outer);
    MPI_Type_free(&type);
    MPI_Type_commit(&keep);
    MPI_Type_free(&outer);
}

static void foreign_handle(void)
{
    MPI_Send(a, 1, (MPI_Datatype)0x4c000405, rank, 0, world);
}

static void freed_request(void)
{
    MPI_Request request, keep;
    MPI_Irecv(a, 1, MPI_INT, rank, 0, world, &request);
    keep = request;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Irecv(a, 1, MPI_INT, rank, 0, world, &request);
    MPI_Cancel(&keep);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wrong_kind(void)
{
    MPI_Request request = (MPI_Request)MPI_COMM_WORLD;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    request = (MPI_Request)MPI_GROUP_NULL;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_set_info(world, (MPI_Info)MPI_COMM_NULL);
}

static void twice_in_one_call(void)
{
    MPI_Request requests[3] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    int flag;
    MPI_Isend(a, 1, MPI_INT, MPI_PROC_NULL, 0, world, &requests[0]); /* these may share a request */
    MPI_Isend(a, 1, MPI_INT, MPI_PROC_NULL, 0, world, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    MPI_Irecv(a, 1, MPI_INT, rank, 0, world, &requests[0]);
    requests[2] = requests[0];
    MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
    MPI_Testall(3, requests, &flag, MPI_STATUSES_IGNORE);
    MPI_Send(b, 1, MPI_INT, rank, 0, world);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void leaks(void)
{
    MPI_Comm comm;
    MPI_Datatype types[3];
    MPI_Group group;
    MPI_Info info;
    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_name(comm, "ocean");
    for (int i = 0; i < 3; i++)
        MPI_Type_vector(2, 1, 2, MPI_INT, &types[i]);
    MPI_Comm_group(world, &group);
    MPI_Info_create(&info);
    MPI_Info_free(&info);
}

static void leaks_with_session(void)
{
    MPI_Session session;
    MPI_Datatype type;
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
}

static MPI_Info kept = MPI_INFO_NULL;

static void free_late(void) /* no fault: an info object may be freed after MPI_Finalize */
{
    MPI_Info_create(&kept);
}

static void leaks_of_info(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
}

static void lost_messages(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(world, &comm);
    MPI_Comm_set_name(comm, "ocean");
    MPI_Send(a, 3, MPI_INT, (rank + 1) % size, 7, comm);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
    MPI_Send(a, 2, MPI_INT, rank, 9, world);
}

/* ---- different collectives ---- */

static char **words; /* WHO CALL OTHERS BARRIERS COUNT */

static void call_by_name(const char *name, int count)
{
    char *out = calloc(size, count), *in = calloc(size, count);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm comm;
    int done = 0;
    if (!strcmp(name, "barrier"))
        MPI_Barrier(world);
    else if (!strcmp(name, "bcast"))
        MPI_Bcast(out, count, MPI_BYTE, 0, world);
    else if (!strcmp(name, "reduce"))
        MPI_Reduce(out, in, count, MPI_BYTE, MPI_BOR, 0, world);
    else if (!strcmp(name, "allreduce"))
        MPI_Allreduce(out, in, count, MPI_BYTE, MPI_BOR, world);
    else if (!strcmp(name, "alltoall"))
        MPI_Alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, world);
    else if (!strcmp(name, "iallreduce") || !strcmp(name, "iallreduce_tested"))
        MPI_Iallreduce(out, in, count, MPI_BYTE, MPI_BOR, world, &request);
    else if (!strcmp(name, "split"))
        MPI_Comm_split(world, 0, 0, &comm);
    while (!strcmp(name, "iallreduce_tested") && !done)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(out);
    free(in);
}

static void other(void)
{
    for (int i = 0; i < atoi(words[3]); i++)
        MPI_Barrier(world);
    call_by_name(words[rank == atoi(words[0]) ? 1 : 2], atoi(words[4]));
}

static const struct {
    const char *word;
    void (*make)(void);
} faults[] = {
#define FAULT(name) {#name, name}
    FAULT(bcast_root), FAULT(bcast_count), FAULT(bcast_type), FAULT(bcast_types_alike),
    FAULT(bcast_of_pairs), FAULT(bcast_beside_packed), FAULT(split_types), FAULT(merge_high), FAULT(overlap_packed),
    FAULT(win_fence_open), FAULT(win_epochs_closed),
    FAULT(op_on_window), FAULT(leaks_with_session), FAULT(free_late), FAULT(leaks_of_info),
    FAULT(other_procedure), FAULT(blocking_and_not), FAULT(finalize_early), FAULT(reduce_op),
    FAULT(gather_block), FAULT(gatherv_block), FAULT(scatter_block), FAULT(scatterv_block),
    FAULT(allgather_block), FAULT(allgatherv_counts), FAULT(alltoall_block), FAULT(alltoallv_pair),
    FAULT(alltoallw_pair), FAULT(reduce_scatter_counts), FAULT(scan_count), FAULT(ibcast_root),
    FAULT(iallreduce_count), FAULT(persistent_init),
    FAULT(neighbor_procedure), FAULT(create_procedure), FAULT(cart_dims), FAULT(intercomm_root),
    FAULT(neighbor_block), FAULT(neighbor_type), FAULT(neighbor_counts), FAULT(neighbor_types),
    FAULT(neighbor_missing), FAULT(neighbor_grids), FAULT(starts_in_any_order), FAULT(starts_promised),
    FAULT(starts_kept), FAULT(starts_promised_by_one), FAULT(late_start), FAULT(group_tag),
    FAULT(group_members), FAULT(group_order), FAULT(groups_in_turn), FAULT(group_from_session),
    FAULT(leaders_tag), FAULT(leaders_tag_from_groups), FAULT(late_in_group), FAULT(late_leaders),
    FAULT(late), FAULT(late_outside), FAULT(late_nonblocking), FAULT(overlap_sendrecv),
    FAULT(overlap_collective), FAULT(overlap_reduce_local), FAULT(overlap_pack),
    FAULT(op_beyond_the_table), FAULT(overlap_columns), FAULT(overlap_blocks),
    FAULT(overlap_requests), FAULT(overlap_persistent), FAULT(changed_send), FAULT(freed_type),
    FAULT(freed_but_alive), FAULT(foreign_handle), FAULT(freed_request),
    FAULT(wrong_kind),
    FAULT(twice_in_one_call), FAULT(leaks),
    FAULT(lost_messages), FAULT(exact_length), FAULT(exact_length_of_requests),
    FAULT(exact_length_of_a_matched_message), FAULT(two_sessions), FAULT(other),
};

int main(int argc, char **argv)
{
    MPI_Errhandler errhandler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    MPI_Comm_create_errhandler(say, &errhandler);
    if (argc < 2 || strcmp(argv[1], "other") != 0) {
        MPI_Comm_set_errhandler(world, errhandler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
    }
    MPI_Errhandler_free(&errhandler);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        if (argc > 1 && strcmp(argv[1], faults[i].word) == 0) {
            words = argv + 2;
            faults[i].make();
            /* What was refused everywhere leaves the communicator in order, and each rank in the same place. */
            if (strcmp(argv[1], "finalize_early") != 0 && strcmp(argv[1], "other") != 0)
                MPI_Barrier(world);
            if (MPI_Finalize() != MPI_SUCCESS) /* refused: the others were elsewhere */
                MPI_Finalize();
            if (kept != MPI_INFO_NULL)
                MPI_Info_free(&kept);
            printf("[%d] end\n", rank);
            return 0;
        }
    fprintf(stderr, "no such fault: %s\n", argc > 1 ? argv[1] : "");
    return 2;
}
