/* SPDX-License-Identifier: BSD-3-Clause */
/* How a job begins, and what is done when it is over. In between, run.c is in charge.
 *
 * No rank starts before the last host is ready, so a job that cannot start everywhere starts
 * nowhere. The guardian is forked before anything creates threads. What PMIx's threads inherit
 * (blocked signals, a clean environment) is set up before PMIx starts. */
#include "mpirun/job.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/net/hmac.h"
#include "lib/util/base/log.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/signals.h"
#include "mpirun/events.h"
#include "mpirun/failure.h"
#include "mpirun/jobs/services.h"
#include "mpirun/jobs/spawned.h"
#include "mpirun/other_jobs.h"
#include "mpirun/ranks/input.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/rank_environment.h"
#include "mpirun/rank_life.h"
#include "mpirun/run.h"
#include "mpirun/serve/addresses.h"
#include "mpirun/serve/look.h"
#include "mpirun/serve/rank_channel.h"
#include "mpirun/serve/pmix/server_exchange.h"
#include "mpirun/serve/unreached.h"
#include "mpirun/time_limit.h"
#include "mpirun/tree/agents.h"
#include "mpirun/user_signals.h"
#include "mpirun/where/where.h"
#include "mpirun/where/where_door.h"
#include "mpirun/wire/job_data.h"

/* All output has arrived by then. Agents only remove what they have made; one that is cut off
 * leaves that to its guardian, which Slurm kills together with srun. */
enum { AGENTS_END_MS = 10000, AGENTS_END_FAILED_MS = 1000 };

static struct {
    struct tern_job *job;
    bool *ready; /* by host: the host can start ranks */
} begin;

/* ---- other hosts ---- */

/* Sends the job to all agents. Each prepares and then reports that it is ready. */
static void tell_agents(void)
{
    const struct tern_job *job = begin.job;
    struct tern_parcel parcel = { 0 };
    struct tern_strings env = { 0 };
    if (job->host_count == (job->here >= 0))
        return;
    tern_environment_to_send(&env);
    tern_parcel_strings(&parcel, &env);
    tern_job_pack(job, &parcel);
    for (int host = 0; host < job->host_count; host++) {
        if (host == job->here)
            continue;
        tern_agents_send(&(struct tern_frame){ .kind = TERN_FRAME_JOB,
                                               .host = host,
                                               .data = parcel.bytes,
                                               .size = (uint32_t)parcel.size });
    }
    tern_strings_free(&env);
    tern_parcel_free(&parcel);
}

static void send_stdin(int host, const char *piece, size_t size)
{
    tern_agents_send(&(struct tern_frame){
        .kind = TERN_FRAME_STDIN, .host = host, .data = piece, .size = (uint32_t)size });
}

static void count_far_streams(void)
{
    const struct tern_job *job = begin.job;
    int stdin_rank = job->options->stdin_rank;
    for (int rank = 0; rank < job->map->size; rank++) {
        int host = job->map->places[rank].host;
        if (host == job->here)
            continue;
        tern_run_add_streams(host, job->options->merge_stderr ? 1 : 2);
        if (rank == stdin_rank)
            tern_input_add_host(host, send_stdin);
    }
    for (int host = 0; host < job->host_count && stdin_rank == TERN_STDIN_ALL; host++) {
        if (host != job->here)
            tern_input_add_host(host, send_stdin);
    }
}

/* ---- the start ---- */

/* Writes `bytes` random bytes into `text`, as twice as many hexadecimal digits. */
static int make_random(char *text, int bytes)
{
    unsigned char random[32];
    int rc = tern_random(random, bytes);
    if (rc)
        return rc;
    for (int i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", random[i]);
    return 0;
}

static void start_everywhere(void)
{
    const struct tern_job *job = begin.job;
    for (int host = 0; host < job->host_count; host++) {
        if (!begin.ready[host])
            return;
    }
    if (!tern_run_goes_on())
        return;
    tern_run_begins();
    tern_agents_send(&(struct tern_frame){ .kind = TERN_FRAME_SPAWN, .host = TERN_EVERY_HOST });
    int error = tern_local_start_ranks(begin.job);
    if (error) {
        tern_failure_record(1, "%s", tern_error_text(error));
        tern_run_kill();
        return;
    }
    tern_input_start();
    tern_where_watch();
    if (job->options->timeout_s)
        tern_time_limit_start(job->options->timeout_s);
}

static void host_ready(const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    const char *text = tern_read_string(&reader);
    if (frame->value) {
        tern_failure_record(frame->value, "host %s: %s", begin.job->hosts[frame->host].name,
                            text ? text : "cannot start ranks");
        tern_run_kill();
        return;
    }
    begin.ready[frame->host] = true;
    start_everywhere();
}

static int start(void)
{
    struct tern_job *job = begin.job;
    struct sigaction hangup;
    sigaction(SIGHUP, NULL, &hangup);
    bool hangup_ignored = hangup.sa_handler == SIG_IGN;
    int error = make_random(job->token, 16);
    if (!error)
        error = make_random(job->secret, 32);
    if (!error)
        error = tern_local_open(job, false, hangup_ignored, tern_events_answered);
    if (error)
        return error;
    tern_job_describe_places(job);
    tern_exchange_open(job, false, tern_agents_send);
    tern_cards_open(job, false, tern_agents_send, tern_reports_answer);
    tern_unreached_open(job, false, tern_agents_send, tern_reports_unreached);
    tern_look_open(job, tern_events_output.process_of);
    tern_where_open(job, &tern_other_jobs_where);
    tell_agents();
    error = tern_signals_catch(hangup_ignored, tern_user_signal);
    tern_environment_clean();
    if (!error)
        error = tern_output_open(job->options, job->map->size, &tern_events_output);
    if (!error)
        error = tern_local_serve(job, &tern_life_clients);
    if (!error)
        error = tern_spawned_begin(job, &tern_other_jobs_parents);
    if (!error && job->options->report_uri)
        error = tern_services_open(job->options->report_uri);
    if (error)
        return error;
    tern_where_door_open(job->session_dir);
    count_far_streams();
    if (job->here >= 0)
        begin.ready[job->here] = true;
    start_everywhere();
    return 0;
}

/* ---- the whole job ---- */

void tern_job_received(const struct tern_frame *frame)
{
    if (frame->host < 0 || frame->host >= begin.job->host_count || tern_run_lost(frame->host) ||
        tern_exchange_received(frame) || tern_cards_received(frame) ||
        tern_unreached_received(frame) || tern_where_received(frame))
        return;
    if (frame->kind == TERN_FRAME_READY)
        host_ready(frame);
    else
        tern_events_received(frame);
}

/* Ends the output, whose last bytes may find the disk full. Returns mpirun's exit status. */
static int finish_output(void)
{
    const char *failure;
    int error = tern_output_finish(), status = tern_failure_status(&failure);
    if (error == EBADF)
        tern_events_say_closed("output");
    else if (error && error != EPIPE)
        tern_log("cannot write the ranks' output: %s", strerror(error));
    return status || !error ? status : error == EPIPE ? 128 + SIGPIPE : 1;
}

int tern_job_run(struct tern_job *job, const struct tern_host *hosts, int host_count)
{
    const char *failure;
    begin.job = job;
    begin.ready = tern_must_alloc(job->host_count * sizeof *begin.ready);
    tern_run_open(job);
    tern_events_open(job);
    tern_other_jobs_open(job, hosts, host_count);
    int error = start();
    if (error) {
        tern_failure_record(1, "%s", tern_error_text(error));
        if (!tern_local_guarded()) {
            int status = tern_failure_status(&failure);
            tern_log("%s", failure);
            return status;
        }
        tern_run_kill();
    }
    tern_loop_run();
    tern_failure_status(&failure);
    if (failure)
        tern_output_say("%s", failure);
    tern_spawned_end(failure);
    tern_services_close();
    tern_agents_send(&(struct tern_frame){ .kind = TERN_FRAME_END, .host = TERN_EVERY_HOST });
    tern_local_close();
    tern_agents_end(tern_failure_is_recorded() ? AGENTS_END_FAILED_MS : AGENTS_END_MS);
    tern_signals_release();
    return finish_output();
}
