/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of mpirun. They are here and not in mpirun/ because mpi_info lists them. `mpi_info
 * --param all all` prints them. */

#include "lib/settings/setting.h"

/* a row leaves out the members that it does not need: choices, when and scope */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting launch[] = {
    {"plm", TERN_PARAM_STRING, "", "",
     "How mpirun starts agents on other hosts: slurm (srun, only in a Slurm job) or rsh "
     "(plm_rsh_agent, anywhere). A leading ^ excludes the way that follows. Empty: slurm if "
     "possible, else rsh.",
     .launcher = true},
    {"oob_tcp_if_include", TERN_PARAM_STRING, "", "",
     "Interfaces, by name or subnet, separated by commas, at whose addresses mpirun waits for the "
     "agents that srun has started. Empty: all except loopback.",
     .also = "prte_if_include", .launcher = true},
    {"oob_tcp_if_exclude", TERN_PARAM_STRING, "", "",
     "Interfaces at whose addresses mpirun does not wait for agents that srun has started; not "
     "together with oob_tcp_if_include.",
     .also = "prte_if_exclude", .launcher = true},
    {"oob_tcp_dynamic_ipv4_ports", TERN_PARAM_STRING, "", "",
     "IPv4 ports of which mpirun uses one to wait for agents that srun has started, such as "
     "10000-10100,20000. Empty: the system chooses. One port serves IPv4 and IPv6.",
     .launcher = true},
    {"oob_tcp_dynamic_ipv6_ports", TERN_PARAM_STRING, "", "",
     "The same for IPv6. If both lists are set, the port is in both.",
     .launcher = true},
    {"plm_slurm_args", TERN_PARAM_STRING, "", "",
     "More arguments for the srun that starts the agents.",
     .launcher = true},
    {"plm_rsh_agent", TERN_PARAM_STRING, "", "",
     "Command that starts a program on another host: ssh, or a wrapper such as `ip netns exec`. "
     "mpirun appends the host's name and the program. If the command begins with ssh, mpirun adds "
     "options that forbid asking for a password. Empty: qrsh in a Grid Engine job, blaunch in an "
     "LSF job, if they are found; else ssh.",
     .also = "orte_rsh_agent pls_rsh_agent plm_ssh_agent",
     .launcher = true},
    {"plm_rsh_disable_qrsh", TERN_PARAM_BOOL, "0", "",
     "Use ssh, not qrsh, in a Grid Engine job if plm_rsh_agent is empty.",
     .also = "plm_ssh_disable_qrsh",
     .launcher = true},
    {"plm_rsh_args", TERN_PARAM_STRING, "", "",
     "More arguments for plm_rsh_agent, or for ssh if that is empty, such as `-p 2222`. Not for "
     "qrsh and blaunch.",
     .also = "plm_ssh_args",
     .launcher = true},
    {"orte_launch_agent", TERN_PARAM_STRING, "", "",
     "Path of mpirun on the other hosts. Empty: the same path as here, or bin/mpirun below "
     "--prefix.",
     .launcher = true},
    {"launch_timeout", TERN_PARAM_INT, "10", "s",
     "Time within which a host must answer when the job starts.",
     .least = 1, .most = 24 * 3600,
     .launcher = true},
    {"launch_missing", TERN_PARAM_STRING, "end", "",
     "What mpirun does when nothing can be started on a host: end, or go_on without it, with a "
     "message. Ranks are then placed on the other hosts, whose slots must be enough.",
     .choices = "end|go_on",
     .launcher = true},
    {"launch_width", TERN_PARAM_INT, "32", "",
     "Number of hosts that mpirun starts itself; each of these hosts starts as many others. ssh "
     "between the hosts must need no password; else mpirun starts them itself.",
     .least = 1, .most = 1000000,
     .launcher = true},
    {"plm_rsh_no_tree_spawn", TERN_PARAM_BOOL, "0", "",
     "mpirun starts the agents on all hosts itself.",
     .also = "plm_ssh_no_tree_spawn",
     .launcher = true, .internal = true},
    {"heartbeat_timeout", TERN_PARAM_INT, "30", "s",
     "If a host is silent for this time, it counts as dead and the job ends; 0: never. mpirun "
     "waits for processes that were only stopped, if ssh shows that their host lives.",
     .least = 0, .most = 24 * 3600,
     .launcher = true},
    {"hang_report_s", TERN_PARAM_INT, "60", "s",
     "Say where the ranks are when none has moved for so long: each waits in MPI, is stopped, or "
     "sleeps elsewhere; 0: never. A job in which any rank computes counts as moving.",
     .least = 0, .most = 7 * 24 * 3600,
     .launcher = true},
    {"end_grace_ms", TERN_PARAM_INT, "1000", "ms",
     "Time that ranks have to end after the SIGTERM that they get when the job has failed; then "
     "they get SIGKILL. What they have left in the background has as long after them, and again "
     "between SIGTERM and SIGKILL.",
     .least = 0, .most = 24 * 3600 * 1000,
     .launcher = true},
    {"leftover_grace_ms", TERN_PARAM_INT, "10000", "ms",
     "Time that processes in the background have to end by themselves when all ranks have ended "
     "well; then they get SIGTERM, and after the same time SIGKILL. Begins when no process holds "
     "the ranks' standard output or error any more: for such processes mpirun waits without a "
     "limit. Ranks have as long to end after SIGINT, SIGTERM or SIGHUP to mpirun. -1: no limit.",
     .least = -1, .most = 24 * 3600 * 1000,
     .launcher = true},
};

const struct tern_param_room tern_params_launch = {"launch", TERN_PARAM_ROWS(launch),
                                                   "How mpirun starts ranks on other hosts."};
