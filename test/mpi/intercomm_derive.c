/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 4 5 8 */
/* What is made from an intercommunicator (dup, split, create, merge) reaches exactly the right ranks, whoever the leaders
 * are; attributes are copied, and a copy callback's failure leaves nothing behind. */
#include "check.h"

static int copies, deletions;

static int copy_attribute(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) keyval, (void) extra;
    copies++;
    *(void **) out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

static int refuse_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void) comm, (void) keyval, (void) extra, (void) in, (void) out, (void) flag;
    return MPI_ERR_OTHER;
}

static int delete_attribute(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void) comm, (void) keyval, (void) value, (void) extra;
    deletions++;
    return MPI_SUCCESS;
}

/* Everybody says its rank to everybody on the other side. */
static void talk(MPI_Comm inter)
{
    int mine, others, got;
    CHECK_OK(MPI_Comm_rank(inter, &mine));
    CHECK_OK(MPI_Comm_remote_size(inter, &others));
    MPI_Request *requests = allocate((size_t) others * sizeof *requests);
    for (int i = 0; i < others; i++)
        CHECK_OK(MPI_Isend(&mine, 1, MPI_INT, i, 5, inter, &requests[i]));
    for (int i = 0; i < others; i++) {
        CHECK_OK(MPI_Recv(&got, 1, MPI_INT, i, 5, inter, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
    }
    CHECK_OK(MPI_Waitall(others, requests, MPI_STATUSES_IGNORE));
    free(requests);
}

static void duplicate(MPI_Comm inter)
{
    int copied, refused, relation;
    MPI_Comm twin, none = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_create_keyval(copy_attribute, delete_attribute, &copied, NULL));
    CHECK_OK(MPI_Comm_create_keyval(refuse_copy, delete_attribute, &refused, NULL));
    CHECK_OK(MPI_Comm_set_attr(inter, copied, &copies));
    copies = deletions = 0;
    CHECK_OK(MPI_Comm_dup(inter, &twin));
    CHECK_INT(copies, 1);
    talk(twin);
    talk(inter);
    CHECK_OK(MPI_Comm_compare(inter, twin, &relation));
    CHECK_INT(relation, MPI_CONGRUENT);
    CHECK_OK(MPI_Comm_set_attr(twin, refused, &copies));
    return_errors(twin);
    CHECK_CLASS(MPI_Comm_dup(twin, &none), MPI_ERR_OTHER);
    deletions = 0;
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_INT(deletions, 2);
    CHECK_OK(MPI_Comm_delete_attr(inter, copied));
    CHECK_OK(MPI_Comm_free_keyval(&copied));
    CHECK_OK(MPI_Comm_free_keyval(&refused));
}

static void merge(MPI_Comm inter, int high, int mine, int others)
{
    int place, ranks;
    MPI_Comm all;
    CHECK_OK(MPI_Intercomm_merge(inter, high, &all));
    CHECK_OK(MPI_Comm_size(all, &ranks));
    CHECK_OK(MPI_Comm_rank(all, &place));
    CHECK_INT(ranks, mine + others);
    CHECK(high ? place >= others : place < mine);
    CHECK_OK(MPI_Comm_free(&all));

    /* No side says that it comes second: any order, but the same everywhere. */
    int sum = 0, product = 0;
    CHECK_OK(MPI_Intercomm_merge(inter, 0, &all));
    CHECK_OK(MPI_Comm_rank(all, &place));
    CHECK_OK(MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, all));
    CHECK_INT(sum, ranks * (ranks - 1) / 2);
    place *= place;
    CHECK_OK(MPI_Allreduce(&place, &product, 1, MPI_INT, MPI_SUM, all));
    CHECK_INT(product, (ranks - 1) * ranks * (2 * ranks - 1) / 6);
    CHECK_OK(MPI_Comm_disconnect(&all));
    CHECK(all == MPI_COMM_NULL);
}

static void split(MPI_Comm inter, int side, int mine, int others)
{
    int me, place, ranks;
    MPI_Comm part;
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_split(inter, me % 2, -me, &part));
    if (part == MPI_COMM_NULL) {
        CHECK_INT(me % 2, 1); /* only odd ranks can have nobody on the other side */
        CHECK_INT(others, 1);
    } else {
        CHECK_OK(MPI_Comm_size(part, &ranks));
        CHECK_OK(MPI_Comm_rank(part, &place));
        CHECK_INT(ranks, (mine + !(me % 2)) / 2);
        CHECK_INT(place, ranks - 1 - me / 2);
        CHECK_OK(MPI_Comm_remote_size(part, &ranks));
        CHECK_INT(ranks, (others + !(me % 2)) / 2);
        talk(part);
        CHECK_OK(MPI_Comm_free(&part));
    }
    CHECK_OK(MPI_Comm_split(inter, side, 0, &part));
    CHECK(part == MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_split(inter, MPI_UNDEFINED, 0, &part));
    CHECK(part == MPI_COMM_NULL);
}

static void create(MPI_Comm inter, int side)
{
    int me, ranks, zero = 0;
    MPI_Group local, first;
    MPI_Comm pair;
    CHECK_OK(MPI_Comm_rank(inter, &me));
    CHECK_OK(MPI_Comm_group(inter, &local));
    CHECK_OK(MPI_Group_incl(local, 1, &zero, &first));
    CHECK_OK(MPI_Comm_create(inter, first, &pair));
    CHECK_INT(pair != MPI_COMM_NULL, me == 0);
    if (pair != MPI_COMM_NULL) {
        CHECK_OK(MPI_Comm_remote_size(pair, &ranks));
        CHECK_INT(ranks, 1);
        talk(pair);
        CHECK_OK(MPI_Comm_free(&pair));
    }
    CHECK_OK(MPI_Comm_create(inter, side ? first : MPI_GROUP_EMPTY, &pair));
    CHECK(pair == MPI_COMM_NULL);
    CHECK_OK(MPI_Group_free(&first));
    CHECK_OK(MPI_Group_free(&local));
}

/* One process on both sides, and other nonsense. Everybody is told, not only the leader. */
static void refuse(void)
{
    MPI_Comm world, none = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    return_errors(world);
    return_errors(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Intercomm_create(world, 0, MPI_COMM_WORLD, 0, 3, &none), MPI_ERR_COMM);
    CHECK_CLASS(MPI_Intercomm_merge(world, 0, &none), MPI_ERR_COMM);
    CHECK_OK(MPI_Comm_free(&world));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int first_half = (size + 1) / 2, side = rank < first_half;
    int mine = side ? first_half : size - first_half, others = size - mine;
    MPI_Comm half, inter;
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, side, -rank, &half));
    for (int round = 0; round < 20; round++) {
        int remote_leader = round % others; /* in its half, where the order is reversed */
        int in_world = side ? size - 1 - remote_leader : first_half - 1 - remote_leader;
        CHECK_OK(MPI_Intercomm_create(half, round % mine, MPI_COMM_WORLD, in_world, 77 + round, &inter));
        talk(inter);
        duplicate(inter);
        merge(inter, side, mine, others);
        split(inter, side, mine, others);
        create(inter, side);
        CHECK_OK(MPI_Comm_disconnect(&inter));
    }
    CHECK_OK(MPI_Comm_free(&half));
    refuse();
    return end();
}
