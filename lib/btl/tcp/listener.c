/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/tcp/listener.h"

#include "lib/btl/card.h"
#include "lib/btl/secret.h"
#include "lib/btl/tcp/congestion.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"
#include "lib/util/base/system_calls.h"
#include "lib/settings/tcp_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tern_tcp_door tern_tcp_door = {.fd = -1};
static uint16_t port;
static bool only_four; /* this host has no IPv6 */

/* ---- opening ---- */

/* Sets the options that must stand before any connection: if the buffer shrinks later, the other
 * end keeps to segments that do not fit (docs/network.md). */
static void prepare(int fd)
{
    int rcvbuf = (int)tern_param_int("btl_tcp_rcvbuf");
    if (rcvbuf)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &rcvbuf, sizeof(int));
    tern_tcp_set_congestion(fd, false);
}

static int open_door(void)
{
    if (tern_tcp_door.fd >= 0)
        return 0;
    int rc = tern_system_calls_try(TERN_CALLS_OF_TCP);
    if (rc)
        return rc;
    int64_t first, last;
    rc = tern_tcp_ports_read(&first, &last);
    if (rc)
        return rc;
    tern_tcp_door.fd =
        tern_tcp_listen((uint16_t)first, (uint16_t)last, prepare, &port, &only_four);
    if (tern_tcp_door.fd >= 0)
        return 0;
    return first ? tern_error(TERN_ERR_OTHER,
                              "no free TCP port from %ld to %ld (btl_tcp_port_min_v4, "
                              "btl_tcp_port_range_v4): %s",
                              (long)first, (long)last, strerror(errno))
                 : tern_error(TERN_ERR_OTHER, "cannot open a TCP port to listen at: "
                                              "%s", strerror(errno));
}

/* Writes "eth0 (192.0.2.2/24), lo (127.0.0.1/8)", as many as there is room for. */
static void describe(const struct tern_tcp_address *list, int count, char *text, size_t room)
{
    size_t used = 0;
    snprintf(text, room, "no interface that is up");
    for (int i = 0; i < count && used < room; i++) {
        struct tern_tcp_address address = list[i];
        char plain[TERN_TCP_TEXT];
        address.port = 0;
        used += (size_t)snprintf(text + used, room - used, "%s%s (%s/%d)", used ? ", " : "",
                                 address.interface, tern_tcp_text(&address, plain), address.prefix);
    }
}

/* Which addresses the parameters permit. */
struct choice {
    const char *parameter, *given;
    struct tern_tcp_filter filter;
    bool named; /* true: the addresses that the filter names; false: all others */
    bool loopback; /* all ranks are on this host */
    int but_family;
};

static int read_choice(struct choice *ret)
{
    static const int families[] = {0, 4, 6}; /* in the order of the choices */
    struct choice choice = {.loopback = tern_rte.size == tern_rte.local_size,
                            .but_family = families[tern_param_choice("btl_tcp_disable_family")]};
    int rc = tern_tcp_filter_choose("btl_tcp_if_include", "btl_tcp_if_exclude", &choice.named);
    if (rc)
        return rc;
    choice.parameter = choice.named ? "btl_tcp_if_include" : "btl_tcp_if_exclude";
    choice.given = tern_param_string(choice.parameter);
    rc = tern_tcp_filter_read(choice.parameter, choice.given, &choice.filter);
    if (!rc)
        *ret = choice;
    return rc;
}

static bool may_use(const struct choice *choice, const struct tern_tcp_address *address)
{
    return tern_tcp_filter_has(&choice->filter, address) == choice->named &&
           (choice->loopback || !tern_tcp_is_loopback(address));
}

/* Chooses those of our own addresses that may be used. The parameters exclude loopback addresses by
 * default; ranks of this host use them if there are no others. */
static int choose_addresses(void)
{
    struct choice choice;
    struct tern_tcp_address all[TERN_TCP_ADDRESSES_MAX];
    bool cut;
    int rc = read_choice(&choice);
    if (rc)
        return rc;
    int count = tern_tcp_list_addresses(all, &cut);
    tern_tcp_door.own_count = 0;
    for (int last_resort = 0; last_resort < 2 && tern_tcp_door.own_count == 0; last_resort++)
        for (int i = 0; i < count; i++) {
            bool may = last_resort
                           ? !choice.named && choice.loopback && tern_tcp_is_loopback(&all[i])
                           : may_use(&choice, &all[i]);
            if (!may || all[i].family == choice.but_family || (all[i].family == 6 && only_four))
                continue;
            all[i].port = port;
            tern_tcp_door.own[tern_tcp_door.own_count++] = all[i];
        }
    if (tern_tcp_door.own_count)
        return 0;
    char there_are[400];
    describe(all, count, there_are, sizeof there_are);
    for (int i = 0; i < count; i++)
        if (choice.but_family && may_use(&choice, &all[i]) && all[i].family == choice.but_family)
            return tern_error(TERN_ERR_ARG,
                              "btl_tcp_disable_family (`%s`) permits no address of host %s that %s "
                              "would permit; it has %s",
                              tern_param_string("btl_tcp_disable_family"), tern_rte.host,
                              choice.parameter, there_are);
    return tern_error(TERN_ERR_ARG,
                      "%s (`%s`) permits no network interface of host %s; it has %s",
                      choice.parameter, choice.given, tern_rte.host, there_are);
}

int tern_tcp_door_open(void)
{
    /* now, while the process has descriptors; if it fails, the first connection says why */
    tern_hmac_load();
    int rc = open_door();
    return rc ? rc : choose_addresses();
}

int tern_tcp_door_put(void)
{
    unsigned char record[64 + sizeof tern_tcp_door.own];
    size_t size =
        tern_tcp_record_write(tern_tcp_door.own, tern_tcp_door.own_count, record, sizeof record);
    int rc = tern_secret_offer();
    if (!rc)
        rc = tern_card_set("tcp", record, size);
    tern_card_set_own(port);
    return rc;
}

/* ---- text for people ---- */

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
    for (int i = 0; i < tern_tcp_door.own_count; i++) {
        struct tern_tcp_address address = tern_tcp_door.own[i];
        char plain[TERN_TCP_TEXT];
        address.port = 0;
        tern_tcp_text(&address, plain);
        if (strstr(here, plain))
            interface = tern_tcp_door.own[i].interface;
    }
    snprintf(text, TERN_TCP_ENDS, "%s, %s here and %s there", interface, here, there);
}

void tern_tcp_describe_path(int fd, char text[TERN_TCP_ENDS])
{
    struct sockaddr_storage own, theirs;
    socklen_t own_size = sizeof own, their_size = sizeof theirs;
    struct tern_tcp_address ends[2] = {{0}, {0}};
    char here[TERN_TCP_TEXT] = "?", there[TERN_TCP_TEXT] = "?";
    const char *interface = "";
    if (getsockname(fd, (struct sockaddr *)&own, &own_size) == 0)
        tern_tcp_from_sockaddr(&own, &ends[0]);
    if (getpeername(fd, (struct sockaddr *)&theirs, &their_size) == 0)
        tern_tcp_from_sockaddr(&theirs, &ends[1]);
    for (int i = 0; i < tern_tcp_door.own_count; i++)
        if (tern_tcp_same_address(&tern_tcp_door.own[i], &ends[0]))
            interface = tern_tcp_door.own[i].interface;
    ends[0].port = ends[1].port = 0;
    snprintf(text, TERN_TCP_ENDS, "%s%s%s -> %s", interface, *interface ? " " : "",
             tern_tcp_text(&ends[0], here), tern_tcp_text(&ends[1], there));
}
