/* SPDX-License-Identifier: BSD-3-Clause */

/* The jobs of phases: the command line of each, and what comes back. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/log.h"
#include "mpicheck/measure/checkup.h"
#include "mpicheck/data/fold.h"
#include "mpicheck/data/records.h"

/* A step whose job runs. */
struct underway {
    struct tern_mc_check *check;
    struct tern_mc_step *step;
    struct tern_arguments words;
    char *hostfile;
    bool quiet; /* other steps run as well: none shows its progress */
};

/* Takes a record and keeps it. Counts it if it is malformed, or if `may` is false. */
static void take(struct tern_mc_check *check, const char *text, bool may)
{
    char *record = tern_mc_printable(text);
    if (!may || !tern_mc_take(check->data, record)) {
        tern_mc_show_end(check);
        if (check->malformed++ == 0)
            tern_log("ignored a malformed record: %.80s", record);
    } else if (check->records) {
        fprintf(check->records, "@ %s\n", record);
    }
    free(record);
}

void tern_mc_record(struct tern_mc_check *check, const char *format, ...)
{
    char *record = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&record, format, args) < 0)
        record = NULL;
    va_end(args);
    if (record)
        take(check, record, true);
    free(record);
}

/* ---- progress ---- */

void tern_mc_show(struct tern_mc_check *check, const char *phase, int done, int all)
{
    if (!check->shows)
        return;
    double seconds = tern_mc_now() - check->begin;
    if (all > 0)
        fprintf(stderr, "\r\033[Kmpicheck: %.0f s: %s %d of %d", seconds, phase, done, all);
    else
        fprintf(stderr, "\r\033[Kmpicheck: %.0f s: %s", seconds, phase);
    check->shown = true;
}

void tern_mc_show_end(struct tern_mc_check *check)
{
    if (check->shown)
        fputs("\r\033[K", stderr);
    check->shown = false;
}

/* ---- what comes back ---- */

static void take_hang(struct tern_mc_step *step, const char *record)
{
    struct tern_mc_hang *hang = &step->hangs[step->hang_count];
    char stage[32];
    if (step->hang_count >= TERN_MC_HANGS_MOST ||
        sscanf(record, "hang %d %d %31s", &hang->host, &hang->peer, stage) != 3)
        return;
    snprintf(hang->record, sizeof hang->record, "%s", record);
    hang->is_meet = strcmp(stage, "meet") == 0;
    step->hang_count++;
}

static void take_here(struct tern_mc_step *step)
{
    step->last_here = tern_mc_now();
    if (step->first_here == 0)
        step->first_here = step->last_here;
}

static void take_slow(struct tern_mc_step *step, const char *record)
{
    int host, peer;
    if (step->slow_count < TERN_MC_HANGS_MOST && sscanf(record, "slow %d %d", &host, &peer) == 2)
        step->slow_hosts[step->slow_count++] = host;
}

static void take_record(void *context, const char *record)
{
    struct underway *underway = context;
    int done, all;
    if (sscanf(record, "progress %d %d", &done, &all) == 2) {
        if (underway->check->records)
            fflush(underway->check->records); /* whoever looks on sees what is known */
        if (!underway->quiet)
            tern_mc_show(underway->check, underway->step->phase, done, all);
    } else if (strncmp(record, "hang ", 5) == 0) {
        take_hang(underway->step, record); /* the phase decides if it counts */
    } else if (strncmp(record, "done ", 5) == 0) {
        underway->step->answers++;
    } else if (strncmp(record, "here ", 5) == 0) {
        take_here(underway->step);
    } else if (strncmp(record, "slow ", 5) == 0) {
        take_slow(underway->step, record);
    } else {
        take(underway->check, record, tern_mc_may_come_from_hosts(record));
    }
}

/* Keeps the first thing that is said: what follows is its consequence. */
static void take_line(void *context, const char *line)
{
    static const char start[] = "cannot start on host ";
    char *why = ((struct underway *)context)->step->why;
    if (*why)
        return;
    if (strncmp(line, "mpirun: ", 8) == 0)
        line += 8;
    const char *name_end = strncmp(line, start, sizeof start - 1) ? NULL : strstr(line, ": ");
    snprintf(why, TERN_MC_WHY_MOST, "%s", name_end ? name_end + 2 : line);
}

/* ---- the command line ---- */

/* Writes the hosts of a job into a file. Returns its path, or NULL after a message. */
static char *write_hostfile(struct tern_mc_check *check, const struct tern_mc_step *step)
{
    char *path = tern_mc_format("%s/hosts.%d", check->work, check->files++);
    FILE *file = fopen(path, "we");
    bool written = file;
    for (int i = 0; file && i < step->count; i++)
        fprintf(file, "%s slots=1\n", check->data->hosts[step->hosts[i]].name);
    if (file) {
        written = !ferror(file);
        written &= fclose(file) == 0;
    }
    if (written)
        return path;
    tern_log("cannot write %s: %s; TMPDIR names another directory", path, strerror(errno));
    free(path);
    return NULL;
}

static void add_ids(struct tern_arguments *words, const struct tern_mc_step *step)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    for (int i = 0; i < step->count; i++)
        fprintf(out, "%s%d", i ? "," : "ids=", step->hosts[i]);
    fclose(out);
    tern_arguments_add(words, "%s", text);
    free(text);
}

static bool names_parameter(const struct tern_arguments *words, const char *name)
{
    for (int i = 0; i < words->count; i++)
        if (strcmp(words->word[i], name) == 0)
            return true;
    return false;
}

static bool make_words(struct underway *underway)
{
    struct tern_mc_check *check = underway->check;
    struct tern_mc_step *step = underway->step;
    struct tern_arguments *words = &underway->words;
    tern_arguments_add(words, "%s", check->mpirun);
    if (!check->options->mpi) {
        /* ranks that have printed `done` wait to be ended */
        tern_arguments_split(words, "-q --mca hang_report_s 0");
        if (step->patient && !names_parameter(&check->options->mpirun, "launch_timeout"))
            tern_arguments_split(words, "--mca launch_timeout 30");
    } else if (geteuid() == 0) {
        tern_arguments_add(words, "--allow-run-as-root");
    }
    tern_arguments_append(words, &check->options->mpirun);
    tern_arguments_add(words, "--bind-to");
    tern_arguments_add(words, "none");
    if (check->options->fakes) {
        tern_arguments_add(words, "--oversubscribe");
    } else {
        if (!(underway->hostfile = write_hostfile(check, step)))
            return false;
        tern_arguments_add(words, "--hostfile");
        tern_arguments_add(words, "%s", underway->hostfile);
        tern_arguments_add(words, "--map-by");
        tern_arguments_add(words, "seq");
    }
    tern_arguments_add(words, "-np");
    tern_arguments_add(words, "%d", step->count);
    tern_arguments_add(words, "%s", check->probe);
    tern_arguments_add(words, "%s", step->phase);
    add_ids(words, step);
    if (step->dead && *step->dead)
        tern_arguments_add(words, "dead=%s", step->dead);
    if (step->items)
        tern_arguments_add(words, "items=%s", step->items);
    tern_arguments_split(words, step->more);
    if (check->options->gpu >= 0)
        tern_arguments_add(words, "gpu=%d", check->options->gpu);
    if (step->stage_s > 0)
        tern_arguments_add(words, "limit=%d", step->stage_s);
    return true;
}

/* ---- running ---- */

void tern_mc_steps_run(struct tern_mc_check *check, struct tern_mc_step *steps, int count,
                       int width)
{
    struct underway *underway = tern_mc_alloc(count, sizeof *underway);
    struct tern_mc_job *jobs = tern_mc_alloc(count, sizeof *jobs);
    enum tern_mc_end *ends = tern_mc_alloc(count, sizeof *ends);
    bool ready = true;
    for (int i = 0; ready && i < count; i++) {
        steps[i].hang_count = steps[i].slow_count = steps[i].answers = 0;
        steps[i].first_here = steps[i].last_here = 0;
        *steps[i].why = 0;
        steps[i].end = TERN_MC_FAILED;
        underway[i] = (struct underway){.check = check, .step = &steps[i], .quiet = count > 1};
        ready = make_words(&underway[i]);
        jobs[i] = (struct tern_mc_job){.words = &underway[i].words,
                                       .ranks = steps[i].count,
                                       .limit_s = steps[i].limit_s,
                                       .record = take_record,
                                       .line = take_line,
                                       .context = &underway[i]};
    }
    tern_mc_show(check, steps[0].phase, 0, 0);
    if (ready)
        tern_mc_run_many(jobs, count, width, ends);
    for (int i = 0; i < count; i++) {
        if (ready)
            steps[i].end = ends[i];
        if (underway[i].hostfile)
            unlink(underway[i].hostfile);
        free(underway[i].hostfile);
        tern_arguments_free(&underway[i].words);
    }
    free(underway);
    free(jobs);
    free(ends);
    if (check->records)
        fflush(check->records);
}

void tern_mc_step_run(struct tern_mc_check *check, struct tern_mc_step *step)
{
    tern_mc_steps_run(check, step, 1, 1);
}
