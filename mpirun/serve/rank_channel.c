/* SPDX-License-Identifier: BSD-3-Clause */
/* All ranks inherit one socket. Through it each of their programs sends one end of a socket pair. A
 * program that has lost the inherited socket connects to a named socket instead. All its reports
 * then arrive through the pair, and the end of the pair means that the program has ended. The
 * rank's next program may connect before the last reports of this one have been read (mpirun may
 * have been stopped for a while), so those are read first.
 *
 * Answers are sent without waiting: a rank has at most as many open requests as its socket has room
 * for. */
#include "mpirun/serve/rank_channel.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/net/hmac.h"
#include "lib/util/base/list.h"
#include "mpirun/base/directory_socket.h"
#include "mpirun/base/loop.h"
#include "mpirun/base/strings.h"
#include "mpirun/serve/addresses.h"
#include "mpirun/serve/other_library.h"
#include "mpirun/serve/unreached.h"

enum { CALLS_PER_TURN = 32 };

/* A program in MPI. It lives as long as its pair. */
struct program {
    /* must stay the first member: the callback converts the watch to the program */
    struct tern_watch pair;
    int rank;
    bool finalized;
};

/* What stays known of a rank's latest program when it has left MPI. */
struct past {
    struct tern_ancestry line; /* its process, and the ancestors of that; 0: there was none */
    bool unfinished;           /* it has left without MPI_Finalize */
};

static struct {
    const struct tern_job *job;
    const struct tern_client_listener *listener;
    void (*meet_others)(void (*met)(void));
    struct program **latest; /* by rank: its latest program, or NULL */
    struct past *pasts;      /* by rank: the same, also after that program has left MPI */
    bool *meeting;           /* by rank: the rank waits for all others */
    int met;                 /* number of this host's ranks that wait for all others */
    struct tern_watch socket, name;
    struct tern_rest rest; /* pauses `name` */
} reports = { .socket.fd = -1, .name.fd = -1 };

/* ---- answers ---- */

static bool reply(int rank, enum tern_report_kind kind, int value, const void *data, size_t size)
{
    struct tern_report head = { kind, value };
    struct iovec parts[] = { { &head, sizeof head }, { (void *)data, size } };
    struct msghdr message = { .msg_iov = parts, .msg_iovlen = 2 };
    return reports.latest[rank] &&
           sendmsg(reports.latest[rank]->pair.fd, &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

void tern_reports_answer(int asker, int rank, const struct tern_card *card, size_t size)
{
    reply(asker, TERN_REPLY_CARD, rank, card, size);
}

bool tern_reports_unreached(int to, int from, const struct tern_card *notice, size_t size)
{
    return reply(to, TERN_REPLY_UNREACHED, from, notice, size);
}

/* Called when all ranks of the job have arrived. */
static void all_have_met(void)
{
    reports.met = 0;
    for (int rank = 0; rank < reports.job->map->size; rank++) {
        if (reports.meeting[rank])
            reply(rank, TERN_REPLY_MET, 0, NULL, 0);
        reports.meeting[rank] = false;
    }
}

static void meet(int rank)
{
    reports.met += !reports.meeting[rank];
    reports.meeting[rank] = true;
    if (reports.met == tern_job_ranks_on(reports.job, reports.job->here))
        reports.meet_others(all_have_met);
}

/* ---- reports of a program ---- */

/* Returns the process that has connected, or 0 if that is unknown. */
static pid_t process_of(const struct program *program)
{
    struct ucred maker = { 0 };
    socklen_t size = sizeof maker;
    if (reports.socket.fd < 0 ||
        getsockopt(program->pair.fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) < 0)
        return 0;
    return maker.pid;
}

/* Receives one message of a socket, and its descriptors (-1 for missing ones). Returns the bytes of
 * the message, 0 if the other end has closed, -1 if no message is there. */
static ssize_t receive(int socket, struct tern_report *ret_report, struct tern_card *ret_card,
                       int ret_fds[2])
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec parts[] = { { ret_report, sizeof *ret_report }, { ret_card, sizeof *ret_card } };
    struct msghdr message = { .msg_iov = parts,
                              .msg_iovlen = 2,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    ssize_t length;
    do
        length = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    /* the other end closed with an answer unread: its last messages can still be read */
    while (length < 0 && (errno == EINTR || errno == ECONNRESET));
    ret_fds[0] = ret_fds[1] = -1;
    struct cmsghdr *rights = length < 0 ? NULL : CMSG_FIRSTHDR(&message);
    if (rights && rights->cmsg_type == SCM_RIGHTS)
        memcpy(ret_fds, CMSG_DATA(rights), rights->cmsg_len - CMSG_LEN(0));
    return length < 0 && errno != EAGAIN ? 0 : length;
}

/* Passes a report with a text to `tell`, a function of the listener. */
static void tell_text(void (*tell)(int rank, int number, const char *text), int rank, int number,
                      const void *bytes, size_t length)
{
    char *text = tern_must_format("%.*s", (int)length, (const char *)bytes);
    tell(rank, number, text);
    free(text);
}

static void tell_part(int rank, int last, const char *part)
{
    reports.listener->asked(rank, last != 0, part);
}

static void tell_joined(int rank, int how, const char *jobs)
{
    reports.listener->joined(rank, (enum tern_joined)how, jobs);
}

static void handle(struct program *program, const struct tern_report *report,
                   const struct tern_card *card, size_t card_size)
{
    const struct tern_client_listener *listener = reports.listener;
    int rank = program->rank, own = offsetof(struct tern_card, bytes);
    switch (report->kind) {
    case TERN_REPORT_WORLD:
        listener->world(rank);
        break;
    case TERN_REPORT_CARD:
        if (card_size < (size_t)own)
            break;
        reply(rank, TERN_REPLY_NUMBER, tern_cards_put(rank, !report->value, card, card_size), NULL,
              0);
        tern_unreached_present(rank);
        break;
    case TERN_REPORT_SEEK:
        tern_cards_seek(rank, report->value);
        break;
    case TERN_REPORT_MEET:
        meet(rank);
        break;
    case TERN_REPORT_FINALIZED:
        program->finalized = true;
        listener->finalized(rank);
        break;
    case TERN_REPORT_ABORTED:
        listener->aborted(rank, report->value, NULL);
        break;
    case TERN_REPORT_UNREACHED:
        if (card_size >= (size_t)own)
            tern_unreached_report(rank, report->value, card, card_size);
        break;
    case TERN_REPORT_HEARD:
        tern_unreached_heard(rank);
        break;
    case TERN_REPORT_REMARK:
        tell_text(listener->remarked, rank, report->value, card, card_size);
        break;
    case TERN_REPORT_CRASHED:
        tell_text(listener->crashed, rank, report->value, card, card_size);
        break;
    case TERN_REPORT_JOINED:
        tell_text(tell_joined, rank, report->value, card, card_size);
        break;
    case TERN_REPORT_ASK:
        tell_text(tell_part, rank, report->value, card, card_size);
        break;
    }
}

static void end(struct program *program)
{
    tern_loop_watch(&program->pair, 0);
    close(program->pair.fd);
    if (reports.latest[program->rank] == program) {
        reports.latest[program->rank] = NULL;
        reports.pasts[program->rank].unfinished = !program->finalized;
    }
    if (!program->finalized)
        reports.listener->lost(program->rank);
    free(program);
}

static void close_both(const int fds[2])
{
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            close(fds[i]);
}

/* Handles all messages that the program has sent so far. */
static void hear(struct program *program)
{
    struct tern_report report;
    struct tern_card card;
    ssize_t length;
    int fds[2];
    while ((length = receive(program->pair.fd, &report, &card, fds)) > 0) {
        close_both(fds);
        if (length >= (ssize_t)sizeof report)
            handle(program, &report, &card, (size_t)length - sizeof report);
    }
    if (length == 0)
        end(program);
}

static void pair_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    hear((struct program *)watch);
}

/* ---- new programs ---- */

/* The far end of a lifeline, as long as the program's process lives. */
struct lifeline {
    struct tern_watch watch; /* first: callbacks get its address */
    struct tern_list_node held;
};
static struct tern_list_node lifelines = { &lifelines, &lifelines };

/* Called when no process has the near end open any more. */
static void lifeline_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct lifeline *lifeline = (struct lifeline *)watch;
    tern_loop_watch(watch, 0);
    close(watch->fd);
    tern_list_remove(&lifeline->held);
    free(lifeline);
}

/* Keeps the far end of a lifeline open as long as the program's process lives. */
static void hold_lifeline(int fd)
{
    struct lifeline *lifeline = tern_must_alloc(sizeof *lifeline);
    lifeline->watch = (struct tern_watch){ .fd = fd, .ready = lifeline_ready };
    tern_list_append(&lifelines, &lifeline->held);
    tern_loop_watch(&lifeline->watch, EPOLLIN);
}

/* Ends the job if an earlier program of the rank is still in MPI, or has left without MPI_Finalize,
 * as by exec. Ranks that share memory find that themselves (lib/node/programs.c). */
static void check_alone(int rank)
{
    const struct program *latest = reports.latest[rank];
    const struct past *past = &reports.pasts[rank];
    pid_t before = past->line.pids[0];
    if (latest ? latest->finalized : !past->unfinished)
        return;
    char *text = tern_must_format(
        "MPI cannot be started: rank %d of this job is process %d already. Either two programs run "
        "as this rank at the same time (was PMIX_RANK changed?), or the first one ended without "
        "MPI_Finalize", rank, (int)before);
    reports.listener->remarked(rank, TERN_REMARK_NO_START, text);
    reports.listener->aborted(rank, 1, NULL);
    free(text);
}

/* Notes a program's process as the kernel knows it, and its ancestors as the program has told them,
 * unless it counts processes in a namespace of its own. */
static void note_process(int rank, const struct tern_ancestry *told)
{
    struct past *past = &reports.pasts[rank];
    pid_t process = tern_reports_process(rank);
    *past = (struct past){ .line = { .count = 1, .pids = { process } } };
    if (told && told->pids[0] == process && told->count > 0 && told->count <= TERN_ANCESTRY_MOST)
        past->line = *told;
}

static void begin(int rank, const int fds[2], const struct tern_ancestry *told)
{
    if (reports.latest[rank])
        hear(reports.latest[rank]);
    check_alone(rank);
    struct program *program = tern_must_alloc(sizeof *program);
    *program = (struct program){ .pair = { .fd = fds[0], .ready = pair_ready }, .rank = rank };
    reports.latest[rank] = program;
    note_process(rank, told);
    if (fds[1] >= 0)
        hold_lifeline(fds[1]);
    tern_foreign_reported(rank);
    reports.listener->connected(rank);
    if (tern_loop_watch(&program->pair, EPOLLIN) < 0)
        end(program); /* its messages could not be received */
}

/* Takes the programs that have arrived through a socket. Returns false if the socket has ended. */
static bool take_programs(int socket)
{
    struct tern_report report;
    struct tern_card card;
    struct tern_ancestry line;
    ssize_t length;
    int fds[2];
    while ((length = receive(socket, &report, &card, fds)) > 0) {
        bool known = length >= (ssize_t)sizeof report && report.kind == TERN_REPORT_CONNECTED &&
                     report.value >= 0 && report.value < reports.job->map->size;
        bool told = length == sizeof report + sizeof line;
        if (told)
            memcpy(&line, &card, sizeof line);
        if (known && fds[0] >= 0)
            begin(report.value, fds, told ? &line : NULL);
        else
            close_both(fds);
    }
    return length < 0;
}

static void socket_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    if (!take_programs(watch->fd))
        tern_loop_watch(watch, 0);
}

/* Handles a connection to the named socket. */
static void call_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    if (take_programs(watch->fd))
        return;
    tern_loop_watch(watch, 0);
    close(watch->fd);
    free(watch);
}

/* Accepts at most `most` connections, because other users of this machine may connect without
 * end. */
static void take_calls(int most)
{
    int fd = -1;
    while (most-- > 0 &&
           (fd = accept4(reports.name.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct ucred caller;
        socklen_t size = sizeof caller;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &caller, &size) || caller.uid != geteuid()) {
            close(fd);
            continue;
        }
        struct tern_watch *watch = tern_must_alloc(sizeof *watch);
        *watch = (struct tern_watch){ .fd = fd, .ready = call_ready };
        if (tern_loop_watch(watch, EPOLLIN) < 0) {
            close(fd);
            free(watch);
            continue;
        }
        call_ready(watch, EPOLLIN);
    }
    if (fd < 0)
        tern_loop_rest_if_scarce(&reports.rest, &reports.name, errno);
}

static void name_ready(struct tern_watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    take_calls(CALLS_PER_TURN);
}

void tern_reports_read(int rank)
{
    if (reports.socket.fd < 0)
        return;
    take_programs(reports.socket.fd);
    take_calls(SOMAXCONN); /* all connections that were waiting */
    if (rank >= 0 && rank < reports.job->map->size && reports.latest[rank])
        hear(reports.latest[rank]);
}

/* The kernel knows who has made the pair. */
pid_t tern_reports_process(int rank)
{
    return reports.latest[rank] ? process_of(reports.latest[rank]) : 0;
}

const struct tern_ancestry *tern_reports_latest(int rank)
{
    static const struct tern_ancestry none;
    return reports.pasts ? &reports.pasts[rank].line : &none;
}

/* ---- opening ---- */

/* Opens the socket TERN_REPORTS_NAME in the job's directory. Returns false if there is no such
 * socket: ranks must then do without. In an abstract socket, which any user of the host can connect
 * to, the queue of a stranger may hold descriptors whose close takes as long as the stranger likes
 * (SO_LINGER), and the kernel closes them in our process. */
static bool open_name(const char *directory)
{
    int fd = strchr(directory, ':') ? -1 : tern_directory_listen(directory, TERN_REPORTS_NAME,
                                                                 SOCK_SEQPACKET);
    reports.name = (struct tern_watch){ .fd = fd, .ready = name_ready };
    bool opened = fd >= 0 && tern_loop_watch(&reports.name, EPOLLIN) == 0;
    if (fd >= 0 && !opened)
        close(fd);
    if (!opened)
        reports.name.fd = -1;
    return opened;
}

int tern_reports_open(const struct tern_job *job, const struct tern_client_listener *listener,
                      void (*meet)(void (*met)(void)), int *ret_ranks_end, char **ret_words)
{
    struct stat st;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return tern_error(TERN_ERR_OTHER, "socketpair: %s", strerror(errno));
    reports.job = job;
    reports.listener = listener;
    reports.meet_others = meet;
    reports.latest = tern_must_alloc(job->map->size * sizeof *reports.latest);
    reports.pasts = tern_must_alloc(job->map->size * sizeof *reports.pasts);
    reports.meeting = tern_must_alloc(job->map->size * sizeof *reports.meeting);
    reports.socket = (struct tern_watch){ .fd = ends[0], .ready = socket_ready };
    if (tern_loop_watch(&reports.socket, EPOLLIN) < 0 || fstat(ends[1], &st) < 0) {
        int error = tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        reports.socket.fd = -1;
        return error;
    }
    *ret_words = tern_must_format("%lu:%s", (unsigned long)st.st_ino,
                                  open_name(job->session_dir) ? job->session_dir : "-");
    *ret_ranks_end = ends[1];
    return 0;
}
