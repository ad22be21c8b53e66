/* SPDX-License-Identifier: BSD-3-Clause */

/* Who can call whom by TCP: a firewall may let calls through in one direction only. An MPI library
 * that then calls the other way round hides that, but connects late. */
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
#include "probe_sample.h"

enum { ADDRESSES = 8, CALL_MS = 3000, TRIES = 2, CALL_TAG = 11, DONE_TAG = 12 };

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

/* Opens a door for both families. Returns its descriptor, or -1. */
static int open_door(struct door *ret_door)
{
    struct sockaddr_in6 any = {.sin6_family = AF_INET6};
    socklen_t size = sizeof any;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    *ret_door = (struct door){0};
    probe_each_address(add_address, ret_door);
    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) || listen(fd, 4) ||
        getsockname(fd, (struct sockaddr *)&any, &size)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    ret_door->port = ntohs(any.sin6_port);
    return fd;
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

/* Calls all addresses until one answers. Returns 0, or the last errno. */
static int call_any(const struct door *door)
{
    int error = EADDRNOTAVAIL;
    for (int try = 0; try < TRIES && error; try++)
        for (int i = 0; i < door->count && error; i++)
            error = call(door->texts[i], door->port);
    return error;
}

/* One of the two waits at its door while the other calls. */
static void try_pair(const struct probe_job *job, int peer, bool calls)
{
    struct door door;
    int done = 0;
    probe_meet(job, peer); /* the addresses are those of the connection */
    probe_watch_end();
    if (calls) {
        MPI_Recv(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (door.port > 0) {
            int error = call_any(&door);
            probe_say("call %d %d %s", job->ids[job->rank], job->ids[peer],
                      error ? strerror(error) : "answered");
        }
        MPI_Send(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD);
        return;
    }
    int fd = open_door(&door);
    MPI_Send(&door, sizeof door, MPI_BYTE, peer, CALL_TAG, MPI_COMM_WORLD);
    MPI_Recv(&done, 1, MPI_INT, peer, DONE_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (fd >= 0)
        close(fd);
}

void probe_calls(const struct probe_job *job)
{
    for (int i = 0; i < job->item_count; i++)
        for (int way = 0; way < 2; way++) {
            int caller = job->items[i][way], called = job->items[i][!way];
            if (job->rank == caller)
                try_pair(job, called, true);
            else if (job->rank == called)
                try_pair(job, caller, false);
        }
}
