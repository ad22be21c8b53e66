/* SPDX-License-Identifier: BSD-3-Clause */

/* MPI_Open_port, MPI_Close_port, MPI_Comm_accept, MPI_Comm_connect and MPI_Comm_join (MPI-4.1
 * section 11.9). */

#include "lib/mpi/dynamic/bridge.h"
#include "lib/mpi/dynamic/connected.h"
#include "lib/mpi/dynamic/meeting.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(TERN_PORT_NAME_MOST == MPI_MAX_PORT_NAME,
               "names of ports have the standard's length");

int tern_mpi_open_port(struct tern_info *info, char *port_name)
{
    struct tern_port *port;
    (void)info;
    return tern_port_open(&port, port_name);
}

int tern_mpi_close_port(const char *port_name)
{
    struct tern_port *port = tern_port_find(port_name);
    if (!port)
        return tern_error(TERN_ERR_PORT, "port_name is not a port that this process has opened");
    tern_port_close(port);
    return 0;
}

/* Does what both procedures do: `meet` exchanges the offers at the root. `procedure`: the one. */
static int connect_with(const char *procedure, const char *port_name, int root,
                        const struct tern_info *info, struct tern_comm *comm,
                        int (*meet)(const char *port_name, const struct tern_info *info,
                                    const struct tern_bridge_offer *mine,
                                    struct tern_bridge_offer *ret_theirs),
                        struct tern_comm **ret_comm)
{
    struct tern_bridge_offer mine, theirs = {0};
    int rc = tern_bridge_offer(comm, root, &mine);
    if (rc)
        return rc;
    tern_wait_procedure = procedure;
    int meet_rc = comm->group->rank == root ? meet(port_name, info, &mine, &theirs) : 0;
    rc = tern_bridge_open(comm, root, meet_rc, &mine, &theirs, ret_comm);
    tern_wait_procedure = NULL;
    free(mine.bytes);
    free(theirs.bytes);
    return rc ? rc : tern_connected_add(*ret_comm);
}

static int accept_at(const char *port_name, const struct tern_info *info,
                     const struct tern_bridge_offer *mine, struct tern_bridge_offer *ret_theirs)
{
    (void)info;
    struct tern_port *port = tern_port_find(port_name);
    if (!port)
        return tern_error(TERN_ERR_PORT, "port_name is not a port that this process has opened");
    return tern_port_accept(port, -1, mine, ret_theirs);
}

int tern_mpi_comm_accept(const char *port_name, struct tern_info *info, int root,
                         struct tern_comm *comm, struct tern_comm **ret_newcomm)
{
    return connect_with("MPI_Comm_accept", port_name, root, info, comm, accept_at, ret_newcomm);
}

/* Calls the port. The info key timeout sets another limit than the parameter. */
static int call_port(const char *port_name, const struct tern_info *info,
                     const struct tern_bridge_offer *mine, struct tern_bridge_offer *ret_theirs)
{
    int64_t limit_s = tern_param_int("mpi_connect_timeout");
    const char *text = info ? tern_info_find(info, "timeout") : NULL;
    if (text) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 9 || text[digits])
            return tern_error(TERN_ERR_INFO_VALUE,
                              "info has timeout \"%s\"; expected a number of seconds, at most "
                              "999999999; 0: wait without a limit",
                              text);
        limit_s = atol(text);
    }
    return tern_port_connect(port_name, limit_s, mine, ret_theirs);
}

int tern_mpi_comm_connect(const char *port_name, struct tern_info *info, int root,
                          struct tern_comm *comm, struct tern_comm **ret_newcomm)
{
    return connect_with("MPI_Comm_connect", port_name, root, info, comm, call_port, ret_newcomm);
}

/* ---- MPI_Comm_join ---- */

/* Sends and receives `size` bytes on the user's socket. */
static int swap(int fd, const void *mine, void *theirs, size_t size)
{
    size_t sent = 0, got = 0;
    while (sent < size || got < size) {
        ssize_t n = sent < size ? send(fd, (const char *)mine + sent, size - sent,
                                       MSG_NOSIGNAL | MSG_DONTWAIT)
                                : 0;
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return tern_error(TERN_ERR_OTHER, "cannot write to fd %d: %s", fd, strerror(errno));
        sent += n > 0 ? (size_t)n : 0;
        n = got < size ? recv(fd, (char *)theirs + got, size - got, MSG_DONTWAIT) : 0;
        if (n == 0 && got < size)
            return tern_error(TERN_ERR_OTHER, "the other end has closed fd %d", fd);
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return tern_error(TERN_ERR_OTHER, "cannot read from fd %d: %s", fd, strerror(errno));
        got += n > 0 ? (size_t)n : 0;
        struct pollfd ready = {.fd = fd,
                               .events = (short)((got < size ? POLLIN : 0) |
                                                 (sent < size ? POLLOUT : 0))};
        if (ready.events)
            poll(&ready, 1, 100);
    }
    return 0;
}

/* What both ends send first: the one with the smaller number calls. Together the numbers are the
 * secret of the exchange; who reads the user's socket can read it. */
struct greeting {
    char mark[8];
    unsigned char number[TERN_SECRET_BYTES / 2];
};
static const char mark[8] = "TERNjoin";

/* Agrees with the other end who calls, and on a secret. */
static int agree(int fd, bool *ret_calls, unsigned char ret_token[TERN_SECRET_BYTES])
{
    struct greeting mine, theirs;
    memcpy(mine.mark, mark, sizeof mark);
    int rc = tern_random(mine.number, sizeof mine.number);
    if (!rc)
        rc = swap(fd, &mine, &theirs, sizeof mine);
    if (rc)
        return rc;
    if (memcmp(theirs.mark, mark, sizeof mark) != 0)
        return tern_error(TERN_ERR_OTHER, "the other end of fd %d has not called MPI_Comm_join of "
                                          "this MPI library, or bytes were waiting in the socket",
                          fd);
    bool first = memcmp(mine.number, theirs.number, sizeof mine.number) < 0;
    memcpy(ret_token, first ? mine.number : theirs.number, sizeof mine.number);
    memcpy(ret_token + sizeof mine.number, first ? theirs.number : mine.number,
           sizeof mine.number);
    *ret_calls = first;
    return 0;
}

int tern_mpi_comm_join(int fd, struct tern_comm **ret_intercomm)
{
    struct tern_bridge_offer mine, theirs = {0};
    unsigned char token[TERN_SECRET_BYTES];
    bool calls = false;
    int kind;
    socklen_t size = sizeof kind;
    if (!tern_comm_self.obj.handle->state)
        return tern_error(TERN_ERR_OTHER, "MPI_Comm_join needs MPI_COMM_SELF, and MPI_Init was not "
                                          "called");
    if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &kind, &size) || kind != SOCK_STREAM)
        return tern_error(TERN_ERR_ARG, "fd %d is not a connected stream socket", fd);
    int rc = tern_bridge_offer(&tern_comm_self, 0, &mine);
    if (rc)
        return rc;
    rc = agree(fd, &calls, token);
    if (!rc)
        rc = tern_port_exchange(fd, calls, token, &mine, &theirs);
    rc = tern_bridge_open(&tern_comm_self, 0, rc, &mine, &theirs, ret_intercomm);
    free(mine.bytes);
    free(theirs.bytes);
    return rc ? rc : tern_connected_add(*ret_intercomm);
}
