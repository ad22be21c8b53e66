/* SPDX-License-Identifier: BSD-3-Clause */
/* mpirun decides everything, for all hosts. Agents report what happens on other hosts with the same
 * messages of guardian and server as on this one, and the same functions handle them. */
#include "mpirun/events.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/base/log.h"
#include "mpirun/failure.h"
#include "mpirun/left_behind.h"
#include "mpirun/rank_life.h"
#include "mpirun/ranks/input.h"
#include "mpirun/run.h"
#include "mpirun/tree/agents.h"

static struct {
    const struct tern_job *job;
} events;

/* ---- guardians ---- */

static void handle_answer(int host, const struct tern_guardian_message *answer)
{
    switch (answer->kind) {
    case TERN_GUARDIAN_STARTED:
        tern_life_started(answer->rank, answer->pid);
        break;
    case TERN_GUARDIAN_FAILED:
        tern_life_not_started(answer);
        break;
    case TERN_GUARDIAN_EXITED:
        tern_life_ended(answer->rank, answer->value);
        break;
    case TERN_GUARDIAN_ALONE:
        tern_life_alone(answer->rank);
        break;
    case TERN_GUARDIAN_LOST:
        tern_run_guardian_lost(host, answer->pid);
        break;
    case TERN_GUARDIAN_LEFT:
        tern_left_behind_name(events.job, host, answer, tern_run_patience_ms());
        break;
    case TERN_GUARDIAN_GONE:
        if (answer->value)
            tern_output_say("some processes of the job wait in the kernel and cannot be killed "
                            "now; they will end after that");
        tern_run_host_cleared(host);
        break;
    }
}

void tern_events_answered(const struct tern_guardian_message *answer)
{
    handle_answer(events.job->here, answer);
}

/* ---- agents ---- */

static void agent_answered(const struct tern_frame *frame)
{
    struct tern_reader reader = {.at = frame->data, .left = frame->size};
    struct tern_guardian_message answer = {.kind = frame->value, .rank = frame->rank};
    answer.pid = (int32_t)tern_read_number(&reader);
    answer.value = (int32_t)tern_read_number(&reader);
    answer.step = tern_read_int(&reader, 0, TERN_STEP_EXEC);
    const char *text = tern_read_string(&reader);
    snprintf(answer.text, sizeof answer.text, "%s", text ? text : "");
    bool of_rank = answer.kind == TERN_GUARDIAN_STARTED || answer.kind == TERN_GUARDIAN_FAILED ||
                   answer.kind == TERN_GUARDIAN_EXITED || answer.kind == TERN_GUARDIAN_ALONE;
    if (!reader.bad && (!of_rank || (answer.rank >= 0 && answer.rank < events.job->map->size)))
        handle_answer(frame->host, &answer);
}

static void client_acted(const struct tern_frame *frame)
{
    int rank = frame->rank;
    struct tern_reader reader = {.at = frame->data, .left = frame->size};
    int number = (int)tern_read_number(&reader);
    const char *text = tern_read_string(&reader);
    if (reader.bad || rank < -1 || rank >= events.job->map->size ||
        (rank < 0 && frame->value != TERN_CLIENT_SIGNALLED))
        return;
    tern_client_tell(&tern_life_clients, frame->value, rank, number, text);
}

void tern_events_received(const struct tern_frame *frame)
{
    switch (frame->kind) {
    case TERN_FRAME_GUARDIAN:
        agent_answered(frame);
        break;
    case TERN_FRAME_CLIENT:
        client_acted(frame);
        break;
    case TERN_FRAME_OUTPUT:
        tern_output_take(frame->host, frame->rank, frame->value, frame->data, frame->size);
        break;
    case TERN_FRAME_CLOSED:
        if (frame->rank >= 0 && frame->rank < events.job->map->size)
            tern_life_stream_closed(frame->rank);
        tern_run_close_stream(frame->host);
        break;
    case TERN_FRAME_UNWRITTEN:
        tern_failure_note_lost_output();
        break;
    case TERN_FRAME_TAKEN:
        tern_input_taken(frame->host, !frame->value);
        break;
    default:
        break;
    }
}

/* ---- output ---- */

static void stream_closed(int rank)
{
    tern_life_stream_closed(rank);
    tern_run_check_end();
}

static void file_failed(int rank)
{
    (void)rank;
    tern_failure_note_lost_output();
}

void tern_events_say_closed(const char *stream)
{
    tern_log(
        "standard %s is closed, so this output of the ranks is lost; redirect it to /dev/null if "
        "you do not need it",
        stream);
}

/* Handles a failed write of mpirun's own output. If its reader has gone (mpirun ... | head), the
 * job ends, as any program in a pipe does. If the stream was closed before mpirun began, nobody
 * wants the output, and the job goes on. */
static void write_failed(int which, int error_number)
{
    if (error_number == EBADF) {
        tern_failure_note_lost_output();
        tern_events_say_closed(which == 1 ? "output" : "error");
        return;
    }
    if (error_number == EPIPE) {
        tern_failure_record_silently(128 + SIGPIPE);
    } else {
        tern_failure_record(1, "cannot write the ranks' output: %s", strerror(error_number));
    }
    tern_run_end();
    tern_run_check_end();
}

static void output_passed_on(int host, size_t bytes)
{
    tern_agents_send(
        &(struct tern_frame){.kind = TERN_FRAME_CREDIT, .host = host, .value = (int32_t)bytes});
}

const struct tern_output_listener tern_events_output = {
    .process_of = tern_life_process,
    .closed = stream_closed,
    .file_failed = file_failed,
    .write_failed = write_failed,
    .passed_on = output_passed_on,
};

void tern_events_open(const struct tern_job *job)
{
    events.job = job;
}
