/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_LOOP_H
#define TERN_MPIRUN_BASE_LOOP_H

/* mpirun's event loop: watches (file descriptors) and timers, each with a callback. Runs in one
 * thread. The caller owns each watch and timer, zeroes it before first use, and must not move or
 * free it while it is active. */

#include <stdbool.h>
#include <stdint.h>

/* A descriptor that the loop polls. The caller sets `fd` and `ready`. */
struct tern_watch {
    int fd;
    uint32_t wanted; /* EPOLLIN, EPOLLOUT, or 0 if not watched now */
    bool added;      /* true while epoll has the descriptor */
    /* called with epoll's events when the descriptor is ready */
    void (*ready)(struct tern_watch *watch, uint32_t events);
};

/* Calls `expired` once, when it is due. */
struct tern_timer {
    int64_t due_ms; /* milliseconds on tern_loop_now_ms's clock; 0 if the timer is not set */
    struct tern_timer *next; /* of the loop's list, earliest first */
    void (*expired)(struct tern_timer *timer);
};

/* Creates the loop. Call it once, before any other function of this file. Returns 0 or
 * TERN_ERR_OTHER. */
int tern_loop_open(void);
/* Watches the descriptor for the events `wanted` from now on. 0 stops watching, for hang-ups too.
 * Returns 0, or -1 with errno: EPERM means that the kernel cannot watch this kind of file (a
 * regular file, which is always ready). */
int tern_loop_watch(struct tern_watch *watch, uint32_t wanted);
/* Makes reads and writes of this file return EAGAIN instead of waiting. This holds for every
 * process that shares the open file. */
void tern_loop_never_wait(int fd);
/* Starts the timer, or restarts a running one: it expires in `delay_ms` milliseconds. */
void tern_loop_set_timer(struct tern_timer *timer, int64_t delay_ms);
/* Stops the timer. Does nothing if the timer is not set. */
void tern_loop_stop_timer(struct tern_timer *timer);
/* Pauses a listening socket while the process or system is out of descriptors or memory. Zero it
 * before first use. */
struct tern_rest {
    /* must stay the first member: the callback converts the timer to the struct */
    struct tern_timer timer;
    struct tern_watch *watch;
};
/* Call this after accept4 has failed, with its errno. If `error` means that nothing can be opened
 * now (lib/util/base/scarcity.h), logs that once, stops watching the socket, and watches it again
 * after TERN_SCARCITY_MS. Does nothing for other errors. */
void tern_loop_rest_if_scarce(struct tern_rest *rest, struct tern_watch *watch, int error);
/* Returns the time of the monotonic clock in milliseconds. */
int64_t tern_loop_now_ms(void);
/* Waits for events and handles them, until tern_loop_stop is called. Blocks. */
void tern_loop_run(void);
/* Makes tern_loop_run return after the current callback. */
void tern_loop_stop(void);

#endif
