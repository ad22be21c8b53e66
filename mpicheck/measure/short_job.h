/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_SHORT_JOB_H
#define TERN_MPICHECK_SHORT_JOB_H

#include <stdbool.h>

#include "tools/arguments.h"

/* A short job: mpirun with the measuring program. What hangs or breaks ends the job, never
 * mpicheck. */

/* Why a job ended. */
enum tern_mc_end {
    TERN_MC_DONE,        /* all ranks have printed `done`, or the job has ended well by itself */
    TERN_MC_STUCK,       /* a rank has reported a hang or a lost connection */
    TERN_MC_TIMEOUT,     /* it took longer than its limit */
    TERN_MC_FAILED,      /* mpirun has ended with another status than 0 */
    TERN_MC_INTERRUPTED, /* the user wants to end: Ctrl-C, SIGTERM or SIGHUP */
};

struct tern_mc_job {
    const struct tern_arguments *words; /* the whole command line */
    int ranks;                      /* that must print `done` */
    double limit_s;
    /* called with each record, without "@ " */
    void (*record)(void *context, const char *record);
    /* called with each line of standard error, and with other lines of standard output */
    void (*line)(void *context, const char *line);
    void *context;
};

/* Runs a job until it ends. Blocks. Afterwards, no process of it is left on this host. */
enum tern_mc_end tern_mc_run(const struct tern_mc_job *job);

/* Runs several jobs at once, at most `width` at a time. Writes the ends. */
void tern_mc_run_many(const struct tern_mc_job *jobs, int count, int width,
                      enum tern_mc_end *ret_ends);

/* From now on, SIGINT, SIGTERM and SIGHUP end the job that runs. SIGHUP stays ignored if it was, as
 * by nohup. */
void tern_mc_catch_signals(void);

/* Returns true if the user wants to end. */
bool tern_mc_interrupted(void);

/* Returns the seconds of a clock that only goes forward. */
double tern_mc_now(void);

#endif
