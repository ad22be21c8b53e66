/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/settings/open_mpi.h"

#include "lib/settings/setting.h"
#include "lib/settings/value.h"
#include "lib/util/base/text.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* a row needs only name, type and choices */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define PINNED "auto,-1|true,1,t,yes,y,enabled|false,0,f,no,n,disabled"
#define LEVELS "none|error|component|warn|info|trace|debug|max"

static const char *const truths[] = {
    "bml_r2_show_unreach_errors", "btl_ofi_disable_sep", "btl_openib_abort_not_enough_reg_mem",
    "btl_openib_allow_different_subnets", "btl_openib_allow_ib",
    "btl_openib_allow_max_memory_registration", "btl_openib_enable_srq_resize",
    "btl_openib_have_fork_support", "btl_openib_rroce_enable",
    "btl_openib_use_async_event_thread", "btl_openib_use_message_coalescing",
    "btl_openib_verbose", "btl_openib_warn_default_gid_prefix",
    "btl_openib_warn_no_device_params_found", "btl_openib_warn_nonexistent_if",
    "btl_tcp_warn_all_unfound_interfaces", "coll_adapt_bcast_synchronous_send",
    "coll_adapt_reduce_synchronous_send", "coll_han_dump_dynamic_rules",
    "coll_han_reproducible", "coll_han_use_dynamic_file_rules", "coll_han_use_simple_allgather",
    "coll_han_use_simple_allreduce", "coll_han_use_simple_bcast", "coll_han_use_simple_gather",
    "coll_han_use_simple_reduce", "coll_han_use_simple_scatter",
    "coll_libnbc_ibcast_skip_dt_decision", "coll_tuned_use_dynamic_rules",
    "crs_none_select_warning", "fbtl_posix_read_datasieving", "fbtl_posix_write_datasieving",
    "if_base_do_not_resolve", "if_base_retain_loopback", "mca_base_component_disable_dlopen",
    "mca_base_component_show_load_errors", "mca_base_component_track_load_errors",
    "mca_base_suppress_override_warning", "mca_component_disable_dlopen",
    "mca_component_show_load_errors", "mpi_cuda_support", "mpi_dynamics_enabled",
    "mpi_leave_pinned_pipeline", "mpi_no_free_handles", "mpi_oversubscribe", "mpi_param_check",
    "mpi_preconnect_all", "mpi_use_sparse_group_storage", "mpi_warn_on_fork",
    "mpi_yield_when_idle", "opal_abort_print_stack", "opal_cuda_support",
    "opal_leave_pinned_pipeline", "opal_warn_on_missing_libcuda", "osc_pt2pt_no_locks",
    "osc_rdma_acc_single_intrinsic", "osc_rdma_acc_use_amo", "osc_rdma_no_locks",
    "osc_ucx_opal_mem_hooks", "pmix_base_async_modex", "pmix_base_collect_data",
    "pmix_ext3x_silence_warning", "pml_ob1_use_all_rdma", "pml_ucx_multi_send_nb",
    "pml_ucx_opal_mem_hooks", "pml_ucx_request_leak_check", "rcache_grdma_print_stats",
    "shmem_mmap_enable_nfs_warning", "snapc_base_only_one_seq", "timer_require_monotonic",
};

static const struct tern_setting words[] = {
    {"btl_openib_device_type", TERN_PARAM_STRING, .choices = "infiniband,ib,0|iwarp,iw,1|all,2"},
    {"coll_libnbc_iallgather_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"coll_libnbc_iallreduce_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|ring,1|binomial,2|rabenseifner,3|recursive_doubling,4"},
    {"coll_libnbc_ibcast_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|linear,1|binomial,2|chain,3|knomial,4"},
    {"coll_libnbc_iexscan_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"coll_libnbc_ireduce_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|chain,1|binomial,2|rabenseifner,3"},
    {"coll_libnbc_iscan_algorithm", TERN_PARAM_STRING,
     .choices = "ignore,0|linear,1|recursive_doubling,2"},
    {"hwloc_base_mem_bind_failure_action", TERN_PARAM_STRING, .choices = "silent,0|warn,1|error,2"},
    {"mtl_ofi_av", TERN_PARAM_STRING, .choices = "map,1|table,2"},
    {"mtl_ofi_control_progress", TERN_PARAM_STRING, .choices = "auto,1|manual,2|unspec,3"},
    {"mtl_ofi_data_progress", TERN_PARAM_STRING, .choices = "auto,1|manual,2|unspec,3"},
    {"mtl_ofi_tag_mode", TERN_PARAM_STRING,
     .choices = "auto,1|ofi_tag_1,2|ofi_tag_2,3|ofi_tag_full,4"},
    {"mtl_psm_path_query", TERN_PARAM_STRING, .choices = "none,0|opp,1"},
    {"osc_rdma_locking_mode", TERN_PARAM_STRING, .choices = "two_level,0|on_demand,1"},
    {"mpi_leave_pinned", TERN_PARAM_STRING, .choices = PINNED},
    {"opal_leave_pinned", TERN_PARAM_STRING, .choices = PINNED},
};

/* Values of every parameter that ends with _base_verbose, besides whole numbers. */
static const struct tern_setting verbosity = {"", TERN_PARAM_STRING, .choices = LEVELS};
static const struct tern_setting truth = {"", TERN_PARAM_BOOL};

static bool is_verbosity(const char *name)
{
    static const char end[] = "_base_verbose", unlike[] = "mca_base_verbose"; /* any text */
    size_t length = strlen(name), tail = strlen(end);
    return length > tail && strcmp(name + length - tail, end) == 0 && strcmp(name, unlike);
}

/* Returns a row with the values of `name`, or NULL if `name` is none of these parameters. */
static const struct tern_setting *find(const char *name)
{
    if (is_verbosity(name))
        return &verbosity;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i].name, name) == 0)
            return &words[i];
    for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
        if (strcmp(truths[i], name) == 0)
            return &truth;
    return NULL;
}

bool tern_open_mpi_refuses(const char *name, const char *text, char *expected, size_t room)
{
    int64_t number;
    const struct tern_setting *row = find(name);
    if (!row || !*text || tern_param_allows(row, text))
        return false;
    /* to Open MPI each number except 0 is true, and a verbosity may lie between two levels */
    bool numbers = row == &truth || row == &verbosity;
    if (numbers && tern_param_read_value(TERN_PARAM_INT, text, &number))
        return false;
    tern_param_describe_values(row, expected, room);
    size_t used = strlen(expected);
    if (row == &verbosity && used < room)
        snprintf(expected + used, room - used, ", or a number");
    return true;
}

/* First words of the names of Open MPI's parameters. */
static const char *const first_words[] = {
    "accelerator", "allocator", "async", "atomic", "backtrace", "bml", "btl", "carto", "coll",
    "common", "compress", "crcp", "crs", "dfs", "dl", "dpm", "dstore", "errmgr", "ess", "event",
    "fbtl", "fcoll", "filem", "fs", "grpcomm", "gds", "hook", "hwloc", "if", "initial",
    "installdirs", "io", "iof", "mca", "memchecker", "memcpy", "memheap", "memory", "mpi",
    "mpiext", "mpool", "mtl", "notifier", "odls", "ompi", "ompio", "oob", "op", "opal", "orte",
    "osc", "oshmem", "paffinity", "part", "patcher", "pdl", "plm", "pmix", "pml", "preg",
    "propagate", "prrte", "prte", "prtebacktrace", "prtereachable", "pshmem", "psec", "psensor",
    "pstat", "pstrg", "ptl", "pubsub", "ras", "rcache", "reachable", "regx", "rmaps", "rml",
    "routed", "rsh", "rtc", "rte", "schizo", "scoll", "sec", "sensor", "sharedfp", "shmem",
    "smsc", "snapc", "spml", "sshmem", "sstore", "state", "threads", "timer", "topo",
    "treematch", "vprotocol", NULL,
};

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
    size_t length = strcspn(name, "_");
    for (const char *const *word = first_words; *word; word++)
        if (strlen(*word) == length && strncmp(*word, name, length) == 0)
            return !is_misspelt(name);
    return false;
}
