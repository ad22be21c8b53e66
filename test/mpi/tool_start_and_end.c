/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: singleton 1 2 */
/* The tool interface works before MPI_Init and after MPI_Finalize, as often as it is started, and
 * says so in return codes: no error handler is ever called. */
#include "check.h"

static void check_strings(void)
{
    char name[64], whole[64];
    int length = sizeof whole, index;
    CHECK_OK(MPI_T_cvar_get_index("pml_eager_credit", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, whole, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_STRING(whole, "pml_eager_credit");
    CHECK_INT(length, strlen("pml_eager_credit") + 1);

    memset(name, 'x', sizeof name);
    length = 4;
    CHECK_OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_STRING(name, "pml");
    CHECK_INT(name[4], 'x');
    CHECK_INT(length, strlen("pml_eager_credit") + 1);

    length = 0; /* only the length */
    CHECK_OK(MPI_T_cvar_get_info(index, name, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_STRING(name, "pml");
    CHECK_INT(length, strlen("pml_eager_credit") + 1);
    length = 3;
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, &length, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_INT(length, strlen("pml_eager_credit") + 1);
    CHECK_OK(MPI_T_cvar_get_info(index, name, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK_STRING(name, "pml"); /* without a length nothing is returned */
}

static void check_enums(void)
{
    MPI_T_enum items = MPI_T_ENUM_NULL;
    int index, count, value, length;
    char name[64];
    CHECK_OK(MPI_T_cvar_get_index("coll_bcast_algorithm", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK(items != MPI_T_ENUM_NULL);
    length = sizeof name;
    CHECK_OK(MPI_T_enum_get_info(items, &count, name, &length));
    CHECK_STRING(name, "coll_bcast_algorithm");
    CHECK(count >= 3);
    int found = 0;
    for (int item = 0; item < count; item++) {
        length = sizeof name;
        CHECK_OK(MPI_T_enum_get_item(items, item, &value, name, &length));
        CHECK_INT(value, item);
        CHECK_INT(length, strlen(name) + 1);
        found += strcmp(name, "binomial") == 0;
    }
    CHECK_INT(found, 1);
    CHECK_INT(MPI_T_enum_get_item(items, count, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_enum_get_item(items, -1, &value, name, &length), MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &count, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_enum_get_info((MPI_T_enum)name, &count, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
}

static void check_state(const char *expected)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_enum items;
    int index, count, state = -1, length;
    char name[64];
    CHECK_OK(MPI_T_pvar_get_index("mpi_state", MPI_T_PVAR_CLASS_STATE, &index));
    CHECK_OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL,
                                 NULL, NULL, NULL));
    CHECK_OK(MPI_T_pvar_session_create(&session));
    CHECK_OK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count));
    CHECK_INT(count, 1);
    CHECK_OK(MPI_T_pvar_read(session, handle, &state));
    length = sizeof name;
    CHECK_OK(MPI_T_enum_get_item(items, state, NULL, name, &length));
    CHECK_STRING(name, expected);
    CHECK_OK(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL);
}

static void check_not_started(void)
{
    int count = -1;
    MPI_T_pvar_session session;
    CHECK_INT(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_cvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_pvar_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_event_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_category_get_num(&count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_pvar_session_create(&session), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, &count), MPI_T_ERR_NOT_INITIALIZED);
    CHECK_INT(count, -1);
}

int main(int argc, char **argv)
{
    int provided = -1, count = -1, index;
    check_not_started();
    CHECK_INT(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    check_not_started();

    CHECK_OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK_INT(provided, MPI_THREAD_MULTIPLE);
    check_state("not started");
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_OK(MPI_T_finalize());
    CHECK_OK(MPI_T_cvar_get_num(&count)); /* one start is left */
    CHECK(count > 10);
    CHECK_INT(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
    CHECK_INT(MPI_T_cvar_get_info(count, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
              MPI_T_ERR_INVALID_INDEX);
    CHECK_INT(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME);
    CHECK_INT(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
    check_strings();
    check_enums();
    CHECK_OK(MPI_T_finalize());
    check_not_started();

    start(&argc, &argv); /* its error handler would end the job */
    check_not_started();
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    check_state("running");
    check_strings();
    CHECK_INT(MPI_T_pvar_get_index("mpi_state", MPI_T_PVAR_CLASS_COUNTER, &index),
              MPI_T_ERR_INVALID_NAME);
    CHECK_OK(MPI_Finalize());
    check_state("ended");
    check_enums();
    CHECK_OK(MPI_T_finalize());
    check_not_started();
    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided)); /* and once more */
    check_strings();
    return MPI_T_finalize();
}
