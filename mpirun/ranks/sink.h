/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_SINK_H
#define TERN_MPIRUN_RANKS_SINK_H

/* A sink is where output goes: mpirun's standard output or error, or both if they are the same
 * file. Lines of several sources follow each other. If another source's line is still incomplete, a
 * newline is inserted first. */

#include <stdbool.h>
#include <stddef.h>

#include "mpirun/plan/words/options.h"
#include "mpirun/ranks/writer.h"

struct tern_source;

struct tern_sink {
    struct tern_writer writer;
    const struct tern_options *options; /* say which tags lines get */
    bool raw;                           /* the ranks' bytes are passed on unchanged */
    /* bytes to report to their hosts when the writer is no longer full */
    struct tern_arrears *arrears;
    /* the source whose incomplete line was written last; NULL: at the beginning of a line */
    struct tern_source
        *mid_line;
};

enum {
    TERN_SOURCE_MPIRUN = -1
}; /* in place of a rank: mpirun's own messages, which get no tags */

/* Where output comes from: a stream of a rank, or mpirun itself. */
struct tern_source {
    struct tern_sink *sink;
    int rank, which; /* which: 1 for standard output, 2 for standard error */
    bool in_line;    /* the beginning of the source's current line has been written */
};

/* Writes `size` > 0 bytes: the rest of the source's current line and the lines after it. */
void tern_sink_write(struct tern_source *source, const char *data, size_t size);

/* Notes that `host` must be told about `bytes` when the writer is no longer full. */
void tern_sink_owe(struct tern_sink *sink, int host, size_t bytes);
/* Reports noted bytes to their hosts by `passed_on`, oldest first, until the writer is full. */
void tern_sink_settle(struct tern_sink *sink, void (*passed_on)(int host, size_t bytes));

#endif
