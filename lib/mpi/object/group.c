/* SPDX-License-Identifier: BSD-3-Clause */

/* The procedures on groups (MPI-4.1 section 7.3). */

#include "lib/mpi/object/group.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stdlib.h>

/* A set of ranks of a group, one bit each. */
struct ranks {
    int size;
    uint64_t *bits;
};

static int ranks_init(struct ranks *ranks, int size)
{
    ranks->size = size;
    ranks->bits = calloc((size_t)size / 64 + 1, sizeof *ranks->bits);
    return ranks->bits ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for a set of %d ranks", size);
}

static bool ranks_has(const struct ranks *ranks, int rank)
{
    return ranks->bits[rank / 64] >> (rank % 64) & 1;
}

/* Adds a rank. Returns false if the set already has it. */
static bool ranks_add(struct ranks *ranks, int rank)
{
    if (ranks_has(ranks, rank))
        return false;
    ranks->bits[rank / 64] |= UINT64_C(1) << (rank % 64);
    return true;
}

static int check_rank(const struct tern_group *group, const char *array, int i, int rank)
{
    if (rank >= 0 && rank < group->size)
        return 0;
    return group->size == 0
               ? tern_error(TERN_ERR_RANK, "%s[%d] is %d; the group is empty", array, i, rank)
               : tern_error_index(TERN_ERR_RANK, group->size, "%s[%d] is %d", array, i, rank);
}

/* Checks the range (first, last, stride) and computes the number of its ranks. */
static int range_length(const struct tern_group *group, int i, const int range[3], int *ret_length)
{
    int64_t first = range[0], last = range[1], stride = range[2];
    if (stride == 0)
        return tern_error(TERN_ERR_RANK, "ranges[%d] has stride 0; expected a stride other than 0",
                          i);
    if (first < 0 || first >= group->size)
        return tern_error(TERN_ERR_RANK,
                          "ranges[%d] begins with rank %d; the group has %d processes", i, range[0],
                          group->size);
    if ((last - first) * (stride > 0 ? 1 : -1) < 0)
        return tern_error(TERN_ERR_RANK,
                          "ranges[%d] goes from %d to %d with stride %d, which never reaches the "
                          "last rank; change the sign of the stride",
                          i, range[0], range[1], range[2]);
    int64_t steps = (last - first) / stride;
    int64_t end = first + steps * stride;
    if (end < 0 || end >= group->size)
        return tern_error(TERN_ERR_RANK, "ranges[%d] ends with rank %d; the group has %d processes",
                          i, (int)end, group->size);
    *ret_length = (int)steps + 1;
    return 0;
}

/* Adds all ranks that `ranges` names. Refuses a rank that is named twice. */
static int ranks_of_ranges(const struct tern_group *group, int n, int ranges[][3],
                           struct ranks *ranks)
{
    for (int i = 0; i < n; i++) {
        int length = 0;
        int rc = range_length(group, i, ranges[i], &length);
        if (rc)
            return rc;
        for (int k = 0; k < length; k++) {
            int rank = ranges[i][0] + k * ranges[i][2];
            if (!ranks_add(ranks, rank))
                return tern_error(TERN_ERR_RANK, "ranges[%d] names rank %d, which was named before",
                                  i, rank);
        }
    }
    return 0;
}

static int ranks_of_list(const struct tern_group *group, int n, const int list[],
                         struct ranks *ranks)
{
    for (int i = 0; i < n; i++) {
        int rc = check_rank(group, "ranks", i, list[i]);
        if (rc)
            return rc;
        if (!ranks_add(ranks, list[i]))
            return tern_error(TERN_ERR_RANK, "ranks[%d] is %d, which was named before", i, list[i]);
    }
    return 0;
}

/* Makes a group of the members whose ranks are not in the set. */
static int select_others(struct tern_group *group, const struct ranks *ranks,
                         struct tern_group **ret_group)
{
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    builder.session = group->session;
    for (int rank = 0; rank < group->size; rank++)
        if (!ranks_has(ranks, rank))
            tern_group_builder_add(&builder, tern_group_process(group, rank));
    return tern_group_builder_finish(&builder, ret_group);
}

static int check_length(const char *what, int n)
{
    return n < 0 ? tern_error(TERN_ERR_ARG, "%s is %d; expected 0 or more", what, n) : 0;
}

int tern_mpi_group_size(struct tern_group *group, int *size)
{
    *size = group->size;
    return 0;
}

int tern_mpi_group_rank(struct tern_group *group, int *rank)
{
    *rank = group->rank;
    return 0;
}

int tern_group_check_sessions(const char *name_a, const struct tern_group *a, const char *name_b,
                              const struct tern_group *b)
{
    return a->size && b->size ? tern_session_check_same(name_a, a->session, name_b, b->session) : 0;
}

/* Checks a call that only compares groups. Comparing groups of two sessions does no harm, so only
 * check_level full refuses it. */
static int check_read(const struct tern_group *group1, const struct tern_group *group2)
{
    return tern_check_full() ? tern_group_check_sessions("group1", group1, "group2", group2) : 0;
}

int tern_mpi_group_translate_ranks(struct tern_group *group1, int n, const int ranks1[],
                                   struct tern_group *group2, int ranks2[])
{
    int rc = check_length("n", n);
    if (!rc)
        rc = check_read(group1, group2);
    for (int i = 0; i < n && !rc; i++)
        if (ranks1[i] != MPI_PROC_NULL)
            rc = check_rank(group1, "ranks1", i, ranks1[i]);
    if (rc)
        return rc;
    bool same = tern_group_equal(group1, group2);
    for (int i = 0; i < n; i++) {
        if (ranks1[i] == MPI_PROC_NULL || same)
            ranks2[i] = ranks1[i];
        else
            ranks2[i] = tern_group_find(group2, tern_group_process(group1, ranks1[i]));
    }
    return 0;
}

int tern_mpi_group_compare(struct tern_group *group1, struct tern_group *group2, int *result)
{
    int rc = check_read(group1, group2);
    if (!rc)
        *result = tern_group_relation(group1, group2);
    return rc;
}

int tern_group_relation(struct tern_group *a, struct tern_group *b)
{
    if (a->size != b->size)
        return MPI_UNEQUAL;
    if (tern_group_equal(a, b))
        return MPI_IDENT;
    for (int rank = 0; rank < a->size; rank++)
        if (tern_group_find(b, tern_group_process(a, rank)) == MPI_UNDEFINED)
            return MPI_UNEQUAL;
    return MPI_SIMILAR;
}

/* Adds the members of `from` that are in `other`; if `wanted` is false, those that are not. */
static void add_where(struct tern_group_builder *builder, struct tern_group *from,
                      struct tern_group *other, bool wanted)
{
    for (int rank = 0; rank < from->size; rank++) {
        struct tern_process process = tern_group_process(from, rank);
        if ((tern_group_find(other, process) != MPI_UNDEFINED) == wanted)
            tern_group_builder_add(builder, process);
    }
}

int tern_mpi_group_union(struct tern_group *group1, struct tern_group *group2,
                         struct tern_group **ret_newgroup)
{
    int rc = tern_group_check_sessions("group1", group1, "group2", group2);
    if (rc)
        return rc;
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    builder.session = group1->session ? group1->session : group2->session;
    for (int i = 0; i < group1->run_count; i++) {
        const struct tern_run *run = &group1->runs[i];
        tern_group_builder_add_run(&builder, (struct tern_process){run->job, run->first},
                                   run->stride, run->count);
    }
    add_where(&builder, group2, group1, false);
    return tern_group_builder_finish(&builder, ret_newgroup);
}

/* Makes a group of the members of group1 that are in group2; if `wanted` is false, of those that
 * are not. */
static int select_where(struct tern_group *group1, struct tern_group *group2, bool wanted,
                        struct tern_group **ret_newgroup)
{
    int rc = tern_group_check_sessions("group1", group1, "group2", group2);
    if (rc)
        return rc;
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    builder.session = group1->session;
    add_where(&builder, group1, group2, wanted);
    return tern_group_builder_finish(&builder, ret_newgroup);
}

int tern_mpi_group_intersection(struct tern_group *group1, struct tern_group *group2,
                                struct tern_group **ret_newgroup)
{
    return select_where(group1, group2, true, ret_newgroup);
}

int tern_mpi_group_difference(struct tern_group *group1, struct tern_group *group2,
                              struct tern_group **ret_newgroup)
{
    return select_where(group1, group2, false, ret_newgroup);
}

int tern_mpi_group_incl(struct tern_group *group, int n, const int ranks[],
                        struct tern_group **ret_newgroup)
{
    struct ranks seen;
    int rc = check_length("n", n);
    if (rc || (rc = ranks_init(&seen, group->size)))
        return rc;
    rc = ranks_of_list(group, n, ranks, &seen);
    free(seen.bits);
    return rc ? rc : tern_group_select(group, n, ranks, ret_newgroup);
}

int tern_mpi_group_excl(struct tern_group *group, int n, const int ranks[],
                        struct tern_group **ret_newgroup)
{
    struct ranks left_out;
    int rc = check_length("n", n);
    if (rc || (rc = ranks_init(&left_out, group->size)))
        return rc;
    rc = ranks_of_list(group, n, ranks, &left_out);
    if (!rc)
        rc = select_others(group, &left_out, ret_newgroup);
    free(left_out.bits);
    return rc;
}

int tern_mpi_group_range_incl(struct tern_group *group, int n, int ranges[][3],
                              struct tern_group **ret_newgroup)
{
    struct tern_group_builder builder;
    struct ranks seen;
    int rc = check_length("n", n);
    if (rc || (rc = ranks_init(&seen, group->size)))
        return rc;
    rc = ranks_of_ranges(group, n, ranges, &seen);
    free(seen.bits);
    if (rc)
        return rc;
    tern_group_builder_init(&builder);
    builder.session = group->session;
    for (int i = 0; i < n; i++) {
        int length = 0;
        range_length(group, i, ranges[i], &length);
        for (int k = 0; k < length; k++)
            tern_group_builder_add(&builder,
                                   tern_group_process(group, ranges[i][0] + k * ranges[i][2]));
    }
    return tern_group_builder_finish(&builder, ret_newgroup);
}

int tern_mpi_group_range_excl(struct tern_group *group, int n, int ranges[][3],
                              struct tern_group **ret_newgroup)
{
    struct ranks left_out;
    int rc = check_length("n", n);
    if (rc || (rc = ranks_init(&left_out, group->size)))
        return rc;
    rc = ranks_of_ranges(group, n, ranges, &left_out);
    if (!rc)
        rc = select_others(group, &left_out, ret_newgroup);
    free(left_out.bits);
    return rc;
}

int tern_mpi_group_free(struct tern_group **group)
{
    tern_group_release(*group);
    *group = NULL;
    return 0;
}
