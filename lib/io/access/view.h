/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_VIEW_H
#define TERN_VIEW_H

/*
 * A view (MPI-4.1 section 14.3): which bytes of a file a rank sees, and in which order.
 *
 * The visible bytes, in order, are the view's stream. A position in the stream is counted in bytes,
 * from 0 on; an MPI offset is such a position divided by the size of an etype. A flat type maps the
 * stream to the file, as it maps a message to memory: offsets in the file are the "addresses".
 */

#include "lib/mpi/datatype/datatype.h"
#include "lib/type/type.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct tern_datarep;

/* A view. */
struct tern_view {
    int64_t disp;                   /* byte of the file at which the view begins */
    struct tern_datatype *etype;    /* as the user gave it; a reference */
    struct tern_datatype *filetype; /* as the user gave it; a reference */
    const struct tern_datarep *datarep;
    /* the filetype as it lies in the file: `filetype` itself, or its form in another data
     * representation; a reference */
    struct tern_datatype *layout;
    int64_t etype_bytes;  /* bytes of an etype in the file */
    int64_t etype_extent; /* extent of an etype in the file */
    int64_t run_bytes;    /* average length of the view's runs; INT64_MAX if it is one run */
};

/* Sets a view; `writes`: of a file that is open for writing. Takes references to the types. Returns
 * 0, TERN_ERR_ARG for an etype or a filetype that MPI does not allow, or another TERN_ERR_*. */
int tern_view_set(struct tern_view *view, int64_t disp, struct tern_datatype *etype,
                  struct tern_datatype *filetype, const struct tern_datarep *datarep, bool writes);
/* Drops the references. Does nothing if the view was never set. */
void tern_view_drop(struct tern_view *view);

/* Sets a cursor to a position of the stream. tern_cursor_runs then describes runs of the file:
 * iov_base is an offset in the file (tern_view_offset_of). */
void tern_view_cursor(const struct tern_view *view, int64_t position, struct tern_cursor *cursor);
/* Returns the offset in the file that a run's iov_base stands for. */
static inline int64_t tern_view_offset_of(const void *iov_base)
{
    return (int64_t)(intptr_t)iov_base;
}

/* Returns the offset in the file of the byte at a position of the stream. */
int64_t tern_view_offset(const struct tern_view *view, int64_t position);
/* Returns true if the offsets of all positions before `end` are less than 2^63. */
bool tern_view_reaches(const struct tern_view *view, int64_t end);
/* Returns the first position in the stream whose byte lies at `offset` of the file or behind. */
int64_t tern_view_position(const struct tern_view *view, int64_t offset);
/* Returns true if the offsets of the positions from `begin` to `end` - 1 rise. Repetitions of a
 * filetype may lie between each other in the file, so that they do not. */
bool tern_view_rises(const struct tern_view *view, int64_t begin, int64_t end);
/* Returns the first position from `begin` to `end` - 1 whose byte lies at `offset` or behind, or
 * `end`. The offsets must rise there. */
int64_t tern_view_position_within(const struct tern_view *view, int64_t begin, int64_t end,
                                  int64_t offset);

/* Returns true if the stream's bytes from any position on follow each other in the file. */
static inline bool tern_view_is_one_run(const struct tern_view *view)
{
    return view->layout->type.contiguous;
}

#endif
