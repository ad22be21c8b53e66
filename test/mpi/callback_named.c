/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 */
/* An error that a callback of the program's has returned says which callback that was and what it
 * returned: of attributes of communicators, datatypes and windows, and of generalized requests. */
#include "check.h"

static int result; /* what all callbacks return */

static int copy_comm(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)comm, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return result;
}

static int delete_comm(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm, (void)keyval, (void)value, (void)extra;
    return result;
}

static int copy_type(MPI_Datatype type, int keyval, void *extra, void *in, void *out, int *flag)
{
    (void)type, (void)keyval, (void)extra, (void)in, (void)out, (void)flag;
    return result;
}

static int delete_win(MPI_Win win, int keyval, void *value, void *extra)
{
    (void)win, (void)keyval, (void)value, (void)extra;
    return result;
}

static int query(void *extra, MPI_Status *status)
{
    (void)extra;
    MPI_Status_set_elements(status, MPI_BYTE, 0);
    MPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}

static int release(void *extra)
{
    (void)extra;
    return result;
}

static int cancel(void *extra, int complete)
{
    (void)extra, (void)complete;
    return MPI_SUCCESS;
}

static void check_message(int line, const char *procedure, const char *who, int code)
{
    char returned[40], kept[MPI_MAX_ERROR_STRING];
    int length;
    snprintf(returned, sizeof returned, "returned %d", result);
    if (strncmp(error_message, procedure, strlen(procedure)) != 0 || !strstr(error_message, who) ||
        !strstr(error_message, returned))
        check_fail(__FILE__, line, "got \"%s\", expected %s, %s and \"%s\"", error_message, procedure, who,
                   returned);
    if (result == MPI_ERR_OTHER || result < 0) { /* and so it is for who asks later */
        CHECK_OK(MPI_Error_string(code, kept, &length));
        if (!strstr(kept, who))
            check_fail(__FILE__, line, "got \"%s\", expected %s", kept, who);
    }
}

/* The callbacks return a predefined code, one of the program's own, and none. */
static int codes[] = {MPI_ERR_OTHER, 0, -3};
#define SAYS(call, procedure, who) \
    do { \
        for (int i = 0; i < 3; i++) { \
            result = codes[i]; \
            error_message[0] = 0; \
            int code_ = call; \
            CHECK_INT(code_, result < 0 ? MPI_ERR_OTHER : result); \
            check_message(__LINE__, procedure, who, code_); \
            CHECK(result != codes[1] || strstr(error_message, "tide too low")); \
        } \
        result = MPI_SUCCESS; \
    } while (0)

static char *named(const char *callback, int keyval, const char *maker)
{
    static char text[200];
    snprintf(text, sizeof text, "the %s callback of keyval %d (%s)", callback, keyval, maker);
    return text;
}

static void attributes_of_comm(void)
{
    int keyval;
    MPI_Comm comm, copy;
    CHECK_OK(MPI_Comm_create_keyval(copy_comm, delete_comm, &keyval, NULL));
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    keep_messages(comm);
    CHECK_OK(MPI_Comm_set_attr(comm, keyval, NULL));
    SAYS(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup: ",
         named("copy", keyval, "MPI_Comm_create_keyval"));
    SAYS(MPI_Comm_free(&comm), "MPI_Comm_free: ",
         named("delete", keyval, "MPI_Comm_create_keyval"));
    SAYS(MPI_Comm_delete_attr(comm, keyval), "MPI_Comm_delete_attr: ",
         named("delete", keyval, "MPI_Comm_create_keyval"));
    CHECK_OK(MPI_Comm_free(&comm));
    CHECK_OK(MPI_Comm_free_keyval(&keyval));
}

static void attributes_of_type(void)
{
    int keyval;
    MPI_Datatype type, copy;
    CHECK_OK(MPI_Type_create_keyval(copy_type, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    CHECK_OK(MPI_Type_contiguous(2, MPI_INT, &type));
    CHECK_OK(MPI_Type_set_attr(type, keyval, NULL));
    SAYS(MPI_Type_dup(type, &copy), "MPI_Type_dup: ",
         named("copy", keyval, "MPI_Type_create_keyval"));
    CHECK_OK(MPI_Type_free(&type));
    CHECK_OK(MPI_Type_free_keyval(&keyval));
}

static void attributes_of_win(void)
{
    int keyval, x;
    MPI_Win win;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, &keyval, NULL));
    CHECK_OK(MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_SELF, &win));
    keep_win_messages(win);
    CHECK_OK(MPI_Win_set_attr(win, keyval, NULL));
    SAYS(MPI_Win_delete_attr(win, keyval), "MPI_Win_delete_attr: ",
         named("delete", keyval, "MPI_Win_create_keyval"));
    SAYS(MPI_Win_free(&win), "MPI_Win_free: ", named("delete", keyval, "MPI_Win_create_keyval"));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_free_keyval(&keyval));
}

static int wait_for_one(void)
{
    MPI_Request request;
    CHECK_OK(MPI_Grequest_start(query, release, cancel, NULL, &request));
    CHECK_OK(MPI_Grequest_complete(request));
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    keep_messages(MPI_COMM_WORLD);
    keep_messages(MPI_COMM_SELF);
    CHECK_OK(MPI_Add_error_class(&codes[1]));
    CHECK_OK(MPI_Add_error_string(codes[1], "tide too low"));
    attributes_of_comm();
    attributes_of_type();
    attributes_of_win();
    SAYS(wait_for_one(), "MPI_Wait: ", "free_fn of a generalized request");
    /* The program's own report of an error has nothing to do with the last one. */
    result = MPI_ERR_OTHER;
    wait_for_one();
    CHECK_OK(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_RANK));
    CHECK(!strstr(error_message, "free_fn"));
    return end();
}
