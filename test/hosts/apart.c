/* SPDX-License-Identifier: BSD-3-Clause */
/* apart WHAT [fatal]: ranks 0 and 1 cannot connect to each other. Whatever waits for the other one ends, with an error that names both; a
 * further rank does not hang either. Each rank says how its call ended. For unreachable.sh. */
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TAG = 5 };
static int rank, size, errors;

static void handle(MPI_Comm *comm, int *code, ...)
{
    va_list args;
    int class;
    (void)comm;
    va_start(args, code);
    MPI_Error_class(*code, &class);
    printf("rank %d: %s\n", rank, va_arg(args, char *));
    va_end(args);
    errors++;
}

/* Nonblocking, persistent or both. */
static void finish(MPI_Request *request)
{
    MPI_Wait(request, MPI_STATUS_IGNORE);
    if (*request != MPI_REQUEST_NULL)
        MPI_Request_free(request);
}

/* A call that says that all went well must have the right result. */
static void check_result(const char *what, int error, const int *got, int count, int expected)
{
    for (int i = 0; error == MPI_SUCCESS && i < count; i++)
        if (got[i] != expected) {
            printf("rank %d: WRONG: %s: got %d, expected %d\n", rank, what, got[i], expected);
            return;
        }
}

/* Several times, so that a board comes into use on hosts with several ranks. */
static void reduce_often(MPI_Comm comm, int members)
{
    enum { TIMES = 12, COUNT = 4 };
    for (int i = 0; i < TIMES; i++) {
        int in[COUNT] = {1, 1, 1, 1}, out[COUNT] = {0}, number = rank ? -1 : i;
        check_result("MPI_Allreduce", MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, comm), out, COUNT, members);
        check_result("MPI_Bcast", MPI_Bcast(&number, 1, MPI_INT, 0, comm), &number, 1, i);
    }
}

static void make_communicators(const char *what, MPI_Comm comm)
{
    MPI_Comm made = MPI_COMM_NULL;
    int dims[2] = {size, 1}, periods[2] = {0};
    if (strcmp(what, "dup") == 0)
        MPI_Comm_dup(comm, &made);
    else if (strcmp(what, "split") == 0)
        MPI_Comm_split(comm, rank % 2, 0, &made);
    else
        MPI_Cart_create(comm, 2, dims, periods, 1, &made);
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}

static void do_collective(const char *what, MPI_Comm comm)
{
    MPI_Request request;
    int in[64] = {0}, out[64], count = size * 4;
    if (strcmp(what, "barrier") == 0) {
        MPI_Barrier(comm);
    } else if (strcmp(what, "ibarrier") == 0) {
        MPI_Ibarrier(comm, &request);
        finish(&request);
    } else if (strcmp(what, "barrier_init") == 0) {
        MPI_Barrier_init(comm, MPI_INFO_NULL, &request);
        MPI_Start(&request);
        finish(&request);
    } else if (strcmp(what, "allreduce") == 0) {
        MPI_Allreduce(in, out, count, MPI_INT, MPI_SUM, comm);
    } else if (strcmp(what, "iallreduce") == 0) {
        MPI_Iallreduce(in, out, count, MPI_INT, MPI_SUM, comm, &request);
        finish(&request);
    } else if (strcmp(what, "alltoall") == 0) {
        MPI_Alltoall(in, 4, MPI_INT, out, 4, MPI_INT, comm);
    } else if (strcmp(what, "often") == 0) {
        reduce_often(comm, size);
    } else {
        make_communicators(what, comm);
    }
}

/* Rank 0 sends, rank 1 only waits to receive. */
static void pass(const char *what)
{
    MPI_Request request;
    int token = 0, flag = 0, before = errors;
    if (rank == 0) {
        MPI_Send(&token, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
    } else if (rank == 1 && strcmp(what, "recv") == 0) {
        MPI_Recv(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1 && strcmp(what, "any") == 0) {
        MPI_Recv(&token, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank == 1 && strcmp(what, "irecv") == 0) {
        MPI_Irecv(&token, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, &request);
        while (!flag && errors == before)
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } else if (rank == 1) {
        MPI_Probe(0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

/* One group is rank 0, the other one all the rest, whose leader is rank 2 if there is one. */
static void do_inter(const char *what, MPI_Errhandler handler)
{
    MPI_Session session;
    MPI_Group all, group[2];
    MPI_Comm local = MPI_COMM_NULL, inter = MPI_COMM_NULL;
    int other = rank == 0, leaders[2] = {0, size > 2};
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
    MPI_Group_range_incl(all, 1, (int[][3]){{0, 0, 1}}, &group[0]);
    MPI_Group_range_incl(all, 1, (int[][3]){{1, size - 1, 1}}, &group[1]);
    MPI_Comm_create_from_group(group[!other], "local", MPI_INFO_NULL, handler, &local);
    MPI_Intercomm_create_from_groups(group[!other], leaders[!other], group[other], leaders[other], "inter", MPI_INFO_NULL, handler,
                                     &inter);
    if (inter != MPI_COMM_NULL) {
        do_collective(what, inter);
        MPI_Comm_free(&inter);
    }
    if (local != MPI_COMM_NULL)
        MPI_Comm_free(&local);
    MPI_Group_free(&group[0]);
    MPI_Group_free(&group[1]);
    MPI_Group_free(&all);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv)
{
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        MPI_Comm_create_errhandler(handle, &handler);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    }
    if (strncmp(argv[1], "inter ", 6) == 0)
        do_inter(argv[1] + 6, handler);
    else if (strstr("recv any irecv probe", argv[1]))
        pass(argv[1]);
    else
        do_collective(argv[1], MPI_COMM_WORLD);
    printf("rank %d goes on after %d errors\n", rank, errors);
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
