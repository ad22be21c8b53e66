/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 4 5 8 */
/* Union, intersection, difference, include and exclude keep the order the standard says. */
#include "check.h"

/* The world ranks behind a group, by translation. */
static void check_members(MPI_Group group, int n, const int expected[])
{
    MPI_Group world;
    int count, mine, ours[64], theirs[64];
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_size(group, &count));
    CHECK_INT(count, n);
    for (int i = 0; i < n; i++)
        ours[i] = i;
    CHECK_OK(MPI_Group_translate_ranks(group, n, ours, world, theirs));
    CHECK_OK(MPI_Group_rank(group, &mine));
    int expected_rank = MPI_UNDEFINED;
    for (int i = 0; i < n; i++) {
        CHECK_INT(theirs[i], expected[i]);
        if (expected[i] == rank)
            expected_rank = i;
    }
    CHECK_INT(mine, expected_rank);
    CHECK_OK(MPI_Group_free(&world));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group world, a, b, c;
    int n = 0, m = 0, as[64], bs[64], out[64], k;
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    /* a: even ranks descending; b: the upper half ascending. */
    for (int i = size - 1; i >= 0; i--)
        if (i % 2 == 0)
            as[n++] = i;
    for (int i = size / 2; i < size; i++)
        bs[m++] = i;
    CHECK_OK(MPI_Group_incl(world, n, as, &a));
    CHECK_OK(MPI_Group_incl(world, m, bs, &b));
    check_members(a, n, as);
    check_members(b, m, bs);

    CHECK_OK(MPI_Group_union(a, b, &c));
    k = n;
    memcpy(out, as, sizeof out);
    for (int i = 0; i < m; i++)
        if (bs[i] % 2)
            out[k++] = bs[i];
    check_members(c, k, out);
    CHECK_OK(MPI_Group_free(&c));
    CHECK(c == MPI_GROUP_NULL);

    CHECK_OK(MPI_Group_intersection(a, b, &c));
    k = 0;
    for (int i = 0; i < n; i++)
        if (as[i] >= size / 2)
            out[k++] = as[i];
    check_members(c, k, out);
    CHECK_OK(MPI_Group_free(&c));

    CHECK_OK(MPI_Group_difference(a, b, &c));
    k = 0;
    for (int i = 0; i < n; i++)
        if (as[i] < size / 2)
            out[k++] = as[i];
    check_members(c, k, out);
    CHECK_OK(MPI_Group_free(&c));

    CHECK_OK(MPI_Group_excl(world, n, as, &c));
    k = 0;
    for (int i = 1; i < size; i += 2)
        out[k++] = i;
    check_members(c, k, out);
    CHECK_OK(MPI_Group_free(&c));

    CHECK_OK(MPI_Group_incl(world, 0, NULL, &c));
    check_members(c, 0, NULL);
    int result;
    CHECK_OK(MPI_Group_compare(c, MPI_GROUP_EMPTY, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&c));
    CHECK_OK(MPI_Group_free(&a));
    CHECK_OK(MPI_Group_free(&b));
    CHECK_OK(MPI_Group_free(&world));
    return end();
}
