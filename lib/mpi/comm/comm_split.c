/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Divides a communicator by colour. The (colour, key) of every process is gathered once, together
 * with the id that rank 0 made. Each process then selects the members of its colour and sorts them,
 * O(P log P) in all. The parts are disjoint, so all share the id. An intercommunicator does this in
 * each group, and its two rank 0s exchange the gathered values.
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/procedures.h"
#include "lib/pml/context.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

struct choice {
    uint64_t id; /* only rank 0's is used */
    int64_t color;
    int32_t key, unused;
};

/* A rank with the colour of this process. */
struct member {
    int32_t key, rank;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* Makes the group of the processes with `color`, in order. Returns `from` itself if the result is
 * equal to it, so that peers are shared. */
static int group_of_color(struct tern_group *from, const struct choice *choices, int64_t color,
                          struct tern_group **ret_group)
{
    int count = 0;
    bool sorted = true;
    for (int rank = 0; rank < from->size; rank++)
        count += choices[rank].color == color;
    struct member *members = malloc(((size_t)count + 1) * sizeof *members);
    if (!members)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a communicator of %d processes", count);
    count = 0;
    for (int rank = 0; rank < from->size; rank++) {
        if (choices[rank].color != color)
            continue;
        members[count++] = (struct member){choices[rank].key, rank};
        sorted = sorted && (count < 2 || members[count - 2].key <= members[count - 1].key);
    }
    if (!sorted)
        qsort(members, (size_t)count, sizeof *members, compare_members);

    struct tern_group_builder builder;
    struct tern_group *group;
    tern_group_builder_init(&builder);
    for (int i = 0; i < count; i++)
        tern_group_builder_add(&builder, tern_group_process(from, members[i].rank));
    free(members);
    int rc = tern_group_builder_finish(&builder, &group);
    if (rc)
        return rc;
    if (group != from && tern_group_equal(group, from)) {
        tern_group_release(group);
        tern_group_retain(from);
        group = from;
    }
    *ret_group = group;
    return 0;
}

static int split_intra(struct tern_comm *comm, int64_t color, int key, struct choice *choices,
                       struct tern_comm **ret_comm)
{
    struct choice mine = {comm->group->rank == 0 ? tern_context_new_id() : 0, color, key, 0};
    struct tern_group *group;
    int rc = tern_comm_allgather_bytes(comm, &mine, choices, sizeof mine);
    if (rc)
        return rc;
    if (color == MPI_UNDEFINED) {
        *ret_comm = NULL;
        return 0;
    }
    rc = group_of_color(comm->group, choices, color, &group);
    if (rc)
        return rc;
    rc = tern_comm_open(comm, group, choices[0].id, ret_comm);
    tern_group_release(group);
    return rc;
}

/* Splits an intercommunicator. `choices` has room for both groups. */
static int split_inter(struct tern_comm *comm, int64_t color, int key, struct choice *choices,
                       struct tern_comm **ret_comm)
{
    struct choice *theirs = choices + comm->group->size;
    struct choice mine = {comm->group->rank == 0 ? tern_context_new_id() : 0, color, key, 0};
    struct tern_group *group, *remote_group;
    uint64_t id;
    int rc = tern_comm_allgather_bytes(comm->local, &mine, choices, sizeof mine);
    if (!rc)
        rc = tern_comm_exchange(comm, choices, comm->group->size * (int64_t)sizeof mine, theirs,
                                comm->remote_group->size * (int64_t)sizeof mine);
    if (rc)
        return rc;
    id = choices[0].id < theirs[0].id ? choices[0].id : theirs[0].id;
    *ret_comm = NULL;
    if (color == MPI_UNDEFINED)
        return 0;
    rc = group_of_color(comm->remote_group, theirs, color, &remote_group);
    if (rc)
        return rc;
    if (remote_group->size == 0) /* no process to talk to */
        goto release_remote_group;
    rc = group_of_color(comm->group, choices, color, &group);
    if (rc)
        goto release_remote_group;
    rc = tern_comm_open_inter(comm, group, remote_group, id, ret_comm);
    tern_group_release(group);

release_remote_group:
    tern_group_release(remote_group);
    return rc;
}

int tern_comm_split(struct tern_comm *comm, int64_t color, int key, struct tern_comm **ret_comm)
{
    size_t count = (size_t)comm->group->size +
                   (comm->remote_group ? (size_t)comm->remote_group->size : 0);
    struct choice *choices = malloc(count * sizeof *choices);
    if (!choices)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the choices of %zu processes", count);
    int rc = tern_comm_inter(comm) ? split_inter(comm, color, key, choices, ret_comm)
                                   : split_intra(comm, color, key, choices, ret_comm);
    free(choices);
    return rc;
}

int tern_mpi_comm_split(struct tern_comm *comm, int color, int key, struct tern_comm **ret_newcomm)
{
    return tern_comm_split(comm, color, key, ret_newcomm);
}
