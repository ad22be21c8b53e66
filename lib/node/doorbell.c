/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/node/doorbell.h"

#include "lib/util/base/error.h"

#include <errno.h>
#include <limits.h>
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { WITHOUT_MEMBARRIER_US = 200, UNHEARD_US = 1000 };

static struct tern_bell private_bell; /* only our own threads ring it */
static struct tern_bell *doorbell = &private_bell;
static bool have_membarrier;

/* Several threads may sleep on the word. It stays nonzero from the first arming until a sender
 * rings or the last thread is awake. Each time the word is armed anew it gets another value. So a
 * thread on its way to sleep does not sleep if it missed a ring and another thread has armed the
 * word again. `sleepers`, `armings` and what is watched have their own lock, which is taken only to
 * sleep and when descriptors come and go. */
static pthread_mutex_t arming = PTHREAD_MUTEX_INITIALIZER;
static int sleepers;
static uint32_t armings;

unsigned tern_doorbell_contended;
static uint64_t private_time;
uint64_t *tern_doorbell_waiting_at = &private_time;

void tern_doorbell_init(void)
{
    have_membarrier = syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

/* Used once this process watches a descriptor: the epoll in which threads sleep, its socket, and
 * the socket's name. The name is random and abstract, so it exists only in the kernel. */
static int sleeping_place = -1; /* atomic: a thread that sleeps holds no lock */
static int ear = -1;
static uint64_t ear_name, ear_password;
static int watched;

static socklen_t name_socket(uint64_t name, struct sockaddr_un *ret_address)
{
    memset(ret_address, 0, sizeof *ret_address);
    ret_address->sun_family = AF_UNIX;
    int length = snprintf(ret_address->sun_path + 1, sizeof ret_address->sun_path - 1,
                          "tern-bell-%016llx", (unsigned long long)name);
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

/* Any user of the host may send to an abstract name, also descriptors that take as long to close as
 * the sender likes (SO_LINGER). The kernel applies this filter while the sender is still in its
 * system call: what has not the password is dropped there, with all that it carries. If a sandbox
 * refuses the filter, the bell works without. */
static void admit_password(int fd, uint64_t password)
{
    uint32_t halves[2];
    memcpy(halves, &password, sizeof halves);
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, sizeof password, 0, 5),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(halves[0]), 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, sizeof halves[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(halves[1]), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, sizeof password),
        BPF_STMT(BPF_RET | BPF_K, 0),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static int add_to_epoll(int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(sleeping_place, EPOLL_CTL_ADD, fd, &event);
}

static int open_ear(void)
{
    struct sockaddr_un address;
    uint64_t random[2] = {0, 0};
    if (getrandom(random, sizeof random, 0) != sizeof random || random[0] == 0)
        return -1;
    ear = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (ear < 0)
        return -1;
    admit_password(ear, random[1]);
    if (bind(ear, (struct sockaddr *)&address, name_socket(random[0], &address)))
        return -1;
    ear_name = random[0];
    ear_password = random[1];
    return add_to_epoll(ear);
}

static void close_ear(void)
{
    __atomic_store_n(&doorbell->socket, 0, __ATOMIC_RELAXED);
    if (ear >= 0)
        close(ear);
    if (sleeping_place >= 0)
        close(sleeping_place);
    __atomic_store_n(&sleeping_place, -1, __ATOMIC_RELAXED);
    ear = -1;
    ear_name = 0;
}

static void publish_ear(void)
{
    __atomic_store_n(&doorbell->password, ear_password, __ATOMIC_RELAXED);
    /* release: a sender that sees the name sees the password */
    __atomic_store_n(&doorbell->socket, ear_name, __ATOMIC_RELEASE);
}

/* Prepares to wait for descriptors, unless that is done. */
static int open_place(void)
{
    if (sleeping_place >= 0)
        return 0;
    __atomic_store_n(&sleeping_place, epoll_create1(EPOLL_CLOEXEC), __ATOMIC_RELAXED);
    if (sleeping_place < 0 || open_ear()) {
        int rc = tern_error(TERN_ERR_OTHER, "cannot prepare to wait for the network: %s",
                            strerror(errno));
        close_ear();
        return rc;
    }
    publish_ear();
    /* threads that sleep on the word would not hear the socket */
    if (__atomic_exchange_n(&doorbell->word, 0, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &doorbell->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return 0;
}

int tern_doorbell_watch(int fd)
{
    pthread_mutex_lock(&arming);
    int rc = open_place();
    if (!rc && add_to_epoll(fd))
        rc = tern_error(TERN_ERR_OTHER, "cannot wait for descriptor %d: %s", fd, strerror(errno));
    watched += !rc;
    pthread_mutex_unlock(&arming);
    return rc;
}

void tern_doorbell_unwatch(int fd)
{
    pthread_mutex_lock(&arming);
    epoll_ctl(sleeping_place, EPOLL_CTL_DEL, fd, NULL);
    if (--watched == 0)
        close_ear();
    pthread_mutex_unlock(&arming);
}

void tern_doorbell_use(struct tern_bell *bell, uint64_t *waiting_at)
{
    doorbell = bell ? bell : &private_bell;
    doorbell->unheard = 0;
    publish_ear();
    tern_doorbell_waiting_at = waiting_at ? waiting_at : &private_time;
}

static uint32_t arm(uint32_t awaited)
{
    sleepers++;
    uint32_t armed = __atomic_load_n(&doorbell->word, __ATOMIC_RELAXED);
    if (armed) /* armed by another thread, which has also run the barrier */
        return armed;
    armings += armings == UINT32_MAX ? 2 : 1; /* never 0 */
    __atomic_store_n(&doorbell->awaited, awaited, __ATOMIC_RELAXED);
    __atomic_store_n(&doorbell->word, armings, __ATOMIC_SEQ_CST);
    if (have_membarrier)
        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
    return armings;
}

uint32_t tern_doorbell_arm(uint32_t awaited)
{
    pthread_mutex_lock(&arming);
    uint32_t armed = arm(awaited);
    pthread_mutex_unlock(&arming);
    return armed;
}

/* Empties the socket. Rings stay readable until no thread sleeps, so that all sleepers wake. A ring
 * may arrive after the word was reset, or before the word was armed anew, so the word does not tell
 * whether there is one. A ring left here would end all later sleeps. */
static void empty_ear(void)
{
    char nothing[8];
    while (recv(ear, nothing, sizeof nothing, 0) >= 0)
        ;
}

void tern_doorbell_disarm(void)
{
    pthread_mutex_lock(&arming);
    if (--sleepers == 0) {
        __atomic_store_n(&doorbell->word, 0, __ATOMIC_RELAXED);
        if (ear >= 0)
            empty_ear();
    }
    pthread_mutex_unlock(&arming);
}

static void sleep_in_epoll(int place, uint32_t armed, uint64_t timeout_us)
{
    struct epoll_event event;
    if (__atomic_load_n(&doorbell->word, __ATOMIC_ACQUIRE) == armed)
        epoll_wait(place, &event, 1, (int)((timeout_us + 999) / 1000));
}

void tern_doorbell_sleep(uint32_t armed, uint64_t timeout_us)
{
    if (!have_membarrier && timeout_us > WITHOUT_MEMBARRIER_US)
        timeout_us = WITHOUT_MEMBARRIER_US;
    if (__atomic_load_n(&doorbell->unheard, __ATOMIC_RELAXED) && timeout_us > UNHEARD_US)
        timeout_us = UNHEARD_US;
    int place = __atomic_load_n(&sleeping_place, __ATOMIC_RELAXED);
    if (place >= 0) {
        sleep_in_epoll(place, armed, timeout_us);
        return;
    }
    struct timespec timeout = {timeout_us / 1000000, timeout_us % 1000000 * 1000};
    syscall(SYS_futex, &doorbell->word, FUTEX_WAIT, armed, &timeout, NULL, 0);
}

static bool ring_socket(uint64_t name, uint64_t password)
{
    static int mouth = -1;
    struct sockaddr_un address;
    int fd = __atomic_load_n(&mouth, __ATOMIC_RELAXED);
    if (fd < 0) {
        int fresh = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        if (fresh < 0)
            return false;
        if (__atomic_compare_exchange_n(&mouth, &fd, fresh, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED))
            fd = fresh;
        else
            close(fresh); /* another thread has opened one */
    }
    socklen_t length = name_socket(name, &address);
    /* EAGAIN: the socket is full, so there is a datagram already */
    return sendto(fd, &password, sizeof password, 0, (struct sockaddr *)&address, length) ==
               sizeof password ||
           errno == EAGAIN;
}

void tern_doorbell_wake(struct tern_bell *bell)
{
    /* only one of several senders wakes; a word of 0 tells the sleeper not to sleep any more */
    if (!__atomic_exchange_n(&bell->word, 0, __ATOMIC_SEQ_CST))
        return;
    /* acquire: the password was set before the name */
    uint64_t name = __atomic_load_n(&bell->socket, __ATOMIC_ACQUIRE);
    if (!name)
        syscall(SYS_futex, &bell->word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    else if (!ring_socket(name, __atomic_load_n(&bell->password, __ATOMIC_RELAXED)))
        __atomic_store_n(&bell->unheard, 1, __ATOMIC_RELAXED);
}

void tern_doorbell_ring_self(void)
{
    tern_doorbell_ring(doorbell);
}
