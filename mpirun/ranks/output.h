/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_OUTPUT_H
#define TERN_MPIRUN_RANKS_OUTPUT_H

/* The ranks' standard output and error, to ours: whole lines, nothing lost, at the pace of whoever
 * reads. */

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "mpirun/plan/options.h"

struct tern_output_listener {
    pid_t (*process_of)(int rank); /* 0: not known yet */
    void (*closed)(int rank); /* a stream of the rank has ended; called once per stream */
    void (*file_failed)(int rank); /* its output file is not complete, and that has been said */
    /* Our own standard output (1) or error (2) cannot be written. EPIPE: nobody reads it any more;
     * EBADF: it was closed when mpirun began. Called once. */
    void (*write_failed)(int which, int error_number);
    /* On an agent: takes what would be written, on its way to mpirun. NULL in mpirun. */
    void (*forward)(int rank, int which, const char *data, size_t size);
    /* In mpirun: output of a host's ranks has been passed on. May be NULL. */
    void (*passed_on)(int host, size_t bytes);
};

/* Bytes that an agent sends before mpirun has said that it passed some of them on. */
enum { TERN_OUTPUT_CREDIT = 1 << 20 };

/* Before the first stream. 0 or TERN_ERR_OTHER. */
int tern_output_open(const struct tern_options *options, int ranks,
                     const struct tern_output_listener *listener);
/* Forwards what comes out of `fd`, which is owned from now on, to standard output (1) or error (2).
 * 0 or TERN_ERR_OTHER. */
int tern_output_add(int rank, int which, int fd);
/* In mpirun: what came from an agent, whole lines or the beginning of one. */
void tern_output_take(int host, int rank, int which, const char *data, size_t size);
/* On an agent: mpirun has passed on as many bytes. */
void tern_output_credit(size_t bytes);
/* Says a message of mpirun's own on standard error, in order with the ranks' lines, and like
 * tern_log. */
void tern_output_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Streams that have not ended. */
int tern_output_open_streams(void);
/* Reads what is there now, gives up the streams that are still open (somebody outside the job holds
 * them), and waits until everything is written. Blocks as long as the reader takes. Returns 0, or
 * why something could not be written that the listener has not been told of; closes standard
 * output. */
int tern_output_finish(void);

#endif
