/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARTITIONED_H
#define TERN_PARTITIONED_H

/*
 * Partitioned communication (MPI-4.1 chapter 4): a message whose parts are handed over one by one.
 *
 * A communicator has a third context for it, opened on first use. So these messages match no
 * others, and a message that arrives before the receiver opens the context waits, as for any other
 * context.
 *
 * Two kinds of message use the context. MPI_Psend_init announces its send under the user's tag, and
 * MPI_Precv_init receives an announcement from its source with its tag. This is all of the
 * matching: it follows the order of the initialization calls, and one match serves all rounds. The
 * second kind are the data: each partition of the sender is a message of its own, under a tag that
 * the sender chose for it. So a partition is sent as soon as it is ready, whatever the receiver's
 * partitions are. A partition of the receiver arrives when all messages that overlap it have
 * arrived.
 */

#include "lib/pml/context.h"
#include "lib/pml/request.h"
#include "lib/type/type.h"
#include "lib/util/base/list.h"

#include <mpi.h>
#include <stdint.h>

struct tern_comm;
struct tern_datatype;

/* What MPI_Psend_init announces to the receiver. */
struct tern_announcement {
    int64_t bytes;      /* of each partition of the sender */
    int32_t partitions; /* number of the sender's partitions */
    int32_t first_tag;  /* tag of partition 0; partition i has the tag first_tag - i */
};

/* What a communicator holds for partitioned communication. */
struct tern_partitioned {
    struct tern_context context; /* the context of these messages */
    uint32_t next_number;        /* tags are -2 - number: below the wildcard MPI_ANY_TAG */
    bool wrapped;                /* true if all numbers were used and are being reused */
    /* all requests, linked by struct tern_partitioned_request.link */
    struct tern_list_node sends, recvs;
};

/* What sends and receives have in common. Holds references to communicator and datatype, like any
 * persistent request. */
struct tern_partitioned_request {
    struct tern_request request;
    struct tern_list_node link; /* in the list `sends` or `recvs` of the communicator */
    struct tern_context *context;
    char *buf; /* the user's buffer */
    int partitions; /* number of this process's partitions */
    int64_t count; /* elements of each partition */
    const struct tern_type *type; /* type of the elements */
    int peer, tag; /* peer may be MPI_PROC_NULL; then there is no announcement */
    struct tern_announcement announcement; /* of a receive: valid once `announce` is NULL */
    /* The request that sends or receives the announcement; NULL before and after. */
    struct tern_request *announce;
    /* Called when the announcement is sent or received; NULL if nothing is to be called. */
    void (*announced)(struct tern_partitioned_request *part);
    bool freed; /* true if the user freed the request before its announcement was complete */
    int open;   /* messages of this round that are not complete */
};

/* Makes comm->partitioned. Returns 0 or TERN_ERR_NO_MEM. */
int tern_partitioned_open(struct tern_comm *comm);
/* Ends the context of a communicator that is being freed. Cancels the receives of announcements
 * that were never sent. */
void tern_partitioned_close(struct tern_comm *comm);

/* Makes an inactive request of `kind` in an object of `bytes` bytes. It is in no list yet. Returns
 * NULL if there is no memory. */
struct tern_partitioned_request *tern_partitioned_new(const struct tern_request_kind *kind,
                                                      size_t bytes, const void *buf, int partitions,
                                                      MPI_Count count,
                                                      struct tern_datatype *datatype, int peer,
                                                      int tag, struct tern_comm *comm);
/* Frees the request; the kind->release of both kinds. If the announcement is still under way, frees
 * the request when the announcement completes. */
void tern_partitioned_release(struct tern_request *request);

/* Takes tags for the partitions of a send and sets announcement.first_tag. Returns 0 or
 * TERN_ERR_OTHER. */
int tern_partitioned_take_tags(struct tern_partitioned *partitioned,
                               struct tern_partitioned_request *send);

/* Follows the request that sends or receives the announcement. Calls `announced` later only if that
 * request is not complete yet. */
void tern_partitioned_follow(struct tern_partitioned_request *part, struct tern_request *announce);

/* Reports that one message of the round is complete. Completes the request after the last one. */
void tern_partitioned_done(struct tern_partitioned_request *part, int error);

/* What a partitioned request waits for, for messages to the user. */
struct tern_partitioned_facts {
    struct tern_context *context;
    bool sends;
    int peer, tag;
    int lacking; /* partitions that were not marked as ready; -1: no MPI_Psend_init has come */
    int partitions; /* of the sender; 0: not known */
};
/* Describes a partitioned request. Returns false if the request is of another kind. Call with the
 * lane's lock held. */
bool tern_partitioned_describe(const struct tern_request *request,
                               struct tern_partitioned_facts *ret_facts);
/* The part of each kind: returns false if the request is of another kind. */
bool tern_partitioned_describe_send(const struct tern_request *request, int *ret_lacking);
bool tern_partitioned_describe_recv(const struct tern_request *request, int *ret_lacking);

/* Returns the address of partition i. */
static inline char *tern_partitioned_at(const struct tern_partitioned_request *part, int64_t i)
{
    return part->buf + i * part->count * part->type->extent;
}

#endif
