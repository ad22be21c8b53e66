/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* What the ranks write through views comes back, byte for byte, in every form of access: at
 * offsets, at own and common pointers, blocking, nonblocking and split, alone and together. */
#include "check.h"



enum { ELEMENTS = 600, BLOCK = 3 };

static char path[256];

/* The element that rank `who` writes at place i of its view. */
static int element(int who, int i)
{
    return who * 100000 + i;
}

/* Opens the file with the view of one rank: every size-th block of BLOCK ints. */
static MPI_File open_strided(void)
{
    MPI_File file;
    MPI_Datatype blocks, filetype;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file));
    MPI_Type_contiguous(BLOCK, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)(BLOCK * sizeof(int)) * size, &filetype);
    MPI_Type_commit(&filetype);
    CHECK_OK(MPI_File_set_view(file, (MPI_Offset)(rank * BLOCK * sizeof(int)), MPI_INT, filetype,
                               "native", MPI_INFO_NULL));
    MPI_Type_free(&blocks);
    MPI_Type_free(&filetype);
    return file;
}

/* Writes ELEMENTS ints of this rank in form `form`. */
static void write_form(MPI_File file, int form, const int *buf)
{
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    switch (form) {
    case 0: CHECK_OK(MPI_File_write_at(file, 0, buf, ELEMENTS, MPI_INT, &status)); break;
    case 1: CHECK_OK(MPI_File_write_at_all(file, 0, buf, ELEMENTS, MPI_INT, &status)); break;
    case 2: CHECK_OK(MPI_File_write(file, buf, ELEMENTS, MPI_INT, &status)); break;
    case 3: CHECK_OK(MPI_File_write_all(file, buf, ELEMENTS, MPI_INT, &status)); break;
    case 4:
        CHECK_OK(MPI_File_iwrite_at(file, 0, buf, ELEMENTS, MPI_INT, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    case 5:
        CHECK_OK(MPI_File_iwrite_all(file, buf, ELEMENTS, MPI_INT, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    default:
        CHECK_OK(MPI_File_write_all_begin(file, buf, ELEMENTS, MPI_INT));
        CHECK_OK(MPI_File_write_all_end(file, buf, &status));
    }
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, ELEMENTS);
}

static void read_form(MPI_File file, int form, int *buf)
{
    MPI_Request request;
    MPI_Status status;
    int count = -1;
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    switch (form) {
    case 0: CHECK_OK(MPI_File_read_at(file, 0, buf, ELEMENTS, MPI_INT, &status)); break;
    case 1: CHECK_OK(MPI_File_read_at_all(file, 0, buf, ELEMENTS, MPI_INT, &status)); break;
    case 2: CHECK_OK(MPI_File_read(file, buf, ELEMENTS, MPI_INT, &status)); break;
    case 3: CHECK_OK(MPI_File_read_all(file, buf, ELEMENTS, MPI_INT, &status)); break;
    case 4:
        CHECK_OK(MPI_File_iread_at(file, 0, buf, ELEMENTS, MPI_INT, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    case 5:
        CHECK_OK(MPI_File_iread_all(file, buf, ELEMENTS, MPI_INT, &request));
        CHECK_OK(MPI_Wait(&request, &status));
        break;
    default:
        CHECK_OK(MPI_File_read_all_begin(file, buf, ELEMENTS, MPI_INT));
        CHECK_OK(MPI_File_read_all_end(file, buf, &status));
    }
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, ELEMENTS);
}

/* Compares the whole file with what all ranks have written: read by one rank, element by element. */
static void compare_file(void)
{
    FILE *plain = fopen(path, "rb");
    int value = -1;
    CHECK_INT(plain != NULL, 1);
    for (int at = 0; plain && at < ELEMENTS * size; at++) {
        int who = at / BLOCK % size, i = at / (BLOCK * size) * BLOCK + at % BLOCK;
        CHECK_INT((int)fread(&value, sizeof value, 1, plain), 1);
        CHECK_INT(value, element(who, i));
    }
    CHECK_INT(plain ? fgetc(plain) : 0, EOF);
    if (plain)
        fclose(plain);
}

/* All ranks write at the common pointer, in order of ranks and in any order. */
static void common_pointer(void)
{
    MPI_File file;
    MPI_Offset at = -1;
    int value = rank, got = -1, seen = 0;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_get_position_shared(file, &at));
    CHECK_INT((int)at, 2 * size);
    for (int i = 0; i < size; i++) {
        CHECK_OK(MPI_File_read_at(file, i, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        CHECK_INT(got, i);
        CHECK_OK(MPI_File_read_at(file, size + i, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
        seen |= 1 << got;
    }
    CHECK_INT(seen, (1 << size) - 1);
    CHECK_OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read_ordered(file, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(got, rank);
    CHECK_OK(MPI_File_close(&file));
    CHECK_INT(file == MPI_FILE_NULL, 1);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int out[ELEMENTS], in[ELEMENTS];
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_round_trip.%d.data", id);
    for (int i = 0; i < ELEMENTS; i++)
        out[i] = element(rank, i);
    for (int form = 0; form < 7; form++) {
        MPI_File file = open_strided();
        write_form(file, form, out);
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0)
            compare_file();
        memset(in, 0, sizeof in);
        read_form(file, form, in);
        CHECK_INT(memcmp(in, out, sizeof in), 0);
        CHECK_OK(MPI_File_close(&file));
        if (rank == 0)
            CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
        MPI_Barrier(MPI_COMM_WORLD);
    }
    common_pointer();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    return end();
}
