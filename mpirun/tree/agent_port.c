/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/tree/agent_port.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/base/scarcity.h"
#include "lib/settings/tcp_choice.h"
#include "lib/util/net/tcp_address.h"
#include "mpirun/base/door.h"

const struct tern_service tern_agent_service = {{'T', 'E', 'R', 'N', 'a', 'g', 't', '\n'}, 2};

enum { STRANGERS_MOST = 64 /* connections beyond those of the expected agents */ };

struct visit {
    struct tern_visit base; /* first: callbacks get its address */
    /* It has sent a valid hello of this job. The hello may still be a copy that a stranger has
     * recorded. */
    bool answered;
    size_t got;
    struct tern_hello hello;
    struct tern_answer answer;
    struct tern_confirm confirm;
};

static struct {
    struct tern_door door;
    unsigned char secret[TERN_SECRET_BYTES];
    int hosts;
    void (*came)(int host, int fd);
    bool open, warned;
} port;

/* ---- what the parameters allow ---- */

enum { FOUR = 1, SIX = 2 };
static struct {
    struct tern_tcp_address addresses[TERN_TCP_ADDRESSES_MAX];
    int count;
    bool restricted; /* the host has other addresses, at which no connection is accepted */
    unsigned char ports[UINT16_MAX + 1]; /* by port: the families for which a parameter allows it */
    int families; /* the families for which a parameter restricts ports; 0: none */
} allowed;

/* Reads a list of ports such as "10000-10100,20000". Returns 0 or TERN_ERR_ARG. */
static int read_ports(const char *parameter, int family)
{
    const char *text = tern_param_string(parameter), *at = text;
    if (!text || !*text)
        return 0;
    allowed.families |= family;
    for (;;) {
        char *end;
        long first = isdigit((unsigned char)*at) ? strtol(at, &end, 10) : 0, last = first;
        if (first && *end == '-')
            last = isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10) : 0;
        if (first < 1 || last < first || last > UINT16_MAX || (*end && *end != ','))
            return tern_error(
                TERN_ERR_ARG,
                "%s is `%s`; expected ports and ranges of ports, such as 10000-10100,20000",
                parameter, text);
        for (long port = first; port <= last; port++)
            allowed.ports[port] |= family;
        if (!*end)
            return 0;
        at = end + 1;
    }
}

static int read_addresses(void)
{
    bool include, cut;
    struct tern_tcp_filter filter;
    int error = tern_tcp_filter_choose("oob_tcp_if_include", "oob_tcp_if_exclude", &include);
    if (error)
        return error;
    const char *name = include ? "oob_tcp_if_include" : "oob_tcp_if_exclude",
               *given = tern_param_string(name);
    error = tern_tcp_filter_read(name, given, &filter);
    if (error)
        return error;
    int found = tern_tcp_list_addresses(allowed.addresses, &cut);
    allowed.restricted = given && *given;
    for (int i = 0; i < found; i++) {
        const struct tern_tcp_address *address = &allowed.addresses[i];
        if (tern_tcp_filter_has(&filter, address) == include && !tern_tcp_is_loopback(address))
            allowed.addresses[allowed.count++] = *address;
    }
    return allowed.count || !allowed.restricted
               ? 0
               : tern_error(
                     TERN_ERR_ARG,
                     "%s (`%s`) permits no address of this host, so agents cannot connect to "
                     "mpirun",
                     name, given);
}

/* ---- connections that have not proved themselves ---- */

/* Frees the connection. Closes its socket unless another owner has it now. */
static void forget(struct visit *visit, bool keep_socket)
{
    tern_visit_end(&visit->base);
    if (!keep_socket)
        close(visit->base.watch.fd);
    free(visit);
}

static void refuse(struct visit *visit)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    char name[NI_MAXHOST] = "?";
    if (!port.warned && getpeername(visit->base.watch.fd, (struct sockaddr *)&from, &size) == 0) {
        getnameinfo((struct sockaddr *)&from, size, name, sizeof name, NULL, 0, NI_NUMERICHOST);
        tern_log("closed a connection from %s: it does not know this job's secret (this message is "
                 "printed once)",
                 strncmp(name, "::ffff:", 7) == 0 ? name + 7 : name);
        port.warned = true;
    }
    forget(visit, false);
}

/* Checks the hello and answers. Returns false if the visit is over. */
static bool heed_hello(struct visit *visit)
{
    int32_t host;
    memcpy(&host, visit->hello.greeting, sizeof host);
    if (tern_hmac_load()) {
        tern_log("%s", tern_error_text(TERN_ERR_OTHER));
        forget(visit, false);
        return false;
    }
    if (!tern_hello_holds(&visit->hello, &tern_agent_service, port.secret) || host < 0 ||
        host >= port.hosts) {
        refuse(visit);
        return false;
    }
    if (tern_visit_has_copy(&visit->base)) {
        forget(visit, false);
        return false;
    }
    bool direct = tern_hello_is_direct(&visit->hello, visit->base.watch.fd);
    visit->answer =
        (struct tern_answer){.verdict = direct ? TERN_AGENT_WELCOME : TERN_AGENT_RELAYED};
    visit->answered = true;
    visit->got = 0;
    tern_visit_renew(&visit->base);
    if (tern_answer_seal(&visit->answer, &visit->hello, port.secret) ||
        !tern_handshake_write(visit->base.watch.fd, &visit->answer, sizeof visit->answer) ||
        !direct) {
        forget(visit, false);
        return false;
    }
    return true;
}

/* Checks the confirm: then the connection is an agent's. Ends the visit, and returns false. */
static bool heed_confirm(struct visit *visit)
{
    int32_t host;
    int fd = visit->base.watch.fd;
    memcpy(&host, visit->hello.greeting, sizeof host);
    if (!tern_confirm_holds(&visit->confirm, &visit->hello, &visit->answer, port.secret)) {
        refuse(visit);
        return false;
    }
    forget(visit, true);
    port.came(host, fd);
    return false;
}

/* Reads what has arrived. Returns false if the visit is over. */
static bool hear(struct tern_visit *base)
{
    struct visit *visit = (struct visit *)base;
    bool first = !visit->answered;
    void *message = first ? (void *)&visit->hello : (void *)&visit->confirm;
    size_t size = first ? sizeof visit->hello : sizeof visit->confirm;
    enum tern_part part = tern_handshake_read(visit->base.watch.fd, message, size, &visit->got);
    if (first && !tern_hello_begins(&tern_agent_service, message, visit->got)) {
        refuse(visit);
        return false;
    }
    if (part == TERN_ENDED) { /* the agent has reached mpirun by another address */
        forget(visit, false);
        return false;
    }
    return part == TERN_PART || (first ? heed_hello : heed_confirm)(visit);
}

static enum tern_standing standing(const struct tern_visit *visit)
{
    return ((const struct visit *)visit)->answered ? TERN_VISITOR_ANSWERED : TERN_VISITOR_SILENT;
}

static const struct tern_hello *hello_of(const struct tern_visit *visit)
{
    return &((const struct visit *)visit)->hello;
}

static void close_visit(struct tern_visit *visit)
{
    forget((struct visit *)visit, false);
}

/* Returns true if the connection arrived at an address that agents are told. (Slurm may tell them
 * another address.) */
static bool is_allowed(int fd)
{
    struct tern_tcp_address address;
    struct sockaddr_storage own;
    socklen_t size = sizeof own;
    if (!allowed.restricted || getsockname(fd, (struct sockaddr *)&own, &size))
        return true;
    tern_tcp_from_sockaddr(&own, &address);
    for (int i = 0; i < allowed.count; i++)
        if (tern_tcp_same_address(&allowed.addresses[i], &address))
            return true;
    return false;
}

static struct tern_visit *receive(int fd)
{
    return is_allowed(fd) ? tern_must_alloc(sizeof(struct visit)) : NULL;
}

static const struct tern_door_keeper keeper = {receive, standing, hello_of, hear, close_visit};

/* ---- the port ---- */

static int listen_somewhere(uint16_t *ret_port)
{
    bool only_four;
    int fd = -1;
    if (!allowed.families)
        return tern_tcp_listen(0, 0, NULL, ret_port, &only_four);
    /* the error if the parameters of the two families have no port in common */
    errno = EADDRNOTAVAIL;
    for (int at = 1; at <= UINT16_MAX && fd < 0; at++)
        if (allowed.ports[at] == allowed.families)
            fd = tern_tcp_listen((uint16_t)at, (uint16_t)at, NULL, ret_port, &only_four);
    return fd;
}

int tern_agent_port_open(const unsigned char secret[TERN_SECRET_BYTES], int hosts,
                         void (*came)(int host, int fd), int *ret_port)
{
    int error = read_addresses();
    if (!error)
        error = read_ports("oob_tcp_dynamic_ipv4_ports", FOUR);
    if (!error)
        error = read_ports("oob_tcp_dynamic_ipv6_ports", SIX);
    if (error)
        return error;
    tern_hmac_load(); /* now, while the process has descriptors */
    uint16_t number;
    int fd = listen_somewhere(&number);
    memcpy(port.secret, secret, sizeof port.secret);
    port.hosts = hosts;
    port.came = came;
    port.door.keeper = &keeper;
    port.door.strangers = hosts + STRANGERS_MOST;
    if (fd < 0 || tern_door_open(&port.door, fd) < 0)
        return tern_error(
            TERN_ERR_OTHER, "cannot open a port%s for the agents: %s",
            allowed.families
                ? " that oob_tcp_dynamic_ipv4_ports and oob_tcp_dynamic_ipv6_ports allow"
                : "",
            strerror(errno));
    port.open = true;
    *ret_port = number;
    return 0;
}

void tern_agent_port_close(void)
{
    if (!port.open)
        return;
    port.open = false;
    tern_door_close(&port.door);
}

void tern_agent_port_addresses(struct tern_strings *ret_addresses)
{
    char text[TERN_TCP_TEXT];
    for (int i = 0; i < allowed.count; i++)
        tern_strings_add(ret_addresses, tern_tcp_text(&allowed.addresses[i], text));
}
