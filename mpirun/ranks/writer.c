/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/ranks/writer.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/base/strings.h"

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int write_all(struct tern_writer *writer, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(writer->fd, data, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN) {
            /* another process that shares the descriptor has made it nonblocking */
            usleep(1000);
            continue;
        }
        if (n < 0)
            return errno;
        data += n;
        size -= n;
        __atomic_store_n(&writer->wrote_ms, now_ms(), __ATOMIC_RELAXED);
    }
    return 0;
}

static void *run(void *argument)
{
    struct tern_writer *writer = argument;
    char *taken = NULL;
    size_t taken_room = 0;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        while (!writer->waiting_bytes)
            pthread_cond_wait(&writer->filled, &writer->lock);
        char *swap = writer->waiting;
        size_t swap_room = writer->waiting_room, bytes = writer->waiting_bytes;
        writer->waiting = taken;
        writer->waiting_room = taken_room;
        writer->waiting_bytes = 0;
        writer->writing_bytes = bytes;
        taken = swap;
        taken_room = swap_room;
        int error = writer->error_number;
        pthread_mutex_unlock(&writer->lock);
        if (!error)
            error = write_all(writer, taken, bytes);
        pthread_mutex_lock(&writer->lock);
        writer->writing_bytes = 0;
        bool tell = bytes >= TERN_WRITER_FULL / 4 || (error && !writer->error_number);
        writer->error_number = error;
        pthread_cond_broadcast(&writer->emptied);
        if (tell)
            eventfd_write(writer->notify_fd, 1);
    }
    return NULL;
}

int tern_writer_start(struct tern_writer *writer, int fd, int notify_fd)
{
    *writer = (struct tern_writer){ .fd = fd,
                                    .notify_fd = notify_fd,
                                    .lock = PTHREAD_MUTEX_INITIALIZER,
                                    .filled = PTHREAD_COND_INITIALIZER,
                                    .emptied = PTHREAD_COND_INITIALIZER };
    int error = pthread_create(&writer->thread, NULL, run, writer);
    if (error)
        return tern_error(TERN_ERR_OTHER, "cannot start a thread: %s", strerror(error));
    return 0;
}

void tern_writer_add(struct tern_writer *writer, const char *data, size_t size)
{
    if (!size)
        return;
    pthread_mutex_lock(&writer->lock);
    if (!writer->error_number) {
        if (!writer->waiting_bytes && !writer->writing_bytes)
            __atomic_store_n(&writer->wrote_ms, now_ms(), __ATOMIC_RELAXED);
        if (writer->waiting_bytes + size > writer->waiting_room) {
            writer->waiting_room = 2 * (writer->waiting_bytes + size);
            writer->waiting = tern_must_grow(writer->waiting, writer->waiting_room);
        }
        memcpy(writer->waiting + writer->waiting_bytes, data, size);
        writer->waiting_bytes += size;
        pthread_cond_signal(&writer->filled);
    }
    pthread_mutex_unlock(&writer->lock);
}

bool tern_writer_full(struct tern_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    bool full = writer->waiting_bytes + writer->writing_bytes >= TERN_WRITER_FULL;
    pthread_mutex_unlock(&writer->lock);
    return full;
}

int64_t tern_writer_stuck_ms(struct tern_writer *writer)
{
    return tern_writer_full(writer)
               ? now_ms() - __atomic_load_n(&writer->wrote_ms, __ATOMIC_RELAXED)
               : -1;
}

int tern_writer_error(struct tern_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    int error = writer->error_number;
    pthread_mutex_unlock(&writer->lock);
    return error;
}

void tern_writer_drain(struct tern_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    while (writer->waiting_bytes || writer->writing_bytes)
        pthread_cond_wait(&writer->emptied, &writer->lock);
    pthread_mutex_unlock(&writer->lock);
}
