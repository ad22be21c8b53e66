/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * libpmix takes four milliseconds and a megabyte in every rank, and most jobs have one host, where
 * ranks meet in shared memory and ask the launcher nothing. What it must hear is who is in MPI, and
 * that a process has left it without saying so: a rank may be a script, which goes on. So each
 * program passes the launcher one end of a pipe and keeps the other.
 *
 * A rank may also come without the descriptor (something on the way has closed it), or with the
 * number of another file: then PMIx is the way, as it is whenever somebody asks for what only PMIx
 * knows.
 */

#include "lib/rte/report.h"

#include "lib/rte/rte.h"
#include "lib/util/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int launcher = -1; /* the socket */
static int alive = -1;    /* our end of the pipe */

static bool is_launchers(int fd, int pid)
{
    struct ucred maker;
    int type = 0;
    socklen_t size = sizeof maker, type_size = sizeof type;
    return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &type_size) == 0 && type == SOCK_SEQPACKET &&
           getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &maker, &size) == 0 && maker.pid == pid;
}

bool tern_report_learn(void)
{
    const char *text = getenv(TERN_REPORTS), *session_dir = getenv("TERN_SESSION_DIR");
    const char *nspace = getenv("PMIX_NAMESPACE"), *own = getenv("PMIX_RANK");
    int fd, pid;
    struct tern_rte us = tern_rte;
    if (!text || !session_dir || !nspace || !own ||
        sscanf(text, "%d:%d:%255[^:]:%u:%u:%u:%255s", &fd, &pid, us.job, &us.size, &us.universe_size,
               &us.appnum, us.host) != 7)
        return false;
    us.rank = us.local_rank = (uint32_t)strtoul(own, NULL, 10);
    us.local_size = us.size;
    us.node = 0;
    us.node_count = 1;
    snprintf(us.session_dir, sizeof us.session_dir, "%s", session_dir);
    if (strcmp(us.job, nspace) != 0 || us.rank >= us.size || !is_launchers(fd, pid) ||
        !(us.local_ranks = malloc(us.size * sizeof *us.local_ranks)))
        return false;
    for (uint32_t rank = 0; rank < us.size; rank++)
        us.local_ranks[rank] = rank;
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    launcher = fd;
    tern_rte = us;
    return true;
}

/* With `passed` >= 0 as a descriptor that comes with it. */
static bool report(enum tern_report_kind kind, int value, int passed)
{
    struct tern_report record = {.kind = kind, .rank = (int32_t)tern_rte.rank, .value = value};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct iovec part = {&record, sizeof record};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(rights), &passed, sizeof passed);
    }
    ssize_t sent;
    while ((sent = sendmsg(launcher, &message, MSG_NOSIGNAL)) < 0 &&
           (errno == EINTR || errno == ETOOMANYREFS)) {
        if (errno == ETOOMANYREFS) /* more descriptors under way than files may be open */
            poll(NULL, 0, 1);
    }
    return sent >= 0;
}

bool tern_report_open(void)
{
    int ends[2];
    if (launcher < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return false;
    bool reached = report(TERN_REPORT_CONNECTED, 0, ends[0]);
    close(ends[0]);
    if (reached)
        alive = ends[1];
    else
        close(ends[1]);
    return reached;
}

bool tern_report_is_open(void)
{
    return alive >= 0;
}

void tern_report_world(void)
{
    report(TERN_REPORT_WORLD, 0, -1);
}

void tern_report_close(void)
{
    if (alive < 0)
        return;
    report(TERN_REPORT_FINALIZED, 0, -1);
    close(alive);
    alive = -1;
}

void tern_report_abort(int status)
{
    if (alive < 0 || !report(TERN_REPORT_ABORTED, status, -1))
        return;
    /* until the launcher's signals come, or nobody is left to send them */
    struct pollfd launcher_ends = {.fd = alive};
    while (poll(&launcher_ends, 1, -1) < 0 && errno == EINTR)
        ;
}
