/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Makes intracommunicators. The only thing that processes must learn from each other is the new id.
 * The groups are arguments, known to every process concerned. The id is one that the parent's
 * processes have agreed on ahead (lib/mpi/comm/comm_ids.h). If only the members call, the id is
 * sent down a binomial tree of the members, after each has reported up the tree that it has called.
 */

#include "lib/mpi/object/comm.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/comm/comm_ids.h"
#include "lib/mpi/object/group_far.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* Checks that every process of `group` is in the local group of `comm`. */
static int check_subgroup(struct tern_comm *comm, struct tern_group *group)
{
    int rc =
        group->size ? tern_session_check_same("group", group->session, "comm", comm->session) : 0;
    if (rc)
        return rc;
    for (int rank = 0; rank < group->size && group != comm->group; rank++)
        if (tern_group_find(comm->group, tern_group_process(group, rank)) == MPI_UNDEFINED)
            return tern_error(TERN_ERR_GROUP, "rank %d of group is not in the group of comm", rank);
    return 0;
}

/* Returns the group to make a communicator of. Returns the group object of `comm` if the two are
 * equal, so that peers are shared. Equal groups may belong to different sessions, so
 * sessions are compared, too. */
static struct tern_group *shared_group(struct tern_comm *comm, struct tern_group *group)
{
    bool same = comm->group->session == group->session && tern_group_equal(comm->group, group);
    return same ? comm->group : group;
}

int tern_mpi_comm_create(struct tern_comm *comm, struct tern_group *group,
                         struct tern_comm **ret_newcomm)
{
    int rc = check_subgroup(comm, group);
    if (rc)
        return rc;
    if (tern_comm_inter(comm))
        return tern_comm_create_inter(comm, group, ret_newcomm);
    return tern_comm_make(comm, group->rank == MPI_UNDEFINED ? NULL : shared_group(comm, group),
                          ret_newcomm);
}

/* The message of a group's leader to the other members. */
struct leader_word {
    uint64_t id;
    uint64_t digest; /* of the group and of the purpose of the call */
};

/* A rank's place in a binomial tree over the ranks of a group. A rank whose lowest set bit is
 * `span` serves the `span` ranks from itself on. */
struct tree {
    struct tern_comm *comm; /* carries the messages */
    struct tern_group *group;
    int tag;
    int64_t rank, span;
};

static struct tree tree_of(struct tern_comm *comm, struct tern_group *group, int tag)
{
    struct tree tree = {comm, group, tag, group->rank, group->rank & -(int64_t)group->rank};
    if (tree.rank == 0)
        for (tree.span = 1; tree.span < group->size;)
            tree.span <<= 1;
    return tree;
}

/* Returns the rank in `comm` of a rank of the group. */
static int comm_rank(const struct tree *tree, int64_t rank)
{
    return tern_group_find(tree->comm->group, tern_group_process(tree->group, (int)rank));
}

/* Sends a message to a rank of the group, or the word that this rank has failed. */
static int tree_send(const struct tree *tree, int64_t rank, const void *bytes, int64_t length,
                     int failed)
{
    struct tern_context *context = &tree->comm->coll.context;
    int to = comm_rank(tree, rank);
    if (!failed)
        return tern_pml_send(context, bytes, length, &tern_type_bytes, to, tree->tag,
                             TERN_SEND_STANDARD);
    tern_pml_send_failure(context, to, tree->tag);
    return failed;
}

static int tree_recv(const struct tree *tree, int64_t rank, void *bytes, int64_t length)
{
    return tern_pml_recv(&tree->comm->coll.context, bytes, length, &tern_type_bytes,
                         comm_rank(tree, rank), tree->tag, MPI_STATUS_IGNORE);
}

/* Tells the rank above when this rank and all below it have called. */
static int report_up(const struct tree *tree)
{
    int rc = 0;
    for (int64_t span = 1; span < tree->span && tree->rank + span < tree->group->size; span <<= 1) {
        int recv_rc = tree_recv(tree, tree->rank + span, NULL, 0);
        rc = rc ? rc : recv_rc;
    }
    return tree->rank > 0 ? tree_send(tree, tree->rank - tree->span, NULL, 0, rc) : rc;
}

/* Sends the leader's message down. `failed` is 0, or what this rank tells the ranks below. */
static int pass_down(const struct tree *tree, struct leader_word *word, int failed)
{
    int rc = failed;
    if (tree->rank > 0) {
        int recv_rc = tree_recv(tree, tree->rank - tree->span, word, sizeof *word);
        rc = rc ? rc : recv_rc;
    }
    for (int64_t span = tree->span >> 1; span > 0; span >>= 1)
        if (tree->rank + span < tree->group->size) {
            int send_rc = tree_send(tree, tree->rank + span, word, sizeof *word, rc);
            rc = rc ? rc : send_rc;
        }
    return rc;
}

/* Gives the leader's message to all ranks of `group`; if creations synchronize, after all of them
 * have called. */
static int bcast_in_group(struct tern_comm *comm, struct tern_group *group, int tag,
                          struct leader_word *word)
{
    struct tree tree = tree_of(comm, group, tag);
    int rc = tern_comm_synchronizes() ? report_up(&tree) : 0;
    return pass_down(&tree, word, rc);
}

int tern_comm_create_among(struct tern_comm *comm, struct tern_comm *parent,
                           struct tern_group *group, int tag, uint64_t purpose,
                           struct tern_comm **ret_comm)
{
    uint64_t digest = tern_group_digest(group) ^ purpose;
    struct leader_word word = {.digest = digest};
    if (group->rank == 0)
        word.id = tern_context_new_id();
    int rc = bcast_in_group(comm, group, tern_comm_user_tag(tag), &word);
    if (rc)
        return rc;
    if (word.digest != digest)
        return tern_error(TERN_ERR_GROUP,
                          "group or tag differs from that of rank 0 of group; all members must "
                          "pass the same processes in the same order, and the same tag");
    return tern_comm_open(parent, shared_group(comm, group), word.id, ret_comm);
}

int tern_mpi_comm_create_group(struct tern_comm *comm, struct tern_group *group, int tag,
                               struct tern_comm **ret_newcomm)
{
    if (tern_comm_inter(comm))
        return tern_error(TERN_ERR_COMM,
                          "comm is an intercommunicator; expected an intracommunicator");
    int rc = check_subgroup(comm, group);
    if (rc)
        return rc;
    if (group->rank == MPI_UNDEFINED) {
        *ret_newcomm = NULL;
        return 0;
    }
    if (tern_check_full()) {
        char text[24];
        snprintf(text, sizeof text, "tag %d", tag);
        rc = tern_check_group(comm, group, text);
    }
    return rc ? rc : tern_comm_create_among(comm, comm, group, tag, 0, ret_newcomm);
}
