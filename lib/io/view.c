/* SPDX-License-Identifier: BSD-3-Clause */

/* Views: which bytes of a file a rank sees (MPI-4.1 section 14.3). */

#include "lib/io/view.h"

#include "lib/io/datarep.h"
#include "lib/util/error.h"

#include <string.h>

void tern_view_cursor(const struct tern_view *view, int64_t position, struct tern_cursor *cursor)
{
    const struct tern_type *type = &view->layout->type;
    int64_t count = type->size > 0 ? INT64_MAX / type->size : 0;
    tern_cursor_init_host(cursor, type, (void *)(intptr_t)view->disp, count);
    tern_cursor_seek(cursor, position);
}

int64_t tern_view_offset(const struct tern_view *view, int64_t position)
{
    const struct tern_type *type = &view->layout->type;
    struct tern_cursor cursor;
    struct iovec run;
    if (type->contiguous)
        return view->disp + type->true_lb + position;
    tern_view_cursor(view, position, &cursor);
    if (tern_cursor_runs(&cursor, &run, 1, 1, NULL) == 0)
        return view->disp;
    return tern_view_offset_of(run.iov_base);
}

bool tern_view_reaches(const struct tern_view *view, int64_t end)
{
    const struct tern_type *type = &view->layout->type;
    __int128 begin = (__int128)view->disp + type->true_lb;
    if (end <= 0 || type->size == 0)
        return true;
    if (type->contiguous)
        return begin + end <= INT64_MAX;
    return begin + (__int128)((end - 1) / type->size) * type->extent + type->true_extent <=
           INT64_MAX;
}

int64_t tern_view_position(const struct tern_view *view, int64_t offset)
{
    const struct tern_type *type = &view->layout->type;
    if (type->size == 0 || type->extent <= 0 || offset <= view->disp + type->true_lb)
        return 0;
    int64_t first = view->disp + type->true_lb;
    if (type->contiguous)
        return offset - first;
    /* Repetition `tile` begins at or before the offset. If the data of a filetype reach further
     * than its extent, those before may end behind it. */
    int64_t tile = (offset - first) / type->extent, low = tile * type->size;
    while (low > 0 && tern_view_offset(view, low - 1) >= offset)
        low -= type->size;
    return tern_view_position_within(view, low, low + type->size, offset);
}

bool tern_view_rises(const struct tern_view *view, int64_t begin, int64_t end)
{
    const struct tern_type *type = &view->layout->type;
    return type->contiguous || type->true_extent <= type->extent || begin >= end ||
           begin / type->size == (end - 1) / type->size;
}

int64_t tern_view_position_within(const struct tern_view *view, int64_t begin, int64_t end,
                                  int64_t offset)
{
    while (begin < end) { /* everything before `begin` is before the offset, `end` is not */
        int64_t middle = begin + (end - begin) / 2;
        if (tern_view_offset(view, middle) < offset)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/* Walks through the runs of one repetition of the layout. Checks that no run begins before the last
 * etype of the one before it, and that none is before the view's begin. Sets the average length of
 * a run. Looks at the first million runs only: a longer walk would cost more than it is worth. */
static int walk(struct tern_view *view)
{
    enum { AT_ONCE = 256 };
    const struct tern_type *type = &view->layout->type;
    const int64_t most = 1 << 20;
    struct iovec runs[AT_ONCE];
    struct tern_cursor cursor;
    int64_t number = 0, bytes = 0, last = -1;

    view->run_bytes = INT64_MAX;
    if (type->contiguous || type->size == 0)
        return 0;
    tern_cursor_init_host(&cursor, type, NULL, 1);
    while (cursor.offset < cursor.length && number < most) {
        int count = tern_cursor_runs(&cursor, runs, AT_ONCE, SIZE_MAX, NULL);
        for (int i = 0; i < count; i++, number++) {
            int64_t at = tern_view_offset_of(runs[i].iov_base);
            if (at < 0)
                return tern_error(TERN_ERR_ARG, "filetype has data at displacement %lld; "
                                                "displacements may not be negative",
                                  (long long)at);
            if (at < last)
                return tern_error(TERN_ERR_ARG,
                                  "filetype has data at displacement %lld behind data at %lld; "
                                  "displacements must not decrease",
                                  (long long)at, (long long)last);
            last = at + (int64_t)runs[i].iov_len - view->etype_bytes;
            last = last < at ? at : last;
            bytes += (int64_t)runs[i].iov_len;
        }
    }
    view->run_bytes = bytes / (number > 0 ? number : 1);
    return 0;
}

int tern_view_set(struct tern_view *view, int64_t disp, struct tern_datatype *etype,
                  struct tern_datatype *filetype, const struct tern_datarep *datarep)
{
    struct tern_view made = {
        .disp = disp, .etype = etype, .filetype = filetype, .datarep = datarep};
    struct tern_datatype *etype_layout;
    int error = tern_datarep_layout(datarep, etype, &etype_layout);
    if (error)
        return error;
    made.etype_bytes = etype_layout->type.size;
    made.etype_extent = etype_layout->type.extent;
    tern_datatype_release(etype_layout);
    error = tern_datarep_layout(datarep, filetype, &made.layout);
    if (error)
        return error;
    if (made.etype_bytes == 0 ? made.layout->type.size > 0
                              : made.layout->type.size % made.etype_bytes != 0)
        error = tern_error(TERN_ERR_ARG,
                           "filetype has %lld bytes of data, which is no multiple of the %lld "
                           "bytes of etype; make filetype of etypes",
                           (long long)made.layout->type.size, (long long)made.etype_bytes);
    if (!error)
        error = walk(&made);
    if (error) {
        tern_datatype_release(made.layout);
        return error;
    }
    tern_datatype_retain(etype);
    tern_datatype_retain(filetype);
    tern_view_drop(view);
    *view = made;
    return 0;
}

void tern_view_drop(struct tern_view *view)
{
    if (!view->etype)
        return;
    tern_datatype_release(view->etype);
    tern_datatype_release(view->filetype);
    tern_datatype_release(view->layout);
    memset(view, 0, sizeof *view);
}
