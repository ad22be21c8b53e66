/* SPDX-License-Identifier: BSD-3-Clause */

/* Links that have something to do: the search for a peer's card, HELLO until it is answered, and
 * what is owed to the other end. */

#include "lib/btl/btl.h"
#include "lib/btl/card.h"
#include "lib/btl/ofi/wire/failover.h"
#include "lib/btl/ofi/wire/ofi_greeting.h"
#include "lib/btl/ofi/wire/routes.h"
#include "lib/btl/secret.h"
#include "lib/node/doorbell.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BYE_AGAIN_MS = 500, /* until a BYE is repeated that was not answered */
    REFUSED_MS = 10 * 1000, /* for which the provider may take no BYE */
    HELLO_MOST_MS = 1000, /* between two HELLOs */
    HELLO_FAILS_MS = 30 * 1000, /* for which the provider may report errors of a HELLO */
    GRACE_MS = 2000, /* for the launcher to end the job, if the peer has died */
};

/* Hands the peer over to the next byte mover. */
static void refuse(struct tern_ofi_link *link)
{
    link->state = TERN_OFI_REFUSED;
    if (tern_peer_hand_over(link->peer) == 0)
        return;
    char text[600];
    snprintf(text, sizeof text, "%s; and libfabric does not reach it: %s",
             tern_error_text(TERN_ERR_UNREACHABLE), link->why);
    tern_btl_lost(link->peer, NULL, text);
}

int tern_ofi_link_seek(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    if (link->peer->lost)
        return tern_error(TERN_ERR_UNREACHABLE, "%s", link->peer->lost);
    if (link->state != TERN_OFI_IDLE)
        return TERN_ERR_AGAIN;
    link->fetch = calloc(1, sizeof *link->fetch);
    if (!link->fetch)
        return tern_error(TERN_ERR_NO_MEM, "no memory to connect to rank %u", link->peer->rank);
    link->fetch->notify = tern_doorbell_ring_self;
    int rc = tern_rte_seek(link->peer->rank, false, link->fetch);
    if (rc)
        return rc;
    link->state = TERN_OFI_SEEKING;
    tern_ofi_link_note_busy(lane, link);
    return TERN_ERR_AGAIN;
}

/* Handles the peer's card. */
static void read_card(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    struct tern_ofi_card card;
    size_t length = 0;
    const struct tern_rte_fetch *fetch = link->fetch;
    const void *part =
        fetch->error ? NULL : tern_card_part(fetch->value, fetch->length, "ofi", &length);
    bool known = part && tern_ofi_card_read(part, length, &card);
    if (!known || !tern_ofi_cards_match(&tern_ofi_own_card, &card)) {
        snprintf(link->why, sizeof link->why, "%.100s",
                 fetch->error ? fetch->text
                 : known      ? "it is on another fabric, or uses another provider"
                              : "it has not joined a fabric; its own messages may say why");
        tern_ofi_link_forget_card(link);
        refuse(link);
        return;
    }
    tern_ofi_link_forget_card(link);
    link->their_lanes = card.lane_count;
    link->their_lane = (uint8_t)(lane->index & (card.lane_count - 1u));
    if (tern_ofi_link_set_rails(link, &card.rails))
        link->state = TERN_OFI_CALLING;
    else
        tern_ofi_link_lose(link, link->why);
}

/* Says why a peer may not answer: the provider reports no error if it finds no descriptor for the
 * connection. */
static void say_if_scarce(const struct tern_ofi_link *link)
{
    static bool said;
    int fd = said ? -1 : fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd >= 0)
        close(fd);
    if (said || fd >= 0 || errno != EMFILE)
        return;
    said = true;
    tern_log("rank %u on host %s waits to be connected by libfabric with rank %u, and has no free "
             "file descriptor; close files, or raise the limit (ulimit -n)",
             tern_rte.rank, tern_rte.host, link->peer->rank);
}

static void call(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    if (now < link->hello_ms)
        return;
    if (!tern_secret() && tern_secret_failure()) {
        tern_ofi_link_lose(link, tern_secret_failure());
        return;
    }
    if (link->hello_ms)
        tern_ofi_link_next_route(link); /* the last one may lead nowhere */
    int rc = tern_ofi_greet(lane, link, TERN_OFI_HELLO);
    if (rc == TERN_ERR_AGAIN)
        return;
    link->hello_ms = now + link->hello_wait_ms;
    if (link->hello_wait_ms < HELLO_MOST_MS)
        link->hello_wait_ms *= 2;
    else
        say_if_scarce(link);
    if (rc)
        tern_ofi_route_failed(link, link->port, rc);
}

/* Keeps a copy of a numbered frame that is nothing but a head. */
static void keep_head(struct tern_ofi_link *link, enum tern_ofi_kind kind, uint32_t number)
{
    struct tern_ofi_head head = tern_ofi_link_head(link, kind, number);
    tern_ofi_keep_frame(link, number, &head, sizeof head);
}

/* Returns true if the provider has had no room for `wait`, and nothing of ours is under way: the
 * other end has gone. Waiting longer may be in vain: its provider may say "no room" without end. */
static bool is_gone(const struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now,
                    uint64_t wait)
{
    if (now - link->refused_ms < wait || tern_ofi_lane_sends(lane))
        return false;
    link->refused_ms = 0;
    return true;
}

/* Handles that the provider had no room for our BYE. If the other end has gone, nobody will
 * answer. */
static void bye_refused(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    if (!is_gone(lane, link, now, link->bye_matters ? REFUSED_MS : 0))
        return;
    link->owes_bye = false;
    link->bye_sent = link->bye_answered = true;
}

static void send_bye(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    /* a peer that has left, and to which nothing was sent since, need not know */
    link->bye_matters = !link->peer_bye || link->next_out != link->out_at_bye;
    if (!tern_ofi_link_send_head(link, TERN_OFI_BYE, link->next_out, now)) {
        bye_refused(lane, link, now);
        return;
    }
    keep_head(link, TERN_OFI_BYE, link->next_out);
    link->bye_number = link->next_out++;
    link->owes_bye = false;
    link->bye_sent = link->told = true;
    link->bye_ms = now;
    link->bye_wait_ms = BYE_AGAIN_MS;
    link->out_at_bye = link->told_out = link->next_out;
    link->told_in = link->next_in;
}

/* Sends our BYE again: the answer may have been lost. */
static void repeat_bye(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    if (tern_ofi_link_send_head(link, TERN_OFI_BYE, link->bye_number, now))
        link->bye_wait_ms += BYE_AGAIN_MS;
    else
        bye_refused(lane, link, now);
}

/* Answers the other end's BYE. If the other end has answered ours, it does not need this answer to
 * end, and may have gone. If it needs the answer, it repeats its BYE. */
static void answer_bye(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    uint64_t wait = link->bye_answered ? BYE_AGAIN_MS : REFUSED_MS;
    if (tern_ofi_link_send_head(link, TERN_OFI_BYE_SEEN, link->next_in - 1, now) ||
        is_gone(lane, link, now, wait))
        link->owes_bye_seen = false;
}

static void pay(struct tern_ofi_lane *lane, struct tern_ofi_link *link, uint64_t now)
{
    if (link->owes_welcome)
        link->owes_welcome = tern_ofi_greet(lane, link, TERN_OFI_WELCOME) == TERN_ERR_AGAIN;
    tern_ofi_failover_go_on(link, now);
    if (link->owes_bye)
        send_bye(lane, link, now);
    if (link->bye_sent && !link->bye_answered && now - link->bye_ms > link->bye_wait_ms)
        repeat_bye(lane, link, now);
    if (link->owes_bye_seen)
        answer_bye(lane, link, now);
}

/* Loses the peer of a link that failed, when the launcher has had time to end the job. */
static void heed_failure(struct tern_ofi_link *link, uint64_t now)
{
    uint64_t wait = link->state == TERN_OFI_CALLING ? HELLO_FAILS_MS
                    : tern_rte.managed              ? GRACE_MS
                                                    : 0;
    if (now - link->failed_ms >= wait)
        tern_ofi_link_lose(link, link->why);
}

static bool is_busy(const struct tern_ofi_link *link)
{
    return link->state == TERN_OFI_SEEKING || link->state == TERN_OFI_CALLING ||
           link->owes_welcome || link->owes_bye || link->owes_bye_seen ||
           tern_ofi_failover_owes(link) ||
           (link->state == TERN_OFI_OPEN && link->bye_sent && !link->bye_answered) ||
           (link->failed_ms && link->state != TERN_OFI_LOST);
}

int tern_ofi_links_go_on(struct tern_ofi_lane *lane)
{
    uint64_t now = tern_ofi_now_ms();
    int count = 0;
    for (struct tern_list_node *at = lane->busy.next, *next; at != &lane->busy; at = next) {
        next = at->next;
        struct tern_ofi_link *link = TERN_CONTAINER(at, struct tern_ofi_link, in_busy);
        enum tern_ofi_link_state before = link->state;
        if (link->state == TERN_OFI_SEEKING &&
            __atomic_load_n(&link->fetch->done, __ATOMIC_ACQUIRE))
            read_card(lane, link);
        if (link->state == TERN_OFI_CALLING)
            call(lane, link, now);
        if (link->state == TERN_OFI_OPEN)
            pay(lane, link, now);
        if (link->failed_ms && link->state != TERN_OFI_LOST)
            heed_failure(link, now);
        count += link->state != before;
        if (!is_busy(link)) {
            tern_list_remove(&link->in_busy);
            link->busy = false;
            count++; /* packets may have waited for it */
        }
    }
    return count;
}
