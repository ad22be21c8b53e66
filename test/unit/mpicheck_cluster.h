/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MPICHECK_CLUSTER_H
#define MPICHECK_CLUSTER_H

/* A made-up cluster for the tests of mpicheck's judgement. Where chance is in its records, it is the same in each run. */

#include "mpicheck/judge/findings.h"

enum { GOOD_MBPS = 1200, GOOD_US = 20 };

/* How a cluster is made: factors of the bandwidth, by host and for one pair. */
struct cluster {
    int hosts;
    double noise; /* of samples in the tournament: factors down to 1 - noise */
    int slow_sender, slow_receiver, slow_from, slow_to, late; /* -1: none */
    double factor;
    int group;      /* hosts from this one on are behind a slow link; 0: none */
    int group_size; /* each so many hosts are behind a slow link; 0: none */
    int slow_hosts; /* hosts from this one on are slow with everybody; 0: none */
    bool one_way;   /* of the above, only what leaves these hosts is slow */
};

extern const struct cluster healthy;

/* Takes a record, which must be one. */
void take(struct tern_mc_data *data, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes what a healthy host says of itself. */
void make_host(struct tern_mc_data *data, int host);

/* Makes hosts and a tournament. Another `number` makes other noise. */
struct tern_mc_data *make_cluster(const struct cluster *cluster, unsigned number);

/* Measures the suspects alone, as the driver does: less noise, several samples. Both ends have a processor in this `share` of the
 * time. Returns the number of pairs. */
int measure_alone(struct tern_mc_data *data, const struct cluster *cluster, double share);

/* Judges as mpicheck does. `expected` may be NULL. */
struct tern_mc_findings judge(const struct tern_mc_data *data, const struct tern_mc_expected *expected);

/* Returns the number of warnings and faults. */
int accusations(const struct tern_mc_findings *findings);

/* Expects that nobody is accused. Frees the data. */
void expect_nobody(struct tern_mc_data *data);

/* Expects that nobody is accused, and that something could not be measured. Frees the data. */
void expect_not_measured(struct tern_mc_data *data);

/* Expects that exactly one thing is wrong. Frees the data. */
void expect_one(struct tern_mc_data *data, const char *id, const char *who);

#endif
