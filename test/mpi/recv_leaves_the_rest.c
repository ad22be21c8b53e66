/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; needs: MPI_T_pvar_handle_alloc */
/* Who receives one message takes one: those behind it stay where they are until they have a receive, too, rather than being
 * copied aside. With receives for all of them posted, all are taken. */
#include "check.h"

#include <unistd.h>

enum { MESSAGES = 40, ROUNDS = 5 };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;

static void open_counter(const char *name)
{
    int index, count, provided;
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_OK(MPI_T_pvar_start(session, handle));
}

static unsigned long long read_counter(void)
{
    unsigned long long value;
    CHECK_OK(MPI_T_pvar_read(session, handle, &value));
    return value;
}

static void receive(int first, int count, int posted)
{
    MPI_Request requests[MESSAGES];
    int values[MESSAGES];
    for (int i = 0; i < count; i++)
        if (posted)
            MPI_Irecv(&values[i], 1, MPI_INT, 0, first + i, MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Recv(&values[i], 1, MPI_INT, 0, first + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (posted)
        MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < count; i++)
        CHECK(values[i] == first + i);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    open_counter("pml_unexpected_messages");
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; rank == 0 && i < 2 * MESSAGES; i++)
            MPI_Send(&i, 1, MPI_INT, 1, i, MPI_COMM_WORLD);
        if (rank == 1) {
            usleep(20000); /* most will be there; the result does not depend on it */
            unsigned long long before = read_counter();
            receive(0, MESSAGES, 0);
            receive(MESSAGES, MESSAGES, 1);
            CHECK(read_counter() == before);
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    return end();
}
