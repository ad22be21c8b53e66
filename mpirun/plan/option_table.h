/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_OPTION_TABLE_H
#define TERN_MPIRUN_OPTION_TABLE_H

/* All options of mpirun, and its help. `effect` says what an option does. QUIET ones are those of
 * Open MPI that mean nothing on one machine or to this launcher, and are accepted so that scripts
 * keep working; REFUSED ones are those whose absence the user must know of. */

enum tern_option_effect {
    QUIET,
    REFUSED,
    HELP,
    VERSION,
    NP,
    SOFT,
    ARCH,
    HOST,
    HOSTFILE,
    EXPORT,
    WDIR,
    PATH,
    MCA,
    GMCA,
    INITIAL_ERRHANDLER,
    MEMORY_KINDS,
    PMIX_MCA,
    PRTE_MCA,
    MAP_BY,
    RANK_BY,
    BIND_TO,
    PPR,
    RANKFILE,
    PER_NODE,
    ONE_PER_NODE,
    PER_SOCKET,
    PE,
    CPU_LIST,
    OVERSUBSCRIBE,
    NO_OVERSUBSCRIBE,
    HWTHREADS,
    TAG,
    TIMESTAMP,
    MERGE,
    OUTPUT_FILE,
    STDIN,
    REPORT_BINDINGS,
    DISPLAY_MAP,
    DISPLAY_ALLOCATION,
    REPORT_PID,
    DISPLAY,
    OUTPUT,
    PREFIX,
    TIMEOUT,
    BE_QUIET,
    BE_VERBOSE,
    DO_NOT_LAUNCH,
    DRY_RUN,
    INDEX_ARGV,
    SESSION_WDIR,
    NOLOCAL,
    LAUNCH_AGENT,
    APPFILE,
};

struct tern_option {
    const char *name;
    int values; /* how many words follow */
    enum tern_option_effect effect;
    const char *text; /* constant value for aliases; reason where refused */
};

extern const struct tern_option tern_option_table[];
extern const int tern_option_count;

/* --help, to standard output. */
void tern_option_print_help(void);

#endif
