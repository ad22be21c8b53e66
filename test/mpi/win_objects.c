/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; long: 8; args: 300; long-args: 10000 */
/* What a window is besides its memory: attributes, name, group, hints, error handler, keys, handles;
 * sizes of 0; where other ranks' memory lies; many windows at a time and one after the other. */
#include "check.h"

enum { AT_ONCE = 100 };

static int deleted;

static int delete_value(MPI_Win win, int keyval, void *value, void *state)
{
    (void)win, (void)keyval;
    CHECK(state == &deleted);
    deleted += *(int *)value;
    return MPI_SUCCESS;
}

static void check_attributes(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor)
{
    void *found_base;
    MPI_Aint *found_size;
    int *number, flag;
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_BASE, &found_base, &flag));
    CHECK(flag && found_base == base);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_SIZE, &found_size, &flag));
    CHECK(flag);
    CHECK_INT(*found_size, bytes);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &number, &flag));
    CHECK_INT(*number, unit);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &number, &flag));
    CHECK_INT(*number, flavor);
    CHECK_OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &number, &flag));
    CHECK_INT(*number, MPI_WIN_UNIFIED);
}

static void check_names(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK_STRING(name, "");
    CHECK_OK(MPI_Win_set_name(win, "halo"));
    CHECK_OK(MPI_Win_get_name(win, name, &length));
    CHECK_STRING(name, "halo");
    CHECK_INT(length, 4);
    CHECK_OK(MPI_Win_get_name(MPI_WIN_NULL, name, &length));
    CHECK_STRING(name, "MPI_WIN_NULL");
}

static void check_group(MPI_Win win)
{
    MPI_Group mine, world;
    int result;
    CHECK_OK(MPI_Win_get_group(win, &mine));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_compare(mine, world, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_free(&mine));
    CHECK_OK(MPI_Group_free(&world));
}

static void check_hint(MPI_Win win, const char *key, const char *expected)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1];
    int flag;
    CHECK_OK(MPI_Win_get_info(win, &info));
    CHECK_OK(MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &flag));
    CHECK(flag);
    CHECK_STRING(value, expected);
    CHECK_OK(MPI_Info_free(&info));
}

static void check_hints(MPI_Win win)
{
    MPI_Info info;
    check_hint(win, "no_locks", "false");
    check_hint(win, "accumulate_ordering", "rar,raw,war,waw");
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "same_size", "true"));
    CHECK_OK(MPI_Info_set(info, "nobody_knows_this", "true"));
    CHECK_OK(MPI_Info_set(info, "no_locks", "true")); /* too late: locks stay possible */
    CHECK_OK(MPI_Win_set_info(win, info));
    CHECK_OK(MPI_Info_free(&info));
    check_hint(win, "same_size", "true");
    check_hint(win, "no_locks", "false");
}

static void check_keys(MPI_Win win)
{
    int key, flag, *value, seven = 7;
    CHECK_OK(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_value, &key, &deleted));
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(!flag);
    CHECK_OK(MPI_Win_set_attr(win, key, &seven));
    CHECK_OK(MPI_Win_get_attr(win, key, &value, &flag));
    CHECK(flag && value == &seven);
    CHECK_OK(MPI_Win_delete_attr(win, key));
    CHECK_INT(deleted, 7);
    static int kept = 9;
    CHECK_OK(MPI_Win_set_attr(win, key, &kept)); /* deleted with the window */
    CHECK_OK(MPI_Win_free_keyval(&key));
    CHECK_INT(key, MPI_KEYVAL_INVALID);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(win)) == win);
    CHECK(MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
}

static void check_errhandlers(MPI_Win win)
{
    MPI_Errhandler handler;
    CHECK_OK(MPI_Win_get_errhandler(win, &handler));
    CHECK(handler == MPI_ERRORS_ARE_FATAL);
    CHECK_OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, win), MPI_ERR_RANK);
    CHECK_CLASS(MPI_Win_lock(77, 0, 0, win), MPI_ERR_LOCKTYPE);
    CHECK_CLASS(MPI_Win_fence(1 << 20, win), MPI_ERR_ASSERT);
    /* assertions of other calls */
    CHECK_CLASS(MPI_Win_fence(MPI_MODE_NOCHECK, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_lock_all(MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOPRECEDE, win), MPI_ERR_ASSERT);
    CHECK_CLASS(MPI_Win_call_errhandler(win, MPI_ERR_TAG), MPI_SUCCESS);
}

/* Every other rank has no memory. */
static void sizes_of_zero(void)
{
    MPI_Aint bytes = rank % 2 ? 0 : 64, found;
    char *base, *theirs;
    int unit, none = 5;
    MPI_Win win;
    CHECK_OK(MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    check_attributes(win, base, bytes, 8, MPI_WIN_FLAVOR_ALLOCATE);
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&none, 0, MPI_INT, size - 1, 0, 0, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_create(NULL, 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_attributes(win, NULL, 0, 1, MPI_WIN_FLAVOR_CREATE);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Win_shared_query(win, 0, &found, &unit, &theirs));
    CHECK_INT(found, 64);
    CHECK(base == theirs + (rank + 1) / 2 * 64); /* contiguous, also at ranks without memory */
    CHECK_OK(MPI_Win_shared_query(win, MPI_PROC_NULL, &found, &unit, &base));
    CHECK(base == theirs && found == 64 && unit == 1);
    CHECK_OK(MPI_Win_free(&win));
}

/* An empty part that lies apart from the others has no address, for its rank and for the others. */
static void empty_parts_apart(void)
{
    MPI_Aint mine = rank % 2 ? 64 : 0, found;
    char *base = (char *)&mine, *theirs;
    MPI_Info info;
    MPI_Win win;
    int unit;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    CHECK_OK(MPI_Win_allocate_shared(mine, 8, info, MPI_COMM_WORLD, &base, &win));
    CHECK_OK(MPI_Info_free(&info));
    CHECK((base != NULL) == rank % 2);
    check_attributes(win, base, mine, 8, MPI_WIN_FLAVOR_SHARED);
    for (int i = 0; i < size; i++) {
        CHECK_OK(MPI_Win_shared_query(win, i, &found, &unit, &theirs));
        CHECK((theirs != NULL) == i % 2);
        CHECK_INT(found, i % 2 ? 64 : 0);
        CHECK_INT(unit, 8);
    }
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Put(&unit, 0, MPI_INT, 0, 0, 0, MPI_INT, win));
    if (size > 1)
        CHECK_OK(MPI_Put(&unit, 1, MPI_INT, 1, 0, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_fence(0, win));
    if (rank == 1)
        CHECK_INT(*(int *)base, 8);
    CHECK_OK(MPI_Win_free(&win));
}

/* Loads and stores reach the memory of the others. */
static void shared_memory(int apart)
{
    int *mine, *theirs, unit;
    MPI_Aint bytes;
    MPI_Info info;
    MPI_Win win;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", apart ? "true" : "false"));
    CHECK_OK(MPI_Win_allocate_shared((MPI_Aint)((rank + 1) * sizeof(int)), sizeof(int), info,
                                     MPI_COMM_WORLD, &mine, &win));
    CHECK_OK(MPI_Info_free(&info));
    check_attributes(win, mine, (MPI_Aint)((rank + 1) * sizeof(int)), sizeof(int),
                     MPI_WIN_FLAVOR_SHARED);
    CHECK_OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
    mine[rank] = 100 + rank;
    CHECK_OK(MPI_Win_sync(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_sync(win));
    int other = (rank + 1) % size;
    CHECK_OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
    CHECK_INT(bytes, (other + 1) * (int)sizeof(int));
    CHECK_INT(theirs[other], 100 + other);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Win_free(&win));
}

/* Memory of MPI_Alloc_mem is mapped on all ranks of the node, memory of the program is not. */
static void memory_of_mpi(void)
{
    enum { BYTES = 50000 };
    int *mine, *theirs, other = (rank + 1) % size, unit, old;
    MPI_Aint bytes, begin, *begins;
    MPI_Win win;
    CHECK_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &mine));
    CHECK_OK(MPI_Win_create(mine + 1, BYTES - 4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_shared_query(win, other, &bytes, &unit, &theirs));
    CHECK(theirs && bytes == BYTES - 4 && unit == 4);
    CHECK_OK(MPI_Win_fence(0, win));
    theirs[5] = 100 + rank;
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(mine[6], 100 + (rank + size - 1) % size);
    CHECK_OK(MPI_Win_free(&win));
    /* attached to a dynamic window, with the program's own memory beside it */
    int own = 7, one = 1;
    begins = allocate((size_t)size * 2 * sizeof *begins);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_attach(win, mine, BYTES));
    CHECK_OK(MPI_Win_attach(win, &own, sizeof own));
    MPI_Get_address(mine, &begins[2 * rank]);
    MPI_Get_address(&own, &begins[2 * rank + 1]);
    CHECK_OK(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, begins, 2, MPI_AINT,
                           MPI_COMM_WORLD));
    mine[0] = mine[BYTES / 4 - 1] = 50;
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_OK(MPI_Win_lock_all(0, win));
    for (int i = 0; i < size; i++)
        for (int k = 0; k < 3; k++) {
            begin = k == 2 ? begins[2 * i + 1] : begins[2 * i] + k * (BYTES - 4);
            CHECK_OK(MPI_Fetch_and_op(&one, &old, MPI_INT, i, begin, MPI_SUM, win));
            CHECK_OK(MPI_Accumulate(&one, 1, MPI_INT, i, begin, 1, MPI_INT, MPI_SUM, win));
        }
    CHECK_OK(MPI_Win_unlock_all(win));
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK_INT(mine[0], 50 + 2 * size);
    CHECK_INT(mine[BYTES / 4 - 1], 50 + 2 * size);
    CHECK_INT(own, 7 + 2 * size);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Free_mem(mine));
    free(begins);
}

static void alignment(void)
{
    MPI_Info info;
    char *memory;
    MPI_Win win;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "65536"));
    CHECK_OK(MPI_Win_allocate(100, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_INT((uintptr_t)memory % 65536, 0);
    check_hint(win, "mpi_minimum_memory_alignment", "65536");
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Info_set(info, "mpi_minimum_memory_alignment", "4096"));
    CHECK_OK(MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    CHECK_OK(MPI_Win_allocate_shared(100, 1, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_INT((uintptr_t)memory % 4096, 0);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Info_free(&info));
}

static void many_windows(int rounds)
{
    static MPI_Win wins[AT_ONCE];
    int *memory[AT_ONCE], other = (rank + 1) % size;
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_OK(MPI_Win_allocate(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory[i],
                                  &wins[i]));
        CHECK_OK(MPI_Win_fence(0, wins[i]));
    }
    for (int i = 0; i < AT_ONCE; i++)
        CHECK_OK(MPI_Put(&i, 1, MPI_INT, other, 0, 1, MPI_INT, wins[i]));
    for (int i = 0; i < AT_ONCE; i++) {
        CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, wins[i]));
        CHECK_INT(*memory[i], i);
        CHECK_OK(MPI_Win_free(&wins[i]));
    }
    for (int i = 0; i < rounds; i++) {
        CHECK_OK(MPI_Win_create(&other, sizeof other, 1, MPI_INFO_NULL, MPI_COMM_WORLD, wins));
        CHECK_OK(MPI_Win_free(wins));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    char memory[256];
    MPI_Win win;
    void *nothing;
    CHECK_OK(MPI_Win_create(memory, sizeof memory, 2, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_attributes(win, memory, sizeof memory, 2, MPI_WIN_FLAVOR_CREATE);
    check_names(win);
    check_group(win);
    check_hints(win);
    check_errhandlers(win);
    deleted = 0;
    check_keys(win);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_INT(deleted, 16);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    check_attributes(win, NULL, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    CHECK_OK(MPI_Win_free(&win));
    sizes_of_zero();
    empty_parts_apart();
    shared_memory(0);
    shared_memory(1);
    return_errors(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Win_allocate_shared((MPI_Aint)1 << 50, 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                                        &nothing, &win),
                MPI_ERR_NO_MEM);
    CHECK(win == MPI_WIN_NULL);
    memory_of_mpi();
    alignment();
    many_windows(argument(argc, argv, 300));
    return end();
}
