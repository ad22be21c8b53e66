/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8; long: 7 9 16; needs: MPI_Mprobe MPI_Reduce_init; env: OMPI_MCA_check_level=basic */
/* MPI_Ireduce, or a started MPI_Reduce_init, goes on while ranks wait in something else, by each of its algorithms: ranks inside
 * the tree hand on what they get while they are in MPI_Recv, MPI_Probe, MPI_Barrier, ...; and short
 * contributions are taken from them while the root computes, so that they can go on. */
#include "check.h"

#include <fcntl.h>

enum { LONG = 40000, WAYS = 7 };

static int in[LONG], out[LONG];
static MPI_Comm other; /* the same ranks */
static int persistent; /* every second one */

static void begin(int count, int root, MPI_Request *request)
{
    for (int i = 0; i < count; i++)
        in[i] = rank + i;
    memset(out, 0xff, sizeof out);
    persistent = !persistent;
    if (persistent) {
        CHECK_OK(MPI_Reduce_init(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, MPI_INFO_NULL, request));
        CHECK_OK(MPI_Start(request));
    } else {
        CHECK_OK(MPI_Ireduce(in, out, count, MPI_INT, MPI_SUM, root, MPI_COMM_WORLD, request));
    }
}

static void finish(int count, int root, MPI_Request *request)
{
    CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    if (persistent)
        CHECK_OK(MPI_Request_free(request));
    for (int i = 0; i < count; i++)
        CHECK_INT(out[i], rank == root ? size * (size - 1) / 2 + size * i : -1);
}

/* Ends when the root has called let_others_go. */
static void wait_for_root(int way, int root)
{
    int x = 0, flag = 0;
    MPI_Request request;
    MPI_Message message;
    switch (way) {
    case 1:
        CHECK_OK(MPI_Probe(root, 3, other, MPI_STATUS_IGNORE));
        break;
    case 2:
        CHECK_OK(MPI_Irecv(&x, 1, MPI_INT, root, 3, other, &request));
        CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        break;
    case 3:
        while (!flag)
            CHECK_OK(MPI_Iprobe(root, 3, other, &flag, MPI_STATUS_IGNORE));
        break;
    case 4:
        CHECK_OK(MPI_Barrier(other));
        return;
    case 5:
        CHECK_OK(MPI_Ssend(&x, 1, MPI_INT, root, 4, other));
        return;
    case 6:
        CHECK_OK(MPI_Mprobe(root, 3, other, &message, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_Mrecv(&x, 1, MPI_INT, &message, MPI_STATUS_IGNORE));
        break;
    default:
        break;
    }
    if (way != 2 && way != 6)
        CHECK_OK(MPI_Recv(&x, 1, MPI_INT, root, 3, other, MPI_STATUS_IGNORE));
    CHECK_INT(x, 77);
}

static void let_others_go(int way)
{
    int x = 77;
    if (way == 4)
        CHECK_OK(MPI_Barrier(other));
    for (int r = 0; r < size && way != 4; r++)
        if (r != rank && way == 5)
            CHECK_OK(MPI_Recv(&x, 1, MPI_INT, r, 4, other, MPI_STATUS_IGNORE));
        else if (r != rank)
            CHECK_OK(MPI_Send(&x, 1, MPI_INT, r, 3, other));
}

static void others_wait(int way, int count, int root)
{
    MPI_Request request;
    begin(count, root, &request);
    if (rank == root) {
        finish(count, root, &request);
        let_others_go(way);
        return;
    }
    wait_for_root(way, root);
    finish(count, root, &request);
}

/* Those for long vectors have the root join parts of them, and hand them on. */
static int needs_the_root(MPI_T_enum items, int choice)
{
    char name[64];
    int length = sizeof name;
    CHECK_OK(MPI_T_enum_get_item(items, choice, NULL, name, &length));
    return strcmp(name, "halving") == 0 || strcmp(name, "ring") == 0;
}

/* The root is not in MPI until all others have come to their end, of which they tell by a file. */
static void root_computes(int turn)
{
    int root = turn % size, done = 0;
    char name[64];
    MPI_Request request;
    begin(3, root, &request);
    if (rank != root) {
        finish(3, root, &request);
        snprintf(name, sizeof name, "turn%d.rank%d", turn, rank);
        int file = open(name, O_CREAT | O_WRONLY, 0600);
        CHECK(file >= 0);
        close(file);
        return;
    }
    for (int r = 0; r < size; r++) {
        snprintf(name, sizeof name, "turn%d.rank%d", turn, r);
        while (r != root && access(name, F_OK) != 0)
            usleep(200);
        unlink(name);
    }
    while (!done)
        CHECK_OK(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    finish(3, root, &request);
}

int main(int argc, char **argv)
{
    MPI_T_cvar_handle handle;
    MPI_T_enum items;
    int index, count, choices, provided;
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &other));
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_cvar_get_index("coll_reduce_algorithm", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_enum_get_info(items, &choices, NULL, NULL));
    for (int choice = 0; choice < choices; choice++) {
        CHECK_OK(MPI_T_cvar_write(handle, &choice));
        for (int way = 0; way < 2 * WAYS; way++) /* each once in each form */
            others_wait(way % WAYS, 3, way % size);
        for (int way = 0; way < WAYS; way++)
            others_wait(way, LONG, choice % size);
        for (int again = 0; again < 2 && !needs_the_root(items, choice); again++)
            root_computes(2 * choice + again);
    }
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
    CHECK_OK(MPI_T_finalize());
    CHECK_OK(MPI_Comm_free(&other));
    return end();
}
