/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TYPE_PROGRAM_H
#define TERN_TYPE_PROGRAM_H

/*
 * The program of a type: the order of memory bytes in the packed stream. Private to lib/type.
 *
 * A piece is a part of the stream, which begins at some byte of memory. A piece without a body is a
 * plain run; otherwise the body describes the piece. Bodies are immutable and counted. So a type
 * shares the bodies of the types that it was made from, and a new type costs the memory of its new
 * level only.
 *
 * The functions below keep bodies in a normal form:
 *
 *   - a piece of one run has no body
 *   - no loop runs once
 *   - a loop whose blocks touch is a run
 *   - a loop of a loop that goes on at the same stride is one loop
 *   - equal blocks at equal distances are a loop, at other distances blocks; the rest is a list
 *   - short runs that are multiples of one length become blocks of that length if these take no
 *     more memory than the list, because equal blocks are moved faster
 *
 * So a vector of vectors of a million blocks is two small bodies. Without lists, depth is bounded
 * by the logarithm of the size.
 */

#include <stdbool.h>
#include <stdint.h>

struct tern_program;

/* A part of the packed stream. */
struct tern_piece {
    /* of the first byte of memory, in bytes from the beginning of the enclosing body */
    int64_t offset;
    int64_t size;   /* bytes in the packed stream; 0: an empty piece */
    struct tern_program *body; /* NULL: one run */
};

/* Kinds of bodies. */
enum tern_program_kind {
    TERN_PROGRAM_LOOP,   /* `count` times `each`, `stride` bytes apart */
    TERN_PROGRAM_BLOCKS, /* `each` at places[0..count-1] */
    TERN_PROGRAM_LIST,   /* different pieces one after the other */
};

/* A piece of a list. The next entry's `at` tells its size. */
struct tern_entry {
    int64_t at; /* packed bytes before this entry, for binary search */
    int64_t offset; /* of the entry's memory, in bytes from the beginning of the body */
    struct tern_program *body; /* NULL: one run */
};

/* A body. */
struct tern_program {
    int refs; /* number of references */
    /* of lists of runs on devices (lib/accel/device_runs.h), never used again; 0: there are none.
     * Atomic */
    uint64_t number;
    enum tern_program_kind kind;
    int64_t count; /* of repetitions, places or entries */
    int64_t stride;          /* loop only, in bytes */
    struct tern_piece each;  /* loop and blocks only: the piece that is repeated; its offset is 0 */
    int64_t *places;         /* blocks only: offsets in bytes */
    struct tern_entry *list; /* list only: count + 1 entries; the last one marks the end */
    int64_t longest; /* list only: bytes of the longest run; 0: some piece is not a run */
};

/* Takes a reference. Returns `program`. */
struct tern_program *tern_program_retain(struct tern_program *program);
void tern_program_release(struct tern_program *program); /* drops a reference; NULL: does nothing */

/*
 * The functions below take no reference from their arguments. A body in *ret_piece is a new
 * reference. They return 0 or TERN_ERR_NO_MEM. The caller has checked that sizes and offsets fit
 * int64_t.
 *
 * tern_piece_repeat makes `count` copies of `piece`, `stride` bytes apart.
 */
int tern_piece_repeat(struct tern_piece piece, int64_t count, int64_t stride,
                      struct tern_piece *ret_piece);

/* Collects pieces in the order of the packed stream. */
struct tern_pieces {
    struct tern_piece *pieces; /* owned; each holds a reference to its body */
    int64_t count, room; /* pieces stored, and pieces for which there is memory */
};

/* Appends a piece. A run that touches the last run is merged with it. A short list is taken apart
 * so that its runs can be merged. Returns 0 or TERN_ERR_NO_MEM; also after a failure the caller
 * must call tern_pieces_drop. */
int tern_pieces_append(struct tern_pieces *pieces, struct tern_piece piece);
/* Makes one piece of all collected ones, in normal form. Returns 0 or TERN_ERR_NO_MEM. Leaves the
 * collection empty, also on failure. */
int tern_pieces_finish(struct tern_pieces *pieces, struct tern_piece *ret_piece);
/* Frees the collection and the references that it holds. */
void tern_pieces_drop(struct tern_pieces *pieces);

#endif
