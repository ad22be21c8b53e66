/* SPDX-License-Identifier: BSD-3-Clause */

/* Groups of hosts, and many slow hosts at once. The tournament finds the groups; samples of some
 * pairs alone confirm that the links between groups are slow. */
#include <stdlib.h>
#include <string.h>

#include "mpicheck/data/fold.h"
#include "mpicheck/judge/verdicts.h"

enum { ACROSS_LEAST = 16, NAMED_MOST = 3, WHO_MOST = 100 };
static const double most_part = 0.8;       /* of the pairs of a direction that must be slow */
static const double clear_ratio = 1.0 / 3; /* of the bandwidth inside, if nothing is confirmed */

/* What is known of the pairs from some hosts to others. */
struct way {
    int pairs, slow;         /* in the tournament */
    int confirmed, fine;     /* alone */
    double most;             /* MB/s, the best of those alone, else of the slow ones */
};

static size_t at(const struct tern_mc_data *data, int a, int b)
{
    return (size_t)a * (size_t)data->count + (size_t)b;
}

/* Returns true if pairs across groups were measured alone. */
static bool is_tested(const struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    for (int i = 0; i < data->alone_count; i++)
        if (data->alone[i].count > 0 &&
            !tern_mc_groups_joins(&verdicts->speed->groups, data->alone[i].from, data->alone[i].to))
            return true;
    return false;
}

/* Returns the rate of a pair alone; if none was measured alone, that of a slow pair; else 0. */
static double rate_of(const struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    if (verdicts->groups_tested)
        return tern_mc_tested(data, from, to);
    return tern_mc_looks_slow(verdicts->speed, from, to)
               ? (double)data->bandwidth[at(data, from, to)] : 0;
}

/* Looks at the pairs from one group to another one; -1: all other groups. */
static struct way look(const struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    const int *of = verdicts->speed->groups.of;
    struct way way = {0};
    for (int a = 0; a < data->count; a++)
        for (int b = 0; b < data->count; b++) {
            bool fits = of[a] >= 0 && of[b] >= 0 && of[a] != of[b] && (from < 0 || of[a] == from) &&
                        (to < 0 || of[b] == to);
            if (!fits || data->bandwidth[at(data, a, b)] == 0)
                continue;
            way.pairs++;
            way.slow += tern_mc_looks_slow(verdicts->speed, a, b);
            way.confirmed += verdicts->of[at(data, a, b)] == TERN_MC_SLOW;
            way.fine += verdicts->of[at(data, a, b)] == TERN_MC_FINE;
            double rate = rate_of(verdicts, a, b);
            way.most = rate > way.most ? rate : way.most;
        }
    return way;
}

static bool looks_slow(const struct way *way)
{
    return way->pairs > 0 && way->slow >= most_part * way->pairs;
}

static bool is_confirmed(const struct way *way)
{
    return looks_slow(way) && way->confirmed >= 2 && way->fine == 0;
}

/* Returns true if so many pairs are so slow that no chance explains it, though none of them was
 * measured alone. */
static bool is_plain(const struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    const struct tern_mc_groups *groups = &verdicts->speed->groups;
    int across = 0;
    if (verdicts->groups_tested)
        return false;
    for (int a = 0; a < data->count; a++)
        for (int b = 0; b < data->count; b++)
            across += a != b && !tern_mc_groups_joins(groups, a, b) &&
                      data->bandwidth[at(data, a, b)] > 0;
    return across >= ACROSS_LEAST && groups->across < clear_ratio * groups->inside;
}

/* Marks the slow pairs from one group to another one; -1: all groups, or all hosts. */
static void explain(struct tern_mc_verdicts *verdicts, int from, int to)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    const int *of = verdicts->speed->groups.of;
    for (int i = 0; i < data->alone_count; i++) {
        int a = data->alone[i].from, b = data->alone[i].to;
        uint8_t *verdict = &verdicts->of[at(data, a, b)];
        bool slow = *verdict == TERN_MC_SLOW || *verdict == TERN_MC_BUSY;
        if (slow && of[a] != of[b] && (from < 0 || of[a] == from) && (to < 0 || of[b] == to))
            *verdict = TERN_MC_EXPLAINED;
    }
}

/* ---- one group, or a few, beside the others ---- */

/* Names a group whose pairs with all others are slow, if samples alone confirm it. */
static void name_group(struct tern_mc_verdicts *verdicts, int group, int *members)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    const struct tern_mc_groups *groups = &verdicts->speed->groups;
    struct way sent = look(verdicts, group, -1), received = look(verdicts, -1, group);
    bool plain = is_plain(verdicts), sends = plain ? looks_slow(&sent) : is_confirmed(&sent);
    bool receives = plain ? looks_slow(&received) : is_confirmed(&received);
    if (!sends && !receives)
        return;
    const char *direction = !receives ? "to" : !sends ? "from" : "to and from";
    double rate = 0;
    if (sends && sent.most > rate)
        rate = sent.most;
    if (receives && received.most > rate)
        rate = received.most;
    char *have = tern_mc_tell_rate(rate), *usual = tern_mc_tell_rate(groups->inside);
    int count = tern_mc_groups_members(groups, data->count, group, members);
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, plain ? TERN_MC_WARN : TERN_MC_FAIL, "group.slow", members, count,
        tern_mc_format("%s at most %s all others, %s among themselves: a group, behind a slow link "
                       "between switches?%s", have, direction, usual,
                       plain ? " Not measured alone" : ""),
        tern_mc_format("the uplink of the switch of %s", data->hosts[members[0]].name));
    finding->value = rate;
    finding->expected = groups->inside;
    free(have);
    free(usual);
    if (sends)
        explain(verdicts, group, -1);
    if (receives)
        explain(verdicts, -1, group);
}

/* ---- groups of which none is the usual one ---- */

/* Returns the names of all groups, with an arrow between them. The caller frees the text. */
static char *name_all(const struct tern_mc_data *data, const struct tern_mc_groups *groups,
                      const char *arrow, int *members)
{
    char *text = tern_mc_format("%s", "");
    for (int g = 0; g < groups->count; g++) {
        int count = tern_mc_groups_members(groups, data->count, g, members);
        char *names = tern_mc_names(data, members, count, WHO_MOST / 2);
        bool full = strlen(text) > WHO_MOST;
        char *longer = full ? tern_mc_format("%s %s ... (%d groups)", text, arrow, groups->count)
                            : tern_mc_format("%s%s%s%s%s", text, g ? " " : "", g ? arrow : "",
                                             g ? " " : "", names);
        free(names);
        free(text);
        text = longer;
        if (full)
            break;
    }
    return text;
}

/* Names groups that have a slow link between them: nobody can say which one is to blame. */
static void name_split(struct tern_mc_verdicts *verdicts, int *members)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    const struct tern_mc_groups *groups = &verdicts->speed->groups;
    bool two = groups->count == 2, plain = is_plain(verdicts);
    struct way there = look(verdicts, two ? 0 : -1, -1), back = look(verdicts, two ? 1 : -1, -1);
    bool to = plain ? looks_slow(&there) : is_confirmed(&there);
    bool from = plain ? looks_slow(&back) : is_confirmed(&back);
    if (!to && !from)
        return;
    double rate = 0;
    rate = to && there.most > rate ? there.most : rate;
    rate = from && back.most > rate ? back.most : rate;
    char *have = tern_mc_tell_rate(rate), *usual = tern_mc_tell_rate(groups->inside);
    int count = tern_mc_groups_members(groups, data->count, 0, members), others = 0;
    const char *first = data->hosts[members[0]].name;
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, plain ? TERN_MC_WARN : TERN_MC_FAIL, "group.slow", members, count,
        tern_mc_format("%s at most between these groups, %s (%.0f times more) inside; %s. A slow "
                       "link between switches?", have, usual, groups->inside / rate,
                       plain ? "not measured alone" : "also alone"), NULL);
    for (int i = 0; i < data->count; i++)
        if (groups->of[i] > 0)
            members[others++] = i;
    finding->next = tern_mc_format("tracepath -n; the link between the switches of %s and %s",
                                   first, data->hosts[members[0]].name);
    tern_mc_find_peers(finding, data, members, others, "<->");
    free(finding->who);
    finding->who = name_all(data, groups, to && from ? "<->" : to ? "->" : "<-", members);
    finding->value = rate;
    finding->expected = groups->inside;
    free(have);
    free(usual);
    explain(verdicts, -1, -1);
}

/* ---- many slow hosts ---- */

/* Looks at the pairs of a slow host with the members of the one group. */
static struct way look_at(const struct tern_mc_verdicts *verdicts, int host, bool receives)
{
    const struct tern_mc_data *data = verdicts->speed->data;
    struct way way = {0};
    for (int peer = 0; peer < data->count; peer++) {
        int from = receives ? peer : host, to = receives ? host : peer;
        size_t pair = at(data, from, to);
        if (verdicts->speed->groups.of[peer] < 0 || data->bandwidth[pair] == 0)
            continue;
        way.pairs++;
        way.slow += tern_mc_looks_slow(verdicts->speed, from, to);
        way.confirmed += verdicts->of[pair] == TERN_MC_SLOW;
        way.fine += verdicts->of[pair] == TERN_MC_FINE;
        double rate = rate_of(verdicts, from, to);
        way.most = rate > way.most ? rate : way.most;
    }
    return way;
}

/* Returns what is slow of a single host: it sends (1), receives (2), both (3), nothing (0). */
static int kind_of(const struct tern_mc_verdicts *verdicts, int host)
{
    struct way sent = look_at(verdicts, host, false), received = look_at(verdicts, host, true);
    return (looks_slow(&sent) && sent.fine == 0 ? 1 : 0) +
           (looks_slow(&received) && received.fine == 0 ? 2 : 0);
}

/* Returns true if nearly all hosts outside of the one group are slow. Else it was chance that they
 * seemed so, and those that are slow are found one by one. */
static bool are_unlike(const struct tern_mc_verdicts *verdicts)
{
    int singles = 0, slow = 0;
    for (int i = 0; i < verdicts->speed->data->count; i++)
        if (verdicts->speed->groups.of[i] == TERN_MC_SINGLE) {
            singles++;
            slow += kind_of(verdicts, i) != 0;
        }
    return slow >= most_part * singles;
}

/* Names the slow hosts that send slowly, receive slowly, or both: bits 1 and 2 of `kind`. */
static void name_unlike(struct tern_mc_verdicts *verdicts, int kind, int *hosts)
{
    static const char *const verbs[] = {"", "send", "receive", "send and receive"};
    const struct tern_mc_data *data = verdicts->speed->data;
    const struct tern_mc_groups *groups = &verdicts->speed->groups;
    bool plain = is_plain(verdicts);
    int count = 0, confirmed = 0;
    double rate = 0;
    for (int i = 0; i < data->count; i++) {
        if (groups->of[i] != TERN_MC_SINGLE || kind_of(verdicts, i) != kind)
            continue;
        struct way sent = look_at(verdicts, i, false), received = look_at(verdicts, i, true);
        bool sends = kind & 1, receives = kind & 2;
        hosts[count++] = i;
        confirmed += (sends ? sent.confirmed : 0) + (receives ? received.confirmed : 0);
        rate = sends && sent.most > rate ? sent.most : rate;
        rate = receives && received.most > rate ? received.most : rate;
    }
    if (count == 0 || (!plain && confirmed < 2))
        return;
    int fast = groups->sizes[0];
    bool most_are_fast = 2 * fast >= groups->hosts && fast > 2;
    char *have = tern_mc_tell_rate(rate), *usual = tern_mc_tell_rate(groups->inside);
    int *others = tern_mc_alloc(data->count, sizeof *others);
    tern_mc_groups_members(groups, data->count, 0, others);
    char *names = tern_mc_names(data, others, fast, WHO_MOST / 2);
    struct tern_mc_finding *finding = tern_mc_find(
        verdicts->findings, data, most_are_fast && !plain ? TERN_MC_FAIL : TERN_MC_WARN,
        "hosts.slow", hosts, count,
        tern_mc_format("%s at %s at most, %s among themselves at %s; %s", verbs[kind], have, names,
                       usual,
                       plain ? "not measured alone" : "some of them also alone"),
        tern_mc_format("ethtool; ethtool -S; tc qdisc (on %s and %s): card, speed, switch",
                       data->hosts[hosts[0]].name, data->hosts[others[0]].name));
    finding->value = rate;
    finding->expected = groups->inside;
    for (int i = 0; i < count; i++)
        for (int peer = 0; peer < data->count; peer++) {
            if (kind & 1)
                verdicts->of[at(data, hosts[i], peer)] = TERN_MC_EXPLAINED;
            if (kind & 2)
                verdicts->of[at(data, peer, hosts[i])] = TERN_MC_EXPLAINED;
        }
    free(have);
    free(usual);
    free(names);
    free(others);
}

void tern_mc_name_groups(struct tern_mc_verdicts *verdicts)
{
    const struct tern_mc_groups *groups = &verdicts->speed->groups;
    int *hosts = tern_mc_alloc(verdicts->speed->data->count, sizeof *hosts);
    verdicts->groups_tested = is_tested(verdicts);
    int usual = groups->kinds == TERN_MC_SPLIT ? tern_mc_groups_main(groups) : -1;
    if (usual >= 0 && groups->count - 1 <= NAMED_MOST) {
        for (int g = 0; g < groups->count; g++)
            if (g != usual)
                name_group(verdicts, g, hosts);
    } else if (groups->kinds == TERN_MC_SPLIT) {
        name_split(verdicts, hosts);
    } else if (groups->kinds == TERN_MC_UNLIKE && are_unlike(verdicts)) {
        for (int kind = 3; kind > 0; kind--)
            name_unlike(verdicts, kind, hosts);
    }
    free(hosts);
}
