/* SPDX-License-Identifier: BSD-3-Clause */

/* All parameters, a table per room. `mpi_info --param all all` prints them. */

#include "lib/util/param_table.h"

#include "lib/util/param.h"

/* A row leaves out what it has no use for: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

#define TABLE(array) array, (int)(sizeof array / sizeof *array)

static const struct tern_param mpi[] = {
    {"mpi_initial_errhandler", TERN_PARAM_STRING, "mpi_errors_are_fatal", "",
     "Error handler of MPI_COMM_WORLD and MPI_COMM_SELF until the program chooses another, and of errors before MPI_Init and "
     "after MPI_Finalize: mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return.",
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return"},
    {"mpi_abort_print_stack", TERN_PARAM_BOOL, "0", "",
     "Print the calls that led to MPI_Abort or to an error that ends the job.", NULL, TERN_PARAM_ANY_TIME},
};

static const struct tern_param check[] = {
    {"check_level", TERN_PARAM_STRING, "basic", "",
     "How much is checked: none (each argument by itself), basic (and the elements of array arguments), full (and handles, "
     "buffers, leaks, and across ranks that collectives match).",
     "none|basic|full", TERN_PARAM_AT_START, TERN_PARAM_ALL_EQUAL},
    {"check_patience", TERN_PARAM_INT, "10", "s",
     "With check_level full: how long a rank waits in a collective before it says for whom, and what those do."},
};

static const struct tern_param btl[] = {
    {"btl", TERN_PARAM_STRING, "", "",
     "Byte movers to use (self, shm, tcp; vader and sm are other names of shm), or with a leading ^ the ones to leave out; "
     "empty: all."},
};

static const struct tern_param btl_shm[] = {
    {"btl_shm_single_copy", TERN_PARAM_STRING, "auto", "",
     "Copy large messages straight from the sender's memory, where the system allows it: always, never, or auto (only when the "
     "sender is not waiting in MPI; with both there, two copies through the ring are faster).",
     "auto|always,cma,1|never,none,0,emulated"},
};

static const struct tern_param btl_tcp[] = {
    {"btl_tcp_if_include", TERN_PARAM_STRING, "", "",
     "Network interfaces to use, by name or subnet (eth0,10.1.0.0/16,fd00::/8), separated by commas; empty: all that "
     "btl_tcp_if_exclude leaves."},
    {"btl_tcp_if_exclude", TERN_PARAM_STRING, "127.0.0.1/8,::1/128,sppp", "",
     "Network interfaces not to use, by name or subnet; not together with btl_tcp_if_include."},
    {"btl_tcp_links", TERN_PARAM_INT, "1", "", "Connections between two ranks for each pair of interfaces that they use, at most 8."},
    {"btl_tcp_disable_family", TERN_PARAM_INT, "0", "", "4: no IPv4, 6: no IPv6."},
    {"btl_tcp_port_min_v4", TERN_PARAM_INT, "0", "", "The lowest TCP port to listen at; 0: the system chooses."},
    {"btl_tcp_port_range_v4", TERN_PARAM_INT, "64511", "", "How many ports from btl_tcp_port_min_v4 on may be used."},
    {"btl_tcp_sndbuf", TERN_PARAM_SIZE, "0", "bytes", "The system's buffer of what a connection sends; 0: the system chooses."},
    {"btl_tcp_rcvbuf", TERN_PARAM_SIZE, "0", "bytes", "The system's buffer of what a connection receives, at least 16k; 0: the system chooses."},
    {"btl_tcp_congestion", TERN_PARAM_STRING, "", "",
     "The congestion control of connections: a name the system has, or `system` for its own. Empty: the system's unless it paces "
     "(bbr), then cubic or else reno; reno within a host."},
    {"btl_tcp_encrypt", TERN_PARAM_BOOL, "0", "",
     "Encrypt and authenticate what ranks say to each other by TCP (AES-128-GCM); the same on all ranks. docs/tuning.md has its price."},
    {"btl_tcp_timeout", TERN_PARAM_INT, "30", "s",
     "After this time without a sign of life from the host of a peer its connections are lost; at least 3, the same on all ranks. A "
     "peer that computes, or is stopped, is not lost: its host answers."},
};

static const struct tern_param pml[] = {
    {"progress_thread", TERN_PARAM_BOOL, "0", "",
     "A thread of each rank makes progress while the program computes, so that large and nonblocking transfers go on; it sleeps while "
     "nothing comes. Every call then takes locks, and functions of the program (operations, event callbacks) may run in that thread."},
    {"pml_eager_credit", TERN_PARAM_SIZE, "1m", "bytes",
     "Messages that a rank sends to another before that has received them, in all; beyond, they wait in the sender's memory. Between nodes "
     "eight times as much."},
    {"pml_unexpected_memory", TERN_PARAM_SIZE, "16m", "bytes",
     "Messages that came before their receives for which a rank lets their senders send as much again, in all; beyond, each sender has its "
     "pml_eager_credit."},
    {"pml_lanes", TERN_PARAM_INT, "8", "",
     "Independent parts of the message path in MPI_THREAD_MULTIPLE, each for a part of the communicators: 1, 2, 4 or 8."},
    {"pml_send_buffer", TERN_PARAM_SIZE, "256m", "bytes",
     "Memory for short messages that wait in the sender although their send has returned; beyond, a send waits for its receive.",
     NULL, TERN_PARAM_ANY_TIME},
};

static const struct tern_param coll[] = {
    {"coll_verbose", TERN_PARAM_INT, "0", "",
     "1: rank 0 says which algorithm a collective uses, what it should take, and what the others would."},
    {"coll_node_latency", TERN_PARAM_INT, "120", "ns", "Time that a short message takes between two ranks of a node, without what keeps them busy."},
    {"coll_node_overhead", TERN_PARAM_INT, "30", "ns", "Time that a message to a rank of the node keeps its sender, or its receiver, busy."},
    {"coll_node_gap", TERN_PARAM_INT, "25", "ps/byte", "Time that each byte of a message within a node keeps its sender, or its receiver, busy."},
    {"coll_node_rendezvous", TERN_PARAM_INT, "300", "ns", "What a message within a node takes longer if it is announced first."},
    {"coll_package_latency", TERN_PARAM_INT, "250", "ns", "Like coll_node_latency, which is for cores with a common cache, between cores of a package without one."},
    {"coll_package_gap", TERN_PARAM_INT, "40", "ps/byte", "Like coll_node_gap, between cores of a package without a common cache."},
    {"coll_machine_latency", TERN_PARAM_INT, "450", "ns", "Like coll_node_latency, between cores of two packages."},
    {"coll_machine_gap", TERN_PARAM_INT, "60", "ps/byte", "Like coll_node_gap, between cores of two packages."},
    {"coll_memory_gap", TERN_PARAM_INT, "50", "ps/byte", "Like coll_node_gap, of bytes that do not stay in the core's cache."},
    {"coll_uncached_gap", TERN_PARAM_INT, "120", "ps/byte", "Like coll_node_gap, of bytes that are in no cache."},
    {"coll_cache_bytes", TERN_PARAM_SIZE, "1m", "bytes", "What stays in a core's own cache."},
    {"coll_last_cache_bytes", TERN_PARAM_SIZE, "32m", "bytes", "What stays in a cache that cores share; 0: there is none."},
    {"coll_cores_per_cache", TERN_PARAM_INT, "0", "", "Cores that share a cache; 0: those of a package."},
    {"coll_cores_per_package", TERN_PARAM_INT, "0", "", "Cores of a package; 0: those of the node."},
    {"coll_network_latency", TERN_PARAM_INT, "4000", "ns", "Like coll_node_latency, between nodes."},
    {"coll_network_overhead", TERN_PARAM_INT, "600", "ns", "Like coll_node_overhead, between nodes."},
    {"coll_network_gap", TERN_PARAM_INT, "400", "ps/byte", "Like coll_node_gap, between nodes, through one network card."},
    {"coll_network_rendezvous", TERN_PARAM_INT, "8000", "ns", "Like coll_node_rendezvous, between nodes."},
    {"coll_call", TERN_PARAM_INT, "40", "ns", "Time that a collective call takes by itself, before and after its messages."},
    {"coll_board_latency", TERN_PARAM_INT, "100", "ns", "Time until what a rank posts on the board of its node is seen by another."},
    {"coll_board_overhead", TERN_PARAM_INT, "20", "ns", "Time that a rank takes to post on the board, and for each post that it takes from it."},
    {"coll_reduce_gap", TERN_PARAM_INT, "40", "ps/byte", "Time that a core takes to join a byte with another."},
    {"coll_copy_gap", TERN_PARAM_INT, "25", "ps/byte", "Time that a core takes to copy a byte."},
    {"coll_switch", TERN_PARAM_INT, "1300", "ns", "Time that a core takes to go from one rank to another, where two share it."},
    {"coll_switch_crowded", TERN_PARAM_INT, "2300", "ns", "Like coll_switch, where sixteen ranks share a core and find its caches cold."},
    {"coll_cold", TERN_PARAM_INT, "60", "ns", "What a message keeps its sender, or its receiver, busy longer where sixteen ranks share a core."},
    {"coll_cores", TERN_PARAM_INT, "0", "", "Cores of a node; 0: as many as this node has."},
    {"coll_nics", TERN_PARAM_INT, "1", "",
     "Network cards of a node that can be busy at the same time; as many ranks of a node lead it in multi_leader.", NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_ranks_per_node", TERN_PARAM_INT, "0", "",
     "For trying what collectives do on several nodes: they take the ranks for standing on nodes of that many; 0: as they are.", NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_ranks_scattered", TERN_PARAM_BOOL, "0", "",
     "With coll_ranks_per_node: the ranks are dealt to the nodes one by one, as with --map-by node.", NULL, TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_board", TERN_PARAM_BOOL, "1", "",
     "Short collectives within a node go by a board in shared memory, on which every rank posts, instead of messages."},
    {"coll_board_bytes", TERN_PARAM_SIZE, "16m", "bytes",
     "Shared memory that the board of a communicator may take for long posts; 0: short ones only."},
    {"coll_segment_bytes", TERN_PARAM_SIZE, "64k", "bytes",
     "What collectives that work as a pipeline (chain, two_tree) hand on at a time."},
    {"coll_inter_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of collectives on intercommunicators that have it; empty: the cheapest.",
     "|linear|leaders|spread",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_barrier_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Barrier; empty: the cheapest.",
     "|board|dissemination|k_dissemination|tree|linear|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_bcast_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Bcast; empty: the cheapest.",
     "|board|binomial|knomial|bine|linear|chain|two_tree|circulant|scatter_doubling|scatter_ring|scatter_linear|scatter_circulant|hierarchical|multi_leader",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_gather_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Gather; empty: the cheapest.",
     "|board|binomial|linear|allgather|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_scatter_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Scatter; empty: the cheapest.",
     "|board|binomial|linear|bcast|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_allgather_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allgather; empty: the cheapest.",
     "|board|bruck|k_bruck|recursive_doubling|ring|neighbor_exchange|linear|gather_bcast|hierarchical|multi_leader",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_allgatherv_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allgatherv; empty: the cheapest.",
     "|board|ring|bruck|linear|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_alltoall_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoall; empty: the cheapest.",
     "|board|linear|pairwise|bruck|k_bruck|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_alltoallv_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoallv; empty: the cheapest.",
     "|linear|pairwise|frames",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_alltoallw_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoallw; empty: the cheapest.",
     "|linear|pairwise|frames",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_reduce_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce; empty: the cheapest.",
     "|board|slices|binomial|knomial|bine|linear|chain|two_tree|circulant|halving|ring|scatter_gather|allreduce|hierarchical|multi_leader",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_allreduce_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allreduce; empty: the cheapest.",
     "|board|slices|recursive_doubling|recursive_multiplying|ring|halving_doubling|swing|circulant|tree|knomial|linear|tree_linear|reduce_bcast|scatter_allgather|hierarchical|multi_leader",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_reduce_scatter_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce_scatter; empty: the cheapest.",
     "|board|recursive_doubling|pairwise|circulant|knomial|linear|reduce_then_scatter|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_scan_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Scan; empty: the cheapest.",
     "|board|recursive_doubling|chain|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_exscan_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Exscan; empty: the cheapest.",
     "|board|recursive_doubling|chain|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
    {"coll_reduce_scatter_block_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce_scatter_block; empty: the cheapest.",
     "|board|recursive_doubling|pairwise|circulant|knomial|linear|reduce_then_scatter|allreduce|hierarchical",
     TERN_PARAM_ANY_TIME, TERN_PARAM_ALL_EQUAL},
};

static const struct tern_param topo[] = {
    {"topo_reorder", TERN_PARAM_BOOL, "1", "",
     "Let MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create, where the program allows it, change ranks so that "
     "neighbours sit close together."},
};

static const struct tern_param launch[] = {
    {"plm", TERN_PARAM_STRING, "", "",
     "What starts agents on other hosts: slurm (srun, in a Slurm job), rsh (plm_rsh_agent, anywhere), or with a leading ^ what "
     "shall not; empty: slurm where it can, else rsh."},
    {"oob_tcp_if_include", TERN_PARAM_STRING, "", "",
     "Where agents that srun has started call mpirun: at the addresses of these interfaces, by name or subnet, separated by commas; empty: "
     "at all but the loopback's."},
    {"oob_tcp_if_exclude", TERN_PARAM_STRING, "", "", "... or of all but these; not together with oob_tcp_if_include."},
    {"oob_tcp_dynamic_ipv4_ports", TERN_PARAM_STRING, "", "",
     "... and at one of these ports, such as 10000-10100,20000; empty: the system chooses. One port serves both families."},
    {"oob_tcp_dynamic_ipv6_ports", TERN_PARAM_STRING, "", "", "The same; given both, the port is one that stands in both."},
    {"plm_slurm_args", TERN_PARAM_STRING, "", "", "More words for srun when it starts the agents."},
    {"plm_rsh_agent", TERN_PARAM_STRING, "", "",
     "Command that starts a program on another host, HOST and the program behind it: ssh, or a wrapper such as `ip netns exec`. "
     "What starts with ssh is told to ask for no password. Empty: qrsh in a Grid Engine job, blaunch in an LSF job, if they are found; "
     "else ssh."},
    {"plm_rsh_disable_qrsh", TERN_PARAM_BOOL, "0", "", "In a Grid Engine job, too, ssh starts the agents where plm_rsh_agent is empty."},
    {"plm_rsh_args", TERN_PARAM_STRING, "", "",
     "More words for that command, or for ssh, such as `-p 2222`; not for a qrsh or blaunch that was found."},
    {"orte_launch_agent", TERN_PARAM_STRING, "", "",
     "mpirun on the other hosts; empty: the same path as here, or bin/mpirun below --prefix."},
    {"launch_timeout", TERN_PARAM_INT, "10", "s", "How long a host may take to answer at the start."},
    {"launch_width", TERN_PARAM_INT, "32", "",
     "Hosts that mpirun, and then each host, starts directly. ssh between hosts must do without a password, else mpirun starts "
     "them itself."},
    {"plm_rsh_no_tree_spawn", TERN_PARAM_BOOL, "0", "", "mpirun starts all hosts itself."},
    {"heartbeat_timeout", TERN_PARAM_INT, "30", "s",
     "A host that shows no sign of life for so long is taken for dead, and the job ends; 0: never. Processes that were only "
     "stopped are waited for, if ssh shows that their host lives."},
};

const struct tern_param_room tern_param_rooms[] = {
    {"mpi", TABLE(mpi), "The library as a whole."},
    {"check", TABLE(check), "What is checked beyond the arguments of one call."},
    {"btl", TABLE(btl), "Byte movers: what carries packets between processes."},
    {"btl_shm", TABLE(btl_shm), "The byte mover for ranks on one node: shared memory."},
    {"btl_tcp", TABLE(btl_tcp), "The byte mover between nodes: TCP connections."},
    {"pml", TABLE(pml), "Point to point: matching, protocols, waiting."},
    {"coll", TABLE(coll), "Collective operations and their algorithms."},
    {"topo", TABLE(topo), "Process topologies."},
    {"launch", TABLE(launch), "How mpirun starts ranks on other hosts."},
    {0},
};

const struct tern_param_alias tern_param_aliases[] = {
    {"btl_shm_single_copy", "btl_vader_single_copy_mechanism"},
    {"btl_shm_single_copy", "btl_sm_single_copy_mechanism"},
    {0},
};

const char *const tern_param_measured[] = {
    "coll_node_latency",    "coll_node_overhead",     "coll_node_gap",       "coll_node_rendezvous",
    "coll_package_latency", "coll_package_gap",       "coll_machine_latency", "coll_machine_gap",
    "coll_memory_gap",      "coll_uncached_gap",      "coll_cache_bytes",    "coll_last_cache_bytes",
    "coll_cores_per_cache", "coll_cores_per_package", "coll_board_latency",  "coll_board_overhead",
    "coll_reduce_gap",      "coll_copy_gap",          "coll_switch",         "coll_switch_crowded",
    "coll_cold",            "coll_call",              NULL,
};

const char *const tern_param_foreign_words[] = {
    "accelerator", "allocator", "async",   "atomic",   "backtrace", "bml",      "btl",      "carto",    "coll",
    "common",      "compress",  "crcp",    "crs",      "dfs",       "dl",       "dpm",      "dstore",   "errmgr",
    "ess",         "event",     "fbtl",    "fcoll",    "filem",     "fs",       "grpcomm",  "gds",      "hook",
    "hwloc",       "if",        "installdirs", "io",   "iof",       "mca",      "memchecker", "memcpy", "memheap",
    "memory",      "mpi",       "mpiext",  "mpool",    "mtl",       "notifier", "odls",     "ompi",     "ompio",
    "oob",         "op",        "opal",    "orte",     "osc",       "oshmem",   "paffinity", "part",    "patcher",
    "pdl",         "plm",       "pmix",    "pml",      "preg",      "propagate", "prrte",   "prte",     "prtebacktrace",
    "prtereachable", "pshmem",  "psec",    "psensor",  "pstat",     "pstrg",    "ptl",      "pubsub",   "ras",
    "rcache",      "reachable", "regx",    "rmaps",    "rml",       "routed",   "rsh",      "rtc",      "rte",
    "schizo",      "scoll",     "sec",     "sensor",   "sharedfp",  "shmem",    "smsc",     "snapc",    "spml",
    "sshmem",      "sstore",    "state",   "threads",  "timer",     "topo",     "treematch", "vprotocol", NULL,
};
