/* SPDX-License-Identifier: BSD-3-Clause */

/* All parameters, a table per room. `mpi_info --param all all` prints them. */

#include "lib/util/params.h"

#include "lib/util/param.h"

#define TABLE(array) array, (int)(sizeof array / sizeof *array)

static const struct tern_param mpi[] = {
    {"mpi_initial_errhandler", TERN_PARAM_STRING, "mpi_errors_are_fatal", "",
     "Error handler of MPI_COMM_WORLD and MPI_COMM_SELF until the program chooses another, and of errors before MPI_Init and "
     "after MPI_Finalize: mpi_errors_are_fatal, mpi_errors_abort, mpi_errors_return."},
    {"mpi_abort_print_stack", TERN_PARAM_BOOL, "0", "",
     "Print the calls that led to MPI_Abort or to an error that ends the job."},
};

static const struct tern_param btl[] = {
    {"btl", TERN_PARAM_STRING, "", "",
     "Byte movers to use (self, shm; vader and sm are other names of shm), or with a leading ^ the ones to leave out; "
     "empty: all."},
};

static const struct tern_param btl_shm[] = {
    {"btl_shm_single_copy", TERN_PARAM_STRING, "auto", "",
     "Copy large messages straight from the sender's memory, where the system allows it: always, never, or auto (only when the "
     "sender is not waiting in MPI; with both there, two copies through the ring are faster)."},
};

static const struct tern_param pml[] = {
    {"pml_eager_credit", TERN_PARAM_SIZE, "1m", "bytes",
     "Messages that a rank sends to another before that has received them, in all; beyond, they wait in the sender's memory."},
    {"pml_send_buffer", TERN_PARAM_SIZE, "256m", "bytes",
     "Memory for short messages that wait in the sender although their send has returned; beyond, a send waits for its receive."},
};

static const struct tern_param coll[] = {
    {"coll_segment_bytes", TERN_PARAM_SIZE, "64k", "bytes",
     "What collectives that work as a pipeline (chain, two_tree) hand on at a time."},
    {"coll_barrier_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Barrier: dissemination, k_dissemination, tree; empty: by size."},
    {"coll_bcast_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Bcast: binomial, knomial, bine, linear, chain, two_tree, circulant, scatter_doubling, scatter_ring; empty: by size."},
    {"coll_gather_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Gather: binomial, linear; empty: by size."},
    {"coll_scatter_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Scatter: binomial, linear; empty: by size."},
    {"coll_allgather_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allgather: bruck, recursive_doubling, ring, neighbor_exchange, linear; empty: by size."},
    {"coll_allgatherv_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allgatherv: bruck, ring, linear; empty: by size."},
    {"coll_alltoall_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoall: linear, pairwise, bruck, k_bruck; empty: by size."},
    {"coll_alltoallv_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoallv: linear, pairwise, frames; empty: by size."},
    {"coll_alltoallw_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Alltoallw: linear, pairwise, frames; empty: by size."},
    {"coll_reduce_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce: binomial, knomial, bine, linear, chain, two_tree, circulant, halving, ring; empty: by size."},
    {"coll_allreduce_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Allreduce: recursive_doubling, recursive_multiplying, ring, halving_doubling, swing, circulant, tree; empty: by size."},
    {"coll_reduce_scatter_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce_scatter: recursive_doubling, pairwise, circulant; empty: by size."},
    {"coll_scan_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Scan: recursive_doubling, chain; empty: by size."},
    {"coll_exscan_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Exscan: recursive_doubling, chain; empty: by size."},
    {"coll_reduce_scatter_block_algorithm", TERN_PARAM_STRING, "", "",
     "Algorithm of MPI_Reduce_scatter_block: recursive_doubling, pairwise, circulant; empty: by size."},
};

static const struct tern_param topo[] = {
    {"topo_reorder", TERN_PARAM_BOOL, "1", "",
     "Let MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create, where the program allows it, change ranks so that "
     "neighbours sit close together."},
};

const struct tern_param_room tern_param_rooms[] = {
    {"mpi", TABLE(mpi)},
    {"btl", TABLE(btl)},
    {"btl_shm", TABLE(btl_shm)},
    {"pml", TABLE(pml)},
    {"coll", TABLE(coll)},
    {"topo", TABLE(topo)},
    {0},
};

const struct tern_param_alias tern_param_aliases[] = {
    {"btl_shm_single_copy", "btl_vader_single_copy_mechanism"},
    {"btl_shm_single_copy", "btl_sm_single_copy_mechanism"},
    {0},
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
