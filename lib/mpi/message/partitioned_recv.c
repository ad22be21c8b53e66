/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Partitioned receives (MPI-4.1 section 4.2). When the announcement tells how many partitions the
 * sender has, a round posts a receive for each of them. The sender's partition k holds the bytes k
 * * S to (k + 1) * S of the packed message. If the type has gaps and S is not a whole number of
 * elements, the bytes are received into memory of the library and unpacked from there.
 */

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/message/partitioned.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

struct recv {
    struct tern_partitioned_request part;
    int64_t capacity; /* bytes of all partitions together */
    char *aside;      /* memory for the packed message, or NULL */
    bool posted;      /* true if the receives of this round are posted: `missing` is valid */
    /* for each partition: the number of messages that overlap it and have not arrived */
    int missing[];
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Finds the messages that overlap partition i: *ret_first to *ret_last; none if *ret_last is less.
 * If one side has no bytes, both sides divide one line into equal parts instead. */
static void messages_of(const struct recv *recv, int64_t i, int64_t *ret_first, int64_t *ret_last)
{
    const struct tern_partitioned_request *part = &recv->part;
    int64_t messages = part->announcement.partitions, theirs = part->announcement.bytes,
            ours = part->count * part->type->size;
    if (!theirs || !ours) {
        theirs = part->partitions;
        ours = messages;
    }
    *ret_first = messages ? i * ours / theirs : 0;
    *ret_last = messages ? smaller(((i + 1) * ours - 1) / theirs, messages - 1) : -1;
}

/* Finds the partitions that message k overlaps: *ret_first to *ret_last. */
static void partitions_of(const struct recv *recv, int64_t k, int64_t *ret_first, int64_t *ret_last)
{
    const struct tern_partitioned_request *part = &recv->part;
    int64_t partitions = part->partitions, theirs = part->announcement.bytes,
            ours = part->count * part->type->size;
    if (!theirs || !ours) {
        theirs = partitions;
        ours = part->announcement.partitions;
    }
    *ret_first = partitions ? k * theirs / ours : 0;
    *ret_last = partitions ? smaller(((k + 1) * theirs - 1) / ours, partitions - 1) : -1;
}

/* Finds where message k lies in the packed message, and how many bytes there is room for. */
static void bytes_of(const struct recv *recv, int64_t k, int64_t *ret_offset, int64_t *ret_room)
{
    int64_t bytes = recv->part.announcement.bytes;
    *ret_offset = smaller(k * bytes, recv->capacity);
    *ret_room = smaller(bytes, recv->capacity - *ret_offset);
}

static void message_arrived(struct recv *recv, int64_t k, int error)
{
    int64_t offset, room, first, last;

    if (recv->aside && !error) {
        struct tern_cursor cursor;
        bytes_of(recv, k, &offset, &room);
        tern_cursor_init(&cursor, recv->part.type, recv->part.buf,
                         recv->part.count * recv->part.partitions);
        tern_cursor_seek(&cursor, offset);
        tern_cursor_unpack(&cursor, recv->aside + offset, (size_t)room);
    }
    partitions_of(recv, k, &first, &last);
    for (int64_t i = first; i <= last; i++)
        recv->missing[i]--;
    if (recv->part.open == 1) {
        free(recv->aside);
        recv->aside = NULL;
    }
    tern_partitioned_done(&recv->part, error);
}

/* Handles a complete message; an on_complete function. The tag gives the message's number. */
static void message_completed(struct tern_request *message)
{
    struct recv *recv = message->owner;
    int64_t k = recv->part.announcement.first_tag - message->status.MPI_TAG;
    int error = message->error;
    message->kind->release(message);
    message_arrived(recv, k, error);
}

static void post_message(struct recv *recv, int k)
{
    struct tern_partitioned_request *part = &recv->part;
    const struct tern_type *type = &tern_type_bytes;
    struct tern_request *message;
    int64_t offset, count;
    char *to;

    bytes_of(recv, k, &offset, &count);
    if (recv->aside) {
        to = recv->aside + offset;
    } else if (part->type->contiguous || !part->type->size) {
        to = part->buf + part->type->true_lb + offset;
    } else { /* whole elements */
        to = part->buf + offset / part->type->size * part->type->extent;
        count /= part->type->size;
        type = part->type;
    }
    int error = tern_pml_irecv(part->context, to, count, type, part->peer,
                               part->announcement.first_tag - k, &message);
    if (error) {
        message_arrived(recv, k, error);
        return;
    }
    message->owner = recv;
    if (message->complete)
        message_completed(message);
    else
        message->on_complete = message_completed;
}

static bool whole_elements(const struct recv *recv)
{
    const struct tern_type *type = recv->part.type;
    return type->contiguous || !type->size || recv->part.announcement.bytes % type->size == 0;
}

/* Posts the receives of this round. `part` was started, and the announcement has arrived. */
static void post(struct tern_partitioned_request *part)
{
    struct recv *recv = (struct recv *)part;
    int messages = part->announcement.partitions;

    part->request.status.MPI_SOURCE = part->peer;
    part->request.status.MPI_TAG = part->tag;
    part->request.status._ucount =
        (size_t)smaller(recv->capacity, messages * part->announcement.bytes);
    part->open = messages;
    if (!whole_elements(recv) && !(recv->aside = malloc((size_t)recv->capacity + 1))) {
        tern_request_complete(&part->request,
                              tern_error(TERN_ERR_NO_MEM, "no memory to unpack %ld bytes",
                                         (long)recv->capacity));
        return;
    }
    for (int i = 0; i < part->partitions; i++) {
        int64_t first, last;
        messages_of(recv, i, &first, &last);
        recv->missing[i] = last < first ? 0 : (int)(last - first + 1);
    }
    recv->posted = true;
    if (!messages)
        tern_request_complete(&part->request, 0);
    for (int k = 0; k < messages; k++)
        post_message(recv, k);
}

static void announced(struct tern_partitioned_request *part)
{
    if (part->request.active)
        post(part);
}

static int start_recv(struct tern_request *request)
{
    struct tern_partitioned_request *part = (struct tern_partitioned_request *)request;
    tern_lane_lock(request->lane); /* keeps the announcement from arriving meanwhile */
    tern_request_restart(request);
    ((struct recv *)part)->posted = false;
    if (part->peer == MPI_PROC_NULL) {
        request->status = tern_status_proc_null;
        tern_request_complete(request, 0);
    } else if (!part->announce) {
        post(part);
    }
    tern_lane_unlock(request->lane);
    return 0;
}

static const struct tern_request_kind recv_kind = {.name = "partitioned receive",
                                                   .start = start_recv,
                                                   .release = tern_partitioned_release,
                                                   .must_complete = true};

bool tern_partitioned_describe_recv(const struct tern_request *request, int *ret_lacking)
{
    const struct recv *recv = (const struct recv *)request;
    if (request->kind != &recv_kind)
        return false;
    *ret_lacking = recv->posted ? recv->part.open : -1;
    return true;
}

int tern_mpi_precv_init(void *buf, int partitions, MPI_Count count, struct tern_datatype *datatype,
                        int source, int tag, struct tern_comm *comm, struct tern_info *info,
                        struct tern_request **ret_request)
{
    (void)info; /* no hints are known */
    struct tern_request *announce;
    int error = tern_partitioned_open(comm);
    if (error)
        return error;
    struct tern_partitioned_request *part =
        tern_partitioned_new(&recv_kind, sizeof(struct recv) + (size_t)partitions * sizeof(int),
                             buf, partitions, count, datatype, source, tag, comm);
    if (!part)
        return TERN_ERR_NO_MEM;
    ((struct recv *)part)->capacity = partitions * count * datatype->type.size;
    if (source != MPI_PROC_NULL) {
        part->announced = announced;
        tern_lane_lock(part->request.lane);
        error = tern_pml_irecv(part->context, &part->announcement, sizeof part->announcement,
                               &tern_type_bytes, source, tag, &announce);
        if (!error) {
            tern_list_append(&comm->partitioned->recvs, &part->link);
            tern_partitioned_follow(part, announce);
        }
        tern_lane_unlock(part->request.lane);
        if (error) {
            tern_partitioned_release(&part->request);
            return error;
        }
    }
    tern_request_hold_always(&part->request, comm, datatype);
    *ret_request = &part->request;
    return 0;
}

static int check(const struct tern_request *request, int partition)
{
    const struct recv *recv = (const struct recv *)request;
    if (request->kind != &recv_kind)
        return tern_error(TERN_ERR_REQUEST, "request is a %s; expected one of MPI_Precv_init",
                          request->kind->name);
    if (partition < 0 || partition >= recv->part.partitions)
        return tern_error_index(TERN_ERR_ARG, recv->part.partitions, "partition is %d", partition);
    return 0;
}

static bool arrived(const struct tern_request *request, int partition)
{
    const struct recv *recv = (const struct recv *)request;
    tern_lane_lock(request->lane);
    bool here = request->complete || (recv->posted && recv->missing[partition] == 0);
    tern_lane_unlock(request->lane);
    return here;
}

/* Sets *flag to true if the partition has arrived. In null and inactive requests every partition
 * has arrived. */
int tern_mpi_parrived(struct tern_request *request, int partition, int *flag)
{
    if (!request) {
        *flag = 1;
        return 0;
    }
    tern_raise_next_on(request->comm);
    int error = check(request, partition);
    if (error)
        return error;
    tern_raise_next_on(NULL);
    if (request->active && !arrived(request, partition))
        tern_lane_poll(request->lane);
    *flag = !request->active || arrived(request, partition);
    if (!*flag)
        tern_test_note_request("MPI_Parrived", request);
    return 0;
}
