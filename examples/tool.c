/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The tool interface, MPI_T (MPI-4.1 chapter 15): what can be set, and what can be watched.
 *
 * Without arguments rank 0 lists the control variables with their values, then the performance variables. With a number
 * n, the other ranks send rank 0 n messages each that it is in no hurry to receive; it watches its queue of unexpected
 * messages: a performance variable tells the length, an event each message as it comes.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void list_control_variables(void)
{
    int count;

    MPI_T_cvar_get_num(&count);
    printf("%d control variables:\n", count);
    for (int i = 0; i < count; i++) {
        char name[64], value[4096];
        int length = sizeof name, elements;
        MPI_Datatype type;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;

        MPI_T_cvar_get_info(i, name, &length, NULL, &type, &items, NULL, NULL, NULL, NULL);
        if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements) != MPI_SUCCESS)
            continue;
        if (elements <= (int)sizeof value && MPI_T_cvar_read(handle, value) == MPI_SUCCESS) {
            if (type == MPI_CHAR) {
                printf("  %s = \"%s\"\n", name, value);
            } else if (items != MPI_T_ENUM_NULL) {
                char item[64];
                length = sizeof item;
                MPI_T_enum_get_item(items, *(int *)value, NULL, item, &length);
                printf("  %s = %s\n", name, item);
            } else if (type == MPI_INT) {
                printf("  %s = %d\n", name, *(int *)value);
            } else {
                printf("  %s = %llu\n", name, *(unsigned long long *)value);
            }
        }
        MPI_T_cvar_handle_free(&handle);
    }
}

static void list_performance_variables(void)
{
    int count;

    MPI_T_pvar_get_num(&count);
    printf("%d performance variables:\n", count);
    for (int i = 0; i < count; i++) {
        char name[96], help[256];
        int name_length = sizeof name, help_length = sizeof help;

        MPI_T_pvar_get_info(i, name, &name_length, NULL, NULL, NULL, NULL, help, &help_length, NULL, NULL, NULL, NULL);
        printf("  %s: %s\n", name, help);
    }
}

static int messages; /* that came before their receive */

/* Called inside the library, so it calls nothing of MPI but MPI_T_event_*. */
static void came(MPI_T_event_instance event, MPI_T_event_registration registration, MPI_T_cb_safety safety, void *data)
{
    int internal; /* a message of a collective? */

    (void)registration, (void)safety, (void)data;
    MPI_T_event_read(event, 2, &internal);
    messages += !internal;
}

static void watch_queue(int n)
{
    int rank, size, index, elements, x = 0;
    unsigned long long now = 0, most = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle length, peak;
    MPI_T_event_registration registration;
    MPI_Comm world = MPI_COMM_WORLD;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("pml_comm_unexpected_length", MPI_T_PVAR_CLASS_LEVEL, &index);
    MPI_T_pvar_handle_alloc(session, index, &world, &length, &elements);
    MPI_T_pvar_get_index("pml_unexpected_longest", MPI_T_PVAR_CLASS_HIGHWATERMARK, &index);
    MPI_T_pvar_handle_alloc(session, index, NULL, &peak, &elements);
    MPI_T_pvar_start(session, peak);
    MPI_T_event_get_index("pml_message_unexpected", &index);
    MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration);
    MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_INFO_NULL, NULL, came);

    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        for (int i = 0; i < n; i++)
            MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_T_pvar_read(session, length, &now);
        MPI_T_pvar_read(session, peak, &most);
        printf("%d messages came early, %llu are waiting, at most %llu waited\n", messages, now, most);
        for (int i = 0; i < n * (size - 1); i++)
            MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_T_pvar_read(session, length, &now);
        printf("after receiving: %llu are waiting\n", now);
    }
    MPI_T_event_handle_free(registration, NULL, NULL);
    MPI_T_pvar_session_free(&session);
}

int main(int argc, char **argv)
{
    int rank, provided;

    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc > 1) {
        watch_queue(atoi(argv[1]));
    } else if (rank == 0) {
        list_control_variables();
        list_performance_variables();
    }
    MPI_Finalize();
    MPI_T_finalize();
    return 0;
}
