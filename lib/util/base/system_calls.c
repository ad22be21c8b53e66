/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/base/system_calls.h"

#include "lib/util/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LAUNCHER = TERN_CALLS_OF_LAUNCHER,
    SERVER = TERN_CALLS_OF_SERVER,
    RANK = TERN_CALLS_OF_RANK,
    TCP = TERN_CALLS_OF_TCP
};

/* Descriptors on which the calls are tried. */
static struct {
    int pair[2], epoll; /* -1: not open */
} with;

/* Closes the new descriptor. Returns -1 if there is none, and leaves errno as it was. */
static int close_new(int fd)
{
    return fd < 0 ? -1 : close(fd);
}

/* ---- one function for each call; a call on an end of the pair may fail for other reasons ---- */

static int try_socketpair(void)
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, with.pair);
}

static int try_fcntl(void)
{
    return fcntl(STDIN_FILENO, F_GETFD);
}

static int try_dup2(void)
{
    return dup2(with.pair[0], with.pair[0]);
}

static int try_pipe2(void)
{
    int ends[2];
    return pipe2(ends, O_CLOEXEC) < 0 ? -1 : close(ends[0]) | close(ends[1]);
}

static int try_send(void)
{
    return (int)send(with.pair[0], "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int try_recv(void)
{
    char byte;
    return (int)recv(with.pair[1], &byte, 1, MSG_DONTWAIT);
}

static int try_sendmsg(void)
{
    struct iovec part = {"", 1};
    return (int)sendmsg(with.pair[0], &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1},
                        MSG_DONTWAIT | MSG_NOSIGNAL);
}

static int try_recvmsg(void)
{
    char byte;
    struct iovec part = {&byte, 1};
    return (int)recvmsg(with.pair[1], &(struct msghdr){.msg_iov = &part, .msg_iovlen = 1},
                        MSG_DONTWAIT);
}

static int try_poll(void)
{
    return poll(&(struct pollfd){.fd = with.pair[0], .events = POLLOUT}, 1, 0);
}

static int try_epoll_create1(void)
{
    with.epoll = epoll_create1(EPOLL_CLOEXEC);
    return with.epoll;
}

static int try_epoll_ctl(void)
{
    return epoll_ctl(with.epoll, EPOLL_CTL_ADD, with.pair[0],
                     &(struct epoll_event){.events = EPOLLIN});
}

static int try_epoll_wait(void)
{
    struct epoll_event event;
    return epoll_wait(with.epoll, &event, 1, 0);
}

static int try_eventfd(void)
{
    return close_new(eventfd(0, EFD_CLOEXEC));
}

static int try_timerfd_create(void)
{
    return close_new(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC));
}

static int try_signalfd(void)
{
    sigset_t none;
    sigemptyset(&none);
    return close_new(signalfd(-1, &none, SFD_CLOEXEC));
}

static int try_sigprocmask(void)
{
    sigset_t present;
    return sigprocmask(SIG_BLOCK, NULL, &present);
}

static int try_kill(void)
{
    return kill(getpid(), 0);
}

/* wait4 on this process itself, which is no child of its own: fails without effect */
static int try_wait4(void)
{
    return waitpid(getpid(), NULL, WNOHANG);
}

static int try_getrlimit(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_NOFILE, &limit);
}

static int try_sched_getaffinity(void)
{
    static cpu_set_t many[16];
    return sched_getaffinity(0, sizeof many, many);
}

static int try_socket(void)
{
    return close_new(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
}

static int try_setsockopt(void)
{
    return setsockopt(with.pair[0], SOL_SOCKET, SO_KEEPALIVE, &(int){0}, sizeof(int));
}

static int try_bind(void)
{
    return bind(with.pair[0], &(struct sockaddr){.sa_family = AF_UNSPEC}, sizeof(struct sockaddr));
}

static int try_listen(void)
{
    return listen(with.pair[0], 1);
}

static int try_getsockname(void)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    return getsockname(with.pair[0], (struct sockaddr *)&address, &size);
}

static int try_getpeername(void)
{
    struct sockaddr_storage address;
    socklen_t size = sizeof address;
    return getpeername(with.pair[0], (struct sockaddr *)&address, &size);
}

static int try_accept4(void)
{
    return close_new(accept4(with.pair[0], NULL, NULL, SOCK_CLOEXEC));
}

static int try_connect(void)
{
    return connect(with.pair[0], &(struct sockaddr){.sa_family = AF_UNSPEC},
                   sizeof(struct sockaddr));
}

static int try_ioctl(void)
{
    int bytes;
    return ioctl(with.pair[0], FIONREAD, &bytes);
}

static int try_select(void)
{
    return select(0, NULL, NULL, NULL, &(struct timeval){0});
}

/* The order matters: some calls use descriptors that earlier ones have opened. */
static const struct {
    const char *name;
    int who;
    int (*try)(void);
} calls[] = {
    {"fcntl", LAUNCHER | RANK, try_fcntl},
    {"socketpair", LAUNCHER | SERVER | TCP, try_socketpair},
    {"dup2", LAUNCHER, try_dup2},
    {"pipe2", LAUNCHER, try_pipe2},
    {"sendto", LAUNCHER | TCP, try_send},
    {"recvfrom", TCP, try_recv},
    {"sendmsg", LAUNCHER | TCP, try_sendmsg},
    {"recvmsg", LAUNCHER | TCP, try_recvmsg},
    {"poll", LAUNCHER, try_poll},
    {"epoll_create1", LAUNCHER | TCP, try_epoll_create1},
    {"epoll_ctl", LAUNCHER | TCP, try_epoll_ctl},
    {"epoll_wait", LAUNCHER | TCP, try_epoll_wait},
    {"eventfd2", LAUNCHER, try_eventfd},
    {"timerfd_create", TCP, try_timerfd_create},
    {"signalfd4", LAUNCHER, try_signalfd},
    {"rt_sigprocmask", LAUNCHER, try_sigprocmask},
    {"kill", LAUNCHER, try_kill},
    {"wait4", LAUNCHER, try_wait4},
    {"prlimit64", LAUNCHER, try_getrlimit},
    {"sched_getaffinity", LAUNCHER, try_sched_getaffinity},
    {"socket", SERVER | TCP, try_socket},
    {"setsockopt", SERVER, try_setsockopt},
    {"bind", SERVER | TCP, try_bind},
    {"listen", SERVER | TCP, try_listen},
    {"getsockname", SERVER | TCP, try_getsockname},
    {"getpeername", SERVER | TCP, try_getpeername},
    {"accept4", SERVER | TCP, try_accept4},
    {"connect", TCP, try_connect},
    {"ioctl", SERVER, try_ioctl},
    {"select or pselect6", SERVER, try_select}, /* by the age of the C library */
};

static const char *whose(int who)
{
    return who == LAUNCHER ? "mpirun"
           : who == SERVER ? "mpirun's PMIx server"
           : who == RANK   ? "MPI"
                           : "TCP between ranks";
}

int tern_system_calls_try(enum tern_system_calls who)
{
    int error = 0;
    with.pair[0] = with.pair[1] = with.epoll = -1;
    for (size_t i = 0; i < sizeof calls / sizeof *calls && !error; i++)
        if ((calls[i].who & who) && calls[i].try() < 0 &&
            (errno == EPERM || errno == EACCES || errno == ENOSYS))
            error = tern_error(TERN_ERR_OTHER,
                               "the system refuses the call %s (%s), which %s needs: does a "
                               "sandbox (seccomp) forbid it?",
                               calls[i].name, strerror(errno), whose(who));
    close_new(with.pair[0]);
    close_new(with.pair[1]);
    close_new(with.epoll);
    return error;
}
