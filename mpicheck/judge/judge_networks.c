/* SPDX-License-Identifier: BSD-3-Clause */

/* Networks of hosts that have several: messages go by the good ones, so that a bad one is seen only
 * where each was measured for itself. A short sample by TCP while other pairs are under way: it
 * warns, and only of what is far away from the others. */
#include <stdlib.h>
#include <string.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"

enum { HOSTS_LEAST = 3, PARTNERS_LEAST = 2, SILENCES_MOST = 4 };
static const double slow_part = 0.2;   /* of what most hosts reach by this network */
static const double blamed_part = 0.6; /* of the calls to a host, if the host itself is named */

static const struct tern_mc_net *net_of(const struct tern_mc_host *host, const char *nic)
{
    for (int i = 0; i < host->net_count; i++)
        if (strcmp(host->nets[i].nic, nic) == 0)
            return &host->nets[i];
    return NULL;
}

/* Returns what the best sample of most hosts has reached; 0: there are too few. */
static double usual_rate(const struct tern_mc_data *data, const char *nic, bool receives)
{
    double *rates = tern_mc_alloc(data->count, sizeof *rates);
    int count = 0;
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_net *net = net_of(&data->hosts[i], nic);
        double rate = !net ? 0 : receives ? net->receives : net->sends;
        if (rate > 0)
            rates[count++] = rate;
    }
    double usual = count >= HOSTS_LEAST ? tern_mc_median(rates, count) : 0;
    free(rates);
    return usual;
}

static void judge_rates(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                        const char *nic)
{
    double usual[2] = {usual_rate(data, nic, false), usual_rate(data, nic, true)};
    for (int i = 0; i < data->count; i++) {
        const struct tern_mc_net *net = net_of(&data->hosts[i], nic);
        if (!net || tern_mc_is_named(findings, NULL, i))
            continue;
        bool sends = net->sends > 0 && net->calls >= PARTNERS_LEAST &&
                     net->sends_allowing < slow_part * usual[0];
        bool receives = net->receives > 0 && net->called >= PARTNERS_LEAST &&
                        net->receives_allowing < slow_part * usual[1];
        if (!sends && !receives)
            continue;
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_WARN, "net.slow", &i, 1,
            tern_mc_format("its %s %s at %.0f MB/s, that of other hosts at %.0f; other interfaces "
                           "hide that", nic, sends && receives ? "sends and receives"
                           : sends ? "sends" : "receives", sends ? net->sends : net->receives,
                           usual[!sends]),
            tern_mc_format("mpicheck --per nic; ethtool %s; ethtool -S %s (on %s)", nic, nic,
                           data->hosts[i].name));
        finding->value = sends ? net->sends : net->receives;
        finding->expected = usual[!sends];
    }
}

/* Returns true if most calls to a host by a network are not answered. */
static bool is_silent(const struct tern_mc_net *net)
{
    return net && net->unheard >= PARTNERS_LEAST && net->unheard >= blamed_part * net->called;
}

bool tern_mc_is_silent(const struct tern_mc_host *host)
{
    for (int i = 0; i < host->net_count; i++)
        if (is_silent(&host->nets[i]))
            return true;
    return false;
}

/* Names the hosts that do not answer by a network, and then pairs. */
static void judge_silences(const struct tern_mc_data *data, struct tern_mc_findings *findings,
                           const char *nic)
{
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts), count = 0, pairs = 0;
    for (int i = 0; i < data->count; i++)
        if (is_silent(net_of(&data->hosts[i], nic)) && !tern_mc_is_named(findings, NULL, i))
            hosts[count++] = i;
    if (count > 0)
        tern_mc_find(findings, data, TERN_MC_WARN, "net.silent", hosts, count,
                     tern_mc_format("calls to %s %s are not answered, those to other interfaces "
                                    "are: a firewall?", count > 1 ? "their" : "its", nic),
                     tern_mc_format("nft list ruleset (on %s); mpicheck --per nic",
                                    data->hosts[hosts[0]].name));
    for (int i = 0; i < data->silence_count && pairs < SILENCES_MOST; i++) {
        const struct tern_mc_silence *at = &data->silences[i];
        if (strcmp(at->nic, nic) || is_silent(net_of(&data->hosts[at->to], nic)) ||
            tern_mc_is_named(findings, NULL, at->from) || tern_mc_is_named(findings, NULL, at->to))
            continue;
        struct tern_mc_finding *finding = tern_mc_find(
            findings, data, TERN_MC_WARN, "net.silent", &at->from, 1,
            tern_mc_format("calls by %s are not answered, those by other interfaces are: a "
                           "firewall?", nic),
            tern_mc_format("nft list ruleset (on %s); mpicheck --per nic",
                           data->hosts[at->to].name));
        tern_mc_find_peers(finding, data, &at->to, 1, "->");
        pairs++;
    }
    free(hosts);
}

void tern_mc_judge_networks(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int i = 0; i < data->count; i++)
        for (int k = 0; k < data->hosts[i].net_count; k++) {
            const char *nic = data->hosts[i].nets[k].nic;
            bool seen = false;
            for (int before = 0; before < i && !seen; before++)
                seen = net_of(&data->hosts[before], nic);
            if (seen)
                continue;
            judge_rates(data, findings, nic);
            judge_silences(data, findings, nic);
        }
}
