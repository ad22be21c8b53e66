/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/type_program.h"

#include "lib/accel/device_runs.h"
#include "lib/util/base/error.h"
#include "lib/util/base/handle.h"

#include <stdlib.h>

/* A list inside a list is copied into the outer list if it has at most SPLICE_MAX entries. That is
 * long enough for records in records, and short enough that a chain of types, each made from the
 * one before, stays linear in memory. A list of runs becomes blocks if there are at most SPLIT_MAX
 * times as many blocks as runs, of at most SPLIT_SIZE bytes each. */
enum { SPLICE_MAX = 64, SPLIT_MAX = sizeof(struct tern_entry) / sizeof(int64_t), SPLIT_SIZE = 64 };

struct tern_program *tern_program_retain(struct tern_program *program)
{
    if (program)
        tern_ref(&program->refs);
    return program;
}

void tern_program_release(struct tern_program *program)
{
    if (!program || tern_unref(&program->refs))
        return;
    if (program->number)
        tern_accel_runs_forget(program->number);
    tern_program_release(program->each.body);
    if (program->kind == TERN_PROGRAM_LIST)
        for (int64_t i = 0; i < program->count; i++)
            tern_program_release(program->list[i].body);
    free(program->places);
    free(program->list);
    free(program);
}

static struct tern_program *new_program(enum tern_program_kind kind, int64_t count)
{
    struct tern_program *program = calloc(1, sizeof *program);
    if (!program)
        return NULL;
    program->refs = 1;
    program->kind = kind;
    program->count = count;
    return program;
}

static int no_memory(void)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory for the layout of a datatype");
}

int tern_piece_repeat(struct tern_piece piece, int64_t count, int64_t stride,
                      struct tern_piece *ret_piece)
{
    if (count <= 0 || piece.size == 0) {
        *ret_piece = (struct tern_piece){0};
        return 0;
    }
    if (count == 1) {
        tern_program_retain(piece.body);
        *ret_piece = piece;
        return 0;
    }
    if (!piece.body && stride == piece.size) {
        *ret_piece = (struct tern_piece){piece.offset, piece.size * count, NULL};
        return 0;
    }
    const struct tern_program *inner = piece.body;
    struct tern_piece each = {0, piece.size, piece.body};
    int64_t loops = count, step = stride, turn;
    if (inner && inner->kind == TERN_PROGRAM_LOOP &&
        !__builtin_mul_overflow(inner->count, inner->stride, &turn) && turn == stride) {
        each = inner->each;
        loops = count * inner->count;
        step = inner->stride;
    }
    struct tern_program *loop = new_program(TERN_PROGRAM_LOOP, loops);
    if (!loop)
        return no_memory();
    loop->stride = step;
    loop->each = each;
    tern_program_retain(each.body);
    *ret_piece = (struct tern_piece){piece.offset, piece.size * count, loop};
    return 0;
}

static int append_one(struct tern_pieces *pieces, struct tern_piece piece)
{
    if (pieces->count > 0 && !piece.body) {
        struct tern_piece *last = &pieces->pieces[pieces->count - 1];
        if (!last->body && last->offset + last->size == piece.offset) {
            last->size += piece.size;
            return 0;
        }
    }
    if (pieces->count == pieces->room) {
        int64_t room = pieces->room ? 2 * pieces->room : 16;
        struct tern_piece *grown = realloc(pieces->pieces, (size_t)room * sizeof *grown);
        if (!grown)
            return no_memory();
        pieces->pieces = grown;
        pieces->room = room;
    }
    tern_program_retain(piece.body);
    pieces->pieces[pieces->count++] = piece;
    return 0;
}

static int append_list(struct tern_pieces *pieces, struct tern_piece piece)
{
    int error = 0;
    for (int64_t i = 0; i < piece.body->count && !error; i++) {
        const struct tern_entry *entry = &piece.body->list[i];
        error = append_one(pieces, (struct tern_piece){piece.offset + entry->offset,
                                                       entry[1].at - entry->at, entry->body});
    }
    return error;
}

/* Appends blocks that are runs. Runs that touch are merged again. */
static int append_blocks(struct tern_pieces *pieces, struct tern_piece piece)
{
    int error = 0;
    for (int64_t i = 0; i < piece.body->count && !error; i++)
        error = append_one(pieces, (struct tern_piece){piece.offset + piece.body->places[i],
                                                       piece.body->each.size, NULL});
    return error;
}

int tern_pieces_append(struct tern_pieces *pieces, struct tern_piece piece)
{
    const struct tern_program *body = piece.body;
    if (piece.size == 0)
        return 0;
    if (body && body->kind == TERN_PROGRAM_LIST && body->count <= SPLICE_MAX)
        return append_list(pieces, piece);
    if (body && body->kind == TERN_PROGRAM_BLOCKS && !body->each.body &&
        body->count <= SPLICE_MAX * SPLIT_MAX)
        return append_blocks(pieces, piece);
    return append_one(pieces, piece);
}

void tern_pieces_drop(struct tern_pieces *pieces)
{
    for (int64_t i = 0; i < pieces->count; i++)
        tern_program_release(pieces->pieces[i].body);
    free(pieces->pieces);
    *pieces = (struct tern_pieces){0};
}

static bool all_equal(const struct tern_pieces *pieces)
{
    const struct tern_piece *piece = pieces->pieces;
    for (int64_t i = 1; i < pieces->count; i++)
        if (piece[i].size != piece[0].size || piece[i].body != piece[0].body)
            return false;
    return true;
}

static bool equally_spaced(const struct tern_pieces *pieces)
{
    const struct tern_piece *piece = pieces->pieces;
    for (int64_t i = 2; i < pieces->count; i++)
        if (piece[i].offset - piece[i - 1].offset != piece[1].offset - piece[0].offset)
            return false;
    return true;
}

static int64_t greatest_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns the size of the equal blocks into which unequal runs should be cut; 0: leave the runs. */
static int64_t block_size(const struct tern_pieces *pieces)
{
    int64_t size = 0, total = 0;
    for (int64_t i = 0; i < pieces->count; i++) {
        const struct tern_piece *piece = &pieces->pieces[i];
        if (piece->body)
            return 0;
        size = greatest_divisor(size, piece->size);
        total += piece->size;
    }
    return size <= SPLIT_SIZE && total / size <= SPLIT_MAX * pieces->count ? size : 0;
}

/* Makes blocks of `size` bytes, which divides the size of each piece. */
static struct tern_program *make_blocks(const struct tern_pieces *pieces, int64_t size)
{
    int64_t count = 0;
    for (int64_t i = 0; i < pieces->count; i++)
        count += pieces->pieces[i].size / size;
    struct tern_program *program = new_program(TERN_PROGRAM_BLOCKS, count);
    if (!program)
        return NULL;
    int64_t *place = program->places = malloc((size_t)count * sizeof *program->places);
    if (!place) {
        free(program);
        return NULL;
    }
    for (int64_t i = 0; i < pieces->count; i++)
        for (int64_t done = 0; done < pieces->pieces[i].size; done += size)
            *place++ = pieces->pieces[i].offset + done;
    program->each = (struct tern_piece){0, size, tern_program_retain(pieces->pieces[0].body)};
    return program;
}

static struct tern_program *make_list(const struct tern_pieces *pieces)
{
    struct tern_program *program = new_program(TERN_PROGRAM_LIST, pieces->count);
    if (!program)
        return NULL;
    program->list = malloc((size_t)(pieces->count + 1) * sizeof *program->list);
    if (!program->list) {
        free(program);
        return NULL;
    }
    int64_t at = 0;
    bool runs = true;
    for (int64_t i = 0; i < pieces->count; i++) {
        const struct tern_piece *piece = &pieces->pieces[i];
        runs = runs && !piece->body;
        if (piece->size > program->longest)
            program->longest = piece->size;
        program->list[i] = (struct tern_entry){at, piece->offset, tern_program_retain(piece->body)};
        at += piece->size;
    }
    program->list[pieces->count] = (struct tern_entry){at, 0, NULL};
    if (!runs)
        program->longest = 0;
    return program;
}

static int finish(const struct tern_pieces *pieces, struct tern_piece *ret_piece)
{
    if (pieces->count == 0) {
        *ret_piece = (struct tern_piece){0};
        return 0;
    }
    const struct tern_piece *first = &pieces->pieces[0];
    bool equal = all_equal(pieces);
    if (pieces->count == 1 || (equal && equally_spaced(pieces)))
        return tern_piece_repeat(*first, pieces->count,
                                 pieces->count > 1 ? first[1].offset - first[0].offset : 0,
                                 ret_piece);
    int64_t each = equal ? first->size : block_size(pieces);
    struct tern_program *program = each ? make_blocks(pieces, each) : make_list(pieces);
    if (!program)
        return no_memory();
    int64_t size = each ? each * program->count : program->list[pieces->count].at;
    *ret_piece = (struct tern_piece){0, size, program};
    return 0;
}

int tern_pieces_finish(struct tern_pieces *pieces, struct tern_piece *ret_piece)
{
    int error = finish(pieces, ret_piece);
    tern_pieces_drop(pieces);
    return error;
}
