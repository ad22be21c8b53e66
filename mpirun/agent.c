/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent decides nothing: it does what frames ask for, and reports what happens. It ends when its
 * link ends. So whatever happens to mpirun, to ssh, or to the host in between, the guardian here
 * kills the ranks. An agent is part of the tree: it passes on frames for and from the agents below
 * it. */
#include "mpirun/agent.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/base/system_calls.h"
#include "mpirun/plan/job/executable.h"
#include "mpirun/plan/hosts/this_machine.h"
#include "mpirun/ranks/input.h"
#include "mpirun/ranks/local.h"
#include "mpirun/ranks/output.h"
#include "mpirun/ranks/rank_environment.h"
#include "mpirun/serve/addresses.h"
#include "mpirun/serve/look.h"
#include "mpirun/serve/rank_channel.h"
#include "mpirun/serve/pmix/server_exchange.h"
#include "mpirun/serve/unreached.h"
#include "mpirun/tree/agents.h"
#include "mpirun/tree/call_mpirun.h"
#include "mpirun/wire/agent_link.h"
#include "mpirun/wire/connection.h"
#include "mpirun/wire/job_data.h"

/* for the agents below, which remove what they have made; for the guardian after a lost link */
enum { AGENTS_END_MS = 8000, ABANDON_MS = 3000 };

static struct {
    struct tern_agent_link link;
    struct tern_launch launch;
    struct tern_job job;
    struct tern_host host;
    hwloc_topology_t topology;
    pid_t *pids; /* by rank; 0 if not started yet */
    int self; /* number of this host */
    /* the link is a connection that this agent made; else it is standard input and output */
    bool calls;
    bool joined, has_job, gone;
} agent;

static void send_up(const struct tern_frame *frame)
{
    tern_agent_link_send(&agent.link, frame);
}

static void send_text(enum tern_frame_kind kind, int host, int value, const char *text)
{
    struct tern_parcel parcel = { 0 };
    tern_parcel_string(&parcel, text);
    send_up(&(struct tern_frame){ .kind = kind,
                                  .host = host,
                                  .value = value,
                                  .data = parcel.bytes,
                                  .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

/* ---- what happens on this host ---- */

static void send_answer(const struct tern_guardian_message *answer)
{
    struct tern_parcel parcel = { 0 };
    tern_parcel_number(&parcel, answer->pid);
    tern_parcel_number(&parcel, answer->value);
    tern_parcel_number(&parcel, answer->step);
    tern_parcel_string(&parcel, answer->text);
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_GUARDIAN,
                                  .host = agent.job.here,
                                  .rank = answer->rank,
                                  .value = answer->kind,
                                  .data = parcel.bytes,
                                  .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

static void guardian_answered(const struct tern_guardian_message *answer)
{
    if (answer->kind == TERN_GUARDIAN_STARTED)
        agent.pids[answer->rank] = answer->pid;
    if (answer->kind == TERN_GUARDIAN_GONE) { /* the rest of the output comes first */
        agent.gone = true;
        tern_output_finish();
    }
    send_answer(answer);
}

static void send_act(int act, int rank, int number, const char *text)
{
    struct tern_parcel parcel = { 0 };
    tern_parcel_number(&parcel, number);
    tern_parcel_string(&parcel, text);
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_CLIENT,
                                  .host = agent.job.here,
                                  .rank = rank,
                                  .value = act,
                                  .data = parcel.bytes,
                                  .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

static void connected(int rank)
{
    send_act(TERN_CLIENT_CONNECTED, rank, 0, NULL);
}

static void world(int rank)
{
    send_act(TERN_CLIENT_WORLD, rank, 0, NULL);
}

static void finalized(int rank)
{
    send_act(TERN_CLIENT_FINALIZED, rank, 0, NULL);
}

static void lost(int rank)
{
    send_act(TERN_CLIENT_LOST, rank, 0, NULL);
}

static void aborted(int rank, int status, const char *message)
{
    send_act(TERN_CLIENT_ABORTED, rank, status, message);
}

static void signalled(int rank, int number)
{
    send_act(TERN_CLIENT_SIGNALLED, rank, number, NULL);
}

static void remarked(int rank, int remark, const char *text)
{
    send_act(TERN_CLIENT_REMARKED, rank, remark, text);
}

static void crashed(int rank, int number, const char *text)
{
    send_act(TERN_CLIENT_CRASHED, rank, number, text);
}

static void joined(int rank, enum tern_joined how, const char *jobs)
{
    send_act(TERN_CLIENT_JOINED, rank, (int)how, jobs);
}

static void asked(int rank, bool last, const char *part)
{
    send_act(TERN_CLIENT_ASKED, rank, last, part);
}

static pid_t process_of(int rank)
{
    return agent.pids[rank];
}

static void file_failed(int rank)
{
    send_up(&(struct tern_frame){
        .kind = TERN_FRAME_UNWRITTEN, .host = agent.job.here, .rank = rank });
}

static void stream_closed(int rank)
{
    send_up(
        &(struct tern_frame){ .kind = TERN_FRAME_CLOSED, .host = agent.job.here, .rank = rank });
}

static void write_failed(int which, int error_number)
{
    (void)which, (void)error_number;
}

static void forward(int rank, int which, const char *data, size_t size)
{
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_OUTPUT,
                                  .host = agent.job.here,
                                  .rank = rank,
                                  .value = which,
                                  .data = data,
                                  .size = (uint32_t)size });
}

static void input_taken(bool wants_more)
{
    send_up(&(struct tern_frame){
        .kind = TERN_FRAME_TAKEN, .host = agent.job.here, .value = !wants_more });
}

/* ---- the job ---- */

/* Returns the working directory of a program, or NULL if --wdir names one that is missing here. If
 * the user did not name one and mpirun's is missing here, takes the home directory. */
static char *find_wdir(const struct tern_app *app)
{
    struct stat info;
    const char *wdir = app->wdir, *home = getenv("HOME");
    if (wdir && stat(wdir, &info) == 0 && S_ISDIR(info.st_mode))
        return tern_must_copy(wdir);
    if (app->wdir_said)
        return NULL;
    return tern_must_copy(home && stat(home, &info) == 0 ? home : "/");
}

/* Returns 0, or mpirun's exit status with an error text. */
static int find_programs(struct tern_job *job)
{
    const struct tern_options *options = job->options;
    job->paths = tern_must_alloc(options->app_count * sizeof *job->paths);
    job->wdirs = tern_must_alloc(options->app_count * sizeof *job->wdirs);
    for (int app = 0; app < options->app_count; app++) {
        job->wdirs[app] = find_wdir(&options->apps[app]);
        if (!job->wdirs[app]) {
            tern_error(TERN_ERR_ARG, "there is no working directory %s", options->apps[app].wdir);
            return 1;
        }
        bool used = false;
        for (int rank = 0; rank < job->map->size; rank++)
            used |= job->map->places[rank].host == job->here && job->map->places[rank].app == app;
        int status =
            used ? tern_program_find(&options->apps[app], job->wdirs[app], &job->paths[app]) : 0;
        if (status)
            return status;
        if (!used)
            job->paths[app] = tern_must_copy(options->apps[app].argv.items[0]);
    }
    return 0;
}

static int make_ready(struct tern_job *job)
{
    static const struct tern_client_listener server_listener = { connected, world,   finalized,
                                                                 lost,      aborted, signalled,
                                                                 remarked,  crashed, joined,
                                                                 asked };
    static const struct tern_output_listener output_listener = {
        .process_of = process_of,
        .closed = stream_closed,
        .file_failed = file_failed,
        .write_failed = write_failed,
        .forward = forward,
    };
    agent.pids = tern_must_alloc(job->map->size * sizeof *agent.pids);
    int error = tern_local_open(job, true, false, guardian_answered);
    if (error)
        return error;
    tern_environment_clean();
    tern_exchange_open(job, true, send_up);
    tern_cards_open(job, true, send_up, tern_reports_answer);
    tern_unreached_open(job, true, send_up, tern_reports_unreached);
    tern_look_open(job, process_of);
    error = tern_output_open(job->options, job->map->size, &output_listener);
    return error ? error : tern_local_serve(job, &server_listener);
}

static void take_job(const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    struct tern_strings env = { 0 };
    if (agent.has_job)
        return;
    agent.has_job = true;
    tern_read_strings(&reader, &env);
    int error = tern_job_unpack(&reader, &agent.job);
    int status = 1;
    if (!error && agent.self >= agent.job.host_count)
        error = tern_error(TERN_ERR_ARG, "the job's description does not contain this host");
    agent.job.here = agent.self;
    agent.job.topology = agent.topology;
    if (!error) {
        tern_environment_receive(&env);
        status = find_programs(&agent.job);
        error = status ? TERN_ERR_ARG : make_ready(&agent.job);
        status = status ? status : 1;
    }
    tern_strings_free(&env);
    send_text(TERN_FRAME_READY, agent.self, error ? status : 0,
              error ? tern_error_text(error) : NULL);
}

static void spawn(void)
{
    int error = tern_local_start_ranks(&agent.job);
    if (error)
        send_text(TERN_FRAME_READY, agent.job.here, 1, tern_error_text(error));
}

/* Passes an order to the guardian. If there is no guardian, nothing was started, so KILL is
 * answered at once. */
static void order(const struct tern_frame *frame)
{
    if (tern_local_guarded())
        tern_local_order(frame->value, frame->rank, (int)frame->id);
    else if (frame->value == TERN_GUARDIAN_KILL)
        send_answer(&(struct tern_guardian_message){ .kind = TERN_GUARDIAN_GONE });
}

static _Noreturn void end(int status)
{
    tern_local_close();
    tern_agents_end(AGENTS_END_MS);
    exit(status);
}

/* ---- where the ranks are ---- */

static uint64_t look_number; /* of the last question */

static void seen(const struct tern_parcel *parcel)
{
    enum { SEEN = 2 };
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_SEEN,
                                  .host = agent.job.here,
                                  .value = SEEN,
                                  .id = look_number,
                                  .data = parcel->bytes,
                                  .size = (uint32_t)parcel->size });
}

static void look(const struct tern_frame *frame)
{
    if (frame->value) {
        look_number = frame->id;
        tern_look_take(seen);
        return;
    }
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_SEEN,
                                  .host = agent.job.here,
                                  .value = tern_look_glance(),
                                  .id = frame->id });
}

/* ---- the tree ---- */

static void child_up(int host)
{
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_UP, .host = host });
}

static void child_failed(int host, const char *why)
{
    send_text(TERN_FRAME_FAILED, host, 0, why);
}

static void child_lost(int host, const char *why)
{
    send_text(TERN_FRAME_LOST, host, 0, why);
}

static void child_said(const char *line)
{
    dprintf(2, "%s\n", line);
}

static void join(const struct tern_frame *frame)
{
    static const struct tern_agents_listener listener = { child_up, child_failed, child_lost,
                                                          send_up, child_said };
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    agent.self = frame->host;
    const char *cpu_list = tern_read_string(&reader);
    struct tern_launch launch;
    tern_launch_unpack(&reader, &launch);
    if (reader.bad) {
        tern_log("the data from mpirun are not valid; is it of another version?");
        end(1);
    }
    agent.launch = launch;
    agent.joined = true;
    tern_agents_open(&agent.launch, &listener);
    tern_agent_link_watch_silence(&agent.link, launch.silence_ms);
    int error = tern_topology_read(cpu_list, &agent.host, &agent.topology);
    if (error) {
        send_text(TERN_FRAME_READY, agent.self, 1, tern_error_text(error));
        return;
    }
    struct tern_parcel parcel = { 0 };
    tern_host_pack(&agent.host, &parcel);
    send_up(&(struct tern_frame){ .kind = TERN_FRAME_TOPOLOGY,
                                  .host = agent.self,
                                  .data = parcel.bytes,
                                  .size = (uint32_t)parcel.size });
    tern_parcel_free(&parcel);
}

static void start_child(const struct tern_frame *frame)
{
    struct tern_reader reader = { .at = frame->data, .left = frame->size };
    const char *name = tern_read_string(&reader), *address = tern_read_string(&reader);
    if (name && frame->value >= 0)
        tern_agents_start(frame->value, name, address, agent.launch.timeout_ms);
}

/* ---- frames from above ---- */

static void handle(const struct tern_frame *frame)
{
    if (frame->kind == TERN_FRAME_JOIN && !agent.joined)
        join(frame);
    else if (frame->kind == TERN_FRAME_START)
        start_child(frame);
    else if (frame->kind == TERN_FRAME_JOB)
        take_job(frame);
    else if (frame->kind == TERN_FRAME_END)
        end(0);
    if (!agent.has_job || tern_exchange_received(frame) || tern_cards_received(frame) ||
        tern_unreached_received(frame))
        return;
    if (frame->kind == TERN_FRAME_SPAWN)
        spawn();
    else if (frame->kind == TERN_FRAME_STDIN)
        tern_input_feed(frame->data, frame->size, input_taken);
    else if (frame->kind == TERN_FRAME_CREDIT)
        tern_output_credit((size_t)frame->value);
    else if (frame->kind == TERN_FRAME_ORDER)
        order(frame);
    else if (frame->kind == TERN_FRAME_LOOK && agent.pids)
        look(frame);
}

static void received(struct tern_agent_link *link, const struct tern_frame *frame)
{
    (void)link;
    bool for_all = frame->host == TERN_EVERY_HOST;
    if (!agent.joined || for_all || frame->host == agent.self) {
        if (for_all)
            tern_agents_send(frame);
        handle(frame);
    } else {
        tern_agents_send(frame);
    }
}

/* Returns true if the host of the parent (mpirun or an agent) is alive: then the parent may only
 * have been stopped. */
static bool host_answers(struct tern_agent_link *link)
{
    return agent.calls ? tern_socket_answers(link->in.fd) : tern_connection_answers(0);
}

static void link_lost(struct tern_agent_link *link, const char *why)
{
    (void)link;
    if (agent.has_job && !agent.gone)
        tern_log("the connection with mpirun is lost: %s; its job ends on this host", why);
    /* The guardian kills the ranks as soon as this end of its socket closes. But if a resource
     * manager kills everything that is left when this agent ends, wait for the guardian first. */
    tern_agents_end(0);
    if (agent.calls)
        tern_local_abandon(ABANDON_MS);
    exit(1);
}

/* Does nothing with SIGTERM, which Slurm sends to all processes of a job that is to end: the job
 * then ends as its ranks react. This is a handler, because ranks would inherit an ignored
 * signal. */
static void heed_nothing(int number)
{
    (void)number;
}

/* Names this host in the agent's messages, such as "host n3: agent", because the standard errors of
 * all agents arrive in the single stream of srun. */
static void name_host(void)
{
    char host[256] = "", *name;
    gethostname(host, sizeof host - 1);
    name = tern_must_format("host %s: agent",
                            getenv("SLURMD_NODENAME") ? getenv("SLURMD_NODENAME") : host);
    tern_log_name(name);
    free(name);
}

int tern_agent_run(bool calls)
{
    int in = fcntl(0, F_DUPFD_CLOEXEC, 10), out = fcntl(1, F_DUPFD_CLOEXEC, 10);
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (in < 0 || out < 0 || null < 0 || isatty(in)) {
        tern_log("--agent is not for users: mpirun uses it to start itself on other hosts");
        return 1;
    }
    dup2(null, 0);
    dup2(2, 1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    tern_log_name("agent");
    agent.calls = calls;
    if (calls) {
        signal(SIGTERM, heed_nothing);
        name_host();
        close(out);
        int directions = in, error = tern_call_mpirun(directions, &in);
        close(directions);
        out = error ? -1 : fcntl(in, F_DUPFD_CLOEXEC, 10);
        if (out < 0) {
            tern_log("%s", error ? tern_error_text(error) : strerror(errno));
            return 1;
        }
    }
    char *greeting = tern_agent_greeting();
    dprintf(out, "%s\n", greeting);
    free(greeting);
    agent.link.received = received;
    agent.link.lost = link_lost;
    agent.link.answers = host_answers;
    int error = tern_system_calls_try(TERN_CALLS_OF_LAUNCHER);
    if (!error)
        error = tern_loop_open();
    if (!error)
        error = tern_agent_link_open(&agent.link, in, out);
    if (error) {
        tern_log("%s", tern_error_text(error));
        return 1;
    }
    tern_loop_run();
    return 0;
}
