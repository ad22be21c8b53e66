/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2 4; limit: 300 */
/* Windows and memory of MPI_Alloc_mem of any sizes that the node has: several at a time, larger
 * than all before, beside memory that is never touched. What the node has not is MPI_ERR_NO_MEM,
 * with a message that says what is short. */
#include "check.h"

#include <sys/sysinfo.h>

#define MIB ((MPI_Aint)1 << 20)

static char *make_window(MPI_Aint bytes, MPI_Win *win)
{
    void *base;
    MPI_Aint length;
    int unit;
    CHECK_OK(MPI_Win_allocate_shared(rank ? 0 : bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, win));
    CHECK_OK(MPI_Win_shared_query(*win, 0, &length, &unit, &base));
    CHECK(length == bytes);
    return base;
}

/* Every rank writes a byte near each end, and reads those of all. */
static void use(char *base, MPI_Aint bytes)
{
    for (int end = 0; end < 2; end++)
        base[end ? bytes - 1 - rank : rank] = (char)(rank + end + 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int r = 0; r < size; r++)
        for (int end = 0; end < 2; end++)
            CHECK_INT(base[end ? bytes - 1 - r : r], r + end + 1);
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void several_at_a_time(int count, MPI_Aint bytes)
{
    MPI_Win wins[3];
    char *bases[3];
    for (int i = 0; i < count; i++) {
        bases[i] = make_window(bytes, &wins[i]);
        for (int before = 0; before < i; before++)
            CHECK(bases[i] >= bases[before] + bytes || bases[i] + bytes <= bases[before]);
    }
    for (int i = 0; i < count; i++)
        use(bases[i], bytes);
    for (int i = 0; i < count; i++)
        CHECK_OK(MPI_Win_free(&wins[i]));
}

static void each_larger_than_before(void)
{
    for (MPI_Aint bytes = 16 * MIB; bytes <= 512 * MIB; bytes *= 2) {
        MPI_Win win;
        use(make_window(bytes, &win), bytes);
        CHECK_OK(MPI_Win_free(&win));
    }
}

static void beside_memory_that_is_not_touched(void)
{
    void *memory;
    MPI_Win win;
    CHECK_OK(MPI_Alloc_mem(1024 * MIB, MPI_INFO_NULL, &memory));
    use(make_window(MIB, &win), MIB);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Free_mem(memory));
}

/* Memory of MPI_Alloc_mem that lies far from the beginning is reached by all in a window. */
static void memory_of_others(void)
{
    enum { BYTES = 1 << 20 };
    char *far, *mine, got = 0;
    MPI_Win win;
    int next = (rank + 1) % size;
    CHECK_OK(MPI_Alloc_mem(300 * MIB, MPI_INFO_NULL, &far));
    CHECK_OK(MPI_Alloc_mem(BYTES, MPI_INFO_NULL, &mine));
    mine[BYTES - 1] = (char)rank;
    CHECK_OK(MPI_Win_create(mine, BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(&got, 1, MPI_CHAR, next, BYTES - 1, 1, MPI_CHAR, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(got, next);
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
    char *late;
    CHECK_OK(MPI_Alloc_mem(20 * MIB, MPI_INFO_NULL, &late));
    late[0] = (char)(rank + 50);
    CHECK_OK(MPI_Win_attach(win, late, 20 * MIB));
    MPI_Aint here, there;
    CHECK_OK(MPI_Get_address(late, &here));
    CHECK_OK(MPI_Sendrecv(&here, 1, MPI_AINT, (rank + size - 1) % size, 1, &there, 1, MPI_AINT, next,
                          1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_OK(MPI_Get(&got, 1, MPI_CHAR, next, there, 1, MPI_CHAR, win));
    CHECK_OK(MPI_Win_fence(0, win));
    CHECK_INT(got, next + 50);
    CHECK_OK(MPI_Win_detach(win, late));
    CHECK_OK(MPI_Win_free(&win));
    CHECK_OK(MPI_Free_mem(late));
    CHECK_OK(MPI_Free_mem(mine));
    CHECK_OK(MPI_Free_mem(far));
}

/* Both kinds of windows: an error on all ranks; that of the rank that lacks memory says how much
 * the node has. */
static void more_than_the_node_has(void)
{
    struct sysinfo info;
    sysinfo(&info);
    MPI_Aint bytes = (MPI_Aint)(info.totalram + info.totalswap) * info.mem_unit;
    void *base;
    MPI_Win win;
    char text[MPI_MAX_ERROR_STRING];
    for (int shared = 0; shared < 2; shared++) {
        int length, code = (shared ? MPI_Win_allocate_shared : MPI_Win_allocate)(
                        rank ? 1 : bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
        CHECK_CLASS(code, MPI_ERR_NO_MEM);
        CHECK_OK(MPI_Error_string(code, text, &length));
        CHECK(rank || strstr(text, "free memory"));
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    return_errors(MPI_COMM_WORLD);
    several_at_a_time(3, 342 * MIB);
    several_at_a_time(2, 900 * MIB);
    each_larger_than_before();
    beside_memory_that_is_not_touched();
    memory_of_others();
    more_than_the_node_has();
    several_at_a_time(1, 1026 * MIB);
    return end();
}
