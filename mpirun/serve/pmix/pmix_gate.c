/* SPDX-License-Identifier: BSD-3-Clause */
/* Decides which processes may talk to the PMIx server in this process.
 *
 * PMIx listens on a TCP port of the loopback interface, which every user of the host can reach, and
 * believes the user id that a client states. So libpmix must never see a connection of another
 * user. It calls accept(), and the dynamic linker binds that call to the function below, because
 * the executable's own symbols come first. The function asks the kernel which user owns the other
 * end, and closes the connection if that is not the user of this process. So another user's
 * connection cannot send PMIx a byte, nor make PMIx wait for one.
 *
 * mpirun's own sockets use accept4, so only PMIx's connections pass here. */
#include "mpirun/serve/pmix/pmix_gate.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pmix.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/base/scarcity.h"

enum owner { OURS, FOREIGN, NOT_FOUND };

/* A port and an IPv4 address in network byte order. */
struct end {
    uint32_t address;
    uint16_t port;
};

/* The kernel reports user 0 for a socket that no process holds any more, so such a socket counts as
 * foreign. */
static enum owner judge(uid_t uid, unsigned state, unsigned long inode)
{
    return state == TCP_ESTABLISHED && inode && uid == geteuid() ? OURS : FOREIGN;
}

/* Asks the kernel for the one socket that is bound to `near` and connected to `far`. Returns
 * NOT_FOUND also if the kernel has no such service. */
static enum owner ask_netlink(const struct end *near, const struct end *far)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 body;
    } question = {.head = {.nlmsg_len = sizeof question,
                           .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                           .nlmsg_flags = NLM_F_REQUEST},
                  .body = {.sdiag_family = AF_INET,
                           .sdiag_protocol = IPPROTO_TCP,
                           .idiag_states = ~0U,
                           .id = {.idiag_sport = near->port,
                                  .idiag_dport = far->port,
                                  .idiag_src = {near->address},
                                  .idiag_dst = {far->address},
                                  .idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
    struct {
        struct nlmsghdr head;
        struct inet_diag_msg body;
        char rest[1024];
    } answer;
    enum owner owner = NOT_FOUND;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return NOT_FOUND;
    if (send(fd, &question, sizeof question, 0) == (ssize_t)sizeof question) {
        ssize_t length;
        do
            length = recv(fd, &answer, sizeof answer, 0);
        while (length < 0 && errno == EINTR);
        if (length >= (ssize_t)(sizeof answer.head + sizeof answer.body) &&
            answer.head.nlmsg_type == SOCK_DIAG_BY_FAMILY)
            owner = judge(answer.body.idiag_uid, answer.body.idiag_state, answer.body.idiag_inode);
    }
    close(fd);
    return owner;
}

/* Looks for that socket in the kernel's list of TCP connections. */
static enum owner read_list(const struct end *near, const struct end *far)
{
    char line[512];
    enum owner owner = NOT_FOUND;
    FILE *list = fopen("/proc/self/net/tcp", "re");
    if (!list)
        return NOT_FOUND;
    while (owner == NOT_FOUND && fgets(line, sizeof line, list)) {
        struct end local, remote;
        unsigned state, uid, ports[2];
        unsigned long inode;
        if (sscanf(line, " %*u: %x:%x %x:%x %x %*x:%*x %*x:%*x %*x %u %*u %lu", &local.address,
                   &ports[0], &remote.address, &ports[1], &state, &uid, &inode) != 7)
            continue;
        local.port = htons((uint16_t)ports[0]);
        remote.port = htons((uint16_t)ports[1]);
        if (local.address == near->address && local.port == near->port &&
            remote.address == far->address && remote.port == far->port)
            owner = judge(uid, state, inode);
    }
    fclose(list);
    return owner;
}

bool tern_pmix_gate_admits(int connection)
{
    struct sockaddr_in own = {0}, peer = {0};
    socklen_t own_size = sizeof own, peer_size = sizeof peer;
    if (getsockname(connection, (struct sockaddr *)&own, &own_size) ||
        getpeername(connection, (struct sockaddr *)&peer, &peer_size) ||
        own.sin_family != AF_INET || peer.sin_family != AF_INET)
        return false;
    struct end near = {peer.sin_addr.s_addr, peer.sin_port},
               far = {own.sin_addr.s_addr, own.sin_port};
    enum owner owner = ask_netlink(&near, &far);
    /* The list may miss a connection if others begin and end while it is read. */
    for (int tries = 0; owner == NOT_FOUND && tries < 3; tries++)
        owner = read_list(&near, &far);
    return owner == OURS;
}

/* Waits while nothing can be opened. libpmix would stop listening for good if accept() reported the
 * error. Its thread may wait: PMIx 5 serves ranks on the same one, but they open files rarely. */
static void rest(void)
{
    tern_scarcity_say(errno);
    poll(NULL, 0, TERN_SCARCITY_MS);
}

/* Returns the one error of accept() after which libpmix goes on listening: for PMIx 4 and older
 * that of a connection that ended before it was accepted, for PMIx 5 that of no connection. Any
 * other one makes it close its port, and a stranger could shut out all ranks. */
static int harmless_error(void)
{
    static int error;
    if (!error) {
        const char *version = PMIx_Get_version(); /* "OpenPMIx 5.0.7 ..." */
        error = atoi(version + strcspn(version, "0123456789")) >= 5 ? EAGAIN : ECONNABORTED;
    }
    return error;
}

/* Replaces the C library's function in this process. Returns the next connection of this process's
 * user. If there is none, or it cannot be opened now, fails with the harmless error. */
__attribute__((visibility("default"))) int accept(int fd, struct sockaddr *address, socklen_t *size)
{
    socklen_t room = size ? *size : 0;
    struct pollfd more = {.fd = fd, .events = POLLIN};
    do {
        if (size)
            *size = room;
        int connection = accept4(fd, address, size, SOCK_CLOEXEC);
        if (connection < 0 && tern_scarcity_is(errno)) {
            rest();
            break;
        }
        if (connection < 0 || tern_pmix_gate_admits(connection))
            return connection;
        close(connection);
    } while (poll(&more, 1, 0) > 0);
    errno = harmless_error();
    return -1;
}

bool tern_pmix_gate_stands(void)
{
    return dlsym(RTLD_DEFAULT, "accept") == (void *)accept;
}
