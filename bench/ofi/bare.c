/* SPDX-License-Identifier: BSD-3-Clause */
/* bare [-b SECONDS] [-n BATCHES] [-v least] PROVIDER: what libfabric itself does between two
 * processes of this machine, without MPI. It prints the lines of messages.c; for `long` it times
 * fi_read instead of messages, for `turns` half of a round: each process announces its memory, is
 * read, and learns that by a message. With -v least a value is the least batch, else the median.
 * cc -O2 bare.c -lfabric */
#define _GNU_SOURCE
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 64, READS = 8, SLOTS = 2 * WINDOW, SLOT_BYTES = 64, SHORT = 8, MOST = 4 << 20 };

/* What the two processes tell each other at the start. */
struct card {
    char name[256];
    size_t name_length;
    uint64_t address, key;
};

static int first; /* this process measures */
static int other; /* socket to the other process */
static struct fid_cq *queue;
static struct fid_ep *endpoint;
static fi_addr_t peer;
static struct card theirs;
static struct fi_context2 slots[SLOTS], reads[READS];
static char slot_bytes[SLOTS][SLOT_BYTES];
static char *memory;
static void *memory_desc;
static long arrived, awaited, read_ends;

static void check(const char *what, long error)
{
    if (error >= 0)
        return;
    fprintf(stderr, "bare: %s: %s\n", what, fi_strerror((int)-error));
    exit(1);
}

static void post(long i)
{
    check("fi_recv", fi_recv(endpoint, slot_bytes[i], SLOT_BYTES, NULL, peer, &slots[i]));
}

static void poll_queue(void)
{
    struct fi_cq_entry entries[16];
    ssize_t count = fi_cq_read(queue, entries, 16);
    check("fi_cq_read", count == -FI_EAGAIN ? 0 : count);
    for (ssize_t i = 0; i < count; i++) {
        struct fi_context2 *context = entries[i].op_context;
        if (context >= slots && context < slots + SLOTS) {
            arrived++;
            post(context - slots);
        } else {
            read_ends++;
        }
    }
}

static void await(int messages)
{
    for (awaited += messages; arrived < awaited;)
        poll_queue();
}

static void send_short(void)
{
    static char bytes[SHORT];
    long error;
    while ((error = fi_inject(endpoint, bytes, SHORT, peer)) == -FI_EAGAIN)
        poll_queue();
    check("fi_inject", error);
}

/* ---- what is measured; both processes call it ---- */

static void ping_pong(int repetitions, size_t size)
{
    (void)size;
    for (int i = 0; i < repetitions; i++) {
        if (first)
            send_short();
        await(1);
        if (!first)
            send_short();
    }
}

static void flood(int repetitions, size_t size)
{
    (void)size;
    for (int i = 0; i < repetitions; i++) {
        for (int k = 0; first && k < WINDOW; k++)
            send_short();
        await(first ? 1 : WINDOW);
        if (!first)
            send_short();
    }
}

/* Reads `count` times `size` bytes, all at once. */
static void read_all(int count, size_t size)
{
    long goal = read_ends + count, error;
    for (int i = 0; i < count; i++) {
        while ((error = fi_read(endpoint, memory, size, memory_desc, peer, theirs.address,
                                theirs.key, &reads[i])) == -FI_EAGAIN)
            poll_queue();
        check("fi_read", error);
    }
    while (read_ends < goal)
        poll_queue();
}

static void read_each(int repetitions, size_t size)
{
    for (int i = 0; first && i < repetitions; i++)
        read_all(1, size);
    ping_pong(1, SHORT); /* until then the other process makes progress */
}

static void read_windows(int repetitions, size_t size)
{
    for (int i = 0; i < repetitions; i++) {
        if (first)
            read_all(READS, size);
        ping_pong(1, SHORT);
    }
}

static void read_turns(int repetitions, size_t size)
{
    for (int i = 0; i < repetitions; i++)
        for (int turn = 0; turn < 2; turn++)
            if (first == turn) {
                await(1);
                read_all(1, size);
                send_short();
            } else {
                send_short();
                await(1);
            }
}

/* ---- the measuring ---- */

enum { BATCHES_MOST = 1000 };
static double batch_seconds = 0.005;
static int batches = 9;
static bool least;

static void tell(const void *bytes, size_t length)
{
    if (write(other, bytes, length) != (ssize_t)length)
        exit(1);
}

static void hear(void *bytes, size_t length)
{
    if (recv(other, bytes, length, MSG_WAITALL) != (ssize_t)length)
        exit(1);
}

static double seconds_of(void (*run)(int, size_t), int repetitions, size_t size)
{
    struct timespec begin, end;
    tell(&repetitions, sizeof repetitions);
    ping_pong(1, SHORT);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    run(repetitions, size);
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Returns the seconds of a repetition, the median or the least of all batches; 0 in the other
 * process. */
static double measure(void (*run)(int, size_t), size_t size)
{
    double seconds[BATCHES_MOST], one;
    int repetitions = 1, end = 0;
    if (!first) {
        for (hear(&repetitions, sizeof repetitions); repetitions;
             hear(&repetitions, sizeof repetitions)) {
            ping_pong(1, SHORT);
            run(repetitions, size);
        }
        return 0;
    }
    while ((one = seconds_of(run, repetitions, size)) < batch_seconds)
        repetitions = one * 16 < batch_seconds
                          ? repetitions * 16
                          : (int)(repetitions * batch_seconds / one * 1.2) + 1;
    for (int i = 0; i < batches; i++)
        seconds[i] = seconds_of(run, repetitions, size) / repetitions;
    tell(&end, sizeof end);
    qsort(seconds, (size_t)batches, sizeof *seconds, ascending);
    return seconds[least ? 0 : batches / 2];
}

static void print(const char *operation, size_t size, double value, const char *unit)
{
    if (first)
        printf("%s %zu %.4g %s\n", operation, size, value, unit);
}

static void open_endpoint(const char *provider)
{
    struct fi_info *hints = fi_allocinfo(), *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *addresses;
    struct fid_mr *region;
    struct fi_cq_attr cq = {.format = FI_CQ_FORMAT_CONTEXT};
    struct fi_av_attr av = {.type = FI_AV_TABLE};
    struct card ours = {.name_length = sizeof ours.name};
    hints->caps = FI_MSG | FI_RMA;
    hints->mode = FI_CONTEXT | FI_CONTEXT2;
    hints->ep_attr->type = FI_EP_RDM;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->fabric_attr->prov_name = strdup(provider);
    check("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    check("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    check("fi_domain", fi_domain(fabric, info, &domain, NULL));
    check("fi_av_open", fi_av_open(domain, &av, &addresses, NULL));
    check("fi_cq_open", fi_cq_open(domain, &cq, &queue, NULL));
    check("fi_endpoint", fi_endpoint(domain, info, &endpoint, NULL));
    check("fi_ep_bind", fi_ep_bind(endpoint, &addresses->fid, 0));
    check("fi_ep_bind", fi_ep_bind(endpoint, &queue->fid, FI_TRANSMIT | FI_RECV));
    check("fi_enable", fi_enable(endpoint));
    check("fi_mr_reg", fi_mr_reg(domain, memory, MOST, FI_READ | FI_REMOTE_READ, 0,
                                 (uint64_t)first + 1, 0, &region, NULL));
    check("fi_getname", fi_getname(&endpoint->fid, ours.name, &ours.name_length));
    memory_desc = fi_mr_desc(region);
    ours.key = fi_mr_key(region);
    ours.address = info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)memory : 0;
    tell(&ours, sizeof ours);
    hear(&theirs, sizeof theirs);
    check("fi_av_insert",
          fi_av_insert(addresses, theirs.name, 1, &peer, 0, NULL) == 1 ? 0 : -FI_EINVAL);
    for (long i = 0; i < SLOTS; i++)
        post(i);
    tell("", 1); /* ready */
    hear(&(char){0}, 1);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1 << 20, MOST};
    int ends[2];
    cpu_set_t one;
    for (int option; (option = getopt(argc, argv, "b:n:v:")) > 0;)
        if (option == 'b')
            batch_seconds = atof(optarg);
        else if (option == 'v')
            least = strcmp(optarg, "least") == 0;
        else
            batches = atoi(optarg);
    if (optind != argc - 1 || batches < 1 || batches > BATCHES_MOST) {
        fprintf(stderr, "usage: bare [-b SECONDS] [-n BATCHES, 1 to 1000] [-v least] PROVIDER\n");
        return 2;
    }
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    first = fork() != 0;
    other = ends[first];
    close(ends[!first]);
    CPU_ZERO(&one);
    CPU_SET(first ? 0 : 1, &one);
    sched_setaffinity(0, sizeof one, &one); /* fails on one processor */
    if (posix_memalign((void **)&memory, 4096, MOST))
        return 1;
    memset(memory, 1, MOST);
    open_endpoint(argv[optind]);
    print("latency", SHORT, measure(ping_pong, SHORT) / 2 * 1e6, "us");
    print("rate", SHORT, WINDOW / measure(flood, SHORT), "msg/s");
    for (int i = 0; i < 2; i++) {
        print("long", sizes[i], measure(read_each, sizes[i]) * 1e6, "us");
        print("turns", sizes[i], measure(read_turns, sizes[i]) / 2 * 1e6, "us");
        print("stream", sizes[i], READS * (double)sizes[i] / measure(read_windows, sizes[i]) / 1e6,
              "MB/s");
    }
    return 0;
}
