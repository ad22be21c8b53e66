/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_PLAN_POLICY_H
#define TERN_MPIRUN_PLAN_POLICY_H

/* Parse the values of --map-by, --rank-by, --bind-to and similar options. `option` is the option as
 * typed, for the error message. All return 0 or TERN_ERR_ARG. */

#include "mpirun/plan/words/options.h"

/* Read the value of the option that they are named after. */
int tern_policy_map_by(const char *option, const char *text, struct tern_options *options);
int tern_policy_rank_by(const char *option, const char *text, struct tern_options *options);
int tern_policy_bind_to(const char *option, const char *text, struct tern_options *options);
/* Checks and keeps a list of processors such as "0-3,8". */
int tern_policy_cpu_set(const char *option, const char *text, struct tern_options *options);
/* Reads "oversubscribe" or "nooversubscribe": allows more ranks than slots, or forbids it. What is
 * said last holds, but tern_options_parse refuses a command line that says both. */
int tern_policy_share(const char *option, const char *word, struct tern_options *options);
/* Reads N, the number of ranks on each object of the level. Warns if two sources say different
 * things, and names the one that counts. */
int tern_policy_per_object(const char *option, const char *text, enum tern_per_source source,
                           enum tern_map_level level, struct tern_options *options);
/* Reads N of --cpus-per-rank. As in Open MPI, PE= of --map-by counts before it. */
int tern_policy_cpus_per_rank(const char *option, const char *text, struct tern_options *options);
/* Reads "N:LEVEL" of --ppr. */
int tern_policy_ppr(const char *option, const char *text, struct tern_options *options);

/* Stores the largest number of ranks, from 1 to `most`, in the set that -soft names (MPI-4.1
 * section 11.8.4: triplets FIRST:LAST:STEP, separated by commas; LAST and STEP may be missing). */
int tern_policy_soft(const char *option, const char *text, int most, int *ret_number);

#endif
