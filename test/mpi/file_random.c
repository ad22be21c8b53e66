/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; long: 4 6 7 8; args: 40; long-args: 1200; limit: 600 */
/* Random accesses to files against a model: views, positions, datatypes in memory, hints, data
 * representations and forms of access are drawn; the model is an array of bytes in which all
 * accesses of all ranks are done one after the other, byte by byte.
 *
 * All ranks draw the same numbers. A view is a tile of slots, each of one etype; a rank sees some of
 * its slots. What the ranks write does not overlap. What they read may. The second argument is the
 * seed of the first case; a failure names that of its own. */
#include "check.h"

enum { MOST = 8, SLOTS = 48, FORMS = 9, FILE_BYTES = 1 << 18 };

static uint64_t numbers;
static char path[256];
static unsigned char *model;
static int64_t model_bytes; /* size of the file */

static int draw(int limit)
{
    return random_below(&numbers, limit);
}

/* ---- what is drawn ---- */

/* Basic types whose external32 form has the same size; `unit` bytes of it are swapped. */
static const struct basic {
    MPI_Datatype type;
    int bytes, unit;
} basics[] = {{MPI_BYTE, 1, 1}, {MPI_SHORT, 2, 2}, {MPI_INT, 4, 4}, {MPI_DOUBLE, 8, 8},
              {MPI_2INT, 8, 4}};

/* A view of all ranks. */
struct view {
    const struct basic *basic;
    int swapped;      /* external32 */
    int etype_basics; /* basic elements of an etype */
    int etype_bytes;
    int disp, slots;
    int sees[MOST][SLOTS]; /* does the rank see the slot? */
    int visible[MOST];
    int constructor;
};

static void draw_slots(struct view *v, int may_overlap)
{
    int run = 1 + draw(5), owner = 0, pattern_of = draw(4);
    memset(v->sees, 0, sizeof v->sees);
    for (int s = 0; s < v->slots; s++) {
        if (pattern_of == 0 || s % run == 0)
            owner = draw(size + 1) - 1; /* -1: nobody */
        if (pattern_of == 1)
            owner = s / run % size;
        if (pattern_of == 2)
            owner = s * size / v->slots;
        for (int r = 0; r < size; r++)
            v->sees[r][s] = r == owner || (may_overlap && draw(3) == 0);
    }
    for (int r = 0; r < size; r++) {
        v->visible[r] = 0;
        for (int s = 0; s < v->slots; s++)
            v->visible[r] += v->sees[r][s];
    }
}

static struct view draw_view(int may_overlap)
{
    struct view v = {.basic = &basics[draw(5)], .swapped = draw(4) == 0};
    v.etype_basics = 1 + draw(3) * draw(2);
    v.etype_bytes = v.basic->bytes * v.etype_basics;
    v.disp = draw(3) ? draw(200) : 0;
    v.slots = 1 + draw(SLOTS);
    v.constructor = draw(4);
    draw_slots(&v, may_overlap);
    return v;
}

/* What a rank accesses. */
struct access {
    int64_t at;      /* etypes */
    int etypes;
    int blocks, gap; /* in memory: blocks of etypes with gaps of `gap` etypes behind each */
    int length;      /* etypes of a block */
};

static struct access draw_access(const struct view *v, int r, int all)
{
    struct access a = {0};
    int64_t room = (FILE_BYTES - v->disp) / (v->slots * v->etype_bytes) - 1;
    int64_t etypes = room * v->visible[r];
    a.blocks = draw(8) ? 1 + draw(all ? 60 : 12) : 0;
    a.length = 1 + draw(draw(3) ? 4 : 60);
    a.gap = draw(2) ? draw(4) : 0;
    a.at = etypes > 0 ? draw((int)(etypes < 400 ? etypes : 400)) : 0;
    while (a.blocks > 0 && a.at + (int64_t)a.blocks * a.length > etypes)
        a.blocks--;
    a.etypes = a.blocks * a.length;
    return a;
}

/* ---- the model ---- */

/* Returns the offset in the file of byte `b` of what a rank sees. */
static int64_t offset_of(const struct view *v, int r, int64_t b)
{
    int64_t etype = b / v->etype_bytes, tile = etype / v->visible[r];
    int64_t left = etype % v->visible[r];
    int slot = 0;
    for (; !v->sees[r][slot] || left > 0; slot++)
        left -= v->sees[r][slot];
    return v->disp + (tile * v->slots + slot) * v->etype_bytes + b % v->etype_bytes;
}

/* Returns the offset in memory of byte `b` of an access. */
static int64_t memory_of(const struct view *v, const struct access *a, int64_t b)
{
    int64_t block_bytes = (int64_t)a->length * v->etype_bytes;
    int64_t block = b / block_bytes;
    return block * (a->length + a->gap) * v->etype_bytes + b % block_bytes;
}

static int64_t memory_bytes(const struct view *v, const struct access *a)
{
    return (int64_t)a->blocks * (a->length + a->gap) * v->etype_bytes;
}

/* Byte b of an element lies elsewhere in its external32 form. */
static int64_t converted(const struct view *v, int64_t b)
{
    int64_t unit = v->swapped ? v->basic->unit : 1;
    return b / unit * unit + unit - 1 - b % unit;
}

static void model_write(const struct view *v, int r, const struct access *a,
                        const unsigned char *memory)
{
    for (int64_t b = 0; b < (int64_t)a->etypes * v->etype_bytes; b++) {
        int64_t to = offset_of(v, r, (a->at * v->etype_bytes) + converted(v, b));
        model[to] = memory[memory_of(v, a, b)];
        if (to >= model_bytes)
            model_bytes = to + 1;
    }
}

/* Returns the bytes that a read gets: it ends at the end of the file. */
static int64_t model_read(const struct view *v, int r, const struct access *a,
                          unsigned char *memory)
{
    int64_t bytes = (int64_t)a->etypes * v->etype_bytes, begin = a->at * v->etype_bytes, got = 0;
    while (got < bytes && offset_of(v, r, begin + got) < model_bytes)
        got++;
    if (v->swapped) /* whole elements only */
        got -= got % v->basic->bytes;
    for (int64_t b = 0; b < got; b++)
        memory[memory_of(v, a, b)] = model[offset_of(v, r, begin + converted(v, b))];
    return got;
}

/* ---- the library ---- */

static MPI_Datatype make_etype(const struct view *v)
{
    MPI_Datatype etype;
    CHECK_OK(MPI_Type_contiguous(v->etype_basics, v->basic->type, &etype));
    CHECK_OK(MPI_Type_commit(&etype));
    return etype;
}

/* Makes this rank's filetype by one of several constructors. */
static MPI_Datatype make_filetype(const struct view *v, MPI_Datatype etype)
{
    int places[SLOTS], ones[SLOTS], n = 0;
    MPI_Aint displacements[SLOTS];
    MPI_Datatype types[SLOTS], seen, filetype;
    for (int s = 0; s < v->slots; s++) {
        if (!v->sees[rank][s])
            continue;
        places[n] = s;
        ones[n] = 1;
        types[n] = etype;
        displacements[n++] = (MPI_Aint)s * v->etype_bytes;
    }
    switch (v->constructor) {
    case 0: CHECK_OK(MPI_Type_indexed(n, ones, places, etype, &seen)); break;
    case 1: CHECK_OK(MPI_Type_create_indexed_block(n, 1, places, etype, &seen)); break;
    case 2: CHECK_OK(MPI_Type_create_hindexed(n, ones, displacements, etype, &seen)); break;
    default: CHECK_OK(MPI_Type_create_struct(n, ones, displacements, types, &seen));
    }
    CHECK_OK(MPI_Type_create_resized(seen, 0, (MPI_Aint)v->slots * v->etype_bytes, &filetype));
    CHECK_OK(MPI_Type_commit(&filetype));
    MPI_Type_free(&seen);
    return filetype;
}

static MPI_Info draw_info(void)
{
    static const char *const choices[] = {"enable", "disable", "automatic"};
    MPI_Info info;
    char number[16];
    CHECK_OK(MPI_Info_create(&info));
    MPI_Info_set(info, "romio_cb_write", choices[draw(3)]);
    MPI_Info_set(info, "romio_cb_read", choices[draw(3)]);
    MPI_Info_set(info, "romio_ds_read", choices[draw(3)]);
    MPI_Info_set(info, "cb_buffer_size", draw(2) ? "4096" : "65536");
    MPI_Info_set(info, "striping_unit", "4096");
    MPI_Info_set(info, "ind_rd_buffer_size", "4096");
    MPI_Info_set(info, "ind_wr_buffer_size", "4096");
    snprintf(number, sizeof number, "%d", 1 + draw(size));
    MPI_Info_set(info, "cb_nodes", number);
    return info;
}

/* Sets the view, with the file's own etype. */
static void set_view(MPI_File file, const struct view *v)
{
    MPI_Datatype etype = make_etype(v), filetype = make_filetype(v, etype);
    CHECK_OK(MPI_File_set_view(file, v->disp, etype, filetype,
                               v->swapped ? "external32" : "native", MPI_INFO_NULL));
    MPI_Type_free(&etype);
    MPI_Type_free(&filetype);
}

/* Makes the type of the memory. */
static MPI_Datatype make_memory_type(const struct view *v, const struct access *a)
{
    MPI_Datatype etype = make_etype(v), block, type;
    CHECK_OK(MPI_Type_contiguous(a->length, etype, &block));
    CHECK_OK(MPI_Type_create_resized(block, 0, (MPI_Aint)(a->length + a->gap) * v->etype_bytes,
                                     &type));
    CHECK_OK(MPI_Type_commit(&type));
    MPI_Type_free(&etype);
    MPI_Type_free(&block);
    return type;
}

/* The forms 0, 4 and 8 are not collective. */
static int write_form(MPI_File file, int form, int64_t at, void *buf, int count, MPI_Datatype type,
                      MPI_Status *status)
{
    MPI_Request request;
    int code;
    if (form >= 6)
        CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
    switch (form) {
    case 0: return MPI_File_write_at(file, at, buf, count, type, status);
    case 1:
    case 2: return MPI_File_write_at_all(file, at, buf, count, type, status);
    case 3: code = MPI_File_iwrite_at_all(file, at, buf, count, type, &request); break;
    case 4: code = MPI_File_iwrite_at(file, at, buf, count, type, &request); break;
    case 5:
        code = MPI_File_write_at_all_begin(file, at, buf, count, type);
        return code ? code : MPI_File_write_at_all_end(file, buf, status);
    case 6: return MPI_File_write_all(file, buf, count, type, status);
    case 7: code = MPI_File_iwrite_all(file, buf, count, type, &request); break;
    default: return MPI_File_write(file, buf, count, type, status);
    }
    return code ? code : MPI_Wait(&request, status);
}

static int read_form(MPI_File file, int form, int64_t at, void *buf, int count, MPI_Datatype type,
                     MPI_Status *status)
{
    MPI_Request request;
    int code;
    if (form >= 6)
        CHECK_OK(MPI_File_seek(file, at, MPI_SEEK_SET));
    switch (form) {
    case 0: return MPI_File_read_at(file, at, buf, count, type, status);
    case 1:
    case 2: return MPI_File_read_at_all(file, at, buf, count, type, status);
    case 3: code = MPI_File_iread_at_all(file, at, buf, count, type, &request); break;
    case 4: code = MPI_File_iread_at(file, at, buf, count, type, &request); break;
    case 5:
        code = MPI_File_read_at_all_begin(file, at, buf, count, type);
        return code ? code : MPI_File_read_at_all_end(file, buf, status);
    case 6: return MPI_File_read_all(file, buf, count, type, status);
    case 7: code = MPI_File_iread_all(file, buf, count, type, &request); break;
    default: return MPI_File_read(file, buf, count, type, status);
    }
    return code ? code : MPI_Wait(&request, status);
}

/* ---- a case ---- */

/* Begins with a file that has some bytes already. */
static void begin_file(void)
{
    model_bytes = draw(3) ? draw(60000) : 0;
    memset(model, 0, FILE_BYTES);
    fill(model, (size_t)model_bytes, (unsigned)draw(1000));
    if (rank == 0) {
        FILE *plain = fopen(path, "wb");
        CHECK(plain != NULL);
        CHECK_INT(fwrite(model, 1, (size_t)model_bytes, plain), model_bytes);
        fclose(plain);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void compare_file(void)
{
    unsigned char *bytes = allocate(FILE_BYTES);
    FILE *plain = fopen(path, "rb");
    CHECK(plain != NULL);
    CHECK_INT(fread(bytes, 1, FILE_BYTES, plain), model_bytes);
    CHECK_BYTES(bytes, model, (size_t)model_bytes);
    fclose(plain);
    free(bytes);
}

static void check_count(MPI_Status *status, int64_t bytes)
{
    MPI_Count count = -1;
    CHECK_OK(MPI_Get_elements_x(status, MPI_BYTE, &count));
    CHECK_INT(count, bytes);
}

static void write_once(MPI_File file, const struct view *v)
{
    int form = draw(FORMS);
    unsigned seed = (unsigned)draw(1000);
    for (int r = 0; r < size; r++) {
        struct access a = draw_access(v, r, 1);
        unsigned char *memory = allocate((size_t)memory_bytes(v, &a));
        fill(memory, (size_t)memory_bytes(v, &a), seed + (unsigned)r);
        model_write(v, r, &a, memory);
        if (r == rank) {
            MPI_Status status;
            MPI_Datatype type = make_memory_type(v, &a);
            CHECK_OK(write_form(file, form, a.at, memory, a.blocks, type, &status));
            check_count(&status, (int64_t)a.etypes * v->etype_bytes);
            CHECK_FILLED(memory, (size_t)memory_bytes(v, &a), seed + (unsigned)r);
            MPI_Type_free(&type);
        }
        free(memory);
    }
}

static void read_once(MPI_File file, const struct view *v)
{
    int form = draw(FORMS);
    for (int r = 0; r < size; r++) {
        struct access a = draw_access(v, r, 0);
        if (r != rank)
            continue;
        size_t bytes = (size_t)memory_bytes(v, &a);
        unsigned char *memory = allocate(bytes), *expected = allocate(bytes);
        MPI_Status status;
        MPI_Datatype type = make_memory_type(v, &a);
        fill(memory, bytes, 7);
        fill(expected, bytes, 7);
        int64_t got = model_read(v, rank, &a, expected);
        CHECK_OK(read_form(file, form, a.at, memory, a.blocks, type, &status));
        check_count(&status, got);
        /* what lies behind the end of the file may be anything */
        int64_t end = got > 0 ? memory_of(v, &a, got - 1) + 1 : 0;
        CHECK_BYTES(memory, expected, (size_t)end);
        MPI_Type_free(&type);
        free(memory);
        free(expected);
    }
}

static void one_case(void)
{
    MPI_File file;
    MPI_Offset bytes = -1;
    begin_file();
    MPI_Info info = draw_info();
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, info, &file));
    MPI_Info_free(&info);
    if (draw(8) == 0)
        CHECK_OK(MPI_File_set_atomicity(file, 1));
    for (int views = 1 + draw(2); views > 0; views--) {
        struct view v = draw_view(0);
        set_view(file, &v);
        for (int writes = 1 + draw(2); writes > 0; writes--) {
            write_once(file, &v);
            CHECK_OK(MPI_File_sync(file));
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    if (rank == 0)
        compare_file();
    CHECK_OK(MPI_File_get_size(file, &bytes));
    CHECK_INT(bytes, model_bytes);
    for (int views = 1 + draw(2); views > 0; views--) {
        struct view v = draw_view(1);
        set_view(file, &v);
        read_once(file, &v);
        read_once(file, &v);
    }
    CHECK_OK(MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int cases = argument(argc, argv, 100), first = argc > 2 ? atoi(argv[2]) : 1;
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_random.%d.data", id);
    model = allocate(FILE_BYTES);
    for (int i = 0; i < cases; i++) {
        check_seed = first + i;
        numbers = (uint64_t)check_seed * 7919;
        one_case();
    }
    check_seed = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    free(model);
    return end();
}
