/* SPDX-License-Identifier: BSD-3-Clause */

/* Preloaded into the measuring program on one host, this makes faults that the network of a test cannot make: a clock that is wrong
 * by SHIM_CLOCK_S seconds; with SHIM_FLIP, a wrong byte in the middle of some of the long pieces that arrive. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LONG = 60000, EVERY = 50 };

static void *next(const char *name)
{
    return dlsym(RTLD_NEXT, name);
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = next("clock_gettime");
    int result = real(clock, now);
    const char *offset = getenv("SHIM_CLOCK_S");
    if (clock == CLOCK_REALTIME && offset && result == 0)
        now->tv_sec += atoi(offset);
    return result;
}

static void flip(void *into, ssize_t bytes)
{
    static int count;
    if (bytes >= LONG && getenv("SHIM_FLIP") && ++count % EVERY == 0)
        ((char *)into)[bytes / 2] ^= 4;
}

ssize_t read(int fd, void *into, size_t size)
{
    static ssize_t (*real)(int, void *, size_t);
    if (!real)
        real = next("read");
    ssize_t bytes = real(fd, into, size);
    flip(into, bytes);
    return bytes;
}

ssize_t recv(int fd, void *into, size_t size, int flags)
{
    static ssize_t (*real)(int, void *, size_t, int);
    if (!real)
        real = next("recv");
    ssize_t bytes = real(fd, into, size, flags);
    flip(into, bytes);
    return bytes;
}

static void flip_vector(const struct iovec *at, size_t count, ssize_t bytes)
{
    for (size_t i = 0; i < count && bytes > 0; i++) {
        ssize_t here = bytes < (ssize_t)at[i].iov_len ? bytes : (ssize_t)at[i].iov_len;
        flip(at[i].iov_base, here);
        bytes -= here;
    }
}

ssize_t readv(int fd, const struct iovec *at, int count)
{
    static ssize_t (*real)(int, const struct iovec *, int);
    if (!real)
        real = next("readv");
    ssize_t bytes = real(fd, at, count);
    flip_vector(at, (size_t)count, bytes);
    return bytes;
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    static ssize_t (*real)(int, struct msghdr *, int);
    if (!real)
        real = next("recvmsg");
    ssize_t bytes = real(fd, message, flags);
    flip_vector(message->msg_iov, message->msg_iovlen, bytes);
    return bytes;
}
