/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Groups as runs. Real groups are regular: all ranks, every fourth rank, the ranks of a node. Such
 * a group takes one or two runs whatever its size, and the rank of a process is computed from the
 * few runs. An irregular group has many runs. It gets a sorted index on first use, so that union,
 * translation and the like stay O(n log n).
 */

#include "lib/mpi/object/group.h"

#include "lib/btl/peer.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/session.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Up to this many runs are searched one by one. */
enum { RUNS_SCANNED = 8 };

struct place {
    struct tern_process process;
    int rank;
};

struct tern_group_index {
    int count;
    struct place places[]; /* sorted by job, then by rank in the job */
};

struct tern_group tern_group_empty = {
    .obj = {.handle = (struct tern_handle *)MPI_GROUP_EMPTY, .refs = 1},
    .rank = MPI_UNDEFINED,
};

void tern_group_retain(struct tern_group *group)
{
    tern_ref(&group->obj.refs);
}

void tern_group_release(struct tern_group *group)
{
    if (tern_unref(&group->obj.refs) > 0)
        return;
    /* the user has freed it more often than it was handed out: it stays */
    if (group == &tern_group_empty) {
        group->obj.refs = 1;
        return;
    }
    for (int i = 0; i < TERN_LANES_MAX; i++)
        tern_peers_release(group->peers[i]);
    free(group->index);
    free(group->runs);
    tern_session_release(group->session);
    tern_fortran_drop(&group->obj);
    tern_object_free(&group->obj);
}

struct tern_process tern_group_process(const struct tern_group *group, int rank)
{
    return tern_runs_process(group->runs, group->run_count, rank);
}

static int find_in_runs(const struct tern_run *runs, int run_count, struct tern_process process)
{
    for (const struct tern_run *run = runs; run < runs + run_count; run++) {
        int64_t distance = (int64_t)process.rank - run->first;
        if (run->job != process.job)
            continue;
        if (distance == 0)
            return run->start;
        if (run->stride == 0 || distance % run->stride != 0)
            continue;
        int64_t i = distance / run->stride;
        if (i > 0 && i < run->count)
            return run->start + (int)i;
    }
    return MPI_UNDEFINED;
}

static int compare_processes(struct tern_process a, struct tern_process b)
{
    if (a.job != b.job)
        return a.job < b.job ? -1 : 1;
    return a.rank < b.rank ? -1 : a.rank > b.rank;
}

static int compare_places(const void *a, const void *b)
{
    return compare_processes(((const struct place *)a)->process,
                             ((const struct place *)b)->process);
}

static struct tern_group_index *make_index(const struct tern_group *group)
{
    struct tern_group_index *index = malloc(sizeof *index +
                                            (size_t)group->size * sizeof index->places[0]);
    if (!index)
        return NULL;
    index->count = group->size;
    struct place *place = index->places;
    for (const struct tern_run *run = group->runs; run < group->runs + group->run_count; run++)
        for (int i = 0; i < run->count; i++)
            *place++ = (struct place){tern_run_process(run, i), run->start + i};
    qsort(index->places, (size_t)index->count, sizeof index->places[0], compare_places);
    return index;
}

int tern_group_find(struct tern_group *group, struct tern_process process)
{
    if (group->run_count > RUNS_SCANNED && !group->index)
        group->index = make_index(group);
    if (!group->index) /* few runs, or no memory for an index */
        return find_in_runs(group->runs, group->run_count, process);
    const struct place key = {.process = process};
    const struct place *place = bsearch(&key, group->index->places, (size_t)group->index->count,
                                        sizeof key, compare_places);
    return place ? place->rank : MPI_UNDEFINED;
}

struct tern_peers *tern_group_peers(struct tern_group *group, struct tern_lane *lane)
{
    if (!group->peers[lane->index])
        group->peers[lane->index] = tern_peers_new(group->size, group->runs, group->run_count);
    return group->peers[lane->index];
}

bool tern_group_equal(const struct tern_group *a, const struct tern_group *b)
{
    if (a == b)
        return true;
    if (a->size != b->size)
        return false;
    if (a->run_count == b->run_count &&
        (a->run_count == 0 ||
         memcmp(a->runs, b->runs, (size_t)a->run_count * sizeof *a->runs) == 0))
        return true;
    const struct tern_run *run = b->runs; /* equal orders may be divided into runs differently */
    for (int r = 0; r < a->run_count; r++)
        for (int i = 0; i < a->runs[r].count; i++) {
            int rank = a->runs[r].start + i;
            while (rank >= run->start + run->count)
                run++;
            if (compare_processes(tern_run_process(&a->runs[r], i),
                                  tern_run_process(run, rank - run->start)) != 0)
                return false;
        }
    return true;
}

void tern_group_builder_init(struct tern_group_builder *builder)
{
    *builder = (struct tern_group_builder){0};
}

void tern_group_builder_drop(struct tern_group_builder *builder)
{
    free(builder->runs);
    *builder = (struct tern_group_builder){0};
}

/* Makes room for `count` more processes and one more run. Returns false if that is not possible. */
static bool builder_room(struct tern_group_builder *builder, int count)
{
    if (builder->failed || count > INT_MAX - builder->size) {
        builder->failed = true;
        return false;
    }
    if (builder->run_count < builder->run_room)
        return true;
    int room = builder->run_room ? 2 * builder->run_room : 4;
    struct tern_run *runs = realloc(builder->runs, (size_t)room * sizeof *runs);
    if (!runs) {
        builder->failed = true;
        return false;
    }
    builder->runs = runs;
    builder->run_room = room;
    return true;
}

void tern_group_builder_add_run(struct tern_group_builder *builder, struct tern_process first,
                                int stride, int count)
{
    if (count <= 0 || !builder_room(builder, count))
        return;
    struct tern_run *last = builder->run_count ? &builder->runs[builder->run_count - 1] : NULL;
    int64_t gap = last ? (int64_t)first.rank - tern_run_process(last, last->count - 1).rank : 0;
    if (last && last->job == first.job && gap != 0 && gap >= -INT_MAX && gap <= INT_MAX &&
        (last->count == 1 || gap == last->stride) && (count == 1 || gap == stride)) {
        last->stride = (int32_t)gap;
        last->count += count;
    } else {
        builder->runs[builder->run_count++] = (struct tern_run){
            first.job, first.rank, count > 1 ? stride : 0, count, builder->size};
    }
    builder->size += count;
}

void tern_group_builder_add(struct tern_group_builder *builder, struct tern_process process)
{
    tern_group_builder_add_run(builder, process, 0, 1);
}

int tern_group_builder_finish(struct tern_group_builder *builder, struct tern_group **ret_group)
{
    struct tern_group *group = NULL;
    if (builder->failed)
        goto drop_builder;
    if (builder->size == 0) {
        tern_group_builder_drop(builder);
        tern_group_retain(&tern_group_empty);
        *ret_group = &tern_group_empty;
        return 0;
    }
    group = calloc(1, sizeof *group);
    if (!group)
        goto drop_builder;
    tern_object_init(&group->obj, TERN_MAGIC_GROUP);
    group->size = builder->size;
    group->run_count = builder->run_count;
    struct tern_run *runs = realloc(builder->runs, (size_t)builder->run_count * sizeof *runs);
    group->runs = runs ? runs : builder->runs;
    group->rank = find_in_runs(group->runs, group->run_count,
                               (struct tern_process){0, tern_rte.rank});
    tern_session_retain(builder->session);
    group->session = builder->session;
    *ret_group = group;
    return 0;

drop_builder:
    tern_group_builder_drop(builder);
    return tern_error(TERN_ERR_NO_MEM, "no memory for a group");
}

int tern_group_from_runs(const struct tern_run *runs, int run_count, struct tern_group **ret_group)
{
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    for (int i = 0; i < run_count; i++)
        tern_group_builder_add_run(&builder, (struct tern_process){runs[i].job, runs[i].first},
                                   runs[i].stride, runs[i].count);
    return tern_group_builder_finish(&builder, ret_group);
}

int tern_group_select(struct tern_group *group, int n, const int ranks[],
                      struct tern_group **ret_group)
{
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    builder.session = group->session;
    for (int i = 0; i < n; i++)
        tern_group_builder_add(&builder, tern_group_process(group, ranks[i]));
    return tern_group_builder_finish(&builder, ret_group);
}
