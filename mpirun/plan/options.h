/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTIONS_H
#define TERN_MPIRUN_PLAN_OPTIONS_H

/* What the user asked for: the command line as Open MPI users type it. */

#include <stdbool.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map.h"

/* One program of the command line; ":" separates programs. */
struct tern_app {
    int np;                   /* -np; 0 if not given */
    const char *soft; /* -soft: the acceptable numbers of ranks, at most np; NULL: only np */
    struct tern_strings argv; /* the program and its arguments */
    const char *wdir;         /* --wdir; NULL: the directory where mpirun was started */
    bool wdir_said;           /* only on an agent, where wdir is always set: --wdir was given */
    const char *path;         /* --path; NULL if not given */
    struct tern_strings env;  /* NAME=VALUE from -x and --mca, in order */
    bool wdir_session;        /* --set-cwd-to-session-dir */
};

/* In place of a rank that reads standard input. */
enum { TERN_STDIN_NONE = -1, TERN_STDIN_ALL = -2 };

/* The options of a job. */
struct tern_options {
    struct tern_app *apps;
    int app_count;
    struct tern_strings hosts; /* the words of --host */
    struct tern_strings hostfiles; /* the files of --hostfile */
    struct tern_strings kept;    /* owns words of application files, to which other members point */
    int file_depth; /* number of application files that are being read now, one within another */
    struct tern_strings env;     /* --gmca, --prtemca, ...: variables for all programs */
    struct tern_map_request map; /* np and apps are filled in by placement.c */
    const char *cpu_list;        /* --cpu-set; NULL: all */
    const char *rankfile;        /* --rankfile; NULL if not given */
    bool rankfile_physical;      /* the rankfile's numbers are the operating system's */
    bool by_rankfile;            /* --map-by rankfile, which needs a rankfile */
    bool sequential;             /* --map-by seq */
    bool per_policy;             /* map.per_object is of --map-by ppr, not of --npernode */
    const char *prefix;          /* --prefix; NULL if not given */
    char *output_dir;            /* --output-filename; NULL if not given */
    bool output_only_files;      /* --output-filename DIR:nocopy: write only to the files */
    bool output_no_job;          /* --output-filename DIR:nojobid: no directory for the job */
    const char *report_pid;      /* --report-pid: "-", "+" or a file; NULL if not given */
    int stdin_rank;              /* a rank, TERN_STDIN_NONE or TERN_STDIN_ALL */
    int timeout_s;               /* --timeout in seconds; 0: no limit */
    bool oversubscribe;          /* --oversubscribe: the user wants ranks to share processors */
    bool quiet, verbose;
    bool no_local; /* --nolocal: no ranks on this machine */
    bool tag_output, timestamp_output, merge_stderr;
    bool report_bindings, display_map, display_allocation;
    bool do_not_launch, index_argv;
    /* the job goes on when a rank exits with a non-zero code (orte_abort_on_non_zero_status 0) */
    bool keep_going;
};

#endif
