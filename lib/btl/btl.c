/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/btl.h"

#include "lib/btl/card.h"
#include "lib/btl/choice.h"
#include "lib/btl/device_access.h"
#include "lib/btl/peer.h"
#include "lib/node/segment.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/machine/host_topology.h"

#include <string.h>
#include <unistd.h>

extern const struct tern_btl tern_btl_shm;

bool (*tern_btl_deliver)(struct tern_peer *from, const struct tern_packet *packet,
                         const void *payload, size_t length);
void *(*tern_btl_place)(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                        struct tern_cursor *ret_to);
void (*tern_btl_placed)(struct tern_peer *from, const struct tern_packet *packet, size_t length,
                        void *owner);
void (*tern_btl_lost)(struct tern_peer *peer, void *owner, const char *text);

static bool active[TERN_BTLS_MAX]; /* as in tern_btls */
uint32_t tern_lane_count = 1;
static int (*pollers[TERN_BTLS_MAX])(uint32_t lane);
static int poller_count;

/* Checks at the start that all ranks can be reached. A check at the first send would be too late:
 * in a collective the other ranks would wait for that message. One rank of this node stands for all
 * of the node, and one rank of another node for all others. */
static int check_reach(void)
{
    uint32_t other = 0; /* the first rank that is not on this node */
    while (other < tern_rte.local_size && tern_rte.local_ranks[other] == other)
        other++;
    int rc = tern_peer_check(0, tern_rte.rank);
    if (!rc && tern_rte.local_size > 1)
        rc = tern_peer_check(0, tern_rte.local_ranks[tern_rte.local_rank == 0]);
    if (!rc && other < tern_rte.size)
        rc = tern_peer_check(0, other);
    return rc;
}

/* Lets the byte movers add to this rank's card, and publishes it. */
static int announce_all(void)
{
    int rc = 0;
    for (int i = 0; tern_btls[i] && !rc; i++)
        if (tern_btls[i]->announce && tern_btl_permitted(tern_btls[i]->name))
            rc = tern_btls[i]->announce();
    bool shows = !rc && tern_rte.local_rank == 0 && tern_param_bool("btl_show_fabric");
    for (int i = 0; tern_btls[i] && shows; i++)
        if (tern_btls[i]->show)
            tern_btls[i]->show();
    if (!rc && tern_rte.local_rank == 0 && tern_param_bool("btl_show_topology"))
        tern_host_topology_show("");
    return rc ? rc : tern_card_publish();
}

int tern_btl_init(void)
{
    tern_btl_choose();
    poller_count = 0;
    int rc = announce_all();
    if (rc)
        return rc;
    for (int i = 0; tern_btls[i]; i++) {
        active[i] = false;
        if (!tern_btl_permitted(tern_btls[i]->name))
            continue;
        rc = tern_btls[i]->init();
        if (rc == TERN_ERR_UNSUPPORTED)
            continue;
        if (rc)
            return rc;
        active[i] = true;
        if (tern_btls[i]->progress)
            pollers[poller_count++] = tern_btls[i]->progress;
    }
    rc = tern_card_publish(); /* what an init has added */
    return rc ? rc : check_reach();
}

/* Takes a byte mover into use that init has left out. Other threads may be polling. */
static void activate(int i)
{
    if (active[i])
        return;
    active[i] = true;
    if (!tern_btls[i]->progress)
        return;
    pollers[poller_count] = tern_btls[i]->progress;
    __atomic_store_n(&poller_count, poller_count + 1, __ATOMIC_RELEASE);
}

int tern_btl_meet(struct tern_introduction **ret_introduction)
{
    bool any = false;
    int rc = 0;
    for (int i = 0; tern_btls[i] && !rc; i++) {
        if (!tern_btls[i]->meet || !tern_btl_permitted(tern_btls[i]->name))
            continue;
        rc = tern_btls[i]->meet();
        if (!rc)
            activate(i);
        any = true;
    }
    if (!rc)
        rc = tern_card_publish();
    if (rc)
        return rc;
    if (!any)
        return tern_error(TERN_ERR_UNREACHABLE,
                          "cannot reach other jobs: the parameter btl excludes tcp, which is "
                          "needed between jobs; add tcp to it");
    size_t length;
    const struct tern_card *card = tern_card_whole(&length);
    *ret_introduction = tern_introduction_make(card, length);
    return *ret_introduction ? 0 : TERN_ERR_NO_MEM;
}

void tern_btl_finalize(void)
{
    for (int i = 0; tern_btls[i]; i++)
        if (active[i]) {
            active[i] = false;
            tern_btls[i]->finalize();
        }
    poller_count = 0;
}

void tern_btl_leave(void)
{
    for (int i = 0; tern_btls[i]; i++)
        if (active[i] && tern_btls[i]->leave)
            tern_btls[i]->leave();
}

int tern_btl_return(void)
{
    int rc = 0;
    for (int i = 0; tern_btls[i] && !rc; i++)
        if (active[i] && tern_btls[i]->come_back)
            rc = tern_btls[i]->come_back();
    return rc ? rc : tern_card_publish();
}

bool tern_btl_active(const struct tern_btl *btl)
{
    for (int i = 0; tern_btls[i]; i++)
        if (tern_btls[i] == btl)
            return active[i];
    return false;
}

void tern_btl_expose(uint32_t lane, const void *start, size_t length,
                     struct tern_exposure *ret_exposure)
{
    *ret_exposure = (struct tern_exposure){.lane = lane};
    for (int i = 0; tern_btls[i] && !ret_exposure->mover; i++)
        if (active[i] && tern_btls[i]->expose &&
            tern_btls[i]->expose(lane, start, length, ret_exposure) == 0)
            ret_exposure->mover = tern_btls[i];
}

void tern_btl_conceal(struct tern_exposure *exposure)
{
    if (exposure->mover)
        exposure->mover->conceal(exposure);
    exposure->mover = NULL;
}

const struct tern_device_access *tern_btl_device_access(void)
{
    for (int i = 0; tern_btls[i]; i++)
        if (active[i] && tern_btls[i]->device_access)
            return tern_btls[i]->device_access;
    return NULL;
}

bool tern_btl_outlives_sender(void)
{
    return tern_rte.local_size == tern_rte.size &&
           (tern_rte.size == 1 || tern_btl_active(&tern_btl_shm));
}

/* Apart from tern_btl_progress, which then saves no registers. */
static int __attribute__((noinline)) poll_each(uint32_t lane)
{
    int count = 0;
    for (int i = 0; i < poller_count; i++)
        count += pollers[i](lane);
    return count;
}

int tern_btl_progress(uint32_t lane)
{
    return TERN_LIKELY(poller_count == 1) ? pollers[0](lane) : poll_each(lane);
}

bool tern_btl_before_sleep(uint32_t lane)
{
    bool may_sleep = true;
    for (int i = 0; tern_btls[i]; i++)
        if (active[i] && tern_btls[i]->before_sleep)
            may_sleep &= tern_btls[i]->before_sleep(lane);
    return may_sleep;
}

int tern_btl_sharing_ranks(bool *ret_final)
{
    *ret_final = true;
    /* without shared memory, assume that a bound rank has its processors for itself */
    if (!tern_segment.base)
        return tern_rte.cpus < sysconf(_SC_NPROCESSORS_ONLN) ? 1 : (int)tern_rte.local_size;
    int count = 0;
    const struct tern_segment_rank *self = tern_segment_rank(tern_segment.local_rank);
    for (uint32_t rank = 0; rank < tern_segment.local_size; rank++) {
        const struct tern_segment_rank *other = tern_segment_rank(rank);
        bool shares = false;
        if (!tern_load_acquire(&other->attached))
            *ret_final = false;
        for (int i = 0; !shares && i < TERN_SEGMENT_CPUS / 64; i++)
            shares = self->cpus[i] & other->cpus[i];
        count += shares;
    }
    return count;
}
