/* SPDX-License-Identifier: BSD-3-Clause */

/* What partitioned sends and receives share: the context, announcements and tags. */

#include "lib/mpi/message/partitioned.h"

#include "lib/mpi/request/request_object.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>

int tern_partitioned_open(struct tern_comm *comm)
{
    if (comm->partitioned)
        return 0;
    struct tern_partitioned *partitioned = calloc(1, sizeof *partitioned);
    if (!partitioned)
        return tern_error(TERN_ERR_NO_MEM, "no memory for partitioned communication");
    tern_list_init(&partitioned->sends);
    tern_list_init(&partitioned->recvs);
    int error = tern_context_open(&partitioned->context, comm->p2p.id | TERN_CONTEXT_PARTITIONED,
                                  comm->p2p.rank, comm->p2p.peers, comm);
    if (error) {
        free(partitioned);
        return error;
    }
    comm->partitioned = partitioned;
    return 0;
}

static void free_part(struct tern_partitioned_request *part)
{
    tern_list_remove(&part->link);
    free(part);
}

static struct tern_partitioned_request *take_first(struct tern_list_node *list)
{
    struct tern_list_node *link = list->next;
    tern_list_remove(link);
    tern_list_init(link);
    return TERN_CONTAINER(link, struct tern_partitioned_request, link);
}

/* Ends the context. Requests hold the communicator, so the user has freed the requests that are
 * left. A receive may still wait for its announcement: that is cancelled. The announcement of a
 * send completes without the context. */
void tern_partitioned_close(struct tern_comm *comm)
{
    struct tern_partitioned *partitioned = comm->partitioned;
    if (!partitioned)
        return;
    tern_lane_lock(partitioned->context.lane);
    while (!tern_list_empty(&partitioned->sends))
        take_first(&partitioned->sends);
    while (!tern_list_empty(&partitioned->recvs)) {
        struct tern_partitioned_request *recv = take_first(&partitioned->recvs);
        recv->announced = NULL;
        if (recv->announce)
            recv->announce->kind->cancel(recv->announce);
    }
    tern_context_close(&partitioned->context);
    tern_lane_unlock(partitioned->context.lane);
    free(partitioned);
    comm->partitioned = NULL;
}

struct tern_partitioned_request *tern_partitioned_new(const struct tern_request_kind *kind,
                                                      size_t bytes, const void *buf, int partitions,
                                                      MPI_Count count,
                                                      struct tern_datatype *datatype, int peer,
                                                      int tag, struct tern_comm *comm)
{
    struct tern_partitioned_request *part = calloc(1, bytes);
    if (!part) {
        tern_error(TERN_ERR_NO_MEM, "no memory for a request of %d partitions", partitions);
        return NULL;
    }
    tern_request_init(&part->request, kind, comm);
    part->request.lane = comm->p2p.lane;
    tern_request_make_persistent(&part->request);
    tern_list_init(&part->link);
    part->context = &comm->partitioned->context;
    part->buf = (char *)buf;
    part->partitions = partitions;
    part->count = count;
    part->type = &datatype->type;
    part->peer = peer;
    part->tag = tag;
    return part;
}

void tern_partitioned_release(struct tern_request *request)
{
    struct tern_partitioned_request *part = (struct tern_partitioned_request *)request;
    struct tern_lane *lane = request->lane;
    request->obj.own.magic = TERN_MAGIC_FREED;
    tern_lane_lock(lane);
    if (part->announce) /* the peer counts on this announcement, to match the later ones in order */
        part->freed = true;
    else
        free_part(part);
    tern_lane_unlock(lane);
}

/* Handles the completion of an announcement; an on_complete function. */
static void announce_completed(struct tern_request *announce)
{
    struct tern_partitioned_request *part = announce->owner;
    part->announce = NULL;
    announce->kind->release(announce);
    if (part->freed)
        free_part(part);
    else if (part->announced)
        part->announced(part);
}

void tern_partitioned_follow(struct tern_partitioned_request *part, struct tern_request *announce)
{
    if (announce->complete) {
        announce->kind->release(announce);
        return;
    }
    part->announce = announce;
    announce->owner = part;
    announce->on_complete = announce_completed;
}

/* ---- tags ---- */

enum { NUMBERS = INT_MAX };

static uint32_t first_number(const struct tern_partitioned_request *send)
{
    return (uint32_t)(-2 - send->announcement.first_tag);
}

/* Returns the end of a range in use that overlaps [first, end), or 0 if none does. */
static uint32_t end_of_overlapping(const struct tern_partitioned *partitioned, uint32_t first,
                                   uint32_t end)
{
    for (struct tern_list_node *link = partitioned->sends.next; link != &partitioned->sends;
         link = link->next) {
        const struct tern_partitioned_request *send =
            TERN_CONTAINER(link, struct tern_partitioned_request, link);
        uint32_t from = first_number(send), to = from + (uint32_t)send->partitions;
        if (from < end && first < to)
            return to;
    }
    return 0;
}

/*
 * Takes numbers in ascending order. A number is used again only after all others, because messages
 * under the tags of a freed request may still be on their way.
 */
int tern_partitioned_take_tags(struct tern_partitioned *partitioned,
                               struct tern_partitioned_request *send)
{
    uint32_t wanted = (uint32_t)send->partitions, first = partitioned->next_number, passed;

    for (int turns = 0; turns < 2;) {
        if (wanted > NUMBERS - first) {
            first = 0;
            partitioned->wrapped = true;
            turns++;
        } else if (partitioned->wrapped &&
                   (passed = end_of_overlapping(partitioned, first, first + wanted)) != 0) {
            first = passed;
        } else {
            partitioned->next_number = first + wanted;
            send->announcement.first_tag = -2 - (int32_t)first;
            return 0;
        }
    }
    return tern_error(TERN_ERR_OTHER,
                      "fewer than %u tags are free for the partitions of one more send; free "
                      "requests of MPI_Psend_init that are not needed any more",
                      wanted);
}

void tern_partitioned_done(struct tern_partitioned_request *part, int error)
{
    if (error && !part->request.error)
        part->request.error = error;
    if (--part->open == 0)
        tern_request_complete(&part->request, part->request.error);
}

bool tern_partitioned_describe(const struct tern_request *request,
                               struct tern_partitioned_facts *ret_facts)
{
    int lacking;
    bool sends = tern_partitioned_describe_send(request, &lacking);
    if (!sends && !tern_partitioned_describe_recv(request, &lacking))
        return false;
    const struct tern_partitioned_request *part = (const struct tern_partitioned_request *)request;
    *ret_facts = (struct tern_partitioned_facts){
        .context = part->context,
        .sends = sends,
        .peer = part->peer,
        .tag = part->tag,
        .lacking = lacking,
        .partitions = lacking < 0 ? 0 : part->announcement.partitions};
    return true;
}
