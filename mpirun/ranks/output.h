/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_RANKS_OUTPUT_H
#define TERN_MPIRUN_RANKS_OUTPUT_H

/* Passes the ranks' standard output and error on to those of mpirun: in whole lines, without loss,
 * as fast as the reader of mpirun's output reads. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "mpirun/plan/words/options.h"

/* Called on the loop. */
struct tern_output_listener {
    pid_t (*process_of)(int rank); /* returns the rank's process, or 0 if not known yet */
    void (*closed)(int rank); /* a stream of the rank has ended; called once per stream */
    /* an output file of the rank is incomplete; a message says so already */
    void (*file_failed)(int rank);
    /* mpirun's own standard output (1) or error (2) cannot be written. EPIPE: its reader has gone.
     * EBADF: it was closed when mpirun began. Called once. */
    void (*write_failed)(int which, int error_number);
    /* On an agent: sends output to mpirun in place of writing it. NULL in mpirun. */
    void (*forward)(int rank, int which, const char *data, size_t size);
    /* In mpirun: `bytes` of output of `host`'s ranks were passed to a writer that has room for
     * more. NULL on an agent. */
    void (*passed_on)(int host, size_t bytes);
};

/* Bytes that an agent may send before mpirun reports some of them as passed on. */
enum { TERN_OUTPUT_CREDIT = 1 << 20 };

/* Prepares the output. Call it before the first stream is added. Returns 0 or TERN_ERR_OTHER. */
int tern_output_open(const struct tern_options *options, int ranks,
                     const struct tern_output_listener *listener);
/* Passes on what a rank writes into `fd`, to standard output (`which` 1) or error (2). Owns `fd`
 * from now on. Returns 0 or TERN_ERR_OTHER. */
int tern_output_add(int rank, int which, int fd);
/* In mpirun: takes output that an agent sent, whole lines or the beginning of one. */
void tern_output_take(int host, int rank, int which, const char *data, size_t size);
/* On an agent: mpirun has passed on `bytes` of the output that was sent. */
void tern_output_credit(size_t bytes);
/* Writes a message of mpirun on standard error, in the form of tern_log, and in order with the
 * ranks' lines. */
void tern_output_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* In mpirun: returns for how many milliseconds the reader of its standard output (`which` 1) or
 * error (2) has read nothing while there is no more room, so that ranks that write there wait.
 * Returns -1 if there is room. */
int64_t tern_output_stuck_ms(int which);
/* Returns the number of local streams that have not ended. */
int tern_output_open_streams(void);
/* Reads what is there now from the streams that are still open, and closes them. Call it when
 * nothing of the job is left on this host: only a process outside the job can hold them open. */
void tern_output_end_streams(void);
/* Ends the output: tern_output_end_streams, then waits until everything is written, and closes
 * standard output. Returns 0, or the errno of a write that failed and that the listener was not
 * told of. Blocks as long as the reader of mpirun's output does not read. */
int tern_output_finish(void);

#endif
