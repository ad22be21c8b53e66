/* SPDX-License-Identifier: BSD-3-Clause */
/* The messages between two ranks really go by strict: the library counts them. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int provided, rank, index, count;
    unsigned long long messages = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (MPI_T_pvar_get_index("btl_strict_messages_sent", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
        return 1;
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count);
    MPI_T_pvar_start(session, handle);
    MPI_Sendrecv_replace(&rank, 1, MPI_INT, !rank, 0, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_T_pvar_read(session, handle, &messages);
    printf("%s\n", messages > 0 ? "strict is in use" : "strict is not in use");
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}
