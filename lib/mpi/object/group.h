/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_GROUP_H
#define TERN_GROUP_H

/*
 * Groups (MPI-4.1 section 7.3): processes in order, stored as runs. A group never changes after it
 * was made, so objects share it by reference. No function here communicates or blocks.
 */

#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdint.h>

struct tern_session;
struct tern_group_index; /* maps processes to ranks; private to group_runs.c */

/* A group. It never changes. */
struct tern_group {
    struct tern_object obj;
    int size;
    int rank;              /* rank of this process, or MPI_UNDEFINED */
    int run_count;         /* number of elements of `runs` */
    struct tern_run *runs; /* in the order of ranks */
    /* The session that the group comes from; a reference. NULL for the World Model. */
    struct tern_session *session;
    /* Made on first use, NULL until then. The group holds one reference to each of `peers`. */
    struct tern_peers *peers[TERN_LANES_MAX];
    struct tern_group_index *index; /* only for groups of many runs */
};

/* MPI_GROUP_EMPTY. */
extern struct tern_group tern_group_empty;

/* Returns the group of a valid handle. */
static inline struct tern_group *tern_group_of(MPI_Group group)
{
    return ((struct tern_handle *)group)->state;
}

/* Take or drop a reference. The user's handle and every communicator over the group hold one.
 * Dropping the last one frees the group, except tern_group_empty. */
void tern_group_retain(struct tern_group *group);
void tern_group_release(struct tern_group *group);

/* Return the process at `rank` (0 to size - 1), and the rank of a process or MPI_UNDEFINED. */
struct tern_process tern_group_process(const struct tern_group *group, int rank);
int tern_group_find(struct tern_group *group, struct tern_process process);

/* Returns the lane's peers in the order of ranks, or NULL if there is no memory. They belong to the
 * group; a caller that keeps them takes a reference. */
struct tern_peers *tern_group_peers(struct tern_group *group, struct tern_lane *lane);

/* Returns true if both groups have equal processes in equal order. */
bool tern_group_equal(const struct tern_group *a, const struct tern_group *b);

/* Returns TERN_ERR_SESSION if the groups come from different sessions (tern_session_check_same),
 * else 0. An empty group may come from any session. The names are those of the arguments. */
int tern_group_check_sessions(const char *name_a, const struct tern_group *a, const char *name_b,
                              const struct tern_group *b);

/* Returns MPI_IDENT, MPI_SIMILAR (equal processes in another order) or MPI_UNEQUAL. */
int tern_group_relation(struct tern_group *a, struct tern_group *b);

/* Builds a group process by process: call init, then add any number of times, then finish or
 * drop. */
struct tern_group_builder {
    int size, run_count, run_room; /* processes and runs so far; room for runs */
    struct tern_run *runs;         /* the runs so far; owned by the builder */
    /* The session of the groups that the new group is made of; NULL until a process comes from
     * one. */
    struct tern_session *session;
    bool failed; /* true if there is no memory, or if there are too many processes */
};
/* Begins a group without processes. */
void tern_group_builder_init(struct tern_group_builder *builder);
/* Adds one process. */
void tern_group_builder_add(struct tern_group_builder *builder, struct tern_process process);
/* Adds `count` processes: ranks first, first + stride, ... of the job. */
void tern_group_builder_add_run(struct tern_group_builder *builder, struct tern_process first,
                                int stride, int count);
/* Ends the building. The caller owns the one reference of `*ret_group`, which is tern_group_empty
 * if nothing was added. Returns 0 or TERN_ERR_NO_MEM. */
int tern_group_builder_finish(struct tern_group_builder *builder, struct tern_group **ret_group);
/* Ends the building without a group. */
void tern_group_builder_drop(struct tern_group_builder *builder);

/* Makes a group of runs that were received from another process. Computes `start` of each run.
 * Returns 0 or TERN_ERR_NO_MEM. */
int tern_group_from_runs(const struct tern_run *runs, int run_count, struct tern_group **ret_group);

/* Makes a group of the members `ranks[0..n-1]` of a group, in that order. The ranks are valid and
 * distinct. Returns 0 or TERN_ERR_NO_MEM. */
int tern_group_select(struct tern_group *group, int n, const int ranks[],
                      struct tern_group **ret_group);

#endif
