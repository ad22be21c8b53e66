/* SPDX-License-Identifier: BSD-3-Clause */

#include "lib/mpi/check/check_message.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/group.h"
#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/list.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

/* The context's id, next to those of MPI_COMM_WORLD and MPI_COMM_SELF. tern_context_new_id never
 * returns it. It belongs to lane 0. */
enum { CHECK_ID = 16 };

static struct tern_context context;

/* A message on its way from or to this process. */
struct transfer {
    struct tern_list_node link;
    struct tern_request *request;
    int tag;
    size_t length;
    char bytes[] __attribute__((aligned(16)));
};
static struct tern_list_node outgoing = {&outgoing, &outgoing}, incoming = {&incoming, &incoming};

static struct transfer *new_transfer(int tag, size_t length)
{
    /* A note arrives without the unused bytes of its text, but is copied as a whole. */
    size_t note = sizeof(struct tern_check_note);
    size_t room = length < note ? note : length + 1;
    struct transfer *transfer = malloc(sizeof *transfer + room);
    if (!transfer) {
        tern_log("no memory to compare collectives; the other ranks will wait for this one");
        return NULL;
    }
    transfer->tag = tag;
    transfer->length = length;
    transfer->request = NULL;
    return transfer;
}

static void send_bytes(int rank, int tag, const void *bytes, size_t length)
{
    struct transfer *transfer = new_transfer(tag, length);
    if (!transfer)
        return;
    memcpy(transfer->bytes, bytes, length);
    if (tern_pml_isend(&context, transfer->bytes, (int64_t)length, &tern_type_bytes, rank, tag,
                       TERN_SEND_STANDARD, &transfer->request)) {
        free(transfer);
        return;
    }
    tern_list_append(&outgoing, &transfer->link);
}

void tern_check_send_record(const struct tern_record *record, int rank)
{
    send_bytes(rank, TERN_CHECK_RECORD, record, tern_record_bytes(record));
}

void tern_check_send_note(const struct tern_check_note *note, enum tern_check_tag tag, int rank)
{
    /* sends only the used bytes of the text */
    send_bytes(rank, tag, note, offsetof(struct tern_check_note, text) + strlen(note->text) + 1);
}

void tern_check_receive_messages(void)
{
    struct tern_unexpected *message;
    MPI_Status status;
    while (tern_pml_take(&context, MPI_ANY_SOURCE, MPI_ANY_TAG, &message, &status)) {
        struct transfer *transfer = new_transfer(status.MPI_TAG, status._ucount);
        if (!transfer || tern_pml_imrecv(message, transfer->bytes, (int64_t)status._ucount,
                                         &tern_type_bytes, &transfer->request)) {
            free(transfer);
            continue;
        }
        transfer->bytes[transfer->length] = 0; /* ends a text */
        tern_list_append(&incoming, &transfer->link);
    }
}

/* Removes the complete messages of a list. `take` is NULL for the list of sent messages. */
static int reap(struct tern_list_node *list, tern_check_take *take)
{
    int events = 0;
    for (struct tern_list_node *link = list->next, *next; link != list; link = next) {
        struct transfer *transfer = TERN_CONTAINER(link, struct transfer, link);
        next = link->next;
        if (!transfer->request->complete)
            continue;
        tern_list_remove(link);
        if (take)
            take((enum tern_check_tag)transfer->tag, transfer->bytes,
                 transfer->request->status.MPI_SOURCE);
        transfer->request->kind->release(transfer->request);
        free(transfer);
        events++;
    }
    return events;
}

int tern_check_reap_messages(tern_check_take *take)
{
    return reap(&incoming, take) + reap(&outgoing, NULL);
}

bool tern_check_rank_is_lost(int rank)
{
    return tern_pml_check_source(&context, rank) != 0;
}

struct tern_lane *tern_check_message_lane(void)
{
    return context.peers ? context.lane : NULL;
}

int tern_check_open_messages(int (*poll)(struct tern_lane *lane))
{
    const struct tern_run all = {.stride = tern_rte.size > 1, .count = (int)tern_rte.size};
    struct tern_group *group;
    int rc = tern_group_from_runs(&all, 1, &group);
    if (rc)
        return rc;
    struct tern_peers *peers = tern_group_peers(group, tern_lane_of(CHECK_ID));
    rc = peers ? tern_context_open(&context, CHECK_ID, (int)tern_rte.rank, peers, NULL)
               : TERN_ERR_NO_MEM;
    tern_group_release(group);
    return rc ? rc : tern_progress_register(tern_lane_of(CHECK_ID), poll);
}

void tern_check_flush(void)
{
    struct tern_waiter waiter = {0};
    while (!tern_list_empty(&outgoing) || !tern_list_empty(&incoming))
        tern_wait(&waiter);
}
