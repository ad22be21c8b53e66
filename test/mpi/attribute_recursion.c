/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* Callbacks may themselves set, get and delete attributes, free keyvals, and duplicate and free
 * other communicators; and a keyval that was freed works on for the attributes that have it. */
#include "check.h"

static int key, other, deletes, copies;

static intptr_t value_of(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag;
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? (intptr_t)value : -1;
}

/* Deletes another attribute of the same object while it is deleted itself. */
static int delete_both(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)value, (void)extra;
    deletes++;
    CHECK_INT(value_of(comm, keyval), (intptr_t)value); /* still there */
    if (keyval == key && value_of(comm, other) >= 0)
        CHECK_OK(MPI_Comm_delete_attr(comm, other));
    return MPI_SUCCESS;
}

/* Puts more attributes on the communicator that is copied, so that its list moves, and reads it. */
static int copy_and_grow(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    copies++;
    CHECK_INT(value_of(comm, keyval), (intptr_t)in);
    for (int i = 0; i < 20; i++) {
        int more;
        CHECK_OK(
            MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &more, NULL));
        CHECK_OK(MPI_Comm_set_attr(comm, more, extra));
        CHECK_OK(MPI_Comm_free_keyval(&more));
    }
    *(void **)out = in;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Takes the original away while it is copied, and the keyval with it. */
static int copy_and_remove(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)extra;
    int freed = keyval;
    copies++;
    CHECK_OK(MPI_Comm_delete_attr(comm, keyval));
    CHECK_OK(MPI_Comm_free_keyval(&freed));
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

/* Duplicates and frees another communicator, which has attributes with callbacks as well. */
static int delete_and_dup(MPI_Comm comm, int keyval, void *value, void *extra)
{
    MPI_Comm twin;
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &twin));
    CHECK_OK(MPI_Comm_free(&twin));
    return MPI_SUCCESS;
}

static int count_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    MPI_Comm comm, twin;
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_both, &key, NULL));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_both, &other, NULL));
    for (int order = 0; order < 2; order++) { /* by deletion, then by the free of everything */
        CHECK_OK(MPI_Comm_set_attr(comm, order ? key : other, (void *)5));
        CHECK_OK(MPI_Comm_set_attr(comm, order ? other : key, (void *)6));
        deletes = 0;
        CHECK_OK(MPI_Comm_delete_attr(comm, key));
        CHECK_INT(deletes, 2);
        CHECK_INT(value_of(comm, key), -1);
        CHECK_INT(value_of(comm, other), -1);
    }
    CHECK_OK(MPI_Comm_set_attr(comm, other, (void *)5));
    CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)6));
    deletes = 0;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);
    CHECK_OK(MPI_Comm_free_keyval(&key));
    CHECK_OK(MPI_Comm_free_keyval(&other));

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_keyval(copy_and_grow, count_delete, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)7));
    copies = deletes = 0;
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_INT(copies, 1);
    CHECK_INT(value_of(twin, key), 7);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);
    CHECK_OK(MPI_Comm_free_keyval(&key));

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_keyval(copy_and_remove, count_delete, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)8));
    copies = deletes = 0;
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_INT(copies, 1);
    CHECK_INT(deletes, 1);
    CHECK_OK(MPI_Comm_free(&twin)); /* its copy is there, whoever else has gone */
    CHECK_INT(deletes, 2);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);

    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_delete, &other, NULL));
    CHECK_OK(MPI_Comm_set_attr(MPI_COMM_SELF, other, (void *)1));
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_and_dup, &key, NULL));
    CHECK_OK(MPI_Comm_set_attr(comm, key, (void *)9));
    int freed = key;
    CHECK_OK(MPI_Comm_free_keyval(&key)); /* in use: lives on */
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Comm_dup(comm, &twin));
    CHECK_INT(value_of(twin, freed), 9);
    CHECK_OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    CHECK(key != freed); /* the number is not given out meanwhile */
    deletes = 0;
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(deletes, 2);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK_INT(deletes, 4);
    CHECK_OK(MPI_Comm_delete_attr(MPI_COMM_SELF, other));
    CHECK_OK(MPI_Comm_free_keyval(&other));
    CHECK_OK(MPI_Comm_free_keyval(&key));
    return end();
}
