/* SPDX-License-Identifier: BSD-3-Clause */

/* Hosts by themselves: which there are, which answer, what they are, how fast they are. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/log.h"
#include "tools/mpicheck/checkup.h"
#include "tools/mpicheck/fold.h"

enum { WIDTH = 16, ALONE_MOST = 16, TRIES = 2, LIST_S = 30 };

static const double facts_s = 60, node_s = 60, each_s = 0.1;

/* ---- which hosts ---- */

struct listing {
    char **names;
    int count;
    char *said; /* what mpirun said first, NULL if nothing */
};

static void ignore_record(void *context, const char *record)
{
    (void)context;
    (void)record;
}

/* Takes a line "	NAME: slots=..." of mpirun's display of the allocation. */
static void take_listed(void *context, const char *line)
{
    struct listing *listing = context;
    const char *slots = strstr(line, ": slots=");
    if (*line != '\t' || !slots) {
        if (strncmp(line, "mpirun: ", 8) == 0 && !listing->said)
            listing->said = tern_mc_format("%s", line + 8);
        return;
    }
    char **names = tern_mc_alloc(listing->count + 1, sizeof *names);
    for (int i = 0; i < listing->count; i++)
        names[i] = listing->names[i];
    names[listing->count++] = tern_mc_format("%.*s", (int)(slots - line - 1), line + 1);
    free(listing->names);
    listing->names = names;
}

static bool list_hosts(const struct tern_mc_check *check, struct listing *listing)
{
    struct tern_words words = {0};
    const struct tern_mc_job job = {.words = &words,
                                    .ranks = 1,
                                    .limit_s = LIST_S,
                                    .record = ignore_record,
                                    .line = take_listed,
                                    .context = listing};
    tern_words_add(&words, "%s", check->own_mpirun);
    tern_words_split(&words, "-q");
    tern_words_append(&words, &check->options->hosts);
    tern_words_split(&words, "--display-allocation --dry-run true");
    bool listed = tern_mc_run(&job) == TERN_MC_DONE && listing->count > 0;
    tern_words_free(&words);
    if (!listed && !tern_mc_interrupted())
        tern_log("mpirun does not know which hosts to check: %s; -H and --hostfile name them",
                 listing->said ? listing->said : "it listed none");
    return listed;
}

static void make_up_hosts(const struct tern_mc_check *check, struct listing *listing)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    listing->count = check->options->fakes;
    listing->names = tern_mc_alloc(listing->count, sizeof *listing->names);
    for (int i = 0; i < listing->count; i++)
        listing->names[i] = tern_mc_format("%s/%d", name, i);
}

bool tern_mc_find_hosts(struct tern_mc_check *check)
{
    struct listing listing = {0};
    bool found = true;
    if (check->options->fakes)
        make_up_hosts(check, &listing);
    else
        found = list_hosts(check, &listing);
    if (listing.count > TERN_MC_HOSTS_MOST) {
        tern_log("%d hosts; expected at most %d: -H names some of them", listing.count,
                 TERN_MC_HOSTS_MOST);
        found = false;
    }
    check->data = found ? tern_mc_data_new(listing.count) : NULL;
    if (found && !check->data)
        tern_log("no memory for the data of %d hosts", listing.count);
    for (int i = 0; i < listing.count; i++) {
        if (check->data)
            tern_mc_record(check, "host %d %s", i, listing.names[i]);
        free(listing.names[i]);
    }
    free(listing.names);
    free(listing.said);
    return check->data;
}

/* ---- who answers ---- */

/* Lists the hosts that are not gone. Returns their number. */
static int hosts_here(const struct tern_mc_check *check, int *ret_hosts)
{
    int count = 0;
    for (int i = 0; i < check->data->count; i++)
        if (!check->data->hosts[i].gone)
            ret_hosts[count++] = i;
    return count;
}

static const char *tell_end(const struct tern_mc_step *step)
{
    if (*step->why)
        return step->why;
    return step->end == TERN_MC_TIMEOUT ? "no answer in time" : "the test ended without an answer";
}

/* Collects the facts of each of some hosts by a job of its own, and records who is gone. */
static void ask_each(struct tern_mc_check *check, const int *hosts, int count)
{
    struct tern_mc_step *steps = tern_mc_alloc(count, sizeof *steps);
    for (int i = 0; i < count; i++)
        steps[i] = (struct tern_mc_step){
            .phase = "facts", .hosts = &hosts[i], .count = 1, .limit_s = facts_s, .patient = true};
    tern_mc_steps_run(check, steps, count, WIDTH);
    for (int i = 0; i < count; i++)
        if (steps[i].answers == 0 && steps[i].end != TERN_MC_INTERRUPTED)
            tern_mc_record(check, "gone %d %s", hosts[i], tell_end(&steps[i]));
    free(steps);
}

void tern_mc_phase_facts(struct tern_mc_check *check)
{
    int *hosts = tern_mc_alloc(check->data->count, sizeof *hosts), silent = 0;
    struct tern_mc_step step = {.phase = "facts",
                                .hosts = hosts,
                                .count = hosts_here(check, hosts),
                                .limit_s = facts_s + each_s * check->data->count};
    double begin = tern_mc_now();
    tern_mc_step_run(check, &step);
    for (int i = 0; i < check->data->count; i++)
        if (check->data->hosts[i].fact_count == 0)
            hosts[silent++] = i;
    if (silent > 0 && step.end != TERN_MC_INTERRUPTED)
        ask_each(check, hosts, silent);
    int here = hosts_here(check, hosts);
    tern_mc_record(check, "phase facts %.3f %d of %d hosts answer", tern_mc_now() - begin, here,
                   check->data->count);
    free(hosts);
}

bool tern_mc_lost_hosts(struct tern_mc_check *check)
{
    int *hosts = tern_mc_alloc(check->data->count, sizeof *hosts);
    int count = hosts_here(check, hosts);
    if (count > 0 && !tern_mc_interrupted())
        ask_each(check, hosts, count);
    bool lost = hosts_here(check, hosts) < count;
    free(hosts);
    return lost;
}

/* ---- how fast ---- */

static void measure_again(struct tern_mc_check *check, int *hosts)
{
    int count = tern_mc_slow_hosts(check->data, hosts);
    for (int try = 0; try < TRIES && count > 0; try++) {
        bool together = count > ALONE_MOST; /* one after the other would take long */
        for (int i = 0; i < (together ? 1 : count); i++) {
            struct tern_mc_step step = {.phase = "node",
                                        .hosts = &hosts[i],
                                        .count = together ? count : 1,
                                        .limit_s = node_s};
            tern_mc_step_run(check, &step);
            if (step.end == TERN_MC_INTERRUPTED)
                return;
        }
        count = tern_mc_slow_hosts(check->data, hosts);
    }
}

void tern_mc_phase_node(struct tern_mc_check *check)
{
    int *hosts = tern_mc_alloc(check->data->count, sizeof *hosts);
    struct tern_mc_step step = {.phase = "node",
                                .hosts = hosts,
                                .count = hosts_here(check, hosts),
                                .limit_s = node_s + each_s * check->data->count};
    double begin = tern_mc_now();
    if (check->options->fakes) {
        tern_mc_record(check, "phase node 0 skipped: made-up hosts share processors");
    } else if (step.count > 0) {
        tern_mc_step_run(check, &step);
        bool measured = step.answers == step.count;
        if (!tern_mc_interrupted())
            measure_again(check, hosts);
        tern_mc_record(check, "phase node %.3f %s%s", tern_mc_now() - begin,
                       measured ? "done" : "failed: ", measured ? "" : tell_end(&step));
    }
    free(hosts);
}
