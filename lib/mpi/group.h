/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_GROUP_H
#define TERN_GROUP_H

/*
 * Groups (MPI-4.1 section 7.3): processes in order, stored as runs. A group never changes after it
 * was made, so everything that needs one shares it by reference. Nothing here communicates or
 * blocks.
 */

#include "lib/pml/context.h"
#include "lib/pml/lane.h"
#include "lib/util/handle.h"

#include <mpi.h>
#include <stdint.h>

struct tern_session;
struct tern_group_index; /* process -> rank, private to group_runs.c */

struct tern_group {
    struct tern_object obj;
    int size;
    int rank; /* mine, or MPI_UNDEFINED */
    int run_count;
    struct tern_run *runs; /* in the order of ranks */
    struct tern_session *session; /* it comes from; a reference. NULL: the World Model */
    /* Made on first use, NULL until then; of each of `peers` one reference is the group's. */
    struct tern_peers *peers[TERN_LANES_MAX];
    struct tern_group_index *index; /* only where there are many runs */
};

extern struct tern_group tern_group_empty;

static inline struct tern_group *tern_group_of(MPI_Group group)
{
    return ((struct tern_handle *)group)->state;
}

/* A reference: the user's handle and every communicator over it. The last one frees (never
 * tern_group_empty). */
void tern_group_retain(struct tern_group *group);
void tern_group_release(struct tern_group *group);

/* The process at `rank` (0 .. size-1), and the rank of a process or MPI_UNDEFINED. */
struct tern_process tern_group_process(const struct tern_group *group, int rank);
int tern_group_find(struct tern_group *group, struct tern_process process);

/* A lane's peers in the order of ranks; belong to the group (whoever keeps them retains them).
 * NULL: no memory. */
struct tern_peers *tern_group_peers(struct tern_group *group, struct tern_lane *lane);

/* The same processes in the same order? */
bool tern_group_equal(const struct tern_group *a, const struct tern_group *b);

/* Returns TERN_ERR_SESSION if the groups come from different sessions (tern_session_check_same),
 * else 0. An empty group may come from any session. The names are those of the arguments. */
int tern_group_check_sessions(const char *name_a, const struct tern_group *a, const char *name_b,
                              const struct tern_group *b);

/* MPI_IDENT, MPI_SIMILAR (another order) or MPI_UNEQUAL. */
int tern_group_relation(struct tern_group *a, struct tern_group *b);

/* Builds a group process by process: init, any number of adds, then finish or drop. */
struct tern_group_builder {
    int size, run_count, run_room;
    struct tern_run *runs;
    struct tern_session *session; /* of the groups it is made of; NULL as long as nobody says so */
    bool failed;                  /* no memory or too many */
};
void tern_group_builder_init(struct tern_group_builder *builder);
void tern_group_builder_add(struct tern_group_builder *builder, struct tern_process process);
/* `count` processes at once: ranks first, first + stride, ... of the job. */
void tern_group_builder_add_run(struct tern_group_builder *builder, struct tern_process first,
                                int stride, int count);
/* *ret_group has one reference of the caller's; tern_group_empty when nothing was added. 0 or
 * TERN_ERR_NO_MEM. */
int tern_group_builder_finish(struct tern_group_builder *builder, struct tern_group **ret_group);
void tern_group_builder_drop(struct tern_group_builder *builder);

/* A group made of runs that came from another process (`start` is filled in here). 0 or
 * TERN_ERR_NO_MEM. */
int tern_group_from_runs(const struct tern_run *runs, int run_count, struct tern_group **ret_group);

/* The members `ranks[0..n-1]` of a group, in that order; ranks are valid and distinct. */
int tern_group_select(struct tern_group *group, int n, const int ranks[],
                      struct tern_group **ret_group);

#endif
