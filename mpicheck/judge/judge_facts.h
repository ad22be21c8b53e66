/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_JUDGE_FACTS_H
#define TERN_MPICHECK_JUDGE_FACTS_H

#include "mpicheck/judge/findings.h"

/* Finds hosts whose facts differ from those of most hosts, and addresses that two hosts have. */
void tern_mc_judge_facts(const struct tern_mc_data *data, struct tern_mc_findings *findings);

/* Returns true if healthy hosts agree on a fact. Facts such as the load or addresses differ. */
bool tern_mc_fact_counts(const char *key);

/* Returns the keys of all facts that count and in which hosts differ. The caller frees the list,
 * not the keys. */
const char **tern_mc_facts_that_differ(const struct tern_mc_data *data, int *ret_count);

#endif
