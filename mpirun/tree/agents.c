/* SPDX-License-Identifier: BSD-3-Clause */
/* An agent is reached by a command (ssh, or what plm_rsh_agent says) whose standard input and
 * output are the link; no port is needed. The command line holds only the program's name and
 * --agent. So no quoting can go wrong, and other users cannot read a secret there. Everything else
 * follows as frames.
 *
 * The command leads a session of its own: it has no terminal to ask for a password on, and no
 * signal of the terminal reaches it. Its standard error is collected line by line. If the agent
 * does not come up, the last line gives the reason in ssh's own words. Afterwards the lines are
 * passed on. */
#include "mpirun/tree/agents.h"

#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "mpirun/tree/command.h"
#include "mpirun/wire/agent_link.h"
#include "mpirun/wire/connection.h"

/* to wait for words that explain a failure; only the message depends on them */
enum { WORDS_GRACE_MS = 300, LAST_WORDS_MS = 200, REAP_MS = 100, LAST_WORDS = 600 };

enum state { STARTING, FAILING, UP, GONE };

struct child {
    struct child *next;
    int host;
    char *name;
    pid_t pid;
    enum state state;
    struct tern_agent_link link;
    struct tern_watch words; /* standard error of the command; fd -1 if closed */
    int patience_ms;         /* time to come up */
    /* until the agent must be up; in state FAILING: until its last line must have arrived */
    struct tern_timer limit;
    char line[LAST_WORDS];   /* the incomplete line */
    size_t line_bytes;
    char last[LAST_WORDS]; /* the last complete line before coming up */
    char why[300];
    bool silent; /* the agent was silent once, and a message said so */
    bool foreign; /* the mpirun there is that of another MPI library */
};

static struct {
    const struct tern_launch *launch;
    const struct tern_agents_listener *listener;
    struct child *children;
    bool lost; /* an agent that was up has been lost */
    void (*at_end)(int timeout_ms, bool lost); /* or NULL */
} agents;

void tern_agents_open(const struct tern_launch *launch, const struct tern_agents_listener *listener)
{
    agents.launch = launch;
    agents.listener = listener;
}

char *tern_agent_greeting(void)
{
    struct utsname machine;
    uname(&machine);
    return tern_must_format("TERN-AGENT %s %s", PACKAGE_VERSION, machine.machine);
}

/* ---- standard error ---- */

static bool is_starting(const struct child *child)
{
    return child->state == STARTING || child->state == FAILING;
}

/* Passes a line on, with the host's name in front. Lines from further down the tree have a name
 * already. */
static void say_line(const struct child *child)
{
    char line[LAST_WORDS + 300];
    bool named = strncmp(child->line, "host ", 5) == 0;
    snprintf(line, sizeof line, "%s%s%s%s", named ? "" : "host ", named ? "" : child->name,
             named ? "" : ": ", child->line);
    agents.listener->said(line);
}

/* Returns true if a line is what the mpirun of another MPI library says to the option --agent. */
static bool is_refusal(const char *line)
{
    static const char *const words[] = {
        "unknown option \"--agent\"", /* Open MPI 4 */
        "unrecognized option '--agent'", /* PRRTE */
        "unrecognized argument agent",   /* MPICH, Intel MPI */
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i]))
            return true;
    return false;
}

static void take_line(struct child *child)
{
    child->line[child->line_bytes] = '\0';
    child->line[strcspn(child->line, "\r")] = '\0';
    child->line_bytes = 0;
    if (!*child->line)
        return;
    child->foreign |= is_starting(child) && is_refusal(child->line);
    if (is_starting(child))
        memcpy(child->last, child->line, sizeof child->last);
    else
        say_line(child);
}

static void finish_failure(struct child *child);

static void words_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct child *child = (struct child *)((char *)watch - offsetof(struct child, words));
    char buffer[4096];
    ssize_t n;
    while ((n = read(watch->fd, buffer, sizeof buffer)) > 0) {
        for (ssize_t i = 0; i < n; i++) {
            if (buffer[i] == '\n' || child->line_bytes == sizeof child->line - 1)
                take_line(child);
            if (buffer[i] != '\n')
                child->line[child->line_bytes++] = buffer[i];
        }
    }
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    take_line(child);
    tern_loop_watch(watch, 0);
    close(watch->fd);
    watch->fd = -1;
    if (child->state == FAILING)
        finish_failure(child);
}

/* ---- ends ---- */

/* Returns what a user can do about ssh's words, or "". */
static const char *cure(const char *words)
{
    static const struct {
        const char *part, *cure;
    } cures[] = {
        {"cannot run ", "; it is the command of the parameter plm_rsh_agent: install it on the "
                        "host that starts, or name another"},
        {"assword:", "; ssh must do without a password: ssh-copy-id puts your key there"},
        {"assphrase", "; ssh must do without a passphrase: ssh-add gives it to ssh-agent"},
        {"Permission denied", "; ssh must do without a password: ssh-copy-id puts your key there"},
        {"Host key verification failed",
         "; connect to it once by ssh, or put its key into ~/.ssh/known_hosts"},
        {"not found", "; install mpirun there at the same path, or name it with --prefix or "
                      "--launch-agent"},
        {"No such file or directory",
         "; install mpirun there at the same path, or name it with --prefix or --launch-agent"},
    };
    for (size_t i = 0; i < sizeof cures / sizeof *cures; i++)
        if (strstr(words, cures[i].part))
            return cures[i].cure;
    return "";
}

/* Writes why the agent has not come up. `status` is the wait status of the command. */
static void describe_failure(const struct child *child, int status, char *text, size_t room)
{
    if (child->foreign)
        snprintf(text, room,
                 "%s there is the mpirun of another MPI library; expected that of Tern MPI: name "
                 "its directory with --prefix, or the program with --launch-agent",
                 agents.launch->program);
    else if (*child->last && *child->why)
        snprintf(text, room, "%s; %s%s", child->last, child->why, cure(child->last));
    else if (*child->last)
        snprintf(text, room, "%s%s", child->last, cure(child->last));
    else if (*child->why)
        snprintf(text, room, "%s", child->why);
    else
        snprintf(text, room, "%s ended %s %d before the agent answered",
                 agents.launch->words.items[0],
                 WIFSIGNALED(status) ? "by signal" : "with exit status",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
}

static void finish_failure(struct child *child)
{
    tern_loop_stop_timer(&child->limit);
    if (child->words.fd >= 0) {
        take_line(child); /* a prompt has no end of line */
        tern_loop_watch(&child->words, 0);
        close(child->words.fd);
        child->words.fd = -1;
    }
    child->state = GONE;
    int status = child->pid > 0 ? tern_command_reap(&child->pid, REAP_MS) : 0;
    char text[LAST_WORDS + 500];
    describe_failure(child, status, text, sizeof text);
    agents.listener->failed(child->host, text);
}

/* Begins to fail: the last line of standard error may still be on its way. */
static void fail(struct child *child, const char *why)
{
    if (child->state != STARTING)
        return;
    child->state = FAILING;
    snprintf(child->why, sizeof child->why, "%s", why);
    tern_agent_link_close(&child->link);
    tern_loop_set_timer(&child->limit, WORDS_GRACE_MS);
}

static void limit_expired(struct tern_timer *timer)
{
    struct child *child = (struct child *)((char *)timer - offsetof(struct child, limit));
    if (child->state == FAILING) {
        finish_failure(child);
        return;
    }
    char why[120];
    snprintf(why, sizeof why, "no answer within %d s (launch_timeout)",
             (child->patience_ms + 999) / 1000);
    if (child->pid > 0)
        kill(child->pid, SIGKILL);
    fail(child, why);
}

/* Waits a moment for the end of the command that carried the link. Returns true if a signal has
 * killed the command; *ret_signal is that signal. */
static bool was_killed(struct child *child, int *ret_signal)
{
    enum { STEP_MS = 5 };
    int status = 0;
    pid_t ended = 0;
    for (int waited_ms = 0; child->pid > 0 && waited_ms <= REAP_MS; waited_ms += STEP_MS) {
        ended = waitpid(child->pid, &status, WNOHANG);
        if (ended)
            break;
        poll(NULL, 0, STEP_MS);
    }
    if (ended)
        child->pid = 0;
    *ret_signal = WTERMSIG(status);
    return ended > 0 && WIFSIGNALED(status);
}

/* Reads what the guardian of a killed agent says. The job would end before these words come. */
static void hear_last_words(struct child *child)
{
    if (child->words.fd >= 0 &&
        poll(&(struct pollfd){ child->words.fd, POLLIN, 0 }, 1, LAST_WORDS_MS) > 0)
        words_ready(&child->words, 0);
}

static void lose_child(struct child *child, const char *why)
{
    char text[300];
    int number;
    bool ended = strcmp(why, TERN_LINK_ENDED) == 0, killed = ended && was_killed(child, &number);
    if (killed) {
        hear_last_words(child);
        snprintf(text, sizeof text, "%s: %s was killed by signal %d (%s)", why,
                 agents.launch->words.items[0], number, strsignal(number));
    }
    child->state = GONE;
    agents.lost = true;
    if (child->pid > 0)
        kill(child->pid, SIGTERM);
    agents.listener->lost(child->host, killed ? text : why);
}

static void link_lost(struct tern_agent_link *link, const char *why)
{
    struct child *child = (struct child *)((char *)link - offsetof(struct child, link));
    if (child->state == STARTING) {
        /* the command's own words explain best why the connection ended */
        fail(child, strcmp(why, TERN_LINK_ENDED) == 0 ? "" : why);
    } else if (child->state == UP) {
        lose_child(child, why);
    }
}

/* Returns true if the silent agent's host is alive. Says so once. */
static bool host_answers(struct tern_agent_link *link)
{
    struct child *child = (struct child *)((char *)link - offsetof(struct child, link));
    char line[400];
    if (!(child->pid ? tern_connection_answers(child->pid) : tern_socket_answers(link->in.fd)))
        return false;
    snprintf(line, sizeof line,
             "the agent on host %s is silent, but the host answers (was the agent stopped?); the "
             "job waits for it",
             child->name);
    if (!child->silent)
        agents.listener->said(line);
    child->silent = true;
    return true;
}

/* ---- coming up ---- */

static bool greeted(struct tern_agent_link *link, const char *line)
{
    struct child *child = (struct child *)((char *)link - offsetof(struct child, link));
    static const char mark[] = "TERN-AGENT ";
    const char *at = strstr(line, mark);
    if (!at) {
        /* what a login shell writes */
        snprintf(child->last, sizeof child->last, "%s", line);
        return false;
    }
    if (child->words.fd >= 0)
        words_ready(&child->words, 0); /* lines from before the agent began are not the agent's */
    char *own = tern_agent_greeting();
    if (strcmp(at, own)) {
        char why[300];
        snprintf(why, sizeof why, "its mpirun (%s) is version %s, but this one is version %s; use "
                                  "one version on all hosts",
                 agents.launch->program, at + sizeof mark - 1, own + sizeof mark - 1);
        *child->last = '\0';
        fail(child, why);
    } else {
        child->state = UP;
        *child->last = '\0';
        tern_loop_stop_timer(&child->limit);
        tern_agent_link_watch_silence(link, agents.launch->silence_ms);
        agents.listener->up(child->host);
    }
    free(own);
    return true;
}

static void link_received(struct tern_agent_link *link, const struct tern_frame *frame)
{
    (void)link;
    agents.listener->received(frame);
}

static bool is_called(const char *path, const char *name)
{
    const char *slash = strrchr(path, '/');
    return strcmp(slash ? slash + 1 : path, name) == 0;
}

/* Quotes a word for the shell that ssh (or rsh, qrsh) starts on the other host. The caller frees
 * it. */
static char *quote(const char *word)
{
    if (!word[strspn(word,
                     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./+-=:@%,")])
        return tern_must_copy(word);
    char *text = tern_must_alloc(4 * strlen(word) + 3), *at = text;
    *at++ = '\'';
    for (; *word; word++)
        at = *word == '\'' ? stpcpy(at, "'\\''") : (*at = *word, at + 1);
    *at = '\'';
    return text;
}

static void make_command(const char *name, const char *address, int patience_ms,
                         struct tern_strings *argv)
{
    const struct tern_strings *words = &agents.launch->words;
    bool ssh = is_called(words->items[0], "ssh");
    bool shell = ssh || is_called(words->items[0], "rsh") || is_called(words->items[0], "qrsh");
    for (int i = 0; i < words->count; i++)
        tern_strings_add(argv, words->items[i]);
    if (ssh) {
        tern_strings_add(argv, "-xT");
        tern_strings_add(argv, "-oBatchMode=yes");
        /* a little earlier than this process gives up, because ssh's own message is better */
        int patience_s = patience_ms / 1000 - 1;
        tern_strings_format(argv, "-oConnectTimeout=%d", patience_s > 0 ? patience_s : 1);
        if (address) /* known host keys are stored by name */
            tern_strings_format(argv, "-oHostKeyAlias=%s", name);
    }
    tern_strings_add(argv, address ? address : name);
    if (shell) {
        char *program = quote(agents.launch->program);
        tern_strings_add(argv, program);
        free(program);
    } else {
        tern_strings_add(argv, agents.launch->program);
    }
    tern_strings_add(argv, "--agent");
}

static struct child *add_child(int host, const char *name)
{
    struct child *child = tern_must_alloc(sizeof *child);
    child->host = host;
    child->name = tern_must_copy(name);
    child->words.fd = -1;
    child->limit.expired = limit_expired;
    child->link.line = greeted;
    child->link.received = link_received;
    child->link.lost = link_lost;
    child->link.answers = host_answers;
    child->next = agents.children;
    agents.children = child;
    return child;
}

void tern_agents_start(int host, const char *name, const char *address, int patience_ms)
{
    struct child *child = add_child(host, name);
    struct tern_command command = { 0 };
    make_command(name, address, patience_ms, &command.argv);
    int fds[3], failed = tern_command_run(&command, &child->pid, fds);
    int error = errno;
    tern_strings_free(&command.argv);
    if (failed) {
        fail(child, strerror(error));
        return;
    }
    child->words = (struct tern_watch){ .fd = fds[2], .ready = words_ready };
    tern_loop_never_wait(fds[2]);
    child->patience_ms = patience_ms;
    tern_loop_set_timer(&child->limit, patience_ms);
    if (tern_agent_link_open(&child->link, fds[1], fds[0]) ||
        tern_loop_watch(&child->words, EPOLLIN) < 0)
        fail(child, "too many open files");
}

/* ---- agents that a resource manager starts ---- */

void tern_agents_await(int host, const char *name)
{
    add_child(host, name);
}

static struct child *find_awaited(int host)
{
    struct child *child = agents.children;
    while (child && (child->host != host || child->state != STARTING || child->link.open))
        child = child->next;
    return child;
}

void tern_agents_came(int host, int fd)
{
    struct child *child = find_awaited(host);
    int out = child ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (child) {
        child->patience_ms = agents.launch->timeout_ms;
        tern_loop_set_timer(&child->limit, child->patience_ms);
    }
    if (!child)
        close(fd);
    else if (out < 0 || tern_agent_link_open(&child->link, fd, out))
        fail(child, "too many open files");
}

bool tern_agents_stay_away(int host, const char *why)
{
    struct child *child = find_awaited(host);
    if (child)
        fail(child, why);
    return child;
}

/* ---- sending ---- */

static struct child *find(int host)
{
    for (struct child *child = agents.children; child; child = child->next) {
        if (child->host == host && child->state == UP)
            return child;
    }
    return NULL;
}

void tern_agents_send(const struct tern_frame *frame)
{
    if (frame->host == TERN_EVERY_HOST) {
        for (struct child *child = agents.children; child; child = child->next) {
            if (child->state == UP)
                tern_agent_link_send(&child->link, frame);
        }
        return;
    }
    for (int at = frame->host; at >= 0; at = tern_launch_parent(agents.launch, at)) {
        struct child *child = find(at);
        if (child) {
            tern_agent_link_send(&child->link, frame);
            return;
        }
    }
}

void tern_agents_excuse(bool stops)
{
    for (struct child *child = agents.children; child; child = child->next) {
        if (child->state == UP)
            tern_agent_link_excuse(&child->link, stops);
    }
}

void tern_agents_at_end(void (*end)(int timeout_ms, bool lost))
{
    agents.at_end = end;
}

void tern_agents_end(int timeout_ms)
{
    int64_t end_ms = tern_loop_now_ms() + timeout_ms;
    for (struct child *child = agents.children; child; child = child->next) {
        tern_agent_link_flush(&child->link, timeout_ms);
        tern_agent_link_close(&child->link);
        if (child->state != UP && child->pid > 0)
            kill(child->pid, SIGKILL);
    }
    for (struct child *child = agents.children; child; child = child->next) {
        while (child->pid > 0 && waitpid(child->pid, NULL, WNOHANG) == 0) {
            if (tern_loop_now_ms() >= end_ms)
                kill(child->pid, SIGKILL);
            poll(NULL, 0, 2);
        }
        if (child->words.fd >= 0)
            words_ready(&child->words, 0);
        child->pid = 0;
        child->state = GONE;
    }
    int64_t left_ms = end_ms - tern_loop_now_ms();
    if (agents.at_end)
        agents.at_end(left_ms > 0 ? (int)left_ms : 0, agents.lost);
}
