/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/routes.h"

#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READS_FAIL = 4 }; /* in turn, by a route that is then left out */

static struct tern_ofi_lane *lane_of(const struct tern_ofi_link *link)
{
    return &tern_ofi_lanes[link->peer->lane];
}

static size_t bytes_of(const struct tern_ofi_rails *rails)
{
    return offsetof(struct tern_ofi_rails, rail) + rails->count * sizeof rails->rail[0];
}

/* Makes frames go by a route. */
static void use_route(struct tern_ofi_link *link, const struct tern_ofi_route *route)
{
    bool other = link->port && (link->port != route->port || link->to != route->theirs);
    link->port = route->port;
    link->to = route->theirs;
    link->address = route->address;
    if (!other || !link->failover.unseen.count)
        return;
    link->failover.resends = true;
    link->failover.resend_begun = false;
    tern_ofi_link_note_busy(lane_of(link), link);
}

/* Makes the routes of the rails that live. Returns false, with link->why, if there is none. */
static bool make_routes(struct tern_ofi_link *link)
{
    struct tern_ofi_lane *lane = lane_of(link);
    struct tern_ofi_rails own, theirs = {0};
    uint32_t ours[TERN_OFI_RAILS], other[TERN_OFI_RAILS];
    bool by_ip = tern_ofi_own_card.routes;
    tern_ofi_lane_tell(lane, &own);
    memcpy(&theirs, link->theirs, bytes_of(link->theirs));
    /* by which of our rails the other end reads: it pairs them from its side */
    link->read_by = 0;
    uint32_t count = tern_ofi_pair_rails(&theirs, &own, by_ip, other, ours);
    for (uint32_t i = 0; i < count; i++)
        link->read_by |= 1u << ours[i];
    count = tern_ofi_pair_rails(&own, &theirs, by_ip, ours, other);
    link->route_count = 0;
    if (!count)
        snprintf(link->why, sizeof link->why, "no network card is left that reaches it");
    for (uint32_t i = 0; i < count; i++) {
        struct tern_ofi_route route = {.port = &lane->ports[ours[i]], .theirs = other[i]};
        if (tern_ofi_insert(ours[i], &theirs.rail[other[i]].name, &route.address))
            snprintf(link->why, sizeof link->why, "%s", tern_error_text(TERN_ERR_OTHER));
        else
            link->routes[link->route_count++] = route;
    }
    if (link->route_count)
        use_route(link, &link->routes[0]);
    return link->route_count > 0;
}

bool tern_ofi_link_set_rails(struct tern_ofi_link *link, const struct tern_ofi_rails *theirs)
{
    size_t bytes = bytes_of(theirs);
    if (link->theirs && link->theirs->count == theirs->count &&
        memcmp(link->theirs, theirs, bytes) == 0)
        return link->route_count > 0;
    struct tern_ofi_rails *copy = malloc(bytes);
    if (!copy) {
        snprintf(link->why, sizeof link->why, "no memory for the names of its network cards");
        return false;
    }
    memcpy(copy, theirs, bytes);
    free(link->theirs);
    link->theirs = copy;
    link->failover.keeps = theirs->count > 1 || tern_ofi_fabric.rail_count > 1;
    return make_routes(link);
}

void tern_ofi_link_next_route(struct tern_ofi_link *link)
{
    uint32_t at = 0;
    while (at < link->route_count && link->routes[at].port != link->port)
        at++;
    if (link->route_count > 1)
        use_route(link, &link->routes[(at + 1) % link->route_count]);
}

void tern_ofi_remake_routes(struct tern_ofi_link *link)
{
    if (!link->theirs || link->state == TERN_OFI_LOST || link->state == TERN_OFI_REFUSED)
        return;
    if (!make_routes(link))
        tern_ofi_link_lose(link, link->why);
}

static struct tern_ofi_route *route_by(struct tern_ofi_link *link, const struct tern_ofi_port *port)
{
    for (uint32_t i = 0; i < link->route_count; i++)
        if (link->routes[i].port == port)
            return &link->routes[i];
    return NULL;
}

void tern_ofi_route_failed(struct tern_ofi_link *link, const struct tern_ofi_port *port, int error)
{
    struct tern_ofi_route *route = route_by(link, port);
    /* each HELLO goes by another route, until one is answered or the link has failed for long */
    if (link->route_count < 2 || link->state == TERN_OFI_CALLING) {
        tern_ofi_link_failed(lane_of(link), link, error);
    } else if (route) {
        link->theirs->rail[route->theirs].name.length = 0;
        tern_ofi_remake_routes(link);
    } /* else it was left out already */
}

void tern_ofi_route_read(struct tern_ofi_link *link, const struct tern_ofi_port *port, int error)
{
    struct tern_ofi_route *route = route_by(link, port);
    if (!route)
        return;
    route->failures = error ? route->failures + 1 : 0;
    if (route->failures >= READS_FAIL && link->route_count > 1)
        tern_ofi_route_failed(link, port, error);
}

void tern_ofi_their_rail_died(struct tern_ofi_link *link, uint32_t rail)
{
    if (rail >= link->theirs->count || !link->theirs->rail[rail].name.length)
        return;
    link->theirs->rail[rail].name.length = 0;
    tern_ofi_remake_routes(link);
}
