/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LAUNCHER_H
#define TERN_LAUNCHER_H

/* What ranks tell our mpirun beyond what PMIx has words for. */

enum {
    /* A PMIx event, with PMIX_RANGE_NAMESPACE (what is for PMIX_RANGE_RM, PMIx 4.2 keeps to
     * itself): the sender is in MPI_Init, and all of the job are awaited there. Sessions wait for
     * nobody. */
    TERN_LAUNCHER_WORLD = -31501,
};

#endif
