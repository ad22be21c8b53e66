/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; needs: MPI_Comm_idup_with_info */
/* What a copy or delete callback returns is returned by the procedure that called it; a number that is no error code becomes
 * MPI_ERR_OTHER. The object stays as it was. */
#include "check.h"

static int result = MPI_SUCCESS;

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return result;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return result;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)keyval, (void)extra;
    *(void **)out = in;
    *flag = 1;
    return result;
}

static int delete_type(MPI_Datatype type, int keyval, void *value, void *extra)
{
    (void)type, (void)keyval, (void)value, (void)extra;
    return result;
}

static int idup(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Request request;
    int code = MPI_Comm_idup(comm, copy, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int idup_with_info(MPI_Comm comm, MPI_Comm *copy)
{
    MPI_Request request;
    int code = MPI_Comm_idup_with_info(comm, MPI_INFO_NULL, copy, &request);
    return code ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The callback fails with a code of the user's, then with a number that is none. */
#define FAILS(call)                                                                                                    \
    do {                                                                                                               \
        result = MPI_ERR_NAME;                                                                                         \
        CHECK_CLASS(call, MPI_ERR_NAME);                                                                               \
        result = -3;                                                                                                   \
        CHECK_CLASS(call, MPI_ERR_OTHER);                                                                              \
        result = MPI_SUCCESS;                                                                                          \
    } while (0)

/* And the copy is the null handle, whatever it was before. */
#define FAILS_TO_COPY(call, copy, before, null)                                                                        \
    do {                                                                                                               \
        copy = before;                                                                                                 \
        FAILS(call);                                                                                                   \
        CHECK(copy == null);                                                                                           \
    } while (0)

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    int keyval, type_keyval, value = 5, *got, flag;
    MPI_Comm comm, copy = MPI_COMM_NULL;
    MPI_Datatype type, type_copy = MPI_DATATYPE_NULL;
    CHECK_OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, NULL));
    CHECK_OK(MPI_Type_create_keyval(copy_type, delete_type, &type_keyval, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, &value));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, type_keyval, &value));

    FAILS_TO_COPY(MPI_Comm_dup(comm, &copy), copy, MPI_COMM_SELF, MPI_COMM_NULL);
    FAILS_TO_COPY(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy), copy, MPI_COMM_SELF, MPI_COMM_NULL);
    FAILS_TO_COPY(idup(comm, &copy), copy, MPI_COMM_SELF, MPI_COMM_NULL);
    FAILS_TO_COPY(idup_with_info(comm, &copy), copy, MPI_COMM_SELF, MPI_COMM_NULL);
    FAILS(MPI_Comm_set_attr(comm, keyval, &value)); /* deletes the one before */
    FAILS(MPI_Attr_put(comm, keyval, &value));
    FAILS(MPI_Comm_delete_attr(comm, keyval));
    FAILS(MPI_Attr_delete(comm, keyval));
    FAILS(MPI_Comm_free(&comm));
    FAILS(MPI_Comm_disconnect(&comm));
    CHECK_OK(MPI_Comm_get_attr(comm, keyval, &got, &flag));
    CHECK(flag && got == &value);

    FAILS_TO_COPY(MPI_Type_dup(type, &type_copy), type_copy, MPI_INT, MPI_DATATYPE_NULL);
    FAILS(MPI_Type_set_attr(type, type_keyval, &value));
    FAILS(MPI_Type_delete_attr(type, type_keyval));
    FAILS(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_get_attr(type, type_keyval, &got, &flag));
    CHECK(flag && got == &value);

    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
    CHECK_OK(MPI_Type_free_keyval(&type_keyval));
    return end();
}
