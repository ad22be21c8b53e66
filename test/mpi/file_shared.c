/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; long: 8; args: 60; long-args: 1000 */
/* The common pointer: records of several sizes never overlap and leave no gap, ordered accesses are
 * in the order of ranks, in all forms. Then atomic mode: what all ranks write to the same bytes is
 * whole, that of one of them. file_shared_by_messages.c does the same over two nodes. */
#include "check.h"

enum { MOST_RECORD = 40, ATOMIC_INTS = 3000 };

static char path[256];
static uint64_t numbers;

static int draw(int limit)
{
    return random_below(&numbers, limit);
}

static MPI_File open_ints(void)
{
    MPI_File file;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file));
    CHECK_OK(MPI_File_set_size(file, 0));
    CHECK_OK(MPI_File_set_view(file, 8, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    return file;
}

/* A record begins with its rank, number and length; then comes a pattern. */
static void make_record(int *record, int who, int number, int length)
{
    for (int i = 0; i < length; i++)
        record[i] = i == 0 ? who : i == 1 ? number : i == 2 ? length : who * 1000 + number + i;
}

/* Every rank writes `records` records at the common pointer; a reader finds each of them once. */
static void shared_records(MPI_File file, int records)
{
    int record[MOST_RECORD], total = 0, *seen = allocate((size_t)(records * size) * sizeof *seen);
    for (int i = 0; i < records; i++) {
        MPI_Request q;
        MPI_Status status;
        int length = 3 + (rank * 7 + i * 11) % (MOST_RECORD - 3), count = -1;
        make_record(record, rank, i, length);
        if (i % 2) {
            CHECK_OK(MPI_File_iwrite_shared(file, record, length, MPI_INT, &q));
            CHECK_OK(MPI_Wait(&q, &status));
        } else {
            CHECK_OK(MPI_File_write_shared(file, record, length, MPI_INT, &status));
        }
        CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
        CHECK_INT(count, length);
        total += length;
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    MPI_Offset at = -1;
    CHECK_OK(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, total);
    for (int place = 0; place < total;) {
        int head[3], expected[MOST_RECORD];
        CHECK_OK(MPI_File_read_at(file, place, head, 3, MPI_INT, MPI_STATUS_IGNORE));
        CHECK(head[0] >= 0 && head[0] < size && head[1] >= 0 && head[1] < records);
        CHECK(head[2] >= 3 && head[2] <= MOST_RECORD);
        CHECK_OK(MPI_File_read_at(file, place, record, head[2], MPI_INT, MPI_STATUS_IGNORE));
        make_record(expected, head[0], head[1], head[2]);
        CHECK_BYTES(record, expected, (size_t)head[2] * sizeof(int));
        CHECK_INT(seen[head[0] * records + head[1]]++, 0);
        place += head[2];
    }
    free(seen);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void write_ordered(MPI_File file, int form, const int *data, int count)
{
    if (form) {
        CHECK_OK(MPI_File_write_ordered_begin(file, data, count, MPI_INT));
        CHECK_OK(MPI_File_write_ordered_end(file, data, MPI_STATUS_IGNORE));
    } else {
        CHECK_OK(MPI_File_write_ordered(file, data, count, MPI_INT, MPI_STATUS_IGNORE));
    }
}

static void read_ordered(MPI_File file, int form, int *data, int count)
{
    MPI_Status status;
    int got = -1;
    if (form) {
        CHECK_OK(MPI_File_read_ordered_begin(file, data, count, MPI_INT));
        CHECK_OK(MPI_File_read_ordered_end(file, data, &status));
    } else {
        CHECK_OK(MPI_File_read_ordered(file, data, count, MPI_INT, &status));
    }
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &got));
    CHECK_INT(got, count);
}

/* Ordered writes of random lengths, some empty, behind what is there; read back ordered. */
static void ordered(MPI_File file, int rounds)
{
    enum { MOST = 8 };
    int lengths[MOST], data[MOST_RECORD], got[MOST_RECORD];
    uint64_t begin = numbers;
    for (int pass = 0; pass < 2; pass++) {
        numbers = begin;
        CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        for (int i = 0; i < rounds; i++) {
            for (int r = 0; r < size; r++)
                lengths[r] = draw(4) ? draw(MOST_RECORD) : 0;
            for (int k = 0; k < lengths[rank]; k++)
                data[k] = rank * 100000 + i * 100 + k;
            if (pass == 0) {
                write_ordered(file, i % 2, data, lengths[rank]);
            } else {
                read_ordered(file, i % 3 == 0, got, lengths[rank]);
                CHECK_BYTES(got, data, (size_t)lengths[rank] * sizeof(int));
            }
        }
    }
    MPI_Offset at = -1, end = -1;
    CHECK_OK(MPI_File_get_position_shared(file, &at));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_seek_shared(file, -1, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position_shared(file, &end));
    CHECK_INT(end, at - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_END));
    CHECK_OK(MPI_File_get_position_shared(file, &end));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank's own pointer is its own. */
static void reading_shared(MPI_File file, int records)
{
    int value = -1, sum = 0, taken = 0;
    for (int i = 0; rank == 0 && i < records * size; i++)
        CHECK_OK(MPI_File_write_at(file, i, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int i = 0; i < records; i++, taken++) {
        MPI_Request q;
        CHECK_OK(MPI_File_iread_shared(file, &value, 1, MPI_INT, &q));
        CHECK_OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
        sum += value;
    }
    CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_INT(sum, records * size * (records * size - 1) / 2);
}

/* All ranks write the same bytes, in many runs, and read them meanwhile. */
static void atomic(MPI_File file, int rounds)
{
    static int data[ATOMIC_INTS], got[ATOMIC_INTS];
    MPI_Datatype gaps;
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &gaps));
    CHECK_OK(MPI_Type_commit(&gaps));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, gaps, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&gaps));
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    int flag = 0;
    CHECK_OK(MPI_File_get_atomicity(file, &flag));
    CHECK(flag);
    memset(data, 0, sizeof data);
    CHECK_OK(MPI_File_write_at_all(file, 0, data, ATOMIC_INTS, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < rounds; i++) {
        for (int k = 0; k < ATOMIC_INTS; k++)
            data[k] = i * size + rank + 1;
        CHECK_OK(MPI_File_write_at(file, 0, data, ATOMIC_INTS, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_OK(MPI_File_read_at(file, 0, got, ATOMIC_INTS, MPI_INT, MPI_STATUS_IGNORE));
        for (int k = 1; k < ATOMIC_INTS; k++)
            CHECK_INT(got[k], got[0]);
    }
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int rounds = argument(argc, argv, 60), id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_shared.%d.data", id);
    numbers = 12345;
    MPI_File file = open_ints();
    shared_records(file, rounds);
    CHECK_OK(MPI_File_close(&file));
    file = open_ints();
    ordered(file, rounds);
    reading_shared(file, rounds);
    atomic(file, rounds / 10 + 3);
    CHECK_OK(MPI_File_close(&file));
    if (rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    return end();
}
