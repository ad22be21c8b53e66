/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpicheck/judge/findings.h"

#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"

enum { NAMES_MOST = 40, ALL_WELL = 0, WARNINGS = 1, FAULTS = 2, UNMEASURED = 3, WRONG_DATA = 4 };

static int *copy_hosts(const int *hosts, int count)
{
    int *made = tern_mc_alloc(count, sizeof *made);
    if (count > 0)
        memcpy(made, hosts, (size_t)count * sizeof *made);
    return made;
}

char *tern_mc_names(const struct tern_mc_data *data, const int *hosts, int count, int most)
{
    const char **names = tern_mc_alloc(count, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = data->hosts[hosts[i]].name;
    char *text = tern_mc_fold(names, count, most);
    free(names);
    return text;
}

struct tern_mc_finding *tern_mc_find(struct tern_mc_findings *findings,
                                     const struct tern_mc_data *data,
                                     enum tern_mc_severity severity, const char *id,
                                     const int *hosts, int count, char *what, char *next)
{
    struct tern_mc_finding *items = tern_mc_alloc(findings->count + 1, sizeof *items);
    if (findings->count > 0)
        memcpy(items, findings->items, (size_t)findings->count * sizeof *items);
    free(findings->items);
    findings->items = items;
    struct tern_mc_finding *finding = &items[findings->count++];
    *finding = (struct tern_mc_finding){.severity = severity,
                                        .id = id,
                                        .hosts = copy_hosts(hosts, count),
                                        .host_count = count,
                                        .who = tern_mc_names(data, hosts, count, NAMES_MOST),
                                        .what = what,
                                        .next = next};
    return finding;
}

void tern_mc_find_peers(struct tern_mc_finding *finding, const struct tern_mc_data *data,
                        const int *peers, int count, const char *arrow)
{
    finding->peers = copy_hosts(peers, count);
    finding->peer_count = count;
    char *theirs = tern_mc_names(data, peers, count, NAMES_MOST);
    char *who = tern_mc_format("%s %s %s", finding->who, arrow, theirs);
    free(theirs);
    free(finding->who);
    finding->who = who;
}

void tern_mc_findings_free(struct tern_mc_findings *findings)
{
    for (int i = 0; i < findings->count; i++) {
        free(findings->items[i].hosts);
        free(findings->items[i].peers);
        free(findings->items[i].who);
        free(findings->items[i].what);
        free(findings->items[i].next);
    }
    free(findings->items);
    *findings = (struct tern_mc_findings){0};
}

static bool contains(const int *hosts, int count, int host)
{
    for (int i = 0; i < count; i++)
        if (hosts[i] == host)
            return true;
    return false;
}

bool tern_mc_is_named(const struct tern_mc_findings *findings, const char *id, int host)
{
    for (int i = 0; i < findings->count; i++) {
        const struct tern_mc_finding *at = &findings->items[i];
        if (at->severity >= TERN_MC_FAIL && (!id || strcmp(at->id, id) == 0) &&
            (contains(at->hosts, at->host_count, host) ||
             contains(at->peers, at->peer_count, host)))
            return true;
    }
    return false;
}

int tern_mc_exit_code(const struct tern_mc_findings *findings, bool fail_on_warning)
{
    bool seen[TERN_MC_DATA + 1] = {0};
    for (int i = 0; i < findings->count; i++)
        seen[findings->items[i].severity] = true;
    if (seen[TERN_MC_DATA])
        return WRONG_DATA;
    if (seen[TERN_MC_FAIL] || (fail_on_warning && seen[TERN_MC_WARN]))
        return FAULTS;
    if (seen[TERN_MC_NOTE])
        return UNMEASURED;
    return seen[TERN_MC_WARN] ? WARNINGS : ALL_WELL;
}
