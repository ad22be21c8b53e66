/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4 */
/* Every error of a call that all ranks make comes back on all of them, with the same class, also if
 * one rank alone has found it, and none of them hangs. The file can be used afterwards. */
#include "check.h"

static char path[256];
static int buf[64];

static MPI_File open_mode(int amode)
{
    MPI_File file = MPI_FILE_NULL;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file));
    return file;
}

/* ---- opening ---- */

static void opening(void)
{
    MPI_File file = MPI_FILE_NULL;
    const int amodes[2] = {MPI_MODE_RDWR | MPI_MODE_CREATE,
                           MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_DELETE_ON_CLOSE};
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL);
    if (size > 1)
        CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, amodes[rank == size - 1], MPI_INFO_NULL,
                                  &file),
                    MPI_ERR_NOT_SAME);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/dev", MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_BAD_FILE);
    file = open_mode(MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL);
    CHECK_OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path,
                              MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                              &file),
                MPI_ERR_FILE_EXISTS);
    /* only one rank has a wrong mode */
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, rank == size - 1 ? 0 : MPI_MODE_RDWR,
                              MPI_INFO_NULL, &file),
                MPI_ERR_AMODE);
}

/* MPI_Error_string says what happened to which file, on all ranks. */
static void texts(void)
{
    MPI_File file = MPI_FILE_NULL;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "no such/file", MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_OK(MPI_Error_string(MPI_ERR_NO_SUCH_FILE, text, &length));
    CHECK_INT(strlen(text), length);
    CHECK(strncmp(text, "MPI_ERR_NO_SUCH_FILE: ", 22) == 0);
    CHECK(strstr(text, "cannot open \"no such/file\" on host ") != NULL);
    CHECK(strstr(text, "(errno 2)") != NULL);
    CHECK((strstr(text, "rank 0: ") != NULL) == (rank > 0));
    CHECK_OK(MPI_Error_string(MPI_ERR_AMODE, text, &length));
    CHECK(strstr(text, "no such/file") == NULL);
}

/* ---- reading and writing where it is not allowed ---- */

/* Calls every procedure that reads, or every one that writes; expects the same class of all. */
static void read_all_forms(MPI_File f, int own, int common)
{
    MPI_Request q;
    MPI_Status *st = MPI_STATUS_IGNORE;
    CHECK_CLASS(MPI_File_read_at(f, 0, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_read_at_all(f, 0, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_read(f, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_read_all(f, buf, 1, MPI_INT, st), own);
    int late = MPI_File_iread_at(f, 0, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iread(f, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iread_at_all(f, 0, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iread_all(f, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    /* where the mode forbids it, nothing begins */
    CHECK_CLASS(MPI_File_read_at_all_begin(f, 0, buf, 1, MPI_INT), own);
    CHECK_CLASS(MPI_File_read_at_all_end(f, buf, st), own ? MPI_ERR_OTHER : MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_all_begin(f, buf, 1, MPI_INT), own);
    CHECK_CLASS(MPI_File_read_all_end(f, buf, st), own ? MPI_ERR_OTHER : MPI_SUCCESS);
    CHECK_CLASS(MPI_File_read_shared(f, buf, 1, MPI_INT, st), common);
    CHECK_CLASS(MPI_File_read_ordered(f, buf, 1, MPI_INT, st), common);
    if (common) {
        late = MPI_File_iread_shared(f, buf, 1, MPI_INT, &q);
        CHECK_CLASS(late ? late : MPI_Wait(&q, st), common);
        late = MPI_File_read_ordered_begin(f, buf, 1, MPI_INT);
        CHECK_CLASS(late ? late : MPI_File_read_ordered_end(f, buf, st), common);
    }
}

static void write_all_forms(MPI_File f, int own, int common)
{
    MPI_Request q;
    MPI_Status *st = MPI_STATUS_IGNORE;
    CHECK_CLASS(MPI_File_write_at(f, 0, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_write_at_all(f, 0, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_write(f, buf, 1, MPI_INT, st), own);
    CHECK_CLASS(MPI_File_write_all(f, buf, 1, MPI_INT, st), own);
    int late = MPI_File_iwrite_at(f, 0, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iwrite(f, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iwrite_at_all(f, 0, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_iwrite_all(f, buf, 1, MPI_INT, &q);
    CHECK_CLASS(late ? late : MPI_Wait(&q, st), own);
    late = MPI_File_write_at_all_begin(f, 0, buf, 1, MPI_INT);
    CHECK_CLASS(late ? late : MPI_File_write_at_all_end(f, buf, st), own);
    late = MPI_File_write_all_begin(f, buf, 1, MPI_INT);
    CHECK_CLASS(late ? late : MPI_File_write_all_end(f, buf, st), own);
    CHECK_CLASS(MPI_File_write_shared(f, buf, 1, MPI_INT, st), common);
    CHECK_CLASS(MPI_File_write_ordered(f, buf, 1, MPI_INT, st), common);
    if (common) {
        late = MPI_File_iwrite_shared(f, buf, 1, MPI_INT, &q);
        CHECK_CLASS(late ? late : MPI_Wait(&q, st), common);
        late = MPI_File_write_ordered_begin(f, buf, 1, MPI_INT);
        CHECK_CLASS(late ? late : MPI_File_write_ordered_end(f, buf, st), common);
    }
}

static void modes(void)
{
    MPI_Offset at;
    MPI_File file = open_mode(MPI_MODE_RDONLY);
    write_all_forms(file, MPI_ERR_READ_ONLY, MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_set_size(file, 10), MPI_ERR_READ_ONLY);
    CHECK_CLASS(MPI_File_preallocate(file, 10), MPI_ERR_READ_ONLY);
    read_all_forms(file, MPI_SUCCESS, MPI_SUCCESS);
    CHECK_OK(MPI_File_close(&file));

    file = open_mode(MPI_MODE_WRONLY);
    read_all_forms(file, MPI_ERR_ACCESS, MPI_ERR_ACCESS);
    CHECK_OK(MPI_File_close(&file));

    file = open_mode(MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL);
    write_all_forms(file, MPI_ERR_UNSUPPORTED_OPERATION, MPI_SUCCESS);
    CHECK_CLASS(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_seek_shared(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_position_shared(file, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_CLASS(MPI_File_get_byte_offset(file, 0, &at), MPI_ERR_UNSUPPORTED_OPERATION);
    CHECK_OK(MPI_File_close(&file));
    file = open_mode(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL);
    read_all_forms(file, MPI_ERR_UNSUPPORTED_OPERATION, MPI_SUCCESS);
    CHECK_OK(MPI_File_close(&file));
}

/* /dev/full has no space for anything. */
static void no_space(void)
{
    MPI_File file;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &file));
    write_all_forms(file, MPI_ERR_NO_SPACE, MPI_ERR_NO_SPACE);
    CHECK_OK(MPI_File_close(&file));
}

/* ---- what one rank alone does wrong ---- */

static void one_rank(void)
{
    MPI_File file = open_mode(MPI_MODE_RDWR);
    int last = rank == size - 1, differs = size > 1;
    CHECK_CLASS(MPI_File_write_at_all(file, last ? -1 : 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_at_all(file, last ? -1 : 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, last ? "nobody" : "native",
                                  MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    if (differs) {
        CHECK_CLASS(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_preallocate(file, rank), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_atomicity(file, last), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_seek_shared(file, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
        CHECK_CLASS(MPI_File_set_view(file, 0, last ? MPI_SHORT : MPI_INT,
                                      last ? MPI_SHORT : MPI_INT, "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
    }
    /* the count makes no whole etypes */
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at_all(file, 0, buf, last ? 3 : 4, MPI_BYTE, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    /* a view that shows nothing, and one whose blocks overlap */
    MPI_Datatype empty, overlap;
    CHECK_OK(MPI_Type_contiguous(0, MPI_CHAR, &empty));
    CHECK_OK(MPI_Type_commit(&empty));
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){4, 4}, (MPI_Aint[]){0, 2}, MPI_CHAR, &overlap));
    CHECK_OK(MPI_Type_commit(&overlap));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_CHAR, last ? empty : MPI_CHAR, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_all(file, buf, last ? 0 : 4, MPI_CHAR, MPI_STATUS_IGNORE));
    CHECK_CLASS(MPI_File_write_all(file, buf, 4, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_read_all(file, buf, 4, MPI_CHAR, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_CHAR, overlap, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_free(&empty));
    CHECK_OK(MPI_Type_free(&overlap));
    CHECK_OK(MPI_File_close(&file));
}

/* ---- types that name bytes twice ---- */

static void view_of(MPI_File file, MPI_Datatype etype, MPI_Datatype filetype, int expected)
{
    CHECK_CLASS(MPI_File_set_view(file, 0, etype, filetype, "native", MPI_INFO_NULL), expected);
}

/* Such a type may be the etype or the filetype of a file that is only read. */
static void bytes_twice(void)
{
    const int amodes[3] = {MPI_MODE_RDONLY, MPI_MODE_WRONLY, MPI_MODE_RDWR};
    MPI_Datatype twice, half, apart;
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 0}, MPI_INT, &twice));
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 2}, MPI_INT, &half));
    CHECK_OK(MPI_Type_create_hindexed(2, (int[]){1, 1}, (MPI_Aint[]){0, 8}, MPI_INT, &apart));
    CHECK_OK(MPI_Type_commit(&twice));
    CHECK_OK(MPI_Type_commit(&half));
    CHECK_OK(MPI_Type_commit(&apart));
    for (int i = 0; i < 3; i++) {
        MPI_File file = open_mode(amodes[i]);
        int class = amodes[i] == MPI_MODE_RDONLY ? MPI_SUCCESS : MPI_ERR_ARG;
        view_of(file, twice, twice, class);
        view_of(file, half, half, class);
        view_of(file, half, apart, class); /* the etype alone */
        view_of(file, MPI_INT, twice, class);
        view_of(file, apart, apart, MPI_SUCCESS);
        view_of(file, MPI_INT, apart, MPI_SUCCESS);
        CHECK_OK(MPI_File_close(&file));
    }
    CHECK_OK(MPI_Type_free(&twice));
    CHECK_OK(MPI_Type_free(&half));
    CHECK_OK(MPI_Type_free(&apart));
}

/* ---- split collectives ---- */

static void split(void)
{
    MPI_File file = open_mode(MPI_MODE_RDWR);
    MPI_Status *st = MPI_STATUS_IGNORE;
    CHECK_OK(MPI_File_write_all_begin(file, buf, 1, MPI_INT));
    CHECK_CLASS(MPI_File_read_all_begin(file, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_read_at_all_begin(file, 0, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_at_all_begin(file, 0, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_all_begin(file, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_read_ordered_begin(file, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_ordered_begin(file, buf, 1, MPI_INT), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_write_at_all_end(file, buf, st), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_read_all_end(file, buf, st), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_close(&file), MPI_ERR_OTHER);
    CHECK(file != MPI_FILE_NULL);
    CHECK_OK(MPI_File_write_at(file, 4, buf, 1, MPI_INT, st)); /* what is not collective goes on */
    CHECK_OK(MPI_File_write_all_end(file, buf, st));
    CHECK_OK(MPI_File_close(&file));
}

/* ---- error handlers ---- */

static int calls, code_seen;
static void handle(MPI_File *file, int *code, ...)
{
    (void)file;
    calls++;
    MPI_Error_class(*code, &code_seen);
}

static void handlers(void)
{
    MPI_Errhandler own, got;
    MPI_Request q;
    MPI_File file;
    CHECK_OK(MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    CHECK(got == MPI_ERRORS_RETURN);
    CHECK_OK(MPI_File_create_errhandler(handle, &own));
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, own));
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL,
                              &file),
                MPI_ERR_NO_SUCH_FILE);
    CHECK_INT(calls, 1);
    file = open_mode(MPI_MODE_RDONLY); /* has this handler from the start */
    CHECK_OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    CHECK_CLASS(MPI_File_write_at(file, 0, buf, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    CHECK_INT(calls, 2);
    CHECK_CLASS(MPI_File_iwrite_at_all(file, 0, buf, 1, MPI_INT, &q), MPI_ERR_READ_ONLY);
    CHECK_INT(calls, 3);
    CHECK_INT(code_seen, MPI_ERR_READ_ONLY);
    CHECK_OK(MPI_File_call_errhandler(file, MPI_ERR_QUOTA));
    CHECK_INT(calls, 4);
    CHECK_INT(code_seen, MPI_ERR_QUOTA);
    CHECK_OK(MPI_File_get_errhandler(file, &got));
    CHECK(got == own);
    CHECK_OK(MPI_Errhandler_free(&got));
    CHECK_OK(MPI_Errhandler_free(&own));
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_errors.%d.data", id);
    opening();
    texts();
    modes();
    no_space();
    one_rank();
    bytes_twice();
    split();
    handlers();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
        CHECK_CLASS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    }
    return end();
}
