/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAUNCHER_H
#define TERN_LAUNCHER_H

#include <stdint.h>

/* What our mpirun and its ranks tell each other beyond what PMIx has words for. */

/* PMIx key, of the job: what its processes prove to each other that they know, a string of 64 hexadecimal digits. */
#define TERN_LAUNCHER_SECRET "tern.secret"

/* PMIx key, of the job: which ranks are on which node (lib/util/node_list.h). PMIx's own words for it take two questions per
 * rank. */
#define TERN_LAUNCHER_NODES "tern.nodes"

enum {
    /* A PMIx event, with PMIX_RANGE_NAMESPACE (what is for PMIX_RANGE_RM, PMIx 4.2 keeps to
     * itself): the sender is in MPI_Init, and all of the job are awaited there. Sessions wait for
     * nobody. */
    TERN_LAUNCHER_WORLD = -31501,
};

/*
 * Where a job has one host, its ranks need nothing of PMIx but to say how far they are. They do so in records on a socket
 * (SOCK_SEQPACKET) that all inherit from the launcher, and libpmix stays unloaded. TERN_REPORTS tells them, separated by colons:
 * the socket's descriptor, the launcher's pid, namespace, ranks, slots, number of the program, host.
 */
#define TERN_REPORTS "TERN_REPORTS"

enum tern_report_kind {
    TERN_REPORT_CONNECTED, /* with a descriptor: a pipe that ends when this process does */
    TERN_REPORT_WORLD,     /* as TERN_LAUNCHER_WORLD */
    TERN_REPORT_FINALIZED,
    TERN_REPORT_ABORTED, /* with exit status `value` */
};

struct tern_report {
    int32_t kind, rank, value;
};

#endif
