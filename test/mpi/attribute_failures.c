/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 */
/* A callback's error comes back from the call that ran it, as it is, and nothing is half done: a
 * set or deletion that is refused leaves the old value, a free that is refused leaves the object
 * alive with what was not yet deleted, and a duplicate that cannot be finished is taken back with
 * its copies deleted. */
#include "check.h"

enum { KEYS = 4 };

static int my_class, my_code;
static int copied, deleted, refuse_copy_of = -1, refuse_delete_of = -1;
static intptr_t alive; /* copies not yet deleted */

static int may(int refused, void *value)
{
    return refused == (int)(intptr_t)value % 10 ? my_code : MPI_SUCCESS;
}

/* Values are 10 * generation + number of the key. */
static int copy(void *in, void *out, int *flag)
{
    copied++;
    int code = may(refuse_copy_of, in);
    if (code == MPI_SUCCESS) {
        *(void **)out = (char *)in + 10;
        *flag = 1;
        alive++;
    }
    return code;
}

static int delete (void *value)
{
    int code = may(refuse_delete_of, value);
    if (code == MPI_SUCCESS) {
        deleted++;
        alive--;
    }
    return code;
}

static int copy_comm(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)key, (void)extra;
    return copy(in, out, flag);
}

static int delete_comm(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)extra;
    return delete (value);
}

static int copy_type(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)key, (void)extra;
    return copy(in, out, flag);
}

static int delete_type(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    return delete (value);
}

static void check_code(int got)
{
    int class;
    CHECK_INT(got, my_code);
    CHECK_OK(MPI_Error_class(got, &class));
    CHECK_INT(class, my_class);
}

static void comm_value(MPI_Comm comm, int key, intptr_t expected)
{
    void *value = NULL;
    int flag;
    CHECK_OK(MPI_Comm_get_attr(comm, key, &value, &flag));
    CHECK_INT(flag, expected != 0);
    if (flag)
        CHECK_INT((intptr_t)value, expected);
}

static void on_communicators(void)
{
    int keys[KEYS], left = 0;
    MPI_Comm comm, twin = MPI_COMM_NULL;
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    for (int i = 0; i < KEYS; i++) {
        CHECK_OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &keys[i], NULL));
        CHECK_OK(MPI_Comm_set_attr(comm, keys[i], (void *)(intptr_t)(10 + i)));
    }
    alive = KEYS;

    refuse_delete_of = 2;
    check_code(MPI_Comm_set_attr(comm, keys[2], (void *)(intptr_t)52));
    comm_value(comm, keys[2], 12);
    check_code(MPI_Comm_delete_attr(comm, keys[2]));
    comm_value(comm, keys[2], 12);
    refuse_delete_of = -1;

    copied = 0;
    refuse_copy_of = 2;
    check_code(MPI_Comm_dup(comm, &twin));
    CHECK(copied >= 1);
    CHECK_INT(alive, KEYS); /* those that were copied before are deleted */
    refuse_copy_of = -1;
    for (int i = 0; i < KEYS; i++)
        comm_value(comm, keys[i], 10 + i);

    CHECK_OK(MPI_Comm_dup(comm, &twin)); /* and it works again */
    for (int i = 0; i < KEYS; i++)
        comm_value(twin, keys[i], 20 + i);
    CHECK_INT(alive, 2 * KEYS);
    refuse_delete_of = 1;
    check_code(MPI_Comm_free(&twin));
    CHECK(twin != MPI_COMM_NULL);
    comm_value(twin, keys[1], 21);
    for (int i = 0; i < KEYS; i++) {
        void *value;
        int flag;
        CHECK_OK(MPI_Comm_get_attr(twin, keys[i], &value, &flag));
        left += flag;
    }
    CHECK_INT(alive, KEYS + left);
    refuse_delete_of = -1;
    int sum, one = 1;
    CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, twin)); /* alive */
    CHECK_INT(sum, size);
    CHECK_OK(MPI_Comm_free(&twin));
    CHECK(twin == MPI_COMM_NULL);
    CHECK_INT(alive, KEYS);
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_INT(alive, 0);
    for (int i = 0; i < KEYS; i++)
        CHECK_OK(MPI_Comm_free_keyval(&keys[i]));
}

static void type_value(MPI_Datatype type, int key, intptr_t expected)
{
    void *value = NULL;
    int flag;
    CHECK_OK(MPI_Type_get_attr(type, key, &value, &flag));
    CHECK_INT(flag, expected != 0);
    if (flag)
        CHECK_INT((intptr_t)value, expected);
}

static void on_types(void)
{
    int keys[KEYS], bytes;
    MPI_Datatype type, twin = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Type_contiguous(3, MPI_INT, &type));
    for (int i = 0; i < KEYS; i++) {
        CHECK_OK(MPI_Type_create_keyval(copy_type, delete_type, &keys[i], NULL));
        CHECK_OK(MPI_Type_set_attr(type, keys[i], (void *)(intptr_t)(10 + i)));
    }
    alive = KEYS;
    refuse_delete_of = 2;
    check_code(MPI_Type_set_attr(type, keys[2], (void *)(intptr_t)52));
    check_code(MPI_Type_delete_attr(type, keys[2]));
    type_value(type, keys[2], 12);
    refuse_delete_of = -1;
    refuse_copy_of = 3;
    check_code(MPI_Type_dup(type, &twin));
    CHECK_INT(alive, KEYS);
    refuse_copy_of = -1;
    CHECK_OK(MPI_Type_dup(type, &twin));
    CHECK_INT(alive, 2 * KEYS);
    refuse_delete_of = 0;
    check_code(MPI_Type_free(&twin));
    CHECK(twin != MPI_DATATYPE_NULL);
    type_value(twin, keys[0], 20);
    CHECK_OK(MPI_Type_size(twin, &bytes));
    CHECK_INT(bytes, 3 * (int)sizeof(int));
    refuse_delete_of = -1;
    CHECK_OK(MPI_Type_free(&twin));
    CHECK_INT(alive, KEYS);
    CHECK_OK(MPI_Type_free(&type));
    CHECK_INT(alive, 0);

    /* predefined types have attributes too */
    CHECK_OK(MPI_Type_set_attr(MPI_INT, keys[0], (void *)(intptr_t)10));
    type_value(MPI_INT, keys[0], 10);
    CHECK_OK(MPI_Type_dup(MPI_INT, &twin));
    type_value(twin, keys[0], 20);
    CHECK_OK(MPI_Type_free(&twin));
    CHECK_OK(MPI_Type_delete_attr(MPI_INT, keys[0]));
    type_value(MPI_INT, keys[0], 0);
    for (int i = 0; i < KEYS; i++)
        CHECK_OK(MPI_Type_free_keyval(&keys[i]));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    return_errors(MPI_COMM_SELF);
    CHECK_OK(MPI_Add_error_class(&my_class));
    CHECK_OK(MPI_Add_error_code(my_class, &my_code));
    on_communicators();
    on_types();
    return end();
}
