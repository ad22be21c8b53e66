/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpirun/base/strings.h"

/* Bytes that a host will be told about when the writer is no longer full. */
struct tern_arrears {
    struct tern_arrears *next;
    int host;
    size_t bytes;
};

static size_t make_tag(const struct tern_source *source, char *tag, size_t room)
{
    const struct tern_options *options = source->sink->options;
    size_t used = 0;
    if (options->timestamp_output) {
        time_t now = time(NULL);
        struct tm local;
        localtime_r(&now, &local);
        used = strftime(tag, room, "%a %b %e %H:%M:%S %Y", &local);
    }
    const char *name = source->which == 1 ? "stdout" : "stderr";
    if (options->tag_output)
        used += snprintf(tag + used, room - used, "[%d,%d]<%s>:", options->job_number,
                         source->rank, name);
    else if (used)
        used += snprintf(tag + used, room - used, "<%s>:", name);
    return used;
}

/* Writes lines with their tags, by one call: another mpirun of the same terminal may write between
 * two. */
static void write_tagged(struct tern_source *source, const char *data, size_t size, const char *tag,
                         size_t tag_bytes)
{
    bool in_line = source->in_line;
    size_t lines = 1, used = 0;
    for (size_t at = 0; at < size; at++)
        lines += data[at] == '\n';
    char *text = tern_must_alloc(size + lines * tag_bytes);
    for (size_t at = 0; at < size;) {
        const char *newline = memchr(data + at, '\n', size - at);
        size_t length = newline ? (size_t)(newline - data) + 1 - at : size - at;
        if (!in_line) {
            memcpy(text + used, tag, tag_bytes);
            used += tag_bytes;
        }
        memcpy(text + used, data + at, length);
        used += length;
        in_line = false;
        at += length;
    }
    tern_writer_add(&source->sink->writer, text, used);
    free(text);
}

void tern_sink_write(struct tern_source *source, const char *data, size_t size)
{
    struct tern_sink *sink = source->sink;
    bool own = source->rank == TERN_SOURCE_MPIRUN;
    if (sink->raw && !own) {
        tern_writer_add(&sink->writer, data, size);
        sink->mid_line = data[size - 1] == '\n' ? NULL : source;
        return;
    }
    char tag[128];
    size_t tag_bytes = own ? 0 : make_tag(source, tag, sizeof tag);
    struct tern_source *other = sink->mid_line;
    if (other && other != source && (other->rank != source->rank || tag_bytes)) {
        tern_writer_add(&sink->writer, "\n", 1);
        other->in_line = false;
    }
    if (tag_bytes)
        write_tagged(source, data, size, tag, tag_bytes);
    else
        tern_writer_add(&sink->writer, data, size);
    source->in_line = data[size - 1] != '\n';
    sink->mid_line = source->in_line ? source : NULL;
}

void tern_sink_owe(struct tern_sink *sink, int host, size_t bytes)
{
    struct tern_arrears *owed = tern_must_alloc(sizeof *owed), **link = &sink->arrears;
    *owed = (struct tern_arrears){NULL, host, bytes};
    while (*link)
        link = &(*link)->next;
    *link = owed;
}

void tern_sink_settle(struct tern_sink *sink, void (*passed_on)(int host, size_t bytes))
{
    while (sink->arrears && !tern_writer_full(&sink->writer)) {
        struct tern_arrears *first = sink->arrears;
        sink->arrears = first->next;
        passed_on(first->host, first->bytes);
        free(first);
    }
}
