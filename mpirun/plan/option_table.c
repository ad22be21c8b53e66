/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/option_table.h"

#include <stdio.h>

const struct tern_option tern_option_table[] = {
    { "np", 1, NP, NULL },
    { "n", 1, NP, NULL },
    { "c", 1, NP, NULL },
    { "soft", 1, SOFT, NULL },
    { "arch", 1, ARCH, NULL },
    { "host", 1, HOST, NULL },
    { "H", 1, HOST, NULL },
    { "hostfile", 1, HOSTFILE, NULL },
    { "machinefile", 1, HOSTFILE, NULL },
    { "default-hostfile", 1, HOSTFILE, NULL },
    { "x", 1, EXPORT, NULL },
    { "wdir", 1, WDIR, NULL },
    { "wd", 1, WDIR, NULL },
    { "path", 1, PATH, NULL },
    { "mca", 2, MCA, NULL },
    { "omca", 2, MCA, NULL },
    { "gmca", 2, GMCA, NULL },
    { "gomca", 2, GMCA, NULL },
    { "initial-errhandler", 1, INITIAL_ERRHANDLER, NULL },
    { "memory-alloc-kinds", 1, MEMORY_KINDS, NULL },
    { "pmca", 2, PMIX_MCA, NULL },
    { "pmixmca", 2, PMIX_MCA, NULL },
    { "gpmixmca", 2, PMIX_MCA, NULL },
    { "prtemca", 2, PRTE_MCA, NULL },
    { "map-by", 1, MAP_BY, NULL },
    { "rank-by", 1, RANK_BY, NULL },
    { "bind-to", 1, BIND_TO, NULL },
    { "ppr", 1, PPR, NULL },
    { "rankfile", 1, RANKFILE, NULL },
    { "rf", 1, RANKFILE, NULL },
    { "npernode", 1, PER_NODE, NULL },
    { "N", 1, PER_NODE, NULL },
    { "pernode", 0, ONE_PER_NODE, NULL },
    { "npersocket", 1, PER_SOCKET, NULL },
    { "cpus-per-proc", 1, PE, NULL },
    { "cpus-per-rank", 1, PE, NULL },
    { "cpu-set", 1, CPU_LIST, NULL },
    { "cpu-list", 1, CPU_LIST, NULL },
    { "bynode", 0, MAP_BY, "node" },
    { "byslot", 0, MAP_BY, "slot" },
    { "bycore", 0, MAP_BY, "core" },
    { "bysocket", 0, MAP_BY, "socket" },
    { "bind-to-core", 0, BIND_TO, "core" },
    { "bind-to-socket", 0, BIND_TO, "socket" },
    { "bind-to-none", 0, BIND_TO, "none" },
    { "oversubscribe", 0, OVERSUBSCRIBE, NULL },
    { "nooversubscribe", 0, NO_OVERSUBSCRIBE, NULL },
    { "use-hwthread-cpus", 0, HWTHREADS, NULL },
    { "tag-output", 0, TAG, NULL },
    { "timestamp-output", 0, TIMESTAMP, NULL },
    { "merge-stderr-to-stdout", 0, MERGE, NULL },
    { "output-filename", 1, OUTPUT_FILE, NULL },
    { "output-directory", 1, OUTPUT_FILE, NULL },
    { "stdin", 1, STDIN, NULL },
    { "report-bindings", 0, REPORT_BINDINGS, NULL },
    { "display-map", 0, DISPLAY_MAP, NULL },
    { "display-devel-map", 0, DISPLAY_MAP, NULL },
    { "display-diffable-map", 0, DISPLAY_MAP, NULL },
    { "display-allocation", 0, DISPLAY_ALLOCATION, NULL },
    { "display-devel-allocation", 0, DISPLAY_ALLOCATION, NULL },
    { "display", 1, DISPLAY, NULL },
    { "output", 1, OUTPUT, NULL },
    { "report-pid", 1, REPORT_PID, NULL },
    { "prefix", 1, PREFIX, NULL },
    { "timeout", 1, TIMEOUT, NULL },
    { "q", 0, BE_QUIET, NULL },
    { "quiet", 0, BE_QUIET, NULL },
    { "v", 0, BE_VERBOSE, NULL },
    { "verbose", 0, BE_VERBOSE, NULL },
    { "V", 0, VERSION, NULL },
    { "version", 0, VERSION, NULL },
    { "h", 0, HELP, NULL },
    { "help", 0, HELP, NULL },
    { "do-not-launch", 0, DO_NOT_LAUNCH, NULL },
    { "dry-run", 0, DRY_RUN, NULL },
    { "index-argv-by-rank", 0, INDEX_ARGV, NULL },
    { "set-cwd-to-session-dir", 0, SESSION_WDIR, NULL },
    { "nolocal", 0, NOLOCAL, NULL },
    { "app", 1, APPFILE, NULL },
    { "configfile", 1, APPFILE, NULL },
    { "allow-run-as-root", 0, QUIET, NULL },
    { "am", 1, QUIET, NULL },
    { "cf", 1, QUIET, NULL },
    { "cartofile", 1, QUIET, NULL },
    { "debug-daemons", 0, QUIET, NULL },
    { "debug-daemons-file", 0, QUIET, NULL },
    { "d", 0, QUIET, NULL },
    { "debug-devel", 0, QUIET, NULL },
    { "disable-recovery", 0, QUIET, NULL },
    { "do-not-resolve", 0, QUIET, NULL },
    { "enable-instant-on-support", 0, QUIET, NULL },
    { "enable-recovery", 0, QUIET, NULL },
    { "forward-signals", 1, QUIET, NULL },
    { "fwd-mpirun-port", 0, QUIET, NULL },
    { "get-stack-traces", 0, QUIET, NULL },
    { "launch-agent", 1, LAUNCH_AGENT, NULL },
    { "leave-session-attached", 0, QUIET, NULL },
    { "max-vm-size", 1, QUIET, NULL },
    { "noprefix", 0, QUIET, NULL },
    { "novm", 0, QUIET, NULL },
    { "ompi-server", 1, QUIET, NULL },
    { "personality", 1, QUIET, NULL },
    { "preload-binary", 0, QUIET, NULL },
    { "s", 0, QUIET, NULL },
    { "preload-files", 1, QUIET, NULL },
    { "report-child-jobs-separately", 0, QUIET, NULL },
    { "report-state-on-timeout", 0, QUIET, NULL },
    { "runtime-options", 1, QUIET, NULL },
    { "show-progress", 0, QUIET, NULL },
    { "stream-buffering", 1, QUIET, NULL },
    { "tune", 1, QUIET, NULL },
    { "use-regexp", 0, QUIET, NULL },
    { "display-topo", 0, QUIET, NULL },
    { "file", 1, REFUSED, "options are read from a file by --app" },
    { "continuous", 0, REFUSED, "a job that goes on after its ranks ended is not supported" },
    { "debug", 0, REFUSED,
      "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM" },
    { "debugger", 1, REFUSED,
      "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM" },
    { "dvm", 0, REFUSED,
      "there is no persistent virtual machine; every mpirun is complete by itself" },
    { "hnp", 1, REFUSED,
      "there is no persistent virtual machine; every mpirun is complete by itself" },
    { "max-restarts", 1, REFUSED, "ranks that failed are not restarted" },
    { "output-proctable", 0, REFUSED, "use -v, which names the process of each rank" },
    { "report-events", 1, REFUSED, "there are no tools to report events to" },
    { "report-uri", 1, REFUSED, "nobody can connect to this mpirun" },
    { "tv", 0, REFUSED,
      "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM" },
    { "xml", 0, REFUSED, "output is plain text; --tag-output names the rank of each line" },
    { "xml-file", 1, REFUSED, "output is plain text; --tag-output names the rank of each line" },
    { "xterm", 1, REFUSED,
      "windows are not opened; write mpirun -np 2 xterm -e PROGRAM, or use --output-filename" },
};
const int tern_option_count = sizeof tern_option_table / sizeof *tern_option_table;

void tern_option_print_help(void)
{
    static const char text[] =
        "Usage: mpirun [OPTION]... PROGRAM [ARGUMENT]... [: [OPTION]... PROGRAM [ARGUMENT]...]...\n"
        "Starts PROGRAM as the ranks of one MPI job. Every option may be written with one dash or "
        "two.\n\n"
        "  -np, -n, -c N              number of ranks; without it one per available core\n"
        "  --soft N[:M[:STEP]],...    the largest of these numbers that -np allows\n"
        "  -H, --host HOST[:N],...    where to run, and how many slots there (one without N)\n"
        "  --hostfile FILE            the same from a file of lines \"HOST slots=N max-slots=N\"; "
        "also -machinefile\n"
        "  --nolocal                  no ranks on this machine\n"
        "  -x NAME[=VALUE]            give the environment variable to the ranks\n"
        "  --wdir DIR                 working directory of the ranks; also -wd\n"
        "  --path DIRS                where to look for PROGRAM before PATH\n"
        "  --mca NAME VALUE           set a parameter (mpi_info lists them); --gmca: for all "
        "programs\n"
        "  --initial-errhandler NAME  mpi_errors_are_fatal, mpi_errors_abort or mpi_errors_return: "
        "what MPI begins with\n"
        "  --memory-alloc-kinds LIST  kinds of memory that the program will use; warns of those not "
        "supported\n"
        "  --map-by OBJECT            slot, hwthread, core, l1cache..l3cache, numa, socket, node "
        "or ppr:N:OBJECT;\n"
        "                             with :PE=N each rank has N processors; seq: a rank on each "
        "host named, in order\n"
        "  --rankfile FILE            lines \"rank N=HOST slot=CORES\" say where each rank runs; also "
        "-rf, --map-by rankfile:FILE=FILE\n"
        "  -N, --npernode N           N ranks per node; --npersocket N: per socket\n"
        "  --rank-by OBJECT           number the ranks round these objects\n"
        "  --bind-to OBJECT           none, hwthread, core, l1cache..l3cache, numa, socket; "
        "without it core for one or two\n"
        "                             ranks, socket for more, none when there are more ranks than "
        "processors\n"
        "  --cpu-set LIST             use only these processors, such as 0-3,8\n"
        "  --use-hwthread-cpus        a hardware thread counts as a processor\n"
        "  --oversubscribe            more ranks than processors are meant; --nooversubscribe: are "
        "an error\n"
        "  --report-bindings          say to which processors each rank is bound\n"
        "  --display-map              show which rank runs where; --dry-run: and start nothing, here "
        "or elsewhere\n"
        "  --tag-output               begin each line with [job,rank]<stream>:; "
        "--timestamp-output: with the time\n"
        "  --output-filename DIR      write the ranks' output to files below DIR too (DIR:nocopy: "
        "only there;\n"
        "                             DIR:nojobid: no directory for the job)\n"
        "  --merge-stderr-to-stdout   one stream for both\n"
        "  --stdin RANK|all|none      who reads standard input; rank 0 without it\n"
        "  --timeout SECONDS          end the job after this time\n"
        "  --prefix DIR               put DIR/bin and DIR/lib in front of the ranks' search paths\n"
        "  --report-pid -|+|FILE      say mpirun's process id\n"
        "  -q, --quiet                no advice, only errors;  -v, --verbose: say what is done\n"
        "  -V, --version   -h, --help\n\n"
        "The exit status is that of the first rank that failed, 128 + N if signal N killed it. See "
        "mpirun(1).\n";
    fputs(text, stdout);
}
