/* SPDX-License-Identifier: BSD-3-Clause */

/* Between hosts: what does not arrive, what arrives wrong, and by which interface. A host of which
 * most links are bad is named itself; other bad links are named as pairs. */
#include <stdlib.h>
#include <string.h>

#include "mpicheck/judge/findings.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/interfaces.h"
#include "mpicheck/data/medians.h"

enum { RESENT_LEAST = 10 };
static const double blamed_part = 0.6; /* of a host's links, if the host itself is named */
static const double odd_part = 0.25;   /* of a host's connections, beyond what others have */
static const uint8_t bad_bits = TERN_MC_BAD;

struct links {
    const struct tern_mc_data *data;
    struct tern_mc_findings *findings;
    bool *open; /* [a * count + b]: bad in either direction, and not explained yet */
    int hosts;  /* number of those that take part */
};

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

static uint8_t state_of(const struct tern_mc_data *data, int a, int b)
{
    return (data->state[at(data, a, b)] | data->state[at(data, b, a)]) & bad_bits;
}

/* Returns the address by which other hosts reach this one: the one its connections use, or the
 * first that it has; "?" if none is known. The caller frees it. */
static char *address_of(const struct tern_mc_host *host)
{
    if (host->socket_count > 0)
        return tern_mc_format("%s", host->sockets[0].own);
    for (int i = 0; i < host->fact_count; i++)
        if (strncmp(host->facts[i].key, "addr.", 5) == 0)
            return tern_mc_format("%.*s", (int)strcspn(host->facts[i].value, "/"),
                                  host->facts[i].value);
    return tern_mc_format("%s", host->name);
}

/* What happens between two hosts, in words. */
static char *describe(const struct tern_mc_data *data, int a, int b)
{
    uint8_t state = state_of(data, a, b);
    uint8_t to = data->state[at(data, a, b)], back = data->state[at(data, b, a)];
    const char *text = data->texts[at(data, a, b)], *other = data->texts[at(data, b, a)];
    text = text ? text : other;
    if (state & TERN_MC_DEAD_FIRST)
        return tern_mc_format("no connection: nothing arrives in either of two tries%s%s",
                              text ? ": " : "", text ? text : "");
    bool one_way = !(to & bad_bits) != !(back & bad_bits);
    const char *from = data->hosts[to & bad_bits ? a : b].name;
    if (state & TERN_MC_DEAD_LONG)
        return one_way ? tern_mc_format("short messages arrive, those of 32 KiB from %s do not: "
                                        "packets of full size are lost", from)
                       : tern_mc_format("short messages arrive, those of 32 KiB do not: packets of "
                                        "full size are lost");
    if (state & TERN_MC_BROKEN)
        return tern_mc_format("the connection was lost in the middle%s%s", text ? ": " : "",
                              text ? text : "");
    return tern_mc_format("messages stop in the middle: a stage did not end in time");
}

static char *advise(const struct tern_mc_data *data, int a, int b)
{
    char *theirs = address_of(&data->hosts[b]), *next;
    if (state_of(data, a, b) & TERN_MC_DEAD_FIRST)
        next = tern_mc_format("ip route get %s; nft list ruleset (on %s)", theirs,
                              data->hosts[a].name);
    else
        next = tern_mc_format("tracepath -n %s (on %s): the MTU of each hop; ip link", theirs,
                              data->hosts[a].name);
    free(theirs);
    return next;
}

/* ---- bad links ---- */

static int open_links(const struct links *links, int host, int *ret_peers)
{
    int count = 0;
    for (int peer = 0; peer < links->data->count; peer++)
        if (links->open[at(links->data, host, peer)])
            ret_peers[count++] = peer;
    return count;
}

static void close_links(struct links *links, int host, const int *peers, int count)
{
    for (int i = 0; i < count; i++) {
        links->open[at(links->data, host, peers[i])] = false;
        links->open[at(links->data, peers[i], host)] = false;
    }
}

/* Names hosts most of whose links are bad, the worst one first. */
static void name_hosts(struct links *links, int *peers)
{
    for (;;) {
        int worst = -1, most = 0;
        for (int host = 0; host < links->data->count; host++) {
            int count = open_links(links, host, peers);
            if (count > most) {
                most = count;
                worst = host;
            }
        }
        if (most < 2 || most < blamed_part * (links->hosts - 1))
            return;
        open_links(links, worst, peers);
        char *how = describe(links->data, worst, peers[0]);
        tern_mc_find(links->findings, links->data, TERN_MC_FAIL, "link.host", &worst, 1,
                     tern_mc_format("with %d of %d hosts: %s", most, links->hosts - 1, how),
                     advise(links->data, peers[0], worst));
        free(how);
        close_links(links, worst, peers, most);
    }
}

/* Names the other pairs, those of one host in one line. */
static void name_pairs(struct links *links, int *peers)
{
    for (;;) {
        int worst = -1, most = 0;
        for (int host = 0; host < links->data->count; host++) {
            int count = open_links(links, host, peers);
            if (count > most) {
                most = count;
                worst = host;
            }
        }
        if (most == 0)
            return;
        open_links(links, worst, peers);
        struct tern_mc_finding *finding =
            tern_mc_find(links->findings, links->data, TERN_MC_FAIL, "link.pair", &worst, 1,
                         describe(links->data, worst, peers[0]),
                         advise(links->data, worst, peers[0]));
        tern_mc_find_peers(finding, links->data, peers, most, "<->");
        close_links(links, worst, peers, most);
    }
}

static void judge_bad_links(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    struct links links = {.data = data,
                          .findings = findings,
                          .open = tern_mc_alloc((long)data->count * data->count, sizeof(bool))};
    int *peers = tern_mc_alloc(data->count, sizeof *peers);
    for (int a = 0; a < data->count; a++) {
        links.hosts += !data->hosts[a].gone;
        for (int b = 0; b < data->count; b++)
            links.open[at(data, a, b)] = a != b && state_of(data, a, b) &&
                                         !tern_mc_is_named(findings, "address.twice", a) &&
                                         !tern_mc_is_named(findings, "address.twice", b);
    }
    name_hosts(&links, peers);
    name_pairs(&links, peers);
    free(links.open);
    free(peers);
}

/* ---- wrong data ---- */

/* Lists the hosts with which a host has wrong data: those that send it (`receives`), or those to
 * which it sends. */
static int wrong_peers(const struct tern_mc_data *data, const bool *open, int host, bool receives,
                       int *ret_peers)
{
    int count = 0;
    for (int peer = 0; peer < data->count; peer++)
        if (open[receives ? at(data, peer, host) : at(data, host, peer)])
            ret_peers[count++] = peer;
    return count;
}

static void name_wrong(const struct tern_mc_data *data, struct tern_mc_findings *findings, int host,
                       bool receives, const int *peers, int count)
{
    struct tern_mc_finding *finding = tern_mc_find(
        findings, data, TERN_MC_DATA, "data.wrong", &host, 1,
        tern_mc_format("wrong bytes in what %s: do not use %s",
                       count > 1 && receives ? "it receives"
                       : count > 1           ? "it sends"
                                             : "passes",
                       count > 1 ? "this host" : "the two"),
        tern_mc_format("edac-util; ethtool -S (on %s): memory, card, cable; mpicheck --soak 10",
                       data->hosts[host].name));
    if (count == 1)
        tern_mc_find_peers(finding, data, peers, count, receives ? "<-" : "->");
}

/* Names the host with the most wrong pairs, until all are explained. */
static void judge_data(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    bool *open = tern_mc_alloc((long)data->count * data->count, sizeof *open);
    int *peers = tern_mc_alloc(data->count, sizeof *peers);
    for (size_t i = 0; i < (size_t)data->count * (size_t)data->count; i++)
        open[i] = data->state[i] & TERN_MC_WRONG;
    for (;;) {
        int most = 0, worst = -1;
        bool receives = false;
        for (int host = 0; host < data->count; host++)
            for (int way = 0; way < 2; way++) {
                int count = wrong_peers(data, open, host, way, peers);
                if (count > most) {
                    most = count;
                    worst = host;
                    receives = way;
                }
            }
        if (most == 0)
            break;
        wrong_peers(data, open, worst, receives, peers);
        name_wrong(data, findings, worst, receives, peers, most);
        for (int i = 0; i < most; i++)
            open[receives ? at(data, peers[i], worst) : at(data, worst, peers[i])] = false;
    }
    free(open);
    free(peers);
}

/* ---- interfaces ---- */

/* Returns which part of a host's connections goes by an interface; -1 if it has none. */
static double part_by(const struct tern_mc_host *host, const char *nic)
{
    int count = 0;
    for (int i = 0; i < host->socket_count; i++)
        count += strcmp(host->sockets[i].nic, nic) == 0;
    return host->socket_count ? (double)count / host->socket_count : -1;
}

static double median_part(const struct tern_mc_data *data, const char *nic)
{
    double *parts = tern_mc_alloc(data->count, sizeof *parts);
    int count = 0;
    for (int i = 0; i < data->count; i++) {
        double part = part_by(&data->hosts[i], nic);
        if (part >= 0)
            parts[count++] = part;
    }
    double median = tern_mc_median(parts, count);
    free(parts);
    return median;
}

/* Names hosts that use an interface more than most hosts do, and therefore another one less. An
 * interface is chosen for each connection, by the end that calls: so other hosts, too, have a few
 * connections by it. */
static void judge_interfaces(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    struct tern_mc_nics nics;
    tern_mc_nics_find(data, &nics);
    for (int k = 0; k < nics.count && data->count > 2; k++) {
        double median = median_part(data, nics.names[k]);
        for (int i = 0; i < data->count; i++) {
            const struct tern_mc_host *host = &data->hosts[i];
            double part = part_by(host, nics.names[k]);
            if (part < median + odd_part || tern_mc_is_named(findings, NULL, i) ||
                tern_mc_is_silent(host))
                continue;
            tern_mc_find(findings, data, TERN_MC_WARN, "path.odd", &i, 1,
                         tern_mc_format("%.0f %% of its connections go by %s; of those of most "
                                        "hosts %.0f %%", 100 * part, nics.names[k], 100 * median),
                         tern_mc_format("ip address; ip route (on %s); btl_tcp_if_include chooses",
                                        host->name));
        }
    }
}

/* ---- loss ---- */

double tern_mc_loss(const struct tern_mc_data *data, int from, int to)
{
    const struct tern_mc_host *host = &data->hosts[from];
    double segments = 0, resent = 0;
    for (int i = 0; i < host->socket_count; i++) {
        if (host->sockets[i].resent == 0 ||
            !tern_mc_has_address(&data->hosts[to], host->sockets[i].other))
            continue;
        segments += host->sockets[i].segments;
        resent += host->sockets[i].resent;
    }
    return resent >= RESENT_LEAST && segments > 0 ? resent / segments : 0;
}

/* ---- calls ---- */

/* Names pairs of which only one can call the other: messages arrive, but a connection may wait
 * until the one that can has called. */
static void judge_calls(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    for (int from = 0; from < data->count; from++)
        for (int to = 0; to < data->count; to++) {
            uint8_t there = data->state[at(data, from, to)], back = data->state[at(data, to, from)];
            if (!(there & TERN_MC_UNCALLED) || back & TERN_MC_UNCALLED)
                continue;
            const char *why = data->texts[at(data, from, to)];
            char *theirs = address_of(&data->hosts[to]);
            struct tern_mc_finding *finding = tern_mc_find(
                findings, data, TERN_MC_WARN, "link.one_way", &from, 1,
                tern_mc_format("calls are not answered (%s), the other way they are: a firewall in "
                               "one direction? Connections may come late", why ? why : "?"),
                tern_mc_format("nft list ruleset (on %s); ip route get %s (on %s)",
                               data->hosts[to].name, theirs, data->hosts[from].name));
            tern_mc_find_peers(finding, data, &to, 1, "->");
            free(theirs);
        }
}

void tern_mc_judge_links(const struct tern_mc_data *data, struct tern_mc_findings *findings)
{
    judge_data(data, findings);
    judge_bad_links(data, findings);
    judge_calls(data, findings);
    judge_interfaces(data, findings);
}
