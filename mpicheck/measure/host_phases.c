/* SPDX-License-Identifier: BSD-3-Clause */

/* Hosts by themselves: which there are, which answer, what they are, how fast they are. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/log.h"
#include "mpicheck/measure/checkup.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/interfaces.h"

enum { WIDTH = 16, ALONE_MOST = 16, TRIES = 2, LIST_S = 30 };

static const double facts_s = 60, node_s = 60, each_s = 0.1;

/* ---- which hosts ---- */

struct listing {
    char **names;
    char **why; /* why a host is not measured, or NULL */
    int count;
    char *said; /* what mpirun said first, NULL if nothing */
};

static void ignore_record(void *context, const char *record)
{
    (void)context;
    (void)record;
}

static bool is_listed(const struct listing *listing, const char *name)
{
    for (int i = 0; i < listing->count; i++)
        if (strcmp(listing->names[i], name) == 0)
            return true;
    return false;
}

/* Owns `name` and `why` afterwards. */
static void list_host(struct listing *listing, char *name, char *why)
{
    listing->names = tern_mc_grow(listing->names, listing->count, sizeof *listing->names);
    listing->why = tern_mc_grow(listing->why, listing->count, sizeof *listing->why);
    listing->names[listing->count] = name;
    listing->why[listing->count++] = why;
}

/* Takes "A and B are the same host; ...": mpirun uses the first name only. */
static bool take_alias(struct listing *listing, const char *line)
{
    char first[256], second[256];
    int used = 0;
    if (sscanf(line, "%255s and %255s are the same host%n", first, second, &used) != 2 || !used)
        return false;
    if (!is_listed(listing, second))
        list_host(listing, tern_mc_format("%s", second),
                  tern_mc_format("two names, one host: it is %s", first));
    return true;
}

/* Takes a line of mpirun: "	NAME: slots=..." of its display of the allocation, or a message. */
static void take_listed(void *context, const char *line)
{
    struct listing *listing = context;
    const char *slots = strstr(line, ": slots=");
    if (*line == '\t' && slots) {
        list_host(listing, tern_mc_format("%.*s", (int)(slots - line - 1), line + 1), NULL);
    } else if (strncmp(line, "mpirun: ", 8) == 0 && !take_alias(listing, line + 8)) {
        if (strncmp(line + 8, "warning: ", 9) == 0)
            tern_log("%s", line + 8);
        else if (!listing->said)
            listing->said = tern_mc_format("%s", line + 8);
    }
}

/* Asks mpirun for the hosts. Its warnings about parameters are told here, once: the jobs of the
 * phases are quiet. */
static bool list_hosts(const struct tern_mc_check *check, struct listing *listing)
{
    static bool warned; /* --per lists the hosts again and again */
    struct tern_arguments words = {0};
    const struct tern_mc_job job = {.words = &words,
                                    .ranks = 1,
                                    .limit_s = LIST_S,
                                    .record = ignore_record,
                                    .line = take_listed,
                                    .context = listing};
    tern_arguments_add(&words, "%s", check->own_mpirun);
    tern_arguments_split(&words, warned ? "-q" : NULL);
    warned = true;
    if (!check->options->mpi)
        tern_arguments_append(&words, &check->options->mpirun);
    tern_arguments_append(&words, &check->options->hosts);
    tern_arguments_split(&words, check->options->fakes ? "-H localhost" : NULL);
    tern_arguments_split(&words, "--display-allocation --dry-run true");
    bool listed = tern_mc_run(&job) == TERN_MC_DONE && listing->count > 0;
    tern_arguments_free(&words);
    if (!listed && !tern_mc_interrupted())
        tern_log("mpirun does not know which hosts to check: %s; -H and --hostfile name them",
                 listing->said ? listing->said : "it listed none");
    return listed;
}

static void free_listing(struct listing *listing)
{
    for (int i = 0; i < listing->count; i++) {
        free(listing->names[i]);
        free(listing->why[i]);
    }
    free(listing->names);
    free(listing->why);
    free(listing->said);
    *listing = (struct listing){0};
}

static void make_up_hosts(const struct tern_mc_check *check, struct listing *listing)
{
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    free_listing(listing);
    for (int i = 0; i < check->options->fakes; i++)
        list_host(listing, tern_mc_format("%s/%d", name, i), NULL);
}

/* Second names come last: their messages came at any time. Returns false after a message if a name
 * is refused. */
static bool record_hosts(struct tern_mc_check *check, const struct listing *listing)
{
    int host = 0;
    for (int gone = 0; gone < 2; gone++)
        for (int i = 0; i < listing->count; i++) {
            if ((listing->why[i] != NULL) != gone)
                continue;
            tern_mc_record(check, "host %d %s", host, listing->names[i]);
            if (gone)
                tern_mc_record(check, "gone %d %s", host, listing->why[i]);
            host++;
        }
    return check->malformed == 0;
}

bool tern_mc_find_hosts(struct tern_mc_check *check)
{
    struct listing listing = {0};
    bool found = list_hosts(check, &listing);
    if (found && check->options->fakes)
        make_up_hosts(check, &listing);
    if (listing.count > TERN_MC_HOSTS_MOST) {
        tern_log("%d hosts; expected at most %d: -H names some of them", listing.count,
                 TERN_MC_HOSTS_MOST);
        found = false;
    }
    check->data = found ? tern_mc_data_new(listing.count) : NULL;
    if (found && !check->data)
        tern_log("no memory for the data of %d hosts", listing.count);
    if (check->data && !record_hosts(check, &listing)) {
        tern_mc_data_free(check->data);
        check->data = NULL;
    }
    free_listing(&listing);
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

/* Leaves out the hosts where the interface under check does not work. */
static void leave_out_lacking(struct tern_mc_check *check)
{
    const char *nic = check->options->nic;
    int *hosts = tern_mc_alloc(check->data->count, sizeof *hosts);
    int count = nic ? hosts_here(check, hosts) : 0, well = 0;
    for (int i = 0; i < count; i++)
        well += !tern_mc_lacks(&check->data->hosts[hosts[i]], nic);
    for (int i = 0; i < count; i++) {
        const char *why = tern_mc_lacks(&check->data->hosts[hosts[i]], nic);
        if (why)
            tern_mc_record(check, "lacks %d %s its %s %s; that of %d other hosts connects them",
                           hosts[i], nic, nic, why, well);
    }
    free(hosts);
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
        if (check->data->hosts[i].fact_count == 0 && !check->data->hosts[i].gone)
            hosts[silent++] = i;
    if (silent > 0 && step.end != TERN_MC_INTERRUPTED)
        ask_each(check, hosts, silent);
    int here = hosts_here(check, hosts);
    tern_mc_record(check, "phase facts %.3f %d of %d hosts answer", tern_mc_now() - begin, here,
                   check->data->count);
    free(hosts);
    leave_out_lacking(check);
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
