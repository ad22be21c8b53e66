/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Attribute callbacks of communicators: what they get, when, and what refusing does. */
#include "check.h"

static int copies, deletes, refuse_delete, refuse_copy, copy_flag = 1;
static char extra_word[] = "extra";

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    CHECK(comm == MPI_COMM_WORLD && key != MPI_KEYVAL_INVALID);
    CHECK(extra == extra_word);
    copies++;
    *flag = copy_flag;
    *(void **) out = (char *) in + 1;
    return refuse_copy ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int delete(MPI_Comm comm, int key, void *value, void *extra)
{
    (void) comm;
    (void) key;
    (void) value;
    CHECK(extra == extra_word);
    deletes++;
    return refuse_delete ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void expect(MPI_Comm comm, int key, int set, intptr_t expected)
{
    void *value = NULL;
    int flag = -1;
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_INT(flag, set);
    if (set)
        CHECK_INT((intptr_t) value, expected);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    MPI_Comm comm = MPI_COMM_NULL;
    int key, dup_key, null_key;
    CHECK_OK(MPI_Comm_create_keyval(copy, delete, &key, extra_word));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_key,
                                    NULL));
    expect(MPI_COMM_WORLD, key, 0, 0);
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *) 10));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, dup_key, (void *) 20));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, null_key, (void *) 30));
    /* Setting again deletes the old value first. */
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_WORLD, key, (void *) 11));
    CHECK_INT(deletes, 1);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_INT(copies, 1);
    expect(comm, key, 1, 12);
    expect(comm, dup_key, 1, 20);
    expect(comm, null_key, 0, 0);
    expect(MPI_COMM_WORLD, key, 1, 11);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);
    copy_flag = 0;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    expect(comm, key, 0, 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);
    /* Only dup copies. */
    CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, 0, 0, &comm));
    expect(comm, key, 0, 0);
    expect(comm, dup_key, 0, 0);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(copies, 2);
    refuse_copy = 1;
    CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS);
    CHECK_INT(copies, 3);
    refuse_delete = 1;
    CHECK(MPI_Comm_delete_attr(MPI_COMM_WORLD, key) != MPI_SUCCESS);
    refuse_delete = 0;
    expect(MPI_COMM_WORLD, key, 1, 11);
    CHECK_INT(deletes, 3);
    /* A freed keyval lives on in the attributes set with it. */
    int freed = key;
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, freed));
    CHECK_INT(deletes, 4);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_WORLD, dup_key));
    CHECK_OK(MPI_Comm_free_keyval(&dup_key));
    CHECK_OK(MPI_Comm_free_keyval(&null_key));
    CHECK_CLASS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    return end();
}
