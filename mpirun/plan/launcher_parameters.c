/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/plan/launcher_parameters.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/settings/open_mpi.h"
#include "lib/settings/value.h"
#include "lib/util/net/tcp_address.h"
#include "mpirun/plan/allocation.h"
#include "mpirun/plan/option_table.h"
#include "mpirun/plan/parameters.h"
#include "mpirun/plan/policy.h"
#include "mpirun/plan/tune.h"

/* ---- values that need reading ---- */

/* Chooses a mapping by the name of Open MPI's mapper. */
static int choose_mapper(const char *origin, const char *names, struct tern_options *options)
{
    tern_parameter_check_names(origin, names, "round_robin,ppr,rank_file,seq,mindist,resilient,"
                               "staged,load_balance,lama,topo", options);
    if (strcmp(names, "seq") == 0)
        return tern_policy_map_by(origin, "seq", options);
    if (strcmp(names, "rank_file") == 0)
        return tern_policy_map_by(origin, "rankfile", options);
    if (strcmp(names, "mindist") == 0 || strcmp(names, "resilient") == 0)
        tern_options_warn(options, "%s: there is no mapper %s; use --map-by", origin, names);
    return 0; /* the others choose by themselves */
}

/* Checks a filter once, before any rank is started: otherwise every rank would report the error. */
static int check_filter(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    struct tern_tcp_filter filter;
    return tern_tcp_filter_read(origin, value, &filter);
}

static int set_keep_going(const char *origin, const char *value, struct tern_options *options)
{
    int64_t abort_too = 1;
    if (!tern_param_read_value(TERN_PARAM_BOOL, value, &abort_too))
        return tern_error(TERN_ERR_ARG, "%s is \"%s\"; expected 0 or 1. Change or remove it",
                          origin, value);
    options->keep_going = !abort_too;
    return 0;
}

/* The hosts that are taken if the command line names none. */
static int set_default_hosts(const char *origin, const char *value, struct tern_options *options)
{
    options->hosts_are_default = false;
    int error = tern_option_apply_value(tern_option_named("host"), origin, value, options);
    options->hosts_are_default = options->hosts.count > 0;
    return error;
}

/* The slots of hosts whose number nobody gave: a number, or the objects to count. */
static int set_default_slots(const char *origin, const char *value, struct tern_options *options)
{
    static const struct {
        const char *word;
        enum tern_map_level level;
    } words[] = {
        {"cores", TERN_MAP_LEVEL_CORE},
        {"hwthreads", TERN_MAP_LEVEL_HWTHREAD},
        {"sockets", TERN_MAP_LEVEL_SOCKET},
        {"numas", TERN_MAP_LEVEL_NUMA},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(value, words[i].word) == 0) {
            options->default_slots = (struct tern_default_slots){0, 1 + (int)words[i].level};
            return 0;
        }
    options->default_slots = (struct tern_default_slots){0};
    if (strcasecmp(value, "none") == 0)
        return 0;
    return tern_policy_number(origin, value, 1, 1 << 20, &options->default_slots.number);
}

/* ras: from which batch systems hosts are taken. */
static int choose_batch_systems(const char *origin, const char *value, struct tern_options *options)
{
    tern_parameter_check_names(origin, value, "slurm,tm,lsf,gridengine,alps,loadleveler,simulator",
                               options);
    tern_allocation_limit(value);
    return 0;
}

/* plm: how agents are started. mpirun/tree asks the parameter itself. */
static int check_launch_ways(const char *origin, const char *value, struct tern_options *options)
{
    tern_parameter_check_names(origin, value, "slurm,rsh,ssh,tm,lsf,alps,gridengine,isolated",
                               options);
    return 0;
}

/* The agent is one program. Refuses "valgrind mpirun", which Open MPI's launcher would run. */
static int check_launch_agent(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    if (!strchr(value, ' ') || access(value, X_OK) == 0)
        return 0;
    return tern_error(TERN_ERR_ARG,
                      "%s is \"%s\"; expected the path of mpirun on the other hosts, without "
                      "arguments. To run it below another program, name a script that does",
                      origin, value);
}

/* Maps on the machine of an XML file. */
static int set_machine(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    if (!*value)
        return 0;
    if (access(value, R_OK) < 0)
        return tern_error(TERN_ERR_ARG,
                          "%s names %s, which cannot be read: %s; expected a file that `lstopo "
                          "FILE.xml` wrote",
                          origin, value, strerror(errno));
    return setenv("HWLOC_XMLFILE", value, 1) ? TERN_ERR_NO_MEM : 0;
}

/* Reads the seconds of Open MPI's parameter. */
static int set_end_grace(const char *origin, const char *value, struct tern_options *options)
{
    (void)options;
    int seconds, error = tern_policy_number(origin, value, 0, 1 << 20, &seconds);
    char text[24];
    snprintf(text, sizeof text, "%d", error ? 0 : seconds * 1000);
    return error ? error : tern_param_write("end_grace_ms", text);
}

/* plm_base_verbose N: from 1 on, the start of each host is shown. */
static int set_verbosity(const char *origin, const char *value, struct tern_options *options)
{
    (void)origin;
    int64_t level;
    if (tern_param_read_value(TERN_PARAM_INT, value, &level))
        options->show_start = level > 0;
    else /* a word, which tern_param_check_text allowed */
        options->show_start = *value && strcmp(value, "none") && strcmp(value, "error");
    return 0;
}

static int set_startup_timeout(const char *origin, const char *value, struct tern_options *options)
{
    (void)origin, (void)options;
    return strcmp(value, "0") == 0 ? 0 : tern_param_write("launch_timeout", value);
}

/* ---- the table ---- */

#define OPTION(word) TERN_LAUNCHER_OPTION, .text = (word)
#define READ(function) TERN_LAUNCHER_READ, .read = (function)
#define FLAG(field) TERN_LAUNCHER_FLAG, .offset = offsetof(struct tern_options, field)
#define MISSING(what) TERN_LAUNCHER_MISSING, .text = (what)
#define NAMES(list) TERN_LAUNCHER_NAMES, .text = (list)
#define TRUTH TERN_LAUNCHER_TRUTH, .text = NULL
#define QUIET TERN_LAUNCHER_QUIET, .text = NULL

/* Beside these, all names that end in _verbose or _priority are quiet. */
const struct tern_launcher_parameter tern_launcher_parameters[] = {
    /* values for all ranks: first, so that the others may be among them */
    { "mca_base_envar_file_prefix", READ(tern_parameters_tune) },
    { "mca_base_param_file_prefix", READ(tern_parameters_add_settings) },
    { "mca_base_env_list_delimiter", READ(tern_tune_set_delimiter) },
    { "mca_base_env_list", READ(tern_tune_set_variables) },

    /* where */
    { "orte_default_hostfile", OPTION("default-hostfile") },
    { "orte_default_dash_host", READ(set_default_hosts) },
    { "ras", READ(choose_batch_systems) },
    { "plm", READ(check_launch_ways) },
    { "orte_launch_agent", READ(check_launch_agent) },
    { "orte_set_default_slots", READ(set_default_slots) },
    { "rmaps_base_no_schedule_local", OPTION("nolocal") },
    { "rmaps_base_topology", READ(set_machine) },
    { "hwloc_base_topo_file", READ(set_machine) },
    { "hwloc_base_cpu_list", OPTION("cpu-set") },
    { "hwloc_base_cpu_set", OPTION("cpu-set") },
    { "orte_startup_timeout", READ(set_startup_timeout) },

    /* mapping, numbering, binding */
    { "rmaps_base_schedule_policy", OPTION("map-by") },
    { "rmaps_base_byslot", OPTION("byslot") },
    { "rmaps_base_bycore", OPTION("bycore") },
    { "rmaps_base_bynode", OPTION("bynode") },
    { "rmaps_base_mapping_policy", OPTION("map-by") },
    { "rmaps_base_pattern", OPTION("ppr") },
    { "rmaps_ppr_pattern", OPTION("ppr") },
    { "rmaps_base_pernode", OPTION("pernode") },
    { "rmaps_ppr_pernode", OPTION("pernode") },
    { "rmaps_base_n_pernode", OPTION("npernode") },
    { "rmaps_ppr_n_pernode", OPTION("npernode") },
    { "rmaps_base_n_persocket", OPTION("npersocket") },
    { "rmaps_ppr_n_persocket", OPTION("npersocket") },
    { "rmaps_base_cpus_per_proc", OPTION("cpus-per-proc") },
    { "rmaps_base_cpus_per_rank", OPTION("cpus-per-rank") },
    { "rmaps_base_ranking_policy", OPTION("rank-by") },
    { "hwloc_base_bind_to_core", OPTION("bind-to-core") },
    { "hwloc_base_bind_to_socket", OPTION("bind-to-socket") },
    { "hwloc_base_binding_policy", OPTION("bind-to") },
    { "rmaps_base_oversubscribe", OPTION("oversubscribe") },
    { "rmaps_base_no_oversubscribe", OPTION("nooversubscribe") },
    { "hwloc_base_use_hwthreads_as_cpus", OPTION("use-hwthread-cpus") },
    { "rmaps", READ(choose_mapper) },
    { "rmaps_rank_file_path", OPTION("rankfile") },
    { "orte_rankfile", OPTION("rankfile") },
    { "rmaps_rank_file_physical", FLAG(rankfile_physical) },
    { "rmaps_dist_device",
      MISSING("ranks are not mapped by distance from a device; use --map-by numa") },
    { "rmaps_resilient_fault_grp_file", MISSING("there is no mapper resilient; use --map-by") },
    { "rmaps_base_inherit", TRUTH },
    { "hwloc_base_slot_list", MISSING("use --rankfile, or --cpu-set with --bind-to cpu-list") },
    { "hwloc_base_mem_alloc_policy", MISSING("memory is not bound; use numactl") },
    { "hwloc_base_mem_bind_failure_action", QUIET }, /* lib/settings/open_mpi.c has its words */
    { "rtc_hwloc_vmhole", QUIET },

    /* what is shown, and output */
    { "hwloc_base_report_bindings", OPTION("report-bindings") },
    { "rmaps_base_display_map", OPTION("display-map") },
    { "rmaps_base_display_devel_map", OPTION("display-devel-map") },
    { "rmaps_base_display_diffable_map", OPTION("display-diffable-map") },
    { "rmaps_base_display_topo_with_map", OPTION("display-topo") },
    { "orte_display_alloc", OPTION("display-allocation") },
    { "orte_display_devel_alloc", OPTION("display-devel-allocation") },
    { "ras_base_display_alloc", OPTION("display-allocation") },
    { "ras_base_display_devel_alloc", OPTION("display-devel-allocation") },
    { "orte_do_not_launch", OPTION("do-not-launch") },
    { "orte_tag_output", OPTION("tag-output") },
    { "orte_timestamp_output", OPTION("timestamp-output") },
    { "orte_output_filename", OPTION("output-filename") },
    { "iof_base_redirect_app_stderr_to_stdout", OPTION("merge-stderr-to-stdout") },
    { "orte_execute_quiet", OPTION("quiet") },
    { "plm_base_verbose", READ(set_verbosity) },
    { "orte_xml_output", MISSING("output is plain text; use --tag-output") },
    { "orte_xml_file", MISSING("output is plain text; use --tag-output") },
    { "orte_xterm", MISSING("write mpirun -np 2 xterm -e PROGRAM") },
    { "orte_map_stddiag_to_stderr", TRUTH },
    { "orte_map_stddiag_to_stdout", TRUTH },
    { "iof_base_output_limit", QUIET },
    { "orte_output_debugger_proctable", MISSING("-v names the process of each rank") },
    { "orte_report_launch_progress", TRUTH },
    { "orte_report_child_jobs_separately", TRUTH },
    { "orte_report_silent_errors", TRUTH },
    { "orte_report_events", MISSING("there are no tools to report events to") },
    { "orte_show_resolved_nodenames", TRUTH },
    { "orte_base_help_aggregate", TRUTH },

    /* the start and the end of a job */
    { "orte_abort_on_non_zero_status", READ(set_keep_going) },
    { "odls_base_sigkill_timeout", READ(set_end_grace) },
    { "orte_allowed_exit_without_sync",
      MISSING("a rank that ends between MPI_Init and MPI_Finalize ends the job") },
    { "orte_enable_recovery", MISSING("ranks that failed are not restarted") },
    { "orte_max_restarts", MISSING("ranks that failed are not restarted") },
    { "orte_fork_agent", MISSING("write the words before the program: mpirun -np 2 WORD PROGRAM") },
    { "orte_allocation_required", MISSING("use --nolocal, or ask the batch system for hosts") },
    { "orte_server", MISSING("there is no server of names between jobs") },
    { "orte_tmpdir_base", MISSING("set TMPDIR") },
    { "orte_local_tmpdir_base", MISSING("set TMPDIR") },
    { "orte_remote_tmpdir_base", MISSING("set TMPDIR on the other hosts") },
    { "btl_sm_backing_directory",
      MISSING("the memory that ranks share is in no directory, so a small /dev/shm is no matter") },
    { "btl_vader_backing_directory",
      MISSING("the memory that ranks share is in no directory, so a small /dev/shm is no matter") },
    { "orte_silence_shared_fs", QUIET },
    { "orte_create_session_dirs", TRUTH },
    { "orte_no_session_dirs", QUIET },
    { "orte_debugger_test_attach", TRUTH },
    { "orte_debugger_test_daemon", QUIET },
    { "orte_debugger_check_rate", QUIET },
    { "orte_base_user_debugger", QUIET },
    { "ess_base_forward_signals", MISSING("mpirun(1), SIGNALS, says which signals are passed on") },
    { "ess_hnp_forward_signals", MISSING("mpirun(1), SIGNALS, says which signals are passed on") },
    { "ess_base_stream_buffering", OPTION("stream-buffering") },
    { "odls_base_signal_direct_children_only",
      MISSING("signals go to the process groups of the ranks") },
    { "opal_set_max_sys_limits", MISSING("set limits with ulimit") },
    { "plm_rsh_chdir", MISSING("use --wdir") },
    { "plm_rsh_force_rsh", MISSING("set plm_rsh_agent to rsh") },
    { "plm_rsh_pass_libpath", MISSING("use --prefix, or -x LD_LIBRARY_PATH") },
    { "ras_base_multiplier", MISSING("write slots=N in a hostfile, or --host NAME:N") },
    { "ras_simulator_num_nodes", MISSING("--dry-run shows the map of hosts that do not exist") },
    { "ras_slurm_enable_dyn_alloc", MISSING("ask Slurm for all hosts before") },
    { "ras_slurm_use_entire_allocation", TRUTH },
    { "oob_tcp_static_ipv4_ports", MISSING("use oob_tcp_dynamic_ipv4_ports") },
    { "oob_tcp_static_ipv6_ports", MISSING("use oob_tcp_dynamic_ipv6_ports") },

    /* parts of Open MPI's launcher to choose from, and how they work inside */
    { "errmgr", QUIET },
    { "ess", QUIET },
    { "ess_singleton_isolated", TRUTH },
    { "ess_singleton_server", QUIET },
    { "ess_tool_async_progress", TRUTH },
    { "ess_tool_do_not_connect", TRUTH },
    { "ess_tool_num_retries", QUIET },
    { "ess_tool_server_pid", QUIET },
    { "ess_tool_system_server_first", TRUTH },
    { "ess_tool_system_server_only", TRUTH },
    { "ess_tool_wait_to_connect", QUIET },
    { "filem", QUIET },
    { "filem_raw_flatten_directory_trees", TRUTH },
    { "grpcomm", QUIET },
    { "hwloc", QUIET },
    { "iof", QUIET },
    { "odls", QUIET },
    { "odls_base_cutoff", QUIET },
    { "odls_base_max_threads", QUIET },
    { "odls_base_num_threads", QUIET },
    { "odls_default_maxfd", QUIET },
    { "oob", QUIET },
    { "oob_tcp_disable_ipv4_family", TRUTH },
    { "oob_tcp_disable_ipv6_family", TRUTH },
    { "oob_tcp_keepalive_intvl", QUIET },
    { "oob_tcp_keepalive_probes", QUIET },
    { "oob_tcp_keepalive_time", QUIET },
    { "oob_tcp_max_recon_attempts", QUIET },
    { "oob_tcp_peer_limit", QUIET },
    { "oob_tcp_peer_retries", QUIET },
    { "oob_tcp_rcvbuf", QUIET },
    { "oob_tcp_retry_delay", QUIET },
    { "oob_tcp_sndbuf", QUIET },
    { "orte_app_num", QUIET },
    { "orte_assume_same_shell", TRUTH },
    { "orte_bound_at_launch", QUIET },
    { "orte_coll_transports", QUIET },
    { "orte_daemon_cores", QUIET },
    { "orte_daemon_fail", QUIET },
    { "orte_daemon_fail_delay", QUIET },
    { "orte_daemon_spin", TRUTH },
    { "orte_debug", TRUTH },
    { "orte_debug_daemons", OPTION("debug-daemons") },
    { "orte_debug_daemons_file", TRUTH },
    { "orte_enable_instant_on_support", TRUTH },
    { "orte_ess_jobid", QUIET },
    { "orte_ess_num_procs", QUIET },
    { "orte_ess_vpid", QUIET },
    { "orte_fwd_mpirun_port", TRUTH },
    { "orte_hnp_uri", QUIET },
    { "orte_hostname_alias_index", QUIET },
    { "orte_hostname_cutoff", QUIET },
    { "orte_jobfam_session_dir", QUIET },
    { "orte_keep_fqdn_hostnames", TRUTH },
    { "orte_launch", QUIET },
    { "orte_leave_session_attached", TRUTH },
    { "orte_local_daemon_uri", QUIET },
    { "orte_max_vm_size", OPTION("max-vm-size") },
    { "orte_mgmt_transports", QUIET },
    { "orte_no_vm", TRUTH },
    { "orte_node_regex", QUIET },
    { "orte_num_nodes", QUIET },
    { "orte_precondition_transports", QUIET },
    { "orte_progress_thread_debug", QUIET },
    { "orte_retain_aliases", TRUTH },
    { "orte_soft_locations", TRUTH },
    { "orte_stat_history_size", QUIET },
    { "orte_timeout_for_stack_trace", QUIET },
    { "orte_top_session_dir", QUIET },
    { "plm_rsh_assume_same_shell", TRUTH },
    { "plm_rsh_daemonize_llspawn", TRUTH },
    { "plm_rsh_daemonize_qrsh", TRUTH },
    { "plm_rsh_delay", QUIET },
    { "plm_rsh_disable_llspawn", TRUTH },
    { "plm_rsh_num_concurrent", QUIET },
    { "plm_rsh_pass_environ_mca_params", TRUTH },
    { "plm_slurm_warning", TRUTH },
    { "ras_base_launch_orted_on_hn", TRUTH },
    { "ras_gridengine_show_jobid", TRUTH },
    { "ras_simulator_have_cpubind", TRUTH },
    { "ras_simulator_have_membind", TRUTH },
    { "ras_simulator_max_slots", QUIET },
    { "ras_simulator_slots", QUIET },
    { "ras_simulator_topo_files", QUIET },
    { "ras_simulator_topologies", QUIET },
    { "ras_slurm_config_file", QUIET },
    { "ras_slurm_dyn_allocate_timeout", QUIET },
    { "ras_slurm_enable_rolling_alloc", TRUTH },
    { "regx", QUIET },
    { "regx_naive_compress_vpids", TRUTH },
    { "rml", QUIET },
    { "rml_base_max_retries", QUIET },
    { "routed", QUIET },
    { "routed_radix", QUIET },
    { "rtc", QUIET },
    { "schizo", QUIET },
    { "schizo_base_personalities", QUIET },
    { "snapc", QUIET },
    { "sstore", QUIET },
    { "state", QUIET },
    { "state_base_check_fds", TRUTH },
    { "state_novm_select", TRUTH },

    /* not the launcher's, but checked before any rank is started */
    { "pml", NAMES("ob1,ucx,cm,yalla,v,monitoring,bfo,crcpw") },
    { "mtl", NAMES("ofi,psm,psm2,mxm,portals4") },
    { "coll", NAMES("tuned,basic,libnbc,self,sm,inter,sync,hcoll,cuda,han,adapt,ucc,xhc,monitoring,"
                    "portals4,fca,accelerator,acoll,ftagree,ml,sm2,hierarch,demo,ucx") },
    { "osc", NAMES("rdma,sm,pt2pt,ucx,portals4,monitoring") },
    { "io", NAMES("ompio,romio321,romio314,romio341,romio") },
    { "btl", NAMES("self,shm,ipc,tcp,vader,sm,openib,uct,ofi,ugni,usnic,smcuda,portals4,scif,"
                   "template,strict") },
    { "btl_tcp_port_min_v6", MISSING("use btl_tcp_port_min_v4; one port serves both") },
    { "btl_tcp_port_range_v6", MISSING("use btl_tcp_port_range_v4; one port serves both") },
    { "btl_base_verbose", MISSING("--explain says what carries messages") },
    { "pml_base_verbose", MISSING("--explain says what carries messages") },
    { "ompi_display_comm", MISSING("--explain says what carries messages") },
    { "hook_comm_method_enable_mpi_init", MISSING("--explain says what carries messages") },
    { "hook_comm_method_enable_mpi_finalize", MISSING("--explain says what carries messages") },
    { "pml_monitoring_enable", MISSING("the tool interface, MPI_T, counts traffic by peer") },
    { "mpi_paffinity_alone", MISSING("use --bind-to core") },
    { "opal_paffinity_alone", MISSING("use --bind-to core") },
    { "mpi_show_mca_params", MISSING("--explain prints every parameter and its source") },
    { "mpi_show_handle_leaks", MISSING("use check_level full, which names what was not freed") },
    { "mpi_spc_dump_enabled", MISSING("the tool interface, MPI_T, has such counters") },
    { "mpi_spc_attach", MISSING("the tool interface, MPI_T, has such counters") },
    { "mpi_abort_delay", MISSING("ranks end at once; --where says where they are before") },
    { "opal_cuda_support", TRUTH },
    { "mpi_cuda_support", TRUTH },
    { "mca_base_override_param_file", MISSING("use mca_param_files") },
    { "btl_tcp_if_include", READ(check_filter) },
    { "btl_tcp_if_exclude", READ(check_filter) },
    { 0 },
};

/* ---- names ---- */

static const struct {
    const char *other, *name;
} spellings[] = {
    { "rmaps_default_mapping_policy", "rmaps_base_mapping_policy" },
    { "rmaps_default_ranking_policy", "rmaps_base_ranking_policy" },
    { "rmaps_default_inherit", "rmaps_base_inherit" },
    { "rmaps_base_display_devel_map_policy", "rmaps_base_display_devel_map" },
    { "hwloc_default_binding_policy", "hwloc_base_binding_policy" },
    { "hwloc_default_cpu_list", "hwloc_base_cpu_list" },
    { "hwloc_default_use_hwthread_cpus", "hwloc_base_use_hwthreads_as_cpus" },
    { "hwloc_default_mem_alloc_policy", "hwloc_base_mem_alloc_policy" },
    { "prte_if_include", "oob_tcp_if_include" },
    { "prte_if_exclude", "oob_tcp_if_exclude" },
};

const char *tern_launcher_spelling(const char *name, int index)
{
    static char changed[128];
    const struct tern_setting *param = tern_param_find(name);
    if (index-- == 0)
        return name;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(spellings[i].name, name) == 0 && index-- == 0)
            return spellings[i].other;
    for (int i = 1; param && tern_setting_name(param, i, changed, sizeof changed); i++)
        if (index-- == 0)
            return changed;
    if (strncmp(name, "orte_", 5) || index)
        return NULL;
    snprintf(changed, sizeof changed, "prte_%s", name + 5);
    return changed;
}

const char *tern_launcher_name(const char *name)
{
    static char changed[128];
    const struct tern_setting *param = tern_param_find(name);
    if (param)
        return param->name;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(spellings[i].other, name) == 0)
            return spellings[i].name;
    if (strncmp(name, "prte_", 5) || strlen(name) >= sizeof changed)
        return name;
    snprintf(changed, sizeof changed, "orte_%s", name + 5);
    param = tern_param_find(changed);
    return param ? param->name : changed;
}

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

const struct tern_launcher_parameter *tern_launcher_find(const char *name)
{
    static const struct tern_launcher_parameter quiet = { "", QUIET };
    static const struct tern_launcher_parameter verbose = {
        "", MISSING("--explain says what is decided, --debug-daemons what is started"),
    };
    const char *wanted = tern_launcher_name(name);
    const struct tern_launcher_parameter *row = tern_launcher_parameters;
    while (row->name && strcmp(row->name, wanted))
        row++;
    if (row->name)
        return row;
    if (ends_with(name, "_base_verbose") &&
        (tern_launcher_word(name) || tern_open_mpi_accepted(name)))
        return &verbose;
    bool inside = ends_with(name, "_verbose") || ends_with(name, "_priority");
    return inside && tern_launcher_word(name) ? &quiet : NULL;
}

bool tern_launcher_word(const char *name)
{
    static const char *const words[] = {
        "orte", "prte", "plm",   "pls",  "rmaps", "hwloc",  "ras",    "odls",  "oob",
        "ess",  "iof",  "state", "rtc",  "rml",   "routed", "errmgr", "filem", "grpcomm",
        "regx", "rds",  "snapc", "sstore", "schizo",
    };
    size_t length = strcspn(name, "_");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(words[i], name, length) == 0)
            return true;
    return false;
}
