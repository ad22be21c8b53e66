/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 5; env: OMPI_MCA_coll_algorithm=bcast:board,allreduce:board; needs: MPI_T_event_handle_alloc MPI_Bcast_init */
/* A communicator that only sees nonblocking calls gets its board with the third of them, and persistent collectives
 * have boards of their own from the first one on. */
#include "check.h"

enum { CALLS = 8, LONG = 3000 };

static int board; /* the choice of that name */
static int by_board, by_others;

static void count_call(MPI_T_event_instance instance, MPI_T_event_registration registration, MPI_T_cb_safety level,
                       void *user_data)
{
    int choice;
    (void)registration, (void)level, (void)user_data;
    CHECK_OK(MPI_T_event_read(instance, 1, &choice));
    if (choice == board)
        by_board++;
    else
        by_others++;
}

static int find_board(void)
{
    MPI_T_enum items;
    int index, count, value;
    CHECK_OK(MPI_T_cvar_get_index("coll_allreduce_algorithm", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_enum_get_info(items, &count, NULL, NULL));
    for (int i = 0; i < count; i++) {
        char name[64];
        int length = sizeof name;
        CHECK_OK(MPI_T_enum_get_item(items, i, &value, name, &length));
        if (strcmp(name, "board") == 0)
            return value;
    }
    FAIL("there is no board");
}

static void watch(MPI_Comm *comm)
{
    MPI_T_event_registration registration;
    int index;
    CHECK_OK(MPI_T_event_get_index("coll_started", &index));
    CHECK_OK(MPI_T_event_handle_alloc(index, comm, MPI_INFO_NULL, &registration));
    CHECK_OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, count_call));
    by_board = by_others = 0;
}

/* Sums of 1, 2 or 3 kinds of length: a slot, a sheet, a long sheet, or nothing. */
static int length_of(int i)
{
    return (int[]){1, 200, LONG, 0}[i % 4];
}

static void put_input(int *in, int i)
{
    for (int k = 0; k < length_of(i); k++)
        in[k] = rank + k + i;
}

static void check(const int *out, int i)
{
    for (int k = 0; k < length_of(i); k++)
        CHECK_INT(out[k], size * (size - 1) / 2 + size * (k + i));
}

int main(int argc, char **argv)
{
    static int in[CALLS][LONG], out[CALLS][LONG];
    int provided;
    MPI_Comm comm;
    MPI_Request requests[CALLS];
    start(&argc, &argv);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    board = find_board();
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    watch(&comm);
    for (int i = 0; i < CALLS; i++) {
        put_input(in[i], i);
        CHECK_OK(MPI_Iallreduce(in[i], out[i], length_of(i), MPI_INT, MPI_SUM, comm, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE));
    for (int i = 0; i < CALLS; i++)
        check(out[i], i);
    CHECK_INT(by_board + by_others, CALLS);
    CHECK(by_board >= CALLS - 4); /* long posts want sheets that are made with their third call */
    CHECK_OK(MPI_Comm_free(&comm));

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    watch(&comm);
    for (int i = 0; i < CALLS; i++)
        CHECK_OK(MPI_Allreduce_init(in[i], out[i], length_of(i), MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[i]));
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < CALLS; i++)
            put_input(in[i], i);
        CHECK_OK(MPI_Startall(CALLS, requests));
        CHECK_OK(MPI_Waitall(CALLS, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < CALLS; i++)
            check(out[i], i);
    }
    CHECK_INT(by_board, 20 * CALLS);
    CHECK_INT(by_others, 0);
    for (int i = 0; i < CALLS; i++)
        CHECK_OK(MPI_Request_free(&requests[i]));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_T_finalize());
    return end();
}
