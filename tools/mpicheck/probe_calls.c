/* SPDX-License-Identifier: BSD-3-Clause */

/* Who can call whom by TCP: a firewall may let calls through in one direction only. An MPI library
 * that calls the other way round hides that. */
#include <mpi.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

/* CALL_MS: so long that the system sends its first packet again. All calls together must take less
 * than a stage may. */
enum { ADDRESSES = 2, CALLS = 2, CALL_MS = 2500, CALL_TAG = 11, DONE_TAG = 12 };

/* What a rank tells its caller: the addresses at which its connections end, and a port. */
struct door {
    int count;
    char texts[ADDRESSES][INET6_ADDRSTRLEN];
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

/* Opens a door: for both families, or for IPv4 if the host has no IPv6. Returns its descriptor, or
 * -1. */
static int open_door(struct door *ret_door)
{
    *ret_door = (struct door){0};
    probe_each_address(add_address, ret_door);
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

/* Calls one address. Returns 0, or errno. */
static int call(const char *text, int port)
{
    struct sockaddr_storage address;
    socklen_t size = address_of(text, port, &address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), error = 0;
    socklen_t error_size = sizeof error;
    if (fd < 0)
        return errno;
    if (connect(fd, (struct sockaddr *)&address, size) && errno != EINPROGRESS)
        error = errno;
    struct pollfd wait = {.fd = fd, .events = POLLOUT};
    if (!error && poll(&wait, 1, CALL_MS) == 0)
        error = ETIMEDOUT;
    else if (!error)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &error_size);
    close(fd);
    return error;
}

/* Calls the addresses in turn until one answers. Returns 0, or the last errno. */
static int call_any(const struct door *door)
{
    int error = EADDRNOTAVAIL;
    for (int i = 0; i < CALLS && door->count > 0 && error; i++)
        error = call(door->texts[i % door->count], door->port);
    return error;
}

static void call_peer(const struct probe_job *job, int peer)
{
    struct door door;
    int done = 0;
    MPI_Recv(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int error = door.port > 0 && door.count > 0 ? call_any(&door) : 0;
    if (error)
        probe_say("call %d %d %s", job->ids[job->rank], job->ids[peer], strerror(error));
    MPI_Send(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD);
}

static void await_call(int peer)
{
    struct door door;
    int done, fd = open_door(&door);
    MPI_Send(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD);
    MPI_Recv(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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
            await_call(peer);
    }
}
