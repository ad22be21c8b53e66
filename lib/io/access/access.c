/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The accesses of one rank. The bytes of a view's stream are moved by pieces. A piece lies in the
 * user's memory itself if that is one run, else in a buffer. The piece's runs in the file are
 * written one by one: writing the gaps between them as well would need to read them first, and
 * could undo what another process writes there. Reads may take gaps along (data sieving), if these
 * are not much longer than the runs.
 */
#include "lib/io/access/access.h"

#include "lib/util/base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most bytes of one system call: Linux moves at most 2 GiB less a page. */
enum { MOST_OF_CALL = 1 << 30 };
/* Number of runs of the file that are looked at together. */
enum { RUNS = 512 };
/* The most bytes of a piece while somebody watches. */
enum { WATCHED_PIECE = 1 << 24 };

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

int tern_access_write(const struct tern_access *a, const void *buf, int64_t length, int64_t offset)
{
    const char *from = buf;
    while (length > 0) {
        ssize_t n = pwrite(a->fd, from, (size_t)smaller(length, MOST_OF_CALL), offset);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return tern_system_error("write", a->path, n < 0 ? errno : ENOSPC);
        from += n;
        offset += n;
        length -= n;
    }
    return 0;
}

int tern_access_read(const struct tern_access *a, void *buf, int64_t length, int64_t offset,
                     int64_t *ret_done)
{
    char *to = buf;
    int64_t done = 0;
    bool asked = !a->revalidates;
    while (done < length) {
        ssize_t n = pread(a->fd, to + done, (size_t)smaller(length - done, MOST_OF_CALL),
                          offset + done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return tern_system_error("read", a->path, errno);
        if (n == 0 && asked)
            break;
        if (n == 0) {
            tern_system_revalidate(a->fd);
            asked = true;
        }
        done += n;
    }
    *ret_done = done;
    return 0;
}

/* ---- one piece: contiguous in memory ---- */

static int write_piece(struct tern_access *a, struct tern_cursor *file, const char *from,
                       int64_t length)
{
    struct iovec runs[RUNS];
    while (length > 0) {
        int count = tern_cursor_runs(file, runs, RUNS, (size_t)length, NULL);
        for (int i = 0; i < count; i++) {
            int64_t bytes = (int64_t)runs[i].iov_len;
            int error = tern_access_write(a, from, bytes,
                                          tern_view_offset_of(runs[i].iov_base));
            if (error)
                return error;
            from += bytes;
            length -= bytes;
            a->done += bytes;
        }
    }
    return 0;
}

/* A stretch of the file that was read in one go, gaps included. */
struct sieve {
    char *bytes;
    int64_t room;        /* bytes that fit; 0: no sieve */
    int64_t begin, end;  /* offsets in the file; nothing was read yet if both are equal */
};

/* Reads the stretch that begins with run `i` and ends with the last run that fits. A run that lies
 * before the one before it ends the stretch. */
static int fill_sieve(struct tern_access *a, struct sieve *sieve, const struct iovec *runs, int i,
                      int count)
{
    int64_t begin = tern_view_offset_of(runs[i].iov_base), end = begin, done;
    for (; i < count; i++) {
        int64_t run = tern_view_offset_of(runs[i].iov_base);
        int64_t run_end = run + (int64_t)runs[i].iov_len;
        if (run < end || run_end - begin > sieve->room)
            break;
        end = run_end;
    }
    int error = tern_access_read(a, sieve->bytes, end - begin, begin, &done);
    sieve->begin = begin;
    sieve->end = error ? begin : begin + done;
    return error;
}

/* Reads one run, from the sieve if there is one and if the run is shorter than it. Sets *ret_done
 * to the bytes read: fewer at the end of the file. */
static int read_run(struct tern_access *a, struct sieve *sieve, const struct iovec *runs, int i,
                    int count, char *to, int64_t *ret_done)
{
    int64_t at = tern_view_offset_of(runs[i].iov_base), bytes = (int64_t)runs[i].iov_len;
    if (2 * bytes > sieve->room)
        return tern_access_read(a, to, bytes, at, ret_done);
    if (at < sieve->begin || at + bytes > sieve->end) {
        int error = fill_sieve(a, sieve, runs, i, count);
        if (error)
            return error;
    }
    *ret_done = at < sieve->end ? smaller(bytes, sieve->end - at) : 0;
    memcpy(to, sieve->bytes + (at - sieve->begin), (size_t)*ret_done);
    return 0;
}

/* Sets *ret_ended if the file ended within the piece. */
static int read_piece(struct tern_access *a, struct tern_cursor *file, struct sieve *sieve,
                      char *to, int64_t length, int64_t *ret_done, bool *ret_ended)
{
    struct iovec runs[RUNS];
    int64_t begin = length;
    while (length > 0 && !*ret_ended) {
        int count = tern_cursor_runs(file, runs, RUNS, (size_t)length, NULL);
        for (int i = 0; i < count && !*ret_ended; i++) {
            int64_t bytes = (int64_t)runs[i].iov_len, done = 0;
            int error = read_run(a, sieve, runs, i, count, to, &done);
            if (error)
                return error;
            to += done;
            length -= done;
            *ret_ended = done < bytes;
        }
    }
    *ret_done = begin - length;
    return 0;
}

/* ---- the whole access ---- */

/* Decides whether a read takes gaps along, and makes room for it. */
static void open_sieve(const struct tern_access *a, struct sieve *sieve)
{
    enum { WORTH = 16384, WIDE = 8 };
    const struct tern_view *view = a->view;
    const struct tern_type *type = &view->layout->type;
    *sieve = (struct sieve){0};
    if (a->writes || a->hints->ds_read == TERN_HINT_DISABLE || tern_view_is_one_run(view))
        return;
    bool dense = type->size > 0 && type->extent / type->size < WIDE;
    if (a->hints->ds_read == TERN_HINT_ENABLE || (view->run_bytes < WORTH && dense)) {
        sieve->bytes = malloc((size_t)a->hints->ind_rd_buffer_size);
        sieve->room = sieve->bytes ? a->hints->ind_rd_buffer_size : 0;
    }
}

/* Moves the access's next bytes. They go through `buffer`, or are in memory at `direct`. */
static int move_piece(struct tern_access *a, struct tern_cursor *file, struct sieve *sieve,
                      char *buffer, int64_t room, char *direct, bool *ret_ended)
{
    struct tern_cursor *memory = &a->memory;
    int64_t length = memory->length - memory->offset, done = 0;
    char *at = direct ? direct + memory->offset : buffer;
    int error;
    if (!direct)
        length = smaller(length, room);
    if (a->watch && a->watch->on)
        length = smaller(length, WATCHED_PIECE);
    if (a->writes) {
        if (direct)
            memory->offset += length;
        else
            tern_cursor_pack(memory, buffer, (size_t)length);
        return write_piece(a, file, at, length);
    }
    error = read_piece(a, file, sieve, at, length, &done, ret_ended);
    if (error)
        return error;
    if (direct)
        memory->offset += done;
    else
        tern_cursor_unpack(memory, buffer, (size_t)done);
    a->done += done;
    return 0;
}

int tern_access_run(struct tern_access *a)
{
    struct tern_cursor file;
    struct sieve sieve;
    char *buffer = NULL;
    void *direct = NULL;
    bool ended = false;
    int error = 0;
    int64_t room = smaller(a->hints->ind_wr_buffer_size, a->memory.length);

    a->done = 0;
    if (a->memory.offset >= a->memory.length)
        return 0;
    if (!tern_type_run(a->memory.type, a->memory.base, a->memory.count, &direct)) {
        buffer = malloc((size_t)room);
        if (!buffer)
            return tern_error(TERN_ERR_NO_MEM, "no memory to pack %lld bytes for a file",
                              (long long)room);
    }
    open_sieve(a, &sieve);
    tern_view_cursor(a->view, a->position, &file);
    while (!error && !ended && a->memory.offset < a->memory.length) {
        error = move_piece(a, &file, &sieve, buffer, room, direct, &ended);
        if (a->watch)
            tern_file_watch_show(a->watch, a->done, a->memory.length);
    }
    free(sieve.bytes);
    free(buffer);
    return error;
}
