/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 4; long: 3 8 */
/* One rank alone passes a wrong argument to a call that all ranks of a file make. All ranks get the
 * error, with the same class, and none of them hangs. A nonblocking call or a first half returns it
 * at once at the rank that is wrong; the others get it when they wait. Pointers stay where the call
 * was refused, and the file can be used afterwards. */
#include "check.h"

enum { INTS = 8 };

static char path[256];
static int culprit;
static MPI_Datatype uncommitted;

static int wrong(void)
{
    return rank == culprit;
}

/* ---- the calls ---- */

static const struct form {
    const char *name;
    int at, starts, begins, ordered;
} forms[] = {
    {"write_at_all", .at = 1},
    {"read_at_all", .at = 1},
    {"write_all", .at = 0},
    {"read_all", .at = 0},
    {"write_ordered", .ordered = 1},
    {"read_ordered", .ordered = 1},
    {"iwrite_at_all", .at = 1, .starts = 1},
    {"iread_at_all", .at = 1, .starts = 1},
    {"iwrite_all", .starts = 1},
    {"iread_all", .starts = 1},
    {"write_at_all_begin", .at = 1, .begins = 1},
    {"read_at_all_begin", .at = 1, .begins = 1},
    {"write_all_begin", .begins = 1},
    {"read_all_begin", .begins = 1},
    {"write_ordered_begin", .begins = 1, .ordered = 1},
    {"read_ordered_begin", .begins = 1, .ordered = 1},
};
enum { FORMS = sizeof forms / sizeof *forms };

static int call(int form, MPI_File f, MPI_Offset at, void *buf, int count, MPI_Datatype type,
                MPI_Request *q)
{
    MPI_Status *st = MPI_STATUS_IGNORE;
    switch (form) {
    case 0: return MPI_File_write_at_all(f, at, buf, count, type, st);
    case 1: return MPI_File_read_at_all(f, at, buf, count, type, st);
    case 2: return MPI_File_write_all(f, buf, count, type, st);
    case 3: return MPI_File_read_all(f, buf, count, type, st);
    case 4: return MPI_File_write_ordered(f, buf, count, type, st);
    case 5: return MPI_File_read_ordered(f, buf, count, type, st);
    case 6: return MPI_File_iwrite_at_all(f, at, buf, count, type, q);
    case 7: return MPI_File_iread_at_all(f, at, buf, count, type, q);
    case 8: return MPI_File_iwrite_all(f, buf, count, type, q);
    case 9: return MPI_File_iread_all(f, buf, count, type, q);
    case 10: return MPI_File_write_at_all_begin(f, at, buf, count, type);
    case 11: return MPI_File_read_at_all_begin(f, at, buf, count, type);
    case 12: return MPI_File_write_all_begin(f, buf, count, type);
    case 13: return MPI_File_read_all_begin(f, buf, count, type);
    case 14: return MPI_File_write_ordered_begin(f, buf, count, type);
    default: return MPI_File_read_ordered_begin(f, buf, count, type);
    }
}

static int end_split(int form, MPI_File f, void *buf)
{
    MPI_Status *st = MPI_STATUS_IGNORE;
    switch (form) {
    case 10: return MPI_File_write_at_all_end(f, buf, st);
    case 11: return MPI_File_read_at_all_end(f, buf, st);
    case 12: return MPI_File_write_all_end(f, buf, st);
    case 13: return MPI_File_read_all_end(f, buf, st);
    case 14: return MPI_File_write_ordered_end(f, buf, st);
    default: return MPI_File_read_ordered_end(f, buf, st);
    }
}

/* ---- what can be wrong ---- */

enum fault { NOTHING, COUNT, NO_TYPE, NOT_COMMITTED, NO_BUFFER, NO_WHOLE_ETYPE, OFFSET, REQUEST,
             FAULTS };

static const int classes[FAULTS] = {MPI_SUCCESS,    MPI_ERR_COUNT, MPI_ERR_TYPE, MPI_ERR_TYPE,
                                    MPI_ERR_BUFFER, MPI_ERR_ARG,   MPI_ERR_ARG,  MPI_ERR_ARG};

static int possible(int form, enum fault fault)
{
    return fault == OFFSET ? forms[form].at : fault == REQUEST ? forms[form].starts : 1;
}

/* Makes the call, with the fault at the culprit, and checks what all ranks get. */
static void expect(MPI_File f, int form, enum fault fault)
{
    int buf[INTS] = {0}, class = classes[fault];
    MPI_Request request = MPI_REQUEST_NULL, *q = &request;
    MPI_Offset at = (MPI_Offset)rank * INTS;
    MPI_Datatype type = MPI_INT;
    int count = INTS;
    void *memory = buf;
    if (wrong()) {
        switch (fault) {
        case COUNT: count = -1; break;
        case NO_TYPE: type = MPI_DATATYPE_NULL; break;
        case NOT_COMMITTED: type = uncommitted; break;
        case NO_BUFFER: memory = NULL; break;
        case NO_WHOLE_ETYPE: type = MPI_BYTE, count = 3; break;
        case OFFSET: at = -1; break;
        case REQUEST: q = NULL; break;
        default: break;
        }
    }
    int code = call(form, f, at, memory, count, type, q);
    int later = forms[form].starts || forms[form].begins;
    if (later && !wrong()) {
        CHECK_OK(code);
        code = forms[form].starts ? MPI_Wait(q, MPI_STATUS_IGNORE) : end_split(form, f, buf);
    } else if (forms[form].begins && !code) {
        code = end_split(form, f, buf);
    } else if (forms[form].begins) {
        CHECK_CLASS(end_split(form, f, buf), MPI_ERR_OTHER); /* nothing has begun here */
        CHECK(request == MPI_REQUEST_NULL);
    } else if (forms[form].starts && !code) {
        code = MPI_Wait(q, MPI_STATUS_IGNORE);
    }
    CHECK_CLASS(code, class);
}

static void check_text(int class)
{
    char text[MPI_MAX_ERROR_STRING] = "", name[32];
    int length;
    CHECK_OK(MPI_Error_string(class, text, &length));
    snprintf(name, sizeof name, "rank %d: ", culprit);
    CHECK((strstr(text, name) != NULL) == !wrong());
}

/* All faults of all forms, in the view that is set. */
static void all_forms(MPI_File f)
{
    for (int form = 0; form < FORMS; form++)
        for (int fault = COUNT; fault < FAULTS; fault++) {
            MPI_Offset common = -1, own = -1, now = -1;
            if (!possible(form, fault))
                continue;
            CHECK_OK(MPI_File_seek(f, (MPI_Offset)rank * INTS, MPI_SEEK_SET));
            CHECK_OK(MPI_File_get_position(f, &own));
            CHECK_OK(MPI_File_get_position_shared(f, &common));
            MPI_Barrier(MPI_COMM_WORLD);
            expect(f, form, fault);
            check_text(classes[fault]);
            CHECK_OK(MPI_File_get_position(f, &now));
            if (wrong())
                CHECK_INT(now, own);
            CHECK_OK(MPI_File_get_position_shared(f, &now));
            CHECK_INT(now, common);
            expect(f, form, NOTHING);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

/* The rank that is wrong goes on at once, with several operations under way. */
static void several(MPI_File f)
{
    enum { MANY = 12 };
    int out[MANY], in = -1;
    MPI_Request requests[MANY];
    for (int i = 0; i < MANY; i++) {
        int bad = wrong() && i % 3 == 0;
        out[i] = rank * MANY + i;
        requests[i] = MPI_REQUEST_NULL;
        CHECK_CLASS(MPI_File_iwrite_at_all(f, out[i], &out[i], bad ? -1 : 1, MPI_INT, &requests[i]),
                    bad ? MPI_ERR_COUNT : MPI_SUCCESS);
    }
    for (int i = 0; i < MANY; i++)
        CHECK_CLASS(MPI_Wait(&requests[i], MPI_STATUS_IGNORE),
                    i % 3 == 0 && !wrong() ? MPI_ERR_COUNT : MPI_SUCCESS);
    CHECK_OK(MPI_File_read_at_all(f, out[1], &in, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK_INT(in, out[1]);
}

/* ---- calls that move no data ---- */

static void opening(void)
{
    MPI_File f = MPI_FILE_NULL;
    MPI_Info no_info = (MPI_Info)(void *)MPI_COMM_WORLD;
    int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, wrong() ? NULL : path, amode, MPI_INFO_NULL, &f),
                MPI_ERR_ARG);
    check_text(MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, wrong() ? NULL : &f),
                MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, amode, wrong() ? no_info : MPI_INFO_NULL, &f),
                MPI_ERR_INFO);
    CHECK_CLASS(MPI_File_open(MPI_COMM_WORLD, path, wrong() ? -1 : amode, MPI_INFO_NULL, &f),
                MPI_ERR_AMODE);
    CHECK(f == MPI_FILE_NULL);
    CHECK(access(path, F_OK) != 0);
}

static void views(MPI_File f)
{
    static const struct {
        MPI_Offset disp;
        const char *datarep;
        int class, needs_others;
    } wrongs[] = {{-1, "native", MPI_ERR_ARG, 0},
                  {MPI_DISPLACEMENT_CURRENT, "native", MPI_ERR_ARG, 0},
                  {0, NULL, MPI_ERR_ARG, 0},
                  {0, "", MPI_ERR_UNSUPPORTED_DATAREP, 0},
                  {0, "nobody", MPI_ERR_UNSUPPORTED_DATAREP, 0},
                  {0, "internal", MPI_ERR_NOT_SAME, 1},
                  {0, "external32", MPI_ERR_NOT_SAME, 1}};
    MPI_Info no_info = (MPI_Info)(void *)MPI_COMM_WORLD;
    MPI_Datatype no_type[] = {MPI_DATATYPE_NULL, uncommitted}, etype, filetype;
    char datarep[MPI_MAX_DATAREP_STRING];
    MPI_Offset disp = -1;
    CHECK_OK(MPI_File_set_view(f, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < 2; i++) {
        MPI_Datatype type = wrong() ? no_type[i] : MPI_INT;
        CHECK_CLASS(MPI_File_set_view(f, 0, type, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
        CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, type, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    }
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++)
        if (size > 1 || !wrongs[i].needs_others)
            CHECK_CLASS(MPI_File_set_view(f, wrong() ? wrongs[i].disp : 0, MPI_INT, MPI_INT,
                                          wrong() ? wrongs[i].datarep : "native", MPI_INFO_NULL),
                        wrongs[i].class);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native",
                                  wrong() ? no_info : MPI_INFO_NULL),
                MPI_ERR_INFO);
    if (size > 1)
        CHECK_CLASS(MPI_File_set_view(f, 0, wrong() ? MPI_SHORT : MPI_INT,
                                      wrong() ? MPI_SHORT : MPI_INT, "native", MPI_INFO_NULL),
                    MPI_ERR_NOT_SAME);
    /* the view is the old one on all ranks */
    CHECK_OK(MPI_File_get_view(f, &disp, &etype, &filetype, datarep));
    CHECK_INT(disp, 4);
    CHECK(etype == MPI_INT && filetype == MPI_INT);
}

static void others(MPI_File f)
{
    MPI_Info no_info = (MPI_Info)(void *)MPI_COMM_WORLD;
    CHECK_CLASS(MPI_File_set_info(f, wrong() ? no_info : MPI_INFO_NULL), MPI_ERR_INFO);
    check_text(MPI_ERR_INFO);
    CHECK_CLASS(MPI_File_set_size(f, wrong() ? -1 : 0), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_preallocate(f, wrong() ? -1 : 0), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek_shared(f, 0, wrong() ? 77 : MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK_CLASS(MPI_File_seek_shared(f, -1, MPI_SEEK_SET), MPI_ERR_ARG);
}

/* Two ranks are wrong: the error of the lower one becomes that of all. Where a call returns before
 * all ranks know, each of the two has its own. */
static void two_culprits(MPI_File f)
{
    int buf[1] = {0}, first = rank == 0, last = rank == size - 1;
    MPI_Request request;
    MPI_Datatype type = last ? MPI_DATATYPE_NULL : MPI_INT;
    if (size == 1)
        return;
    CHECK_CLASS(MPI_File_write_at_all(f, rank, buf, first ? -1 : 1, type, MPI_STATUS_IGNORE),
                MPI_ERR_COUNT);
    int code = MPI_File_iread_at_all(f, rank, buf, first ? -1 : 1, type, &request);
    if (!first && !last) {
        CHECK_OK(code);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK_CLASS(code, last ? MPI_ERR_TYPE : MPI_ERR_COUNT);
}

/* A split collective that only one rank has forgotten to end. */
static void forgotten_end(MPI_File f)
{
    int buf[1] = {rank};
    MPI_Status *st = MPI_STATUS_IGNORE;
    CHECK_OK(MPI_File_write_at_all_begin(f, rank, buf, 1, MPI_INT));
    if (!wrong())
        CHECK_OK(MPI_File_write_at_all_end(f, buf, st));
    CHECK_CLASS(MPI_File_write_at_all(f, rank, buf, 1, MPI_INT, st), MPI_ERR_OTHER);
    CHECK_CLASS(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_OTHER);
    int code = MPI_File_read_at_all_begin(f, rank, buf, 1, MPI_INT);
    if (!wrong()) {
        CHECK_OK(code);
        code = MPI_File_read_at_all_end(f, buf, st);
    }
    CHECK_CLASS(code, MPI_ERR_OTHER);
    if (wrong())
        CHECK_OK(MPI_File_write_at_all_end(f, buf, st));
}

static void one_culprit(void)
{
    MPI_File f;
    MPI_Datatype strided;
    MPI_Barrier(MPI_COMM_WORLD);
    opening();
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_OK(MPI_File_open(MPI_COMM_WORLD, path,
                           MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                           MPI_INFO_NULL, &f));
    CHECK_OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    all_forms(f);
    several(f);
    /* ranks interleave: they tell each other first what they access */
    CHECK_OK(MPI_Type_create_resized(MPI_INT, 0, size * (MPI_Aint)sizeof(int), &strided));
    CHECK_OK(MPI_Type_commit(&strided));
    CHECK_OK(MPI_File_set_view(f, (MPI_Offset)rank * (MPI_Offset)sizeof(int), MPI_INT, strided,
                               "native", MPI_INFO_NULL));
    all_forms(f);
    several(f);
    CHECK_OK(MPI_File_set_atomicity(f, 1));
    all_forms(f);
    CHECK_OK(MPI_File_set_atomicity(f, 0));
    CHECK_OK(MPI_Type_free(&strided));
    views(f);
    others(f);
    two_culprits(f);
    forgotten_end(f);
    /* wrong at once before the file is closed, on all ranks */
    int buf = 0;
    CHECK_CLASS(MPI_File_write_ordered_begin(f, &buf, -1, MPI_INT), MPI_ERR_COUNT);
    CHECK_OK(MPI_File_close(&f));
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "file_wrong_at_one_rank.%d.data", id);
    CHECK_OK(MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted));
    for (culprit = 0; culprit < size; culprit += size > 2 ? size - 1 : 1)
        one_culprit();
    CHECK_OK(MPI_Type_free(&uncommitted));
    return end();
}
