/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_COMMAND_LINE_H
#define TERN_MPICHECK_COMMAND_LINE_H

#include <stdbool.h>

#include "tools/arguments.h"

/* What the command line of mpicheck says. */
struct tern_mc_options {
    struct tern_arguments hosts;   /* words for mpirun that name the hosts */
    struct tern_arguments mpirun;  /* other words for mpirun, such as --mca btl tcp,self */
    bool quick, full, host_only, network_only, quiet, fail_on_warning;
    bool per_nic;              /* the network is checked by each interface alone */
    const char *nic;           /* the one of --per nic that is checked now; NULL: all */
    bool per_gpu;              /* and with messages in the memory of each GPU */
    int gpu;                   /* long messages are in its memory; -1: in the host's */
    int soak_minutes;          /* 0: no soak */
    int fakes;                 /* ranks on this host that stand for hosts; 0: none */
    const char *out;           /* directory of the reports; NULL: a new one */
    const char *from;          /* file of records of an earlier run; NULL: none */
    const char *baseline;      /* directory of an earlier report; NULL: none */
    const char *mpi;           /* prefix of another MPI library; NULL: this one */
    double bandwidth;          /* MB/s expected; 0: none */
    double latency_us;         /* expected; 0: none */
};

/* Reads the command line. Returns true; false after a message. --help and --version print and end
 * the program. */
bool tern_mc_read_options(int argc, char **argv, struct tern_mc_options *ret_options);

void tern_mc_options_free(struct tern_mc_options *options);

/* Reads what --expect says, such as "bw=11.5GB/s,lat=3us": MB/s and us. Both are 0 before. Returns
 * false if the text is something else, or names a figure twice. */
bool tern_mc_read_expected(const char *text, double *ret_bandwidth, double *ret_latency_us);

#endif
