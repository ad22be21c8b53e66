/* SPDX-License-Identifier: BSD-3-Clause */

/* The network: who reaches whom, clocks, all pairs, suspicious pairs alone, all hosts together. A
 * pair that hangs a job is left out, and the job runs again without it. */
#include <stdlib.h>
#include <string.h>

#include "mpicheck/measure/checkup.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/interfaces.h"

enum { REACH_LIMIT_S = 5, REACH_TRIES = 4, BUSY_LIMIT_S = 15, RESTARTS = 6, DEAD_MOST = 5000,
       QUICK_ROUNDS = 40, SAMPLES = 5, SAMPLES_FULL = 9, ALONE_MS = 30, RETRIES = 1, STARTS = 2 };
static const double start_s = 30, per_host_s = 0.1, round_s = 2, item_s = 1;

/* Hosts that take part in the next job. */
struct party {
    struct tern_mc_check *check;
    int *hosts;
    int count;
    /* pairs that are measured alone */
    int items[TERN_MC_SUSPECTS_MOST][2];
    int item_count;
};

/* ---- who takes part ---- */

static int dead_of(const struct party *party, int index)
{
    int dead = 0;
    for (int i = 0; i < party->count; i++)
        dead += i != index &&
                !tern_mc_linked(party->check->data, party->hosts[index], party->hosts[i]);
    return dead;
}

static int all_dead(const struct party *party)
{
    int sum = 0;
    for (int i = 0; i < party->count; i++)
        sum += dead_of(party, i);
    return sum / 2;
}

static void drop(struct party *party, int index)
{
    party->count--;
    memmove(party->hosts + index, party->hosts + index + 1,
            (size_t)(party->count - index) * sizeof *party->hosts);
}

/* Drops the host with the most dead links. */
static void drop_worst(struct party *party)
{
    int worst = 0, most = -1;
    for (int i = 0; i < party->count; i++) {
        int dead = dead_of(party, i);
        if (dead > most) {
            most = dead;
            worst = i;
        }
    }
    drop(party, worst);
}

/* Moves the host with the fewest dead links to the front: rank 0 leads. */
static void choose_leader(struct party *party)
{
    int best = 0, least = party->count;
    for (int i = 0; i < party->count; i++) {
        int dead = dead_of(party, i);
        if (dead < least) {
            least = dead;
            best = i;
        }
    }
    if (party->count == 0)
        return;
    int leader = party->hosts[best];
    memmove(party->hosts + 1, party->hosts, (size_t)best * sizeof *party->hosts);
    party->hosts[0] = leader;
}

/* Gathers the hosts that are here, less those that reach no other one. */
static void gather(struct party *party)
{
    const struct tern_mc_data *data = party->check->data;
    party->count = 0;
    for (int i = 0; i < data->count; i++)
        if (!data->hosts[i].gone)
            party->hosts[party->count++] = i;
    for (int i = party->count - 1; i >= 0 && party->count > 1; i--)
        if (dead_of(party, i) == party->count - 1)
            drop(party, i);
    while (all_dead(party) > DEAD_MOST)
        drop_worst(party);
    choose_leader(party);
}

/* Returns the pairs that must not exchange messages, as a word for the probe. The caller frees
 * it. */
static char *tell_dead(const struct party *party)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    bool first = true;
    for (int a = 0; out && a < party->count; a++)
        for (int b = a + 1; b < party->count; b++) {
            if (tern_mc_linked(party->check->data, party->hosts[a], party->hosts[b]))
                continue;
            fprintf(out, "%s%d-%d", first ? "" : ",", party->hosts[a], party->hosts[b]);
            first = false;
        }
    if (out)
        fclose(out);
    return text;
}

/* ---- jobs that may hang ---- */

static bool is_answered(const struct tern_mc_step *step, const struct tern_mc_hang *hang)
{
    for (int i = 0; i < step->hang_count; i++)
        if (step->hangs[i].host == hang->peer && step->hangs[i].peer == hang->host)
            return true;
    return false;
}

/* Returns true if one of the two lacked processors: then a stage that takes long is no fault of
 * their connection. */
static bool is_slow(const struct tern_mc_step *step, const struct tern_mc_hang *hang)
{
    for (int i = 0; i < step->slow_count; i++)
        if (step->slow_hosts[i] == hang->host || step->slow_hosts[i] == hang->peer)
            return true;
    return false;
}

/* Records which pairs were stuck. One that only waited for its partner to come may have waited for
 * another pair: it counts if both ends say so, or if nobody else is to blame. Returns their
 * number: 0 if the hosts were too busy. */
static int record_hangs(struct tern_mc_check *check, const struct tern_mc_step *step)
{
    int kept = 0;
    for (int i = 0; i < step->hang_count; i++) {
        const struct tern_mc_hang *hang = &step->hangs[i];
        if (hang->host == hang->peer || (hang->is_meet && !is_answered(step, hang)) ||
            is_slow(step, hang))
            continue;
        tern_mc_record(check, "%s", hang->record);
        kept++;
    }
    for (int i = 0; kept == 0 && step->slow_count == 0 && i < step->hang_count; i++)
        if (step->hangs[i].host != step->hangs[i].peer) {
            tern_mc_record(check, "%s", step->hangs[i].record);
            kept++;
        }
    return kept;
}

static void record_end(struct tern_mc_check *check, const struct tern_mc_step *step, double begin,
                       const char *name)
{
    double took = tern_mc_now() - begin;
    if (step->end == TERN_MC_DONE && step->answers >= step->count)
        tern_mc_record(check, "phase %s %.3f done", name, took);
    else if (step->end == TERN_MC_INTERRUPTED)
        tern_mc_record(check, "phase %s %.3f interrupted", name, took);
    else if (step->end == TERN_MC_TIMEOUT)
        tern_mc_record(check, "phase %s %.3f failed: it did not end in %.0f s", name, took,
                       step->limit_s);
    else if (step->end == TERN_MC_STUCK)
        tern_mc_record(check, "phase %s %.3f failed: messages stopped again and again%s", name,
                       took, step->slow_count ? "; the hosts are too busy" : "");
    else
        tern_mc_record(check, "phase %s %.3f failed: %s", name, took,
                       *step->why ? step->why : "the job ended early");
}

/* Runs a job of the party. When a pair is stuck, and when a host is lost, runs it again without.
 * `choose` says who takes part; it is called before each try. Returns true if the job has ended
 * well. */
static bool run_party(struct party *party, struct tern_mc_step *step, const char *name,
                      void (*choose)(struct party *), int least)
{
    struct tern_mc_check *check = party->check;
    double begin = tern_mc_now();
    int starts = 0;
    step->end = TERN_MC_FAILED;
    for (int try = 0; try < RESTARTS; try++) {
        choose(party);
        if (party->count < least) {
            tern_mc_record(check, "phase %s %.3f skipped: fewer than %d hosts reach each other",
                           name, tern_mc_now() - begin, least);
            return false;
        }
        char *dead = tell_dead(party);
        step->hosts = party->hosts;
        step->count = party->count;
        step->dead = dead;
        tern_mc_step_run(check, step);
        step->dead = NULL;
        free(dead);
        if (step->end == TERN_MC_STUCK) {
            if (record_hangs(check, step) == 0)
                step->stage_s = step->stage_s ? 2 * step->stage_s : BUSY_LIMIT_S;
        } else if (step->end != TERN_MC_FAILED || ++starts >= STARTS ||
                   !tern_mc_lost_hosts(check)) {
            break;
        }
    }
    record_end(check, step, begin, name);
    return step->end == TERN_MC_DONE && step->answers >= step->count;
}

static char *tell_limits(const struct tern_mc_check *check)
{
    const struct tern_mc_options *options = check->options;
    return tern_mc_format("%s%s", options->quick  ? "ms=10"
                                  : options->full ? "ms=50 verify"
                                                  : "ms=20",
                          options->fakes ? " limit=30" : "");
}

/* ---- reach, clock, pairs ---- */

static void everybody(struct party *party)
{
    const struct tern_mc_data *data = party->check->data;
    party->count = 0;
    for (int i = 0; i < data->count; i++)
        if (!data->hosts[i].gone)
            party->hosts[party->count++] = i;
}

static bool is_pair_dead(const struct tern_mc_data *data)
{
    for (size_t i = 0; i < (size_t)data->count * (size_t)data->count; i++)
        if (data->state[i] & TERN_MC_BAD)
            return true;
    return false;
}

/* Returns true if all ranks have begun at about the same time, for a limit of `limit_s`: whoever
 * begins late seems dead to the others. */
static bool began_together(const struct tern_mc_step *step, int limit_s)
{
    return step->last_here - step->first_here < limit_s / 2.0;
}

/* Hosts that do not reach each other are asked again: one may have been slow to start. */
static bool phase_reach(struct party *party)
{
    struct tern_mc_check *check = party->check;
    struct tern_mc_step step = {.phase = "reach",
                                .stage_s = check->options->fakes ? 30 : REACH_LIMIT_S};
    bool done = false;
    everybody(party);
    for (int try = 0; try < REACH_TRIES; try++) {
        int limit_s = step.stage_s;
        step.limit_s = start_s + per_host_s * party->count + 2 * limit_s;
        if (try > 0)
            tern_mc_record(check, "reach");
        done = run_party(party, &step, "reach", everybody, 2);
        if (!done || !is_pair_dead(check->data) || tern_mc_interrupted() ||
            (try > 0 && began_together(&step, limit_s)))
            break;
        /* those that begin late get more time */
        step.stage_s = limit_s + (int)(3 * (step.last_here - step.first_here));
    }
    return done;
}

static void phase_clock(struct party *party)
{
    struct tern_mc_step step = {.phase = "clock",
                                .limit_s = start_s + per_host_s * party->check->data->count};
    run_party(party, &step, "clock", gather, 2);
}

/* Returns the interfaces that the hosts' connections use, as a word for the probe with a space
 * before it; "" if there are not several. The caller frees it. */
static char *tell_nics(const struct tern_mc_data *data)
{
    struct tern_mc_nics nics;
    tern_mc_nics_find(data, &nics);
    char *text = tern_mc_format("%s", "");
    for (int i = 0; nics.count > 1 && i < nics.count; i++) {
        char *longer = tern_mc_format("%s%s%s", text, i ? "," : " nics=", nics.names[i]);
        free(text);
        text = longer;
    }
    return text;
}

static void phase_pairs(struct party *party)
{
    const struct tern_mc_options *options = party->check->options;
    char *limits = tell_limits(party->check), *nics = tell_nics(party->check->data);
    char *more = options->quick ? tern_mc_format("%s rounds=%d%s", limits, QUICK_ROUNDS, nics)
                                : tern_mc_format("%s%s", limits, nics);
    int rounds = options->quick && party->check->data->count > QUICK_ROUNDS
                     ? QUICK_ROUNDS
                     : party->check->data->count;
    struct tern_mc_step step = {
        .phase = "pairs", .more = more, .limit_s = start_s + round_s * rounds};
    run_party(party, &step, "pairs", gather, 2);
    free(limits);
    free(nics);
    free(more);
}

/* ---- alone ---- */

static bool is_member(const struct party *party, int host)
{
    for (int i = 0; i < party->count; i++)
        if (party->hosts[i] == host)
            return true;
    return false;
}

static bool reaches_all(const struct party *party, int host)
{
    for (int i = 0; i < party->count; i++)
        if (party->hosts[i] != host &&
            !tern_mc_linked(party->check->data, host, party->hosts[i]))
            return false;
    return true;
}

/* Chooses the hosts of the items, and as their leader a host that reaches all of them. If there is
 * none, the last items are left out. */
static void choose_alone(struct party *party)
{
    const struct tern_mc_data *data = party->check->data;
    for (;; party->item_count--) {
        party->count = 0;
        for (int i = 0; i < party->item_count; i++)
            for (int k = 0; k < 2; k++)
                if (!is_member(party, party->items[i][k]))
                    party->hosts[party->count++] = party->items[i][k];
        for (int host = 0; host < data->count; host++) {
            if (data->hosts[host].gone || party->count == 0 || !reaches_all(party, host))
                continue;
            if (!is_member(party, host))
                party->hosts[party->count++] = host;
            choose_leader(party);
            return;
        }
        if (party->item_count <= 0)
            return;
    }
}

static char *tell_items(const struct party *party)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (int i = 0; out && i < party->item_count; i++)
        fprintf(out, "%s%d-%d", i ? "," : "", party->items[i][0], party->items[i][1]);
    if (out)
        fclose(out);
    return text;
}

/* Returns true if what was measured so far accuses somebody, or leaves it open. */
static bool is_doubtful(const struct tern_mc_check *check)
{
    struct tern_mc_findings findings = {0};
    tern_mc_judge_speed(check->data, &check->expected, &findings);
    bool doubtful = findings.count > 0;
    tern_mc_findings_free(&findings);
    return doubtful;
}

static void phase_alone(struct party *party)
{
    struct tern_mc_check *check = party->check;
    party->item_count = tern_mc_suspects(check->data, &check->expected, party->items);
    if (party->item_count == 0) {
        tern_mc_record(check, "phase alone 0 no pair is suspicious");
        return;
    }
    for (int try = 0; try <= RETRIES && !tern_mc_interrupted(); try++) {
        if (try > 0 && !is_doubtful(check))
            return;
        int samples = check->options->full ? SAMPLES_FULL : SAMPLES;
        char *words = tell_items(party);
        char *more = tern_mc_format("ms=%d samples=%d%s", ALONE_MS, samples,
                                    check->options->fakes ? " limit=30" : "");
        struct tern_mc_step step = {.phase = "alone",
                                    .items = words,
                                    .more = more,
                                    .limit_s = start_s + item_s * samples * party->item_count};
        bool done = run_party(party, &step, "alone", choose_alone, 2);
        free(words);
        free(more);
        if (!done)
            return;
    }
}

/* ---- together ---- */

/* Chooses hosts of which each reaches each other one. */
static void choose_clique(struct party *party)
{
    everybody(party);
    while (party->count > 0 && all_dead(party) > 0)
        drop_worst(party);
}

static void phase_together(struct party *party)
{
    char *more = tell_limits(party->check);
    struct tern_mc_step step = {.phase = "together",
                                .more = more,
                                .limit_s = start_s + 2 * per_host_s * party->check->data->count};
    run_party(party, &step, "together", choose_clique, 2);
    free(more);
}

static void phase_soak(struct party *party)
{
    int minutes = party->check->options->soak_minutes;
    char *limits = tell_limits(party->check);
    char *more = tern_mc_format("%s minutes=%d", limits, minutes);
    /* the last tournament may begin at the end of the time */
    struct tern_mc_step step = {
        .phase = "soak",
        .more = more,
        .limit_s = start_s + 60 * minutes + round_s * party->check->data->count};
    run_party(party, &step, "soak", choose_clique, 2);
    free(limits);
    free(more);
}

void tern_mc_phase_links(struct tern_mc_check *check)
{
    struct party party = {.check = check,
                          .hosts = tern_mc_alloc(check->data->count + 1, sizeof(int))};
    everybody(&party);
    if (party.count < 2) {
        tern_mc_record(check, "phase reach 0 skipped: the network needs two hosts");
    } else if (phase_reach(&party)) {
        static void (*const phases[])(struct party *) = {phase_clock, phase_pairs, phase_alone,
                                                         phase_together};
        for (size_t i = 0; i < sizeof phases / sizeof *phases && !tern_mc_interrupted(); i++)
            phases[i](&party);
        if (check->options->soak_minutes && !tern_mc_interrupted())
            phase_soak(&party);
    }
    free(party.hosts);
}
