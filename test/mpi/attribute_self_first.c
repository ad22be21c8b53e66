/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5 */
/* MPI_Finalize begins with the deletion of MPI_COMM_SELF's attributes: then all else still lives,
 * the attributes of MPI_COMM_WORLD, user communicators, types and pending messages, and the
 * callbacks may use them, and set further attributes of MPI_COMM_SELF, which are deleted too. */
#include "check.h"

static MPI_Comm twin;
static MPI_Datatype two_ints;
static int key, world_key, late_key, deletes, worlds;

static int delete_late(MPI_Comm comm, int keyval, void *value, void *extra)
{
    CHECK(comm == MPI_COMM_SELF && keyval == late_key && extra == NULL);
    CHECK_INT((intptr_t)value, 3);
    deletes++;
    return MPI_SUCCESS;
}

static int delete_world(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)value, (void)extra;
    CHECK(comm == MPI_COMM_WORLD && keyval == world_key);
    CHECK_INT(deletes, 2); /* after MPI_COMM_SELF's */
    worlds++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *extra)
{
    int out[2] = {rank, -rank}, in[2] = {-9, -9}, flag, one = 1, sum;
    void *got;
    (void)extra;
    CHECK(comm == MPI_COMM_SELF && keyval == key);
    CHECK_INT((intptr_t)value, 2);
    CHECK_OK(MPI_Initialized(&flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Finalized(&flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, world_key, &got, &flag));
    CHECK_INT(flag, 1);
    CHECK_OK(MPI_Sendrecv(out, 1, two_ints, (rank + 1) % size, 1, in, 1, two_ints,
                          (rank + size - 1) % size, 1, twin, MPI_STATUS_IGNORE));
    CHECK_INT(in[1], -((rank + size - 1) % size));
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Type_free(&two_ints));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, late_key, (void *)3));
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &twin));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &two_ints));
    CHECK_OK(MPI_Type_commit(&two_ints));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete, &key, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_late, &late_key, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_world, &world_key, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, key, (void *)2));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, world_key, (void *)1));
    CHECK_OK(MPI_Finalize());
    CHECK_INT(deletes, 2);
    CHECK_INT(worlds, 1);
    return 0;
}
