/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; libs: -lpthread */
/* Tools and program are different threads: while some exchange messages on communicators of their
 * own, one reads every performance variable, one registers for events whose callback reads
 * variables too, and one writes control variables. */
#include "check.h"

#include <pthread.h>

enum { PAIRS = 3, ROUNDS = 300 };

static MPI_Comm comms[PAIRS];
static int told, busy = PAIRS;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle queue, sent;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void exchange(MPI_Comm comm, int round)
{
    int x[64] = {round}, y[64] = {-1}, sum = 0;
    MPI_Request request;
    CHECK_OK(MPI_Isend(x, 64, MPI_INT, !rank, round, comm, &request));
    CHECK_OK(MPI_Recv(y, 64, MPI_INT, !rank, round, comm, MPI_STATUS_IGNORE));
    CHECK_INT(y[0], round);
    CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Allreduce(x, &sum, 1, MPI_INT, MPI_SUM, comm));
    CHECK_INT(sum, 2 * round);
}

static void *talk(void *argument)
{
    MPI_Comm comm = *(MPI_Comm *)argument;
    for (int round = 0; round < ROUNDS; round++)
        exchange(comm, round);
    __atomic_fetch_sub(&busy, 1, __ATOMIC_RELEASE);
    return NULL;
}

static int work_goes_on(void)
{
    return __atomic_load_n(&busy, __ATOMIC_ACQUIRE) > 0;
}

static void *read_variables(void *argument)
{
    int count, elements;
    static unsigned long long values[64];
    (void)argument;
    CHECK_OK(MPI_T_pvar_get_num(&count));
    do {
        MPI_T_pvar_session own;
        CHECK_OK(MPI_T_pvar_session_create(&own));
        for (int i = 0; i < count; i++) {
            MPI_T_pvar_handle handle;
            CHECK_OK(MPI_T_pvar_handle_alloc(own, i, &comms[i % PAIRS], &handle, &elements));
            CHECK(elements <= 2 * 128); /* a text for each rank */
            CHECK_OK(MPI_T_pvar_read(own, handle, values));
        }
        CHECK_OK(MPI_T_pvar_start(own, MPI_T_PVAR_ALL_HANDLES));
        CHECK_OK(MPI_T_pvar_reset(own, MPI_T_PVAR_ALL_HANDLES));
        CHECK_OK(MPI_T_pvar_session_free(&own));
    } while (work_goes_on());
    return NULL;
}

/* A tool has a mutex of its own, which it may also hold where it calls MPI_T. */
static void hear(MPI_T_event_instance instance, MPI_T_event_registration registration,
                 MPI_T_cb_safety level, void *user_data)
{
    unsigned long long value;
    MPI_Count time;
    (void)registration, (void)user_data;
    CHECK_INT(level, MPI_T_CB_REQUIRE_THREAD_SAFE);
    CHECK_OK(MPI_T_event_get_timestamp(instance, &time));
    pthread_mutex_lock(&mutex);
    CHECK_OK(MPI_T_pvar_read(session, queue, &value));
    CHECK_OK(MPI_T_pvar_read(session, sent, &value));
    pthread_mutex_unlock(&mutex);
    __atomic_fetch_add(&told, 1, __ATOMIC_RELAXED);
}

static int listening; /* registered */

static void *listen_to_events(void *argument)
{
    static const char *const names[] = {"pml_message_unexpected", "coll_started",
                                        "pml_rendezvous_started"};
    (void)argument;
    do {
        MPI_T_event_registration registrations[3];
        for (int i = 0; i < 3; i++) {
            int index;
            CHECK_OK(MPI_T_event_get_index(names[i], &index));
            CHECK_OK(MPI_T_event_handle_alloc(index, &comms[0], MPI_INFO_NULL, &registrations[i]));
            CHECK_OK(MPI_T_event_register_callback(registrations[i], MPI_T_CB_REQUIRE_THREAD_SAFE,
                                                   MPI_INFO_NULL, NULL, hear));
        }
        __atomic_store_n(&listening, 1, __ATOMIC_RELEASE);
        for (int i = 0; i < 20; i++) {
            unsigned long long value;
            pthread_mutex_lock(&mutex);
            CHECK_OK(MPI_T_pvar_read(session, queue, &value));
            pthread_mutex_unlock(&mutex);
            usleep(100);
        }
        for (int i = 0; i < 3; i++)
            CHECK_OK(MPI_T_event_handle_free(registrations[i], NULL, NULL));
    } while (work_goes_on());
    return NULL;
}

static void *write_variables(void *argument)
{
    MPI_T_cvar_handle handle;
    unsigned long long bytes;
    int index, count;
    (void)argument;
    CHECK_OK(MPI_T_cvar_get_index("pml_send_buffer", &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    CHECK_OK(MPI_T_cvar_read(handle, &bytes));
    do {
        CHECK_OK(MPI_T_cvar_write(handle, &bytes));
        usleep(1000);
    } while (work_goes_on());
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
    return NULL;
}

static MPI_T_pvar_handle open_variable(const char *name, int class)
{
    MPI_T_pvar_handle handle;
    int index, count;
    CHECK_OK(MPI_T_pvar_get_index(name, class, &index));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    return handle;
}

int main(int argc, char **argv)
{
    void *(*const tools[])(void *) = {read_variables, listen_to_events, write_variables};
    pthread_t threads[PAIRS + 3];
    unsigned long long total = 0;
    int provided;
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    CHECK_OK(MPI_T_pvar_session_create(&session));
    queue = open_variable("pml_unexpected_length", MPI_T_PVAR_CLASS_LEVEL);
    sent = open_variable("pml_messages_sent", MPI_T_PVAR_CLASS_COUNTER);
    CHECK_OK(MPI_T_pvar_start(session, sent));
    for (int i = 0; i < PAIRS; i++)
        CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]));
    for (int i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[PAIRS + i], NULL, tools[i], NULL) == 0);
    while (!__atomic_load_n(&listening, __ATOMIC_ACQUIRE)) /* the work may take less than that */
        usleep(100);
    for (int i = 0; i < PAIRS; i++)
        CHECK(pthread_create(&threads[i], NULL, talk, &comms[i]) == 0);
    for (int i = 0; i < PAIRS + 3; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK_OK(MPI_T_pvar_read(session, sent, &total));
    CHECK(total >= PAIRS * ROUNDS); /* nothing was lost for the threads */
    CHECK(told > 0);
    for (int i = 0; i < PAIRS; i++)
        CHECK_OK(MPI_Comm_free(&comms[i]));
    CHECK_OK(MPI_T_finalize());
    return end();
}
