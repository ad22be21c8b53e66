/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A typed buffer in device memory is described as runs, some hundreds at a time. Runs of one length
 * at equal distances go in one copy of rows; all copies of a description are awaited together.
 * Memory between the runs is never written: the program may use it meanwhile.
 */
#include "lib/type/device_move.h"

#include "lib/accel/device_kernel.h"
#include "lib/accel/device_runs.h"
#include "lib/accel/device_spare.h"
#include "lib/type/block.h"
#include "lib/type/device_stage.h"
#include "lib/type/type_program.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
    RUNS = 512,
    ROWS_MIN = 4,     /* fewer rows are not worth a copy of rows */
    KERNEL_ROWS = 256, /* fewer rows are not worth a kernel */
    MANY_RUNS = 64,    /* fewer runs are not worth a list for a kernel */
    RUN_MOST = 16 << 10,  /* bytes of a run in a list */
    LIST_MOST = 1 << 30, /* bytes that the runs of a list move */
    LISTS_KEPT = 8,      /* of a message: more would take the room of all others' lists */
    LOOP_LOOKS = 16,   /* pieces of a loop that are looked at, and the last one */
    UNIT = 64 << 10,   /* bytes; what begins there is memory of one kind */
    UNITS = 64,
    BOUNCE_MAX = 4 << 20,
};

static const size_t stride_most = INT32_MAX; /* the driver's limit for the distance of rows */

/* What was found of a buffer so far. */
struct looks {
    bool host, device;
    bool apart; /* in device memory of several devices or contexts */
    struct tern_accel_place place; /* of the first address that is in device memory */
    int loop_looks; /* pieces of the next loop that are looked at */
    uintptr_t units[UNITS]; /* numbers of units that were looked at, plus 1 */
};

/* Looks at an address, unless its unit of memory was looked at. */
static void look(struct looks *looks, const void *address)
{
    struct tern_accel_place place;
    uintptr_t unit = (uintptr_t)address / UNIT + 1;
    if (looks->units[unit % UNITS] == unit)
        return;
    looks->units[unit % UNITS] = unit;
    if (!tern_accel_find(address, &place)) {
        looks->host = true;
        return;
    }
    if (!looks->device)
        looks->place = place;
    looks->device = true;
    looks->apart |= !tern_accel_same(&looks->place, &place);
}

static void look_at_program(struct looks *looks, const struct tern_program *program, char *at);

/* Looks at the first pieces of a loop, and at the last one. They may be allocations of one size.
 * But not a hundred of them, and no loops of allocations within each other. */
static void look_at_loop(struct looks *looks, const struct tern_program *body, char *at,
                         int64_t count, int64_t stride)
{
    /* not UNIT / |stride|, of which gcc 12.2 makes UNIT / -stride with the thread sanitizer */
    int64_t step = stride ? UNIT / stride : count;
    int most = looks->loop_looks;
    step = step < 0 ? -step : step ? step : 1;
    looks->loop_looks = count > 1 ? 1 : most;
    for (int64_t i = 0; i < count - 1 && i < most * step; i += step)
        look_at_program(looks, body, tern_block_at(at, i * stride));
    look_at_program(looks, body, tern_block_at(at, (count - 1) * stride));
    looks->loop_looks = most;
}

/* Looks at the pieces of a program whose memory begins at `at`. */
static void look_at_program(struct looks *looks, const struct tern_program *program, char *at)
{
    if (!program)
        look(looks, at);
    else if (program->kind == TERN_PROGRAM_LOOP)
        look_at_loop(looks, program->each.body, at, program->count, program->stride);
    else
        for (int64_t i = 0; i < program->count; i++) { /* all: each allocation is met */
            bool list = program->kind == TERN_PROGRAM_LIST;
            look_at_program(looks, list ? program->list[i].body : program->each.body,
                            tern_block_at(at, list ? program->list[i].offset
                                                   : program->places[i]));
        }
}

enum tern_type_memory tern_type_find_memory(const struct tern_type *type, const void *base,
                                            int64_t count, struct tern_accel_place *ret_place)
{
    struct looks looks;
    void *start;
    if (type->size * count <= 0)
        return TERN_TYPE_HOST;
    if (tern_type_one_run(type, base, count, &start))
        return tern_accel_find(start, ret_place) ? TERN_TYPE_DEVICE : TERN_TYPE_HOST;
    looks = (struct looks){.loop_looks = LOOP_LOOKS};
    look_at_loop(&looks, type->program, tern_block_at((char *)base, type->start), count,
                 type->extent);
    *ret_place = looks.place;
    return !looks.device              ? TERN_TYPE_HOST
           : looks.host || looks.apart ? TERN_TYPE_MIXED
                                       : TERN_TYPE_DEVICE;
}

/* Returns how many runs, beginning with the first, have one length and equal distances. */
static int count_rows(const struct iovec *runs, int count)
{
    int rows = 1;
    if (count < 2)
        return rows;
    int64_t stride = (char *)runs[1].iov_base - (char *)runs[0].iov_base;
    if (stride < (int64_t)runs[0].iov_len || (size_t)stride > stride_most)
        return rows;
    while (rows < count && runs[rows].iov_len == runs[0].iov_len &&
           (char *)runs[rows].iov_base - (char *)runs[rows - 1].iov_base == stride)
        rows++;
    return rows;
}

/* Starts the copies of some runs. Runs in host memory, in a mixed buffer, are copied at once if the
 * packed bytes are in host memory too. */
static void move_runs(struct tern_accel_batch *batch, const struct iovec *runs, int count,
                      char *packed, bool pack, bool mixed)
{
    for (int i = 0; i < count;) {
        int rows = mixed ? 1 : count_rows(runs + i, count - i);
        char *run = runs[i].iov_base;
        size_t length = runs[i].iov_len;
        if (rows >= ROWS_MIN) {
            size_t stride = (size_t)((char *)runs[i + 1].iov_base - run);
            tern_accel_copy_rows(batch, pack ? packed : run, pack ? length : stride,
                                 pack ? run : packed, pack ? stride : length, length,
                                 (size_t)rows);
        } else {
            rows = 1;
            tern_accel_copy_in(batch, pack ? packed : run, pack ? run : packed, length);
        }
        packed += (size_t)rows * length;
        i += rows;
    }
}

/* Returns an address of the description that is in device memory, in whose context the copies
 * run; of the packed bytes if it is these. */
static const void *device_among(const struct iovec *runs, int count, const void *packed)
{
    for (int i = 0; i < count; i++)
        if (tern_accel_is_device(runs[i].iov_base))
            return runs[i].iov_base;
    return tern_accel_is_device(packed) ? packed : NULL;
}

/* Moves the bytes of one description. */
static int move_described(const struct tern_cursor *cursor, const struct iovec *runs, int count,
                          char *packed, bool pack)
{
    struct tern_accel_batch batch;
    bool mixed = cursor->memory == TERN_TYPE_MIXED;
    const void *device = mixed ? device_among(runs, count, packed) : runs[0].iov_base;
    if (!device) { /* a part of a mixed buffer that is in host memory */
        for (int i = 0; i < count; packed += runs[i].iov_len, i++)
            memcpy(pack ? packed : runs[i].iov_base, pack ? runs[i].iov_base : packed,
                   runs[i].iov_len);
        return 0;
    }
    tern_accel_begin(&batch, device, cursor->place);
    move_runs(&batch, runs, count, packed, pack, mixed);
    return tern_accel_end(&batch);
}

/* Describes the buffer of a cursor as nested loops. Returns false if it is something else, or one
 * run. */
static bool find_nest(const struct tern_cursor *cursor, struct tern_accel_nest *ret_nest)
{
    const struct tern_type *type = cursor->type;
    int64_t run = type->size;
    int loops = 0;
    struct {
        int64_t count, stride;
    } outer[TERN_PTX_LOOPS]; /* the outermost first */
    if (cursor->count > 1) {
        outer[loops].count = cursor->count;
        outer[loops++].stride = type->extent;
    }
    for (const struct tern_program *at = type->program; at; at = at->each.body) {
        if (at->kind != TERN_PROGRAM_LOOP || loops == TERN_PTX_LOOPS)
            return false;
        outer[loops].count = at->count;
        outer[loops++].stride = at->stride;
        run = at->each.size;
    }
    *ret_nest = (struct tern_accel_nest){.loops = loops, .run = run};
    for (int i = 0; i < loops; i++) {
        ret_nest->counts[i] = outer[loops - 1 - i].count;
        ret_nest->strides[i] = outer[loops - 1 - i].stride;
    }
    return loops > 0 && run > 0 && !(type->contiguous && loops == 1);
}

/* A part of a buffer that a kernel moves. */
struct part {
    struct tern_accel_nest nest;
    char *base;     /* of the nest */
    int64_t length; /* in bytes, from the cursor on */
};

/* Finds out whether a kernel is worth it for the next `max` bytes of a cursor. */
static bool is_for_kernel(const struct tern_cursor *cursor, size_t max, struct part *ret_part)
{
    int64_t left = cursor->length - cursor->offset;
    struct part part = {.base = cursor->base + cursor->type->start,
                        .length = (int64_t)max < left ? (int64_t)max : left};
    if (cursor->memory != TERN_TYPE_DEVICE || !find_nest(cursor, &part.nest) ||
        part.length / part.nest.run < KERNEL_ROWS)
        return false;
    *ret_part = part;
    return true;
}

/* Starts the kernel. Returns false if there is none. `packed` is in device memory, or pinned. */
static bool start_kernel(struct tern_cursor *cursor, const struct part *part,
                         struct tern_accel_batch *batch, void *packed, bool pack)
{
    if (tern_accel_start_move(batch, &part->nest, part->base, packed, cursor->offset, part->length,
                              pack))
        return false;
    cursor->offset += part->length;
    return true;
}

/* Finds where the next byte of a cursor is, which is not at its end. Returns false if it is not in
 * device memory. An address that the type has no byte at may be in another allocation. */
static bool find_next_byte(const struct tern_cursor *cursor, struct tern_accel_place *ret_place)
{
    struct tern_cursor copy = *cursor;
    struct iovec run;
    return tern_cursor_runs(&copy, &run, 1, 1, NULL) == 1 &&
           tern_accel_find(run.iov_base, ret_place);
}

/* Returns where the buffer of a cursor is, in *room if the driver must be asked; NULL: nowhere. */
static const struct tern_accel_place *find_place(const struct tern_cursor *cursor,
                                                 struct tern_accel_place *room)
{
    if (cursor->place)
        return cursor->place;
    return find_next_byte(cursor, room) ? room : NULL;
}

/* Returns in how many runs a body moves its bytes, at least. */
static int64_t count_runs(const struct tern_program *program)
{
    return !program                              ? 1
           : program->kind == TERN_PROGRAM_LIST ? program->count
                                                 : program->count * count_runs(program->each.body);
}

bool tern_cursor_many_runs(const struct tern_cursor *cursor, int64_t bytes)
{
    return !cursor->type->contiguous &&
           bytes / MANY_RUNS >= cursor->type->size / count_runs(cursor->type->program);
}

/* Returns true if the next `bytes` bytes of a cursor are worth a kernel that reads a list. */
static bool is_for_list(const struct tern_cursor *cursor, int64_t bytes)
{
    return cursor->memory == TERN_TYPE_DEVICE && tern_cursor_many_runs(cursor, bytes);
}

/* Writes a list of the cursor's next runs, at most TERN_ACCEL_RUNS and `max` bytes, and advances.
 * Long runs are cut, so that threads have equal work. Returns their number. */
static int list_runs(struct tern_cursor *cursor, struct tern_ptx_run *list, size_t max,
                     size_t *ret_bytes)
{
    struct iovec runs[RUNS];
    int64_t start = cursor->offset;
    size_t bytes = 0;
    int count = 0, found = 1;
    while (count < TERN_ACCEL_RUNS && bytes < max && found > 0) {
        found = tern_cursor_runs(cursor, runs, RUNS, max - bytes, NULL);
        for (int i = 0; i < found; i++)
            for (size_t done = 0, part; done < runs[i].iov_len && count < TERN_ACCEL_RUNS;
                 done += part, bytes += part) {
                part = runs[i].iov_len - done < RUN_MOST ? runs[i].iov_len - done : RUN_MOST;
                list[count++] = (struct tern_ptx_run){(uintptr_t)runs[i].iov_base + done,
                                                      (uint32_t)part, (uint32_t)bytes};
            }
    }
    tern_cursor_seek(cursor, start + (int64_t)bytes);
    *ret_bytes = bytes;
    return count;
}

/* Returns the number of a program, which it gets when it is first asked for. */
static uint64_t number_of(struct tern_program *program)
{
    static uint64_t last; /* atomic */
    uint64_t number = __atomic_load_n(&program->number, __ATOMIC_RELAXED), before = 0;
    if (number)
        return number;
    number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return __atomic_compare_exchange_n(&program->number, &before, number, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED)
               ? number
               : before;
}

/* Returns what a list of the cursor's next runs is kept by. */
static struct tern_accel_runs_key key_of(const struct tern_cursor *cursor, size_t most)
{
    const struct tern_type *type = cursor->type;
    return (struct tern_accel_runs_key){.program = number_of(type->program),
                                        .base = (uintptr_t)cursor->base,
                                        .start = type->start,
                                        .size = type->size,
                                        .extent = type->extent,
                                        .count = cursor->count,
                                        .offset = cursor->offset,
                                        .most = most};
}

/* Starts kernels that move runs by lists. Returns how many bytes they move; 0: there are none. */
static size_t start_lists(struct tern_cursor *cursor, struct tern_accel_batch *batch, char *packed,
                          size_t length, bool pack)
{
    struct tern_accel_place room;
    const struct tern_accel_place *place = find_place(cursor, &room);
    size_t done = 0;
    bool written = false;
    for (int kept = 0; place && done < length; kept++) {
        struct tern_accel_runs runs;
        int64_t start = cursor->offset;
        size_t most = length - done < LIST_MOST ? length - done : LIST_MOST, bytes;
        bool keeps = cursor->type->program && kept < LISTS_KEPT;
        struct tern_accel_runs_key key = {0};
        if (keeps)
            key = key_of(cursor, most);
        bool found = keeps && tern_accel_runs_find(batch, &key, &runs);
        if (!found) {
            struct tern_ptx_run *list = tern_accel_list(batch, place);
            if (!list)
                break;
            if (written)
                tern_accel_catch_up(batch); /* the list is read until then */
            runs = tern_accel_runs_of(list, list_runs(cursor, list, most, &bytes));
            written = true;
        }
        bool none = runs.count < 1 || tern_accel_start_runs(batch, &runs, packed + done, pack);
        if (found)
            tern_accel_runs_started(&runs);
        if (none) {
            tern_cursor_seek(cursor, start);
            break;
        }
        tern_cursor_seek(cursor, start + (int64_t)runs.bytes);
        if (keeps && !found)
            tern_accel_runs_keep(batch, &key, &runs);
        done += runs.bytes;
    }
    return done;
}

/* Starts kernels for the cursor's next bytes, and advances. Kernels reach `packed`. Returns how
 * many bytes they move; 0: there are none, or they are not worth it. */
static size_t start_kernels(struct tern_cursor *cursor, struct tern_accel_batch *batch,
                            char *packed, size_t length, bool pack)
{
    struct part part;
    if (is_for_kernel(cursor, length, &part))
        return start_kernel(cursor, &part, batch, packed, pack) ? (size_t)part.length : 0;
    if (is_for_list(cursor, (int64_t)length))
        return start_lists(cursor, batch, packed, length, pack);
    return 0;
}

/* Moves bytes by kernels that reach `packed`. Returns the bytes moved; 0: by none. */
static size_t move_by_kernel(struct tern_cursor *cursor, const struct tern_accel_place *place,
                             char *packed, size_t bytes, bool pack)
{
    struct tern_accel_batch batch;
    tern_accel_begin(&batch, NULL, place);
    size_t moved = start_kernels(cursor, &batch, packed, bytes, pack);
    int error = tern_accel_end(&batch);
    if (moved && error && !cursor->error)
        cursor->error = error;
    if (moved && error && pack && !tern_accel_is_device(packed))
        memset(packed, 0, moved); /* what was never set is not sent */
    return moved;
}

/* The same for any `packed`: by way of pinned memory if it is in host memory. */
static size_t move_some(struct tern_cursor *cursor, char *packed, size_t max, bool pack)
{
    struct part part;
    struct tern_accel_place room, there;
    const struct tern_accel_place *here;
    int64_t left = cursor->length - cursor->offset;
    size_t bytes = (int64_t)max < left ? max : (size_t)left, moved = 0;
    bool reached;
    if ((!is_for_kernel(cursor, bytes, &part) && !is_for_list(cursor, (int64_t)bytes)) ||
        !(here = find_place(cursor, &room)))
        return 0;
    if (tern_accel_find(packed, &there))
        return tern_accel_same(here, &there) ? move_by_kernel(cursor, here, packed, bytes, pack)
                                             : 0;
    char *bounce = tern_accel_pinned_take(here, &reached);
    bytes = bytes < TERN_ACCEL_PINNED ? bytes : TERN_ACCEL_PINNED;
    if (bounce && reached) {
        if (!pack)
            memcpy(bounce, packed, bytes);
        moved = move_by_kernel(cursor, here, bounce, bytes, pack);
        if (pack)
            memcpy(packed, bounce, moved);
    }
    if (bounce)
        tern_accel_pinned_give(bounce);
    return moved;
}

size_t tern_device_move(struct tern_cursor *cursor, void *packed, size_t max, bool pack)
{
    if (cursor->stage)
        return tern_stage_move(cursor, packed, max, pack);
    struct iovec runs[RUNS];
    size_t done = 0, bytes = 1;
    int count;
    while (done < max && bytes) {
        bytes = move_some(cursor, (char *)packed + done, max - done, pack);
        done += bytes;
    }
    while (done < max && (count = tern_cursor_runs(cursor, runs, RUNS, max - done, &bytes)) > 0) {
        int error = move_described(cursor, runs, count, (char *)packed + done, pack);
        if (error && pack && !tern_accel_is_device(packed))
            memset((char *)packed + done, 0, bytes); /* what was never set is not sent */
        if (error && !cursor->error)
            cursor->error = error;
        done += bytes;
    }
    return done;
}

/* Starts the copies of a part of the buffer. `direct`: kernels reach `packed`. */
static void start_part(struct tern_cursor *cursor, struct tern_accel_batch *batch, char *packed,
                       size_t length, bool pack, bool direct)
{
    struct iovec runs[RUNS];
    size_t done = direct ? start_kernels(cursor, batch, packed, length, pack) : 0, bytes;
    int count;
    while (done < length &&
           (count = tern_cursor_runs(cursor, runs, RUNS, length - done, &bytes)) > 0) {
        move_runs(batch, runs, count, packed + done, pack, false);
        done += bytes;
    }
}

void tern_cursor_start_unpack(struct tern_cursor *cursor, struct tern_accel_batch *batch,
                              const void *in, size_t length, bool direct)
{
    start_part(cursor, batch, (char *)in, length, false, direct);
}

int tern_device_start(struct tern_cursor *cursor, char *packed, size_t bytes, bool pack,
                      bool direct, struct tern_accel_mark *ret_mark)
{
    struct tern_accel_batch batch;
    struct tern_cursor look = *cursor;
    struct iovec run = {0};
    *ret_mark = (struct tern_accel_mark){0};
    tern_cursor_runs(&look, &run, 1, bytes, NULL);
    tern_accel_begin(&batch, run.iov_base, cursor->place);
    start_part(cursor, &batch, packed, bytes, pack, direct);
    return tern_accel_end_later(&batch, ret_mark);
}

/* Returns the next bytes of the cursor if they are one run, else NULL. */
static char *one_run(const struct tern_cursor *cursor, int64_t bytes)
{
    struct tern_cursor copy = *cursor;
    struct iovec run;
    size_t covered;
    if (cursor->memory == TERN_TYPE_MIXED)
        return NULL;
    tern_cursor_runs(&copy, &run, 1, (size_t)bytes, &covered);
    return (int64_t)covered == bytes ? run.iov_base : NULL;
}

/* Returns memory on the device of both buffers; NULL: they are not on one device, or there is
 * none. */
static char *take_spare(const struct tern_cursor *to, const struct tern_cursor *from, size_t bytes)
{
    struct tern_accel_place there, here;
    bool same = to->memory == TERN_TYPE_DEVICE && from->memory == TERN_TYPE_DEVICE &&
                find_next_byte(to, &there) && find_next_byte(from, &here) &&
                tern_accel_same(&there, &here);
    return same ? tern_accel_spare_take(&here, bytes) : NULL;
}

int64_t tern_device_type_copy(struct tern_cursor *to, struct tern_cursor *from, int64_t bytes)
{
    char *run = one_run(from, bytes);
    if (run && to->memory) {
        tern_cursor_unpack(to, run, (size_t)bytes);
        return to->error ? to->error : bytes;
    }
    run = one_run(to, bytes);
    if (run && from->memory) {
        tern_cursor_pack(from, run, (size_t)bytes);
        return from->error ? from->error : bytes;
    }
    int64_t room = bytes < BOUNCE_MAX ? bytes : BOUNCE_MAX;
    char *spare = take_spare(to, from, (size_t)room);
    char *bounce = spare ? spare : malloc((size_t)room);
    if (!bounce)
        return tern_error(TERN_ERR_NO_MEM, "no memory for %lld bytes on their way between buffers",
                          (long long)room);
    for (int64_t done = 0; done < bytes;) {
        int64_t left = bytes - done;
        size_t part = tern_cursor_pack(from, bounce, (size_t)(left < room ? left : room));
        tern_cursor_unpack(to, bounce, part);
        done += (int64_t)part;
    }
    if (spare)
        tern_accel_spare_give(spare);
    else
        free(bounce);
    return from->error ? from->error : to->error ? to->error : bytes;
}
