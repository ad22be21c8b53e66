/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/device_stage.h"

#include "lib/accel/device_pinned.h"
#include "lib/type/device_move.h"

#include <stdlib.h>
#include <string.h>

enum { PIECES = 4, PIECE_MOST = TERN_ACCEL_PINNED / PIECES, PIECE_LEAST = 64 << 10 };

/* Bytes of the packed stream on their way. */
struct piece {
    int64_t offset;
    size_t bytes; /* unpacked so far, or to be packed */
    struct tern_accel_mark mark;
};

struct tern_device_stage {
    char *memory;       /* pinned, of all pieces */
    size_t piece_bytes; /* of each piece */
    /* the pieces in use, a ring: their copies were started, but for the last one if `filling` */
    unsigned first, count;
    bool filling;
    bool direct; /* kernels reach the memory */
    struct piece pieces[PIECES];
};

static struct piece *piece_at(struct tern_device_stage *stage, unsigned i)
{
    return &stage->pieces[(stage->first + i) % PIECES];
}

static char *memory_of(struct tern_device_stage *stage, const struct piece *piece)
{
    return stage->memory + (size_t)(piece - stage->pieces) * PIECE_MOST;
}

static void note(struct tern_cursor *cursor, int error)
{
    if (error && !cursor->error)
        cursor->error = error;
}

/* Starts the copy between a piece and the buffer. */
static void start(struct tern_cursor *cursor, struct piece *piece, bool pack)
{
    char *memory = memory_of(cursor->stage, piece);
    struct tern_cursor at = *cursor;
    at.stage = NULL;
    tern_cursor_seek(&at, piece->offset);
    int error = tern_device_start(&at, memory, piece->bytes, pack, cursor->stage->direct,
                                  &piece->mark);
    if (error && pack)
        memset(memory, 0, piece->bytes); /* what was never set is not sent */
    note(cursor, error);
}

/* Waits for the first piece's copy. */
static void wait(struct tern_cursor *cursor, bool pack)
{
    struct piece *piece = piece_at(cursor->stage, 0);
    int error = tern_accel_wait(&piece->mark);
    if (error && pack)
        memset(memory_of(cursor->stage, piece), 0, piece->bytes);
    note(cursor, error);
}

static void drop_first(struct tern_device_stage *stage)
{
    stage->first = (stage->first + 1) % PIECES;
    stage->count--;
}

/* Starts copies from the device until all pieces are in use. */
static void fetch(struct tern_cursor *cursor)
{
    struct tern_device_stage *stage = cursor->stage;
    while (stage->count < PIECES) {
        const struct piece *last = stage->count ? piece_at(stage, stage->count - 1) : NULL;
        int64_t offset = last ? last->offset + (int64_t)last->bytes : cursor->offset;
        int64_t left = cursor->length - offset;
        if (left <= 0)
            return;
        struct piece *piece = piece_at(stage, stage->count++);
        *piece = (struct piece){.offset = offset,
                                .bytes = (size_t)left < stage->piece_bytes ? (size_t)left
                                                                           : stage->piece_bytes};
        start(cursor, piece, true);
    }
}

static void drop_all(struct tern_cursor *cursor, bool pack)
{
    for (struct tern_device_stage *stage = cursor->stage; stage->count; drop_first(stage))
        wait(cursor, pack);
}

static size_t pack_some(struct tern_cursor *cursor, char *packed, size_t max)
{
    struct tern_device_stage *stage = cursor->stage;
    const struct piece *piece = piece_at(stage, 0);
    if (stage->count && (cursor->offset < piece->offset ||
                         cursor->offset >= piece->offset + (int64_t)piece->bytes))
        drop_all(cursor, true); /* the cursor was set to another place */
    fetch(cursor);
    if (!stage->count)
        return 0;
    piece = piece_at(stage, 0);
    wait(cursor, true);
    size_t skipped = (size_t)(cursor->offset - piece->offset), left = piece->bytes - skipped;
    size_t bytes = left < max ? left : max;
    memcpy(packed, memory_of(stage, piece) + skipped, bytes);
    cursor->offset += (int64_t)bytes;
    if (bytes == left) {
        drop_first(stage);
        fetch(cursor);
    }
    return bytes;
}

/* Starts the copy of the piece that is being filled. */
static void send_off(struct tern_cursor *cursor)
{
    struct tern_device_stage *stage = cursor->stage;
    if (stage->filling)
        start(cursor, piece_at(stage, stage->count - 1), false);
    stage->filling = false;
}

static size_t unpack_some(struct tern_cursor *cursor, const char *packed, size_t max)
{
    struct tern_device_stage *stage = cursor->stage;
    int64_t left = cursor->length - cursor->offset;
    struct piece *piece = stage->filling ? piece_at(stage, stage->count - 1) : NULL;
    if (left <= 0)
        return 0;
    if (piece && piece->offset + (int64_t)piece->bytes != cursor->offset) {
        send_off(cursor);
        piece = NULL;
    }
    if (!piece) {
        if (stage->count == PIECES) {
            wait(cursor, false);
            drop_first(stage);
        }
        piece = piece_at(stage, stage->count++);
        *piece = (struct piece){.offset = cursor->offset};
        stage->filling = true;
    }
    size_t bytes = stage->piece_bytes - piece->bytes;
    bytes = bytes < max ? bytes : max;
    bytes = bytes < (size_t)left ? bytes : (size_t)left;
    memcpy(memory_of(stage, piece) + piece->bytes, packed, bytes);
    piece->bytes += bytes;
    cursor->offset += (int64_t)bytes;
    if (piece->bytes == stage->piece_bytes)
        send_off(cursor);
    return bytes;
}

size_t tern_stage_move(struct tern_cursor *cursor, char *packed, size_t max, bool pack)
{
    size_t done = 0, bytes = 1;
    while (done < max && bytes) {
        bytes = pack ? pack_some(cursor, packed + done, max - done)
                     : unpack_some(cursor, packed + done, max - done);
        done += bytes;
    }
    return done;
}

void tern_cursor_stage(struct tern_cursor *cursor)
{
    int64_t left = cursor->length - cursor->offset, quarter = left / PIECES;
    if (cursor->memory != TERN_TYPE_DEVICE || !cursor->place || left < PIECE_LEAST)
        return;
    struct tern_device_stage *stage = malloc(sizeof *stage);
    bool direct;
    char *memory = stage ? tern_accel_pinned_take(cursor->place, &direct) : NULL;
    if (!memory) {
        free(stage);
        return;
    }
    *stage = (struct tern_device_stage){
        .memory = memory,
        .direct = direct,
        .piece_bytes = quarter < PIECE_LEAST  ? PIECE_LEAST
                       : quarter > PIECE_MOST ? PIECE_MOST
                                              : (size_t)quarter,
    };
    cursor->stage = stage;
}

void tern_cursor_settle(struct tern_cursor *cursor)
{
    if (!cursor->stage)
        return;
    send_off(cursor);
    drop_all(cursor, false);
}

void tern_cursor_unstage(struct tern_cursor *cursor)
{
    struct tern_device_stage *stage = cursor->stage;
    if (!stage)
        return;
    for (; stage->count; drop_first(stage))
        tern_accel_wait(&piece_at(stage, 0)->mark);
    tern_accel_pinned_give(stage->memory);
    free(stage);
    cursor->stage = NULL;
}
