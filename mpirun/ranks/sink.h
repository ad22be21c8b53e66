/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SINK_H
#define TERN_MPIRUN_RANKS_SINK_H

/* Where output goes: mpirun's standard output or error, or both if they are the same file. Lines of
 * several sources come one behind the other; when a source's line comes after the incomplete line
 * of another one, a newline is put between. */

#include <stdbool.h>
#include <stddef.h>

#include "mpirun/plan/options.h"
#include "mpirun/ranks/writer.h"

struct tern_source;

struct tern_sink {
    struct tern_writer writer;
    const struct tern_options *options; /* which tags lines get */
    bool raw;                           /* ranks' bytes pass unchanged */
    struct tern_arrears *arrears;       /* what hosts have sent while the writer was full */
    struct tern_source
        *mid_line; /* whose incomplete line was passed on last; NULL: at the beginning of a line */
};

enum {
    TERN_SOURCE_MPIRUN = -1
}; /* in place of a rank: mpirun's own messages, which have no tags */

/* Who writes: a stream of a rank, or mpirun. */
struct tern_source {
    struct tern_sink *sink;
    int rank, which; /* which: 1 standard output, 2 error */
    bool in_line;    /* the beginning of the current line has been passed on */
};

/* Passes on `size` > 0 bytes of the source's current line and the lines after it. */
void tern_sink_write(struct tern_source *source, const char *data, size_t size);

/* Notes that `host` is to be told of these bytes when the writer has caught up. */
void tern_sink_owe(struct tern_sink *sink, int host, size_t bytes);
/* Tells hosts, oldest first, as long as the writer is not full. */
void tern_sink_settle(struct tern_sink *sink, void (*passed_on)(int host, size_t bytes));

#endif
