/* SPDX-License-Identifier: BSD-3-Clause */

/* Partitioned sends (MPI-4.1 section 4.2): each partition is sent when the program marks it as
 * ready. */

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/message/partitioned.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

struct send {
    struct tern_partitioned_request part;
    bool ready[]; /* for each partition: marked as ready in this round */
};

static int start_send(struct tern_request *request)
{
    struct send *send = (struct send *)request;
    tern_request_restart(request);
    memset(send->ready, 0, (size_t)send->part.partitions * sizeof send->ready[0]);
    send->part.open = send->part.partitions;
    if (!send->part.open)
        tern_request_complete(request, 0);
    return 0;
}

static const struct tern_request_kind send_kind = {.name = "partitioned send",
                                                   .start = start_send,
                                                   .release = tern_partitioned_release,
                                                   .must_complete = true};

bool tern_partitioned_describe_send(const struct tern_request *request, int *ret_lacking)
{
    const struct send *send = (const struct send *)request;
    if (request->kind != &send_kind)
        return false;
    *ret_lacking = 0;
    for (int i = 0; i < send->part.partitions; i++)
        *ret_lacking += !send->ready[i];
    return true;
}

/* Handles the complete message of a partition; an on_complete function. */
static void message_completed(struct tern_request *message)
{
    struct tern_partitioned_request *part = message->owner;
    int error = message->error;
    message->kind->release(message);
    tern_partitioned_done(part, error);
}

static void send_with_lane(struct send *send, int i)
{
    struct tern_partitioned_request *part = &send->part;
    struct tern_request *message = &tern_request_empty;
    int error = 0;

    send->ready[i] = true;
    if (part->peer != MPI_PROC_NULL)
        error = tern_pml_isend(part->context, tern_partitioned_at(part, i), part->count, part->type,
                               part->peer, part->announcement.first_tag - i, TERN_SEND_STANDARD,
                               &message);
    if (error) {
        tern_partitioned_done(part, error); /* reported with the request: others are under way */
        return;
    }
    if (message == &tern_request_empty) {
        tern_partitioned_done(part, 0);
        return;
    }
    message->owner = part;
    if (message->complete)
        message_completed(message);
    else
        message->on_complete = message_completed;
}

/* Sends a partition. Threads may mark partitions of one request as ready at the same time. */
static void send_partition(struct send *send, int i)
{
    tern_lane_lock(send->part.request.lane);
    send_with_lane(send, i);
    tern_lane_unlock(send->part.request.lane);
}

static int announce(struct tern_partitioned_request *part)
{
    struct tern_request *message;
    int error =
        tern_pml_isend(part->context, &part->announcement, sizeof part->announcement,
                       &tern_type_bytes, part->peer, part->tag, TERN_SEND_STANDARD, &message);
    if (!error)
        tern_partitioned_follow(part, message);
    return error;
}

static int enter_matching(struct tern_partitioned *partitioned,
                          struct tern_partitioned_request *part)
{
    tern_lane_lock(part->request.lane);
    int error = tern_partitioned_take_tags(partitioned, part);
    if (!error) {
        tern_list_append(&partitioned->sends, &part->link);
        error = announce(part);
    }
    tern_lane_unlock(part->request.lane);
    return error;
}

int tern_mpi_psend_init(const void *buf, int partitions, MPI_Count count,
                        struct tern_datatype *datatype, int dest, int tag, struct tern_comm *comm,
                        struct tern_info *info, struct tern_request **ret_request)
{
    (void)info; /* no hints are known */
    int error = tern_partitioned_open(comm);
    if (error)
        return error;
    struct tern_partitioned_request *part =
        tern_partitioned_new(&send_kind, sizeof(struct send) + (size_t)partitions * sizeof(bool),
                             buf, partitions, count, datatype, dest, tag, comm);
    if (!part)
        return TERN_ERR_NO_MEM;
    part->announcement.bytes = count * datatype->type.size;
    part->announcement.partitions = partitions;
    if (dest != MPI_PROC_NULL)
        error = enter_matching(comm->partitioned, part);
    if (error) {
        tern_partitioned_release(&part->request);
        return error;
    }
    tern_request_hold_always(&part->request, comm, datatype);
    *ret_request = &part->request;
    return 0;
}

/* ---- marking partitions as ready ---- */

static int check_request(struct tern_request *request)
{
    if (request->kind != &send_kind)
        return tern_error(TERN_ERR_REQUEST, "request is a %s; expected one of MPI_Psend_init",
                          request->kind->name);
    if (!request->active)
        return tern_error(TERN_ERR_REQUEST,
                          "request is not active; call MPI_Start before MPI_Pready");
    return 0;
}

static int check_partition(const struct tern_request *request, int i)
{
    const struct send *send = (const struct send *)request;
    if (i < 0 || i >= send->part.partitions)
        return tern_error_index(TERN_ERR_ARG, send->part.partitions, "partition is %d", i);
    if (send->ready[i])
        return tern_error(TERN_ERR_ARG, "partition %d was marked ready before; mark each partition "
                                        "once", i);
    return 0;
}

int tern_mpi_pready(int partition, struct tern_request *request)
{
    tern_raise_next_on(request->comm);
    int error = check_request(request);
    if (!error)
        error = check_partition(request, partition);
    if (error)
        return error;
    tern_raise_next_on(NULL);
    send_partition((struct send *)request, partition);
    return 0;
}

/* Checks all partitions before it sends one. */
int tern_mpi_pready_range(int partition_low, int partition_high, struct tern_request *request)
{
    tern_raise_next_on(request->comm);
    int error = check_request(request);
    if (!error && partition_high < partition_low)
        error = tern_error(TERN_ERR_ARG, "partition_low is %d, which is more than partition_high, "
                                         "%d", partition_low,
                           partition_high);
    for (int i = partition_low; i <= partition_high && !error; i++)
        error = check_partition(request, i);
    if (error)
        return error;
    tern_raise_next_on(NULL);
    for (int i = partition_low; i <= partition_high; i++)
        send_partition((struct send *)request, i);
    return 0;
}

int tern_mpi_pready_list(int length, const int array_of_partitions[], struct tern_request *request)
{
    tern_raise_next_on(request->comm);
    int error = check_request(request);
    for (int i = 0; i < length && !error; i++)
        error = check_partition(request, array_of_partitions[i]);
    if (error)
        return error;
    tern_raise_next_on(NULL);
    for (int i = 0; i < length; i++) /* a partition that is named twice is sent once */
        if (!((struct send *)request)->ready[array_of_partitions[i]])
            send_partition((struct send *)request, array_of_partitions[i]);
    return 0;
}
