/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPICHECK_FINDINGS_H
#define TERN_MPICHECK_FINDINGS_H

/* What mpicheck has found out: a list of findings, each about a host, several hosts, or pairs of
 * hosts. Numbers of hosts are those of the data. */

#include <stdbool.h>

#include "mpicheck/data/measured.h"

/* GOOD: a line about what is well. NOTE: something could not be measured. */
enum tern_mc_severity { TERN_MC_GOOD, TERN_MC_NOTE, TERN_MC_WARN, TERN_MC_FAIL, TERN_MC_DATA };

struct tern_mc_finding {
    enum tern_mc_severity severity;
    const char *id; /* for programs, such as "link.dead"; a constant */
    int *hosts;     /* who has the fault */
    int host_count;
    int *peers; /* with whom, if it is a matter of pairs */
    int peer_count;
    char *who;   /* the hosts in words, such as "n[01-07]" or "n1 -> n2" */
    char *what;  /* what was found, compared with what */
    char *next;  /* one command to run next, or a cure; NULL: none */
    double value, expected; /* figures, or 0 */
};

struct tern_mc_findings {
    struct tern_mc_finding *items;
    int count;
};

/* A whole result, as all reports show it. */
struct tern_mc_result {
    const struct tern_mc_data *data;
    const struct tern_mc_findings *findings;
    double seconds;
    int exit_code;
    double expected_bandwidth, expected_latency_us; /* what the user expects; 0: nothing */
    bool interrupted;
    bool unwritten;        /* a file of the report could not be written */
    const char *directory; /* of the reports; NULL: none are written */
};

/* What the user expects; 0: nothing. */
struct tern_mc_expected {
    double bandwidth;  /* MB/s */
    double latency_us;
    const struct tern_mc_data *baseline; /* NULL: none */
};

/* Adds a finding about `count` hosts. `who` is made from their names. Owns `what` and `next`
 * afterwards. Returns the finding, valid until the next one is added. */
struct tern_mc_finding *tern_mc_find(struct tern_mc_findings *findings,
                                     const struct tern_mc_data *data,
                                     enum tern_mc_severity severity, const char *id,
                                     const int *hosts, int count, char *what, char *next);

/* Adds the partners of a finding about pairs, and writes `who` as "hosts ARROW peers". */
void tern_mc_find_peers(struct tern_mc_finding *finding, const struct tern_mc_data *data,
                        const int *peers, int count, const char *arrow);

void tern_mc_findings_free(struct tern_mc_findings *findings);

/* Returns the names of hosts, folded. The caller frees the text. */
char *tern_mc_names(const struct tern_mc_data *data, const int *hosts, int count, int most);

/* Returns true if a finding of this id, or of any id if NULL, names the host as one that has a
 * fault. */
bool tern_mc_is_named(const struct tern_mc_findings *findings, const char *id, int host);

/* Finds what is wrong with hosts by themselves: missing, not alike, slow, throttled, clocks. */
void tern_mc_judge_hosts(const struct tern_mc_data *data, struct tern_mc_findings *findings);

/* Finds GPUs, and pairs of GPUs of a host, that are slow or do not work. */
void tern_mc_judge_gpus(const struct tern_mc_data *data, struct tern_mc_findings *findings);

/* Finds pairs between which messages do not arrive, arrive wrong, or go by another interface than
 * those of other hosts. */
void tern_mc_judge_links(const struct tern_mc_data *data, struct tern_mc_findings *findings);

/* Finds hosts, groups and pairs whose messages are slow or lost. Call it after
 * tern_mc_judge_links. */
void tern_mc_judge_speed(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                         struct tern_mc_findings *findings);

/* Warns of interfaces that are slow or do not answer, while other interfaces hide that. Call it
 * after tern_mc_judge_speed. */
void tern_mc_judge_networks(const struct tern_mc_data *data, struct tern_mc_findings *findings);

/* Returns true if most calls to one of a host's interfaces are not answered: then it has few
 * connections by this one. */
bool tern_mc_is_silent(const struct tern_mc_host *host);

/* Returns which part of the segments from one host to another had to be sent again; 0 if too few
 * were sent. */
double tern_mc_loss(const struct tern_mc_data *data, int from, int to);

/* Writes the lines about what is well. Call it last. */
void tern_mc_judge_good(const struct tern_mc_data *data, struct tern_mc_findings *findings);

enum { TERN_MC_SUSPECTS_MOST = 32 };

/* Chooses pairs to be measured alone: suspicious ones, and good ones to compare with. Writes at
 * most TERN_MC_SUSPECTS_MOST pairs. Returns their number; 0: nothing is suspicious. */
int tern_mc_suspects(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                     int (*ret_pairs)[2]);

/* Chooses hosts whose processors must be measured again, alone. Returns their number. */
int tern_mc_slow_hosts(const struct tern_mc_data *data, int *ret_hosts);

/* Chooses hosts whose GPUs must be measured again. Returns their number. */
int tern_mc_slow_gpus(const struct tern_mc_data *data, int *ret_hosts);

/* Returns the least rate of copies from the host to a GPU of all that were measured, and the
 * largest one, in GB/s; 0: none was. */
double tern_mc_gpu_range(const struct tern_mc_data *data, double *ret_most);

/* mpicheck's exit status. */
int tern_mc_exit_code(const struct tern_mc_findings *findings, bool fail_on_warning);

#endif
