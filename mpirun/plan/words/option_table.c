/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/option_table.h"

#include <stddef.h>
#include <string.h>

#include "lib/settings/open_mpi.h"
#include "lib/util/base/text.h"
#include "mpirun/plan/words/option_values.h"
#include "mpirun/plan/words/policy.h"

/* a row leaves out the members that it does not need */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* clang-format off */
#define OF_OPTIONS(field) .offset = offsetof(struct tern_options, field)
#define OF_APP(field) .of_app = true, .offset = offsetof(struct tern_app, field)
#define RANGE(smallest, greatest) .row.least = (smallest), .row.most = (greatest)
#define FLAG(field) TERN_OPTION_FLAG, OF_OPTIONS(field)
#define WORD(field) TERN_OPTION_WORD, OF_OPTIONS(field), .sets = #field
#define LIST(field) TERN_OPTION_LIST, OF_OPTIONS(field)
#define NUMBER(field, smallest, greatest) \
    TERN_OPTION_NUMBER, OF_OPTIONS(field), .sets = #field, RANGE(smallest, greatest)
#define APP_FLAG(field) TERN_OPTION_FLAG, OF_APP(field)
#define APP_WORD(field) TERN_OPTION_WORD, OF_APP(field), .sets = #field
#define APP_NUMBER(field, greatest) \
    TERN_OPTION_NUMBER, OF_APP(field), .sets = #field, RANGE(0, greatest)
#define READ(function) TERN_OPTION_READ, .read = (function)
#define READS(function, value) TERN_OPTION_READ, .read = (function), .text = (value)
#define READ_APP(function) TERN_OPTION_READ, .of_app = true, .read = (function)
#define PARAMETER(prefix, env) TERN_OPTION_PARAMETER, .text = (prefix), env
#define MAPS(object) READS(tern_policy_map_by, object), SETS("map-by"), IN(MAP), \
    HELP("compatibility", "--map-by " object)
#define BINDS(object) READS(tern_policy_bind_to, object), SETS("bind-to"), IN(BIND), \
    HELP("compatibility", "--bind-to " object)
#define SETS(what) .sets = (what)
#define IN(list) .inherit = TERN_INHERIT_##list
#define SAYS(parameter, others) .row.name = (parameter), .row.also = (others), .row.launcher = true
#define EMPTY(why) .row.instead = (why) /* of an empty value, which is not stored */
#define CHOICES(words) .row.type = TERN_PARAM_WORDS, .row.choices = (words)
#define HELP(list, text) .topics = (list), .row.help = (text)
#define IGNORED TERN_OPTION_USELESS, .row.effect = TERN_EFFECT_NONE
#define USELESS(what, why) \
    TERN_OPTION_USELESS, .row.effect = TERN_EFFECT_##what, .row.instead = (why)
#define DEBUGGER "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM"
#define NO_DVM "there is no persistent virtual machine; each mpirun works alone"
/* clang-format on */

const struct tern_option tern_option_table[] = {
    /* how many ranks, of which program */
    { "np n c", "N", APP_NUMBER(np, 1 << 20),
      HELP("general", "number of ranks; default: one per available core") },
    { "soft", "N[:M[:STEP]],...", APP_WORD(soft),
      HELP("mapping", "the largest of these numbers that -np allows") },
    { "app configfile", "FILE", TERN_OPTION_APPFILE,
      HELP("launch", "read a program and its options from each line of a file") },
    { "quiet q", NULL, FLAG(quiet), IN(ALL), SAYS("orte_execute_quiet", NULL),
      HELP("general", "no advice, only errors") },
    { "verbose v", NULL, FLAG(verbose),
      HELP("general", "say which process each rank is, and when each host is started") },
    { "version V", NULL, TERN_OPTION_VERSION, HELP("general", "print the version") },
    { "help h", "[TOPIC]", TERN_OPTION_HELP,
      HELP("general", "print the options of a topic, or the lines of one option") },

    /* values for all ranks: before other parameters, so that those may be among them */
    { "tune", "FILE,...", TERN_OPTION_TUNE, .takes_zero = true, IN(APP),
      SAYS("mca_base_envar_file_prefix", NULL),
      HELP("launch", "read -x and --mca from files; what the command line says prevails") },
    { "am", "FILE,...", TERN_OPTION_AM, .takes_zero = true, IN(APP),
      SAYS("mca_base_param_file_prefix", NULL),
      HELP("launch", "read lines NAME = VALUE, parameters, from files") },
    { "", "VALUE", READ(tern_option_set_env_delimiter), SAYS("mca_base_env_list_delimiter", NULL) },
    { "", "VALUE", READ(tern_option_set_env_list), SAYS("mca_base_env_list", NULL) },

    /* where */
    { "host H", "HOST[:N],...", READ(tern_option_read_hosts),
      HELP("launch mapping", "where to run, and the number of slots there; default: 1") },
    { "hostfile machinefile", "FILE", LIST(hostfiles),
      HELP("launch mapping", "the same from a file of lines \"HOST slots=N max-slots=N\"") },
    { "add-hostfile", "FILE", LIST(hostfiles),
      HELP("launch mapping", "the hosts of another file, too") },
    { "default-hostfile", "FILE", WORD(default_hostfile), SAYS("orte_default_hostfile", NULL),
      HELP("launch", "the hostfile that is read if there is no --hostfile") },
    { "", "VALUE", READ(tern_option_set_default_hosts), SAYS("orte_default_dash_host", NULL) },
    { "", "VALUE", READ(tern_option_choose_batch_systems), SAYS("ras", NULL),
      CHOICES("slurm,tm,lsf,gridengine,alps,loadleveler,simulator") },
    { "", "VALUE", TERN_OPTION_USELESS, SAYS("plm", NULL), /* mpirun/tree asks for it */
      CHOICES("slurm,rsh,ssh,tm,lsf,alps,gridengine,isolated") },
    { "launch-agent", "PATH", READ(tern_option_set_launch_agent), IN(ALL),
      SAYS("orte_launch_agent", NULL), HELP("launch", "path of mpirun on the other hosts") },
    { "", "VALUE", READ(tern_option_set_default_slots), SAYS("orte_set_default_slots", NULL) },
    { "nolocal", NULL, FLAG(no_local), SAYS("rmaps_base_no_schedule_local", NULL),
      HELP("mapping launch", "no ranks on this machine") },
    { "", "VALUE", READ(tern_option_set_machine),
      SAYS("hwloc_base_topo_file", "rmaps_base_topology") },
    { "cpu-set cpu-list", "LIST", READ(tern_policy_cpu_set), SETS("cpu-set"), IN(ALL),
      SAYS("hwloc_base_cpu_set", "hwloc_base_cpu_list hwloc_default_cpu_list"),
      HELP("mapping binding", "use only these cores, such as 0-3,8") },
    { "", "VALUE", READ(tern_option_set_startup_timeout), SAYS("orte_startup_timeout", NULL) },

    /* mapping, numbering, binding */
    { "byslot", NULL, MAPS("slot"), SAYS("rmaps_base_byslot", NULL) },
    { "bycore", NULL, MAPS("core"), SAYS("rmaps_base_bycore", NULL) },
    { "bynode", NULL, MAPS("node"), SAYS("rmaps_base_bynode", NULL) },
    { "bysocket", NULL, MAPS("socket") },
    { "map-by", "OBJECT[:WORD,...]", READ(tern_policy_map_by), SETS("map-by"), IN(MAP),
      SAYS("rmaps_base_mapping_policy", "rmaps_default_mapping_policy rmaps_base_schedule_policy"),
      HELP("mapping",
           "slot, hwthread, core, l1cache..l3cache, numa, socket, node or ppr:N:OBJECT; with :PE=N "
           "each rank has N processors; seq: a rank on each host named, in order") },
    { "ppr", "N:OBJECT", READ(tern_policy_ppr), SETS("ppr"),
      SAYS("rmaps_ppr_pattern", "rmaps_base_pattern"),
      HELP("compatibility", "--map-by ppr:N:OBJECT, which counts before it") },
    { "pernode", NULL, READS(tern_option_set_per_node, "1"), SETS("npernode"),
      SAYS("rmaps_ppr_pernode", "rmaps_base_pernode"), HELP("compatibility", "-N 1") },
    { "N npernode", "N", READ(tern_option_set_per_node), SETS("npernode"),
      SAYS("rmaps_ppr_n_pernode", "rmaps_base_n_pernode"), HELP("mapping", "N ranks per node") },
    { "npersocket", "N", READ(tern_option_set_per_socket), SETS("npersocket"),
      SAYS("rmaps_ppr_n_persocket", "rmaps_base_n_persocket"),
      HELP("mapping", "N ranks per socket") },
    { "cpus-per-proc cpus-per-rank", "N", READ(tern_policy_cpus_per_rank), SETS("cpus-per-proc"),
      IN(MAP), SAYS("rmaps_base_cpus_per_rank", "rmaps_base_cpus_per_proc"),
      HELP("compatibility", "--map-by :PE=N") },
    { "rank-by", "OBJECT", READ(tern_policy_rank_by), SETS("rank-by"), IN(RANK),
      SAYS("rmaps_base_ranking_policy", "rmaps_default_ranking_policy"),
      HELP("ranking", "number the ranks round these objects") },
    { "bind-to-core", NULL, BINDS("core"), SAYS("hwloc_base_bind_to_core", NULL) },
    { "bind-to-socket", NULL, BINDS("socket"), SAYS("hwloc_base_bind_to_socket", NULL) },
    { "bind-to-none", NULL, BINDS("none") },
    { "bind-to", "OBJECT", READ(tern_policy_bind_to), SETS("bind-to"), IN(BIND),
      SAYS("hwloc_base_binding_policy", "hwloc_default_binding_policy"),
      HELP("binding",
           "none, hwthread, core, l1cache..l3cache, numa, socket; default: core for one or two "
           "ranks, socket for more ranks, none for more ranks than processors") },
    { "oversubscribe", NULL, FLAG(oversubscribe), .read = tern_policy_share,
      .text = "oversubscribe", IN(ALL), SAYS("rmaps_base_oversubscribe", NULL),
      HELP("mapping", "allow more ranks than processors") },
    { "nooversubscribe", NULL, FLAG(map.no_oversubscribe), .read = tern_policy_share,
      .text = "nooversubscribe", IN(ALL), SAYS("rmaps_base_no_oversubscribe", NULL),
      HELP("mapping", "more ranks than slots are an error") },
    { "use-hwthread-cpus", NULL, FLAG(map.hwthreads), IN(ALL),
      SAYS("hwloc_base_use_hwthreads_as_cpus", "hwloc_default_use_hwthread_cpus"),
      HELP("mapping binding", "a hardware thread counts as a processor") },
    { "", "VALUE", READ(tern_option_choose_mapper), SAYS("rmaps", NULL),
      CHOICES("round_robin,ppr,rank_file,seq,mindist,resilient,staged,load_balance,lama,topo") },
    { "rankfile rf", "FILE", WORD(rankfile), SAYS("orte_rankfile", "rmaps_rank_file_path"),
      HELP("mapping", "lines \"rank N=HOST slot=CORES\" say where each rank runs; also --map-by "
                      "rankfile:FILE=FILE") },
    { "", NULL, FLAG(rankfile_physical), SAYS("rmaps_rank_file_physical", NULL) },

    /* what is shown, and output */
    { "report-bindings", NULL, FLAG(report_bindings), SAYS("hwloc_base_report_bindings", NULL),
      HELP("binding debug", "print the processors to which each rank is bound") },
    { "display-map display-devel-map display-diffable-map", NULL, FLAG(display_map),
      SAYS("rmaps_base_display_map",
           "rmaps_base_display_devel_map rmaps_base_display_devel_map_policy "
           "rmaps_base_display_diffable_map"),
      HELP("mapping debug devel", "show which rank runs where") },
    { "dry-run", NULL, READS(tern_option_set_dry_run, ""),
      HELP("mapping debug devel", "show which rank would run where, and start nothing") },
    { "display-topo", NULL, READS(tern_option_read_display, "topology"),
      SAYS("rmaps_base_display_topo_with_map", NULL),
      HELP("debug", "show what each host is made of") },
    { "display-allocation display-devel-allocation", NULL, FLAG(display_allocation),
      SAYS("orte_display_alloc",
           "orte_display_devel_alloc ras_base_display_alloc ras_base_display_devel_alloc"),
      HELP("debug", "show the hosts and their slots") },
    { "do-not-launch", NULL, FLAG(do_not_launch), SAYS("orte_do_not_launch", NULL),
      HELP("debug devel", "start nothing, here or elsewhere") },
    { "tag-output", NULL, FLAG(tag_output), IN(ALL), SAYS("orte_tag_output", NULL),
      HELP("output", "begin each line with [job,rank]<stream>:") },
    { "timestamp-output", NULL, FLAG(timestamp_output), IN(ALL),
      SAYS("orte_timestamp_output", NULL), HELP("output", "begin each line with the time") },
    { "output-filename", "DIR", READ(tern_option_set_output_dir), SETS("output-filename"), IN(ALL),
      SAYS("orte_output_filename", NULL),
      HELP("output", "write the ranks' output to files below DIR, too (DIR:nocopy: only there; "
                     "DIR:nojobid: no directory for the job)") },
    { "merge-stderr-to-stdout", NULL, FLAG(merge_stderr), IN(ALL),
      SAYS("iof_base_redirect_app_stderr_to_stdout", NULL), HELP("output", "one stream for both") },
    { "stdin", "RANK|all|none", READ(tern_option_read_stdin_target), SETS("stdin"),
      HELP("input", "which ranks read standard input; default: rank 0") },
    { "", "VALUE", READ(tern_option_set_verbosity), SAYS("plm_base_verbose", NULL) },
    { "explain", NULL, FLAG(explain),
      HELP("debug devel", "print why the job runs as it does: settings and their sources, "
                          "bindings, byte movers") },

    /* the start and the end of a job */
    { "", NULL, FLAG(keep_going), .off = true, SAYS("orte_abort_on_non_zero_status", NULL) },
    { "", "VALUE", READ(tern_option_set_end_grace), SAYS("odls_base_sigkill_timeout", NULL) },
    { "stream-buffering", "MODE", USELESS(WARNED, "each line is passed on; use stdbuf"),
      .row.choices = "1|line|default|", .takes_zero = true,
      SAYS("ess_base_stream_buffering", NULL) },
    { "debug-daemons", NULL, FLAG(show_start), SAYS("orte_debug_daemons", NULL),
      HELP("debug devel", "say when each host is started and answers") },
    { "where", "PID", USELESS(REFUSED, "it stands alone and starts no job: mpirun --where PID"),
      HELP("debug", "say where the ranks of the mpirun with this process id are; so does "
                    "Ctrl-\\") },
    { "max-vm-size", "N", NUMBER(most_hosts, 1, 1 << 20), SAYS("orte_max_vm_size", NULL),
      HELP("launch", "use only the first N hosts") },
    { "timeout", "SECONDS", NUMBER(timeout_s, 0, 1 << 30), /* 0: none */
      HELP("launch debug", "end the job after this time, and say where its ranks are") },
    { "", "VALUE", READ(tern_option_check_filter), SAYS("btl_tcp_if_include", NULL) },
    { "", "VALUE", READ(tern_option_check_filter), SAYS("btl_tcp_if_exclude", NULL) },

    /* the environment, and the start of each program */
    { "x", "NAME[=VALUE]", READ_APP(tern_option_export_variable), IN(APP),
      HELP("launch", "give the environment variable to the ranks; NAME*: all that begin so") },
    { "unset-env", "NAME", READ_APP(tern_option_unset_variable), IN(APP),
      HELP("launch", "take the variable out of the ranks' environment") },
    { "fwd-environment", NULL, READS(tern_option_forward_all, ""), .of_app = true, IN(APP),
      HELP("launch", "give all variables to the ranks on other hosts, too") },
    { "prepend-env prepend-envar", "NAME[C] VALUE", TERN_OPTION_JOIN, .text = "before", IN(APP),
      HELP("launch", "put a value in front of a variable's; C separates them, else a colon") },
    { "append-env append-envar", "NAME[C] VALUE", TERN_OPTION_JOIN, .text = "", IN(APP),
      HELP("launch", "put a value behind that of a variable") },
    { "wdir wd", "DIR", APP_WORD(wdir), EMPTY("ranks start in this directory"),
      HELP("launch", "working directory of the ranks") },
    { "set-cwd-to-session-dir", NULL, APP_FLAG(wdir_session),
      HELP("launch", "run in the job's own directory, which is removed at its end") },
    { "path", "DIRS", APP_WORD(path), EMPTY("programs are looked for in PATH"),
      HELP("launch", "where to look for PROGRAM before PATH") },
    { "mca omca", "NAME VALUE", PARAMETER("OMPI_MCA_", OF_APP(env)), IN(APP),
      HELP("launch", "set a parameter (mpi_info lists them)") },
    { "gmca gomca", "NAME VALUE", PARAMETER("OMPI_MCA_", OF_OPTIONS(env)), IN(ALL),
      HELP("launch", "set a parameter for all programs") },
    { "pmixmca pmca gpmixmca", "NAME VALUE", PARAMETER("PMIX_MCA_", OF_OPTIONS(env)), IN(ALL),
      HELP("compatibility", "set a parameter of PMIx") },
    { "prtemca", "NAME VALUE", PARAMETER("PRTE_MCA_", OF_OPTIONS(env)), IN(ALL),
      HELP("compatibility", "set a parameter of the launcher by its name in PRRTE") },
    { "prefix", "DIR", WORD(prefix), IN(ALL), EMPTY("the environment says where libraries are"),
      HELP("launch", "put DIR/bin and DIR/lib in front of the ranks' search paths, as does an "
                     "absolute path to mpirun") },
    { "noprefix", NULL, FLAG(no_prefix), IN(ALL),
      HELP("launch", "an absolute path to mpirun says nothing about search paths") },
    { "initial-errhandler", "NAME", READ_APP(tern_option_set_initial_errhandler), IN(APP),
      HELP("launch", "the initial error handler: mpi_errors_are_fatal, mpi_errors_abort or "
                     "mpi_errors_return") },
    { "memory-alloc-kinds", "LIST", READ(tern_option_check_memory_kinds),
      HELP("launch", "kinds of memory that the program will use; warns of unsupported kinds") },
    { "arch", "NAME", READ(tern_option_check_arch),
      HELP("launch", "the machine must be of this architecture, as uname -m prints it") },
    { "index-argv-by-rank", NULL, FLAG(index_argv),
      HELP("launch", "append -RANK to the name by which the program is called") },
    { "preload-binary s", NULL, FLAG(preload),
      HELP("compatibility", "nothing, with a warning if there are other hosts: the program must be "
                            "there") },
    { "report-pid", "-|+|FILE", WORD(report_pid),
      HELP("launch", "print mpirun's process id to standard output, standard error or a file") },
    { "report-uri", "-|+|FILE", WORD(report_uri),
      HELP("launch", "keep names (MPI_Publish_name) for other jobs, and print where") },
    { "ompi-server", "file:FILE", READ(tern_option_set_name_server),
      HELP("launch", "names are kept by the mpirun whose --report-uri has written FILE") },

    /* words of Open MPI 5 */
    { "display", "WORDS", READ(tern_option_read_display),
      HELP("compatibility", "map, bind, allocation, topo, fabric, paths: what to show") },
    { "output", "WORDS", READ(tern_option_read_output), IN(ALL),
      HELP("compatibility", "tag, timestamp, merge, raw, dir=DIR, file=FILE: how to write "
                            "output") },
    { "output-directory", "DIR[:copy]", READ(tern_option_set_output_dir_only), IN(ALL),
      HELP("compatibility", "--output-filename DIR:nocopy") },
    { "runtime-options rtos", "WORDS", READ(tern_option_read_runtime), IN(ALL),
      HELP("compatibility", "donotlaunch, abort-nonzero-status=0|1") },
    { "with-ft", "KIND", USELESS(WARNED, "a rank that fails ends the job"),
      .row.choices = "none|no|0|" },

    /* no effect */
    { "allow-run-as-root d debug-devel debug-daemons-file disable-recovery do-not-resolve "
      "enable-instant-on-support fwd-mpirun-port leave-session-attached novm "
      "report-child-jobs-separately report-state-on-timeout show-progress use-regexp",
      NULL, IGNORED },
    { "cf cartofile personality", "VALUE", IGNORED },
    { "enable-recovery", NULL, USELESS(WARNED, "ranks that failed are not restarted") },
    { "enable-ft continuous", NULL, USELESS(WARNED, "a rank that fails ends the job") },
    { "forward-signals", "LIST",
      USELESS(WARNED, "mpirun(1), SIGNALS, says which signals are passed on") },
    { "get-stack-traces", NULL, USELESS(WARNED, "--timeout says what each rank was doing") },
    { "no-app-prefix", NULL, USELESS(WARNED, "--prefix, if given, holds for all programs") },
    { "preload-files", "FILES", USELESS(WARNED, "files are not copied to other hosts") },
    { "xml", NULL,
      USELESS(WARNED, "output is plain text; --tag-output names the rank of each line") },

    /* refused, with what to do instead */
    { "file", "FILE", USELESS(REFUSED, "use --app FILE to read options from a file") },
    { "debug tv", NULL, USELESS(REFUSED, DEBUGGER) },
    { "debugger", "NAME", USELESS(REFUSED, DEBUGGER) },
    { "dvm", NULL, USELESS(REFUSED, NO_DVM) },
    { "hnp", "URI", USELESS(REFUSED, NO_DVM) },
    { "max-restarts", "N", USELESS(REFUSED, "ranks that failed are not restarted") },
    { "output-proctable", NULL, USELESS(REFUSED, "use -v, which names the process of each rank") },
    { "report-events", "URI", USELESS(REFUSED, "there are no tools to report events to") },
    { "xml-file", "FILE",
      USELESS(REFUSED, "output is plain text; --tag-output names the rank of each line") },
    { "xterm", "RANKS",
      USELESS(REFUSED, "mpirun opens no windows; write mpirun -np 2 xterm -e PROGRAM, or use "
                       "--output-filename") },

    /* words of MPICH and Intel MPI */
    { "env genv", "NAME VALUE", USELESS(FOREIGN, "-x NAME=VALUE") },
    { "envall genvall", NULL,
      USELESS(FOREIGN, "nothing: ranks have mpirun's environment anyway") },
    { "envnone genvnone", NULL,
      USELESS(FOREIGN, "env -i mpirun ..., which starts with an empty environment") },
    { "envlist genvlist", "NAMES", USELESS(FOREIGN, "-x NAME, once for each variable") },
    { "f machine", "FILE", USELESS(FOREIGN, "--hostfile FILE") },
    { "hosts hostlist", "HOSTS", USELESS(FOREIGN, "--host HOST,...") },
    { "ppn perhost grr", "N", USELESS(FOREIGN, "-N RANKS, the number of ranks on each node") },
    { "rr", NULL, USELESS(FOREIGN, "--map-by node") },
    { "iface", "INTERFACE", USELESS(FOREIGN, "--mca btl_tcp_if_include INTERFACE") },
    { "launcher bootstrap", "NAME",
      USELESS(FOREIGN, "--mca plm slurm, --mca plm rsh, or --mca plm_rsh_agent COMMAND") },
    { "launcher-exec bootstrap-exec", "PATH", USELESS(FOREIGN, "--mca plm_rsh_agent COMMAND") },
    { "rmk", "NAME", USELESS(FOREIGN, "nothing: the batch system is found by itself") },
    { "l prepend-rank", NULL, USELESS(FOREIGN, "--tag-output") },
    { "print-rank-map", NULL, USELESS(FOREIGN, "--display-map") },
    { "outfile-pattern", "PATTERN", USELESS(FOREIGN, "--output-filename DIR") },
    { "localonly", NULL, USELESS(FOREIGN, "--host localhost") },
    { "gtool", "WORDS",
      USELESS(FOREIGN, "the tool's name before the program's: mpirun -np 2 TOOL PROGRAM") },
    { "trace", NULL, USELESS(FOREIGN, "-x LD_PRELOAD=LIBRARY, with the library of the tool") },
    { "check_mpi", NULL, USELESS(FOREIGN, "--mca check_level full") },
    { "info", NULL, USELESS(FOREIGN, "mpi_info, a command of its own") },
    { "binding", "VALUE", USELESS(FOREIGN, "--bind-to OBJECT and --map-by OBJECT") },
};
const int tern_option_count = sizeof tern_option_table / sizeof *tern_option_table;

const struct tern_option *tern_option_find(const char *name, size_t length)
{
    for (int i = 0; i < tern_option_count; i++)
        if (tern_text_find_word(tern_option_table[i].names, " ", name, length))
            return &tern_option_table[i];
    return NULL;
}

struct tern_known tern_known_find(const char *name)
{
    struct tern_known known = { .theirs = tern_open_mpi_find(name),
                                .ours = tern_param_find(name) };
    for (int i = 0; i < tern_option_count && !known.option; i++)
        if (tern_setting_is_called(&tern_option_table[i].row, name))
            known.option = &tern_option_table[i];
    return known;
}
