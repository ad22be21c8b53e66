/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * A port accepts every connection, reads its hello and answers it. MPI_Comm_accept goes on with one
 * connection: the first from which the other end's whole offer has come. Only this one gets this
 * end's offer. The others wait for further calls of MPI_Comm_accept. Strangers cannot keep others
 * out: whoever repeats a hello that was recorded cannot confirm the answer, and nobody waits for
 * that. If too many wait, lib/util/net/visitors.h says which are closed.
 *
 * A caller waits for MPI_Comm_accept for a limited time. A port whose job has ended may belong to
 * another program now, which accepts and says nothing.
 */

#include "lib/mpi/dynamic/meeting.h"

#include "lib/node/doorbell.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/now.h"
#include "lib/settings/param.h"
#include "lib/util/base/scarcity.h"
#include "lib/settings/tcp_choice.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
    STRANGERS_MOST = 64,  /* visitors whose hello was not answered */
    HELLO_MS = 60 * 1000, /* time to send the hello, and again to confirm */
    CALL_MS = 3000,
    OFFER_MS = 20 * 1000,
};

/* A connection to a port. */
struct visit {
    struct tern_list_node node; /* in the port's list */
    struct tern_port *port;
    struct tern_line line;
    uint64_t deadline_ms; /* of a visitor that has not confirmed */
};

struct tern_port {
    struct tern_port *next;
    struct tern_port_name name;
    char text[TERN_PORT_NAME_MOST];
    int fd, epoll;
    bool busy; /* a thread accepts here; changed with the library's lock, read also without */
    struct tern_list_node visits; /* the oldest first */
    struct tern_visitors visitors;
};

static struct tern_port *ports;

/* ---- visitors ---- */

static struct visit *visit_of(const struct tern_list_node *node)
{
    return TERN_CONTAINER(node, struct visit, node);
}

/* Ends a visit, and frees it. */
static void drop(struct tern_list_node *visitor)
{
    tern_list_remove(visitor);
    tern_line_close(&visit_of(visitor)->line); /* this also removes it from the epoll */
    free(visit_of(visitor));
}

static enum tern_standing standing(const struct tern_list_node *visitor)
{
    return tern_line_standing(&visit_of(visitor)->line);
}

static const struct tern_hello *hello_of(const struct tern_list_node *visitor)
{
    return &visit_of(visitor)->line.hello;
}

/* Reads what the visitor has sent, and answers a hello that is not a copy of another. Returns false
 * if the visitor has left. */
static bool hear(struct tern_list_node *visitor)
{
    struct visit *visit = visit_of(visitor);
    struct tern_line *line = &visit->line;
    tern_line_go_on(line);
    if (line->step == TERN_LINE_CALLED && tern_visitors_have_copy(&visit->port->visitors, visitor))
        line->step = TERN_LINE_FAILED;
    if (line->step == TERN_LINE_CALLED) {
        tern_line_answer(line);
        visit->deadline_ms = tern_now_ms() + HELLO_MS;
    }
    if (line->step != TERN_LINE_FAILED)
        return true;
    drop(visitor);
    return false;
}

/* ---- opening and closing ---- */

/* Lists the addresses that the parameters of TCP permit. Loopback addresses come last. */
static int list_addresses(struct tern_port_name *name, uint16_t port, bool only_four)
{
    static const int families[] = {0, 4, 6}; /* in the order of the parameter's choices */
    const char *include = tern_param_string("btl_tcp_if_include");
    bool named = include && *include;
    const char *parameter = named ? "btl_tcp_if_include" : "btl_tcp_if_exclude";
    struct tern_tcp_address all[TERN_TCP_ADDRESSES_MAX];
    struct tern_tcp_filter filter;
    bool cut;
    int rc = tern_tcp_filter_read(parameter, named ? include : tern_param_string(parameter),
                                  &filter);
    if (rc)
        return rc;
    int count = tern_tcp_list_addresses(all, &cut);
    int but_family = families[tern_param_choice("btl_tcp_disable_family")];
    for (int last = 0; last < 2; last++)
        for (int i = 0; i < count; i++) {
            bool loopback = tern_tcp_is_loopback(&all[i]);
            bool may = last ? loopback && !named
                            : tern_tcp_filter_has(&filter, &all[i]) == named && !loopback;
            if (!may || all[i].family == but_family || (all[i].family == 6 && only_four))
                continue;
            all[i].port = port;
            name->addresses[name->count++] = all[i];
        }
    if (name->count)
        return 0;
    return tern_error(TERN_ERR_OTHER, "cannot open a port: %s permits no address of host %s",
                      parameter, tern_rte.host);
}

static int listen_for(struct tern_port *port)
{
    int64_t first, last;
    uint16_t number;
    bool only_four;
    int rc = tern_tcp_ports_read(&first, &last);
    if (rc)
        return rc;
    port->fd = tern_port_listen((uint16_t)first, (uint16_t)last, &number, &only_four);
    port->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    if (port->fd < 0 || port->epoll < 0 ||
        epoll_ctl(port->epoll, EPOLL_CTL_ADD, port->fd, &event))
        return tern_error(TERN_ERR_OTHER, "cannot open a port: %s", strerror(errno));
    rc = list_addresses(&port->name, number, only_four);
    return rc ? rc : tern_random(port->name.token, sizeof port->name.token);
}

/* Closes what a port has opened, and frees the port. */
static void free_port(struct tern_port *port)
{
    while (!tern_list_empty(&port->visits))
        drop(port->visits.next);
    if (port->fd >= 0)
        close(port->fd);
    if (port->epoll >= 0)
        close(port->epoll);
    free(port);
}

int tern_port_open(struct tern_port **ret_port, char ret_name[TERN_PORT_NAME_MOST])
{
    struct tern_port *port = calloc(1, sizeof *port);
    if (!port)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a port");
    port->fd = port->epoll = -1;
    tern_list_init(&port->visits);
    port->visitors = (struct tern_visitors){.list = &port->visits,
                                            .standing = standing,
                                            .hello = hello_of,
                                            .hear = hear,
                                            .close = drop};
    snprintf(port->name.host, sizeof port->name.host, "%.63s", tern_rte.host);
    int rc = listen_for(port);
    if (rc) {
        free_port(port);
        return rc;
    }
    tern_port_name_write(&port->name, port->text);
    memcpy(ret_name, port->text, sizeof port->text);
    port->next = ports;
    ports = port;
    *ret_port = port;
    return 0;
}

struct tern_port *tern_port_find(const char *name)
{
    struct tern_port *port = ports;
    while (port && strcmp(port->text, name) != 0)
        port = port->next;
    return port;
}

void tern_port_close(struct tern_port *port)
{
    struct tern_port **link = &ports;
    while (*link != port)
        link = &(*link)->next;
    *link = port->next;
    free_port(port);
}

/* ---- accepting ---- */

/* Returns true if the visitor has proved itself and has sent its offer. */
static bool has_offered(const struct tern_line *line)
{
    return line->step == TERN_LINE_EXCHANGING && line->received &&
           line->received_bytes == line->expected;
}

/* Returns true if the visitor has closed its end: its MPI_Comm_connect has ended. */
static bool has_left(int fd)
{
    struct pollfd end = {.fd = fd, .events = POLLRDHUP};
    return poll(&end, 1, 0) == 1;
}

/* Accepts what waits, and reads what it has sent. Closes others if too many wait. */
static void let_in(struct tern_port *port)
{
    int fd;
    while ((fd = accept4(port->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0 ||
           (tern_scarcity_is(errno) && tern_visitors_make_room(&port->visitors))) {
        struct visit *visit = fd < 0 ? NULL : calloc(1, sizeof *visit);
        if (!visit) {
            if (fd >= 0)
                close(fd);
            continue;
        }
        visit->port = port;
        visit->deadline_ms = tern_now_ms() + HELLO_MS;
        tern_line_take(&visit->line, fd, false, port->name.token);
        struct epoll_event event = {.events = EPOLLIN};
        epoll_ctl(port->epoll, EPOLL_CTL_ADD, fd, &event);
        tern_list_append(&port->visits, &visit->node);
        if (hear(&visit->node) && tern_visitors_unanswered(&port->visitors) > STRANGERS_MOST)
            tern_visitors_make_room(&port->visitors);
    }
}

/* Reads what the visitors have sent, and closes those whose time is up. Returns the first that has
 * offered, or NULL. */
static struct visit *hear_all(struct tern_port *port)
{
    struct visit *offered = NULL;
    uint64_t now_ms = tern_now_ms();
    let_in(port);
    for (struct tern_list_node *at = port->visits.next, *next; at != &port->visits; at = next) {
        struct visit *visit = visit_of(at);
        next = at->next;
        if (standing(at) != TERN_VISITOR_KNOWN && now_ms > visit->deadline_ms
                ? tern_visitors_end(&port->visitors, at)
                : !hear(at))
            continue;
        if (!offered && has_offered(&visit->line)) {
            if (has_left(visit->line.fd))
                drop(at);
            else
                offered = visit;
        }
    }
    return offered;
}

/* What a wait at a port is for. */
struct wait_at_port {
    struct tern_port *port;
    int starter;
    struct visit **ret_visit;
};

static bool has_hung_up(int fd)
{
    struct pollfd end = {.fd = fd};
    return fd >= 0 && poll(&end, 1, 0) == 1;
}

/* Looks for a visitor once more after the starter has gone, which may have sent one before. */
static bool has_visitor(const void *what)
{
    const struct wait_at_port *wait = what;
    bool last = has_hung_up(wait->starter);
    *wait->ret_visit = hear_all(wait->port);
    return *wait->ret_visit || last;
}

/* What a wait for a line is for. */
struct wait_for_line {
    struct tern_line *line;
    int epoll;
    uint64_t until_ms; /* 0: without a limit */
    short events; /* that the epoll waits for now */
};

/* Returns true if the line is over or must be answered, or if the time is up. */
static bool is_over(const void *what)
{
    struct wait_for_line *wait = (struct wait_for_line *)what;
    while (tern_line_go_on(wait->line) && !tern_line_is_over(wait->line))
        ;
    short events = tern_line_events(wait->line);
    if (events != wait->events) { /* EPOLLIN is POLLIN, EPOLLOUT is POLLOUT */
        struct epoll_event event = {.events = (uint32_t)events};
        epoll_ctl(wait->epoll, EPOLL_CTL_MOD, wait->line->fd, &event);
        wait->events = events;
    }
    return tern_line_is_over(wait->line) || wait->line->step == TERN_LINE_CALLED ||
           (wait->until_ms && tern_now_ms() > wait->until_ms);
}

/* Waits for a condition while packets move, and until the descriptor wakes this thread. One waiter
 * serves all waits of a procedure, so that people see how long the procedure takes. */
static void wait_for(struct tern_waiter *waiter, int fd, bool (*came)(const void *what),
                     const void *what)
{
    bool watched = fd >= 0 && tern_doorbell_watch(fd) == 0;
    waiter->procedure = tern_wait_procedure;
    waiter->came = came;
    waiter->what = what;
    while (!came(what))
        tern_wait(waiter);
    if (watched)
        tern_doorbell_unwatch(fd);
}

/* Waits until the line is over, or until the time `until_ms`; 0: without a limit. */
static void finish_line(struct tern_waiter *waiter, struct tern_line *line, uint64_t until_ms)
{
    struct wait_for_line wait = {.line = line,
                                 .epoll = epoll_create1(EPOLL_CLOEXEC),
                                 .until_ms = until_ms,
                                 .events = tern_line_events(line)};
    struct epoll_event event = {.events = (uint32_t)wait.events};
    if (line->fd >= 0)
        epoll_ctl(wait.epoll, EPOLL_CTL_ADD, line->fd, &event);
    wait_for(waiter, wait.epoll, is_over, &wait);
    if (wait.epoll >= 0)
        close(wait.epoll);
}

/* Takes the other end's message out of a line that is done. */
static void take_message(struct tern_line *line, struct tern_bridge_offer *ret_theirs)
{
    *ret_theirs = (struct tern_bridge_offer){(char *)line->received, line->received_bytes};
    line->received = NULL;
}

/* Sends this end's offer to a visitor. Returns TERN_ERR_AGAIN if the visitor has gone. */
static int serve(struct tern_waiter *waiter, struct visit *visit,
                 const struct tern_bridge_offer *mine, struct tern_bridge_offer *ret_theirs)
{
    int rc = tern_line_say(&visit->line, mine->bytes, mine->length);
    if (rc)
        return rc;
    finish_line(waiter, &visit->line, tern_now_ms() + OFFER_MS);
    if (visit->line.step != TERN_LINE_DONE)
        return TERN_ERR_AGAIN;
    take_message(&visit->line, ret_theirs);
    return 0;
}

static bool is_free(const void *what)
{
    const struct tern_port *port = what;
    return !__atomic_load_n(&port->busy, __ATOMIC_RELAXED);
}

int tern_port_accept(struct tern_port *port, int starter, const struct tern_bridge_offer *mine,
                     struct tern_bridge_offer *ret_theirs)
{
    struct visit *visit = NULL;
    struct wait_at_port wait = {port, starter, &visit};
    const struct tern_probe awaited = {.port = port->text};
    struct tern_waiter waiter = {.probe = starter < 0 ? &awaited : NULL};
    struct epoll_event hang_up = {.events = 0}; /* which is always reported */
    int rc = TERN_ERR_AGAIN;
    if (!is_free(port)) /* another thread accepts here: the two take turns */
        wait_for(&waiter, -1, is_free, port);
    __atomic_store_n(&port->busy, true, __ATOMIC_RELAXED);
    if (starter >= 0)
        epoll_ctl(port->epoll, EPOLL_CTL_ADD, starter, &hang_up);
    while (rc == TERN_ERR_AGAIN) {
        wait_for(&waiter, port->epoll, has_visitor, &wait);
        if (!visit) {
            rc = tern_error(TERN_ERR_SPAWN, "mpirun, which starts the processes, has ended before "
                                            "they connected");
            break;
        }
        tern_list_remove(&visit->node);
        rc = serve(&waiter, visit, mine, ret_theirs);
        tern_line_close(&visit->line);
        free(visit);
    }
    if (starter >= 0)
        epoll_ctl(port->epoll, EPOLL_CTL_DEL, starter, &hang_up);
    __atomic_store_n(&port->busy, false, __ATOMIC_RELAXED);
    tern_lane_tell(tern_lanes);
    return rc;
}

/* ---- connecting ---- */

/* Returns the error of a call that has reached its limit. */
static int say_late(const struct tern_port_name *name, int64_t limit_s)
{
    return tern_error(TERN_ERR_PORT,
                      "no MPI_Comm_accept has answered at the port on host %s within %ld s; the "
                      "info key timeout or the parameter mpi_connect_timeout sets another limit",
                      name->host, (long)limit_s);
}

/* Calls one address of a port. Returns 0 with a line that is over, or has reached the limit
 * `until_ms` or that of a connection; or TERN_ERR_NO_MEM with text. */
static int call_address(struct tern_waiter *waiter, const struct tern_port_name *name, int address,
                        const struct tern_bridge_offer *mine, uint64_t until_ms,
                        struct tern_line *ret_line)
{
    uint64_t connected_ms = tern_now_ms() + CALL_MS;
    tern_line_call(ret_line, &name->addresses[address], name->token);
    if (ret_line->step != TERN_LINE_FAILED && tern_line_say(ret_line, mine->bytes, mine->length)) {
        tern_line_close(ret_line);
        return TERN_ERR_NO_MEM;
    }
    finish_line(waiter, ret_line,
                until_ms && until_ms < connected_ms ? until_ms : connected_ms);
    if (ret_line->step != TERN_LINE_CONNECTING)
        finish_line(waiter, ret_line, until_ms);
    if (ret_line->received) /* that job accepts this line */
        finish_line(waiter, ret_line, tern_now_ms() + OFFER_MS);
    return 0;
}

int tern_port_connect(const char *text, int64_t limit_s, const struct tern_bridge_offer *mine,
                      struct tern_bridge_offer *ret_theirs)
{
    struct tern_port_name name;
    char why[500] = "", plain[TERN_TCP_TEXT];
    const struct tern_probe awaited = {.port = text};
    struct tern_waiter waiter = {.probe = &awaited};
    uint64_t until_ms = limit_s ? tern_now_ms() + (uint64_t)limit_s * 1000 : 0;
    if (!tern_port_name_read(text, &name))
        return tern_error(TERN_ERR_PORT, "port_name is not the name of a port of Tern MPI; "
                                         "expected what MPI_Open_port returned");
    for (int i = 0, repeats = 0; i < name.count; i++) {
        struct tern_line line;
        int rc = call_address(&waiter, &name, i, mine, until_ms, &line);
        if (rc)
            return rc;
        bool done = line.step == TERN_LINE_DONE;
        if (done)
            take_message(&line, ret_theirs);
        if (line.unheard && repeats++ < TERN_LINE_REPEATS) {
            i--;
        } else {
            size_t used = strlen(why);
            snprintf(why + used, sizeof why - used, "%s%s: %s", used ? "; " : "",
                     tern_tcp_text(&name.addresses[i], plain),
                     line.step == TERN_LINE_FAILED ? line.why : "no answer");
        }
        tern_line_close(&line);
        if (done)
            return 0;
        if (until_ms && tern_now_ms() > until_ms)
            return say_late(&name, limit_s);
    }
    return tern_error(TERN_ERR_PORT, "cannot connect to the port on host %s: %s", name.host, why);
}

int tern_port_exchange(int fd, bool calls, const unsigned char *token,
                       const struct tern_bridge_offer *mine, struct tern_bridge_offer *ret_theirs)
{
    struct tern_line line;
    struct tern_waiter waiter = {0};
    tern_line_take(&line, fd, calls, token);
    int rc = tern_line_say(&line, mine->bytes, mine->length);
    if (!rc)
        finish_line(&waiter, &line, 0);
    if (!rc && line.step == TERN_LINE_CALLED) {
        tern_line_answer(&line);
        finish_line(&waiter, &line, 0);
    }
    if (!rc && line.step == TERN_LINE_DONE)
        take_message(&line, ret_theirs);
    else if (!rc)
        rc = tern_error(TERN_ERR_OTHER, "cannot use the socket fd %d: %s", fd, line.why);
    line.fd = -1; /* the user's */
    tern_line_close(&line);
    return rc;
}
