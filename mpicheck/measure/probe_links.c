/* SPDX-License-Identifier: BSD-3-Clause */

/* Who reaches whom: each rank sends every other one a few bytes and a message longer than any
 * packet, all at once. Nothing here waits for a single peer, so dead pairs cost the limit once. */
#include <mpi.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <ifaddrs.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "probe.h"

enum {
    SMALL = 8, LARGE = 32 << 10, SMALL_TAG = 1, LARGE_TAG = 2, POLL_US = 300
};

/* For each peer four requests: both sizes, received and sent. */
enum { RECV_SMALL, RECV_LARGE, SEND_SMALL, SEND_LARGE, KINDS };

struct reach {
    const struct probe_job *job;
    MPI_Request *requests; /* KINDS for each rank */
    double *arrived;       /* by rank: when the small message arrived; 0: not yet */
    bool *failed;          /* by rank: MPI reported an error */
    char **texts;          /* by rank: the error's text, or NULL */
    char *bytes, *incoming; /* LARGE bytes; and for each rank */
    int open;              /* receives that are not complete */
};

static bool may_talk(const struct probe_job *job, int peer)
{
    return peer != job->rank && !(job->dead && job->dead[job->rank * job->size + peer]);
}

static bool make_reach(struct reach *reach, const struct probe_job *job)
{
    size_t size = (size_t)job->size;
    *reach = (struct reach){.job = job,
                            .requests = calloc(size * KINDS, sizeof(MPI_Request)),
                            .arrived = calloc(size, sizeof(double)),
                            .failed = calloc(size, sizeof(bool)),
                            .texts = calloc(size, sizeof(char *)),
                            .bytes = calloc(1, LARGE),
                            .incoming = malloc(size * LARGE)};
    return reach->requests && reach->arrived && reach->failed && reach->texts && reach->bytes &&
           reach->incoming;
}

static void post_all(struct reach *reach)
{
    const struct probe_job *job = reach->job;
    for (int i = 0; i < job->size * KINDS; i++)
        reach->requests[i] = MPI_REQUEST_NULL;
    /* each begins with its neighbour, so that not all ranks call rank 0 first */
    for (int step = 1; step < job->size; step++) {
        int peer = (job->rank + step) % job->size;
        MPI_Request *at = reach->requests + peer * KINDS;
        char *into = reach->incoming + (size_t)peer * LARGE;
        if (!may_talk(job, peer))
            continue;
        MPI_Irecv(into, SMALL, MPI_BYTE, peer, SMALL_TAG, MPI_COMM_WORLD, &at[RECV_SMALL]);
        MPI_Irecv(into, LARGE, MPI_BYTE, peer, LARGE_TAG, MPI_COMM_WORLD, &at[RECV_LARGE]);
        MPI_Isend(reach->bytes, SMALL, MPI_BYTE, peer, SMALL_TAG, MPI_COMM_WORLD,
                  &at[SEND_SMALL]);
        MPI_Isend(reach->bytes, LARGE, MPI_BYTE, peer, LARGE_TAG, MPI_COMM_WORLD,
                  &at[SEND_LARGE]);
        reach->open += 2;
    }
}

static void take_result(struct reach *reach, int index, bool fine)
{
    int peer = index / KINDS, kind = index % KINDS;
    if (kind == RECV_SMALL || kind == RECV_LARGE)
        reach->open--;
    if (kind == RECV_SMALL && fine)
        reach->arrived[peer] = probe_now();
    if (fine)
        return;
    reach->failed[peer] = true;
    if (!reach->texts[peer] && *probe_error_text())
        reach->texts[peer] = strdup(probe_error_text());
}

/* Tests each request for itself, because a call for all of them may leave out an error's text. */
static bool test_all(struct reach *reach)
{
    bool moved = false;
    for (int i = 0; i < reach->job->size * KINDS; i++) {
        MPI_Request *request = &reach->requests[i];
        int flag = 0;
        if (*request == MPI_REQUEST_NULL)
            continue;
        int error = MPI_Test(request, &flag, MPI_STATUS_IGNORE);
        if (error || flag) {
            take_result(reach, i, !error);
            *request = MPI_REQUEST_NULL;
            moved = true;
        }
    }
    return moved;
}

static void print_missing(const struct reach *reach, const bool *small, const bool *large)
{
    const struct probe_job *job = reach->job;
    for (int peer = 0; peer < job->size; peer++) {
        if (!may_talk(job, peer) || (!small[peer] && !large[peer]))
            continue;
        probe_say("dead %d %d %s %s", job->ids[peer], job->ids[job->rank],
                  small[peer] ? "first" : "long", reach->texts[peer] ? reach->texts[peer] : "");
    }
}

/* Prints late connections: those that came much later than this rank's first. */
static void print_late(const struct reach *reach)
{
    const struct probe_job *job = reach->job;
    double first = 0;
    for (int peer = 0; peer < job->size; peer++)
        if (reach->arrived[peer] && (!first || reach->arrived[peer] < first))
            first = reach->arrived[peer];
    for (int peer = 0; peer < job->size; peer++)
        if (reach->arrived[peer])
            probe_say("first %d %d %.1f", job->ids[peer], job->ids[job->rank],
                      (reach->arrived[peer] - first) * 1e3);
}

void probe_reach(const struct probe_job *job)
{
    struct reach reach;
    bool *small = calloc((size_t)job->size, sizeof *small);
    bool *large = calloc((size_t)job->size, sizeof *large);
    if (!make_reach(&reach, job) || !small || !large)
        return;
    double last = probe_now(), waited = probe_waited();
    post_all(&reach);
    for (;;) {
        double now = probe_now();
        if (test_all(&reach)) {
            last = now;
            waited = probe_waited();
        } else {
            usleep(POLL_US);
        }
        if (reach.open == 0)
            break;
        /* the limit runs anew with every arrival: a rank may have been started late. It does not
         * run while this rank has no processor */
        if (now - last > job->limit_s && now - last - (probe_waited() - waited) > job->limit_s)
            break;
    }
    for (int peer = 0; peer < job->size; peer++) {
        small[peer] = reach.requests[peer * KINDS + RECV_SMALL] != MPI_REQUEST_NULL ||
                      (may_talk(job, peer) && !reach.arrived[peer]);
        large[peer] = reach.requests[peer * KINDS + RECV_LARGE] != MPI_REQUEST_NULL ||
                      reach.failed[peer];
    }
    print_missing(&reach, small, large);
    print_late(&reach);
    probe_print_sockets(job, 128);
    /* what is still under way may need this memory until the job ends */
    free(small);
    free(large);
}

/* ---- connections ---- */

static bool address_text(const struct sockaddr_storage *address, char *ret_text, size_t room)
{
    if (address->ss_family == AF_INET)
        return inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr, ret_text,
                         (socklen_t)room);
    if (address->ss_family != AF_INET6)
        return false;
    const struct in6_addr *six = &((const struct sockaddr_in6 *)address)->sin6_addr;
    if (IN6_IS_ADDR_V4MAPPED(six))
        return inet_ntop(AF_INET, &six->s6_addr[12], ret_text, (socklen_t)room);
    return inet_ntop(AF_INET6, six, ret_text, (socklen_t)room);
}

static const char *interface_of(const struct ifaddrs *all, const char *text)
{
    for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
        char own[INET6_ADDRSTRLEN];
        struct sockaddr_storage address = {0};
        if (!at->ifa_addr ||
            (at->ifa_addr->sa_family != AF_INET && at->ifa_addr->sa_family != AF_INET6))
            continue;
        memcpy(&address, at->ifa_addr,
               at->ifa_addr->sa_family == AF_INET ? sizeof(struct sockaddr_in)
                                                  : sizeof(struct sockaddr_in6));
        if (address_text(&address, own, sizeof own) && strcmp(own, text) == 0)
            return at->ifa_name;
    }
    return "?";
}

static bool is_loopback(const char *text)
{
    return strncmp(text, "127.", 4) == 0 || strcmp(text, "::1") == 0;
}

/* Reads the ends of a connection to another host. Returns false if the descriptor is none. */
static bool read_ends(int fd, char *ret_here, char *ret_there)
{
    struct sockaddr_storage own = {0}, other = {0};
    socklen_t own_size = sizeof own, other_size = sizeof other;
    return getsockname(fd, (struct sockaddr *)&own, &own_size) == 0 &&
           getpeername(fd, (struct sockaddr *)&other, &other_size) == 0 &&
           address_text(&own, ret_here, INET6_ADDRSTRLEN) &&
           address_text(&other, ret_there, INET6_ADDRSTRLEN) && !is_loopback(ret_there);
}

/* Returns the next open descriptor of this process, or -1. `folder` is /proc/self/fd: to try all
 * numbers takes long where a process may open very many files. */
static int next_file(DIR *folder)
{
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (*entry->d_name != '.')
            return atoi(entry->d_name);
    return -1;
}

void probe_each_address(void (*take)(struct door *door, const char *text), struct door *door)
{
    char here[INET6_ADDRSTRLEN], there[INET6_ADDRSTRLEN];
    DIR *folder = opendir("/proc/self/fd");
    for (int fd; (fd = next_file(folder)) >= 0;)
        if (read_ends(fd, here, there))
            take(door, here);
    if (folder)
        closedir(folder);
}

void probe_print_sockets(const struct probe_job *job, int most)
{
    struct ifaddrs *all = NULL;
    DIR *folder = opendir("/proc/self/fd");
    getifaddrs(&all);
    for (int fd; most > 0 && (fd = next_file(folder)) >= 0;) {
        char here[INET6_ADDRSTRLEN], there[INET6_ADDRSTRLEN];
        struct tcp_info info;
        socklen_t info_size = sizeof info;
        memset(&info, 0, sizeof info);
        if (!read_ends(fd, here, there) || getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &info_size))
            continue;
        probe_say("socket %d %s %s %s %u %u", job->ids[job->rank], interface_of(all, here), here,
                  there, info.tcpi_segs_out, info.tcpi_total_retrans);
        most--;
    }
    freeifaddrs(all);
    if (folder)
        closedir(folder);
}
