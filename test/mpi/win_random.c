/* SPDX-License-Identifier: BSD-3-Clause */
/* ranks: 1 2 3 5; long: 8; args: 60; long-args: 1000 */
/* Random one-sided operations on windows of all kinds in epochs of all kinds, against a model: each
 * rank also does all operations of all ranks one after the other in memory of its own. At the end
 * of each round every byte of every window must be equal, and so must all results.
 *
 * All ranks draw the same numbers. A rank's window has a part that all add to, and for each origin
 * slots that only this origin uses, each for one basic type. In a slot the order of operations is
 * known: accumulates are ordered, and between others there is a flush or the end of an epoch.
 * Epochs make all promises (assertions) that hold: each rank that it has stored nothing, all that
 * they only get, that nobody holds or wants a lock that conflicts, that post has come before start.
 * win_random_asked.c and its kin do the same by the other mechanisms. At the end it prints how many
 * operations a network did (test/hosts/windows_direct.sh). */
#include "counter.h"

enum { WINDOWS = 5, SLOTS = 10, SLOT = 128, BIG = 48 * 1024, COMMON = 64, MOST = 8, OPS = 12 };
enum kind { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH_AND_OP, COMPARE_AND_SWAP, KINDS };
enum epoch { FENCE, PSCW, LOCK_EXCLUSIVE, LOCK_SHARED, LOCK_ALL, EPOCHS };

static uint64_t numbers;

/* The basic type of each slot; the last slot is big. */
static const struct basic {
    MPI_Datatype type;
    int extent, whole, real, is_pair;
} basics[SLOTS] = {
    {MPI_INT8_T, 1, 1, 0, 0}, {MPI_UINT16_T, 2, 1, 0, 0}, {MPI_INT, 4, 1, 0, 0},
    {MPI_INT64_T, 8, 1, 0, 0}, {MPI_FLOAT, 4, 0, 1, 0}, {MPI_DOUBLE, 8, 0, 1, 0},
    {MPI_C_DOUBLE_COMPLEX, 16, 0, 0, 0}, {MPI_DOUBLE_INT, 16, 0, 0, 1},
    {MPI_SHORT_INT, 8, 0, 0, 1}, {MPI_INT64_T, 8, 1, 0, 0},
};

static struct window {
    MPI_Win win;
    MPI_Aint base[MOST]; /* displacement of each rank's memory */
    int unit, passive;
    int from_mpi;        /* its memory is of MPI_Alloc_mem */
    char *memory;        /* this rank's */
    char *model[MOST];
    /* of the epoch: what was done in a slot since the last flush: 0 nothing, 1 accumulates, 2 other */
    char state[MOST][MOST][SLOTS];
    int only_get; /* this epoch changes no memory */
    /* this epoch's locks: -1: of any target; else each origin locks one of its own, this many ranks
     * further, so that nobody else wants the lock */
    int shift;
} windows[WINDOWS];
static int window_count;

/* Results that are compared at the end of the epoch. */
static struct result {
    char *got, *expected;
    size_t bytes;
    const char *what;
} results[OPS];
static int result_count;

static size_t window_bytes(void)
{
    return COMMON * sizeof(int64_t) + (size_t)size * (SLOTS * SLOT + BIG);
}

static size_t slot_offset(int origin, int slot)
{
    return COMMON * sizeof(int64_t) + (size_t)origin * (SLOTS * SLOT + BIG) + (size_t)slot * SLOT;
}

static int draw(int limit)
{
    return random_below(&numbers, limit);
}

/* ---- windows ---- */

static void finish_window(struct window *w, void *memory, int dynamic)
{
    MPI_Aint own = 0;
    w->memory = memory;
    if (dynamic) {
        CHECK_OK(MPI_Win_attach(w->win, memory, (MPI_Aint)window_bytes()));
        CHECK_OK(MPI_Get_address(memory, &own));
    }
    memset(memory, 0, window_bytes());
    CHECK_OK(MPI_Win_fence(MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win));
    CHECK_OK(MPI_Allgather(&own, 1, MPI_AINT, w->base, 1, MPI_AINT, MPI_COMM_WORLD));
    for (int i = 0; i < size; i++)
        w->model[i] = allocate(window_bytes());
}

/* Some ranks take their memory by MPI_Alloc_mem, so that others have it mapped. */
static void *take_memory(struct window *w, MPI_Aint bytes)
{
    void *memory;
    w->from_mpi = (rank + draw(2)) % 2;
    if (!w->from_mpi)
        return allocate((size_t)bytes);
    CHECK_OK(MPI_Alloc_mem(bytes, MPI_INFO_NULL, &memory));
    return memory;
}

static void give_memory(const struct window *w)
{
    if (w->from_mpi)
        CHECK_OK(MPI_Free_mem(w->memory));
    else
        free(w->memory);
}

static void make_windows(void)
{
    MPI_Aint bytes = (MPI_Aint)window_bytes();
    int created = 8 >> draw(4);
    for (int i = 0; i < WINDOWS; i++) {
        struct window *w = &windows[window_count++];
        void *memory = NULL;
        MPI_Info info = MPI_INFO_NULL;
        w->unit = i == 3 ? 1 : created;
        w->passive = 1;
        switch (i) {
        case 0:
            CHECK_OK(MPI_Win_allocate(bytes, w->unit, info, MPI_COMM_WORLD, &memory, &w->win));
            break;
        case 1:
            memory = take_memory(w, bytes);
            CHECK_OK(MPI_Win_create(memory, bytes, w->unit, info, MPI_COMM_WORLD, &w->win));
            break;
        case 2:
            w->passive = 0;
            CHECK_OK(MPI_Info_create(&info));
            CHECK_OK(MPI_Info_set(info, "no_locks", "true"));
            CHECK_OK(MPI_Win_allocate(bytes, w->unit, info, MPI_COMM_WORLD, &memory, &w->win));
            CHECK_OK(MPI_Info_free(&info));
            break;
        case 3:
            memory = take_memory(w, bytes);
            CHECK_OK(MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &w->win));
            break;
        default: {
            MPI_Comm near;
            int count;
            CHECK_OK(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, info, &near));
            CHECK_OK(MPI_Comm_size(near, &count));
            CHECK_OK(MPI_Comm_free(&near));
            CHECK_OK(MPI_Allreduce(MPI_IN_PLACE, &count, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
            if (count < size || getenv("OMPI_MCA_btl")) {
                window_count--;
                return;
            }
            CHECK_OK(MPI_Win_allocate_shared(bytes, w->unit, info, MPI_COMM_WORLD, &memory,
                                             &w->win));
        }
        }
        finish_window(w, memory, i == 3);
    }
}

static void free_windows(void)
{
    for (int i = 0; i < window_count; i++) {
        if (i == 3)
            CHECK_OK(MPI_Win_detach(windows[i].win, windows[i].memory));
        CHECK_OK(MPI_Win_free(&windows[i].win));
        CHECK(windows[i].win == MPI_WIN_NULL);
        for (int k = 0; k < size; k++)
            free(windows[i].model[k]);
        if (i == 1 || i == 3)
            give_memory(&windows[i]);
    }
    window_count = 0;
}

/* ---- elements ---- */

static void fill_elements(char *bytes, const struct basic *basic, int count)
{
    for (int i = 0; i < count; i++) {
        char *at = bytes + (size_t)i * basic->extent;
        int value = draw(100) + 1;
        if (basic->type == MPI_FLOAT)
            memcpy(at, &(float){(float)value}, sizeof(float));
        else if (basic->type == MPI_DOUBLE || basic->type == MPI_DOUBLE_INT)
            memcpy(at, &(double){value}, sizeof(double));
        else if (basic->type == MPI_C_DOUBLE_COMPLEX)
            memcpy(at, (double[]){value, 3}, 2 * sizeof(double));
        else if (basic->type == MPI_SHORT_INT)
            memcpy(at, &(short){(short)value}, sizeof(short));
        else
            memcpy(at, &(int64_t){value}, (size_t)basic->extent);
        if (basic->is_pair)
            memcpy(at + basic->extent - (basic->extent == 16 ? 8 : 4), &(int){draw(9)}, 4);
    }
}

static MPI_Op draw_op(const struct basic *basic)
{
    static const MPI_Op any[] = {MPI_SUM, MPI_REPLACE, MPI_PROD};
    const MPI_Op reals[] = {MPI_SUM, MPI_REPLACE, MPI_MAX, MPI_MIN, MPI_PROD};
    const MPI_Op whole[] = {MPI_SUM, MPI_REPLACE, MPI_MAX, MPI_MIN, MPI_BAND, MPI_BOR,
                            MPI_BXOR, MPI_LAND, MPI_LXOR, MPI_PROD};
    if (basic->is_pair)
        return draw(3) ? draw(2) ? MPI_MAXLOC : MPI_MINLOC : MPI_REPLACE;
    return basic->whole ? whole[draw(10)] : basic->real ? reals[draw(5)] : any[draw(3)];
}

/* `count` elements, `stride` apart. */
static MPI_Datatype make_type(const struct basic *basic, int count, int stride)
{
    MPI_Datatype type;
    CHECK_OK(MPI_Type_vector(count, 1, stride, basic->type, &type));
    CHECK_OK(MPI_Type_commit(&type));
    return type;
}

/* Copies as MPI does between typed buffers. */
static void copy_typed(void *to, MPI_Datatype to_type, const void *from, MPI_Datatype from_type)
{
    int bytes, at = 0;
    CHECK_OK(MPI_Pack_size(1, from_type, MPI_COMM_SELF, &bytes));
    char *packed = allocate((size_t)bytes);
    CHECK_OK(MPI_Pack(from, 1, from_type, packed, bytes, &at, MPI_COMM_SELF));
    bytes = at;
    at = 0;
    CHECK_OK(MPI_Unpack(packed, bytes, &at, to, 1, to_type, MPI_COMM_SELF));
    free(packed);
}

static void expect(char *got, char *expected, size_t bytes, const char *what)
{
    results[result_count++] = (struct result){got, expected, bytes, what};
}

static void check_results(int round)
{
    for (int i = 0; i < result_count; i++) {
        struct result *r = &results[i];
        for (size_t k = 0; k < r->bytes; k++)
            if (r->got[k] != r->expected[k])
                FAIL("round %d: result %d of %s: byte %zu of %zu: got 0x%02x, expected 0x%02x",
                     round, i, r->what, k, r->bytes, (unsigned char)r->got[k],
                     (unsigned char)r->expected[k]);
        free(r->got);
        free(r->expected);
    }
    result_count = 0;
}

/* ---- operations ---- */

struct operation {
    struct window *w;
    int origin, target, slot, count, target_stride, origin_stride, with_request;
    enum kind kind;
    MPI_Op op;
    const struct basic *basic;
    char *data; /* of the origin */
    MPI_Datatype target_type, origin_type, result_type;
};

static char *at_model(const struct operation *o)
{
    return o->w->model[o->target] + slot_offset(o->origin, o->slot);
}

static MPI_Aint displacement(const struct operation *o)
{
    return o->w->base[o->target] + (MPI_Aint)slot_offset(o->origin, o->slot) / o->w->unit;
}

/* Does the accumulate in the model. */
static void model_accumulate(const struct operation *o)
{
    for (int i = 0; i < o->count; i++) {
        char *to = at_model(o) + (size_t)i * o->target_stride * o->basic->extent;
        const char *from = o->data + (size_t)i * o->origin_stride * o->basic->extent;
        if (o->op == MPI_REPLACE)
            copy_typed(to, o->basic->type, from, o->basic->type);
        else if (o->op != MPI_NO_OP)
            CHECK_OK(MPI_Reduce_local(from, to, 1, o->basic->type, o->op));
    }
}

static void finish(MPI_Request *request)
{
    if (*request != MPI_REQUEST_NULL)
        CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static void do_put(const struct operation *o)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank != o->origin)
        return;
    if (o->with_request)
        CHECK_OK(MPI_Rput(o->data, 1, o->origin_type, o->target, displacement(o), 1,
                          o->target_type, o->w->win, &request));
    else
        CHECK_OK(MPI_Put(o->data, 1, o->origin_type, o->target, displacement(o), 1, o->target_type,
                         o->w->win));
    finish(&request);
}

static void do_get(const struct operation *o)
{
    MPI_Request request = MPI_REQUEST_NULL;
    size_t bytes = (size_t)o->count * o->origin_stride * o->basic->extent;
    if (rank != o->origin)
        return;
    char *got = allocate(bytes), *expected = allocate(bytes);
    copy_typed(expected, o->origin_type, at_model(o), o->target_type);
    if (o->with_request)
        CHECK_OK(MPI_Rget(got, 1, o->origin_type, o->target, displacement(o), 1, o->target_type,
                          o->w->win, &request));
    else
        CHECK_OK(MPI_Get(got, 1, o->origin_type, o->target, displacement(o), 1, o->target_type,
                         o->w->win));
    finish(&request);
    if (o->with_request)
        CHECK_BYTES(got, expected, bytes);
    expect(got, expected, bytes, "MPI_Get");
}

static void do_accumulate(const struct operation *o)
{
    MPI_Request request = MPI_REQUEST_NULL;
    if (rank != o->origin)
        return;
    if (o->with_request)
        CHECK_OK(MPI_Raccumulate(o->data, 1, o->origin_type, o->target, displacement(o), 1,
                                 o->target_type, o->op, o->w->win, &request));
    else
        CHECK_OK(MPI_Accumulate(o->data, 1, o->origin_type, o->target, displacement(o), 1,
                                o->target_type, o->op, o->w->win));
    finish(&request);
}

static void do_get_accumulate(const struct operation *o)
{
    MPI_Request request = MPI_REQUEST_NULL;
    size_t bytes = (size_t)o->count * o->basic->extent;
    if (rank != o->origin)
        return;
    char *got = allocate(bytes), *expected = allocate(bytes);
    copy_typed(expected, o->result_type, at_model(o), o->target_type);
    if (o->with_request)
        CHECK_OK(MPI_Rget_accumulate(o->data, 1, o->origin_type, got, 1, o->result_type, o->target,
                                     displacement(o), 1, o->target_type, o->op, o->w->win,
                                     &request));
    else if (o->op == MPI_NO_OP)
        CHECK_OK(MPI_Get_accumulate(NULL, 0, MPI_DATATYPE_NULL, got, 1, o->result_type, o->target,
                                    displacement(o), 1, o->target_type, o->op, o->w->win));
    else
        CHECK_OK(MPI_Get_accumulate(o->data, 1, o->origin_type, got, 1, o->result_type, o->target,
                                    displacement(o), 1, o->target_type, o->op, o->w->win));
    finish(&request);
    expect(got, expected, bytes, "MPI_Get_accumulate");
}

static void do_fetch_and_op(const struct operation *o)
{
    if (rank != o->origin)
        return;
    char *got = allocate((size_t)o->basic->extent), *expected = allocate((size_t)o->basic->extent);
    copy_typed(expected, o->basic->type, at_model(o), o->basic->type);
    CHECK_OK(MPI_Fetch_and_op(o->data, got, o->basic->type, o->target, displacement(o), o->op,
                              o->w->win));
    expect(got, expected, (size_t)o->basic->extent, "MPI_Fetch_and_op");
}

/* Every other time the value that is compared is the right one. */
static void do_compare_and_swap(const struct operation *o, int right)
{
    size_t bytes = (size_t)o->basic->extent;
    char compare[16];
    memcpy(compare, at_model(o), bytes);
    if (!right)
        compare[0]++;
    if (rank == o->origin) {
        char *got = allocate(bytes), *expected = allocate(bytes);
        memcpy(expected, at_model(o), bytes);
        CHECK_OK(MPI_Compare_and_swap(o->data, compare, got, o->basic->type, o->target,
                                      displacement(o), o->w->win));
        expect(got, expected, bytes, "MPI_Compare_and_swap");
    }
    if (right)
        memcpy(at_model(o), o->data, bytes);
}

static void do_operation(const struct operation *o, int right)
{
    switch (o->kind) {
    case PUT:
        do_put(o);
        copy_typed(at_model(o), o->target_type, o->data, o->origin_type);
        break;
    case GET: do_get(o); break;
    case ACCUMULATE:
        do_accumulate(o);
        model_accumulate(o);
        break;
    case GET_ACCUMULATE:
        do_get_accumulate(o);
        model_accumulate(o);
        break;
    case FETCH_AND_OP:
        do_fetch_and_op(o);
        model_accumulate(o);
        break;
    default: do_compare_and_swap(o, right);
    }
}

/* Returns 0 if the operation must not follow what was done in its slot. */
static int make_order(const struct operation *o, int passive)
{
    char *state = o->w->state[o->origin][o->target];
    int is_accumulate = o->kind != PUT && o->kind != GET, all = draw(2);
    if (!(state[o->slot] == 0 || (state[o->slot] == 1 && is_accumulate))) {
        if (!passive)
            return 0;
        if (rank == o->origin)
            CHECK_OK(all ? MPI_Win_flush_all(o->w->win)
                         : MPI_Win_flush(o->target, o->w->win));
        memset(state, 0, SLOTS);
    }
    state[o->slot] = is_accumulate ? 1 : 2;
    return 1;
}

static void draw_operation(struct window *w, int origin, int target, int passive, char **keep)
{
    struct operation o = {.w = w, .origin = origin, .target = target, .slot = draw(SLOTS)};
    int big = o.slot == SLOTS - 1, right = draw(2);
    o.basic = &basics[o.slot];
    o.kind = w->only_get ? GET : (enum kind)draw(KINDS);
    o.target_stride = 1 + draw(2);
    o.origin_stride = 1 + draw(2);
    int room = (big ? BIG : SLOT) / (o.basic->extent * 2);
    o.count = 1 + draw(draw(3) ? room : 3);
    if (o.kind == COMPARE_AND_SWAP && !o.basic->whole)
        o.kind = FETCH_AND_OP;
    if (o.kind == COMPARE_AND_SWAP || o.kind == FETCH_AND_OP)
        o.count = o.target_stride = o.origin_stride = 1;
    o.op = draw_op(o.basic);
    if ((o.kind == GET_ACCUMULATE || o.kind == FETCH_AND_OP) && draw(4) == 0)
        o.op = MPI_NO_OP;
    o.with_request = passive && draw(3) == 0;
    o.data = *keep = allocate((size_t)(o.count * o.origin_stride + 1) * o.basic->extent);
    fill_elements(o.data, o.basic, o.count * o.origin_stride);
    o.target_type = make_type(o.basic, o.count, o.target_stride);
    o.origin_type = make_type(o.basic, o.count, o.origin_stride);
    o.result_type = make_type(o.basic, o.count, 1);
    if (make_order(&o, passive))
        do_operation(&o, right);
    CHECK_OK(MPI_Type_free(&o.target_type));
    CHECK_OK(MPI_Type_free(&o.origin_type));
    CHECK_OK(MPI_Type_free(&o.result_type));
}

/* Adds to a word of the part that all use. */
static void add_in_common(struct window *w, int origin, int target, int64_t *value)
{
    int word = draw(COMMON);
    MPI_Aint at = w->base[target] + (MPI_Aint)((size_t)word * sizeof(int64_t)) / w->unit;
    *value = draw(1000);
    ((int64_t *)w->model[target])[word] += *value;
    if (rank == origin)
        CHECK_OK(MPI_Accumulate(value, 1, MPI_INT64_T, target, at, 1, MPI_INT64_T, MPI_SUM,
                                w->win));
}

/* ---- epochs ---- */

/* Draws what this rank promises of its own memory. Nobody stores to it but by operations. */
static int draw_promise(const struct window *w)
{
    int stored_nothing = draw(1 << MOST) >> rank & 1, not_put = draw(1 << MOST) >> rank & 1;
    return (stored_nothing ? MPI_MODE_NOSTORE : 0) |
           (not_put && w->only_get ? MPI_MODE_NOPUT : 0);
}

static void begin(struct window *w, enum epoch epoch, MPI_Group all)
{
    int active = epoch == FENCE || epoch == PSCW, promise, no_check;
    w->only_get = active && draw(4) == 0;
    promise = draw_promise(w);
    no_check = draw(3) == 0 ? MPI_MODE_NOCHECK : 0;
    w->shift = draw(2) ? draw(size) : -1;
    if (epoch == FENCE)
        CHECK_OK(MPI_Win_fence(promise | (draw(2) ? MPI_MODE_NOPRECEDE : 0), w->win));
    if (epoch == PSCW) {
        CHECK_OK(MPI_Win_post(all, promise | no_check, w->win));
        if (no_check)
            CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
        CHECK_OK(MPI_Win_start(all, no_check, w->win));
    }
    if (epoch == LOCK_ALL)
        CHECK_OK(MPI_Win_lock_all(no_check, w->win));
}

static void finish_epoch(struct window *w, enum epoch epoch)
{
    int done = 0, promise = draw_promise(w);
    if (epoch == FENCE) /* what follows a fence without successor puts nothing */
        CHECK_OK(MPI_Win_fence((promise & MPI_MODE_NOSTORE) |
                                   (draw(2) ? MPI_MODE_NOSUCCEED | MPI_MODE_NOPUT : 0),
                               w->win));
    if (epoch == PSCW) {
        CHECK_OK(MPI_Win_complete(w->win));
        if (draw(2))
            CHECK_OK(MPI_Win_wait(w->win));
        else
            while (!done)
                CHECK_OK(MPI_Win_test(w->win, &done));
    }
    if (epoch == LOCK_ALL)
        CHECK_OK(MPI_Win_unlock_all(w->win));
}

/* All operations of one origin. With locks it visits one target after the other. */
static void use_window(struct window *w, int origin, enum epoch epoch, char *data[OPS])
{
    static int64_t values[2 * OPS];
    int passive = epoch != FENCE && epoch != PSCW, used = 0, value = 0;
    int locks = epoch == LOCK_EXCLUSIVE || epoch == LOCK_SHARED;
    for (int visits = 0; visits < (locks ? 3 : 1); visits++) {
        int locked = draw(size), count = draw(OPS / (locks ? 3 : 1)), no_check = draw(3) == 0;
        if (w->shift >= 0)
            locked = (origin + w->shift) % size;
        memset(w->state[origin], 0, sizeof w->state[origin]);
        if (locks && rank == origin)
            CHECK_OK(MPI_Win_lock(epoch == LOCK_EXCLUSIVE ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED,
                                  locked,
                                  no_check && (epoch == LOCK_SHARED || w->shift >= 0)
                                      ? MPI_MODE_NOCHECK : 0,
                                  w->win));
        for (int i = 0; i < count; i++) {
            int target = locks ? locked : draw(size);
            draw_operation(w, origin, target, passive, &data[used++]);
            if (!w->only_get && draw(2))
                add_in_common(w, origin, target, &values[value++]);
        }
        if (locks && rank == origin)
            CHECK_OK(MPI_Win_unlock(locked, w->win));
    }
}

static void check_windows(int round)
{
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    for (int i = 0; i < window_count; i++) {
        struct window *w = &windows[i];
        if (w->passive)
            CHECK_OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w->win));
        for (size_t k = 0; k < window_bytes(); k++)
            if (w->memory[k] != w->model[rank][k])
                FAIL("round %d: window %d: byte %zu: got 0x%02x, expected 0x%02x", round, i, k,
                     (unsigned char)w->memory[k], (unsigned char)w->model[rank][k]);
        if (w->passive)
            CHECK_OK(MPI_Win_unlock(rank, w->win));
    }
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void do_round(int round, MPI_Group all)
{
    struct window *w = &windows[draw(window_count)];
    enum epoch epoch = (enum epoch)draw(w->passive ? EPOCHS : LOCK_EXCLUSIVE);
    char *data[MOST][OPS] = {{0}};
    begin(w, epoch, all);
    for (int origin = 0; origin < size; origin++)
        use_window(w, origin, epoch, data[origin]);
    finish_epoch(w, epoch);
    check_results(round);
    for (int origin = 0; origin < size; origin++)
        for (int i = 0; i < OPS; i++)
            free(data[origin][i]);
    if (round % 4 == 3)
        check_windows(round);
    else
        CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void tell_direct(struct counter *direct)
{
    unsigned long long mine = counter_read(direct), sum = 0;
    CHECK_OK(MPI_Reduce(&mine, &sum, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("direct %llu\n", sum);
    counter_close(direct);
}

int main(int argc, char **argv)
{
    start(&argc, &argv);
    MPI_Group all;
    struct counter direct = counter_open("rma_direct_copies", MPI_THREAD_SINGLE);
    int rounds = argument(argc, argv, 200);
    numbers = (uint64_t)(argc > 2 ? atoll(argv[2]) : getpid());
    CHECK_OK(MPI_Bcast(&numbers, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    if (rank == 0)
        printf("seed %llu\n", (unsigned long long)numbers);
    CHECK_OK(MPI_Comm_group(MPI_COMM_WORLD, &all));
    for (int part = 0; part < 2; part++) {
        make_windows();
        for (int round = 0; round < rounds / 2; round++)
            do_round(round, all);
        check_windows(rounds);
        free_windows();
    }
    CHECK_OK(MPI_Group_free(&all));
    tell_direct(&direct);
    return end();
}
