/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2; args: 150; long-args: 3000 */
/* external32: a file holds what MPI_Pack_external makes, for random datatypes, and comes back.
 * Views are laid out with the sizes of the representation. The user's own representation: its
 * functions are called with what they need, and their errors come back. */
#include "random_types.h"

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

static char path[256], form[] = "external32";

static MPI_File open_file(void)
{
    MPI_File file;
    CHECK_OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                           &file));
    CHECK_OK(MPI_File_set_size(file, 0));
    return file;
}

/* ---- external32 ---- */

static unsigned char *read_plain(size_t bytes)
{
    unsigned char *got = allocate(bytes);
    FILE *plain = fopen(path, "rb");
    CHECK(plain != NULL);
    CHECK_INT(fread(got, 1, bytes, plain), bytes);
    CHECK_INT(fgetc(plain), EOF);
    fclose(plain);
    return got;
}

/* What the library writes of a random type is what it packs. Returns 0 if the type's elements overlap
 * in memory so that a long is out of external32's range: then the write is refused. */
static int written_as_packed(MPI_Datatype type, int count)
{
    MPI_Aint lb, extent, bytes, position = 0;
    MPI_Status status;
    MPI_Count size_of_type, told = -1;
    CHECK_OK(MPI_Type_get_true_extent(type, &lb, &extent));
    MPI_Aint low = lb < 0 ? -lb : 0, whole_lb, step;
    CHECK_OK(MPI_Type_get_extent(type, &whole_lb, &step));
    size_t around = (size_t)(low + extent + 3 * (step < 0 ? -step : step) + (lb > 0 ? lb : 0)) + 64;
    unsigned char *memory = allocate(2 * around), *base = memory + around;
    memset(memory, 0, 2 * around);
    CHECK_OK(MPI_Pack_external_size(form, count, type, &bytes));
    char *packed = allocate((size_t)bytes);
    memset(packed, 1, (size_t)bytes); /* all are numbers and truth values, and fit external32 */
    CHECK_OK(MPI_Unpack_external(form, packed, bytes, &position, base, count, type));
    position = 0;
    CHECK_OK(MPI_Pack_external(form, base, count, type, packed, bytes, &position));
    MPI_File file = open_file();
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, form, MPI_INFO_NULL));
    int written = MPI_File_write(file, base, count, type, &status);
    CHECK_OK(MPI_Type_size_x(type, &size_of_type));
    if (written == MPI_SUCCESS) {
        CHECK_OK(MPI_Get_elements_x(&status, MPI_BYTE, &told));
        CHECK_INT(told, size_of_type * count);
    } else {
        CHECK_CLASS(written, MPI_ERR_CONVERSION);
        position = 0;
    }
    CHECK_OK(MPI_File_close(&file));
    unsigned char *got = read_plain((size_t)position);
    CHECK_BYTES(got, packed, (size_t)position);
    free(got);
    free(packed);
    free(memory);
    return written == MPI_SUCCESS;
}

static void random_writes(int cases)
{
    int written = 0;
    make_named();
    for (int i = 0; i < cases; i++) {
        bool derived;
        dice = (uint64_t)i * 1000003 + 77;
        MPI_Datatype type = random_type(1 + i % 4, &derived);
        if (derived)
            CHECK_OK(MPI_Type_commit(&type));
        written += written_as_packed(type, among(0, 3));
        if (derived)
            CHECK_OK(MPI_Type_free(&type));
    }
    CHECK(written >= cases - cases / 10);
}

/* A struct whose longs have 4 bytes in the file: the view has no gaps, an etype has 13 bytes. */
struct record {
    char letter;
    double number;
    long counter;
};

static MPI_Datatype record_type(void)
{
    int ones[3] = {1, 1, 1};
    MPI_Aint places[3] = {0, offsetof(struct record, number), offsetof(struct record, counter)};
    MPI_Datatype types[3] = {MPI_CHAR, MPI_DOUBLE, MPI_LONG}, type;
    CHECK_OK(MPI_Type_create_struct(3, ones, places, types, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

static void records(void)
{
    enum { MANY = 50 };
    struct record out[MANY], in[MANY];
    MPI_Datatype type = record_type();
    MPI_Aint extent = -1;
    MPI_Status status;
    int count = -1;
    memset(out, 0, sizeof out);
    memset(in, 0, sizeof in);
    for (int i = 0; i < MANY; i++)
        out[i] = (struct record){(char)('a' + i % 26), i * 1.5, -i};
    MPI_File file = open_file();
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, form, MPI_INFO_NULL));
    CHECK_OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK_INT(extent, 4);
    CHECK_OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &extent));
    CHECK_INT(extent, 8);
    CHECK_OK(MPI_File_write_at(file, 0, out, MANY, type, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(file, 0, in, MANY, type, &status));
    CHECK_OK(MPI_Get_count(&status, type, &count));
    CHECK_INT(count, MANY);
    for (int i = 0; i < MANY; i++) {
        CHECK_INT(in[i].letter, out[i].letter);
        CHECK_INT(in[i].counter, out[i].counter);
        CHECK(in[i].number == out[i].number);
    }
    MPI_Offset bytes = -1;
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 13 * MANY);
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Type_free(&type));
}

/* The filetype of a view has the sizes of the representation: every second long, of 4 bytes. */
static void strided_view(void)
{
    MPI_Datatype every_second;
    long out[10], in[10] = {0};
    MPI_Offset bytes = -1, at = -1;
    for (int i = 0; i < 10; i++)
        out[i] = i - 5;
    CHECK_OK(MPI_Type_vector(10, 1, 2, MPI_LONG, &every_second));
    CHECK_OK(MPI_Type_commit(&every_second));
    MPI_File file = open_file();
    CHECK_OK(MPI_File_set_view(file, 0, MPI_LONG, every_second, form, MPI_INFO_NULL));
    CHECK_OK(MPI_File_write(file, out, 10, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_get_byte_offset(file, 3, &at));
    CHECK_INT(at, 3 * 8);
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 9 * 8 + 4);
    CHECK_OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    CHECK_OK(MPI_File_read(file, in, 10, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof out);
    CHECK_OK(MPI_File_close(&file));
    CHECK_OK(MPI_Type_free(&every_second));
}

/* ---- the user's ---- */

static int state = 42, fails;

static int extent_fn(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    CHECK(extra == &state);
    *extent = type == MPI_INT ? 3 : 8;
    return MPI_SUCCESS;
}

/* In the file an int has three bytes. */
static int write_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                    void *extra)
{
    CHECK(extra == &state && type == MPI_INT);
    for (int i = 0; i < count; i++)
        memcpy((char *)file + 3 * i, (int *)user + position + i, 3);
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int read_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position,
                   void *extra)
{
    CHECK(extra == &state && type == MPI_INT);
    for (int i = 0; i < count; i++) {
        ((int *)user)[position + i] = 0;
        memcpy((int *)user + position + i, (char *)file + 3 * i, 3);
    }
    return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void users_own(void)
{
    int out[20], in[20] = {0}, count = -1;
    MPI_Offset bytes = -1;
    MPI_Status status;
    for (int i = 0; i < 20; i++)
        out[i] = 70000 * i;
    CHECK_OK(MPI_Register_datarep("three bytes", read_fn, write_fn, extent_fn, &state));
    CHECK_CLASS(MPI_Register_datarep("three bytes", read_fn, write_fn, extent_fn, &state),
                MPI_ERR_DUP_DATAREP);
    MPI_File file = open_file();
    CHECK_OK(MPI_File_set_view(file, 1, MPI_INT, MPI_INT, "three bytes", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(file, 0, out, 20, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 20);
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 61);
    CHECK_OK(MPI_File_read_at(file, 5, in, 20, MPI_INT, &status));
    CHECK_OK(MPI_Get_count(&status, MPI_INT, &count));
    CHECK_INT(count, 15);
    CHECK_BYTES(in, out + 5, 15 * sizeof(int));
    fails = 1;
    CHECK_CLASS(MPI_File_write_at(file, 0, out, 20, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_read_at(file, 0, in, 20, MPI_INT, &status), MPI_ERR_CONVERSION);
    CHECK_OK(MPI_File_close(&file));
}

/* What external32 has no room for is refused, and nothing is written. */
static void overflow(void)
{
    long longs[2] = {-1, INT32_MIN};
    unsigned long unsigneds[2] = {1, UINT32_MAX};
    wchar_t wide[2] = {L'a', 0xffff};
    struct {
        long value;
        int index;
    } pair = {7, 1};
    MPI_Offset bytes = -1;
    MPI_File file = open_file();
    CHECK_OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, form, MPI_INFO_NULL));
    CHECK_OK(MPI_File_write(file, longs, 2, MPI_LONG, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write(file, unsigneds, 2, MPI_UNSIGNED_LONG, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write(file, wide, 2, MPI_WCHAR, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_write(file, &pair, 1, MPI_LONG_INT, MPI_STATUS_IGNORE));
    longs[1] = (long)INT32_MAX + 1;
    unsigneds[1] = 1UL << 32;
    wide[1] = 0x10000;
    pair.value = 1L << 40;
    CHECK_CLASS(MPI_File_write(file, longs, 2, MPI_LONG, MPI_STATUS_IGNORE), MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_write(file, unsigneds, 2, MPI_UNSIGNED_LONG, MPI_STATUS_IGNORE),
                MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_write_all(file, wide, 2, MPI_WCHAR, MPI_STATUS_IGNORE),
                MPI_ERR_CONVERSION);
    CHECK_CLASS(MPI_File_write(file, &pair, 1, MPI_LONG_INT, MPI_STATUS_IGNORE),
                MPI_ERR_CONVERSION);
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, 8 + 8 + 4 + 8);
    CHECK_OK(MPI_File_close(&file));
}

static int native_extent(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    MPI_Aint lb;
    (void)extra;
    return MPI_Type_get_extent(type, &lb, extent);
}

/* A direction without a function is not converted: the file has what memory has. */
static void no_functions(void)
{
    int out[4] = {1, 2, 3, 4}, in[4] = {0};
    MPI_File file = open_file();
    CHECK_CLASS(MPI_Register_datarep("", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                     native_extent, NULL),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "", MPI_INFO_NULL),
                MPI_ERR_UNSUPPORTED_DATAREP);
    CHECK_OK(MPI_Register_datarep("as it is", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL,
                                  native_extent, NULL));
    CHECK_OK(MPI_Register_datarep_c("as it is, large", MPI_CONVERSION_FN_NULL_C,
                                    MPI_CONVERSION_FN_NULL_C, native_extent, NULL));
    CHECK_OK(MPI_Register_datarep("read only", read_fn, MPI_CONVERSION_FN_NULL, extent_fn,
                                  &state));
    CHECK_OK(MPI_File_set_view(file, 4, MPI_INT, MPI_INT, "as it is", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(file, 0, out, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "as it is, large", MPI_INFO_NULL));
    CHECK_OK(MPI_File_read_at_all(file, 1, in, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_BYTES(in, out, sizeof out);
    /* written as 3 ints of 4 bytes, read as 4 ints of 3 bytes */
    fails = 0;
    CHECK_OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "read only", MPI_INFO_NULL));
    CHECK_OK(MPI_File_write_at(file, 0, out, 3, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_File_read_at(file, 0, in, 4, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(in[0], 1);
    CHECK_INT(in[1], 2 << 8);
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    snprintf(path, sizeof path, "file_data_representations.%d.data", (int)getpid());
    random_writes(argument(argc, argv, 100));
    records();
    strided_view();
    users_own();
    overflow();
    no_functions();
    CHECK_OK(MPI_File_delete(path, MPI_INFO_NULL));
    return end();
}
