/* SPDX-License-Identifier: BSD-3-Clause */

/* Views: which bytes of a file a rank sees (MPI-4.1 section 14.3). */

#include "lib/io/access/view.h"

#include "lib/io/access/datarep.h"
#include "lib/util/base/error.h"

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

/* Refuses data at `at`. `last` is where the data before it end if the file is `written`, else where
 * their last etype begins. */
static int complain(const char *what, bool written, int64_t at, int64_t last)
{
    if (at < 0)
        return tern_error(TERN_ERR_ARG, "%s has data at displacement %lld; displacements may not "
                                        "be negative",
                          what, (long long)at);
    if (written)
        return tern_error(TERN_ERR_ARG,
                          "%s has data at displacement %lld, but the data before them reach to "
                          "%lld; in a file that is open for writing data may not overlap, and "
                          "displacements must not decrease",
                          what, (long long)at, (long long)last);
    return tern_error(TERN_ERR_ARG, "%s has data at displacement %lld behind data at %lld; "
                                    "displacements must not decrease",
                      what, (long long)at, (long long)last);
}

/* Walks through the runs of one element of a type as it lies in the file. Checks that none is
 * before the view's begin, and that no run begins before the last `unit` bytes of the one before
 * it: an etype, which may lie on another one in a file that is only read; 0 if it is written.
 * Stores the average length of a run. Looks at the first million runs only: a longer walk would
 * cost more than it is worth. */
static int walk(const char *what, const struct tern_type *type, int64_t unit,
                int64_t *ret_run_bytes)
{
    enum { AT_ONCE = 256 };
    const int64_t most = 1 << 20;
    struct iovec runs[AT_ONCE];
    struct tern_cursor cursor;
    int64_t number = 0, bytes = 0, last = -1;

    *ret_run_bytes = INT64_MAX;
    if (type->contiguous || type->size == 0)
        return 0;
    tern_cursor_init_host(&cursor, type, NULL, 1);
    while (cursor.offset < cursor.length && number < most) {
        int count = tern_cursor_runs(&cursor, runs, AT_ONCE, SIZE_MAX, NULL);
        for (int i = 0; i < count; i++, number++) {
            int64_t at = tern_view_offset_of(runs[i].iov_base);
            if (at < 0 || at < last)
                return complain(what, unit == 0, at, last);
            last = at + (int64_t)runs[i].iov_len - unit;
            last = last < at ? at : last;
            bytes += (int64_t)runs[i].iov_len;
        }
    }
    *ret_run_bytes = bytes / (number > 0 ? number : 1);
    return 0;
}

/* Finds how an etype lies in the file. */
static int set_etype(struct tern_view *view, bool writes)
{
    struct tern_datatype *layout;
    int64_t run_bytes;
    int error = tern_datarep_layout(view->datarep, view->etype, &layout);
    if (error)
        return error;
    view->etype_bytes = layout->type.size;
    view->etype_extent = layout->type.extent;
    error = writes ? walk("etype", &layout->type, 0, &run_bytes) : 0;
    tern_datatype_release(layout);
    return error;
}

int tern_view_set(struct tern_view *view, int64_t disp, struct tern_datatype *etype,
                  struct tern_datatype *filetype, const struct tern_datarep *datarep, bool writes)
{
    struct tern_view made = {
        .disp = disp, .etype = etype, .filetype = filetype, .datarep = datarep};
    int error = set_etype(&made, writes);
    if (!error)
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
        error = walk("filetype", &made.layout->type, writes ? 0 : made.etype_bytes,
                     &made.run_bytes);
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
