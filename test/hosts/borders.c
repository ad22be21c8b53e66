/* SPDX-License-Identifier: BSD-3-Clause */
/* For files_apart.sh: ranks of hosts that do not see each other's pages. argv: the file, the number
 * of rounds. In each round the file is divided at random bytes; each rank writes every part of the
 * number that is its own, collectively or by itself. After MPI_File_sync every rank reads all of
 * the file, also pages that it has read before, and finds what each rank has written. Then all
 * ranks count up numbers in the file in atomic mode, and none gets lost. */
#include "check.h"

enum { BYTES = 40000, PARTS = 64, COUNTERS = 3 };

static uint64_t numbers = 77;
static unsigned char *wanted, *found;

static int draw(int limit)
{
    return random_below(&numbers, limit);
}

/* The borders of the parts, which all ranks draw alike. Many parts have one byte. */
static void draw_parts(int at[PARTS + 1], int bytes)
{
    at[0] = 0;
    for (int i = 1; i < PARTS; i++)
        at[i] = at[i - 1] + (draw(3) ? 1 + draw(2 * (bytes / PARTS)) : 1);
    for (int i = 1; i < PARTS; i++)
        if (at[i] > bytes)
            at[i] = bytes;
    at[PARTS] = bytes;
}

/* Writes the parts of this rank: in one call of all ranks, or each by itself. */
static void write_parts(MPI_File file, const int at[PARTS + 1], const int owner[PARTS], int together)
{
    int lengths[PARTS], places[PARTS], count = 0;
    for (int i = 0; i < PARTS; i++)
        if (owner[i] == rank && at[i + 1] > at[i]) {
            lengths[count] = at[i + 1] - at[i];
            places[count++] = at[i];
            if (!together)
                CHECK_OK(MPI_File_write_at(file, at[i], wanted + at[i], at[i + 1] - at[i], MPI_BYTE,
                                           MPI_STATUS_IGNORE));
        }
    if (!together)
        return;
    MPI_Datatype mine;
    CHECK_OK(MPI_Type_indexed(count, lengths, places, MPI_BYTE, &mine));
    CHECK_OK(MPI_Type_commit(&mine));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, mine, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(file, 0, wanted, 1, mine, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Type_free(&mine);
}

/* The file grows from round to round. */
static void one_round(MPI_File file, int round, int rounds)
{
    int at[PARTS + 1], owner[PARTS], bytes = BYTES / 2 + BYTES / 2 * (round + 1) / rounds;
    MPI_Offset size_found = -1;
    draw_parts(at, bytes);
    for (int i = 0; i < PARTS; i++) {
        owner[i] = draw(size);
        int value = draw(256);
        memset(wanted + at[i], value, (size_t)(at[i + 1] - at[i]));
    }
    write_parts(file, at, owner, draw(2));
    CHECK_OK(MPI_File_sync(file));
    CHECK_OK(MPI_File_get_size(file, &size_found));
    CHECK_INT(size_found, bytes);
    memset(found, 0, BYTES);
    if (draw(2))
        CHECK_OK(MPI_File_read_at(file, 0, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    else
        CHECK_OK(MPI_File_read_at_all(file, 0, found, bytes, MPI_BYTE, MPI_STATUS_IGNORE));
    CHECK_BYTES(found, wanted, (size_t)bytes);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Each rank adds 1 to each counter: reads it until it is this rank's turn, then writes. Only the
 * order of accesses is atomic, so the turn is the counter itself. */
static void count_up(MPI_File file, int rounds)
{
    CHECK_OK(MPI_File_set_atomicity(file, 1));
    for (int i = 0; i < COUNTERS; i++) {
        MPI_Offset place = 1000 + 4091 * i;
        int value = 0;
        if (rank == 0)
            CHECK_OK(MPI_File_write_at(file, place, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(MPI_COMM_WORLD);
        for (int turn = 0; turn < rounds; turn++) {
            do
                CHECK_OK(MPI_File_read_at(file, place, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
            while (value != turn * size + rank);
            value++;
            CHECK_OK(MPI_File_write_at(file, place, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        CHECK_OK(MPI_File_read_at(file, place, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_INT(value, rounds * size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    MPI_File file;
    start(&argc, &argv);
    int rounds = atoi(argv[2]);
    wanted = allocate(BYTES);
    found = allocate(BYTES);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, argv[1],
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &file));
    for (int i = 0; i < rounds; i++)
        one_round(file, i, rounds);
    count_up(file, 4);
    CHECK_OK(MPI_File_close(&file));
    free(wanted);
    free(found);
    return end();
}
