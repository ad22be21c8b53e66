/* SPDX-License-Identifier: BSD-3-Clause */
/* Two questions go to the hosts. A glance asks every few seconds if any rank may have moved since
 * the last one; each host answers with a bit. A look asks where each rank is. */
#include "mpirun/where/where.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/settings/param.h"
#include "mpirun/base/loop.h"
#include "mpirun/ranks/output.h"
#include "mpirun/serve/look.h"
#include "mpirun/tree/agents.h"
#include "mpirun/where/where_circles.h"
#include "mpirun/where/where_table.h"

enum { ASKERS_MOST = 32, PATIENCE_MS = 3000, PERIODS = 4, LONGEST_PERIOD_MS = 15000 };
/* what a frame asks for, and what its answer says */
enum { GLANCE, LOOK };
enum { QUIET, MOVED, SEEN };

struct asker {
    void (*told)(const char *table, void *to);
    void *to;
};

static struct {
    const struct tern_job *job;
    const struct tern_where_listener *listener;

    /* the look */
    struct tern_where_rank *ranks; /* NULL: none is under way */
    /* which rank waits for which (where_circles.h); NULL: no result is being told */
    char *waits;
    bool *answered;                /* by host */
    bool some_wait;                /* the last look has seen a rank that waits in MPI */
    uint64_t number;               /* of the last look */
    struct asker askers[ASKERS_MOST];
    int asker_count;
    struct tern_timer patience;

    /* the watch */
    int64_t report_ms, period_ms;
    uint64_t glance;    /* number of the last one */
    bool *glanced;      /* by host: it has answered the last glance */
    bool moved;         /* one of them has said so, or none was asked before */
    int64_t glanced_ms; /* when the last glance began */
    int64_t quiet_ms;   /* the last time something may have moved */
    bool reported;      /* since then */
    struct tern_timer watch;
} where;

void tern_where_open(const struct tern_job *job, const struct tern_where_listener *listener)
{
    where.job = job;
    where.listener = listener;
    where.answered = tern_must_alloc((job->host_count + 1) * sizeof *where.answered);
    where.glanced = tern_must_alloc((job->host_count + 1) * sizeof *where.glanced);
}

const char *tern_where_job(void)
{
    static char text[80];
    int size = where.job->map->size, number = where.job->options->job_number;
    int used = number > 1 ? snprintf(text, sizeof text, "job %d", number)
                          : snprintf(text, sizeof text, "job");
    snprintf(text + used, sizeof text - (size_t)used, " of %d rank%s, pid %d", size,
             size == 1 ? "" : "s", (int)getpid());
    return text;
}

static void send_question(int what, uint64_t number)
{
    if (where.job->host_count > (where.job->here >= 0))
        tern_agents_send(&(struct tern_frame){
            .kind = TERN_FRAME_LOOK, .host = TERN_EVERY_HOST, .value = what, .id = number});
}

static bool all_have(const bool *done)
{
    for (int host = 0; host < where.job->host_count; host++)
        if (!done[host] && !where.listener->is_lost(host))
            return false;
    return true;
}

/* ---- a look ---- */

/* Returns a line for each output of mpirun that its reader does not read. The caller frees it. */
static char *name_stuck_output(void)
{
    static const char *const names[] = {"", "standard output", "standard error"};
    char *text = tern_must_copy("");
    for (int which = 1; which <= 2; which++) {
        int64_t stuck_ms = tern_output_stuck_ms(which);
        if (stuck_ms < 0)
            continue;
        char *more = tern_must_format("%s\n    mpirun's %s is full: what reads it has not read for "
                                      "%lld s, so ranks that write there wait for it",
                                      text, names[which], (long long)stuck_ms / 1000);
        free(text);
        text = more;
    }
    return text;
}

static bool is_output_stuck(void)
{
    return tern_output_stuck_ms(1) >= 0 || tern_output_stuck_ms(2) >= 0;
}

static void conclude(void)
{
    struct asker askers[ASKERS_MOST];
    int count = where.asker_count;
    tern_loop_stop_timer(&where.patience);
    bool in_mpi = false;
    where.some_wait = false;
    for (int rank = 0; rank < where.job->map->size; rank++) {
        where.ranks[rank].state = where.listener->state_of(rank);
        where.some_wait |= where.ranks[rank].seen && where.ranks[rank].where.waits;
        in_mpi |= where.ranks[rank].state == TERN_RANK_IN_MPI ||
                  where.ranks[rank].state == TERN_RANK_FINALIZED;
    }
    for (int rank = 0; rank < where.job->map->size; rank++)
        where.ranks[rank].job_in_mpi = in_mpi;
    char *own = tern_where_table(where.ranks, where.job->map->size);
    char *others = where.listener->name_others();
    char *stuck = name_stuck_output();
    char *table = tern_must_format("%s%s%s", own, stuck, others);
    free(stuck);
    free(own);
    free(others);
    where.waits = tern_where_write_waits(where.ranks, where.job->map->size,
                                         where.job->options->job_number);
    free(where.ranks);
    where.ranks = NULL;
    memcpy(askers, where.askers, sizeof askers);
    where.asker_count = 0;
    for (int i = 0; i < count; i++)
        askers[i].told(table, askers[i].to);
    free(where.waits);
    where.waits = NULL;
    free(table);
}

static void patience_ends(struct tern_timer *timer)
{
    (void)timer;
    conclude();
}

static void take_seen(int host, const char *bytes, size_t size)
{
    struct tern_reader reader = {.at = bytes, .left = size};
    struct tern_where seen;
    if (!where.ranks || where.answered[host])
        return;
    while (reader.left) {
        tern_where_unpack(&reader, &seen);
        if (reader.bad || seen.rank < 0 || seen.rank >= where.job->map->size ||
            where.job->map->places[seen.rank].host != host)
            break;
        where.ranks[seen.rank].where = seen;
        where.ranks[seen.rank].seen = true;
    }
    where.answered[host] = true;
    if (all_have(where.answered))
        conclude();
}

static void seen_here(const struct tern_parcel *seen)
{
    take_seen(where.job->here, seen->bytes, seen->size);
}

const char *tern_where_waits(void)
{
    return where.waits ? where.waits : "";
}

bool tern_where_ask(void (*told)(const char *table, void *to), void *to)
{
    if (where.asker_count == ASKERS_MOST)
        return false;
    where.askers[where.asker_count++] = (struct asker){told, to};
    if (where.ranks)
        return true;
    where.ranks = tern_must_alloc(where.job->map->size * sizeof *where.ranks);
    for (int rank = 0; rank < where.job->map->size; rank++)
        where.ranks[rank].host = where.job->hosts[where.job->map->places[rank].host].name;
    memset(where.answered, 0, where.job->host_count * sizeof *where.answered);
    where.patience.expired = patience_ends;
    tern_loop_set_timer(&where.patience, PATIENCE_MS);
    send_question(LOOK, ++where.number);
    if (where.job->here >= 0)
        tern_look_take(seen_here);
    return true;
}

static void show(const char *table, void *unused)
{
    (void)unused;
    tern_output_say("%s%s", tern_where_job(), table);
}

void tern_where_show(void)
{
    tern_where_ask(show, NULL);
}

/* ---- the watch ---- */

static void report(const char *table, void *unused)
{
    (void)unused;
    /* if no rank waits in MPI, none is in the hands of another */
    if (!where.listener->goes_on() || !where.some_wait)
        return;
    tern_output_say("nothing has moved for %lld s (%s); the job goes on, `mpirun --where %d` asks "
                    "again%s",
                    (long long)(where.glanced_ms - where.quiet_ms) / 1000, tern_where_job(),
                    (int)getpid(), table);
}

/* Called when all hosts have answered the last glance. */
static void conclude_glance(void)
{
    /* ranks that wait for the reader of mpirun's output do not hang */
    bool still = !where.moved && !is_output_stuck();
    if (!where.listener->others_are_still(still) || !still) {
        where.quiet_ms = where.glanced_ms;
        where.reported = false;
    } else if (where.glanced_ms - where.quiet_ms >= where.report_ms && !where.reported) {
        where.reported = tern_where_ask(report, NULL);
    }
}

static void glance(struct tern_timer *timer)
{
    tern_loop_set_timer(timer, where.period_ms);
    if (!all_have(where.glanced)) /* a host is slow: nobody knows what it would say */
        where.quiet_ms = tern_loop_now_ms();
    if (!where.listener->goes_on())
        return;
    where.moved = false;
    where.glanced_ms = tern_loop_now_ms();
    memset(where.glanced, 0, where.job->host_count * sizeof *where.glanced);
    send_question(GLANCE, ++where.glance);
    if (where.job->here >= 0) {
        where.moved = tern_look_glance();
        where.glanced[where.job->here] = true;
        if (all_have(where.glanced))
            conclude_glance();
    }
}

void tern_where_watch(void)
{
    int64_t report_s = tern_param_int("hang_report_s");
    if (report_s <= 0)
        return;
    where.report_ms = report_s * 1000;
    where.period_ms = where.report_ms / PERIODS;
    if (where.period_ms > LONGEST_PERIOD_MS)
        where.period_ms = LONGEST_PERIOD_MS;
    memset(where.glanced, 1, where.job->host_count * sizeof *where.glanced);
    where.quiet_ms = tern_loop_now_ms();
    where.watch.expired = glance;
    tern_loop_set_timer(&where.watch, where.period_ms);
}

bool tern_where_received(const struct tern_frame *frame)
{
    if (frame->kind != TERN_FRAME_SEEN)
        return false;
    if (frame->value == SEEN && frame->id == where.number) {
        take_seen(frame->host, frame->data, frame->size);
    } else if (frame->value != SEEN && frame->id == where.glance && !where.glanced[frame->host]) {
        where.moved |= frame->value == MOVED;
        where.glanced[frame->host] = true;
        if (all_have(where.glanced))
            conclude_glance();
    }
    return true;
}
