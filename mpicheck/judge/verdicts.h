/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_VERDICTS_H
#define TERN_MPICHECK_VERDICTS_H

/* What samples of pairs alone say. Findings about slow hosts, groups and pairs are made of it. */

#include "mpicheck/judge/findings.h"
#include "mpicheck/judge/suspects.h"

/* BUSY: the two lacked processors, or were measured too few times. EXPLAINED: slow, and a finding
 * says why. */
enum tern_mc_verdict {
    TERN_MC_UNTESTED,
    TERN_MC_FINE,
    TERN_MC_SLOW,
    TERN_MC_BUSY,
    TERN_MC_EXPLAINED
};

enum { TERN_MC_SAMPLES_LEAST = 3 }; /* fewer of a pair alone accuse nobody */

struct tern_mc_verdicts {
    const struct tern_mc_speed *speed;
    struct tern_mc_findings *findings;
    uint8_t *of; /* [from * count + to]: enum tern_mc_verdict */
    bool *lossy; /* by host: named, because it loses segments */
    bool groups_tested; /* pairs across groups were measured alone */
    double usual; /* MB/s of good pairs alone */
    double usual_latency;
    uint32_t *routes; /* of data->alone, tern_mc_route */
};

/* Judges all pairs that were measured alone. Free the result with tern_mc_verdicts_free. */
void tern_mc_verdicts_make(const struct tern_mc_speed *speed, struct tern_mc_findings *findings,
                           struct tern_mc_verdicts *ret_verdicts);
void tern_mc_verdicts_free(struct tern_mc_verdicts *verdicts);

/* Returns what good pairs reach alone by the interfaces that a pair uses, in MB/s. Pairs by other
 * interfaces count only if one host is part of all that were tested by these: its choice of
 * interfaces may be the fault. The pair was measured alone. */
double tern_mc_usual_of(const struct tern_mc_verdicts *verdicts, int from, int to);

/* Returns the best bandwidth of a pair alone, in MB/s; 0: it was not measured. */
double tern_mc_tested(const struct tern_mc_data *data, int from, int to);

double tern_mc_best_of(const float *values, int count);
double tern_mc_least_of(const float *values, int count);
double tern_mc_median_of(const float *values, int count);

/* Returns a rate in words, such as "2.57 GB/s". The caller frees the text. */
char *tern_mc_tell_rate(double mbps);

/* judge_groups.c: names groups of hosts whose pairs with all others are slow, and hosts that are
 * slow if they are many. Their pairs are explained afterwards. */
void tern_mc_name_groups(struct tern_mc_verdicts *verdicts);

#endif
