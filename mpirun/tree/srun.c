/* SPDX-License-Identifier: BSD-3-Clause */
/* srun passes its standard input to all agents. Through it they get the secret and mpirun's
 * addresses, so that neither appears on a command line, in an environment or in a file. srun's
 * output would not show which agent wrote what, and would have to be parsed. So agents connect to
 * mpirun, which keeps a port open until all have connected.
 *
 * srun lives as long as the agents. If srun is killed, Slurm ends the step, and so the agents. */
#include "mpirun/tree/srun.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/net/hmac.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "mpirun/base/loop.h"
#include "mpirun/plan/hosts/allocation.h"
#include "mpirun/tree/agent_bootstrap.h"
#include "mpirun/tree/agent_port.h"
#include "mpirun/tree/command.h"

/* REAP_MS: for srun to end when it has closed its standard error. GRACE_MS: for the line with the
 * reason, nothing else depends on it. */
enum { LINE_BYTES = 600, REAP_MS = 10000, GRACE_MS = 100, SWEEP_MS = 2000 };

/* Variables that a job script's options have set for the user's own srun. This srun starts one task
 * on each host, which uses whatever the job has there, beside other steps. */
static const char *const unwanted[] = {
    "SLURM_NTASKS_PER_NODE",
    "SLURM_NTASKS_PER_SOCKET",
    "SLURM_NTASKS_PER_CORE",
    "SLURM_NTASKS_PER_GPU",
    "SLURM_GPUS_PER_TASK",
    "SLURM_TRES_PER_TASK",
    "SLURM_CPUS_PER_TASK",
    "SRUN_CPUS_PER_TASK",
    "SLURM_THREADS_PER_CORE",
    "SLURM_HINT",
    "SLURM_DISTRIBUTION",
    "SLURM_EXACT",
    "SLURM_EXCLUSIVE",
    "SLURM_STDINMODE",
    "SLURM_STDOUTMODE",
    "SLURM_STDERRMODE",
    "SLURM_LABELIO",
    "SLURM_MULTI_PROG",
    "SLURM_WAIT",
    "SLURM_TIMELIMIT",
    "SLURM_PROLOG",
    "SLURM_EPILOG",
    "SLURM_TASK_PROLOG",
    "SLURM_TASK_EPILOG",
    NULL,
};

static struct {
    const struct tern_launch *launch;
    const struct tern_host_list *list;
    int here;
    void (*said)(const char *line);
    pid_t pid;
    struct tern_watch input, words;
    int output; /* nothing arrives through it */
    char *directions;
    size_t size, sent;
    char line[LINE_BYTES]; /* the incomplete line */
    size_t line_bytes;
    /* the first and the last complete line before all agents have connected */
    char first[LINE_BYTES], last[LINE_BYTES];
    char cause[LINE_BYTES]; /* the last line that srun has not written itself: the cause */
    struct tern_timer limit, grace;
    bool *gone; /* by host: its agent has ended, and is reported as such after GRACE_MS */
    int timeout_ms, came;
    bool failed; /* srun itself failed; what it reports about other hosts follows from that */
    bool settled;
} srun;

/* ---- standard error of srun and agents ---- */

static int find_host(const char *name, size_t length)
{
    int host = 0;
    while (host < srun.list->count && (strlen(srun.list->items[host].name) != length ||
                                       strncasecmp(srun.list->items[host].name, name, length) != 0))
        host++;
    return host < srun.list->count ? host : -1;
}

/* Reports the agents that have ended. Waited until now because the line with the reason may arrive
 * after the line about the end. */
static void grace_expired(struct tern_timer *timer)
{
    (void)timer;
    for (int host = 0; host < srun.list->count && !srun.failed; host++) {
        if (srun.gone[host])
            tern_agents_stay_away(host, *srun.cause ? srun.cause : srun.last);
    }
}

/* Returns the line without the name of the host, which an agent puts in front: the message names
 * the host anyway. */
static const char *without_host(const char *line)
{
    const char *end = strncmp(line, "host ", 5) == 0 ? strstr(line, ": ") : NULL;
    return end ? end + 2 : line;
}

/* Looks for lines about hosts whose agent will not connect: "srun: error: n[2-3]: tasks 0-1: Exited
 * with exit code 2" and "... failed on node n4: ...". Another line gives the reason, from the agent
 * that could not start or has failed ("host n2: agent: ..."), or from Slurm's daemon ("slurmstepd:
 * ..."). */
static void heed(const char *line)
{
    static const char error[] = "srun: error: ", node[] = " on node ";
    const char *at = strstr(line, node);
    if (strncmp(line, "srun: ", 6) != 0)
        snprintf(srun.cause, sizeof srun.cause, "%s", without_host(line));
    if (srun.failed)
        return;
    if (at) {
        at += sizeof node - 1;
        int host = find_host(at, strcspn(at, ": "));
        srun.failed = host >= 0 && tern_agents_stay_away(host, line);
        return;
    }
    at = strncmp(line, error, sizeof error - 1) == 0 ? line + sizeof error - 1 : "";
    const char *end = strstr(at, ": task");
    if (!end)
        return;
    char *text = tern_must_format("%.*s", (int)(end - at), at);
    struct tern_strings names = {0};
    if (tern_slurm_expand(text, &names) == 0) {
        for (int i = 0; i < names.count; i++) {
            int host = find_host(names.items[i], strlen(names.items[i]));
            if (host >= 0)
                srun.gone[host] = true;
        }
        if (!srun.grace.due_ms)
            tern_loop_set_timer(&srun.grace, GRACE_MS);
    }
    tern_strings_free(&names);
    free(text);
}

static void take_line(void)
{
    srun.line[srun.line_bytes] = '\0';
    srun.line[strcspn(srun.line, "\r")] = '\0';
    srun.line_bytes = 0;
    if (!*srun.line)
        return;
    if (srun.settled) {
        srun.said(srun.line);
        return;
    }
    heed(srun.line);
    if (!*srun.first)
        memcpy(srun.first, srun.line, sizeof srun.first);
    memcpy(srun.last, srun.line, sizeof srun.last);
}

static void stay_away_first(const char *why)
{
    int host = 0;
    while (host < srun.list->count && !tern_agents_stay_away(host, why))
        host++;
    srun.failed = true;
}

/* Slurm lets no agent read its input before all have been started. So if one host is silent, no
 * agent connects. */
static void limit_expired(struct tern_timer *timer)
{
    char why[LINE_BYTES + 200];
    (void)timer;
    snprintf(why, sizeof why, "no answer within %d s (launch_timeout)%s%s%s",
             srun.timeout_ms / 1000,
             srun.came ? ""
                       : ", and from no other host: srun starts all agents or none. sinfo may show "
                         "which host is silent",
             *srun.last ? "; " : "", srun.last);
    if (!srun.came)
        stay_away_first(why);
    for (int host = 0; srun.came && host < srun.list->count; host++)
        tern_agents_stay_away(host, why);
}

static void came(int host, int fd)
{
    srun.came++;
    tern_agents_came(host, fd);
}

/* Handles the end of srun: no further agent will connect. Reports one host for all of them. */
static void ended(void)
{
    char why[2 * LINE_BYTES + 80];
    bool several = strcmp(srun.first, srun.last) != 0;
    int status = srun.pid > 0 ? tern_command_reap(&srun.pid, REAP_MS) : 0;
    bool killed = WIFSIGNALED(status);
    snprintf(why, sizeof why, "%s%s%s%ssrun ended %s %d%s", srun.first, several ? "; " : "",
             several ? srun.last : "", *srun.last ? "; " : "",
             killed ? "by signal" : "with exit status",
             killed ? WTERMSIG(status) : WEXITSTATUS(status),
             killed || WEXITSTATUS(status) != 127 ? "" : " (--mca plm rsh does not need srun)");
    grace_expired(NULL);
    if (!srun.settled && !srun.failed)
        stay_away_first(why);
    if (srun.settled && killed)
        srun.said("srun, which started this job's agents, was killed");
}

static void words_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    char buffer[4096];
    ssize_t n;
    while ((n = read(watch->fd, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (buffer[i] == '\n' || srun.line_bytes == sizeof srun.line - 1)
                take_line();
            if (buffer[i] != '\n')
                srun.line[srun.line_bytes++] = buffer[i];
        }
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    take_line();
    tern_loop_watch(watch, 0);
    close(watch->fd);
    watch->fd = -1;
    ended();
}

/* ---- standard input of srun ---- */

static void close_input(void)
{
    if (srun.input.fd < 0)
        return;
    tern_loop_watch(&srun.input, 0);
    close(srun.input.fd);
    srun.input.fd = -1;
    explicit_bzero(srun.directions, srun.size);
    free(srun.directions);
}

static void input_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    ssize_t n = write(watch->fd, srun.directions + srun.sent, srun.size - srun.sent);
    srun.sent += n > 0 ? (size_t)n : 0;
    if ((n < 0 && errno != EAGAIN && errno != EINTR) || srun.sent == srun.size)
        close_input();
}

/* ---- start and end ---- */

/* `what` is the word after --agent. */
static void make_command(const struct tern_launch *launch, int here, const char *what,
                         struct tern_strings *argv)
{
    char *names = NULL;
    int count = 0;
    for (int host = 0; host < srun.list->count; host++) {
        if (host == here)
            continue;
        char *more = tern_must_format("%s%s%s", names ? names : "", names ? "," : "",
                                      srun.list->items[host].name);
        free(names);
        names = more;
        count++;
    }
    tern_strings_add(argv, "srun");
    tern_strings_format(argv, "--nodes=%d", count);
    tern_strings_format(argv, "--ntasks=%d", count);
    tern_strings_add(argv, "--ntasks-per-node=1");
    tern_strings_format(argv, "--nodelist=%s", names);
    tern_strings_add(argv, "--export=ALL");
    tern_strings_add(argv, "--mpi=none");
    tern_strings_add(argv, "--cpu-bind=none");
    /* mpirun ends the others itself, and says why */
    tern_strings_add(argv, "--kill-on-bad-exit=0");
    tern_strings_add_words(argv, tern_param_string("plm_slurm_args"), " \t");
    tern_strings_add(argv, launch->program);
    tern_strings_add(argv, "--agent");
    tern_strings_add(argv, what);
    free(names);
}

static int write_directions(const struct tern_launch *launch, int here)
{
    /* sooner than mpirun gives up: an agent knows better what keeps it from connecting */
    struct tern_directions directions = {.timeout_ms = launch->timeout_ms / 2};
    int error = tern_random(directions.secret, sizeof directions.secret);
    if (!error)
        error = tern_agent_port_open(directions.secret, srun.list->count, came, &directions.port);
    if (error)
        return error;
    tern_agent_port_addresses(&directions.addresses);
    for (int host = 0; host < srun.list->count; host++)
        tern_strings_add(&directions.hosts, host == here ? "" : srun.list->items[host].name);
    srun.directions = tern_directions_write(&directions);
    srun.size = strlen(srun.directions);
    tern_strings_free(&directions.addresses);
    tern_strings_free(&directions.hosts);
    explicit_bzero(directions.secret, sizeof directions.secret);
    return 0;
}

static int run(const char *what, pid_t *ret_pid, int ret_ours[3])
{
    /* If srun were killed together with this process, Slurm would kill agents and their guardians
     * before they have cleaned up. */
    struct tern_command command = {.without = unwanted, .outlives = true};
    /* --overlap as a variable: older Slurm versions do not know the option and do not need it */
    command.with = "SLURM_OVERLAP=1";
    make_command(srun.launch, srun.here, what, &command.argv);
    int failed = tern_command_run(&command, ret_pid, ret_ours);
    int error = errno;
    tern_strings_free(&command.argv);
    return failed ? tern_error(TERN_ERR_OTHER, "cannot start srun: %s", strerror(error)) : 0;
}

/* Removes session directories on all hosts. If an agent or srun was killed, Slurm has killed the
 * guardians too, which would have removed them. */
static void sweep(void)
{
    pid_t pid;
    int fds[3];
    if (run("sweep", &pid, fds))
        return;
    tern_command_reap(&pid, SWEEP_MS);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
}

/* Called when the agents have been told to end. Waits for srun for at most `timeout_ms`, then kills
 * it. If some agents were killed, removes what they have left. */
static void end(int timeout_ms, bool lost)
{
    tern_agent_port_close();
    close_input();
    if (srun.pid > 0)
        tern_command_reap(&srun.pid, timeout_ms);
    if (srun.words.fd >= 0 && srun.settled)
        words_ready(&srun.words, 0);
    if (srun.settled && lost)
        sweep();
}

int tern_srun_start(const struct tern_launch *launch, const struct tern_host_list *list, int here,
                    void (*said)(const char *line))
{
    int fds[3];
    srun.launch = launch;
    srun.list = list;
    srun.here = here;
    srun.said = said;
    srun.input.fd = srun.words.fd = -1;
    tern_agents_at_end(end);
    int error = write_directions(launch, here);
    if (!error)
        error = run("call", &srun.pid, fds);
    if (error)
        return error;
    srun.gone = tern_must_alloc(list->count * sizeof *srun.gone);
    srun.grace.expired = grace_expired;
    srun.timeout_ms = launch->timeout_ms;
    srun.limit.expired = limit_expired;
    tern_loop_set_timer(&srun.limit, launch->timeout_ms);
    srun.input = (struct tern_watch){.fd = fds[0], .ready = input_ready};
    srun.output = fds[1];
    srun.words = (struct tern_watch){.fd = fds[2], .ready = words_ready};
    tern_loop_never_wait(fds[0]);
    tern_loop_never_wait(fds[2]);
    for (int host = 0; host < list->count; host++) {
        if (host != here)
            tern_agents_await(host, list->items[host].name);
    }
    if (tern_loop_watch(&srun.words, EPOLLIN) < 0 || tern_loop_watch(&srun.input, EPOLLOUT) < 0)
        return tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
    return 0;
}

void tern_srun_settle(void)
{
    srun.settled = true;
    tern_loop_stop_timer(&srun.limit);
    tern_agent_port_close();
}
