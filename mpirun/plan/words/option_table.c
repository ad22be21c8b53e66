/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/words/option_table.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/base/error.h"
#include "mpirun/plan/words/option_values.h"
#include "mpirun/plan/words/policy.h"

/* ---- the table ---- */

/* a row leaves out the members that it does not need */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define OF_OPTIONS(field) .offset = offsetof(struct tern_options, field)
#define OF_APP(field) .of_app = true, .offset = offsetof(struct tern_app, field)
#define RANGE(smallest, greatest) .row.least = (smallest), .row.most = (greatest)
#define FLAG(field) 0, TERN_OPTION_FLAG, OF_OPTIONS(field)
#define WORD(field) 1, TERN_OPTION_WORD, OF_OPTIONS(field), .sets = #field
#define LIST(field) 1, TERN_OPTION_LIST, OF_OPTIONS(field)
#define NUMBER(field, smallest, greatest) \
    1, TERN_OPTION_NUMBER, OF_OPTIONS(field), .sets = #field, RANGE(smallest, greatest)
#define APP_FLAG(field) 0, TERN_OPTION_FLAG, OF_APP(field)
#define APP_WORD(field) 1, TERN_OPTION_WORD, OF_APP(field), .sets = #field
#define APP_NUMBER(field, greatest) \
    1, TERN_OPTION_NUMBER, OF_APP(field), .sets = #field, RANGE(0, greatest)
#define READ(function) 1, TERN_OPTION_READ, .read = (function)
#define ALIAS(function, value) 0, TERN_OPTION_READ, .read = (function), .text = (value)
#define MAPS(object) ALIAS(tern_policy_map_by, object), SETS("map-by"), IN(MAP)
#define BINDS(object) ALIAS(tern_policy_bind_to, object), SETS("bind-to"), IN(BIND)
#define SWITCH(function) 0, TERN_OPTION_SWITCH, .read = (function)
#define READ_APP(function) 1, TERN_OPTION_READ_APP, .read_app = (function)
#define PARAMETER(prefix, env) 2, TERN_OPTION_PARAMETER, .text = (prefix), env
#define PAIR(function) 2, TERN_OPTION_READ_PAIR, .read_pair = (function)
#define OF_FILE(kind) 1, TERN_OPTION_##kind, .takes_zero = true
#define OF_PARSER(words, what) .values = (words), .kind = TERN_OPTION_##what
#define SETS(what) .sets = (what)
#define IN(list) .inherit = TERN_INHERIT_##list
#define SAYS(parameter, others) .row.name = (parameter), .row.also = (others), .row.launcher = true
#define USELESS(words, what) (words), TERN_OPTION_USELESS, .row.effect = TERN_EFFECT_##what
#define IGNORED(words) USELESS(words, NONE)
#define WARNED(words, why) USELESS(words, WARNED), .row.instead = (why)
#define REFUSED(words, why) USELESS(words, REFUSED), .row.instead = (why)
#define FOREIGN(words, here) USELESS(words, FOREIGN), .row.instead = (here)

const struct tern_option tern_option_table[] = {
    /* values for all ranks: first, so that the others may be among them */
    { "tune", OF_FILE(TUNE), SAYS("mca_base_envar_file_prefix", NULL), IN(APP) },
    { "am", OF_FILE(AM), SAYS("mca_base_param_file_prefix", NULL), IN(APP) },
    { "", READ(tern_option_set_env_delimiter), SAYS("mca_base_env_list_delimiter", NULL) },
    { "", READ(tern_option_set_env_list), SAYS("mca_base_env_list", NULL) },

    /* where */
    { "default-hostfile", WORD(default_hostfile), SAYS("orte_default_hostfile", NULL) },
    { "", READ(tern_option_set_default_hosts), SAYS("orte_default_dash_host", NULL) },
    { "", READ(tern_option_choose_batch_systems), SAYS("ras", NULL) },
    { "", READ(tern_option_check_launch_ways), SAYS("plm", NULL) },
    { "", READ(tern_option_check_launch_agent), SAYS("orte_launch_agent", NULL) },
    { "", READ(tern_option_set_default_slots), SAYS("orte_set_default_slots", NULL) },
    { "nolocal", FLAG(no_local), SAYS("rmaps_base_no_schedule_local", NULL) },
    { "", READ(tern_option_set_machine), SAYS("hwloc_base_topo_file", "rmaps_base_topology") },
    { "cpu-set cpu-list", READ(tern_policy_cpu_set), SETS("cpu-set"), IN(ALL),
      SAYS("hwloc_base_cpu_set", "hwloc_base_cpu_list hwloc_default_cpu_list") },
    { "", READ(tern_option_set_startup_timeout), SAYS("orte_startup_timeout", NULL) },

    /* mapping, numbering, binding */
    { "byslot", MAPS("slot"), SAYS("rmaps_base_byslot", NULL) },
    { "bycore", MAPS("core"), SAYS("rmaps_base_bycore", NULL) },
    { "bynode", MAPS("node"), SAYS("rmaps_base_bynode", NULL) },
    { "bysocket", MAPS("socket") },
    { "map-by", READ(tern_policy_map_by), SETS("map-by"), IN(MAP),
      SAYS("rmaps_base_mapping_policy",
           "rmaps_default_mapping_policy rmaps_base_schedule_policy") },
    { "ppr", READ(tern_policy_ppr), SETS("ppr"), SAYS("rmaps_ppr_pattern", "rmaps_base_pattern") },
    { "pernode", ALIAS(tern_option_set_per_node, "1"), SETS("npernode"),
      SAYS("rmaps_ppr_pernode", "rmaps_base_pernode") },
    { "npernode N", READ(tern_option_set_per_node), SETS("npernode"),
      SAYS("rmaps_ppr_n_pernode", "rmaps_base_n_pernode") },
    { "npersocket", READ(tern_option_set_per_socket), SETS("npersocket"),
      SAYS("rmaps_ppr_n_persocket", "rmaps_base_n_persocket") },
    { "cpus-per-proc cpus-per-rank", READ(tern_policy_cpus_per_rank), SETS("cpus-per-proc"),
      IN(MAP), SAYS("rmaps_base_cpus_per_rank", "rmaps_base_cpus_per_proc") },
    { "rank-by", READ(tern_policy_rank_by), SETS("rank-by"), IN(RANK),
      SAYS("rmaps_base_ranking_policy", "rmaps_default_ranking_policy") },
    { "bind-to-core", BINDS("core"), SAYS("hwloc_base_bind_to_core", NULL) },
    { "bind-to-socket", BINDS("socket"), SAYS("hwloc_base_bind_to_socket", NULL) },
    { "bind-to-none", BINDS("none") },
    { "bind-to", READ(tern_policy_bind_to), SETS("bind-to"), IN(BIND),
      SAYS("hwloc_base_binding_policy", "hwloc_default_binding_policy") },
    { "oversubscribe", SWITCH(tern_option_set_oversubscribe), IN(ALL),
      SAYS("rmaps_base_oversubscribe", NULL) },
    { "nooversubscribe", SWITCH(tern_option_set_no_oversubscribe), IN(ALL),
      SAYS("rmaps_base_no_oversubscribe", NULL) },
    { "use-hwthread-cpus", FLAG(map.hwthreads), IN(ALL),
      SAYS("hwloc_base_use_hwthreads_as_cpus", "hwloc_default_use_hwthread_cpus") },
    { "", READ(tern_option_choose_mapper), SAYS("rmaps", NULL) },
    { "rankfile rf", WORD(rankfile), SAYS("orte_rankfile", "rmaps_rank_file_path") },
    { "", FLAG(rankfile_physical), SAYS("rmaps_rank_file_physical", NULL) },

    /* what is shown, and output */
    { "report-bindings", FLAG(report_bindings), SAYS("hwloc_base_report_bindings", NULL) },
    { "display-map display-devel-map display-diffable-map", FLAG(display_map),
      SAYS("rmaps_base_display_map",
           "rmaps_base_display_devel_map rmaps_base_display_devel_map_policy "
           "rmaps_base_display_diffable_map") },
    { "display-topo", ALIAS(tern_option_read_display, "topology"),
      SAYS("rmaps_base_display_topo_with_map", NULL) },
    { "display-allocation display-devel-allocation", FLAG(display_allocation),
      SAYS("orte_display_alloc",
           "orte_display_devel_alloc ras_base_display_alloc ras_base_display_devel_alloc") },
    { "do-not-launch", FLAG(do_not_launch), SAYS("orte_do_not_launch", NULL) },
    { "tag-output", FLAG(tag_output), IN(ALL), SAYS("orte_tag_output", NULL) },
    { "timestamp-output", FLAG(timestamp_output), IN(ALL), SAYS("orte_timestamp_output", NULL) },
    { "output-filename", READ(tern_option_set_output_dir), SETS("output-filename"), IN(ALL),
      SAYS("orte_output_filename", NULL) },
    { "merge-stderr-to-stdout", FLAG(merge_stderr), IN(ALL),
      SAYS("iof_base_redirect_app_stderr_to_stdout", NULL) },
    { "quiet q", FLAG(quiet), IN(ALL), SAYS("orte_execute_quiet", NULL) },
    { "", READ(tern_option_set_verbosity), SAYS("plm_base_verbose", NULL) },

    /* the start and the end of a job */
    { "", READ(tern_option_set_keep_going), SAYS("orte_abort_on_non_zero_status", NULL) },
    { "", READ(tern_option_set_end_grace), SAYS("odls_base_sigkill_timeout", NULL) },
    { "stream-buffering", READ(tern_option_check_buffering), .takes_zero = true,
      SAYS("ess_base_stream_buffering", NULL) },
    { "debug-daemons", FLAG(show_start), SAYS("orte_debug_daemons", NULL) },
    { "max-vm-size", NUMBER(most_hosts, 1, 1 << 20), SAYS("orte_max_vm_size", NULL) },
    { "", READ(tern_option_check_filter), SAYS("btl_tcp_if_include", NULL) },
    { "", READ(tern_option_check_filter), SAYS("btl_tcp_if_exclude", NULL) },

    /* options without a parameter */
    { "np n c", APP_NUMBER(np, 1 << 20) },
    { "soft", APP_WORD(soft) },
    { "arch", READ(tern_option_check_arch) },
    { "host H", READ(tern_option_read_hosts) },
    { "hostfile machinefile", LIST(hostfiles) },
    { "add-hostfile", LIST(hostfiles) },
    { "x", READ_APP(tern_option_export_variable), IN(APP) },
    { "unset-env", READ_APP(tern_option_unset_variable), IN(APP) },
    { "fwd-environment", OF_PARSER(0, READ_APP), .read_app = tern_option_forward_all, IN(APP) },
    { "prepend-env prepend-envar", PAIR(tern_option_prepend_variable), IN(APP) },
    { "append-env append-envar", PAIR(tern_option_append_variable), IN(APP) },
    { "wdir wd", APP_WORD(wdir) },
    { "path", APP_WORD(path) },
    { "mca omca", PARAMETER("OMPI_MCA_", OF_APP(env)), IN(APP) },
    { "gmca gomca", PARAMETER("OMPI_MCA_", OF_OPTIONS(env)), IN(ALL) },
    { "initial-errhandler", READ_APP(tern_option_set_initial_errhandler), IN(APP) },
    { "memory-alloc-kinds", READ(tern_option_check_memory_kinds) },
    { "pmca pmixmca gpmixmca", PARAMETER("PMIX_MCA_", OF_OPTIONS(env)), IN(ALL) },
    { "prtemca", PARAMETER("PRTE_MCA_", OF_OPTIONS(env)), IN(ALL) },
    { "output-directory", READ(tern_option_set_output_dir_only), IN(ALL) },
    { "stdin", READ(tern_option_read_stdin_target), SETS("stdin") },
    { "display", READ(tern_option_read_display) },
    { "output", READ(tern_option_read_output), IN(ALL) },
    { "explain", FLAG(explain) },
    { "report-pid", WORD(report_pid) },
    { "report-uri", WORD(report_uri) },
    { "prefix", WORD(prefix), IN(ALL) },
    { "timeout", NUMBER(timeout_s, 0, 1 << 30) }, /* 0: none */
    { "verbose v", FLAG(verbose) },
    { "version V", OF_PARSER(0, VERSION) },
    { "help h", OF_PARSER(0, HELP) },
    { "dry-run", ALIAS(tern_option_set_dry_run, "") },
    { "index-argv-by-rank", FLAG(index_argv) },
    { "set-cwd-to-session-dir", APP_FLAG(wdir_session) },
    { "app configfile", OF_PARSER(1, APPFILE) },
    { "launch-agent", READ(tern_option_set_launch_agent), IN(ALL) },
    { "noprefix", FLAG(no_prefix), IN(ALL) },
    { "ompi-server", READ(tern_option_set_name_server) },
    { "preload-binary s", FLAG(preload) },
    { "runtime-options rtos", READ(tern_option_read_runtime), IN(ALL) },
    { "with-ft", READ(tern_option_read_fault_tolerance) },

    /* no effect */
    { "allow-run-as-root", IGNORED(0) },
    { "cf", IGNORED(1) },
    { "cartofile", IGNORED(1) },
    { "debug-daemons-file", IGNORED(0) },
    { "d", IGNORED(0) },
    { "debug-devel", IGNORED(0) },
    { "disable-recovery", IGNORED(0) },
    { "do-not-resolve", IGNORED(0) },
    { "enable-instant-on-support", IGNORED(0) },
    { "enable-recovery", WARNED(0, "ranks that failed are not restarted") },
    { "forward-signals", WARNED(1, "mpirun(1), SIGNALS, says which signals are passed on") },
    { "fwd-mpirun-port", IGNORED(0) },
    { "get-stack-traces", WARNED(0, "--timeout says what each rank was doing") },
    { "leave-session-attached", IGNORED(0) },
    { "novm", IGNORED(0) },
    { "personality", IGNORED(1) },
    { "no-app-prefix", WARNED(0, "--prefix, if given, holds for all programs") },
    { "preload-files", WARNED(1, "files are not copied to other hosts") },
    { "report-child-jobs-separately", IGNORED(0) },
    { "report-state-on-timeout", IGNORED(0) },
    { "enable-ft", WARNED(0, "a rank that fails ends the job") },
    { "show-progress", IGNORED(0) },
    { "use-regexp", IGNORED(0) },
    { "file", REFUSED(1, "use --app FILE to read options from a file") },
    { "continuous", WARNED(0, "a rank that fails ends the job") },
    { "debug",
      REFUSED(0, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "debugger",
      REFUSED(1, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "dvm", REFUSED(0, "there is no persistent virtual machine; each mpirun works alone") },
    { "hnp", REFUSED(1, "there is no persistent virtual machine; each mpirun works alone") },
    { "max-restarts", REFUSED(1, "ranks that failed are not restarted") },
    { "output-proctable", REFUSED(0, "use -v, which names the process of each rank") },
    { "report-events", REFUSED(1, "there are no tools to report events to") },
    { "tv",
      REFUSED(0, "start the debugger on the ranks instead: mpirun -np 2 xterm -e gdb PROGRAM") },
    { "where", REFUSED(1, "it stands alone and starts no job: mpirun --where PID") },
    { "xml", WARNED(0, "output is plain text; --tag-output names the rank of each line") },
    { "xml-file", REFUSED(1, "output is plain text; --tag-output names the rank of each line") },
    { "env genv", FOREIGN(2, "-x NAME=VALUE") },
    { "envall genvall", FOREIGN(0, "nothing: ranks have mpirun's environment anyway") },
    { "envnone genvnone", FOREIGN(0, "env -i mpirun ..., which starts with an empty environment") },
    { "envlist genvlist", FOREIGN(1, "-x NAME, once for each variable") },
    { "f machine", FOREIGN(1, "--hostfile FILE") },
    { "hosts hostlist", FOREIGN(1, "--host HOST,...") },
    { "ppn perhost grr", FOREIGN(1, "-N RANKS, the number of ranks on each node") },
    { "rr", FOREIGN(0, "--map-by node") },
    { "iface", FOREIGN(1, "--mca btl_tcp_if_include INTERFACE") },
    { "launcher bootstrap",
      FOREIGN(1, "--mca plm slurm, --mca plm rsh, or --mca plm_rsh_agent COMMAND") },
    { "launcher-exec bootstrap-exec", FOREIGN(1, "--mca plm_rsh_agent COMMAND") },
    { "rmk", FOREIGN(1, "nothing: the batch system is found by itself") },
    { "l prepend-rank", FOREIGN(0, "--tag-output") },
    { "print-rank-map", FOREIGN(0, "--display-map") },
    { "outfile-pattern", FOREIGN(1, "--output-filename DIR") },
    { "localonly", FOREIGN(0, "--host localhost") },
    { "gtool", FOREIGN(1, "the tool's name before the program's: mpirun -np 2 TOOL PROGRAM") },
    { "trace", FOREIGN(0, "-x LD_PRELOAD=LIBRARY, with the library of the tool") },
    { "check_mpi", FOREIGN(0, "--mca check_level full") },
    { "info", FOREIGN(0, "mpi_info, a command of its own") },
    { "binding", FOREIGN(1, "--bind-to OBJECT and --map-by OBJECT") },
    { "xterm",
      REFUSED(1, "mpirun opens no windows; write mpirun -np 2 xterm -e PROGRAM, or use "
                 "--output-filename") },
};
const int tern_option_count = sizeof tern_option_table / sizeof *tern_option_table;

/* ---- names ---- */

bool tern_option_name(const struct tern_option *option, int index, char *ret_name, size_t room)
{
    struct tern_setting names = {.also = option->names};
    return tern_setting_name(&names, index, ret_name, room);
}

const struct tern_option *tern_option_find(const char *name, size_t length)
{
    char own[64];
    for (int i = 0; i < tern_option_count; i++)
        for (int n = 0; tern_option_name(&tern_option_table[i], n, own, sizeof own); n++)
            if (strlen(own) == length && strncmp(own, name, length) == 0)
                return &tern_option_table[i];
    return NULL;
}

const struct tern_option *tern_option_named(const char *name)
{
    return tern_option_find(name, strlen(name));
}

const struct tern_option *tern_option_of_parameter(const char *name)
{
    for (int i = 0; i < tern_option_count; i++)
        if (tern_setting_is_called(&tern_option_table[i].row, name))
            return &tern_option_table[i];
    return NULL;
}

/* ---- words that follow ---- */

/* Returns true if a value that is an option's name may be meant: arguments for another program. */
static bool may_be_option(const struct tern_option *option, char **values, int at)
{
    const char *args = "_args";
    size_t length = strlen(values[0]), tail = strlen(args);
    return option->kind == TERN_OPTION_PARAMETER && at == 1 && length > tail &&
           strcmp(values[0] + length - tail, args) == 0;
}

int tern_option_check_values(const struct tern_option *option, const char *word, char **values,
                             int count)
{
    bool applies = option->row.effect < TERN_EFFECT_REFUSED;
    for (int i = 0; i < count && applies; i++) {
        const char *value = values[i], *name = value + 1 + (value[0] == '-' && value[1] == '-');
        if (value[0] != '-' || !tern_option_named(name) || may_be_option(option, values, i))
            continue;
        char *before = tern_must_format("%s%s%s", word, i ? " " : "", i ? values[0] : "");
        int error = tern_error(TERN_ERR_ARG,
                               "%s has no value: the option %s follows; write %s %s", before,
                               value, before, i < option->values - 1 ? "NAME VALUE" : "VALUE");
        free(before);
        return error;
    }
    return 0;
}
