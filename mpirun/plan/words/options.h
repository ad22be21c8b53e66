/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_OPTIONS_H
#define TERN_MPIRUN_PLAN_OPTIONS_H

/* What the user asked for: the command line as Open MPI users type it. */

#include <stdbool.h>

#include "mpirun/base/strings.h"
#include "mpirun/plan/map/map.h"

/* One program of the command line; ":" separates programs. */
struct tern_app {
    int np;                   /* -np; 0 if not given */
    const char *soft; /* -soft: the acceptable numbers of ranks, at most np; NULL: only np */
    struct tern_strings argv; /* the program and its arguments */
    const char *wdir;         /* --wdir; NULL: the directory where mpirun was started */
    bool wdir_said;           /* only on an agent, where wdir is always set: --wdir was given */
    const char *path;         /* --path; NULL if not given */
    struct tern_strings env;  /* NAME=VALUE from -x and --mca, in order */
    struct tern_strings unset; /* names of --unset-env */
    bool wdir_session;        /* --set-cwd-to-session-dir */
    /* the words of --host and the files of --hostfile that stand among this program's options; also
     * in the lists of tern_options */
    struct tern_strings hosts, hostfiles;
};

/* The word by which mpirun's own binary is the program of ranks (plain_rank.h). */
#define TERN_PLAIN_RANK "--plain-rank"

/* Values of --stdin other than a rank: no rank reads standard input, or every rank does. */
enum { TERN_STDIN_NONE = -1, TERN_STDIN_ALL = -2 };

/* What says how many ranks each object gets. As in Open MPI, of several the last in this order
 * counts, wherever they stand. */
enum tern_per_source {
    TERN_PER_NONE,
    TERN_PER_PPR,
    TERN_PER_SOCKET,
    TERN_PER_NODE,
    TERN_PER_MAP_BY,
};

/* The number of slots of a host if no hostfile, option or batch system gives the number. If zeroed,
 * a host has one slot for each core. */
struct tern_default_slots {
    int number;         /* the number of slots; 0: one for each object of the level */
    int level_plus_one; /* 1 + the enum tern_map_level of these objects; 0: cores */
};

/* Files of options that name each other may be nested so deep. */
enum { TERN_FILES_DEEP = 16 };

/* In which list an option is noted for the jobs that ranks start. */
enum tern_inherit {
    TERN_INHERIT_NOT,
    TERN_INHERIT_ALL,
    TERN_INHERIT_MAP,
    TERN_INHERIT_RANK,
    TERN_INHERIT_BIND,
    TERN_INHERIT_APP, /* for each program */
    TERN_INHERITS,
};

/* The options of a job. */
struct tern_options {
    struct tern_app *apps;
    int app_count;
    struct tern_app *app;  /* whose options are read now; NULL: those of no program */
    const char *separator; /* stands between two programs */
    struct tern_strings hosts; /* the words of --host */
    bool hosts_are_default;    /* `hosts` are of a parameter: --host replaces them */
    struct tern_strings hostfiles; /* the files of --hostfile */
    const char *default_hostfile;  /* read if there is no --hostfile; NULL: the installation's */
    struct tern_default_slots default_slots;
    struct tern_strings kept;    /* owns words to which other members point */
    struct tern_strings said;     /* options and parameters that were given, with their source */
    struct tern_strings given;    /* what each option set: WHAT=WORDS (line_options.h) */
    struct tern_strings warnings; /* tern_options_warn; tern_options_parse writes them */
    /* words that also hold for jobs which ranks start; each list can be left out */
    struct tern_strings inherited[TERN_INHERITS];
    int job_number;                    /* 1, or that of a job which ranks have started */
    int universe;                      /* that of the job which has started this one, or 0 */
    bool shows_library;                /* --display paths, fabric or topo: the library shows them */
    const char *report_uri;            /* --report-uri; NULL if not given */
    const char *env_list, *env_list_origin; /* mca_base_env_list, and who set it; NULL: nobody */
    char env_list_delimiter;     /* mca_base_env_list_delimiter; 0 if not given */
    int file_depth; /* number of application files that are being read now, one within another */
    struct tern_strings env;     /* --gmca, --prtemca, ...: variables for all programs */
    struct tern_map_request map; /* np and apps are filled in by placement.c */
    const char *cpu_list;        /* --cpu-set, as tern_topology_read takes it; NULL: all */
    const char *rankfile;        /* --rankfile; NULL if not given */
    bool rankfile_physical;      /* the rankfile's numbers are the operating system's */
    bool by_rankfile;            /* --map-by rankfile, which needs a rankfile */
    bool sequential;             /* --map-by seq */
    enum tern_per_source per_source; /* what has set map.per_object */
    const char *per_said;            /* that option and its value */
    bool per_is_default;             /* a parameter: every option replaces it */
    const char *pe_said; /* the option that has set map.pe; NULL: none, or a parameter */
    bool pe_of_map;      /* it is --map-by */
    bool bind_to_list;   /* --bind-to cpu-list, which needs a list */
    const char *prefix;          /* --prefix, or implied; NULL if neither */
    const char *implied_prefix;  /* that of an absolute path to mpirun; NULL if it is relative */
    char *output_dir;            /* --output-filename; NULL if not given */
    bool output_only_files;      /* --output-filename DIR:nocopy: write only to the files */
    bool output_no_job;          /* --output-filename DIR:nojobid: no directory for the job */
    bool output_plain; /* --output file=FILE: the files' names begin with `output_dir` */
    const char *report_pid;      /* --report-pid: "-", "+" or a file; NULL if not given */
    int most_hosts;              /* --max-vm-size; 0: all */
    int stdin_rank;              /* a rank, TERN_STDIN_NONE or TERN_STDIN_ALL */
    int timeout_s;               /* --timeout in seconds; 0: no limit */
    bool oversubscribe;          /* --oversubscribe: the user wants ranks to share processors */
    bool allow_asked, forbid_asked; /* the command line says oversubscribe, nooversubscribe */
    bool quiet, verbose;
    bool no_local; /* --nolocal: no ranks on this machine */
    bool tag_output, timestamp_output, merge_stderr;
    bool report_bindings, display_map, display_allocation;
    bool do_not_launch, index_argv;
    bool explain; /* --explain */
    bool show_start; /* --debug-daemons: say when each host is started and answers */
    bool no_prefix;  /* --noprefix: an absolute path to mpirun does not stand for --prefix */
    bool preload;    /* --preload-binary */
    /* the job goes on when a rank exits with a non-zero code (orte_abort_on_non_zero_status 0) */
    bool keep_going;
};

/* Notes a warning for the user, once however often it is noted. */
void tern_options_warn(struct tern_options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees what a program, or all options, own. */
void tern_app_free(struct tern_app *app);
void tern_options_free(struct tern_options *options);

#endif
