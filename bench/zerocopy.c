/* SPDX-License-Identifier: BSD-3-Clause */
/* Does MSG_ZEROCOPY save time between two ends of a TCP connection? Plain sockets, no MPI.
 *
 *     zerocopy PORT                        receives, for ever
 *     zerocopy ADDRESS PORT BYTES ...      sends messages of each size, half a second with copying,
 *                                          half a second with MSG_ZEROCOPY, three times in turn
 *
 * Prints bytes, MB/s with copying, MB/s with MSG_ZEROCOPY, and how many of 100 MSG_ZEROCOPY sends
 * the kernel copied all the same. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { IN_FLIGHT = 32, MOST = 16 << 20 };
static char memory[MOST];
static long told, copied;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Noreturn void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void receive(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    int door = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (bind(door, (struct sockaddr *)&address, sizeof address) || listen(door, 1))
        fail("bind");
    for (;;) {
        int fd = accept(door, NULL, NULL);
        while (recv(fd, memory, 1 << 20, 0) > 0)
            ;
        close(fd);
    }
}

/* Reads the kernel's reports about sends that have completed. */
static void heed(int fd)
{
    char control[128];
    struct msghdr message = {.msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
        return;
    for (struct cmsghdr *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
        struct sock_extended_err error;
        memcpy(&error, CMSG_DATA(part), sizeof error);
        if (error.ee_origin != SO_EE_ORIGIN_ZEROCOPY)
            continue;
        long count = (long)error.ee_data - (long)error.ee_info + 1;
        told += count;
        copied += error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED ? count : 0;
    }
}

/* Sends for half a second. Returns MB/s. */
static double send_for(const struct sockaddr_in *address, size_t bytes, int flags)
{
    long calls = 0;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    told = copied = 0;
    setsockopt(fd, SOL_SOCKET, SO_ZEROCOPY, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (connect(fd, (const struct sockaddr *)address, sizeof *address))
        fail("connect");
    double begin = now(), end = begin, sent = 0;
    for (; end - begin < 0.5; end = now())
        for (size_t done = 0; done < bytes;) {
            ssize_t n = send(fd, memory + done, bytes - done, flags);
            if (n < 0 && errno != ENOBUFS)
                fail("send");
            if (n > 0) {
                done += (size_t)n;
                sent += (double)n;
                calls++;
            }
            while (flags && (n < 0 ? told < calls : calls - told > IN_FLIGHT)) {
                poll(&(struct pollfd){.fd = fd}, 1, 1000);
                heed(fd);
                n = 0;
            }
        }
    while (flags && told < calls) {
        poll(&(struct pollfd){.fd = fd}, 1, 1000);
        heed(fd);
    }
    end = now();
    close(fd);
    return sent / (end - begin) / 1e6;
}

int main(int argc, char **argv)
{
    if (argc == 2)
        receive(atoi(argv[1]));
    struct sockaddr_in address = {.sin_family = AF_INET};
    if (argc < 4 || inet_pton(AF_INET, argv[1], &address.sin_addr) != 1)
        return 2;
    address.sin_port = htons((uint16_t)atoi(argv[2]));
    memset(memory, 1, sizeof memory);
    printf("%10s%12s%12s%20s\n", "bytes", "copied", "zerocopy", "of 100 copied too");
    for (int i = 3; i < argc; i++) {
        size_t bytes = (size_t)atol(argv[i]);
        double with = 0, without = 0;
        for (int round = 0; round < 3; round++) {
            without += send_for(&address, bytes, 0) / 3;
            with += send_for(&address, bytes, MSG_ZEROCOPY) / 3;
        }
        printf("%10zu%12.0f%12.0f%20.0f\n", bytes, without, with, told ? 100.0 * (double)copied / (double)told : 0);
    }
    return 0;
}
