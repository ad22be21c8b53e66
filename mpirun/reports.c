/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One socket for all ranks, so that nobody needs a name or a port to find us, and what a rank says
 * comes in order. With its first report comes a pipe, whose end tells that the program has ended:
 * if it said before that it is in MPI no more, what it said has come before. The rank's next program
 * may have come before, too, when mpirun was away for a while.
 */
#include "mpirun/reports.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/launcher.h"
#include "mpirun/loop.h"
#include "mpirun/strings.h"

/* A program in MPI. */
struct program {
    struct tern_watch alive; /* first: the watch is the program */
    int rank;
    bool finalized;
};

static struct {
    const struct tern_server_listener *listener;
    int ranks;
    struct program **latest; /* of each rank, or NULL */
    struct tern_watch socket;
} reports = { .socket.fd = -1 };

static void program_ended(struct tern_watch *watch, uint32_t events)
{
    struct program *program = (struct program *)watch;
    (void)events;
    tern_reports_read();
    tern_loop_watch(watch, 0);
    close(watch->fd);
    if (reports.latest[program->rank] == program)
        reports.latest[program->rank] = NULL;
    if (!program->finalized)
        reports.listener->lost(program->rank);
    free(program);
}

static void watch_program(int rank, int fd)
{
    struct program *program = tern_must_alloc(sizeof *program);
    program->rank = rank;
    program->finalized = false;
    reports.latest[rank] = program;
    program->alive = (struct tern_watch){ .fd = fd, .ready = program_ended };
    tern_loop_watch(&program->alive, EPOLLIN);
}

static void handle(const struct tern_report *report, int fd)
{
    static const enum tern_client_act acts[] = {
        [TERN_REPORT_CONNECTED] = TERN_CLIENT_CONNECTED,
        [TERN_REPORT_WORLD] = TERN_CLIENT_WORLD,
        [TERN_REPORT_FINALIZED] = TERN_CLIENT_FINALIZED,
        [TERN_REPORT_ABORTED] = TERN_CLIENT_ABORTED,
    };
    bool known = report->kind >= 0 && report->kind <= TERN_REPORT_ABORTED && report->rank >= 0 &&
                 report->rank < reports.ranks;
    if (known && report->kind == TERN_REPORT_FINALIZED && reports.latest[report->rank])
        reports.latest[report->rank]->finalized = true;
    if (known)
        tern_server_tell(reports.listener, acts[report->kind], report->rank, report->value, NULL);
    if (known && fd >= 0)
        watch_program(report->rank, fd);
    else if (fd >= 0)
        close(fd);
}

/* True: there was one. */
static bool read_one(void)
{
    struct tern_report report;
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct iovec part = { &report, sizeof report };
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = control.bytes,
                              .msg_controllen = sizeof control.bytes };
    ssize_t length = recvmsg(reports.socket.fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0)
        return errno == EINTR;
    int fd = -1;
    struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
    if (rights && rights->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(rights), sizeof fd);
    if (length == sizeof report)
        handle(&report, fd);
    else if (fd >= 0)
        close(fd);
    return length > 0;
}

void tern_reports_read(void)
{
    while (reports.socket.fd >= 0 && read_one())
        ;
}

static void socket_ready(struct tern_watch *watch, uint32_t events)
{
    (void)watch, (void)events;
    tern_reports_read();
}

int tern_reports_open(const struct tern_job *job, const struct tern_server_listener *listener,
                      int *ret_ranks_end)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return tern_error(TERN_ERR_OTHER, "socketpair: %s", strerror(errno));
    reports.listener = listener;
    reports.ranks = job->map->size;
    reports.latest = tern_must_alloc(job->map->size * sizeof *reports.latest);
    reports.socket = (struct tern_watch){ .fd = ends[0], .ready = socket_ready };
    if (tern_loop_watch(&reports.socket, EPOLLIN) < 0) {
        int error = tern_error(TERN_ERR_OTHER, "epoll_ctl: %s", strerror(errno));
        close(ends[0]);
        close(ends[1]);
        reports.socket.fd = -1;
        return error;
    }
    *ret_ranks_end = ends[1];
    return 0;
}
