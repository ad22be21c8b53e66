/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAUNCHER_H
#define TERN_LAUNCHER_H

/* What our mpirun and its ranks tell each other beyond what PMIx has words for. */

/* PMIx key, of the job: what its processes prove to each other that they know, a string of 64 hexadecimal digits. */
#define TERN_LAUNCHER_SECRET "tern.secret"

enum {
    /* A PMIx event, with PMIX_RANGE_NAMESPACE (what is for PMIX_RANGE_RM, PMIx 4.2 keeps to
     * itself): the sender is in MPI_Init, and all of the job are awaited there. Sessions wait for
     * nobody. */
    TERN_LAUNCHER_WORLD = -31501,
};

#endif
