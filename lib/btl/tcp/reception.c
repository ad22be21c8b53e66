/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/reception.h"

#include "lib/btl/doorbell.h"
#include "lib/btl/tcp/address.h"
#include "lib/btl/tcp/handshake.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"
#include "lib/util/log.h"
#include "lib/util/param.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    STAGGER_MS = 250,         /* before the next address is tried */
    CONNECT_MS = 10 * 1000,   /* for the system to connect; an answer may take as long as the other one computes */
    VISIT_MS = 60 * 1000,     /* for a visitor to say hello */
    VISITORS_MAX = 256,       /* that have not; the oldest goes */
    ROUNDS = 4,               /* through all addresses */
    ROUND_MS = 700,           /* between them */
    CROSSED_MS = 500,         /* for the other one's call to come */
    HOST_SNDBUF = 256 * 1024,
    EVENTS = 32,
};
static const char addresses_key[] = "tern.tcp.addresses", secret_key[] = "tern.tcp.secret";

enum contact_state { IDLE, FETCHING, PAUSING, CALLING, FAILED };

/* A peer's lane. */
struct contact {
    struct contact *next; /* in its bucket */
    struct tern_link in_progress; /* if `listed` */
    bool listed;
    uint32_t rank;
    uint8_t tag;
    uint8_t links;     /* a bit for each that was handed over */
    uint8_t arriving;  /* visitors of this peer that were welcomed */
    enum contact_state state;
    struct tern_rte_fetch fetch;
    struct tern_tcp_address *theirs; /* NULL: not known yet */
    int their_count;
    struct tern_tcp_pair pairs[TERN_TCP_ADDRESSES_MAX];
    int pair_count, next_pair, round, calls;
    uint8_t next_link;   /* further links: the next index */
    uint64_t next_at_ms; /* when the next pair is tried */
    char why[400];       /* each address's fate */
};

enum step { CONNECTING, AWAITING_ANSWER, AWAITING_HELLO, AWAITING_CONFIRM };

/* A connection that is not a link yet. */
struct call {
    struct tern_link node;
    int fd;
    enum step step;
    struct contact *contact; /* of a visitor: once its hello has been read */
    int pair;                /* of a call of ours */
    uint64_t deadline_ms;    /* 0: none */
    size_t got;
    struct tern_tcp_hello hello;
    struct tern_tcp_answer answer;
    struct tern_tcp_confirm confirm;
    struct sockaddr_storage from;
};

static struct {
    pthread_mutex_t lock;
    bool open;
    int epoll, door;
    uint16_t port;
    bool only_four; /* this host has no IPv6 */
    struct tern_tcp_address own[TERN_TCP_ADDRESSES_MAX];
    int own_count;
    struct tern_link calls, contacts_in_progress;
    int visitors;
    struct contact **buckets;
    uint32_t bucket_mask, contact_count;
    bool have_secret, warned;
    unsigned char secret[TERN_SECRET_BYTES];
    struct tern_rte_fetch secret_fetch;
    bool secret_asked;
    int links_per_pair;
    int sndbuf, rcvbuf;
} reception = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoll = -1, .door = -1};

static uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* ---- contacts ---- */

static uint32_t hash(uint32_t rank, uint8_t tag)
{
    return rank * 2654435761u ^ tag * 40503u;
}

static void grow_buckets(void)
{
    uint32_t size = reception.buckets ? (reception.bucket_mask + 1) * 2 : 16;
    struct contact **larger = calloc(size, sizeof *larger);
    if (!larger)
        return; /* chains grow longer */
    for (uint32_t i = 0; reception.buckets && i <= reception.bucket_mask; i++)
        for (struct contact *contact = reception.buckets[i], *next; contact; contact = next) {
            next = contact->next;
            struct contact **bucket = &larger[hash(contact->rank, contact->tag) & (size - 1)];
            contact->next = *bucket;
            *bucket = contact;
        }
    free(reception.buckets);
    reception.buckets = larger;
    reception.bucket_mask = size - 1;
}

/* NULL: no memory. */
static struct contact *contact_of(uint32_t rank, uint8_t tag)
{
    if (!reception.buckets || reception.contact_count > reception.bucket_mask)
        grow_buckets();
    if (!reception.buckets)
        return NULL;
    struct contact **bucket = &reception.buckets[hash(rank, tag) & reception.bucket_mask];
    for (struct contact *contact = *bucket; contact; contact = contact->next)
        if (contact->rank == rank && contact->tag == tag)
            return contact;
    struct contact *contact = calloc(1, sizeof *contact);
    if (!contact)
        return NULL;
    contact->rank = rank;
    contact->tag = tag;
    contact->next = *bucket;
    *bucket = contact;
    reception.contact_count++;
    return contact;
}

static void list_contact(struct contact *contact)
{
    if (!contact->listed)
        tern_list_append(&reception.contacts_in_progress, &contact->in_progress);
    contact->listed = true;
}

/* ---- the secret ---- */

/* Under another launcher the first rank makes it. */
static int make_secret(void)
{
    int rc = tern_random(reception.secret, sizeof reception.secret);
    if (!rc)
        rc = tern_rte_put(secret_key, reception.secret, sizeof reception.secret);
    reception.have_secret = !rc;
    return rc;
}

/* Is it there? Asks for it the first time. */
static bool know_secret(void)
{
    char text[2 * TERN_SECRET_BYTES + 1];
    if (reception.have_secret)
        return true;
    if (!reception.secret_asked) {
        reception.secret_asked = true;
        reception.have_secret =
            tern_rte_secret(text, sizeof text) && tern_secret_read(text, reception.secret);
        reception.secret_fetch.notify = tern_doorbell_ring_self;
        if (!reception.have_secret && tern_rte_fetch(0, secret_key, false, &reception.secret_fetch))
            tern_log("no secret of the job to prove connections with: %s",
                     tern_error_text(TERN_ERR_OTHER));
    } else if (__atomic_load_n(&reception.secret_fetch.done, __ATOMIC_ACQUIRE) &&
               !reception.secret_fetch.error &&
               reception.secret_fetch.length == sizeof reception.secret) {
        memcpy(reception.secret, reception.secret_fetch.value, sizeof reception.secret);
        reception.have_secret = true;
    }
    return reception.have_secret;
}

/* ---- opening ---- */

/* A listening socket at a port, 0: any; -1 with errno. Of both families where the host has both. */
static int listen_at(uint16_t port)
{
    struct sockaddr_storage address;
    struct tern_tcp_address any = {.family = 6};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        any.family = 4;
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    }
    if (fd < 0)
        return -1;
    reception.only_four = any.family == 4;
    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){0}, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    socklen_t size = tern_tcp_sockaddr(&any, port, &address);
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, SOMAXCONN) ||
        getsockname(fd, (struct sockaddr *)&address, &size)) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    reception.port = ntohs(((struct sockaddr_in6 *)&address)->sin6_port); /* where it stands in both */
    return fd;
}

/* It stays open as long as the process: others remember the port, and come while this one is between two sessions. */
static int open_door(void)
{
    if (reception.door >= 0)
        return 0;
    int64_t first = tern_param_int("btl_tcp_port_min_v4");
    int64_t range = first ? tern_param_int("btl_tcp_port_range_v4") : 1;
    if (first < 0 || first > UINT16_MAX || range < 1)
        return tern_error(TERN_ERR_ARG,
                          "btl_tcp_port_min_v4 is %ld and btl_tcp_port_range_v4 %ld; expected a port "
                          "below 65536, and at least 1",
                          (long)first, (long)range);
    int64_t last = first + range - 1 < UINT16_MAX ? first + range - 1 : UINT16_MAX;
    for (int64_t port = first; port <= last && reception.door < 0; port++)
        reception.door = listen_at((uint16_t)port);
    if (reception.door >= 0)
        return 0;
    return first ? tern_error(TERN_ERR_OTHER,
                              "no free TCP port from %ld to %ld (btl_tcp_port_min_v4, "
                              "btl_tcp_port_range_v4): %s",
                              (long)first, (long)last, strerror(errno))
                 : tern_error(TERN_ERR_OTHER, "no TCP port to be reached at: %s", strerror(errno));
}

/* Our own addresses that may be used. Loopback ones, which the parameters leave out by default, do for ranks of this host
 * when there are no others. */
static int choose_addresses(void)
{
    struct tern_tcp_filter include, exclude;
    struct tern_tcp_address all[TERN_TCP_ADDRESSES_MAX];
    const char *given = tern_param_string("btl_tcp_if_include");
    int family = (int)tern_param_int("btl_tcp_disable_family");
    bool cut, only = given && *given;
    int rc = tern_tcp_filter_read("btl_tcp_if_include", given, &include);
    if (!rc && only && strcmp(tern_param_source("btl_tcp_if_exclude"), "default") != 0)
        rc = tern_error(TERN_ERR_ARG, "btl_tcp_if_include and btl_tcp_if_exclude are both given; "
                                      "expected one of them");
    if (!rc)
        rc = tern_tcp_filter_read("btl_tcp_if_exclude", tern_param_string("btl_tcp_if_exclude"),
                                  &exclude);
    if (rc)
        return rc;
    int count = tern_tcp_list_addresses(all, &cut);
    reception.own_count = 0;
    for (int last_resort = 0; last_resort < 2 && reception.own_count == 0; last_resort++)
        for (int i = 0; i < count; i++) {
            bool may = only ? tern_tcp_filter_has(&include, &all[i])
                            : !tern_tcp_filter_has(&exclude, &all[i]);
            if (last_resort)
                may = !only && tern_tcp_is_loopback(&all[i]);
            if (!may || all[i].family == family || (all[i].family == 6 && reception.only_four))
                continue;
            all[i].port = reception.port;
            reception.own[reception.own_count++] = all[i];
        }
    if (reception.own_count)
        return 0;
    return only ? tern_error(TERN_ERR_ARG,
                             "no interface of host %s that is up is named by btl_tcp_if_include "
                             "(`%s`)",
                             tern_rte.host, given)
                : tern_error(TERN_ERR_OTHER, "host %s has no network interface that is up",
                             tern_rte.host);
}

int tern_tcp_reception_publish(void)
{
    unsigned char record[64 + sizeof reception.own];
    size_t size =
        tern_tcp_record_write(reception.own, reception.own_count, record, sizeof record);
    int rc = tern_rte_put(addresses_key, record, size);
    char text[2 * TERN_SECRET_BYTES + 1];
    if (!rc && tern_rte.rank == 0 && !tern_rte_secret(text, sizeof text))
        rc = make_secret();
    return rc ? rc : tern_rte_commit();
}

static int watch(int fd, uint32_t events, void *what, int operation)
{
    struct epoll_event event = {.events = events, .data.ptr = what};
    return epoll_ctl(reception.epoll, operation, fd, &event);
}

int tern_tcp_reception_open(void)
{
    tern_list_init(&reception.calls);
    tern_list_init(&reception.contacts_in_progress);
    reception.links_per_pair = (int)tern_param_int("btl_tcp_links");
    reception.sndbuf = (int)tern_param_int("btl_tcp_sndbuf");
    reception.rcvbuf = (int)tern_param_int("btl_tcp_rcvbuf");
    if (reception.links_per_pair < 1 || reception.links_per_pair > TERN_TCP_LINKS_MAX)
        return tern_error(TERN_ERR_ARG, "btl_tcp_links is %d; expected 1 to %d",
                          reception.links_per_pair, TERN_TCP_LINKS_MAX);
    int rc = open_door();
    if (!rc)
        rc = choose_addresses();
    if (!rc)
        rc = tern_tcp_reception_publish();
    if (rc)
        return rc;
    reception.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (reception.epoll < 0 || watch(reception.door, EPOLLIN, NULL, EPOLL_CTL_ADD))
        return tern_error(TERN_ERR_OTHER, "epoll: %s", strerror(errno));
    reception.open = true;
    return tern_doorbell_watch(reception.epoll);
}

/* ---- ending a call ---- */

static void close_call(struct call *call)
{
    if (call->step == AWAITING_HELLO || call->step == AWAITING_CONFIRM) {
        reception.visitors--;
        if (call->contact)
            call->contact->arriving--;
    } else {
        call->contact->calls--;
    }
    if (call->fd >= 0)
        close(call->fd); /* leaves the epoll by that */
    tern_list_remove(&call->node);
    free(call);
}

static struct call *call_at(struct tern_link *link)
{
    return TERN_CONTAINER(link, struct call, node);
}

/* Our calls to a contact for the first link, other than `but`. */
static void cancel_calls(struct contact *contact, const struct call *but)
{
    for (struct tern_link *at = reception.calls.next, *next; at != &reception.calls; at = next) {
        next = at->next;
        struct call *call = call_at(at);
        if (call != but && call->contact == contact && call->step <= AWAITING_ANSWER &&
            call->hello.link == 0)
            close_call(call);
    }
}

void tern_tcp_reception_hang_up(void)
{
    pthread_mutex_lock(&reception.lock);
    while (!tern_list_empty(&reception.calls))
        close_call(call_at(reception.calls.next));
    for (struct tern_link *at = reception.contacts_in_progress.next, *next;
         at != &reception.contacts_in_progress; at = next) {
        next = at->next;
        struct contact *contact = TERN_CONTAINER(at, struct contact, in_progress);
        if (contact->state == CALLING || contact->state == PAUSING) /* the memory of one that fetches is PMIx's for now */
            contact->state = IDLE;
    }
    pthread_mutex_unlock(&reception.lock);
}

/* Why an address did not do. */
static void note(struct contact *contact, int pair, const char *reason)
{
    char address[TERN_TCP_TEXT];
    size_t used = strlen(contact->why);
    if (contact->round == 0) /* the next rounds say the same */
        snprintf(contact->why + used, sizeof contact->why - used, "%s%s (%s): %s",
                 used ? "; " : "", tern_tcp_text(&contact->theirs[contact->pairs[pair].theirs], address),
                 contact->theirs[contact->pairs[pair].theirs].interface, reason);
}

static void call_failed(struct call *call, const char *reason)
{
    struct contact *contact = call->contact;
    if (call->hello.link == 0) {
        note(contact, call->pair, reason);
        contact->next_at_ms = 0; /* the next one at once */
        list_contact(contact);
    }
    close_call(call);
}

/* ---- links ---- */

static void set_options(int fd, bool same_host)
{
    enum { IDLE_S = 10, BETWEEN_S = 5, PROBES = 4, UNHEARD_MS = 30 * 1000 };
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    /* a host that is gone without a word shows within half a minute */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){IDLE_S}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){BETWEEN_S}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &(int){PROBES}, sizeof(int));
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &(int){UNHEARD_MS}, sizeof(int));
    /* within a host nothing is on its way for long, and what is written stays in the cache until it is read */
    int sndbuf = reception.sndbuf ? reception.sndbuf : same_host ? HOST_SNDBUF : 0;
    if (sndbuf)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(int));
    if (reception.rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &reception.rcvbuf, sizeof(int));
}

/* Both ends have proved themselves: the call becomes a link. */
static void hand_over(struct call *call)
{
    struct contact *contact = call->contact;
    uint8_t index = call->hello.link, bit = (uint8_t)(1u << index);
    struct tern_tcp_link *link =
        contact->links & bit ? NULL
                             : tern_tcp_link_new(call->fd, contact->rank, contact->tag, index);
    if (link) {
        epoll_ctl(reception.epoll, EPOLL_CTL_DEL, call->fd, NULL);
        call->fd = -1;
        contact->links |= bit;
        if (index == 0) {
            cancel_calls(contact, call);
            contact->state = IDLE;
            contact->why[0] = 0;
        }
        tern_tcp_arrive(link);
    }
    close_call(call);
}

static bool start_call(struct contact *contact, int pair, uint8_t index);

/* More links from the one who made the first, where more interfaces of ours and of theirs share subnets, or the parameter
 * asks for several between two. */
static void widen(struct contact *contact, int first_pair)
{
    const struct tern_tcp_pair *first = &contact->pairs[first_pair];
    const char *own_used[TERN_TCP_LINKS_MAX], *theirs_used[TERN_TCP_LINKS_MAX];
    int pairs[TERN_TCP_LINKS_MAX] = {first_pair}, count = 1;
    own_used[0] = first->own >= 0 ? reception.own[first->own].interface : "";
    theirs_used[0] = contact->theirs[first->theirs].interface;
    bool apart = first->own >= 0 && tern_rte_local_rank(contact->rank) < 0;
    for (int i = 0; apart && i < contact->pair_count && count < TERN_TCP_LINKS_MAX; i++) {
        const struct tern_tcp_pair *pair = &contact->pairs[i];
        if (pair->own < 0)
            continue;
        bool fresh = true;
        for (int j = 0; j < count; j++)
            fresh &= strcmp(own_used[j], reception.own[pair->own].interface) != 0 &&
                     strcmp(theirs_used[j], contact->theirs[pair->theirs].interface) != 0;
        if (!fresh)
            continue;
        own_used[count] = reception.own[pair->own].interface;
        theirs_used[count] = contact->theirs[pair->theirs].interface;
        pairs[count++] = i;
    }
    uint8_t index = 1;
    for (int turn = 0; turn < reception.links_per_pair; turn++)
        for (int i = turn == 0; i < count && index < TERN_TCP_LINKS_MAX; i++)
            start_call(contact, pairs[i], index++);
}

/* ---- calling ---- */

static bool start_call(struct contact *contact, int pair, uint8_t index)
{
    const struct tern_tcp_pair *ends = &contact->pairs[pair];
    const struct tern_tcp_address *theirs = &contact->theirs[ends->theirs];
    struct sockaddr_storage address;
    struct call *call = calloc(1, sizeof *call);
    if (!call)
        return false;
    call->contact = contact;
    call->pair = pair;
    call->hello.link = index;
    call->step = CONNECTING;
    call->deadline_ms = now_ms() + CONNECT_MS;
    call->fd = socket(theirs->family == 4 ? AF_INET : AF_INET6,
                      SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    contact->calls++;
    tern_list_append(&reception.calls, &call->node);
    if (call->fd < 0) {
        call_failed(call, strerror(errno));
        return false;
    }
    set_options(call->fd, tern_rte_local_rank(contact->rank) >= 0);
    if (ends->own >= 0) { /* a failure shows in connect */
        socklen_t size = tern_tcp_sockaddr(&reception.own[ends->own], 0, &address);
        setsockopt(call->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
        (void)!bind(call->fd, (struct sockaddr *)&address, size);
    }
    socklen_t size = tern_tcp_sockaddr(theirs, theirs->port, &address);
    if ((connect(call->fd, (struct sockaddr *)&address, size) && errno != EINPROGRESS) ||
        watch(call->fd, EPOLLOUT, call, EPOLL_CTL_ADD)) {
        call_failed(call, strerror(errno));
        return false;
    }
    return true;
}

static void fail(struct contact *contact, const char *why)
{
    contact->state = FAILED;
    if (why != contact->why)
        snprintf(contact->why, sizeof contact->why, "%s", why);
}

/* Their addresses have come, or never will. */
static void read_addresses(struct contact *contact)
{
    struct tern_rte_fetch *fetch = &contact->fetch;
    struct tern_tcp_address list[TERN_TCP_ADDRESSES_MAX];
    int count = fetch->error ? -1 : tern_tcp_record_read(fetch->value, fetch->length, list);
    free(fetch->value);
    fetch->value = NULL;
    if (fetch->error) {
        fail(contact, fetch->text);
        return;
    }
    free(contact->theirs);
    contact->theirs = count > 0 ? malloc((size_t)count * sizeof *list) : NULL;
    if (!contact->theirs) {
        fail(contact, count < 0 ? "what it publishes of its addresses is of another version of "
                                  "this library"
                                : "it publishes no address");
        return;
    }
    memcpy(contact->theirs, list, (size_t)count * sizeof *list);
    contact->their_count = count;
    contact->pair_count = tern_tcp_pair(reception.own, reception.own_count, list, count,
                                        tern_rte_local_rank(contact->rank) >= 0, contact->pairs);
    if (contact->pair_count == 0)
        fail(contact, "none of its addresses is of a kind that this host could reach (see "
                      "btl_tcp_if_include and btl_tcp_if_exclude)");
}

static void begin_calling(struct contact *contact)
{
    contact->state = CALLING;
    contact->next_pair = 0;
    contact->next_at_ms = 0;
}

static void begin_fetching(struct contact *contact, bool anew)
{
    contact->state = FETCHING;
    contact->fetch.notify = tern_doorbell_ring_self;
    int rc = tern_rte_fetch(contact->rank, addresses_key, anew, &contact->fetch);
    if (rc)
        fail(contact, tern_error_text(rc));
}

static void go_on_calling(struct contact *contact, uint64_t now)
{
    if (contact->links & 1) {
        contact->state = IDLE;
        return;
    }
    if (contact->arriving || now < contact->next_at_ms || !know_secret())
        return;
    if (contact->next_pair < contact->pair_count) {
        contact->next_at_ms = now + STAGGER_MS;
        start_call(contact, contact->next_pair++, 0);
    } else if (contact->calls == 0 && contact->round + 1 < ROUNDS) {
        contact->round++; /* perhaps they are those of a program that has ended */
        contact->state = PAUSING;
        contact->next_at_ms = now + ROUND_MS;
    } else if (contact->calls == 0) {
        fail(contact, contact->why);
    }
}

/* Contacts that something is to be done for. */
static int go_on_with_contacts(uint64_t now)
{
    int count = 0;
    struct tern_link *list = &reception.contacts_in_progress;
    for (struct tern_link *at = list->next, *next; at != list; at = next) {
        next = at->next;
        struct contact *contact = TERN_CONTAINER(at, struct contact, in_progress);
        if (contact->state == FETCHING &&
            __atomic_load_n(&contact->fetch.done, __ATOMIC_ACQUIRE)) {
            contact->state = IDLE;
            read_addresses(contact);
            if (contact->state == IDLE)
                begin_calling(contact);
            count++;
        }
        if (contact->state == PAUSING && now >= contact->next_at_ms)
            begin_fetching(contact, true);
        if (contact->state == CALLING)
            go_on_calling(contact, now);
        if (contact->state == IDLE || contact->state == FAILED) {
            tern_list_remove(at);
            contact->listed = false;
        }
    }
    return count;
}

static int cannot_reach(const struct contact *contact)
{
    char host[256];
    tern_rte_host_of(contact->rank, host, sizeof host);
    return tern_error(TERN_ERR_UNREACHABLE, "cannot connect to rank %u on host %s: %s",
                      contact->rank, host, contact->why);
}

static int call_contact(struct contact *contact)
{
    if (contact->state == FAILED)
        return cannot_reach(contact);
    if (contact->state != IDLE || contact->links & 1 || contact->arriving)
        return 0;
    list_contact(contact);
    contact->round = 0;
    contact->why[0] = 0;
    if (contact->theirs) {
        begin_calling(contact);
        return 0;
    }
    begin_fetching(contact, false);
    return contact->state == FAILED ? cannot_reach(contact) : 0;
}

int tern_tcp_reception_call(uint32_t rank, uint8_t tag)
{
    pthread_mutex_lock(&reception.lock);
    struct contact *contact = contact_of(rank, tag);
    int rc = contact ? call_contact(contact)
                     : tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", rank);
    pthread_mutex_unlock(&reception.lock);
    return rc;
}

void tern_tcp_reception_ended(uint32_t rank, uint8_t tag, uint8_t index)
{
    pthread_mutex_lock(&reception.lock);
    struct contact *contact = contact_of(rank, tag);
    if (contact)
        contact->links &= (uint8_t)~(1u << index);
    pthread_mutex_unlock(&reception.lock);
}

/* ---- the steps of a handshake ---- */

/* True: the message of `size` bytes is whole. False with errno EAGAIN: not yet; with another or 0: it never will be. */
static bool read_message(struct call *call, void *message, size_t size)
{
    ssize_t n = recv(call->fd, (char *)message + call->got, size - call->got, MSG_DONTWAIT);
    if (n <= 0) {
        errno = n == 0 ? 0 : errno == EINTR ? EAGAIN : errno;
        return false;
    }
    call->got += (size_t)n;
    errno = EAGAIN;
    return call->got == size;
}

/* Short, and the first on its way: there is room. */
static bool write_message(struct call *call, const void *message, size_t size)
{
    return send(call->fd, message, size, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

static void begin_hello(struct call *call)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(call->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error) {
        call_failed(call, strerror(error));
        return;
    }
    call->hello.lane = call->contact->tag;
    call->hello.from = tern_rte.rank;
    call->hello.to = call->contact->rank;
    if (tern_tcp_hello_seal(&call->hello, tern_rte.job, reception.secret)) {
        call_failed(call, tern_error_text(TERN_ERR_OTHER));
        return;
    }
    if (!write_message(call, &call->hello, sizeof call->hello) ||
        watch(call->fd, EPOLLIN, call, EPOLL_CTL_MOD)) {
        call_failed(call, strerror(errno));
        return;
    }
    call->step = AWAITING_ANSWER;
    call->deadline_ms = 0;
}

/* An answer that counts is whole. */
static void heed_answer(struct call *call)
{
    struct contact *contact = call->contact;
    if (!tern_tcp_answer_holds(&call->answer, &call->hello, reception.secret)) {
        call_failed(call, "what listens there does not know this job's secret");
    } else if (call->answer.verdict == TERN_TCP_WRONG_RANK) {
        char reason[64];
        snprintf(reason, sizeof reason, "that is rank %u", call->answer.rank);
        call_failed(call, reason);
    } else if (call->answer.verdict == TERN_TCP_CROSSED) {
        if (call->hello.link == 0) {
            contact->next_at_ms = now_ms() + CROSSED_MS;
            contact->next_pair = 0;
        }
        close_call(call);
    } else if (tern_tcp_confirm_seal(&call->confirm, &call->hello, &call->answer,
                                     reception.secret) ||
               !write_message(call, &call->confirm, sizeof call->confirm)) {
        call_failed(call, strerror(errno));
    } else {
        int pair = call->pair;
        bool first = call->hello.link == 0;
        hand_over(call);
        if (first && contact->links & 1)
            widen(contact, pair);
    }
}

static void warn_once(const struct call *call, const char *what)
{
    char from[TERN_TCP_TEXT];
    if (reception.warned)
        return;
    reception.warned = true;
    tern_log("a connection from %s %s: closed (this is said once)",
             tern_tcp_sockaddr_text(&call->from, from), what);
}

/* Is a link wanted, as seen from here? */
static enum tern_tcp_verdict judge(const struct tern_tcp_hello *hello, struct contact *contact)
{
    if (contact->links & 1u << hello->link)
        return TERN_TCP_CROSSED;
    if (hello->link == 0 && contact->state == CALLING && tern_rte.rank < hello->from)
        return TERN_TCP_CROSSED;
    return TERN_TCP_WELCOME;
}

static void heed_hello(struct call *call)
{
    const struct tern_tcp_hello *hello = &call->hello;
    if (!tern_tcp_hello_holds(hello, tern_rte.job, tern_rte.size, reception.secret)) {
        warn_once(call, "does not know this job's secret");
        close_call(call);
        return;
    }
    bool mine = hello->to == tern_rte.rank;
    struct contact *contact = mine ? contact_of(hello->from, hello->lane) : NULL;
    call->answer.rank = tern_rte.rank;
    call->answer.verdict = contact ? judge(hello, contact) : TERN_TCP_WRONG_RANK;
    if ((mine && !contact) || tern_tcp_answer_seal(&call->answer, hello, reception.secret) ||
        !write_message(call, &call->answer, sizeof call->answer) ||
        call->answer.verdict != TERN_TCP_WELCOME) {
        close_call(call);
        return;
    }
    set_options(call->fd, tern_rte_local_rank(hello->from) >= 0);
    call->contact = contact;
    contact->arriving++;
    call->step = AWAITING_CONFIRM;
    call->deadline_ms = 0;
    call->got = 0;
}

static void heed_confirm(struct call *call)
{
    if (tern_tcp_confirm_holds(&call->confirm, &call->hello, &call->answer, reception.secret)) {
        hand_over(call);
        return;
    }
    warn_once(call, "does not know this job's secret");
    close_call(call);
}

/* A visitor whose whole hello is there waits until the secret is. */
static void read_hello(struct call *call)
{
    bool whole = call->got == sizeof call->hello ||
                 read_message(call, &call->hello, sizeof call->hello);
    int error = errno;
    if (call->got && !tern_tcp_hello_begins(&call->hello, call->got)) {
        warn_once(call, "speaks another language");
        close_call(call);
    } else if (!whole && error != EAGAIN) {
        close_call(call);
    } else if (whole && know_secret()) {
        heed_hello(call);
    }
}

static void go_on(struct call *call)
{
    switch (call->step) {
    case CONNECTING:
        begin_hello(call);
        break;
    case AWAITING_ANSWER:
        if (read_message(call, &call->answer, sizeof call->answer))
            heed_answer(call);
        else if (errno != EAGAIN)
            call_failed(call, errno ? strerror(errno) : "what listens there is not of this job");
        break;
    case AWAITING_HELLO:
        read_hello(call);
        break;
    case AWAITING_CONFIRM:
        if (read_message(call, &call->confirm, sizeof call->confirm))
            heed_confirm(call);
        else if (errno != EAGAIN)
            close_call(call); /* it has found another way to us */
        break;
    }
}

/* ---- progress ---- */

static void drop_oldest_visitor(void)
{
    for (struct tern_link *at = reception.calls.next; at != &reception.calls; at = at->next)
        if (call_at(at)->step == AWAITING_HELLO) {
            close_call(call_at(at));
            return;
        }
}

static int receive_visitors(uint64_t now)
{
    int count = 0;
    for (;;) {
        struct sockaddr_storage from;
        socklen_t size = sizeof from;
        int fd = accept4(reception.door, (struct sockaddr *)&from, &size,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return count;
        struct call *call = calloc(1, sizeof *call);
        if (!call || watch(fd, EPOLLIN, call, EPOLL_CTL_ADD)) {
            free(call);
            close(fd);
            return count;
        }
        call->fd = fd;
        call->step = AWAITING_HELLO;
        call->deadline_ms = now + VISIT_MS;
        call->from = from;
        tern_list_append(&reception.calls, &call->node);
        if (++reception.visitors > VISITORS_MAX)
            drop_oldest_visitor();
        count++;
    }
}

static void heed_deadlines(uint64_t now)
{
    for (struct tern_link *at = reception.calls.next, *next; at != &reception.calls; at = next) {
        next = at->next;
        struct call *call = call_at(at);
        if (call->step == AWAITING_HELLO && call->got == sizeof call->hello)
            read_hello(call); /* the secret may be there now */
        else if (call->deadline_ms && now > call->deadline_ms) {
            if (call->step == CONNECTING) {
                call_failed(call, strerror(ETIMEDOUT));
            } else {
                close_call(call);
            }
        }
    }
}

static int progress(void)
{
    struct epoll_event events[EVENTS];
    uint64_t now = now_ms();
    int count = go_on_with_contacts(now);
    int n = epoll_wait(reception.epoll, events, EVENTS, 0);
    for (int i = 0; i < n; i++)
        if (!events[i].data.ptr)
            count += receive_visitors(now);
    for (int i = 0; i < n; i++) {
        /* one that is closed meanwhile, as it was superseded, is in the list no more */
        for (struct tern_link *at = reception.calls.next; at != &reception.calls; at = at->next)
            if (call_at(at) == events[i].data.ptr) {
                go_on(call_at(at));
                count++;
                break;
            }
    }
    heed_deadlines(now);
    return count;
}

int tern_tcp_reception_progress(void)
{
    if (!reception.open || pthread_mutex_trylock(&reception.lock))
        return 0;
    int count = progress();
    pthread_mutex_unlock(&reception.lock);
    return count;
}

/* ---- closing ---- */

void tern_tcp_reception_close(void)
{
    tern_tcp_reception_hang_up();
    if (reception.open)
        tern_doorbell_unwatch(reception.epoll);
    if (reception.epoll >= 0)
        close(reception.epoll);
    for (uint32_t i = 0; reception.buckets && i <= reception.bucket_mask; i++)
        for (struct contact *contact = reception.buckets[i], *next; contact; contact = next) {
            next = contact->next;
            free(contact->theirs);
            if (contact->state != FETCHING)
                free(contact);
        }
    free(reception.buckets);
    reception.buckets = NULL;
    reception.contact_count = 0;
    reception.epoll = -1;
    reception.open = false;
}

/* ---- for people ---- */

void tern_tcp_describe_ends(int fd, char text[TERN_TCP_ENDS])
{
    struct sockaddr_storage own, theirs;
    socklen_t own_size = sizeof own, their_size = sizeof theirs;
    char here[TERN_TCP_TEXT] = "?", there[TERN_TCP_TEXT] = "?";
    const char *interface = "unknown interface";
    if (getsockname(fd, (struct sockaddr *)&own, &own_size) == 0)
        tern_tcp_sockaddr_text(&own, here);
    if (getpeername(fd, (struct sockaddr *)&theirs, &their_size) == 0)
        tern_tcp_sockaddr_text(&theirs, there);
    for (int i = 0; i < reception.own_count; i++) {
        struct tern_tcp_address address = reception.own[i];
        char plain[TERN_TCP_TEXT];
        address.port = 0;
        tern_tcp_text(&address, plain);
        if (strstr(here, plain))
            interface = reception.own[i].interface;
    }
    snprintf(text, TERN_TCP_ENDS, "%s, %s here and %s there", interface, here, there);
}
