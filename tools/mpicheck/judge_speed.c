/* SPDX-License-Identifier: BSD-3-Clause */

/* Who is slow. The tournament makes suspects, because its samples are short and other pairs are
 * under way; only samples of a pair alone, taken in turn with those of good pairs, accuse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/mpicheck/findings.h"
#include "tools/mpicheck/fold.h"
#include "tools/mpicheck/interfaces.h"
#include "tools/mpicheck/medians.h"
#include "tools/mpicheck/suspects.h"

enum { GROUP_LEAST = 2 };
static const double slow_ratio = 0.75;  /* of the good pairs' bandwidth */
static const double sure_ratio = 0.33;  /* slow even if the two lacked processors */
static const double least_share = 0.1;  /* of a processor that is allowed for */
static const double enough_share = 0.8; /* else a sample says little */
static const double blamed_part = 0.6;
static const double loss_limit = 0.02, usual_losses = 5; /* a pair is lossy beyond both */
static const double loss_that_slows = 0.005; /* explains what is slow anyway */

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

/* ---- verdicts ---- */

/* What samples alone say of a direction. EXPLAINED: slow, and a finding says why. */
enum verdict { UNTESTED, FINE, SLOW, TOO_BUSY, EXPLAINED };

struct verdicts {
    const struct tern_mc_speed *speed;
    struct tern_mc_findings *findings;
    uint8_t *of; /* [from * count + to]: enum verdict */
    bool *lossy;  /* by host: named, because it loses segments */
    double usual; /* MB/s of good pairs alone */
    double usual_latency;
    uint32_t *routes; /* of data->alone, tern_mc_route */
};

static double best_of(const float *values, int count)
{
    double best = 0;
    for (int i = 0; i < count; i++)
        best = (double)values[i] > best ? (double)values[i] : best;
    return best;
}

static double least_of(const float *values, int count)
{
    double least = 0;
    for (int i = 0; i < count; i++)
        least = i == 0 || (double)values[i] < least ? (double)values[i] : least;
    return least;
}

static double median_of(const float *values, int count)
{
    double copied[TERN_MC_SAMPLES_MOST];
    for (int i = 0; i < count; i++)
        copied[i] = (double)values[i];
    return tern_mc_median(copied, count);
}

/* Finds what good pairs reach alone: the median of their medians. */
static void find_usual(struct verdicts *verdicts)
{
    const struct tern_mc_speed *speed = verdicts->speed;
    double bandwidths[2 * TERN_MC_SUSPECTS_MOST], latencies[2 * TERN_MC_SUSPECTS_MOST];
    int count = 0;
    for (int i = speed->suspects; i < speed->count && count < 2 * TERN_MC_SUSPECTS_MOST - 1; i++)
        for (int way = 0; way < 2; way++) {
            const struct tern_mc_alone *alone = tern_mc_alone_of(
                speed->data, speed->pairs[i][way], speed->pairs[i][!way]);
            if (!alone || alone->count == 0)
                continue;
            latencies[count] = least_of(alone->latency, alone->latency_count);
            bandwidths[count++] = median_of(alone->bandwidth, alone->count);
        }
    /* all pairs are suspicious: then they are compared with each other */
    for (int i = 0; speed->suspects == speed->count && i < speed->data->alone_count &&
                    count < 2 * TERN_MC_SUSPECTS_MOST; i++) {
        const struct tern_mc_alone *alone = &speed->data->alone[i];
        if (alone->count == 0)
            continue;
        latencies[count] = least_of(alone->latency, alone->latency_count);
        bandwidths[count++] = median_of(alone->bandwidth, alone->count);
    }
    verdicts->usual = tern_mc_median(bandwidths, count);
    verdicts->usual_latency = tern_mc_median(latencies, count);
}

static bool is_reference(const struct tern_mc_speed *speed, const struct tern_mc_alone *alone)
{
    for (int i = speed->suspects; i < speed->count; i++)
        if (tern_mc_is_pair(speed->pairs[i], alone->from, alone->to))
            return true;
    return false;
}

/* Finds by which interfaces the pairs go that were measured alone. The caller frees the result. */
static uint32_t *find_routes(const struct tern_mc_data *data)
{
    uint32_t *routes = tern_mc_alloc(data->alone_count, sizeof *routes);
    struct tern_mc_nics nics;
    tern_mc_nics_find(data, &nics);
    for (int i = 0; i < data->alone_count; i++)
        routes[i] = tern_mc_route(data, &nics, data->alone[i].from, data->alone[i].to);
    return routes;
}

/* Returns what good pairs reach alone by the interfaces that a pair uses, in MB/s. Pairs by other
 * interfaces count only if one host is part of all that were tested by these: its choice of
 * interfaces may be the fault. The pair was measured alone. */
static double usual_of(const struct verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    uint32_t route = verdicts->routes[tern_mc_alone_of(data, from, to) - data->alone];
    double *good = tern_mc_alloc(data->alone_count, sizeof *good), usual = verdicts->usual;
    double *all = tern_mc_alloc(data->alone_count, sizeof *all);
    int good_count = 0, count = 0;
    bool from_in_all = true, to_in_all = true;
    for (int i = 0; i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        if (alone->count == 0 || verdicts->routes[i] != route)
            continue;
        from_in_all &= alone->from == from || alone->to == from;
        to_in_all &= alone->from == to || alone->to == to;
        all[count++] = median_of(alone->bandwidth, alone->count);
        if (is_reference(verdicts->speed, alone))
            good[good_count++] = all[count - 1];
    }
    if (!from_in_all && !to_in_all)
        usual = good_count ? tern_mc_median(good, good_count) : tern_mc_median(all, count);
    free(good);
    free(all);
    return usual;
}

/* Returns what the best sample would have reached at most, had both ends had a processor all the
 * time. */
static double best_allowing(const struct tern_mc_alone *alone)
{
    double best = 0;
    for (int i = 0; i < alone->count; i++) {
        double share = (double)alone->share[i] < least_share ? least_share
                                                             : (double)alone->share[i];
        double allowing = (double)alone->bandwidth[i] / share;
        best = allowing > best ? allowing : best;
    }
    return best;
}

static enum verdict judge(const struct verdicts *verdicts, const struct tern_mc_alone *alone)
{
    const struct tern_mc_expected *expected = verdicts->speed->expected;
    double best = best_of(alone->bandwidth, alone->count);
    double usual = usual_of(verdicts, alone->from, alone->to), want = slow_ratio * usual;
    double asked = tern_mc_speed_wanted(verdicts->speed, alone->from, alone->to);
    /* what the user asks for, or had before, counts beside what the others have now */
    if ((expected->bandwidth > 0 || expected->baseline) && asked > want)
        want = asked;
    if (alone->count == 0)
        return UNTESTED;
    if (best >= want)
        return FINE;
    if (best_allowing(alone) < sure_ratio * usual)
        return SLOW;
    return median_of(alone->share, alone->count) < enough_share ? TOO_BUSY : SLOW;
}

static void judge_all(struct verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int i = 0; i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        verdicts->of[at(data, alone->from, alone->to)] = (uint8_t)judge(verdicts, alone);
    }
}

static double tested(const struct tern_mc_data *data, int from, int to)
{
    const struct tern_mc_alone *alone = tern_mc_alone_of(data, from, to);
    return alone ? best_of(alone->bandwidth, alone->count) : 0;
}

/* Counts the verdicts about what a host sends or receives, and lists its slow partners. */
static int count_slow(const struct verdicts *verdicts, int host, bool receives, int *ret_fine,
                      int *ret_peers)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int slow = 0;
    *ret_fine = 0;
    for (int peer = 0; peer < data->count; peer++) {
        size_t pair = receives ? at(data, peer, host) : at(data, host, peer);
        if (verdicts->of[pair] == SLOW)
            ret_peers[slow++] = peer;
        *ret_fine += verdicts->of[pair] == FINE;
    }
    return slow;
}

static char *tell_rate(double mbps)
{
    return mbps >= 1000 ? tern_mc_format("%.2f GB/s", mbps / 1000)
                        : tern_mc_format("%.1f MB/s", mbps);
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

static void close_all(struct verdicts *verdicts, int host, bool receives)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int peer = 0; peer < data->count; peer++) {
        size_t pair = receives ? at(data, peer, host) : at(data, host, peer);
        if (verdicts->of[pair] == SLOW)
            verdicts->of[pair] = EXPLAINED;
    }
}

static double typical_rate(const struct tern_mc_data *data, int host, bool receives,
                           const int *peers, int count)
{
    double *values = tern_mc_alloc(count, sizeof *values);
    for (int i = 0; i < count; i++)
        values[i] = receives ? tested(data, peers[i], host) : tested(data, host, peers[i]);
    double median = tern_mc_median(values, count);
    free(values);
    return median;
}

static void name_host(struct verdicts *verdicts, int host, bool receives, const int *peers,
                      int count)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    double rate = typical_rate(data, host, receives, peers, count);
    double others = receives ? usual_of(verdicts, peers[0], host)
                             : usual_of(verdicts, host, peers[0]);
    double loss = worst_loss(data, host, peers, count);
    char *have = tell_rate(rate), *usual = tell_rate(others);
    char *reason = tell_reason(data, host, loss);
    const char *nic = data->hosts[host].socket_count ? data->hosts[host].sockets[0].nic : "NIC";
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, TERN_MC_FAIL, receives ? "host.receives" : "host.sends", &host, 1,
        tern_mc_format("%s at %s, others at %s; also alone, with %d of %d hosts%s",
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
static int count_lossy(const struct verdicts *verdicts, int host, bool receives, double limit,
                       double *ret_worst)
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
static void name_lossy_host(struct verdicts *verdicts, int host, bool receives, int lossy,
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
        verdicts->of[at(data, host, peer)] = verdicts->of[at(data, peer, host)] = EXPLAINED;
}

static void name_lossy_hosts(struct verdicts *verdicts, int *peers)
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
static void name_slow_hosts(struct verdicts *verdicts, int *peers)
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
static bool is_blame_open(const struct verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    bool sends = false, receives = false, send_busy = false, receive_busy = false;
    for (int other = 0; other < data->count; other++) {
        enum verdict sent = verdicts->of[at(data, from, other)],
                     received = verdicts->of[at(data, other, to)];
        sends |= sent == FINE;
        receives |= received == FINE;
        send_busy |= sent == TOO_BUSY;
        receive_busy |= received == TOO_BUSY;
    }
    return (!sends && send_busy) || (!receives && receive_busy);
}

static void note_open_pair(struct verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    char *have = tell_rate(tested(data, from, to));
    char *usual = tell_rate(usual_of(verdicts, from, to));
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, TERN_MC_NOTE, "pair.open", &from, 1,
        tern_mc_format("%s, others %s; the other pairs of the two were too busy to tell who is to "
                       "blame", have, usual),
        tern_mc_format("top (on %s); then mpicheck again", data->hosts[from].name));
    tern_mc_find_peers(finding, data, &to, 1, "->");
    free(have);
    free(usual);
}

static void name_slow_pairs(struct verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int from = 0; from < data->count; from++)
        for (int to = 0; to < data->count; to++) {
            if (verdicts->of[at(data, from, to)] != SLOW)
                continue;
            if (is_blame_open(verdicts, from, to)) {
                note_open_pair(verdicts, from, to);
                continue;
            }
            bool both = verdicts->of[at(data, to, from)] == SLOW;
            double rate = tested(data, from, to), others = usual_of(verdicts, from, to);
            char *have = tell_rate(rate), *usual = tell_rate(others);
            char *reason = tell_reason(data, from, worst_loss(data, from, &to, 1));
            struct tern_mc_finding *finding = tern_mc_find(
                verdicts->findings, data, TERN_MC_FAIL, "pair.slow", &from, 1,
                tern_mc_format("%s, others %s; also alone%s", have, usual, reason),
                tern_mc_format("tracepath -n; the switches between %s and %s",
                               data->hosts[from].name, data->hosts[to].name));
            tern_mc_find_peers(finding, data, &to, 1, both ? "<->" : "->");
            finding->value = rate;
            finding->expected = others;
            verdicts->of[at(data, from, to)] = EXPLAINED;
            if (both)
                verdicts->of[at(data, to, from)] = EXPLAINED;
            free(have);
            free(usual);
            free(reason);
        }
}

/* Names pairs that seem slow between hosts that lacked processors. A pair with a host that has a
 * fault of its own is left out: the fault is named, and says nothing against the other host. */
static void name_busy(struct verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int from = 0; from < data->count; from++)
        for (int to = 0; to < data->count; to++) {
            const char *load = tern_mc_fact(&data->hosts[from], "now.load");
            if (verdicts->of[at(data, from, to)] != TOO_BUSY ||
                tern_mc_is_named(verdicts->findings, NULL, from) ||
                tern_mc_is_named(verdicts->findings, NULL, to))
                continue;
            struct tern_mc_finding *finding = tern_mc_find(
                verdicts->findings, data, TERN_MC_NOTE, "pair.busy", &from, 1,
                tern_mc_format("could not be measured: the hosts are too busy (load %.4s)",
                               load ? load : "?"),
                tern_mc_format("top (on %s); then mpicheck again", data->hosts[from].name));
            tern_mc_find_peers(finding, data, &to, 1, "->");
        }
}

/* ---- groups ---- */

/* Finds a group whose pairs with all other hosts are slow, and not those among themselves, nor
 * those among the others: hosts behind another switch. Returns the number of its members, or 0. */
static int find_group(const struct verdicts *verdicts, int *ret_members)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int hosts = data->count, seed = -1, most = 0, inside = 0, slow_inside = 0, across = 0,
        slow_across = 0, members = 0;
    bool *other = tern_mc_alloc(hosts, sizeof *other);
    for (int a = 0; a < hosts; a++) {
        int count = 0;
        for (int b = 0; b < hosts; b++)
            count += a != b && (tern_mc_looks_slow(verdicts->speed, a, b) ||
                                tern_mc_looks_slow(verdicts->speed, b, a));
        if (count > most) {
            most = count;
            seed = a;
        }
    }
    for (int b = 0; seed >= 0 && b < hosts; b++)
        other[b] = b != seed && (tern_mc_looks_slow(verdicts->speed, seed, b) ||
                                 tern_mc_looks_slow(verdicts->speed, b, seed));
    for (int a = 0; a < hosts; a++)
        for (int b = 0; b < hosts; b++) {
            if (a == b || data->bandwidth[at(data, a, b)] == 0)
                continue;
            bool slow = tern_mc_looks_slow(verdicts->speed, a, b);
            *(other[a] == other[b] ? &inside : &across) += 1;
            *(other[a] == other[b] ? &slow_inside : &slow_across) += slow;
        }
    bool smaller = 2 * most < hosts; /* are the others fewer? */
    for (int i = 0; i < hosts; i++)
        if (other[i] == smaller)
            ret_members[members++] = i;
    free(other);
    bool is_group = members >= GROUP_LEAST && hosts - members >= GROUP_LEAST &&
                    slow_across >= 0.8 * across && slow_inside <= 0.2 * inside;
    return is_group ? members : 0;
}

static bool contains(const int *hosts, int count, int host)
{
    for (int i = 0; i < count; i++)
        if (hosts[i] == host)
            return true;
    return false;
}

/* Names a group if samples alone confirm it: slow across, and none of them good. */
static void name_group(struct verdicts *verdicts, int *members)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    int count = find_group(verdicts, members), slow = 0, fine = 0;
    double rate = 0;
    for (int i = 0; count > 0 && i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        enum verdict verdict = verdicts->of[at(data, alone->from, alone->to)];
        if (contains(members, count, alone->from) == contains(members, count, alone->to))
            continue;
        slow += verdict == SLOW;
        fine += verdict == FINE;
        double here = best_of(alone->bandwidth, alone->count);
        rate = here > rate ? here : rate;
    }
    if (slow < 2 || fine > 0)
        return;
    char *have = tell_rate(rate), *usual = tell_rate(exp(verdicts->speed->fit.all));
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, TERN_MC_FAIL, "group.slow", members, count,
        tern_mc_format("%s at most to and from all others, more among themselves (median of all "
                       "pairs: %s): a group, behind a slow link between switches?", have, usual),
        tern_mc_format("the uplink of the switch of %s", data->hosts[members[0]].name));
    finding->value = rate;
    free(have);
    free(usual);
    for (int i = 0; i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        if (contains(members, count, alone->from) != contains(members, count, alone->to))
            verdicts->of[at(data, alone->from, alone->to)] = EXPLAINED;
    }
}

/* ---- late pairs ---- */

static void name_late(struct verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    double limit = tern_mc_late(verdicts->usual_latency);
    for (int i = 0; verdicts->usual_latency > 0 && i < data->alone_count; i++) {
        const struct tern_mc_alone *alone = &data->alone[i];
        double least = least_of(alone->latency, alone->latency_count);
        if (alone->from > alone->to || alone->latency_count == 0 || least <= limit ||
            tern_mc_is_named(verdicts->findings, NULL, alone->from) ||
            tern_mc_is_named(verdicts->findings, NULL, alone->to) ||
            median_of(alone->share, alone->count) < enough_share)
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
    struct verdicts verdicts = {
        .speed = &speed,
        .findings = findings,
        .of = tern_mc_alloc((long)data->count * data->count, sizeof(uint8_t)),
        .lossy = tern_mc_alloc(data->count, sizeof(bool))};
    int *hosts = tern_mc_alloc(data->count, sizeof *hosts);
    verdicts.routes = find_routes(data);
    find_usual(&verdicts);
    judge_all(&verdicts);
    name_group(&verdicts, hosts);
    name_lossy_hosts(&verdicts, hosts);
    name_slow_hosts(&verdicts, hosts);
    name_slow_pairs(&verdicts);
    name_busy(&verdicts);
    name_late(&verdicts);
    free(verdicts.routes);
    free(verdicts.lossy);
    free(verdicts.of);
    free(hosts);
    tern_mc_speed_free(&speed);
}
