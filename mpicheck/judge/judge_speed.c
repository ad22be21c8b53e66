/* SPDX-License-Identifier: BSD-3-Clause */

/* Who is slow. The tournament makes suspects, because its samples are short and other pairs are
 * under way; only samples of a pair alone, taken in turn with those of good pairs, accuse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"
#include "mpicheck/data/medians.h"
#include "mpicheck/judge/verdicts.h"

static const double enough_share = 0.8; /* else a sample says little */
static const double blamed_part = 0.6;
static const double loss_limit = 0.02, usual_losses = 5; /* a pair is lossy beyond both */
static const double loss_that_slows = 0.005; /* explains what is slow anyway */

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

/* Counts the verdicts about what a host sends or receives, and lists its slow partners. */
static int count_slow(const struct tern_mc_verdicts *verdicts, int host, bool receives,
                      int *ret_fine, int *ret_peers)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int slow = 0;
    *ret_fine = 0;
    for (int peer = 0; peer < data->count; peer++) {
        size_t pair = receives ? at(data, peer, host) : at(data, host, peer);
        if (verdicts->of[pair] == TERN_MC_SLOW)
            ret_peers[slow++] = peer;
        *ret_fine += verdicts->of[pair] == TERN_MC_FINE;
    }
    return slow;
}

/* Returns the largest part of the segments that was sent again between a host and some others, in
 * either direction: lost answers slow down the direction of the data. */
static double worst_loss(const struct tern_mc_data *data, int host, const int *peers, int count)
{
    double worst = 0;
    for (int i = 0; i < count; i++) {
        double to = tern_mc_loss(data, host, peers[i]), from = tern_mc_loss(data, peers[i], host);
        worst = to > worst ? to : worst;
        worst = from > worst ? from : worst;
    }
    return worst;
}

/* What else is known of a host's interface or losses, as the likely reason; "" if nothing. */
static char *tell_reason(const struct tern_mc_data *data, int host, double loss)
{
    if (loss >= loss_that_slows)
        return tern_mc_format("; %.1f %% of the segments are lost and sent again", 100 * loss);
    const char *nic = data->hosts[host].socket_count ? data->hosts[host].sockets[0].nic : NULL;
    char *key = tern_mc_format("nic.%s.speed", nic ? nic : "?");
    const char *speed = tern_mc_fact(&data->hosts[host], key);
    free(key);
    if (speed && atoi(speed) > 0)
        return tern_mc_format("; %s says %s Mbit/s", nic, speed);
    return tern_mc_format("%s", "");
}

/* Returns what a rate is compared with: "others at 5.82 GB/s", and what the user asks for and what
 * was measured before, in MB/s, unless they are 0. The caller frees the text. */
static char *tell_compared(const struct tern_mc_speed *speed, double others, double before)
{
    double asked = speed->expected->bandwidth;
    char *usual = tern_mc_tell_rate(others), *old = tern_mc_tell_rate(before);
    char *wish = tern_mc_tell_rate(asked);
    char *text = tern_mc_format("others at %s%s%s%s%s", usual, before > 0 ? ", before " : "",
                                before > 0 ? old : "", asked > 0 ? ", asked for " : "",
                                asked > 0 ? wish : "");
    free(usual);
    free(old);
    free(wish);
    return text;
}

static void close_all(struct tern_mc_verdicts *verdicts, int host, bool receives)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int peer = 0; peer < data->count; peer++) {
        size_t pair = receives ? at(data, peer, host) : at(data, host, peer);
        if (verdicts->of[pair] == TERN_MC_SLOW)
            verdicts->of[pair] = TERN_MC_EXPLAINED;
    }
}

/* Returns the median of a host's rates with these peers: alone, or before. */
static double typical_rate(const struct tern_mc_speed *speed, int host, bool receives,
                           const int *peers, int count, bool before)
{
    double *values = tern_mc_alloc(count, sizeof *values);
    for (int i = 0; i < count; i++) {
        int from = receives ? peers[i] : host, to = receives ? host : peers[i];
        values[i] = before ? tern_mc_speed_before(speed, from, to)
                           : tern_mc_tested(speed->data, from, to);
    }
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

static void name_host(struct tern_mc_verdicts *verdicts, int host, bool receives, const int *peers,
                      int count)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    double rate = typical_rate(verdicts->speed, host, receives, peers, count, false);
    double before = typical_rate(verdicts->speed, host, receives, peers, count, true);
    double others = receives ? tern_mc_usual_of(verdicts, peers[0], host)
                             : tern_mc_usual_of(verdicts, host, peers[0]);
    double loss = worst_loss(data, host, peers, count);
    char *have = tern_mc_tell_rate(rate);
    char *usual = tell_compared(verdicts->speed, others, before);
    char *reason = tell_reason(data, host, loss);
    const char *nic = data->hosts[host].socket_count ? data->hosts[host].sockets[0].nic : "NIC";
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, TERN_MC_FAIL, receives ? "host.receives" : "host.sends", &host, 1,
        tern_mc_format("%s at %s, %s; also alone, with %d of %d hosts%s",
                       receives ? "receives" : "sends", have, usual, count, data->count - 1,
                       reason),
        tern_mc_format("ethtool %s; ethtool -S %s; tc qdisc (on %s): cable, port, speed", nic, nic,
                       data->hosts[host].name));
    finding->value = rate;
    finding->expected = others;
    free(have);
    free(usual);
    free(reason);
    close_all(verdicts, host, receives);
    if (loss >= loss_that_slows)
        close_all(verdicts, host, !receives);
}

/* ---- lost segments ---- */

/* Returns the part that must be lost for a pair to count as lossy. TCP itself loses some where it
 * tries how much a network can carry, so it is compared with other pairs. */
static double loss_limit_of(const struct tern_mc_data *data)
{
    size_t pairs = (size_t)data->count * (size_t)data->count;
    double *values = tern_mc_alloc((long)pairs, sizeof *values);
    int count = 0;
    for (int a = 0; a < data->count; a++)
        for (int b = 0; b < data->count; b++)
            if (a != b && data->bandwidth[at(data, a, b)] > 0)
                values[count++] = tern_mc_loss(data, a, b);
    double limit = usual_losses * tern_mc_median(values, count);
    free(values);
    return limit > loss_limit ? limit : loss_limit;
}

/* Counts the pairs that lose what a host sends or receives, with hosts that are not named yet. */
static int count_lossy(const struct tern_mc_verdicts *verdicts, int host, bool receives,
                       double limit, double *ret_worst)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int count = 0;
    *ret_worst = 0;
    for (int peer = 0; peer < data->count; peer++) {
        double loss = peer == host || verdicts->lossy[peer] ? 0
                      : receives ? tern_mc_loss(data, peer, host)
                                 : tern_mc_loss(data, host, peer);
        count += loss > limit;
        *ret_worst = loss > *ret_worst ? loss : *ret_worst;
    }
    return count;
}

/* Names a host that loses segments. If it is slow, too, that is in the same line; lost answers slow
 * down the other direction, so nothing else is said about its pairs. */
static void name_lossy_host(struct tern_mc_verdicts *verdicts, int host, bool receives, int lossy,
                            double worst, int *peers)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int fine, slow = count_slow(verdicts, host, receives, &fine, peers);
    if (slow > 0) {
        name_host(verdicts, host, receives, peers, slow);
    } else {
        struct tern_mc_finding *finding = tern_mc_find(
            verdicts->findings, data, TERN_MC_FAIL, "host.loss", &host, 1,
            tern_mc_format("%.1f %% of the segments that %d hosts %s it are sent again",
                           100 * worst, lossy, receives ? "send to" : "get from"),
            tern_mc_format("ethtool -S; ip -s link (on %s): errors, drops",
                           data->hosts[host].name));
        finding->value = worst;
    }
    verdicts->lossy[host] = true;
    for (int peer = 0; peer < data->count; peer++)
        verdicts->of[at(data, host, peer)] = verdicts->of[at(data, peer, host)] = TERN_MC_EXPLAINED;
}

static void name_lossy_hosts(struct tern_mc_verdicts *verdicts, int *peers)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    double limit = loss_limit_of(data);
    for (;;) {
        int best = -1, most = 1;
        bool best_receives = false;
        double worst = 0;
        for (int host = 0; host < data->count; host++)
            for (int receives = 0; receives < 2; receives++) {
                double here;
                int count = count_lossy(verdicts, host, receives, limit, &here);
                if (verdicts->lossy[host] || tern_mc_is_named(verdicts->findings, NULL, host) ||
                    count < 2 || count < most || (count == most && here <= worst))
                    continue;
                best = host;
                best_receives = receives;
                most = count;
                worst = here;
            }
        if (best < 0)
            return;
        name_lossy_host(verdicts, best, best_receives, most, worst, peers);
    }
}

/* ---- slow hosts and pairs ---- */

/* Names hosts that are slow in one direction with most partners, the worst first. */
static void name_slow_hosts(struct tern_mc_verdicts *verdicts, int *peers)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (;;) {
        int worst = -1, most = 0, fine;
        bool worst_receives = false;
        for (int host = 0; host < data->count; host++)
            for (int receives = 0; receives < 2; receives++) {
                int slow = count_slow(verdicts, host, receives, &fine, peers);
                if (slow >= 2 && slow >= blamed_part * (slow + fine) && slow > most) {
                    most = slow;
                    worst = host;
                    worst_receives = receives;
                }
            }
        if (worst < 0)
            return;
        count_slow(verdicts, worst, worst_receives, &fine, peers);
        name_host(verdicts, worst, worst_receives, peers, most);
    }
}

/* Returns true if it is open who is to blame for a slow pair, because one of its hosts was measured
 * with nobody else: those pairs were too busy. */
static bool is_blame_open(const struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    bool sends = false, receives = false, send_busy = false, receive_busy = false;
    for (int other = 0; other < data->count; other++) {
        enum tern_mc_verdict sent = verdicts->of[at(data, from, other)],
                     received = verdicts->of[at(data, other, to)];
        sends |= sent == TERN_MC_FINE;
        receives |= received == TERN_MC_FINE;
        send_busy |= sent == TERN_MC_BUSY;
        receive_busy |= received == TERN_MC_BUSY;
    }
    return (!sends && send_busy) || (!receives && receive_busy);
}

static void note_open_pair(struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    char *have = tern_mc_tell_rate(tern_mc_tested(data, from, to));
    char *usual = tern_mc_tell_rate(tern_mc_usual_of(verdicts, from, to));
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, TERN_MC_NOTE, "pair.open", &from, 1,
        tern_mc_format("%s, others %s; the other pairs of the two were too busy to tell who is to "
                       "blame", have, usual),
        tern_mc_format("top (on %s); then mpicheck again", data->hosts[from].name));
    tern_mc_find_peers(finding, data, &to, 1, "->");
    free(have);
    free(usual);
}

static void name_slow_pairs(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int from = 0; from < data->count; from++)
        for (int to = 0; to < data->count; to++) {
            if (verdicts->of[at(data, from, to)] != TERN_MC_SLOW)
                continue;
            if (is_blame_open(verdicts, from, to)) {
                note_open_pair(verdicts, from, to);
                continue;
            }
            bool both = verdicts->of[at(data, to, from)] == TERN_MC_SLOW;
            double rate = tern_mc_tested(data, from, to);
            double others = tern_mc_usual_of(verdicts, from, to);
            char *have = tern_mc_tell_rate(rate);
            char *usual = tell_compared(verdicts->speed, others,
                                        tern_mc_speed_before(verdicts->speed, from, to));
            char *reason = tell_reason(data, from, worst_loss(data, from, &to, 1));
            struct tern_mc_finding *finding = tern_mc_find(
                verdicts->findings, data, TERN_MC_FAIL, "pair.slow", &from, 1,
                tern_mc_format("%s, %s; also alone%s", have, usual, reason),
                tern_mc_format("tracepath -n; the switches between %s and %s",
                               data->hosts[from].name, data->hosts[to].name));
            tern_mc_find_peers(finding, data, &to, 1, both ? "<->" : "->");
            finding->value = rate;
            finding->expected = others;
            verdicts->of[at(data, from, to)] = TERN_MC_EXPLAINED;
            if (both)
                verdicts->of[at(data, to, from)] = TERN_MC_EXPLAINED;
            free(have);
            free(usual);
            free(reason);
        }
}

/* Names pairs that seem slow between hosts that lacked processors. A pair with a host that has a
 * fault of its own is left out: the fault is named, and says nothing against the other host. */
static void name_busy(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int from = 0; from < data->count; from++)
        for (int to = 0; to < data->count; to++) {
            const char *load = tern_mc_fact(&data->hosts[from], "now.load");
            if (verdicts->of[at(data, from, to)] != TERN_MC_BUSY ||
                tern_mc_is_named(verdicts->findings, NULL, from) ||
                tern_mc_is_named(verdicts->findings, NULL, to))
                continue;
            int samples = tern_mc_alone_of(data, from, to)->count;
            char *why = samples < TERN_MC_SAMPLES_LEAST
                            ? tern_mc_format("seems slow, and was measured alone only %d time%s, "
                                             "not %d", samples, samples == 1 ? "" : "s",
                                             TERN_MC_SAMPLES_LEAST)
                            : tern_mc_format("could not be measured: the hosts are too busy (load "
                                             "%.4s)", load ? load : "?");
            struct tern_mc_finding *finding =
                tern_mc_find(verdicts->findings, data, TERN_MC_NOTE, "pair.busy", &from, 1, why,
                             tern_mc_format("top (on %s); then mpicheck again",
                                            data->hosts[from].name));
            tern_mc_find_peers(finding, data, &to, 1, "->");
        }
}

/* Returns true if a host was measured alone in a direction. */
static bool is_tested(const struct tern_mc_data *data, int host, bool receives)
{
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].count > 0 &&
            (receives ? data->alone[i].to : data->alone[i].from) == host)
            return true;
    return false;
}

/* Notes hosts that seem slow, and were not measured alone: there were too many, or the phase did
 * not come to its end. */
static void note_untested(const struct tern_mc_verdicts *verdicts, int *hosts)
{
    const struct tern_mc_speed *speed = verdicts->speed;
    int count = 0;
    for (int i = 0; i < speed->data->count; i++) {
        bool open = (speed->sends[i] && !is_tested(speed->data, i, false)) ||
                    (speed->receives[i] && !is_tested(speed->data, i, true));
        if (open && !tern_mc_is_named(verdicts->findings, NULL, i))
            hosts[count++] = i;
    }
    if (count > 0)
        tern_mc_find(verdicts->findings, speed->data, TERN_MC_NOTE, "host.open", hosts, count,
                     tern_mc_format("seemed slow while all pairs were measured; not measured "
                                    "alone"),
                     tern_mc_format("mpicheck again, with -H some of these and some others"));
}

/* ---- late pairs ---- */

static void name_late(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    double limit = tern_mc_late(verdicts->usual_latency);
    for (int i = 0; verdicts->usual_latency > 0 && i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        double least = tern_mc_least_of(alone->latency, alone->latency_count);
        if (alone->from > alone->to || alone->latency_count < TERN_MC_SAMPLES_LEAST ||
            least <= limit ||
            tern_mc_is_named(verdicts->findings, NULL, alone->from) ||
            tern_mc_is_named(verdicts->findings, NULL, alone->to) ||
            tern_mc_median_of(alone->share, alone->count) < enough_share)
            continue;
        struct tern_mc_finding *finding = tern_mc_find(
            verdicts->findings, data, TERN_MC_WARN, "pair.late", &alone->from, 1,
            tern_mc_format("8 bytes take %.1f us, with other pairs %.1f; also alone", least,
                           verdicts->usual_latency),
            tern_mc_format("tracepath -n; ethtool -c (interrupt coalescing)"));
        tern_mc_find_peers(finding, data, &alone->to, 1, "<->");
        finding->value = least;
        finding->expected = verdicts->usual_latency;
    }
}

void tern_mc_judge_speed(const struct tern_mc_data *data, const struct tern_mc_expected *expected,
                         struct tern_mc_findings *findings)
{
    struct tern_mc_speed speed;
    int pairs[TERN_MC_SUSPECTS_MOST][2];
    tern_mc_speed_make(data, expected, pairs, &speed);
    struct tern_mc_verdicts verdicts;
    tern_mc_verdicts_make(&speed, findings, &verdicts);
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts);
    tern_mc_name_groups(&verdicts);
    name_lossy_hosts(&verdicts, hosts);
    name_slow_hosts(&verdicts, hosts);
    name_slow_pairs(&verdicts);
    name_busy(&verdicts);
    note_untested(&verdicts, hosts);
    name_late(&verdicts);
    tern_mc_verdicts_free(&verdicts);
    free(hosts);
    tern_mc_speed_free(&speed);
}
