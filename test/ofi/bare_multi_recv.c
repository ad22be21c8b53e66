/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bare_multi_recv PROVIDER: does a provider of libfabric give a buffer that takes many messages (FI_MULTI_RECV) back while one of
 * them is still arriving? Then whoever posts the buffer again has it overwritten. No MPI here: one process receives. A begins to
 * send a long message and is stopped; B sends a short one, which fills the buffer; A goes on.
 *
 * Prints `released early` or `released last`, and exits with 0; with 1 if it cannot tell.
 */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LONG = 64 << 20, LEAST = 1000, TRIES = 100000000 };

static struct fid_cq *queue;
static struct fid_ep *endpoint;
static struct fid_av *addresses;

static void check(const char *what, long error)
{
    if (error >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, fi_strerror((int)-error));
    exit(1);
}

static void open_endpoint(const char *provider)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_DATA};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    hints->caps = FI_MSG | FI_MULTI_RECV;
    hints->ep_attr->type = FI_EP_RDM;
    hints->fabric_attr->prov_name = strdup(provider);
    check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints, &info));
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    check("fi_domain", fi_domain(fabric, info, &domain, NULL));
    check("fi_av_open", fi_av_open(domain, &av, &addresses, NULL));
    check("fi_cq_open", fi_cq_open(domain, &cq, &queue, NULL));
    check("fi_endpoint", fi_endpoint(domain, info, &endpoint, NULL));
    check("fi_ep_bind", fi_ep_bind(endpoint, &addresses->fid, 0));
    check("fi_ep_bind", fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV));
    size_t least = LEAST;
    check("FI_OPT_MIN_MULTI_RECV", fi_setopt(&endpoint->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &least, sizeof least));
    check("fi_enable", fi_enable(endpoint));
}

/* Takes a completion; returns false if there is none. */
static int take(struct fi_cq_data_entry *entry)
{
    ssize_t n = fi_cq_read(queue, entry, 1);
    check("fi_cq_read", n == -FI_EAGAIN ? 0 : n);
    return n == 1;
}

static void send_to(const char *name, size_t length)
{
    struct fi_cq_data_entry entry;
    static struct fi_context2 context;
    fi_addr_t to;
    char *bytes = memset(malloc(length), 1, length);
    check("fi_av_insert", fi_av_insert(addresses, name, 1, &to, 0, NULL) == 1 ? 0 : -FI_EINVAL);
    long error;
    while ((error = fi_send(endpoint, bytes, length, NULL, to, &context)) == -FI_EAGAIN)
        take(&entry);
    check("fi_send", error);
    while (!take(&entry))
        ;
}

/* A process that sends one message when it is told, and stays. */
static int sender(const char *provider, size_t length, const char *name, pid_t *ret_pid)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        exit(1);
    *ret_pid = fork();
    if (*ret_pid == 0) {
        char one;
        open_endpoint(provider);
        if (write(ends[1], "r", 1) == 1 && read(ends[1], &one, 1) == 1)
            send_to(name, length);
        struct fi_cq_data_entry entry;
        for (;;) /* the provider may have to go on */
            take(&entry);
    }
    return ends[0];
}

int main(int argc, char **argv)
{
    const char *provider = argc > 1 ? argv[1] : FI_MAJOR(fi_version()) >= 2 ? "tcp" : "net";
    char name[256], one;
    size_t length = sizeof name;
    struct fi_context2 context;
    struct fi_cq_data_entry entry;
    static char buffer[LONG + LEAST];
    struct iovec iov = {buffer, sizeof buffer};
    struct fi_msg message = {.msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = &context};
    open_endpoint(provider);
    check("fi_getname", fi_getname(&endpoint->fid, name, &length));
    check("fi_recvmsg", fi_recvmsg(endpoint, &message, FI_MULTI_RECV));
    pid_t a_pid, b_pid;
    int a = sender(provider, LONG, name, &a_pid), b = sender(provider, 1, name, &b_pid), early = -1;
    if (read(a, &one, 1) != 1 || read(b, &one, 1) != 1 || write(a, "g", 1) != 1)
        return 1;
    bool stopped = false;
    for (int i = 0; i < TRIES && early < 0; i++) {
        bool taken = take(&entry);
        if (!stopped && __atomic_load_n(buffer, __ATOMIC_RELAXED)) {
            kill(a_pid, SIGSTOP);
            stopped = write(b, "g", 1) == 1;
            i = TRIES / 2;
        }
        if (i == TRIES - TRIES / 4)
            kill(a_pid, SIGCONT);
        if (taken && entry.flags & FI_RECV && entry.len == LONG && !(entry.flags & FI_MULTI_RECV))
            early = 0;
        else if (taken && entry.flags & FI_MULTI_RECV)
            early = entry.len == 1;
    }
    printf("%s: %s\n", provider, early > 0 ? "released early" : early == 0 ? "released last" : "no answer");
    fflush(stdout);
    kill(a_pid, SIGKILL);
    kill(b_pid, SIGKILL);
    return early < 0;
}
