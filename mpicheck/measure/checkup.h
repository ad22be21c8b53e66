/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_CHECKUP_H
#define TERN_MPICHECK_CHECKUP_H

/* A check under way: short jobs, one or more for each phase, whose records become data. */

#include <stdio.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/wishes.h"
#include "mpicheck/measure/short_job.h"

struct tern_mc_check {
    const struct tern_mc_options *options;
    struct tern_mc_data *data;
    struct tern_mc_expected expected;
    FILE *records;    /* all records of this check; NULL: they are not kept */
    char *work;       /* a directory for files that mpirun reads; removed at the end */
    char *own_mpirun; /* the launcher of this installation, which lists the hosts */
    char *mpirun;     /* the launcher of the MPI library under test */
    char *probe;      /* the measuring program */
    long malformed;   /* number of records that were ignored */
    int files;        /* number of files made in `work` */
    bool shows;       /* the progress is shown on standard error */
    bool shown;       /* the terminal's last line is one of the progress */
    double begin;     /* tern_mc_now() when the check began */
};

/* A stage of a job in which two hosts were stuck. */
struct tern_mc_hang {
    int host, peer;
    char record[128];
    bool is_meet; /* one of the two may only have been late */
};

enum { TERN_MC_HANGS_MOST = 64, TERN_MC_WHY_MOST = 256 };

/* What a phase asks for, and what became of it. */
struct tern_mc_step {
    const char *phase;  /* of the probe */
    const int *hosts;   /* which take part, in the order of their ranks */
    int count;
    const char *dead;   /* word for the probe, or NULL */
    const char *items;  /* likewise */
    const char *more;   /* further words, separated by spaces, or NULL */
    double limit_s;
    int stage_s;        /* limit of a stage between two ranks; 0: the probe's own */
    bool patient;       /* hosts get more time to answer: this try decides if they are gone */
    /* results */
    enum tern_mc_end end;
    char why[TERN_MC_WHY_MOST]; /* what mpirun said of a failure; "" if nothing */
    int answers;                /* ranks that have printed `done` */
    double first_here, last_here; /* tern_mc_now() when ranks have begun the phase; 0: none has */
    struct tern_mc_hang hangs[TERN_MC_HANGS_MOST];
    int hang_count;
    int slow_hosts[TERN_MC_HANGS_MOST]; /* they lacked processors in a stage that took long */
    int slow_count;
};

/* ---- steps.c ---- */

/* Takes a record into the data, and keeps it. */
void tern_mc_record(struct tern_mc_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Runs the job of a step. Blocks until it has ended. */
void tern_mc_step_run(struct tern_mc_check *check, struct tern_mc_step *step);

/* Runs the jobs of several steps at once, at most `width` at a time. */
void tern_mc_steps_run(struct tern_mc_check *check, struct tern_mc_step *steps, int count,
                       int width);

/* Shows the progress of a phase: `done` of `all`; 0 of 0: it has just begun. */
void tern_mc_show(struct tern_mc_check *check, const char *phase, int done, int all);

/* Removes the line of the progress from the terminal. */
void tern_mc_show_end(struct tern_mc_check *check);

/* ---- host_phases.c ---- */

/* Asks mpirun for the hosts and makes the data. Returns false after a message. */
bool tern_mc_find_hosts(struct tern_mc_check *check);

/* Collects facts; hosts that do not answer are recorded as gone. */
void tern_mc_phase_facts(struct tern_mc_check *check);

/* Asks each host again whether it can be started on, and records those that are gone. Returns true
 * if one is. */
bool tern_mc_lost_hosts(struct tern_mc_check *check);

/* Measures each host by itself. */
void tern_mc_phase_node(struct tern_mc_check *check);

/* ---- gpu_phases.c ---- */

/* Measures the GPUs of each host. */
void tern_mc_phase_gpus(struct tern_mc_check *check);

/* Returns the number of GPUs that every host has which answers. If that is 0, writes a host that
 * has none into *ret_without; -1: no host answers. */
int tern_mc_gpus_everywhere(const struct tern_mc_data *data, int *ret_without);

/* ---- link_phases.c ---- */

/* Measures the network: reach, clock, pairs, alone, together, soak. */
void tern_mc_phase_links(struct tern_mc_check *check);

#endif
