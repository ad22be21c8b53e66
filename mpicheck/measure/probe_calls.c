/* SPDX-License-Identifier: BSD-3-Clause */

/* Who can call whom by TCP: a firewall may let calls through in one direction only. An MPI library
 * that calls the other way round hides that, and one that uses several networks hides a bad one. */
#include <mpi.h>

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

/* CALL_MS: so long that the system sends its first packet again. All calls together must take less
 * than a stage may. */
enum { ADDRESSES = 2, NETS = 8, CALLS = 2, CALL_MS = 2500, ANSWER_MS = 500, CALL_TAG = 11,
       DONE_TAG = 12, PIECE = 64 << 10, ROOM = 256 << 10, BYTES_MOST = 2 << 20, FAILURES_MOST = 3 };

/* What a rank tells its caller: the addresses at which its connections end, those of the interfaces
 * to be measured, and a port. */
struct door {
    int count, net_count;
    char texts[ADDRESSES][INET6_ADDRSTRLEN];
    char nets[NETS][INET6_ADDRSTRLEN];
    int port;
};

static void add_address(struct door *door, const char *text)
{
    for (int i = 0; i < door->count; i++)
        if (strcmp(door->texts[i], text) == 0)
            return;
    if (door->count < ADDRESSES)
        snprintf(door->texts[door->count++], INET6_ADDRSTRLEN, "%s", text);
}

/* Listens at a port that the system chooses. Returns the descriptor, or -1. */
static int listen_at(int family, int *ret_port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in four;
        struct sockaddr_in6 six;
    } at = {.any = {.sa_family = (sa_family_t)family}};
    socklen_t size = family == AF_INET ? sizeof at.four : sizeof at.six;
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    if (bind(fd, &at.any, size) || listen(fd, 4) || getsockname(fd, &at.any, &size)) {
        close(fd);
        return -1;
    }
    *ret_port = ntohs(family == AF_INET ? at.four.sin_port : at.six.sin6_port);
    return fd;
}

/* Returns true if an address is that of an interface to be measured, which runs. */
static bool is_measured(const struct probe_job *job, const struct ifaddrs *at)
{
    const char *text = job->nics;
    bool fits = at->ifa_addr && at->ifa_flags & IFF_RUNNING &&
                (at->ifa_addr->sa_family == AF_INET || at->ifa_addr->sa_family == AF_INET6);
    while (fits && text && *text) {
        size_t length = strcspn(text, ",");
        if (strlen(at->ifa_name) == length && strncmp(at->ifa_name, text, length) == 0)
            return true;
        text += length + (text[length] == ',');
    }
    return false;
}

static void add_nets(const struct probe_job *job, const struct ifaddrs *all, struct door *door)
{
    for (const struct ifaddrs *at = all; at && door->net_count < NETS; at = at->ifa_next) {
        if (!is_measured(job, at))
            continue;
        bool four = at->ifa_addr->sa_family == AF_INET;
        const struct in6_addr *six = &((const struct sockaddr_in6 *)at->ifa_addr)->sin6_addr;
        const void *own = four ? (const void *)&((const struct sockaddr_in *)at->ifa_addr)->sin_addr
                               : six;
        if (four || !IN6_IS_ADDR_LINKLOCAL(six))
            inet_ntop(at->ifa_addr->sa_family, own, door->nets[door->net_count++],
                      INET6_ADDRSTRLEN);
    }
}

/* Opens a door: for both families, or for IPv4 if the host has no IPv6. Returns its descriptor, or
 * -1. */
static int open_door(const struct probe_job *job, struct door *ret_door)
{
    struct ifaddrs *all = NULL;
    *ret_door = (struct door){0};
    probe_each_address(add_address, ret_door);
    getifaddrs(&all);
    add_nets(job, all, ret_door);
    freeifaddrs(all);
    int fd = listen_at(AF_INET6, &ret_door->port);
    return fd >= 0 ? fd : listen_at(AF_INET, &ret_door->port);
}

static socklen_t address_of(const char *text, int port, struct sockaddr_storage *ret)
{
    struct sockaddr_in *four = (struct sockaddr_in *)ret;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)ret;
    memset(ret, 0, sizeof *ret);
    if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        return sizeof *four;
    }
    if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
        return 0;
    six->sin6_family = AF_INET6;
    six->sin6_port = htons((uint16_t)port);
    return sizeof *six;
}

/* Calls one address. Returns the descriptor of the connection, or -1 with errno. */
static int call(const char *text, int port)
{
    struct sockaddr_storage address;
    socklen_t size = address_of(text, port, &address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t error_size = sizeof error;
    if (fd < 0)
        return -1;
    if (connect(fd, (struct sockaddr *)&address, size) && errno != EINPROGRESS)
        error = errno;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    if (!error && poll(&wait, 1, CALL_MS) == 0)
        error = ETIMEDOUT;
    else if (!error)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    if (!error)
        return fd;
    close(fd);
    errno = error;
    return -1;
}

/* Calls the addresses in turn until one answers. Returns 0, or the last errno. */
static int call_any(const struct door *door)
{
    for (int i = 0; i < CALLS && door->count > 0; i++) {
        int fd = call(door->texts[i % door->count], door->port);
        if (fd >= 0) {
            close(fd);
            return 0;
        }
    }
    return errno;
}

/* ---- each network for itself ---- */

/* Returns true if two addresses are in one subnet. `mask` is that of the first. */
static bool is_near(const struct sockaddr *own, const struct sockaddr *mask, const char *text)
{
    unsigned char other[16];
    bool four = own->sa_family == AF_INET;
    if (!mask || inet_pton(own->sa_family, text, other) != 1)
        return false;
    const unsigned char *a = four ? (const void *)&((const struct sockaddr_in *)own)->sin_addr
                                  : (const void *)&((const struct sockaddr_in6 *)own)->sin6_addr;
    const unsigned char *m = four ? (const void *)&((const struct sockaddr_in *)mask)->sin_addr
                                  : (const void *)&((const struct sockaddr_in6 *)mask)->sin6_addr;
    for (int i = 0; i < (four ? 4 : 16); i++)
        if ((a[i] ^ other[i]) & m[i])
            return false;
    return true;
}

/* Returns our interface in the subnet of an address of another host; NULL if there is none. */
static const char *interface_to(const struct probe_job *job, const struct ifaddrs *all,
                                const char *text)
{
    for (const struct ifaddrs *at = all; at; at = at->ifa_next)
        if (is_measured(job, at) && is_near(at->ifa_addr, at->ifa_netmask, text))
            return at->ifa_name;
    return NULL;
}

/* Sends bytes for a while, and waits until all have arrived. Returns MB/s; 0: that failed. Writes
 * the part of the time in which both had a processor. */
static double send_bytes(int fd, int sample_ms, double *ret_share)
{
    static char bytes[PIECE];
    double begin = probe_now(), waited = probe_waited(), theirs = 0, sent = 0;
    int room = ROOM;
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    while (sent < BYTES_MOST && probe_now() - begin < sample_ms * 1e-3) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        ssize_t count = poll(&wait, 1, ANSWER_MS) > 0 ? send(fd, bytes, PIECE, MSG_NOSIGNAL) : -1;
        if (count < 0 && (errno != EAGAIN || !wait.revents))
            return 0;
        sent += count > 0 ? (double)count : 0;
    }
    shutdown(fd, SHUT_WR);
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    if (poll(&wait, 1, ANSWER_MS) <= 0 || read(fd, &theirs, sizeof theirs) != sizeof theirs)
        return 0;
    double took = probe_now() - begin, own = 1 - (probe_waited() - waited) / took;
    *ret_share = own < theirs ? own : theirs;
    return sent / took * 1e-6;
}

/* Who does not answer by an interface is not called by it again and again: each call takes long. */
static bool is_given_up(const char *nic, bool failed)
{
    static struct {
        char nic[IF_NAMESIZE];
        int failures;
    } known[NETS];
    for (int i = 0; i < NETS; i++) {
        if (!*known[i].nic)
            snprintf(known[i].nic, sizeof known[i].nic, "%s", nic);
        if (strcmp(known[i].nic, nic) == 0)
            return (known[i].failures += failed) >= FAILURES_MOST;
    }
    return true;
}

/* Measures each network between the two hosts for itself: messages go by the best ones, so that a
 * bad one is not seen. */
static void try_networks(const struct probe_job *job, int peer, const struct door *door)
{
    struct ifaddrs *all = NULL;
    double begin = probe_now();
    getifaddrs(&all);
    for (int i = 0; i < door->net_count; i++) {
        double share = 1, rate = 0;
        const char *nic = interface_to(job, all, door->nets[i]);
        if (!nic || is_given_up(nic, false) || probe_now() - begin > CALL_MS * 1e-3)
            continue;
        int fd = call(door->nets[i], door->port);
        bool silent = fd < 0 && (errno == ETIMEDOUT || errno == ECONNREFUSED ||
                                 errno == EHOSTUNREACH || errno == ENETUNREACH);
        if (fd >= 0) {
            rate = send_bytes(fd, job->sample_ms, &share);
            close(fd);
        }
        is_given_up(nic, silent);
        if (silent || rate > 0)
            probe_say("net %d %d %s %.2f %.2f", job->ids[job->rank], job->ids[peer], nic, rate,
                      share);
    }
    freeifaddrs(all);
}

/* ---- the two ends ---- */

static void call_peer(const struct probe_job *job, int peer)
{
    struct door door;
    int done = 0;
    MPI_Recv(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    bool open = door.port > 0 && door.count > 0;
    int error = open ? call_any(&door) : 0;
    if (error)
        probe_say("call %d %d %s", job->ids[job->rank], job->ids[peer], strerror(error));
    MPI_Send(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD);
    probe_watch(job, peer, "networks");
    if (open && !error)
        try_networks(job, peer, &door);
    MPI_Send(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD);
}

/* Takes what a caller sends. Returns true if the connection is over. */
static bool take_bytes(int fd, double share)
{
    static char bytes[PIECE];
    ssize_t count = read(fd, bytes, PIECE);
    if (count > 0 || (count < 0 && errno == EAGAIN))
        return false;
    if (count == 0)
        send(fd, &share, sizeof share, MSG_NOSIGNAL); /* who has only called is gone already */
    return true;
}

/* Serves one connection after the other until the caller says that it is done. */
static void serve(int door, int peer)
{
    int done, over = 0, fd = -1;
    double begin = 0, waited = 0;
    MPI_Request request;
    MPI_Irecv(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD, &request);
    if (door < 0)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    while (door >= 0 && !over) {
        struct pollfd wait = {.fd = fd >= 0 ? fd : door, .events = POLLIN};
        if (poll(&wait, 1, 1) > 0) {
            if (fd < 0) {
                fd = accept4(door, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
                begin = probe_now();
                waited = probe_waited();
            } else if (take_bytes(fd, 1 - (probe_waited() - waited) / (probe_now() - begin))) {
                close(fd);
                fd = -1;
            }
        }
        if (fd < 0 || !wait.revents)
            MPI_Test(&request, &over, MPI_STATUS_IGNORE);
    }
    if (fd >= 0)
        close(fd);
}

static void await_call(const struct probe_job *job, int peer)
{
    struct door door;
    int fd = open_door(job, &door);
    MPI_Send(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD);
    serve(fd, peer);
    probe_watch(job, peer, "networks");
    serve(fd, peer);
    if (fd >= 0)
        close(fd);
}

void probe_calls(const struct probe_job *job, int peer)
{
    for (int way = 0; way < 2; way++) {
        probe_watch(job, peer, "calls");
        if ((job->rank < peer) == (way == 0))
            call_peer(job, peer);
        else
            await_call(job, peer);
    }
}
