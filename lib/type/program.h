/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PROGRAM_H
#define TERN_PROGRAM_H

/*
 * The program of a type: which bytes of memory follow each other in the packed stream. Private to
 * lib/type.
 *
 * A piece is a part of the stream that begins at some byte of memory: a plain run when it has no
 * body, else what the body says. Bodies are immutable and counted, so that a type shares those of
 * the types it was made from: building costs the memory of the new level only.
 *
 * Bodies are in a normal form, kept by the functions below: a piece of one run has no body; no loop
 * runs once; a loop whose blocks touch is a run; a loop of a loop that goes on at the same stride
 * is one loop; equal blocks at equal distances are a loop, at other distances blocks, and only what
 * is left is a list. Short runs that are multiples of one length become blocks of that length, if
 * these take no more memory than the list: equal blocks are moved faster. So a vector of vectors of
 * a million blocks is two small bodies, and depth is bounded by the logarithm of the size, lists
 * apart.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_program;

struct tern_piece {
    int64_t offset; /* of its first byte of memory, from where the enclosing body begins */
    int64_t size;   /* packed bytes; 0: nothing */
    struct tern_program *body; /* NULL: one run */
};

enum tern_program_kind {
    TERN_PROGRAM_LOOP,   /* `count` times `each`, `stride` bytes apart */
    TERN_PROGRAM_BLOCKS, /* `each` at places[0..count-1] */
    TERN_PROGRAM_LIST,   /* different pieces one after the other */
};

struct tern_entry {
    int64_t at; /* packed bytes before it, for binary search */
    int64_t offset;
    struct tern_program *body;
};

struct tern_program {
    int refs;
    enum tern_program_kind kind;
    int64_t count;
    int64_t stride;          /* loop only */
    struct tern_piece each;  /* loop, blocks: what is repeated; offset 0 */
    int64_t *places;         /* blocks only */
    struct tern_entry *list; /* list only: count + 1 of them, the last one tells the end */
    /* list only: bytes of its longest run; 0: it has pieces that are no runs */
    int64_t longest;
};

struct tern_program *tern_program_retain(struct tern_program *program);
void tern_program_release(struct tern_program *program); /* NULL: nothing to do */

/*
 * Makers of pieces. They take no reference from their arguments; a body in *ret_piece is a new
 * reference. 0, or TERN_ERR_NO_MEM. The caller has checked that sizes and offsets fit int64_t.
 */
int tern_piece_repeat(struct tern_piece piece, int64_t count, int64_t stride,
                      struct tern_piece *ret_piece);

/* Collects pieces in the order of the packed stream. */
struct tern_pieces {
    struct tern_piece *pieces; /* each holds a reference to its body */
    int64_t count, room;
};

/* Appends; a run that touches the last one is merged, short lists are taken apart so that their
 * runs can be. 0, or TERN_ERR_NO_MEM; then the caller still drops the collection. */
int tern_pieces_append(struct tern_pieces *pieces, struct tern_piece piece);
/* Makes one piece of them all, in normal form. The collection is empty afterwards, also when it
 * fails. */
int tern_pieces_finish(struct tern_pieces *pieces, struct tern_piece *ret_piece);
void tern_pieces_drop(struct tern_pieces *pieces);

#endif
