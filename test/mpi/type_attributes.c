/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 */
/* Attributes on types: copied by MPI_Type_dup as the callback says, deleted by free. */
#include "check.h"

static int copied, deleted;

static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void) type;
    (void) key;
    copied += *(int *) extra;
    *(void **) out = (char *) in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete(MPI_Datatype type, int key, void *value, void *extra)
{
    (void) type;
    (void) key;
    (void) extra;
    deleted += (int) (intptr_t) value;
    return MPI_SUCCESS;
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int one = 1, key, plain, flag;
    void *value = NULL;
    MPI_Datatype type, twin;
    CHECK_OK(MPI_Type_create_keyval(copy, delete, &key, &one));
    CHECK_OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &plain, NULL));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, key, (void *) (intptr_t) 100));
    CHECK_OK(MPI_Type_set_attr(type, plain, (void *) (intptr_t) 5));
    CHECK_OK(MPI_Type_dup(type, &twin));
    CHECK_INT(copied, 1);
    CHECK_OK(MPI_Type_get_attr(twin, key, &value, &flag));
    CHECK_INT(flag, 1);
    CHECK_INT((intptr_t) value, 101);
    CHECK_OK(MPI_Type_get_attr(twin, plain, &value, &flag));
    CHECK_INT(flag, 0);
    CHECK_OK(MPI_Type_delete_attr(twin, key));
    CHECK_INT(deleted, 101);
    /* The duplicate may keep its original alive, so only both together must delete. */
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free(&twin));
    CHECK_INT(deleted, 201);
    CHECK_OK(MPI_Type_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK_OK(MPI_Type_free_keyval(&plain));
    return end();
}
