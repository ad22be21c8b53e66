/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTIONS_H
#define TERN_MPIRUN_PLAN_OPTIONS_H

/* What the user asked for: the command line as Open MPI users type it. */

#include <stdbool.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map.h"

/* One program of the command line; several are separated by ":". */
struct tern_app {
    int np;                   /* -np; 0: not said */
    const char *soft;         /* -soft: numbers of ranks that will do, at most np; NULL: np */
    struct tern_strings argv; /* program and its arguments */
    const char *wdir;         /* --wdir; NULL: where mpirun was started */
    bool wdir_said;           /* on an agent, where wdir is always set: --wdir was given */
    const char *path;         /* --path; NULL */
    struct tern_strings env;  /* NAME=VALUE from -x and --mca, in order */
    bool wdir_session;        /* --set-cwd-to-session-dir */
};

enum { TERN_STDIN_NONE = -1, TERN_STDIN_ALL = -2 };

struct tern_options {
    struct tern_app *apps;
    int app_count;
    struct tern_strings hosts; /* entries of --host */
    struct tern_strings hostfiles;
    struct tern_strings kept;    /* words of application files, to which others point */
    int file_depth;              /* application files that are being read */
    struct tern_strings env;     /* --gmca, --prtemca, ...: for all programs */
    struct tern_map_request map; /* np and apps are filled in by main */
    const char *cpu_list;        /* --cpu-set; NULL: all */
    const char *rankfile;        /* --rankfile; NULL */
    bool rankfile_physical;      /* its numbers are the operating system's */
    bool by_rankfile;            /* --map-by rankfile: there must be one */
    bool sequential;             /* --map-by seq */
    const char *prefix;          /* --prefix; NULL */
    char *output_dir;            /* --output-filename; NULL */
    bool output_only_files;      /* --output-filename DIR:nocopy */
    bool output_no_job;          /* DIR:nojobid: no directory for the job */
    const char *report_pid;      /* --report-pid: "-", "+" or a file; NULL */
    int stdin_rank;              /* or TERN_STDIN_NONE, TERN_STDIN_ALL */
    int timeout_s;               /* 0: none */
    bool oversubscribe;          /* --oversubscribe: sharing processors is meant */
    bool quiet, verbose;
    bool no_local; /* --nolocal: no ranks on this machine */
    bool tag_output, timestamp_output, merge_stderr;
    bool report_bindings, display_map, display_allocation;
    bool do_not_launch, index_argv;
    bool keep_going; /* a rank's non-zero exit doesn't end the job (orte_abort_on_non_zero_status 0)
                      */
};

#endif
