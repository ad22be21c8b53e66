/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of mpirun. They are here and not in mpirun/ because mpi_info lists them. `mpi_info
 * --param all all` prints them. */

#include "lib/util/param_table.h"

/* a row leaves out the members that it does not need: choices, when and scope */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_param launch[] = {
    {"plm", TERN_PARAM_STRING, "", "",
     "What starts agents on other hosts: slurm (srun, in a Slurm job), rsh (plm_rsh_agent, "
     "anywhere), or with a leading ^ what "
     "shall not; empty: slurm where it can, else rsh."},
    {"oob_tcp_if_include", TERN_PARAM_STRING, "", "",
     "Where agents that srun has started call mpirun: at the addresses of these interfaces, by "
     "name or subnet, separated by commas; empty: "
     "at all but the loopback's."},
    {"oob_tcp_if_exclude", TERN_PARAM_STRING, "", "",
     "... or of all but these; not together with oob_tcp_if_include."},
    {"oob_tcp_dynamic_ipv4_ports", TERN_PARAM_STRING, "", "",
     "... and at one of these ports, such as 10000-10100,20000; empty: the system chooses. One "
     "port serves both families."},
    {"oob_tcp_dynamic_ipv6_ports", TERN_PARAM_STRING, "", "",
     "The same; given both, the port is one that stands in both."},
    {"plm_slurm_args", TERN_PARAM_STRING, "", "", "More words for srun when it starts the agents."},
    {"plm_rsh_agent", TERN_PARAM_STRING, "", "",
     "Command that starts a program on another host, HOST and the program behind it: ssh, or a "
     "wrapper such as `ip netns exec`. "
     "What starts with ssh is told to ask for no password. Empty: qrsh in a Grid Engine job, "
     "blaunch in an LSF job, if they are found; "
     "else ssh."},
    {"plm_rsh_disable_qrsh", TERN_PARAM_BOOL, "0", "",
     "In a Grid Engine job, too, ssh starts the agents where plm_rsh_agent is empty."},
    {"plm_rsh_args", TERN_PARAM_STRING, "", "",
     "More words for that command, or for ssh, such as `-p 2222`; not for a qrsh or blaunch that "
     "was found."},
    {"orte_launch_agent", TERN_PARAM_STRING, "", "",
     "mpirun on the other hosts; empty: the same path as here, or bin/mpirun below --prefix."},
    {"launch_timeout", TERN_PARAM_INT, "10", "s",
     "How long a host may take to answer at the start.",
     .least = 1, .most = 24 * 3600},
    {"launch_width", TERN_PARAM_INT, "32", "",
     "Hosts that mpirun, and then each host, starts directly. ssh between hosts must do without a "
     "password, else mpirun starts "
     "them itself.",
     .least = 1, .most = 1000000},
    {"plm_rsh_no_tree_spawn", TERN_PARAM_BOOL, "0", "", "mpirun starts all hosts itself."},
    {"heartbeat_timeout", TERN_PARAM_INT, "30", "s",
     "A host that shows no sign of life for so long is taken for dead, and the job ends; 0: never. "
     "Processes that were only "
     "stopped are waited for, if ssh shows that their host lives.",
     .least = 0, .most = 24 * 3600},
    {"end_grace_ms", TERN_PARAM_INT, "300", "ms",
     "How long ranks may take to end after the SIGTERM that they get when the job has failed; then "
     "they get SIGKILL.",
     .least = 0, .most = 24 * 3600 * 1000},
};

const struct tern_param_room tern_params_launch = {"launch", TERN_PARAM_ROWS(launch),
                                                   "How mpirun starts ranks on other hosts."};
