/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* Control variables are the parameters: those of the start are written before MPI_Init and have
 * effect, later they are refused and their scope says so; an algorithm can be chosen at any time and is then used. */
#include "check.h"

static MPI_T_cvar_handle open_variable(const char *name, int expected_count)
{
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
    int index, count = -1;
    CHECK_OK(MPI_T_cvar_get_index(name, &index));
    CHECK_OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    if (expected_count)
        CHECK_INT(count, expected_count);
    else
        CHECK(count > 1);
    return handle;
}

/* Every variable can be described, opened, read, and its name leads back to it. Once MPI was `started` it can be written if
 * its scope does not say otherwise. Returns how many cannot. */
static int walk(int started)
{
    int count, index, read_only = 0;
    CHECK_OK(MPI_T_cvar_get_num(&count));
    for (int i = 0; i < count; i++) {
        char name[128], help[1024], value[8192];
        int name_length = sizeof name, help_length = sizeof help, verbosity = -1, bind = -1,
            scope = -1, elements;
        MPI_Datatype type = MPI_DATATYPE_NULL;
        MPI_T_enum items;
        MPI_T_cvar_handle handle;
        CHECK_OK(MPI_T_cvar_get_info(i, name, &name_length, &verbosity, &type, &items, help,
                                     &help_length, &bind, &scope));
        CHECK(*name && *help);
        CHECK(type == MPI_INT || type == MPI_CHAR || type == MPI_UNSIGNED_LONG_LONG);
        CHECK_INT(bind, MPI_T_BIND_NO_OBJECT);
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL);
        CHECK_OK(MPI_T_cvar_get_index(name, &index));
        CHECK_INT(index, i);
        CHECK_OK(MPI_T_cvar_handle_alloc(i, NULL, &handle, &elements));
        CHECK(elements >= 1 && elements <= (int)sizeof value);
        CHECK_OK(MPI_T_cvar_read(handle, value));
        if (started)
            CHECK_INT(MPI_T_cvar_write(handle, value),
                      scope == MPI_T_SCOPE_READONLY ? MPI_T_ERR_CVAR_SET_NEVER : MPI_SUCCESS);
        read_only += scope == MPI_T_SCOPE_READONLY || scope == MPI_T_SCOPE_CONSTANT;
        CHECK_OK(MPI_T_cvar_handle_free(&handle));
        CHECK(handle == MPI_T_CVAR_HANDLE_NULL);
    }
    return read_only;
}

static void check_algorithm(void)
{
    static const char *const names[] = {"recursive_doubling", "ring"};
    MPI_T_cvar_handle handle = open_variable("coll_allreduce_algorithm", 1);
    MPI_T_enum items;
    int index, count, wanted, got = -1, length, x[100], sum[100];
    char name[64];
    CHECK_OK(MPI_T_cvar_get_index("coll_allreduce_algorithm", &index));
    CHECK_OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL));
    CHECK_OK(MPI_T_enum_get_info(items, &count, NULL, NULL));
    for (int i = 0; i < 100; i++)
        x[i] = i + rank;
    for (int round = 0; round < 6; round++) {
        for (wanted = 0; wanted < count; wanted++) {
            length = sizeof name;
            CHECK_OK(MPI_T_enum_get_item(items, wanted, NULL, name, &length));
            if (strcmp(name, names[round % 2]) == 0)
                break;
        }
        CHECK(wanted < count);
        CHECK_OK(MPI_T_cvar_write(handle, &wanted));
        CHECK_OK(MPI_T_cvar_read(handle, &got));
        CHECK_INT(got, wanted);
        CHECK_OK(MPI_Allreduce(x, sum, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < 100; i++)
            CHECK_INT(sum[i], size * i + size * (size - 1) / 2);
    }
    wanted = count;
    CHECK_INT(MPI_T_cvar_write(handle, &wanted), MPI_T_ERR_INVALID);
    wanted = -1;
    CHECK_INT(MPI_T_cvar_write(handle, &wanted), MPI_T_ERR_INVALID);
    wanted = 0; /* as before: by size */
    CHECK_OK(MPI_T_cvar_write(handle, &wanted));
    CHECK_OK(MPI_Allreduce(x, sum, 100, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_OK(MPI_T_cvar_handle_free(&handle));
}

int main(int argc, char **argv)
{
    int provided, flag;
    unsigned long long credit = 12345, other = 54321, got = 0;
    char list[4096];

    CHECK_OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    CHECK_INT(walk(0), 0);
    MPI_T_cvar_handle credit_handle = open_variable("pml_eager_credit", 1);
    MPI_T_cvar_handle btl = open_variable("btl", 0);
    MPI_T_cvar_handle stack = open_variable("mpi_abort_print_stack", 1);
    CHECK_OK(MPI_T_cvar_write(credit_handle, &credit));
    CHECK_OK(MPI_T_cvar_write(btl, "shm,self"));
    CHECK_OK(MPI_T_cvar_read(btl, list));
    CHECK_STRING(list, "shm,self");
    CHECK_OK(MPI_T_cvar_write(btl, "self,shm"));
    CHECK_OK(MPI_T_cvar_read(btl, list));
    CHECK_STRING(list, "self,shm");

    start(&argc, &argv);
    CHECK_OK(MPI_T_cvar_read(credit_handle, &got));
    CHECK_INT(got, credit);
    CHECK_INT(MPI_T_cvar_write(credit_handle, &other), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_INT(MPI_T_cvar_write(btl, "self"), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_OK(MPI_T_cvar_read(credit_handle, &got));
    CHECK_INT(got, credit);
    flag = 1;
    CHECK_OK(MPI_T_cvar_write(stack, &flag)); /* it is read when somebody aborts */
    flag = -1;
    CHECK_OK(MPI_T_cvar_read(stack, &flag));
    CHECK_INT(flag, 1);
    flag = 2;
    CHECK_INT(MPI_T_cvar_write(stack, &flag), MPI_T_ERR_INVALID);
    check_algorithm();
    CHECK(walk(1) > 10);

    CHECK_INT(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &got), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_cvar_write((MPI_T_cvar_handle)list, &got), MPI_T_ERR_INVALID_HANDLE);
    MPI_T_cvar_handle copy = btl;
    CHECK_OK(MPI_T_cvar_handle_free(&btl));
    CHECK_INT(MPI_T_cvar_read(copy, list), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_cvar_handle_free(&copy), MPI_T_ERR_INVALID_HANDLE);
    CHECK_INT(MPI_T_cvar_handle_alloc(100000, NULL, &copy, &flag), MPI_T_ERR_INVALID_INDEX);
    CHECK_OK(MPI_Finalize());
    CHECK_INT(MPI_T_cvar_write(credit_handle, &other), MPI_T_ERR_CVAR_SET_NEVER);
    CHECK_OK(MPI_T_cvar_handle_free(&credit_handle));
    CHECK(walk(1) > 10);
    return MPI_T_finalize(); /* frees the last handle */
}
