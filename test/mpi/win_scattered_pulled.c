/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 2; env: OMPI_MCA_rma_mechanism=pulled; limit: 120 */
/* Operations on scattered elements of memory that only the system copies take few calls of the
 * system, do what they should, and never write between the elements. MPI_REPLACE reads nothing. */
#include "counter.h"

enum { ELEMENTS = 1 << 17, AT_ONCE = 1000 };

static int memory[2 * ELEMENTS], mine[ELEMENTS], before[ELEMENTS];
static struct {
    short value;
    int index;
} pairs[3000], lower = {5, 7};
static struct counter copies;
static MPI_Win win;
static MPI_Datatype every_second;

/* Ends the epoch and checks the calls since the last check. */
static void expect_calls(const char *what, unsigned long long most)
{
    static unsigned long long last;
    unsigned long long now = counter_read(&copies);
    if (now == last || now - last > most)
        check_fail(__FILE__, __LINE__, "%s took %llu calls of the system, expected 1 to %llu", what,
                   now - last, most);
    last = now;
}

static void operate(void)
{
    unsigned long long one_way = ELEMENTS / AT_ONCE + ELEMENTS / 2048 + 2;
    CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win));
    CHECK_OK(MPI_Put(mine, ELEMENTS, MPI_INT, 1, 0, 1, every_second, win));
    expect_calls("MPI_Put", one_way);
    CHECK_OK(MPI_Accumulate(mine, ELEMENTS, MPI_INT, 1, 0, 1, every_second, MPI_SUM, win));
    expect_calls("MPI_Accumulate with MPI_SUM", 2 * one_way);
    CHECK_OK(MPI_Get_accumulate(mine, ELEMENTS, MPI_INT, before, ELEMENTS, MPI_INT, 1, 0, 1,
                                every_second, MPI_SUM, win));
    expect_calls("MPI_Get_accumulate with MPI_SUM", 2 * one_way);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_INT(before[i], 2 * i);
    CHECK_OK(MPI_Get(before, ELEMENTS, MPI_INT, 1, 0, 1, every_second, win));
    expect_calls("MPI_Get", one_way);
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_INT(before[i], 3 * i);
    CHECK_OK(MPI_Accumulate(mine, ELEMENTS, MPI_INT, 1, 0, 1, every_second, MPI_REPLACE, win));
    expect_calls("MPI_Accumulate with MPI_REPLACE", one_way);
    CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_INT, before, ELEMENTS, MPI_INT, 1, 0, 1, every_second,
                                MPI_NO_OP, win));
    expect_calls("MPI_Get_accumulate with MPI_NO_OP", one_way);
    CHECK_OK(MPI_Win_unlock(1, win));
    for (int i = 0; i < ELEMENTS; i++)
        CHECK_INT(before[i], i);
}

/* Elements with a hole inside: two runs each. */
static void operate_on_pairs(void)
{
    enum { COUNT = sizeof pairs / sizeof *pairs };
    static char in[COUNT * sizeof lower];
    MPI_Win other;
    memset(pairs, 0x55, sizeof pairs);
    for (int i = 0; i < COUNT; i++) {
        pairs[i].value = (short)(i % 9);
        pairs[i].index = i;
        memcpy(in + (size_t)i * sizeof lower, &lower, sizeof lower);
    }
    CHECK_OK(MPI_Win_create(pairs, sizeof pairs, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &other));
    if (rank == 0) {
        CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, other));
        CHECK_OK(MPI_Accumulate(in, COUNT, MPI_SHORT_INT, 1, 0, COUNT, MPI_SHORT_INT, MPI_MAXLOC,
                                other));
        expect_calls("MPI_MAXLOC", 2 * (COUNT / 500 + COUNT * 6 / 8000 + 2));
        CHECK_OK(MPI_Win_unlock(1, other));
    }
    CHECK_OK(MPI_Win_free(&other));
    for (int i = 0; i < COUNT && rank == 1; i++) {
        int value = i % 9;
        CHECK_INT(pairs[i].value, value > 5 ? value : 5);
        CHECK_INT(pairs[i].index, value > 5 || (value == 5 && i < 7) ? i : 7);
        CHECK_INT(((unsigned char *)&pairs[i])[sizeof(short)], 0x55);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    copies = counter_open("rma_system_copies", MPI_THREAD_SINGLE);
    CHECK_OK(MPI_Type_vector(ELEMENTS, 1, 2, MPI_INT, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    for (int i = 0; i < ELEMENTS; i++) {
        mine[i] = i;
        memory[2 * i + 1] = -i;
    }
    CHECK_OK(MPI_Win_create(memory, sizeof memory, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD,
                            &win));
    if (rank == 0)
        operate();
    CHECK_OK(MPI_Win_free(&win));
    for (int i = 0; i < ELEMENTS && rank == 1; i++) {
        CHECK_INT(memory[2 * i], i);
        CHECK_INT(memory[2 * i + 1], -i);
    }
    operate_on_pairs();
    CHECK_OK(MPI_Type_free(&every_second));
    counter_close(&copies);
    return end();
}
