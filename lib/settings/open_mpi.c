/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/open_mpi.h"

#include "lib/settings/value.h"
#include "lib/util/base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* a row needs only names, type, choices and effect */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define OF_WORDS TERN_PARAM_STRING, .effect = TERN_EFFECT_NONE
#define MISSED TERN_PARAM_STRING, .launcher = true, .effect = TERN_EFFECT_WARNED
#define PINNED "auto,-1|true,1,t,yes,y,enabled|false,0,f,no,n,disabled"
#define LEVELS "none|error|component|warn|info|trace|debug|max"

/* Each row has all parameters that are treated alike. */
static const struct tern_setting rows[] = {
    /* truth values */
    {NULL, TERN_PARAM_BOOL, .effect = TERN_EFFECT_NONE, .also =
     "bml_r2_show_unreach_errors btl_ofi_disable_sep btl_openib_abort_not_enough_reg_mem "
     "btl_openib_allow_different_subnets btl_openib_allow_ib "
     "btl_openib_allow_max_memory_registration btl_openib_enable_srq_resize "
     "btl_openib_have_fork_support btl_openib_rroce_enable btl_openib_use_async_event_thread "
     "btl_openib_use_message_coalescing btl_openib_verbose btl_openib_warn_default_gid_prefix "
     "btl_openib_warn_no_device_params_found btl_openib_warn_nonexistent_if "
     "btl_tcp_warn_all_unfound_interfaces coll_adapt_bcast_synchronous_send "
     "coll_adapt_reduce_synchronous_send coll_han_dump_dynamic_rules coll_han_reproducible "
     "coll_han_use_dynamic_file_rules coll_han_use_simple_allgather "
     "coll_han_use_simple_allreduce coll_han_use_simple_bcast coll_han_use_simple_gather "
     "coll_han_use_simple_reduce coll_han_use_simple_scatter "
     "coll_libnbc_ibcast_skip_dt_decision coll_tuned_use_dynamic_rules crs_none_select_warning "
     "fbtl_posix_read_datasieving fbtl_posix_write_datasieving if_base_do_not_resolve "
     "if_base_retain_loopback mca_base_component_disable_dlopen "
     "mca_base_component_show_load_errors mca_base_component_track_load_errors "
     "mca_base_suppress_override_warning mca_component_disable_dlopen "
     "mca_component_show_load_errors mpi_cuda_support mpi_dynamics_enabled "
     "mpi_leave_pinned_pipeline mpi_no_free_handles mpi_oversubscribe mpi_param_check "
     "mpi_preconnect_all mpi_use_sparse_group_storage mpi_warn_on_fork mpi_yield_when_idle "
     "opal_abort_print_stack opal_cuda_support opal_leave_pinned_pipeline "
     "opal_warn_on_missing_libcuda osc_pt2pt_no_locks osc_rdma_acc_single_intrinsic "
     "osc_rdma_acc_use_amo osc_rdma_no_locks osc_ucx_opal_mem_hooks pmix_base_async_modex "
     "pmix_base_collect_data pmix_ext3x_silence_warning pml_ob1_use_all_rdma "
     "pml_ucx_multi_send_nb pml_ucx_opal_mem_hooks pml_ucx_request_leak_check "
     "rcache_grdma_print_stats shmem_mmap_enable_nfs_warning snapc_base_only_one_seq "
     "timer_require_monotonic"},
    /* words */
    {"btl_openib_device_type", OF_WORDS,
     .choices = "infiniband,ib,0|iwarp,iw,1|all,2"},
    {"coll_libnbc_iallgather_algorithm", OF_WORDS,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"coll_libnbc_iallreduce_algorithm", OF_WORDS,
     .choices = "ignore,0|ring,1|binomial,2|rabenseifner,3|recursive_doubling,4"},
    {"coll_libnbc_ibcast_algorithm", OF_WORDS,
     .choices = "ignore,0|linear,1|binomial,2|chain,3|knomial,4"},
    {"coll_libnbc_iexscan_algorithm", OF_WORDS,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"coll_libnbc_ireduce_algorithm", OF_WORDS,
     .choices = "ignore,0|chain,1|binomial,2|rabenseifner,3"},
    {"coll_libnbc_iscan_algorithm", OF_WORDS,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"hwloc_base_mem_bind_failure_action", OF_WORDS,
     .choices = "silent,0|warn,1|error,2"},
    {"mtl_ofi_av", OF_WORDS,
     .choices = "map,1|table,2"},
    {"mtl_ofi_control_progress", OF_WORDS,
     .choices = "auto,1|manual,2|unspec,3"},
    {"mtl_ofi_data_progress", OF_WORDS,
     .choices = "auto,1|manual,2|unspec,3"},
    {"mtl_ofi_tag_mode", OF_WORDS,
     .choices = "auto,1|ofi_tag_1,2|ofi_tag_2,3|ofi_tag_full,4"},
    {"mtl_psm_path_query", OF_WORDS,
     .choices = "none,0|opp,1"},
    {"osc_rdma_locking_mode", OF_WORDS,
     .choices = "two_level,0|on_demand,1"},
    {"mpi_leave_pinned", OF_WORDS,
     .choices = PINNED},
    {"opal_leave_pinned", OF_WORDS,
     .choices = PINNED},

    /* the launcher's; only mpirun checks them: truth values, and any text */
    {NULL, TERN_PARAM_BOOL, .launcher = true, .effect = TERN_EFFECT_NONE, .also =
     "rmaps_base_inherit orte_map_stddiag_to_stderr orte_map_stddiag_to_stdout "
     "orte_report_launch_progress orte_report_child_jobs_separately orte_report_silent_errors "
     "orte_show_resolved_nodenames orte_base_help_aggregate orte_create_session_dirs "
     "orte_debugger_test_attach ras_slurm_use_entire_allocation ess_singleton_isolated "
     "ess_tool_async_progress ess_tool_do_not_connect ess_tool_system_server_first "
     "ess_tool_system_server_only filem_raw_flatten_directory_trees "
     "oob_tcp_disable_ipv4_family oob_tcp_disable_ipv6_family orte_assume_same_shell "
     "orte_daemon_spin orte_debug orte_debug_daemons_file orte_enable_instant_on_support "
     "orte_fwd_mpirun_port orte_keep_fqdn_hostnames orte_leave_session_attached orte_no_vm "
     "orte_retain_aliases orte_soft_locations plm_rsh_assume_same_shell "
     "plm_rsh_daemonize_llspawn plm_rsh_daemonize_qrsh plm_rsh_disable_llspawn "
     "plm_rsh_pass_environ_mca_params plm_slurm_warning ras_base_launch_orted_on_hn "
     "ras_gridengine_show_jobid ras_simulator_have_cpubind ras_simulator_have_membind "
     "ras_slurm_enable_rolling_alloc regx_naive_compress_vpids state_base_check_fds "
     "state_novm_select rmaps_default_inherit"},
    {NULL, TERN_PARAM_STRING, .launcher = true, .effect = TERN_EFFECT_NONE, .also =
     "rtc_hwloc_vmhole iof_base_output_limit orte_silence_shared_fs orte_no_session_dirs "
     "orte_debugger_test_daemon orte_debugger_check_rate orte_base_user_debugger errmgr ess "
     "ess_singleton_server ess_tool_num_retries ess_tool_server_pid ess_tool_wait_to_connect "
     "filem grpcomm hwloc iof odls odls_base_cutoff odls_base_max_threads "
     "odls_base_num_threads odls_default_maxfd oob oob_tcp_keepalive_intvl "
     "oob_tcp_keepalive_probes oob_tcp_keepalive_time oob_tcp_max_recon_attempts "
     "oob_tcp_peer_limit oob_tcp_peer_retries oob_tcp_rcvbuf oob_tcp_retry_delay "
     "oob_tcp_sndbuf orte_app_num orte_bound_at_launch orte_coll_transports orte_daemon_cores "
     "orte_daemon_fail orte_daemon_fail_delay orte_ess_jobid orte_ess_num_procs orte_ess_vpid "
     "orte_hnp_uri orte_hostname_alias_index orte_hostname_cutoff orte_jobfam_session_dir "
     "orte_launch orte_local_daemon_uri orte_mgmt_transports orte_node_regex orte_num_nodes "
     "orte_precondition_transports orte_progress_thread_debug orte_stat_history_size "
     "orte_timeout_for_stack_trace orte_top_session_dir plm_rsh_delay plm_rsh_num_concurrent "
     "ras_simulator_max_slots ras_simulator_slots ras_simulator_topo_files "
     "ras_simulator_topologies ras_slurm_config_file ras_slurm_dyn_allocate_timeout regx rml "
     "rml_base_max_retries routed routed_radix rtc schizo schizo_base_personalities snapc "
     "sstore state"},

    /* what a user would miss */
    {"rmaps_dist_device", MISSED,
     .instead = "ranks are not mapped by distance from a device; use --map-by numa"},
    {"rmaps_resilient_fault_grp_file", MISSED,
     .instead = "there is no mapper resilient; use --map-by"},
    {"hwloc_base_slot_list", MISSED,
     .instead = "use --rankfile, or --cpu-set with --bind-to cpu-list"},
    {"hwloc_base_mem_alloc_policy", MISSED,
     .also = "hwloc_default_mem_alloc_policy",
     .instead = "memory is not bound; use numactl"},
    {"orte_xml_output", MISSED,
     .also = "orte_xml_file",
     .instead = "output is plain text; use --tag-output"},
    {"orte_xterm", MISSED,
     .instead = "write mpirun -np 2 xterm -e PROGRAM"},
    {"orte_output_debugger_proctable", MISSED,
     .instead = "-v names the process of each rank"},
    {"orte_report_events", MISSED,
     .instead = "there are no tools to report events to"},
    {"orte_allowed_exit_without_sync", MISSED,
     .instead = "a rank that ends between MPI_Init and MPI_Finalize ends the job"},
    {"orte_enable_recovery", MISSED,
     .also = "orte_max_restarts",
     .instead = "ranks that failed are not restarted"},
    {"orte_fork_agent", MISSED,
     .instead = "write the words before the program: mpirun -np 2 WORD PROGRAM"},
    {"orte_allocation_required", MISSED,
     .instead = "use --nolocal, or ask the batch system for hosts"},
    {"orte_server", MISSED,
     .instead = "there is no server of names between jobs"},
    {"orte_tmpdir_base", MISSED,
     .also = "orte_local_tmpdir_base",
     .instead = "set TMPDIR"},
    {"orte_remote_tmpdir_base", MISSED,
     .instead = "set TMPDIR on the other hosts"},
    {"btl_sm_backing_directory", MISSED,
     .also = "btl_vader_backing_directory",
     .instead = "the memory that ranks share is in no directory, so a small /dev/shm is no "
                "matter"},
    {"ess_base_forward_signals", MISSED,
     .also = "ess_hnp_forward_signals",
     .instead = "mpirun(1), SIGNALS, says which signals are passed on"},
    {"odls_base_signal_direct_children_only", MISSED,
     .instead = "signals go to the process groups of the ranks"},
    {"opal_set_max_sys_limits", MISSED,
     .instead = "set limits with ulimit"},
    {"plm_rsh_chdir", MISSED,
     .instead = "use --wdir"},
    {"plm_rsh_force_rsh", MISSED,
     .instead = "set plm_rsh_agent to rsh"},
    {"plm_rsh_pass_libpath", MISSED,
     .instead = "use --prefix, or -x LD_LIBRARY_PATH"},
    {"ras_base_multiplier", MISSED,
     .instead = "write slots=N in a hostfile, or --host NAME:N"},
    {"ras_simulator_num_nodes", MISSED,
     .instead = "--dry-run shows the map of hosts that do not exist"},
    {"ras_slurm_enable_dyn_alloc", MISSED,
     .instead = "ask Slurm for all hosts before"},
    {"oob_tcp_static_ipv4_ports", MISSED,
     .instead = "use oob_tcp_dynamic_ipv4_ports"},
    {"oob_tcp_static_ipv6_ports", MISSED,
     .instead = "use oob_tcp_dynamic_ipv6_ports"},
    {"btl_tcp_port_min_v6", MISSED,
     .instead = "use btl_tcp_port_min_v4; one port serves both"},
    {"btl_tcp_port_range_v6", MISSED,
     .instead = "use btl_tcp_port_range_v4; one port serves both"},
    {"btl_base_verbose", MISSED,
     .also = "pml_base_verbose ompi_display_comm hook_comm_method_enable_mpi_init "
             "hook_comm_method_enable_mpi_finalize",
     .instead = "--explain says what carries messages"},
    {"pml_monitoring_enable", MISSED,
     .instead = "the tool interface, MPI_T, counts traffic by peer"},
    {"mpi_paffinity_alone", MISSED,
     .also = "opal_paffinity_alone",
     .instead = "use --bind-to core"},
    {"mpi_show_mca_params", MISSED,
     .instead = "--explain prints every parameter and its source"},
    {"mpi_show_handle_leaks", MISSED,
     .instead = "use check_level full, which names what was not freed"},
    {"mpi_spc_dump_enabled", MISSED,
     .also = "mpi_spc_attach",
     .instead = "the tool interface, MPI_T, has such counters"},
    {"mpi_abort_delay", MISSED,
     .instead = "ranks end at once; --where says where they are before"},
    {"mca_base_override_param_file", MISSED,
     .instead = "use mca_param_files"},

    /* implementations to choose from; only the first is a choice here */
    {"btl", TERN_PARAM_WORDS, .launcher = true,
     .choices = "self,shm,ipc,tcp,vader,sm,openib,uct,ofi,ugni,usnic,smcuda,portals4,scif,"
                "template,strict"},
    {"pml", TERN_PARAM_WORDS, .launcher = true, .effect = TERN_EFFECT_NONE,
     .choices = "ob1,ucx,cm,yalla,v,monitoring,bfo,crcpw"},
    {"mtl", TERN_PARAM_WORDS, .launcher = true, .effect = TERN_EFFECT_NONE,
     .choices = "ofi,psm,psm2,mxm,portals4"},
    {"coll", TERN_PARAM_WORDS, .launcher = true, .effect = TERN_EFFECT_NONE,
     .choices = "tuned,basic,libnbc,self,sm,inter,sync,hcoll,cuda,han,adapt,ucc,xhc,"
                "monitoring,portals4,fca,accelerator,acoll,ftagree,ml,sm2,hierarch,demo,"
                "ucx"},
    {"osc", TERN_PARAM_WORDS, .launcher = true, .effect = TERN_EFFECT_NONE,
     .choices = "rdma,sm,pt2pt,ucx,portals4,monitoring"},
    {"io", TERN_PARAM_WORDS, .launcher = true, .effect = TERN_EFFECT_NONE,
     .choices = "ompio,romio321,romio314,romio341,romio"},
};

/* Values of every parameter that ends with _base_verbose, besides whole numbers. */
static const struct tern_setting verbosity = {
    .type = TERN_PARAM_STRING,
    .choices = LEVELS,
    .effect = TERN_EFFECT_WARNED,
    .instead = "--explain says what is decided, --debug-daemons what is started",
};

/* What the launcher's parts say of themselves, and how they are chosen. */
static const struct tern_setting inside = {
    .type = TERN_PARAM_STRING,
    .launcher = true,
    .effect = TERN_EFFECT_NONE,
};

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0;
}

const struct tern_setting *tern_open_mpi_at(int index)
{
    return index < (int)(sizeof rows / sizeof *rows) ? &rows[index] : NULL;
}

const struct tern_setting *tern_open_mpi_find(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tern_setting_is_called(&rows[i], name))
            return &rows[i];
    if (ends_with(name, "_base_verbose") &&
        (tern_open_mpi_is_launchers(name) || tern_open_mpi_accepted(name)))
        return &verbosity;
    bool part = ends_with(name, "_verbose") || ends_with(name, "_priority");
    return part && tern_open_mpi_is_launchers(name) ? &inside : NULL;
}

void tern_open_mpi_nearest(struct tern_nearest *nearest)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].launcher)
            tern_nearest_try(nearest, &rows[i]);
}

bool tern_open_mpi_refuses(const char *name, const char *text, char *expected, size_t room)
{
    int64_t number;
    bool any = !*text || strcmp(name, "mca_base_verbose") == 0;
    bool level = ends_with(name, "_base_verbose");
    const struct tern_setting *row = level ? &verbosity : tern_open_mpi_find(name);
    if (any || !row || row->launcher || tern_param_allows(row, text))
        return false;
    /* to Open MPI each number except 0 is true, and a verbosity may lie between two levels */
    bool numbers = row->type == TERN_PARAM_BOOL || level;
    if (numbers && tern_param_read_value(TERN_PARAM_INT, text, &number))
        return false;
    tern_param_describe_values(row, text, expected, room);
    size_t used = strlen(expected);
    if (level && used < room)
        snprintf(expected + used, room - used, ", or a number");
    return true;
}

bool tern_open_mpi_is_launchers(const char *name)
{
    static const char words[] = "orte prte plm pls rmaps hwloc ras odls oob ess iof state rtc rml "
                                "routed errmgr filem grpcomm regx rds snapc sstore schizo";
    return tern_text_find_word(words, " ", name, strcspn(name, "_"));
}

/* First words of the names of Open MPI's parameters. */
static const char first_words[] =
    "accelerator allocator async atomic backtrace bml btl carto coll common compress crcp crs "
    "dfs dl dpm dstore errmgr ess event fbtl fcoll filem fs grpcomm gds hook hwloc if initial "
    "installdirs io iof mca memchecker memcpy memheap memory mpi mpiext mpool mtl notifier "
    "odls ompi ompio oob op opal orte osc oshmem paffinity part patcher pdl plm pmix pml preg "
    "propagate prrte prte prtebacktrace prtereachable pshmem psec psensor pstat pstrg ptl "
    "pubsub ras rcache reachable regx rmaps rml routed rsh rtc rte schizo scoll sec sensor "
    "sharedfp shmem smsc snapc spml sshmem sstore state threads timer topo treematch "
    "vprotocol";

/* Returns true if the name is long and within two slips of one of ours. Open MPI has no long name
 * so similar to one of ours. */
static bool is_misspelt(const char *name)
{
    enum { LONG_NAME = 12, SLIPS = 2 };
    const char *nearest = strlen(name) >= LONG_NAME ? tern_param_nearest(name) : NULL;
    return nearest && tern_text_distance(name, nearest) <= SLIPS;
}

bool tern_open_mpi_accepted(const char *name)
{
    return tern_text_find_word(first_words, " ", name, strcspn(name, "_")) && !is_misspelt(name);
}
