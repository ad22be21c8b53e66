/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 3 */
/* Each wrong use of epochs, ranges and attached memory has its error class, with a text that names
 * what was found; nothing changes by it, and the window goes on to work. */
#include "check.h"

static MPI_Win win;
static int value = 5, other;

static int put(int target)
{
    return MPI_Put(&value, 1, MPI_INT, target, 0, 1, MPI_INT, win);
}

static void no_epoch(void)
{
    MPI_Request request;
    REFUSED(put(1), MPI_ERR_RMA_SYNC, "rank 1");
    REFUSED(MPI_Rput(&value, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC,
            "no access epoch");
    REFUSED(MPI_Win_complete(win), MPI_ERR_RMA_SYNC, "MPI_Win_start");
    REFUSED(MPI_Win_wait(win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    REFUSED(MPI_Win_test(win, &other), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    REFUSED(MPI_Win_unlock(1, win), MPI_ERR_RMA_SYNC, "rank 1");
    REFUSED(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all");
    REFUSED(MPI_Win_flush(1, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock");
    REFUSED(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC, "MPI_Win_lock");
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, win));
}

static void locked(MPI_Group all)
{
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_ERR_RMA_SYNC, "already");
    REFUSED(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock of rank 1");
    REFUSED(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock of rank 1");
    REFUSED(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock of rank 1");
    REFUSED(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_lock of rank 1");
    REFUSED(put(0), MPI_ERR_RMA_SYNC, "rank 0");
    REFUSED(MPI_Win_flush(0, win), MPI_ERR_RMA_SYNC, "rank 0");
    CHECK_OK(put(1));
    CHECK_OK(MPI_Win_unlock(1, win));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win));
    REFUSED(MPI_Win_post(all, 0, win), MPI_ERR_RMA_CONFLICT, "locked its own memory");
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_OK(MPI_Win_lock_all(0, win));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all");
    REFUSED(MPI_Win_unlock(0, win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all");
    REFUSED(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_lock_all");
    CHECK_OK(MPI_Win_unlock_all(win));
}

static void fenced(MPI_Group all)
{
    MPI_Request request;
    CHECK_OK(MPI_Win_fence(0, win));
    REFUSED(MPI_Rget(&other, 1, MPI_INT, 1, 0, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC,
            "MPI_Win_fence");
    CHECK_OK(put(1));
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_fence");
    REFUSED(MPI_Win_post(all, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_fence");
    CHECK_OK(MPI_Win_fence(0, win));
    /* no operation has followed, so another epoch may begin */
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    CHECK_OK(MPI_Win_unlock(1, win));
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
    REFUSED(put(1), MPI_ERR_RMA_SYNC, "no access epoch");
}

static void posted(MPI_Group all)
{
    int done = 0;
    CHECK_OK(MPI_Win_post(all, 0, win));
    REFUSED(MPI_Win_post(all, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    REFUSED(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win), MPI_ERR_RMA_CONFLICT, "MPI_Win_post");
    REFUSED(put(0), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    REFUSED(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    CHECK_OK(MPI_Win_start(all, 0, win));
    REFUSED(MPI_Win_start(all, 0, win), MPI_ERR_RMA_SYNC, "MPI_Win_start");
    CHECK_OK(put(0));
    REFUSED(MPI_Win_free(&win), MPI_ERR_RMA_SYNC, "MPI_Win_post");
    CHECK_OK(MPI_Win_complete(win));
    while (!done)
        CHECK_OK(MPI_Win_test(win, &done));
    MPI_Group none = MPI_GROUP_EMPTY;
    CHECK_OK(MPI_Win_start(none, 0, win));
    REFUSED(put(0), MPI_ERR_RMA_SYNC, "rank 0");
    CHECK_OK(MPI_Win_complete(win));
}

static void out_of_range(void)
{
    int many[8] = {0};
    MPI_Datatype back;
    CHECK_OK(MPI_Type_create_hvector(2, 1, -8, MPI_INT, &back));
    CHECK_OK(MPI_Type_commit(&back));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    REFUSED(MPI_Put(many, 1, MPI_INT, 1, 4, 1, MPI_INT, win), MPI_ERR_RMA_RANGE, "16 bytes");
    REFUSED(MPI_Put(many, 5, MPI_INT, 1, 0, 5, MPI_INT, win), MPI_ERR_RMA_RANGE, "rank 1");
    REFUSED(MPI_Get(many, 1, MPI_INT, 1, (MPI_Aint)1 << 61, 1, MPI_INT, win), MPI_ERR_RMA_RANGE,
            "rank 1");
    REFUSED(MPI_Get(many, 2, MPI_INT, 1, 1, 1, back, win), MPI_ERR_RMA_RANGE, "rank 1");
    REFUSED(MPI_Accumulate(many, 2, MPI_INT, 1, 3, 2, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_RANGE,
            "rank 1");
    REFUSED(MPI_Fetch_and_op(many, &other, MPI_INT, 1, 4, MPI_SUM, win), MPI_ERR_RMA_RANGE,
            "rank 1");
    REFUSED(MPI_Put(many, 2, MPI_INT, 1, 0, 1, MPI_INT, win), MPI_ERR_TRUNCATE, "expected equal sizes");
    REFUSED(MPI_Accumulate(many, 1, MPI_INT, 1, 0, 1, MPI_FLOAT, MPI_SUM, win), MPI_ERR_TYPE,
            "predefined");
    REFUSED(MPI_Accumulate(many, 1, MPI_FLOAT, 1, 0, 1, MPI_FLOAT, MPI_BAND, win), MPI_ERR_OP,
            "not defined");
    REFUSED(MPI_Compare_and_swap(many, many, &other, MPI_FLOAT, 1, 0, win), MPI_ERR_TYPE,
            "MPI_Compare_and_swap");
    REFUSED(MPI_Fetch_and_op(many, &other, back, 1, 0, MPI_SUM, win), MPI_ERR_TYPE, "derived");
    /* all others that MPI has */
    int more[2];
    MPI_Request request;
    REFUSED(MPI_Get_accumulate(many, 1, MPI_INT, more, 1, MPI_INT, 1, 4, 1, MPI_INT, MPI_SUM, win),
            MPI_ERR_RMA_RANGE, "rank 1");
    REFUSED(MPI_Get_accumulate(many, 1, MPI_INT, more, 2, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win),
            MPI_ERR_TRUNCATE, "expected equal sizes");
    REFUSED(MPI_Rput(many, 1, MPI_INT, 1, 4, 1, MPI_INT, win, &request), MPI_ERR_RMA_RANGE,
            "rank 1");
    REFUSED(MPI_Rput(many, 1, MPI_INT, 1, 0, 2, MPI_INT, win, &request), MPI_ERR_TRUNCATE,
            "expected equal sizes");
    REFUSED(MPI_Rget(many, 1, MPI_INT, 1, 4, 1, MPI_INT, win, &request), MPI_ERR_RMA_RANGE,
            "rank 1");
    REFUSED(MPI_Rget(many, 1, MPI_INT, 1, 0, 2, MPI_INT, win, &request), MPI_ERR_TRUNCATE,
            "expected equal sizes");
    REFUSED(MPI_Raccumulate(many, 1, MPI_INT, 1, 4, 1, MPI_INT, MPI_SUM, win, &request),
            MPI_ERR_RMA_RANGE, "rank 1");
    REFUSED(MPI_Raccumulate(many, 1, MPI_INT, 1, 0, 2, MPI_INT, MPI_SUM, win, &request),
            MPI_ERR_TRUNCATE, "expected equal sizes");
    REFUSED(MPI_Rget_accumulate(many, 1, MPI_INT, more, 1, MPI_INT, 1, 4, 1, MPI_INT, MPI_SUM, win,
                                &request),
            MPI_ERR_RMA_RANGE, "rank 1");
    REFUSED(MPI_Rget_accumulate(many, 1, MPI_INT, more, 2, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win,
                                &request),
            MPI_ERR_TRUNCATE, "expected equal sizes");
    REFUSED(MPI_Get(many, 1, MPI_INT, 1, 0, 2, MPI_INT, win), MPI_ERR_TRUNCATE, "expected equal sizes");
    REFUSED(MPI_Accumulate(many, 1, MPI_INT, 1, 0, 2, MPI_INT, MPI_SUM, win), MPI_ERR_TRUNCATE,
            "expected equal sizes");
    REFUSED(MPI_Compare_and_swap(many, many, &other, MPI_INT, 1, 4, win), MPI_ERR_RMA_RANGE,
            "rank 1");
    CHECK_OK(MPI_Put(many, 0, MPI_INT, 1, 100, 0, MPI_INT, win)); /* no bytes are in no range */
    CHECK_OK(MPI_Win_unlock(1, win));
    CHECK_OK(MPI_Type_free(&back));
}

/* No process has memory at this address. The target may find that later, which the flush says. */
static void not_there(int target)
{
    enum { NOWHERE = 64 };
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
    int code = MPI_Put(&value, 1, MPI_INT, target, NOWHERE, 1, MPI_INT, win);
    REFUSED(code ? code : MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE, "rank 1");
    code = MPI_Get(&other, 1, MPI_INT, target, NOWHERE, 1, MPI_INT, win);
    REFUSED(code ? code : MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE, "rank 1");
    code = MPI_Accumulate(&value, 1, MPI_INT, target, NOWHERE, 1, MPI_INT, MPI_SUM, win);
    REFUSED(code ? code : MPI_Win_flush(target, win), MPI_ERR_RMA_RANGE, "rank 1");
    code = MPI_Fetch_and_op(&value, &other, MPI_INT, target, NOWHERE, MPI_SUM, win);
    REFUSED(code ? code : MPI_Win_unlock(target, win), MPI_ERR_RMA_RANGE, "rank 1");
    if (code)
        CHECK_OK(MPI_Win_unlock(target, win));
}

/* Memory that rank 1 has, but has not attached, is not reached: neither beside a region, nor what
 * was detached. */
static void beside(void)
{
    enum { BYTES = 64 };
    char *memory = malloc(2 * BYTES), bytes[2 * BYTES];
    MPI_Aint at;
    memset(memory, 1, 2 * BYTES);
    memset(bytes, 2, sizeof bytes);
    CHECK_OK(MPI_Win_attach(win, memory, BYTES));
    CHECK_OK(MPI_Get_address(memory, &at));
    MPI_Bcast(&at, 1, MPI_AINT, 1, MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win));
    for (int i = 0; i < 3; i++) {
        int code = MPI_Put(bytes, 4, MPI_BYTE, 1, at + (i == 0 ? -2 : i * (BYTES - 2)), 4, MPI_BYTE,
                           win);
        REFUSED(code ? code : MPI_Win_flush(1, win), MPI_ERR_RMA_RANGE, "rank 1");
    }
    int code = MPI_Get(bytes, 4, MPI_BYTE, 1, at + BYTES, 4, MPI_BYTE, win);
    REFUSED(code ? code : MPI_Win_flush(1, win), MPI_ERR_RMA_RANGE, "rank 1");
    code = MPI_Accumulate(bytes, 1, MPI_INT, 1, at + BYTES, 1, MPI_INT, MPI_REPLACE, win);
    REFUSED(code ? code : MPI_Win_flush(1, win), MPI_ERR_RMA_RANGE, "rank 1");
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_attach(win, memory + BYTES, BYTES)); /* now the bytes beside are, too */
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_OK(MPI_Put(bytes, 4, MPI_BYTE, 1, at + BYTES - 2, 4, MPI_BYTE, win));
    CHECK_OK(MPI_Win_flush(1, win));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_Win_detach(win, memory));
    MPI_Barrier(MPI_COMM_WORLD);
    code = MPI_Put(bytes, 4, MPI_BYTE, 1, at, 4, MPI_BYTE, win);
    REFUSED(code ? code : MPI_Win_flush(1, win), MPI_ERR_RMA_RANGE, "rank 1");
    CHECK_OK(MPI_Win_unlock(1, win));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 2 * BYTES; i++)
        CHECK_INT(memory[i], rank == 1 && i >= BYTES - 2 && i < BYTES + 2 ? 2 : 1);
    CHECK_OK(MPI_Win_detach(win, memory + BYTES));
    free(memory);
}

/* A datatype of addresses may describe several regions of a target. */
static void several_regions(void)
{
    int *parts[2], lengths[2] = {1, 2}, values[3] = {7, 8, 9};
    MPI_Aint at[2];
    MPI_Datatype both;
    for (int i = 0; i < 2; i++) {
        parts[i] = calloc(2, sizeof **parts);
        CHECK_OK(MPI_Win_attach(win, parts[i], 2 * sizeof **parts));
    }
    for (int target = 0; target < 2; target++) {
        for (int i = 0; i < 2; i++)
            CHECK_OK(MPI_Get_address(parts[i], &at[i]));
        MPI_Bcast(at, 2, MPI_AINT, target, MPI_COMM_WORLD);
        CHECK_OK(MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &both));
        CHECK_OK(MPI_Type_commit(&both));
        if (rank == 1) {
            CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, target, 0, win));
            CHECK_OK(MPI_Put(values, 3, MPI_INT, target, 0, 1, both, win));
            CHECK_OK(MPI_Win_unlock(target, win));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < 3 && rank == target; i++)
            CHECK_INT(i ? parts[1][i - 1] : parts[0][0], values[i]);
        CHECK_OK(MPI_Type_free(&both));
    }
    for (int i = 0; i < 2; i++) {
        CHECK_OK(MPI_Win_detach(win, parts[i]));
        free(parts[i]);
    }
}

static void dynamic(void)
{
    int memory[4] = {0};
    MPI_Aint at;
    MPI_Win_free(&win);
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    keep_win_messages(win);
    CHECK_OK(MPI_Win_attach(win, memory, sizeof memory));
    REFUSED(MPI_Win_attach(win, memory + 1, 4), MPI_ERR_RMA_ATTACH, "attached already");
    REFUSED(MPI_Win_detach(win, memory + 1), MPI_ERR_RMA_ATTACH, "no memory");
    CHECK_OK(MPI_Get_address(memory, &at));
    CHECK_OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
    REFUSED(MPI_Put(&value, 1, MPI_INT, rank, at + 16, 1, MPI_INT, win), MPI_ERR_RMA_RANGE,
            "MPI_Win_attach");
    CHECK_OK(MPI_Put(&value, 1, MPI_INT, rank, at + 12, 1, MPI_INT, win));
    CHECK_OK(MPI_Win_unlock(rank, win));
    CHECK_INT(memory[3], value);
    if (rank != 1)
        not_there(1);
    REFUSED(MPI_Win_attach(win, NULL, 4), MPI_ERR_BASE, "NULL");
    REFUSED(MPI_Win_attach(win, memory, PTRDIFF_MAX), MPI_ERR_SIZE, "memory");
    beside();
    several_regions();
    void *base;
    MPI_Aint bytes;
    REFUSED(MPI_Win_shared_query(win, 0, &bytes, &other, &base), MPI_ERR_RMA_FLAVOR, "dynamic");
    CHECK_OK(MPI_Win_detach(win, memory));
    CHECK_OK(MPI_Win_free(&win));
}

static void no_locks(void)
{
    MPI_Info info;
    int *memory;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
    CHECK_OK(MPI_Win_allocate(16, 4, info, MPI_COMM_WORLD, &memory, &win));
    CHECK_OK(MPI_Info_free(&info));
    keep_win_messages(win);
    REFUSED(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win), MPI_ERR_RMA_SYNC, "no_locks");
    REFUSED(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC, "no_locks");
    CHECK_OK(MPI_Win_free(&win));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int *memory;
    MPI_Group all;
    CHECK_OK(MPI_Win_allocate(16, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
    keep_win_messages(win);
    CHECK_OK(MPI_Win_get_group(win, &all));
    no_epoch();
    locked(all);
    MPI_Barrier(MPI_COMM_WORLD);
    fenced(all);
    posted(all);
    MPI_Barrier(MPI_COMM_WORLD);
    out_of_range();
    CHECK_INT(memory[0], rank < 2 ? 5 : 0);
    dynamic();
    no_locks();
    CHECK_OK(MPI_Group_free(&all));
    return end();
}
