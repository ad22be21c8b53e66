/* SPDX-License-Identifier: BSD-3-Clause */
/* A stream is one rank's standard output or error; a sink is where it goes (sink.h). What a rank
 * writes is held until its line is complete, so that lines of different ranks never mix. If a line
 * stays incomplete while its rank waits (a prompt, a row of dots), it is passed on after 100 ms as
 * it is. The output of a job of one rank without tags is passed on byte for byte.
 *
 * Time alone does not show that a rank waits: on a loaded machine it may get no processor for
 * longer than 100 ms in the middle of a line. So the kernel is asked. Either all its threads must
 * sleep, or those that do not (they may poll for a message) must have had 100 ms of processor time
 * since. A stopped rank does not count as waiting: it continues its line when it is continued.
 *
 * When a sink's writer has too many bytes waiting, its streams are not read until it has caught up.
 * The ranks' own writes then block, as they would on a slow pipe, and nothing is dropped. */
#include "mpirun/ranks/output.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/text.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/activity.h"
#include "mpirun/ranks/output_file.h"
#include "mpirun/ranks/sink.h"

enum { HOLD_MS = 100, READ_BYTES = 65536, LINE_MAX_BYTES = 1 << 20, READS_AT_ONCE = 16 };
/* after that many looks, a thread blocked by a disk or driver counts as asleep */
enum { BLOCKED_LOOKS = 20 };

struct stream {
    struct tern_watch watch;
    struct tern_timer hold;
    struct tern_source source;
    struct stream *next;
    int file_fd; /* of --output-filename, or -1 */
    bool open;
    char *held;   /* the incomplete line; owned */
    size_t held_bytes, held_room;
    int looks;       /* number of looks at the rank's activity since the line began */
    uint64_t cpu_ns; /* processor time of the rank at the first look */
};

static struct {
    const struct tern_options *options;
    const struct tern_output_listener *listener;
    struct tern_sink sinks[2], *sink_of[3];
    struct tern_watch notified;
    struct tern_source own; /* mpirun's own messages */
    struct stream *streams;
    struct stream *far; /* streams of other hosts; the one that wrote last comes first */
    size_t on_the_way;  /* on an agent: bytes sent that mpirun has not passed on yet */
    int open_streams, ranks;
    bool active, raw, failed;
} output;

/* Returns true if the stream must not be read for now. */
static bool is_full(struct stream *stream)
{
    return output.listener->forward ? output.on_the_way >= TERN_OUTPUT_CREDIT
                                    : tern_writer_full(&stream->source.sink->writer);
}

static struct tern_source source_of(int rank, int which)
{
    return (struct tern_source){ .sink = output.sink_of[which], .rank = rank, .which = which };
}

static struct stream *stream_of(struct tern_watch *watch)
{
    return (struct stream *)((char *)watch - offsetof(struct stream, watch));
}

/* Passes on bytes of the stream's current line and the lines after it. */
static void emit(struct stream *stream, const char *data, size_t size)
{
    if (size && output.listener->forward) {
        output.on_the_way += size;
        output.listener->forward(stream->source.rank, stream->source.which, data, size);
    } else if (size) {
        tern_sink_write(&stream->source, data, size);
    }
}

static void release_held(struct stream *stream)
{
    emit(stream, stream->held, stream->held_bytes);
    stream->held_bytes = 0;
    stream->looks = 0;
    tern_loop_stop_timer(&stream->hold);
}

/* Reports a failed output file. The message is written once for all ranks of this host, because a
 * full disk is full for all of them. */
static void file_failed(struct stream *stream, int error)
{
    static bool said;
    if (!said)
        tern_output_say("cannot write the output file of rank %d: %s; the output in files is not "
                        "complete",
                        stream->source.rank, strerror(error));
    said = true;
    output.listener->file_failed(stream->source.rank);
}

static void close_file(struct stream *stream)
{
    if (stream->file_fd >= 0 && close(stream->file_fd) < 0)
        file_failed(stream, errno);
    stream->file_fd = -1;
}

static void write_file(struct stream *stream, const char *data, size_t size)
{
    int error = stream->file_fd < 0 ? 0 : tern_output_file_write(stream->file_fd, data, size);
    if (error) {
        file_failed(stream, error);
        close_file(stream);
    }
}

static void hold(struct stream *stream, const char *data, size_t size)
{
    if (stream->held_bytes + size > stream->held_room) {
        stream->held_room = 2 * (stream->held_bytes + size);
        stream->held = tern_must_grow(stream->held, stream->held_room);
    }
    memcpy(stream->held + stream->held_bytes, data, size);
    stream->held_bytes += size;
}

static void take(struct stream *stream, const char *data, size_t size)
{
    write_file(stream, data, size);
    if (output.options->output_only_files)
        return;
    if (output.raw) {
        emit(stream, data, size);
        return;
    }
    const char *newline = memrchr(data, '\n', size);
    if (newline) {
        size_t length = newline + 1 - data;
        /* An agent sends a line in one piece: otherwise lines of other hosts could come between two
         * pieces. */
        bool together = output.listener->forward && stream->held_bytes;
        if (together)
            hold(stream, data, length);
        release_held(stream);
        if (!together)
            emit(stream, data, length);
        data += length;
        size -= length;
    }
    if (!size)
        return;
    hold(stream, data, size);
    if (stream->held_bytes >= LINE_MAX_BYTES)
        release_held(stream);
    else if (!stream->hold.due_ms)
        tern_loop_set_timer(&stream->hold, HOLD_MS);
}

static void close_stream(struct stream *stream)
{
    tern_loop_watch(&stream->watch, 0);
    release_held(stream);
    close(stream->watch.fd);
    close_file(stream);
    stream->open = false;
    free(stream->held);
    stream->held = NULL;
    output.open_streams--;
}

/* Reads what is there, up to `reads` pieces. Returns false if the stream has ended.
 *
 * A pty whose last user has gone gives EIO. But Linux may give EIO while a kernel worker still has
 * the last bytes: n_tty_read waits for the worker and only then checks whether the other end was
 * closed, which may have happened in between. Reading again waits for the worker. So EIO twice in a
 * row is the end. */
static bool read_some(struct stream *stream, int reads)
{
    static char buffer[READ_BYTES];
    bool gone = false;
    while (reads-- > 0 || gone) {
        ssize_t n = read(stream->watch.fd, buffer, sizeof buffer);
        if (n > 0)
            take(stream, buffer, n);
        else if (n < 0 && errno == EAGAIN)
            return true;
        else if (n == 0 || (errno != EINTR && (errno != EIO || gone)))
            return false;
        gone = n < 0 && errno == EIO;
    }
    return true;
}

static void stream_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct stream *stream = stream_of(watch);
    if (is_full(stream)) {
        tern_loop_watch(watch, 0);
        return;
    }
    if (!read_some(stream, READS_AT_ONCE)) {
        close_stream(stream);
        output.listener->closed(stream->source.rank);
    }
}

/* Returns true if the rank waits, and does not merely lack a processor. */
static bool rank_waits(struct stream *stream)
{
    pid_t pid = output.listener->process_of(stream->source.rank);
    if (!pid)
        return false;
    struct tern_activity now = tern_activity_of(pid);
    if (!stream->looks++ || now.cpu_ns < stream->cpu_ns)
        stream->cpu_ns = now.cpu_ns;
    if (now.stopped || (now.blocked && stream->looks < BLOCKED_LOOKS))
        return false;
    if (now.runnable)
        return now.cpu_ns - stream->cpu_ns >= (uint64_t)HOLD_MS * 1000000 * now.runnable;
    /* One process may have woken another and gone to sleep between the looks at the two. If none
     * has run until a second look at all, then all slept when the first look was over. */
    struct tern_activity then = tern_activity_of(pid);
    return !then.runnable && then.cpu_ns == now.cpu_ns;
}

static void hold_expired(struct tern_timer *timer)
{
    struct stream *stream = (struct stream *)((char *)timer - offsetof(struct stream, hold));
    bool waits = false;
    if (!is_full(stream)) {
        waits = rank_waits(stream);
        /* The rest of the line may be there already, because this process was slow to read it. */
        stream_ready(&stream->watch, 0);
        if (!stream->open || !stream->held_bytes || timer->due_ms)
            return;
    }
    if (waits)
        release_held(stream);
    else
        tern_loop_set_timer(timer, HOLD_MS);
}

static void watch_streams(void)
{
    for (struct stream *stream = output.streams; stream; stream = stream->next) {
        if (stream->open && !is_full(stream))
            tern_loop_watch(&stream->watch, EPOLLIN);
    }
}

/* Called when a writer has caught up or failed. */
static void writers_notified(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    eventfd_t count;
    eventfd_read(watch->fd, &count);
    for (int which = 1; which <= 2; which++) {
        int error = tern_writer_error(&output.sink_of[which]->writer);
        if (error && !output.failed) {
            output.failed = true;
            output.listener->write_failed(which, error);
        }
    }
    for (int which = 1; which <= 2; which++)
        tern_sink_settle(output.sink_of[which], output.listener->passed_on);
    watch_streams();
}

void tern_output_credit(size_t bytes)
{
    output.on_the_way -= bytes < output.on_the_way ? bytes : output.on_the_way;
    watch_streams();
}

static struct stream *far_stream(int rank, int which)
{
    struct stream **link = &output.far;
    while (*link && ((*link)->source.rank != rank || (*link)->source.which != which))
        link = &(*link)->next;
    struct stream *stream = *link;
    if (stream) { /* move it to the front: the stream that wrote last is likely to write next */
        *link = stream->next;
    } else {
        stream = tern_must_alloc(sizeof *stream);
        stream->source = source_of(rank, which);
        stream->file_fd = -1;
    }
    stream->next = output.far;
    output.far = stream;
    return stream;
}

void tern_output_take(int host, int rank, int which, const char *data, size_t size)
{
    struct stream *stream = far_stream(rank, which == 2 ? 2 : 1);
    emit(stream, data, size);
    tern_sink_owe(stream->source.sink, host, size);
    tern_sink_settle(stream->source.sink, output.listener->passed_on);
}

static bool same_file(int a, int b)
{
    struct stat one, other;
    return fstat(a, &one) == 0 && fstat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

int tern_output_open(const struct tern_options *options, int ranks,
                     const struct tern_output_listener *listener)
{
    output.options = options;
    output.listener = listener;
    output.ranks = ranks;
    output.raw = ranks == 1 && !options->tag_output && !options->timestamp_output;
    output.notified.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    output.notified.ready = writers_notified;
    if (output.notified.fd < 0 || tern_loop_watch(&output.notified, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "eventfd: %s", strerror(errno));
    output.sink_of[1] = &output.sinks[0];
    output.sink_of[2] = &output.sinks[1];
    if (listener->forward)
        return 0;
    output.sink_of[2] = same_file(1, 2) ? &output.sinks[0] : &output.sinks[1];
    for (int which = 1; which <= 2; which++) {
        struct tern_sink *sink = output.sink_of[which];
        if (which == 2 && sink == output.sink_of[1])
            break;
        sink->options = options;
        sink->raw = output.raw;
        int error = tern_writer_start(&sink->writer, which, output.notified.fd);
        if (error)
            return error;
    }
    output.own = source_of(TERN_SOURCE_MPIRUN, 2);
    output.active = true;
    return 0;
}

int tern_output_add(int rank, int which, int fd)
{
    struct stream *stream = tern_must_alloc(sizeof *stream);
    stream->watch = (struct tern_watch){ .fd = fd, .ready = stream_ready };
    stream->hold.expired = hold_expired;
    stream->source = source_of(rank, which);
    stream->file_fd = -1;
    stream->open = true;
    stream->next = output.streams;
    output.streams = stream;
    output.open_streams++;
    if (output.options->output_dir) {
        stream->file_fd = tern_output_file_open(output.options, output.ranks, rank, which);
        if (stream->file_fd < 0)
            return TERN_ERR_OTHER;
    }
    tern_loop_never_wait(fd);
    if (tern_loop_watch(&stream->watch, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
    return 0;
}

void tern_output_say(const char *format, ...)
{
    static const char name[] = "mpirun: ";
    char *text;
    va_list args;
    va_start(args, format);
    int formatted = vasprintf(&text, format, args);
    va_end(args);
    if (formatted < 0)
        return;
    if (!output.active) {
        tern_log("%s", text);
        free(text);
        return;
    }
    size_t room = sizeof name + 4 * (size_t)formatted + 2, length = sizeof name - 1;
    char *line = tern_must_alloc(room);
    memcpy(line, name, length);
    length += tern_text_make_printable(text, true, line + length, room - length - 1);
    line[length++] = '\n';
    tern_sink_write(&output.own, line, length);
    free(line);
    free(text);
}

int64_t tern_output_stuck_ms(int which)
{
    return output.active ? tern_writer_stuck_ms(&output.sink_of[which]->writer) : -1;
}

int tern_output_open_streams(void)
{
    return output.open_streams;
}

void tern_output_end_streams(void)
{
    for (struct stream *stream = output.streams; stream; stream = stream->next) {
        if (!stream->open)
            continue;
        read_some(stream, 1024);
        close_stream(stream);
    }
}

int tern_output_finish(void)
{
    int error = 0;
    tern_output_end_streams();
    for (int which = 1; which <= 2 && output.active; which++) {
        tern_writer_drain(&output.sink_of[which]->writer);
        if (!error && !output.failed)
            error = tern_writer_error(&output.sink_of[which]->writer);
    }
    if (output.active && close(STDOUT_FILENO) < 0 && !error && !output.failed)
        error = errno;
    return error;
}
