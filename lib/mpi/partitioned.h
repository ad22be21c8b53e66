/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PARTITIONED_H
#define TERN_PARTITIONED_H

/*
 * Partitioned communication (MPI-4.1 chapter 4): a message whose parts are handed over one by one.
 *
 * A communicator has a third context for it, opened when it is first used: so these messages match
 * nothing else, and what comes before the receiver uses it waits as for any other context. Two
 * kinds of message go there. MPI_Psend_init announces its send under the user's tag; MPI_Precv_init
 * receives an announcement from its source with its tag. That is the whole of the matching, in the
 * order of the initialization calls, and it is done once for all rounds. Then each partition of the
 * sender is a message of its own, under a tag that the sender chose for it; so it goes as soon as
 * it is ready and whatever the receiver's partitions are. The receiver's arrive when all messages
 * that overlap them have.
 */

#include "lib/pml/context.h"
#include "lib/pml/request.h"
#include "lib/type/type.h"
#include "lib/util/list.h"

#include <mpi.h>
#include <stdint.h>

struct tern_comm;
struct tern_datatype;

/* What MPI_Psend_init tells the receiver. */
struct tern_announcement {
    int64_t bytes;      /* of each partition */
    int32_t partitions; /* of the sender */
    int32_t first_tag;  /* of partition 0; that of partition i is `i` below it */
};

/* A communicator's. */
struct tern_partitioned {
    struct tern_context context;
    uint32_t next_number;          /* tags are -2 - number: below the wildcard */
    bool wrapped;                  /* numbers are being used again */
    struct tern_list_node sends, recvs; /* all requests: struct tern_partitioned_request.link */
};

/* What sends and receives have in common. Holds communicator and datatype like any persistent
 * request. */
struct tern_partitioned_request {
    struct tern_request request;
    struct tern_list_node link;
    struct tern_context *context;
    char *buf;
    int partitions;
    int64_t count; /* elements of each partition */
    const struct tern_type *type;
    int peer, tag; /* peer may be MPI_PROC_NULL; then there is no announcement */
    struct tern_announcement announcement; /* of a receive: valid once `announce` is NULL */
    struct tern_request *announce;         /* its sending or receiving, while under way */
    void (*announced)(
        struct tern_partitioned_request *part); /* called once it is through, or NULL */
    bool freed; /* by the user, before the announcement was through */
    int open;   /* messages of this round that are not complete */
};

/* Makes comm->partitioned. 0 or TERN_ERR_NO_MEM. */
int tern_partitioned_open(struct tern_comm *comm);
/* For the end of a communicator: announcements that nobody sent are not waited for any more. */
void tern_partitioned_close(struct tern_comm *comm);

/* A request of `kind` and `bytes` bytes, inactive, in no list yet. NULL: no memory. */
struct tern_partitioned_request *tern_partitioned_new(const struct tern_request_kind *kind,
                                                      size_t bytes, const void *buf, int partitions,
                                                      MPI_Count count,
                                                      struct tern_datatype *datatype, int peer,
                                                      int tag, struct tern_comm *comm);
/* kind->release: frees it, later if its announcement is still under way. */
void tern_partitioned_release(struct tern_request *request);

/* Takes tags for the partitions of a send: sets announcement.first_tag. 0 or TERN_ERR_OTHER. */
int tern_partitioned_take_tags(struct tern_partitioned *partitioned,
                               struct tern_partitioned_request *send);

/* Follows the request that sends or receives the announcement. `announced` is called only if that
 * is not complete yet. */
void tern_partitioned_follow(struct tern_partitioned_request *part, struct tern_request *announce);

/* One message of the round is complete; with the last one the request is. */
void tern_partitioned_done(struct tern_partitioned_request *part, int error);

/* Address of partition i. */
static inline char *tern_partitioned_at(const struct tern_partitioned_request *part, int64_t i)
{
    return part->buf + i * part->count * part->type->extent;
}

#endif
