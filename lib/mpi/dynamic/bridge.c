/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/dynamic/bridge.h"

#include "lib/mpi/object/group_far.h"
#include "lib/mpi/comm/introduce.h"
#include "lib/pml/context.h"
#include "lib/rte/jobs.h"
#include "lib/util/base/error.h"
#include "lib/util/net/question.h"

#include <stdlib.h>
#include <string.h>

/* The begin of an offer; the runs and the introductions follow. */
struct offer {
    struct tern_line_head head;
    uint64_t id;
    uint32_t run_count, unused;
    uint64_t introductions; /* bytes */
};

static size_t size_of(const struct offer *offer)
{
    return sizeof *offer + (offer->run_count * sizeof(struct tern_far_run) + 7) / 8 * 8 +
           offer->introductions;
}

static const struct tern_far_run *runs_of(const struct offer *offer)
{
    return (const void *)(offer + 1);
}

static const char *introductions_of(const struct offer *offer)
{
    return (const char *)offer + size_of(offer) - offer->introductions;
}

/* Writes the offer of `group`. */
static int write_offer(const struct tern_group *group,
                       const struct tern_introductions *introductions,
                       struct tern_bridge_offer *ret)
{
    struct offer offer = {.head = {TERN_LINE_OFFER, 0},
                          .id = tern_context_new_id(),
                          .run_count = (uint32_t)group->run_count,
                          .introductions = introductions->length};
    struct tern_far_run *runs = tern_group_to_far(group);
    size_t length = size_of(&offer);
    char *bytes = runs ? calloc(1, length) : NULL;
    if (bytes) {
        memcpy(bytes, &offer, sizeof offer);
        memcpy(bytes + sizeof offer, runs, offer.run_count * sizeof *runs);
        memcpy(bytes + length - introductions->length, introductions->bytes,
               introductions->length);
        *ret = (struct tern_bridge_offer){bytes, length};
    }
    free(runs);
    return bytes ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for an offer to another job");
}

int tern_bridge_offer(struct tern_comm *comm, int root, struct tern_bridge_offer *ret)
{
    struct tern_introductions introductions;
    *ret = (struct tern_bridge_offer){0};
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM,
                          "comm is an intercommunicator; expected an intracommunicator");
    if (root < 0 || root >= comm->group->size)
        return tern_error_index(TERN_ERR_ROOT, comm->group->size, "root is %d", root);
    int rc = tern_introductions_gather(comm, &introductions);
    if (!rc && comm->group->rank == root)
        rc = write_offer(comm->group, &introductions, ret);
    free(introductions.bytes);
    return rc;
}

/* Returns the offer if the bytes are one, else NULL with text. */
static const struct offer *read_offer(const struct tern_bridge_offer *theirs)
{
    const struct offer *offer = (const void *)theirs->bytes;
    if (theirs->length >= sizeof *offer && offer->head.kind == TERN_LINE_OFFER &&
        offer->run_count > 0 && offer->run_count < INT32_MAX &&
        offer->introductions <= theirs->length && size_of(offer) == theirs->length)
        return offer;
    tern_error(TERN_ERR_OTHER, "the other job has sent no valid offer; use one version of Tern MPI "
                               "in both jobs");
    return NULL;
}

/* What the root passes on: an error, or the length of the other group's offer and the id. */
struct outcome {
    int64_t error;
    uint64_t length, id;
};

static struct outcome judge(int rc, const struct tern_bridge_offer *mine,
                            const struct tern_bridge_offer *theirs)
{
    const struct offer *own = (const void *)mine->bytes, *other = rc ? NULL : read_offer(theirs);
    if (!other)
        return (struct outcome){.error = rc ? rc : TERN_ERR_OTHER};
    return (struct outcome){.length = theirs->length,
                            .id = own->id < other->id ? own->id : other->id};
}

/* Takes in the processes of the other group, and opens the intercommunicator. */
static int open_inter(struct tern_comm *comm, const struct offer *offer, uint64_t id,
                      struct tern_comm **ret_comm)
{
    struct tern_group *remote;
    int rc = tern_introductions_take(introductions_of(offer), offer->introductions);
    if (!rc)
        rc = tern_group_from_far(runs_of(offer), (int)offer->run_count, &remote);
    if (rc)
        return rc;
    for (int rank = 0; rank < comm->group->size && !rc; rank++)
        if (tern_group_find(remote, tern_group_process(comm->group, rank)) != MPI_UNDEFINED)
            rc = tern_error(TERN_ERR_COMM,
                            "rank %d of comm is in the other group, too; expected disjoint groups",
                            rank);
    if (!rc)
        rc = tern_comm_open_inter(comm, comm->group, remote, id, ret_comm);
    tern_group_release(remote);
    return rc;
}

int tern_bridge_open(struct tern_comm *comm, int root, int rc,
                     const struct tern_bridge_offer *mine, const struct tern_bridge_offer *theirs,
                     struct tern_comm **ret_comm)
{
    bool leads = comm->group->rank == root;
    struct outcome outcome = {0};
    if (leads)
        outcome = judge(rc, mine, theirs);
    rc = tern_comm_bcast_bytes(comm, &outcome, sizeof outcome, root);
    if (rc)
        return rc;
    if (outcome.error && leads)
        return (int)outcome.error; /* its text is set already */
    if (outcome.error)
        return tern_error((int)outcome.error,
                          "root, rank %d of comm, could not connect; its message says why", root);
    char *bytes = leads ? theirs->bytes : malloc(outcome.length);
    if (!bytes)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the offer of another job");
    rc = tern_comm_bcast_bytes(comm, bytes, (int64_t)outcome.length, root);
    if (!rc)
        rc = open_inter(comm, (const void *)bytes, outcome.id, ret_comm);
    if (!leads)
        free(bytes);
    return rc;
}
