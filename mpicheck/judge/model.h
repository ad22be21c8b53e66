/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_MODEL_H
#define TERN_MPICHECK_MODEL_H

/* The measured network as figures by which collectives choose their algorithms (docs/tuning.md,
 * "The model file"). */

#include "mpicheck/judge/findings.h"

/* What a network is to collectives. */
struct tern_mc_model {
    long latency_ns; /* coll_network_latency */
    long gap;        /* coll_network_gap, ps/byte */
};

/* Computes the figures: medians of all pairs. Returns false if the pairs were not measured, or with
 * another MPI library, or between made-up hosts, or on hosts that were too busy. */
bool tern_mc_model_of(const struct tern_mc_data *data, const struct tern_mc_findings *findings,
                      struct tern_mc_model *ret_model);

/* Writes a model file: these figures, and those that `mpi_info --measure` has stored for this host.
 * Returns 0, or -1 after a message. */
int tern_mc_model_store(const struct tern_mc_model *model, const char *path);

#endif
