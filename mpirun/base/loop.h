/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_LOOP_H
#define TERN_MPIRUN_BASE_LOOP_H

/* mpirun's event loop: descriptors and timers, each with a callback. One thread. A watch or timer
 * is owned by the caller, must stay where it is while it is active, and starts zeroed. */

#include <stdbool.h>
#include <stdint.h>

struct tern_watch {
    int fd;
    uint32_t wanted; /* EPOLLIN, EPOLLOUT, or 0: not watched now */
    bool added;
    void (*ready)(struct tern_watch *watch, uint32_t events);
};

struct tern_timer {
    int64_t due_ms; /* on tern_loop_now_ms's clock; 0: not set */
    struct tern_timer *next;
    void (*expired)(struct tern_timer *timer);
};

/* Must be called once before all else. 0 or TERN_ERR_OTHER. */
int tern_loop_open(void);
/* Watches for `wanted` from now on; 0 stops watching (also hang-ups). -1 with errno where the
 * kernel cannot watch this kind of file (EPERM: a regular file, which is always ready). */
int tern_loop_watch(struct tern_watch *watch, uint32_t wanted);
/* Reads and writes of this file answer EAGAIN instead of waiting, also those of other processes
 * that share it. */
void tern_loop_never_wait(int fd);
/* (Re)starts the timer. */
void tern_loop_set_timer(struct tern_timer *timer, int64_t delay_ms);
void tern_loop_stop_timer(struct tern_timer *timer);
/* A listening socket that is not watched for a while. Starts zeroed. */
struct tern_rest {
    struct tern_timer timer; /* first: the timer is the rest */
    struct tern_watch *watch;
};
/* Call this with the errno of an accept4 that has failed: if nothing can be opened
 * (lib/util/scarcity.h), says so once and watches the socket again after TERN_SCARCITY_MS. */
void tern_loop_rest_if_scarce(struct tern_rest *rest, struct tern_watch *watch, int error);
/* Milliseconds of the monotonic clock. */
int64_t tern_loop_now_ms(void);
/* Waits for and handles events until tern_loop_stop is called. */
void tern_loop_run(void);
void tern_loop_stop(void);

#endif
