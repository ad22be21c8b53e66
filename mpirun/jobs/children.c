/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * To the question of the rank, mpirun adds for its child:
 *
 *   number=N             of the job, from 2 on
 *   universe=N           the universe size of this job, which is that of its children, too
 *   inherit=WORD ...     words of this mpirun's command line that also hold for the child's
 *   inherit_map=WORD ... the same, unless the info says map_by; so inherit_rank and inherit_bind
 *   inherit_app=WORD ... the same, for each program
 *   oversubscribe=1      ranks may share processors
 *   host=NAME:SLOTS ...  the slots that are free
 */

#include "mpirun/jobs/children.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/util/net/question.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"
#include "mpirun/jobs/job_ties.h"
#include "mpirun/jobs/port_call.h"

extern char **environ;

/* An mpirun that this one has started. */
struct child {
    struct tern_watch socket; /* first: the callback converts it to the child */
    pid_t pid;
    bool ever;   /* its job is, or has been, connected to another job */
    int told;    /* the last signal that was passed on to it; 0: none */
    bool told_to_end;
    bool still;  /* it has said last that nothing in its job moves */
    bool moved;  /* it has said the contrary since tern_children_are_still */
    char *words; /* the jobs that it is connected to (job_ties.h) */
    char *what, *port; /* "job 2 (PROGRAM)"; where its parents wait */
    struct tern_question asked; /* the parts of a question that have arrived */
    int *used;         /* by host: its ranks */
    struct child *next;
};

static struct {
    const struct tern_job *job;
    const struct tern_host *hosts;
    int host_count;
    const struct tern_children_listener *listener;
    struct child *first;
    int last_number;
} children = {.last_number = 1};

void tern_children_open(const struct tern_job *job, const struct tern_host *hosts, int host_count,
                        const struct tern_children_listener *listener)
{
    children.job = job;
    children.hosts = hosts;
    children.host_count = host_count;
    children.listener = listener;
}

int tern_children_count(void)
{
    int count = 0;
    for (struct child *child = children.first; child; child = child->next)
        count++;
    return count;
}

char *tern_children_name(void)
{
    enum { SHOWN = 6 };
    char *text = tern_must_copy("");
    int count = 0;
    for (const struct child *child = children.first; child; child = child->next) {
        if (count++ >= SHOWN)
            continue;
        char *more = tern_must_format("%s\n    %.200s has an mpirun of its own: mpirun --where %d",
                                      text, child->what, (int)child->pid);
        free(text);
        text = more;
    }
    if (count > SHOWN) {
        char *more = tern_must_format("%s\n    and %d more jobs", text, count - SHOWN);
        free(text);
        text = more;
    }
    return text;
}

bool tern_children_are_still(void)
{
    int count = 1;
    bool still = true;
    char *own = tern_ties_words(TERN_CHILD_TEXT);
    const char **words = tern_must_alloc((size_t)(tern_children_count() + 1) * sizeof *words);
    words[0] = own;
    for (struct child *child = children.first; child; child = child->next) {
        still &= child->still && !child->moved;
        child->moved = false;
        words[count++] = child->words ? child->words : "";
    }
    still &= tern_ties_are_closed(words, count);
    free(words);
    free(own);
    return still;
}

/* ---- free slots ---- */

static int free_slots(int host)
{
    const struct tern_job *job = children.job;
    int left = tern_host_slots(&children.hosts[host], job->options->map.hwthreads);
    for (int h = 0; h < job->host_count; h++)
        if (strcmp(job->hosts[h].name, children.hosts[host].name) == 0)
            left -= tern_job_ranks_on(job, h);
    for (struct child *child = children.first; child; child = child->next)
        left -= child->used[host];
    return left;
}

/* Adds the hosts with free slots, or all hosts if ranks may share processors. Returns false if
 * there are no free slots. */
static bool add_hosts(struct tern_question *question)
{
    bool any = children.host_count == 0, share = children.job->options->oversubscribe;
    for (int host = 0; host < children.host_count; host++) {
        int slots = free_slots(host);
        if (share)
            slots = tern_host_slots(&children.hosts[host], children.job->options->map.hwthreads);
        if (slots <= 0)
            continue;
        char *text = tern_must_format("%s:%d", children.hosts[host].name, slots);
        tern_question_add(question, "host", text);
        free(text);
        any = true;
    }
    return any;
}

/* Returns the table of slots, as text for a message. */
static char *describe_slots(void)
{
    char *text = tern_must_copy("");
    for (int host = 0; host < children.host_count; host++) {
        const struct tern_host *h = &children.hosts[host];
        int slots = tern_host_slots(h, children.job->options->map.hwthreads);
        char *more = tern_must_format("%s%s%s: %d of %d slots in use", text, *text ? ", " : "",
                                      h->name, slots - free_slots(host), slots);
        free(text);
        text = more;
    }
    return text;
}

/* ---- the end ---- */

static void tell(struct child *child, enum tern_child_kind kind, int value)
{
    int32_t message[2] = {kind, value};
    send(child->socket.fd, message, sizeof message, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static void tell_end(struct child *child)
{
    siginfo_t stopped = {0};
    tell(child, TERN_CHILD_END, 0);
    /* A stopped mpirun cannot hear it. One that goes on gets no signal: it would undo the stop that
     * a debugger or a leak check waits for. */
    if (waitid(P_PID, (id_t)child->pid, &stopped, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
        stopped.si_pid)
        kill(child->pid, SIGCONT);
}

static void take_out(struct child *child)
{
    struct child **link = &children.first;
    while (*link != child)
        link = &(*link)->next;
    *link = child->next;
}

static void refuse(const char *port, char *text)
{
    struct tern_answer_text answer = {TERN_LINE_REFUSAL, 0, text};
    tern_port_answer(port, &answer);
    free(text);
}

/* Ends the children whose jobs are connected to the failed one. `by_signal`: without a message,
 * because all jobs got the signal by which it ended. Returns true if this mpirun's job is. */
static bool end_connected(const struct child *failed, bool by_signal)
{
    int count = tern_children_count() + 2, at = 2;
    const char **words = tern_must_alloc((size_t)count * sizeof *words);
    bool *tied = tern_must_alloc((size_t)count * sizeof *tied);
    char *own = tern_ties_words(TERN_CHILD_TEXT);
    words[0] = failed->words;
    words[1] = own;
    for (const struct child *child = children.first; child; child = child->next)
        words[at++] = child->words;
    tern_ties_find(words, count, 0, tied);
    bool result = tied[1];
    at = 2;
    for (struct child *child = children.first; child; child = child->next)
        if (tied[at++] && !child->told_to_end) {
            child->told_to_end = true;
            if (!by_signal)
                tern_log("%s ends, because it is connected to %s", child->what, failed->what);
            tell_end(child);
        }
    free(own);
    free(tied);
    free(words);
    return result;
}

/* The child's socket has ended: so has the child, or it will at once. */
static void end(struct child *child)
{
    int status = 0;
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    tern_loop_watch(&child->socket, 0);
    close(child->socket.fd);
    take_out(child);
    if (!child->ever && WIFSIGNALED(status)) /* else it has said why by itself */
        refuse(child->port, tern_must_format("the mpirun of %s was killed by signal %d (%s)",
                                             child->what, WTERMSIG(status),
                                             strsignal(WTERMSIG(status))));
    bool failed = WIFSIGNALED(status) || WEXITSTATUS(status);
    bool joined = failed && end_connected(child, child->told && WIFEXITED(status) &&
                                                       WEXITSTATUS(status) == 128 + child->told);
    children.listener->ended(child->what, status, joined, child->ever);
    free(child->words);
    free(child->what);
    free(child->port);
    free(child->used);
    tern_question_free(&child->asked);
    free(child);
}

/* ---- messages ---- */

static void note_use(struct child *child, const char *host, int ranks)
{
    for (int h = 0; h < children.host_count; h++)
        if (strcmp(children.hosts[h].name, host) == 0)
            child->used[h] = ranks;
}

/* Appends a part of a question, which is text as it is. */
static void take_part(struct child *child, const char *part, bool last)
{
    char *whole = tern_must_format("%s%s", child->asked.text ? child->asked.text : "", part);
    free(child->asked.text);
    child->asked.text = whole;
    if (!last)
        return;
    child->asked.text = NULL;
    children.listener->asked(whole);
    free(whole);
}

static void handle(struct child *child, const struct tern_child_message *message)
{
    if (message->kind == TERN_CHILD_JOINED) {
        child->ever |= message->value != 0;
        free(child->words);
        child->words = tern_must_copy(message->text);
    } else if (message->kind == TERN_CHILD_STILL) {
        child->still = message->value != 0;
        child->moved |= !child->still;
    } else if (message->kind == TERN_CHILD_ASK) {
        take_part(child, message->text, message->value != 0);
    } else if (message->kind == TERN_CHILD_USES) {
        note_use(child, message->text, message->value);
    }
}

static void socket_ready(struct tern_watch *watch, uint32_t events)
{
    struct child *child = (struct child *)watch;
    struct tern_child_message message;
    ssize_t length;
    (void)events;
    enum { HEAD = offsetof(struct tern_child_message, text) };
    while ((length = recv(watch->fd, &message, HEAD + TERN_CHILD_TEXT, MSG_DONTWAIT)) >= HEAD) {
        message.text[length - HEAD] = 0;
        handle(child, &message);
    }
    if (length >= 0 || (errno != EAGAIN && errno != EINTR))
        end(child);
}

void tern_children_signal(int number)
{
    for (struct child *child = children.first; child; child = child->next) {
        child->told = number;
        tell(child, TERN_CHILD_SIGNAL, number);
    }
}

void tern_children_end(void)
{
    for (struct child *child = children.first; child; child = child->next) {
        child->told_to_end = true;
        tell_end(child);
    }
}

void tern_children_kill(void)
{
    for (struct child *child = children.first; child; child = child->next)
        kill(child->pid, SIGKILL);
}

/* ---- the start ---- */

static void add_words(struct tern_question *question, const char *word,
                      const struct tern_strings *words)
{
    for (int i = 0; i < words->count; i++)
        tern_question_add(question, word, words->items[i]);
}

/* Returns a descriptor of the question, with what this mpirun adds, or -1 with errno. */
static int write_question(const char *question, const struct tern_question *more)
{
    FILE *file = NULL;
    int fd = memfd_create("tern-question", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
    if (copy >= 0)
        file = fdopen(copy, "w");
    bool written = file && fputs(question, file) >= 0 && fputs(more->text, file) >= 0;
    if (file)
        written &= fclose(file) == 0;
    if (!written && fd >= 0)
        close(fd);
    return written ? fd : -1;
}

/* Runs another mpirun. Calls it by its absolute path if this one was called so: that stands for
 * --prefix. Returns 0 or an errno. */
static int run(int socket, int question, pid_t *ret_pid)
{
    bool absolute = children.job->options->implied_prefix != NULL;
    char path[PATH_MAX], *argv[] = {absolute ? path : "mpirun", "--spawned", "3", "4", NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length < 0)
        return errno;
    path[length] = 0;
    sigemptyset(&none);
    sigfillset(&all);
    int high[2] = {fcntl(socket, F_DUPFD_CLOEXEC, 5), fcntl(question, F_DUPFD_CLOEXEC, 5)};
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    posix_spawn_file_actions_adddup2(&actions, high[0], 3);
    posix_spawn_file_actions_adddup2(&actions, high[1], 4);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int error = high[0] < 0 || high[1] < 0
                    ? EMFILE
                    : posix_spawn(ret_pid, path, &actions, &attributes, argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    for (int i = 0; i < 2; i++)
        if (high[i] >= 0)
            close(high[i]);
    return error;
}

static struct tern_question describe_this(void)
{
    const struct tern_options *options = children.job->options;
    struct tern_question more = {0};
    tern_question_add_number(&more, "number", ++children.last_number);
    tern_question_add_number(&more, "universe", tern_job_universe(children.job));
    add_words(&more, "inherit", &options->inherited[TERN_INHERIT_ALL]);
    add_words(&more, "inherit_map", &options->inherited[TERN_INHERIT_MAP]);
    add_words(&more, "inherit_rank", &options->inherited[TERN_INHERIT_RANK]);
    add_words(&more, "inherit_bind", &options->inherited[TERN_INHERIT_BIND]);
    add_words(&more, "inherit_app", &options->inherited[TERN_INHERIT_APP]);
    if (options->oversubscribe)
        tern_question_add_number(&more, "oversubscribe", 1);
    return more;
}

/* Starts a child. Returns 0 or an errno. */
static int begin(const char *text, struct child *child)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return errno;
    struct tern_question more = describe_this();
    add_hosts(&more);
    int question = write_question(text, &more);
    tern_question_free(&more);
    int error = question < 0 ? errno : run(ends[1], question, &child->pid);
    if (question >= 0)
        close(question);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        return error;
    }
    child->socket = (struct tern_watch){.fd = ends[0], .ready = socket_ready};
    return 0;
}

void tern_children_start(const char *question)
{
    struct tern_question nothing = {0};
    char *port = tern_question_find(question, "port");
    char *program = tern_question_find(question, "program");
    bool room = add_hosts(&nothing);
    tern_question_free(&nothing);
    if (!port || !program) {
        free(port);
        free(program);
        return;
    }
    if (!room) {
        char *slots = describe_slots();
        refuse(port, tern_must_format("there are no free slots (%s). Start mpirun with more slots, "
                                      "or with --oversubscribe", slots));
        free(slots);
        free(port);
        free(program);
        return;
    }
    struct child *child = tern_must_alloc(sizeof *child);
    child->used = tern_must_alloc((size_t)(children.host_count + 1) * sizeof *child->used);
    child->words = tern_must_copy("");
    int error = begin(question, child);
    child->port = port;
    child->what = tern_must_format("job %d (%s)", children.last_number, program);
    free(program);
    if (error) {
        refuse(port, tern_must_format("cannot start another mpirun: %s", strerror(error)));
        free(child->words);
        free(child->what);
        free(child->port);
        free(child->used);
        free(child);
        return;
    }
    child->next = children.first;
    children.first = child;
    if (tern_loop_watch(&child->socket, EPOLLIN) < 0)
        kill(child->pid, SIGKILL);
}
