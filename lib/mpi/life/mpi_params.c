/* SPDX-License-Identifier: BSD-3-Clause */

/* Parameters of the MPI interface, of check_level, and of topologies. `mpi_info --param all all`
 * prints them. */

#include "lib/settings/setting.h"

/* A row leaves out fields that it does not need: choices, when and scope. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static const struct tern_setting mpi[] = {
    {"mpi_initial_errhandler", TERN_PARAM_STRING, "mpi_errors_are_fatal", "",
     "Error handler of MPI_COMM_WORLD and MPI_COMM_SELF until the program sets another one, and of "
     "errors before MPI_Init and after MPI_Finalize.",
     "mpi_errors_are_fatal|mpi_errors_abort|mpi_errors_return"},
    {"mpi_compat_mpi3", TERN_PARAM_BOOL, "1", "",
     "Errors that belong to no communicator, window, file or session go to the error handler of "
     "MPI_COMM_WORLD, as in MPI-3.1, Open MPI and MPICH. 0: to that of MPI_COMM_SELF, as in MPI-4.",
     .when = TERN_PARAM_ANY_TIME},
    {"mpi_comm_synchronize", TERN_PARAM_BOOL, "1", "",
     "Calls that make a communicator return when all its processes have made the call, as with "
     "Open MPI and MPICH. 0: they return earlier where the MPI standard permits it.",
     .scope = TERN_PARAM_ALL_EQUAL},
    {"mpi_abort_print_stack", TERN_PARAM_BOOL, "0", "",
     "Print the calls that led to MPI_Abort or to an error that ends the job.", NULL,
     TERN_PARAM_ANY_TIME, .internal = true},
    {"mpi_name_server", TERN_PARAM_STRING, "", "",
     "Which mpirun keeps the names that MPI_Publish_name publishes: file:FILE, with the file that "
     "its --report-uri has written, or the line in that file. Empty: the mpirun of this job."},
    {"mpi_connect_timeout", TERN_PARAM_INT, "600", "s",
     "If nobody accepts at a port for this time, MPI_Comm_connect and what else calls a port "
     "return MPI_ERR_PORT. 0: wait without a limit. MPI_Comm_connect's info key timeout comes "
     "first.",
     .least = 0, .most = 1000000000},
    {"crash_report", TERN_PARAM_BOOL, "1", "",
     "If SIGSEGV, SIGBUS, SIGFPE, SIGILL or SIGABRT ends a rank, print where it crashed: the "
     "address and the calls. The program's own handlers come first."},
    {"opal_signal", TERN_PARAM_STRING, "4,6,7,8,11", "",
     "Numbers of the signals for which crash_report works, of those five.", .internal = true},
};

const struct tern_param_room tern_params_mpi = {"mpi", TERN_PARAM_ROWS(mpi),
                                                "The library as a whole."};

static const struct tern_setting check[] = {
    {"check_level", TERN_PARAM_STRING, "basic", "",
     "How much is checked. none: each argument alone. basic: also each element of array arguments. "
     "full: also handles, buffers and leaks, and whether the collective calls of all ranks match.",
     "none|basic|full", TERN_PARAM_AT_START, TERN_PARAM_ALL_EQUAL},
    {"check_patience", TERN_PARAM_INT, "10", "s",
     "With check_level full: time that a rank waits in a collective before it prints which ranks "
     "it waits for, and what these do.",
     .least = 1, .most = 24 * 3600, .internal = true},
};

const struct tern_param_room tern_params_check = {
    "check", TERN_PARAM_ROWS(check), "What is checked beyond the arguments of one call."};

static const struct tern_setting topo[] = {
    {"topo_reorder", TERN_PARAM_BOOL, "1", "",
     "If the program permits it, MPI_Cart_create, MPI_Graph_create and MPI_Dist_graph_create give "
     "processes new ranks, so that neighbours are close to each other."},
};

const struct tern_param_room tern_params_topo = {"topo", TERN_PARAM_ROWS(topo),
                                                 "Process topologies."};
