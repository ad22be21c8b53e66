/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Moves bytes through a program.
 *
 * A cursor's position is only its offset in the packed stream. Every call walks down from the top
 * to that place: one division per loop or blocks, a binary search per list. Then the call moves
 * whole pieces by the leaves' loops, and ends with the first bytes of the next piece. So seeking is
 * free, a cursor is small and never stale, and a pipeline may stop in the middle of a double. The
 * walk costs some ten nanoseconds, which is little for a packet of some kilobytes.
 *
 * One walk serves all three directions; only the leaves differ. Equal blocks go to block.c, which
 * has loops for each size.
 */
#include "lib/type/block.h"
#include "lib/type/device_move.h"
#include "lib/type/type_program.h"
#include "lib/type/type.h"

#include <string.h>

enum direction { PACK, UNPACK, RUNS };

struct stream {
    enum direction direction;
    bool streamed;      /* the transfer is larger than the caches and should bypass them */
    char *packed;       /* pack, unpack: next byte of the packed stream */
    int64_t left;       /* bytes still wanted; 0 ends the walk */
    int64_t cut;        /* runs only: bytes still wanted when there was no room for another run */
    struct iovec *runs; /* runs only: the array to fill */
    int run_count, run_max;
};

/* Returns i * stride. The product may wrap for the element behind the last, whose address is never
 * used. */
static inline int64_t times(int64_t i, int64_t stride)
{
    return (int64_t)((uint64_t)i * (uint64_t)stride);
}

static inline int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void describe_run(struct stream *s, char *at, int64_t size)
{
    struct iovec *last = s->run_count > 0 ? &s->runs[s->run_count - 1] : NULL;
    if (last && tern_block_at(last->iov_base, (int64_t)last->iov_len) == at) {
        last->iov_len += (size_t)size;
    } else if (s->run_count < s->run_max) {
        s->runs[s->run_count++] = (struct iovec){at, (size_t)size};
    } else {
        s->cut = s->left;
        s->left = 0;
        return;
    }
    s->left -= size;
}

/* Moves or describes one run; size <= left. */
static inline void move_run(struct stream *s, char *at, int64_t size)
{
    if (s->direction == RUNS) {
        describe_run(s, at, size);
        return;
    }
    if (s->direction == PACK)
        memcpy(s->packed, at, (size_t)size);
    else
        memcpy(at, s->packed, (size_t)size);
    s->packed += size;
    s->left -= size;
}

static void move_whole(struct stream *s, const struct tern_program *program, int64_t size,
                       char *at);

/* Moves rows by one call if a row is a run, a loop or blocks of runs, or a list of runs. The caller
 * has filled in the rows of `blocks`; `each` is the content of one row. Returns false if a row is
 * something else. */
static bool move_rows(struct stream *s, struct tern_block_rows *blocks,
                      const struct tern_piece *each)
{
    const struct tern_program *body = each->body;
    int64_t size = blocks->rows * each->size;
    if (s->direction == RUNS || (body && body->each.body))
        return false;
    if (!body) { /* one long row is better than many short ones */
        blocks->size = (size_t)each->size;
        blocks->count = blocks->rows;
        blocks->stride = blocks->row_stride;
        blocks->places = blocks->row_places;
        blocks->rows = 1;
        blocks->row_places = NULL;
    } else if (body->kind == TERN_PROGRAM_LIST) {
        if (!body->longest)
            return false;
        blocks->size = (size_t)body->longest;
        blocks->count = body->count;
        blocks->list = body->list;
    } else {
        blocks->size = (size_t)body->each.size;
        blocks->count = body->count;
        blocks->stride = body->stride;
        blocks->places = body->places;
    }
    blocks->streamed = s->streamed;
    tern_block_move(s->direction == PACK, s->packed, blocks);
    s->packed += size;
    s->left -= size;
    return true;
}

/* Does that for one row. */
static bool move_row(struct stream *s, char *at, const struct tern_piece *row)
{
    struct tern_block_rows blocks = {.base = at, .rows = 1};
    return move_rows(s, &blocks, row);
}

/* Moves `count` whole repetitions of a loop's piece; count * size <= left. */
static void move_loop(struct stream *s, const struct tern_program *loop, char *at, int64_t count)
{
    struct tern_block_rows blocks = {.base = at, .rows = count, .row_stride = loop->stride};
    if (move_rows(s, &blocks, &loop->each))
        return;
    for (; count > 0 && s->left; count--, at = tern_block_at(at, loop->stride))
        move_whole(s, loop->each.body, loop->each.size, at);
}

/* Moves `count` whole blocks, beginning with number `first`. */
static void move_blocks(struct stream *s, const struct tern_program *program, char *base,
                        int64_t first, int64_t count)
{
    const int64_t *places = program->places + first;
    struct tern_block_rows blocks = {.base = base, .rows = count, .row_places = places};
    if (move_rows(s, &blocks, &program->each))
        return;
    for (int64_t i = 0; i < count && s->left; i++)
        move_whole(s, program->each.body, program->each.size, tern_block_at(base, places[i]));
}

/* Moves a whole piece; size <= left. A description of runs may end before, for lack of room. */
static void move_whole(struct stream *s, const struct tern_program *program, int64_t size, char *at)
{
    if (!program) {
        move_run(s, at, size);
        return;
    }
    switch (program->kind) {
    case TERN_PROGRAM_LOOP: move_loop(s, program, at, program->count); break;
    case TERN_PROGRAM_BLOCKS: move_blocks(s, program, at, 0, program->count); break;
    case TERN_PROGRAM_LIST:
        if (move_row(s, at, &(struct tern_piece){0, size, (struct tern_program *)program}))
            break;
        for (const struct tern_entry *entry = program->list;
             entry < program->list + program->count && s->left; entry++)
            move_whole(s, entry->body, entry[1].at - entry->at, tern_block_at(at, entry->offset));
    }
}

static void move_part(struct stream *s, const struct tern_program *program, int64_t size, char *at,
                      int64_t skip);

/* Moves the part of a loop or of blocks behind `skip` bytes, as far as the stream goes: the rest of
 * the first piece, whole pieces, the beginning of the last. */
static void move_part_of_equal(struct stream *s, const struct tern_program *program, char *at,
                               int64_t skip)
{
    const struct tern_piece *each = &program->each;
    const int64_t *places = program->places;
    int64_t i = skip / each->size;
    skip -= i * each->size;
    if (skip > 0) {
        move_part(s, each->body, each->size,
                  tern_block_at(at, places ? places[i] : times(i, program->stride)), skip);
        i++;
    }
    int64_t whole = smaller(program->count - i, s->left / each->size);
    if (whole > 0) {
        if (places)
            move_blocks(s, program, at, i, whole);
        else
            move_loop(s, program, tern_block_at(at, times(i, program->stride)), whole);
        i += whole;
    }
    if (s->left && i < program->count)
        move_part(s, each->body, each->size,
                  tern_block_at(at, places ? places[i] : times(i, program->stride)), 0);
}

/* Returns the entry that contains byte `at` of the list's stream; `count` if `at` is behind the
 * last. */
static int64_t find_entry(const struct tern_program *program, int64_t at)
{
    const struct tern_entry *list = program->list;
    int64_t low = 0, high = program->count + 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (list[middle].at <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Moves whole entries, beginning with number `first`, as many as fit. Returns how many. */
static int64_t move_entries(struct stream *s, const struct tern_program *program, char *at,
                            int64_t first)
{
    const struct tern_entry *list = program->list + first;
    int64_t count = find_entry(program, list->at + s->left) - first;
    if (count == 0)
        return 0;
    struct tern_program part = {.kind = TERN_PROGRAM_LIST,
                                .count = count,
                                .list = (struct tern_entry *)list,
                                .longest = program->longest};
    move_whole(s, &part, list[count].at - list->at, at);
    return count;
}

static void move_part_of_list(struct stream *s, const struct tern_program *program, char *at,
                              int64_t skip)
{
    const struct tern_entry *list = program->list;
    int64_t low = find_entry(program, skip);
    skip -= list[low].at;
    if (skip > 0) {
        move_part(s, list[low].body, list[low + 1].at - list[low].at,
                  tern_block_at(at, list[low].offset), skip);
        low++;
    }
    low += move_entries(s, program, at, low);
    if (s->left && low < program->count)
        move_part(s, list[low].body, list[low + 1].at - list[low].at,
                  tern_block_at(at, list[low].offset), 0);
}

/* Moves a piece from byte `skip` < size on, as far as the stream goes. */
static void move_part(struct stream *s, const struct tern_program *program, int64_t size, char *at,
                      int64_t skip)
{
    if (!program)
        move_run(s, tern_block_at(at, skip), smaller(size - skip, s->left));
    else if (skip == 0 && size <= s->left)
        move_whole(s, program, size, at);
    else if (program->kind == TERN_PROGRAM_LIST)
        move_part_of_list(s, program, at, skip);
    else
        move_part_of_equal(s, program, at, skip);
}

/* Moves the cursor's next bytes. Its elements are one more loop around the type's program. */
static void move(struct tern_cursor *cursor, struct stream *s)
{
    const struct tern_type *type = cursor->type;
    char *at = tern_block_at(cursor->base, type->start);
    s->left = smaller(s->left, cursor->length - cursor->offset);
    if (s->left <= 0)
        return;
    int64_t wanted = s->left;
    s->streamed = wanted >= tern_block_stream_min();
    if (cursor->count == 1) {
        move_part(s, type->program, type->size, at, cursor->offset);
    } else if (type->contiguous) {
        move_part(s, NULL, cursor->length, at, cursor->offset);
    } else {
        struct tern_program elements = {
            .kind = TERN_PROGRAM_LOOP,
            .count = cursor->count,
            .stride = type->extent,
            .each = {0, type->size, type->program},
        };
        move_part(s, &elements, cursor->length, at, cursor->offset);
    }
    cursor->offset += wanted - s->cut;
}

size_t tern_cursor_pack(struct tern_cursor *cursor, void *out, size_t max)
{
    if (TERN_UNLIKELY(cursor->memory))
        return tern_device_move(cursor, out, max, true);
    struct stream s = {.direction = PACK,
                       .packed = out,
                       .left = max > INT64_MAX ? INT64_MAX : (int64_t)max};
    int64_t before = cursor->offset;
    move(cursor, &s);
    return (size_t)(cursor->offset - before);
}

size_t tern_cursor_unpack(struct tern_cursor *cursor, const void *in, size_t length)
{
    if (TERN_UNLIKELY(cursor->memory))
        return tern_device_move(cursor, (void *)in, length, false);
    struct stream s = {.direction = UNPACK,
                       .packed = (char *)in,
                       .left = length > INT64_MAX ? INT64_MAX : (int64_t)length};
    int64_t before = cursor->offset;
    move(cursor, &s);
    return (size_t)(cursor->offset - before);
}

int tern_cursor_runs(struct tern_cursor *cursor, struct iovec *runs, int max_runs, size_t max_bytes,
                     size_t *ret_bytes)
{
    struct stream s = {
        .direction = RUNS,
        .left = max_bytes > INT64_MAX ? INT64_MAX : (int64_t)max_bytes,
        .runs = runs,
        .run_max = max_runs,
    };
    int64_t before = cursor->offset;
    if (max_runs > 0)
        move(cursor, &s);
    if (ret_bytes)
        *ret_bytes = (size_t)(cursor->offset - before);
    return s.run_count;
}

/* From RUN_WORTH bytes on a run is worth its own step. For shorter runs it is faster to pack into
 * the cache and to unpack from there. */
enum { RUN_WORTH = 1024, BOUNCE_SIZE = 8192, COPY_RUNS = 16 };

static int64_t copy_bounced(struct tern_cursor *to, struct tern_cursor *from, int64_t bytes)
{
    char bounce[BOUNCE_SIZE];
    for (int64_t done = 0; done < bytes;) {
        size_t part = tern_cursor_pack(from, bounce, (size_t)smaller(BOUNCE_SIZE, bytes - done));
        tern_cursor_unpack(to, bounce, part);
        done += (int64_t)part;
    }
    return bytes;
}

int64_t tern_type_copy(void *to, int64_t to_count, const struct tern_type *to_type,
                       const void *from, int64_t from_count, const struct tern_type *from_type)
{
    struct tern_cursor reader, writer;
    tern_cursor_init(&reader, from_type, from, from_count);
    tern_cursor_init(&writer, to_type, to, to_count);
    int64_t bytes = smaller(reader.length, writer.length);
    void *run;
    if (bytes == 0)
        return 0;
    if (TERN_UNLIKELY(reader.memory || writer.memory))
        return tern_device_type_copy(&writer, &reader, bytes);
    if (tern_type_run(from_type, from, from_count, &run))
        return (int64_t)tern_cursor_unpack(&writer, run, (size_t)bytes);
    if (tern_type_run(to_type, to, to_count, &run))
        return (int64_t)tern_cursor_pack(&reader, run, (size_t)bytes);

    for (int64_t done = 0; done < bytes;) {
        struct iovec runs[COPY_RUNS];
        struct tern_cursor back = reader;
        size_t covered;
        int count = tern_cursor_runs(&reader, runs, COPY_RUNS, (size_t)(bytes - done), &covered);
        if (covered < (size_t)count * RUN_WORTH) {
            int64_t part = smaller(BOUNCE_SIZE, bytes - done);
            reader = back;
            copy_bounced(&writer, &reader, part);
            done += part;
            continue;
        }
        for (int i = 0; i < count; i++)
            tern_cursor_unpack(&writer, runs[i].iov_base, runs[i].iov_len);
        done += (int64_t)covered;
    }
    return bytes;
}
