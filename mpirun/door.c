/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/door.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/log.h"
#include "mpirun/loop.h"

const struct tern_service tern_agent_service = {{'T', 'E', 'R', 'N', 'a', 'g', 't', '\n'}, 1};

enum { STRANGERS_MOST = 64 }; /* visitors beyond those awaited; the oldest has to go */

struct visit {
    struct visit *next; /* a younger one */
    struct tern_watch watch;
    bool answered;
    size_t got;
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
};

static struct {
    struct tern_watch watch;
    unsigned char secret[TERN_SECRET_BYTES];
    int hosts;
    void (*came)(int host, int fd);
    struct visit *visits;
    int visit_count;
    bool open, warned;
} door;

/* ---- visitors ---- */

/* Closes its socket, unless that is somebody else's now. */
static void forget(struct visit *visit, bool keep_socket)
{
    struct visit **at = &door.visits;
    while (*at != visit)
        at = &(*at)->next;
    *at = visit->next;
    door.visit_count--;
    tern_loop_watch(&visit->watch, 0);
    if (!keep_socket)
        close(visit->watch.fd);
    free(visit);
}

static void refuse(struct visit *visit)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    char name[NI_MAXHOST] = "?";
    if (!door.warned && getpeername(visit->watch.fd, (struct sockaddr *)&from, &size) == 0) {
        getnameinfo((struct sockaddr *)&from, size, name, sizeof name, NULL, 0, NI_NUMERICHOST);
        tern_log("a connection from %s does not know this job's secret: closed (this is said once)",
                 strncmp(name, "::ffff:", 7) == 0 ? name + 7 : name);
        door.warned = true;
    }
    forget(visit, false);
}

static void heed_hello(struct visit *visit)
{
    int32_t host;
    memcpy(&host, visit->hello.greeting, sizeof host);
    if (!tern_hello_holds(&visit->hello, &tern_agent_service, door.secret) || host < 0 ||
        host >= door.hosts) {
        refuse(visit);
        return;
    }
    visit->answer = (struct tern_answer){.verdict = 1};
    visit->answered = true;
    visit->got = 0;
    if (tern_answer_seal(&visit->answer, &visit->hello, door.secret) ||
        !tern_handshake_write(visit->watch.fd, &visit->answer, sizeof visit->answer))
        forget(visit, false);
}

static void heed_confirm(struct visit *visit)
{
    int32_t host;
    int fd = visit->watch.fd;
    memcpy(&host, visit->hello.greeting, sizeof host);
    if (!tern_confirm_holds(&visit->confirm, &visit->hello, &visit->answer, door.secret)) {
        refuse(visit);
        return;
    }
    forget(visit, true);
    door.came(host, fd);
}

static void visit_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    struct visit *visit = (struct visit *)((char *)watch - offsetof(struct visit, watch));
    bool first = !visit->answered;
    void *message = first ? (void *)&visit->hello : (void *)&visit->confirm;
    size_t size = first ? sizeof visit->hello : sizeof visit->confirm;
    enum tern_part part = tern_handshake_read(watch->fd, message, size, &visit->got);
    if (first && !tern_hello_begins(&tern_agent_service, message, visit->got))
        refuse(visit);
    else if (part == TERN_ENDED) /* it has reached us by another address */
        forget(visit, false);
    else if (part == TERN_WHOLE)
        (first ? heed_hello : heed_confirm)(visit);
}

static void door_ready(struct tern_watch *watch, uint32_t events)
{
    (void)events;
    int fd = accept4(watch->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    if (door.visit_count >= door.hosts + STRANGERS_MOST)
        forget(door.visits, false);
    struct visit *visit = tern_must_alloc(sizeof *visit), **at = &door.visits;
    while (*at)
        at = &(*at)->next;
    *at = visit;
    door.visit_count++;
    visit->watch = (struct tern_watch){.fd = fd, .ready = visit_ready};
    if (tern_loop_watch(&visit->watch, EPOLLIN) < 0)
        forget(visit, false);
}

/* ---- the door ---- */

/* Of both families where the host has both. */
static int listen_anywhere(int *ret_port)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_any};
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr *address = (struct sockaddr *)&six;
    socklen_t size = sizeof six;
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0) {
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    } else {
        address = (struct sockaddr *)&four;
        size = sizeof four;
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
    if (fd < 0)
        return -1;
    if (bind(fd, address, size) || listen(fd, SOMAXCONN) || getsockname(fd, address, &size)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *ret_port = ntohs(address->sa_family == AF_INET6 ? six.sin6_port : four.sin_port);
    return fd;
}

int tern_door_open(const unsigned char secret[TERN_SECRET_BYTES], int hosts,
                   void (*came)(int host, int fd), int *ret_port)
{
    int port, fd = listen_anywhere(&port);
    memcpy(door.secret, secret, sizeof door.secret);
    door.hosts = hosts;
    door.came = came;
    door.watch = (struct tern_watch){.fd = fd, .ready = door_ready};
    if (fd < 0 || tern_loop_watch(&door.watch, EPOLLIN) < 0)
        return tern_error(TERN_ERR_OTHER, "no port at which agents could call: %s",
                          strerror(errno));
    door.open = true;
    *ret_port = port;
    return 0;
}

void tern_door_close(void)
{
    if (!door.open)
        return;
    door.open = false;
    while (door.visits)
        forget(door.visits, false);
    tern_loop_watch(&door.watch, 0);
    close(door.watch.fd);
}

void tern_door_addresses(struct tern_strings *ret_addresses)
{
    struct ifaddrs *list;
    char text[NI_MAXHOST];
    if (getifaddrs(&list))
        return;
    for (struct ifaddrs *at = list; at; at = at->ifa_next) {
        int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
        const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)at->ifa_addr;
        if (!(at->ifa_flags & IFF_UP) || at->ifa_flags & IFF_LOOPBACK ||
            (family != AF_INET && family != AF_INET6) ||
            (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)))
            continue;
        socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof *six;
        if (getnameinfo(at->ifa_addr, size, text, sizeof text, NULL, 0, NI_NUMERICHOST) == 0)
            tern_strings_add(ret_addresses, text);
    }
    freeifaddrs(list);
}
