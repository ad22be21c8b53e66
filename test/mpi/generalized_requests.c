/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1; libs: -lpthread */
/* Generalised requests call query, free and cancel when the standard says. */
#include "check.h"
#include <pthread.h>

static int queries, frees, cancels, last_complete;

static int query(void *extra, MPI_Status *status)
{
    queries++;
    CHECK_OK(MPI_Status_set_elements(status, MPI_INT, *(int *) extra));
    CHECK_OK(MPI_Status_set_cancelled(status, 0));
    status->MPI_SOURCE = 3;
    status->MPI_TAG = *(int *) extra + 1;
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void) extra;
    frees++;
    return MPI_SUCCESS;
}

static int cancel(void *extra, int complete)
{
    (void) extra;
    cancels++;
    last_complete = complete;
    return MPI_SUCCESS;
}

static void *complete_later(void *arg)
{
    usleep(20000);
    CHECK_OK(MPI_Grequest_complete(*(MPI_Request *) arg));
    return NULL;
}

int main(int argc, char **argv)
{
    start_threads(&argc, &argv, MPI_THREAD_MULTIPLE);
    int value = 6, flag = -1, count, index;
    MPI_Request request, twin[2];
    MPI_Status status;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &value, &request));
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Cancel(&request));
    CHECK_INT(cancels, 1);
    CHECK_INT(last_complete, 0);
    CHECK_OK(MPI_Grequest_complete(request));
    CHECK_INT(queries + frees, 0);
    CHECK_OK(MPI_Request_get_status(request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_INT(queries, 1);
    CHECK_INT(frees, 0);
    CHECK_OK(MPI_Test(&request, &flag, &status));
    CHECK_INT(flag, 1);
    CHECK_INT(queries, 2);
    CHECK_INT(frees, 1);
    CHECK(request == MPI_REQUEST_NULL);
    CHECK_INT(status.MPI_SOURCE, 3);
    CHECK_INT(status.MPI_TAG, 7);
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 6);

    /* A waiting thread is woken by the one that completes. */
    pthread_t thread;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &value, &request));
    MPI_Request copy = request;
    CHECK_INT(pthread_create(&thread, NULL, complete_later, &copy), 0);
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_INT(pthread_join(thread, NULL), 0);
    CHECK_INT(status.MPI_TAG, 7);
    CHECK_INT(frees, 2);
    /* Among ordinary requests. */
    int x = 1, y = 0;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &value, &twin[0]));
    CHECK_OK(MPI_Irecv(&y, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &twin[1]));
    CHECK_OK(MPI_Send(&x, 1, MPI_INT, 0, 1, MPI_COMM_SELF));
    CHECK_OK(MPI_Waitany(2, twin, &index, MPI_STATUS_IGNORE));
    CHECK_INT(index, 1);
    CHECK_OK(MPI_Grequest_complete(twin[0]));
    CHECK_OK(MPI_Waitall(2, twin, MPI_STATUSES_IGNORE));
    CHECK_INT(frees, 3);
    /* Freed before it is complete: the free function waits for completion. */
    CHECK_OK(MPI_Grequest_start(query, release, cancel, &value, &request));
    copy = request;
    CHECK_OK(MPI_Request_free(&request));
    CHECK_INT(frees, 3);
    CHECK_OK(MPI_Grequest_complete(copy));
    CHECK_INT(frees, 4);
    return end();
}
