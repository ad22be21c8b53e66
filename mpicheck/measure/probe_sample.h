/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_PROBE_SAMPLE_H
#define TERN_MPICHECK_PROBE_SAMPLE_H

/* Samples between two ranks. Both call the same function at the same time, each naming the other.
 * All block until the other rank takes part; probe_watch ends what takes too long. */

#include "probe.h"

/* Allocates what samples need. Returns false if there is no memory. */
bool probe_sample_begin(const struct probe_job *job);

/* Waits for the other rank, for longer than other stages may take: it may still be with another. */
void probe_meet(const struct probe_job *job, int peer);

/* Short messages there and back; the lower rank prints a record `lat`. */
void probe_latency(const struct probe_job *job, int peer, const char *phase, int repetitions);

/* Long messages in one direction and then in the other. The sender of each prints a record `bw`,
 * and a receiver of wrong bytes a record `wrong`. */
void probe_bandwidth(const struct probe_job *job, int peer, const char *phase);

/* Sends for a sample's time if `sends`, else receives. Returns MB/s; 0 on the receiving side. */
double probe_one_way(const struct probe_job *job, int peer, bool sends);

#endif
