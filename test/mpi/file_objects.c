/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 3 */
/* What can be asked of a file and set: size, group, amode, hints, view, pointers; opening at the
 * end, deleting when it is closed, prefixes of file names, handles in Fortran. Views whose filetypes
 * lie between each other. Many requests may be under way. */
#include "check.h"

#include <fcntl.h>
#include <sys/stat.h>

static char path[256];

static int exists(void)
{
    return access(path, F_OK) == 0;
}

static MPI_File open_with(int amode, MPI_Info info)
{
    MPI_File file;
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, amode, info, &file));
    return file;
}

static void asked(void)
{
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR, result = -1, members = -1;
    MPI_File file = open_with(amode, MPI_INFO_NULL);
    MPI_Group group, world;
    MPI_Offset bytes = -1;
    CHECK_OK(MPI_File_get_amode(file, &result));
    CHECK_INT(result, amode);
    CHECK_OK(MPI_File_get_group(file, &group));
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    CHECK_OK(MPI_Group_compare(group, world, &result));
    CHECK_INT(result, MPI_IDENT);
    CHECK_OK(MPI_Group_size(group, &members));
    CHECK_INT(members, size);
    CHECK_OK(MPI_Group_free(&group));
    CHECK_OK(MPI_Group_free(&world));
    CHECK_OK(MPI_File_preallocate(file, 5000));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 5000);
    CHECK_OK(MPI_File_preallocate(file, 100));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 5000);
    CHECK_OK(MPI_File_set_size(file, 77));
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 77);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK_OK(MPI_File_close(&file));
}

static void check_hint(MPI_File file, const char *key, const char *expected)
{
    char value[64] = "";
    int flag = 0;
    MPI_Info info;
    CHECK_OK(MPI_File_get_info(file, &info));
    CHECK_OK(MPI_Info_get(info, key, 63, value, &flag));
    CHECK_OK(MPI_Info_free(&info));
    if (!flag)
        FAIL("no hint %s", key);
    CHECK_STRING(value, expected);
}

static void hints(void)
{
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    MPI_Info_set(info, "cb_buffer_size", "12345");
    MPI_Info_set(info, "cb_nodes", "1");
    MPI_Info_set(info, "romio_cb_write", "disable");
    MPI_Info_set(info, "striping_unit", "nonsense");
    MPI_Info_set(info, "of_somebody_else", "x");
    MPI_File file = open_with(MPI_MODE_RDWR, info);
    check_hint(file, "cb_buffer_size", "12345");
    check_hint(file, "cb_nodes", "1");
    check_hint(file, "romio_cb_write", "disable");
    check_hint(file, "romio_cb_read", "automatic");
    MPI_Info_set(info, "cb_buffer_size", "65536");
    CHECK_OK(MPI_File_set_info(file, info));
    check_hint(file, "cb_buffer_size", "65536");
    CHECK_OK(MPI_File_set_info(file, MPI_INFO_NULL));
    check_hint(file, "cb_buffer_size", "65536");
    CHECK_OK(MPI_Info_free(&info));
    CHECK_OK(MPI_File_close(&file));
}

/* Returns the number of hosts that the ranks are on. */
static int count_hosts(void)
{
    MPI_Comm host;
    int on_host, first, hosts;
    CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host));
    CHECK_OK(MPI_Comm_rank(host, &on_host));
    CHECK_OK(MPI_Comm_free(&host));
    first = on_host == 0;
    CHECK_OK(MPI_Allreduce(&first, &hosts, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    return hosts;
}

/* cb_config_list says how many aggregators a host may have. */
static void config_lists(void)
{
    static const struct {
        const char *list, *told;
        int on_host; /* 0: the list makes no sense */
    } lists[] = {{"*:2", "*:2", 2}, {"*", "*:1", 1}, {"n1:4, n2,*:1", "*:1", 1}, {"*:0", NULL, 0}};
    int hosts = count_hosts();
    for (int i = 0; i < 4; i++) {
        char number[16];
        int wanted = lists[i].on_host ? lists[i].on_host * hosts : hosts > 1 ? hosts : 4;
        MPI_Info info;
        CHECK_OK(MPI_Info_create(&info));
        MPI_Info_set(info, "cb_config_list", lists[i].list);
        MPI_File file = open_with(MPI_MODE_RDWR, info);
        snprintf(number, sizeof number, "%d", wanted < size ? wanted : size);
        check_hint(file, "cb_nodes", number);
        if (lists[i].told)
            check_hint(file, "cb_config_list", lists[i].told);
        check_hint(file, "romio_ds_write", "disable");
        check_hint(file, "romio_no_indep_rw", "false");
        CHECK_OK(MPI_Info_free(&info));
        CHECK_OK(MPI_File_close(&file));
    }
}

static void views(void)
{
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Datatype etype, filetype, made;
    MPI_Offset disp = -1, at = -1;
    int integers, addresses, types, combiner;
    MPI_File file = open_with(MPI_MODE_RDWR, MPI_INFO_NULL);
    CHECK_OK(MPI_File_get_view(file, &disp, &etype, &filetype, name));
    CHECK_INT(disp, 0);
    CHECK(etype == MPI_BYTE && filetype == MPI_BYTE);
    CHECK_STRING(name, "native");
    CHECK_OK(MPI_Type_vector(2, 1, 3, MPI_INT, &made));
    CHECK_OK(MPI_Type_commit(&made));
    CHECK_OK(MPI_File_set_view(file, 10, MPI_INT, made, "internal", MPI_INFO_NULL));
    CHECK_OK(MPI_Type_free(&made));
    CHECK_OK(MPI_File_get_view(file, &disp, &etype, &filetype, name));
    CHECK_INT(disp, 10);
    CHECK(etype == MPI_INT && filetype != MPI_INT);
    CHECK_STRING(name, "internal");
    CHECK_OK(MPI_Type_get_envelope(filetype, &integers, &addresses, &types, &combiner));
    CHECK(combiner == MPI_COMBINER_DUP || combiner == MPI_COMBINER_VECTOR);
    CHECK_OK(MPI_Type_free(&filetype));
    CHECK_OK(MPI_File_get_byte_offset(file, 3, &at)); /* extent of made: 16 bytes */
    CHECK_INT(at, 10 + 16 + 12);
    CHECK_OK(MPI_File_seek(file, 4, MPI_SEEK_SET));
    CHECK_OK(MPI_File_seek(file, 3, MPI_SEEK_CUR));
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 7);
    CHECK_CLASS(MPI_File_seek(file, -8, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 7);
    CHECK_OK(MPI_File_close(&file));
}

static void append(void)
{
    MPI_Offset at = -1;
    MPI_File file = open_with(MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_INFO_NULL);
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 77);
    CHECK_OK(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, 77);
    CHECK_OK(MPI_File_close(&file));
}

static void prefixes(void)
{
    char named[300];
    MPI_File file;
    snprintf(named, sizeof named, "ufs:%s", path);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, named, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    CHECK_OK(MPI_File_close(&file));
    snprintf(named, sizeof named, "none:%s", path); /* no known prefix: a name like others */
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, named, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                MPI_ERR_NO_SUCH_FILE);
}

/* A matrix of all ranks is read and written column by column: repetitions of the filetype lie
 * between each other. Then a filetype whose data reach further than its extent, as PnetCDF makes. */
static void columns(void)
{
    enum { N = 128 };
    static int matrix[N][N], column[N][N], got[N][N];
    MPI_Datatype vector, filetype;
    MPI_Status status;
    int count = -1, part = N / size, first = rank * part;
    MPI_File file = open_with(MPI_MODE_RDWR, MPI_INFO_NULL);
    CHECK_OK(MPI_File_set_size(file, 0));
    CHECK_OK(MPI_Type_vector(N, 1, N, MPI_INT, &vector));
    CHECK_OK(MPI_Type_create_resized(vector, 0, sizeof(int), &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            matrix[i][j] = i * N + j;
    for (int j = 0; j < part; j++)
        for (int i = 0; i < N; i++)
            column[j][i] = matrix[i][first + j];
    CHECK_OK(MPI_File_set_view(file, (MPI_Offset)(first * (int)sizeof(int)), MPI_INT, filetype,
                               "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_all(file, column, part * N, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, part * N);
    CHECK_OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_read_at_all(file, 0, got, part * N, MPI_INT, &status));
    CHECK_BYTES(got, column, (size_t)part * N * sizeof(int));
    CHECK_OK(MPI_Type_free(&filetype));

    int lengths[2] = {600, 1};
    MPI_Aint places[2] = {0, (MPI_Aint)(1000 + first) * (MPI_Aint)sizeof(int)};
    MPI_Datatype types[2] = {MPI_INT, vector}, far;
    CHECK_OK(MPI_Type_create_struct(2, lengths, places, types, &far));
    CHECK_OK(MPI_Type_create_resized(far, 0, 3000, &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, filetype, "native", MPI_INFO_NULL));
    memset(got, 0, sizeof got);
    CHECK_OK(MPI_File_read_at_all(file, 600, got, N - 8, MPI_INT, MPI_STATUS_IGNORE));
    for (int i = 0; i < N - 8; i++)
        CHECK_INT(got[0][i], 1000 + first + i * N);
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Type_free(&vector));
    CHECK_OK(MPI_Type_free(&far));
    CHECK_OK(MPI_Type_free(&filetype));
}

/* Many requests are under way at once, of two files, some together. */
static void many_requests(void)
{
    enum { MANY = 200 };
    static int out[MANY], in[MANY];
    MPI_Request requests[MANY];
    MPI_File file = open_with(MPI_MODE_RDWR, MPI_INFO_NULL);
    MPI_File other;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, MPI_INFO_NULL, &other));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_set_view(other, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < MANY; i++) {
        out[i] = rank * MANY + i;
        if (i % 3)
            CHECK_OK(MPI_File_iwrite_at(other, out[i], &out[i], 1, MPI_INT, &requests[i]));
        else
            CHECK_OK(MPI_File_iwrite_at_all(file, out[i], &out[i], 1, MPI_INT, &requests[i]));
    }
    CHECK_OK(MPI_Waitall(MANY, requests, MPI_STATUSES_IGNORE));
    CHECK_OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    int who = (rank + 1) % size;
    for (int i = 0; i < MANY; i++)
        CHECK_OK(MPI_File_iread_at(file, who * MANY + i, &in[i], 1, MPI_INT, &requests[i]));
    for (int flag = 0; !flag;)
        CHECK_OK(MPI_Testall(MANY, requests, &flag, MPI_STATUSES_IGNORE));
    for (int i = 0; i < MANY; i++)
        CHECK_INT(in[i], who * MANY + i);
    CHECK_OK(MPI_File_close(&other));
    CHECK_OK(MPI_File_close(&file));
}

/* A file with a relative name is deleted where it was opened, also from another folder. */
static void delete_elsewhere(void)
{
    char folder[300], home[1024];
    CHECK(getcwd(home, sizeof home) != NULL);
    snprintf(folder, sizeof folder, "%s.d", path);
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL);
    if (rank == 0)
        CHECK(mkdir(folder, 0700) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(chdir(folder) == 0);
    if (rank == 0)
        CHECK(close(creat(path, 0600)) == 0); /* has the same name in the other folder, and must stay */
    CHECK_OK(MPI_File_close(&file));
    CHECK(exists());
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(unlink(path) == 0);
    CHECK(chdir(home) == 0);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK(rmdir(folder) == 0);
    CHECK(!exists());
}

/* The own pointer moves by what was asked for, not by what a read has found. */
static void short_reads(void)
{
    int buf[10] = {0}, count = -1;
    MPI_Offset at = -1;
    MPI_Status status;
    MPI_Request request;
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at_all(file, 0, buf, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read(file, buf, 10, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 4);
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 10);
    CHECK_OK(MPI_File_seek(file, 1, MPI_SEEK_SET));
    CHECK_OK(MPI_File_iread(file, buf, 10, MPI_INT, &request));
    CHECK_OK(MPI_Wait(&request, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 3);
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 11);
    CHECK_OK(MPI_File_read_all_begin(file, buf, 10, MPI_INT));
    CHECK_OK(MPI_File_read_all_end(file, buf, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 0);
    CHECK_OK(MPI_File_get_position(file, &at));
    CHECK_INT(at, 21);
    CHECK_OK(MPI_File_close(&file));
}

/* Accesses that would end behind byte 2^63 - 1 are refused; no pointer moves, or passes 2^63. */
static void far_away(void)
{
    enum { BYTES = sizeof(int) };
    const MPI_Offset last = INT64_MAX / BYTES;
    MPI_Offset at = -1, wrong_at = -1;
    MPI_Datatype sparse;
    int buf[4] = {0};
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL);
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 3; i++) {
        CHECK_OK(MPI_File_seek(file, last - 1, MPI_SEEK_SET));
        CHECK_CLASS(MPI_File_write(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_write_all(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        CHECK_CLASS(MPI_File_read_at(file, last, buf, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
        CHECK_OK(MPI_File_get_position(file, &at));
        CHECK_INT(at, last - 1);
    }
    CHECK_CLASS(MPI_File_seek(file, INT64_MAX, MPI_SEEK_CUR), MPI_ERR_ARG);
    CHECK_OK(MPI_File_seek_shared(file, last - 1, MPI_SEEK_SET));
    CHECK_CLASS(MPI_File_write_shared(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_write_ordered(file, buf, 4, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_position_shared(file, &at));
    CHECK_INT(at, last - 1);
    MPI_Barrier(MPI_COMM_WORLD);
    /* the displacement and the gaps of a view count as well */
    CHECK_OK(MPI_File_set_view(file, INT64_MAX - 7, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at_all(file, 1, buf, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, 1 << 30, &sparse));
    CHECK_OK(MPI_Type_commit(&sparse));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, sparse, "native", MPI_INFO_NULL));
    CHECK_CLASS(MPI_File_write_at_all(file, 1LL << 33, buf, 1, MPI_INT, MPI_STATUS_IGNORE),
                MPI_ERR_ARG);
    CHECK_OK(MPI_File_get_byte_offset(file, (1LL << 33) - 1, &wrong_at));
    CHECK_CLASS(MPI_File_get_byte_offset(file, 1LL << 33, &wrong_at), MPI_ERR_ARG);
    CHECK_OK(MPI_Type_free(&sparse));
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_objects.%d.data", id);
    asked();
    hints();
    config_lists();
    views();
    append();
    prefixes();
    columns();
    many_requests();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    MPI_Barrier(MPI_COMM_WORLD);
    delete_elsewhere();
    short_reads();
    far_away();
    MPI_File file = open_with(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                              MPI_INFO_NULL);
    CHECK(exists());
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_close(&file));
    CHECK(!exists());
    return end();
}
