/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/wire/ofi_lane.h"

#include "lib/node/doorbell.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum {
    NAP_US = 100, /* the first timed sleep; doubled each time, up to ... */
    NAP_MOST_US = 1600,
};

struct tern_ofi_lane tern_ofi_lanes[TERN_LANES_MAX];

/* ---- opening ---- */

void tern_ofi_lane_prepare(struct tern_ofi_lane *lane, uint32_t index,
                           const struct tern_ofi_lane_user *user)
{
    *lane = (struct tern_ofi_lane){.index = index, .user = user, .clock_fd = -1};
    for (uint32_t i = 0; i < TERN_OFI_RAILS; i++)
        tern_ofi_port_clear(&lane->ports[i], lane, i);
    tern_list_init(&lane->busy);
    tern_list_init(&lane->links);
    tern_list_init(&lane->readings);
    tern_list_init(&lane->copies);
    tern_list_init(&lane->writings);
    tern_list_init(&lane->waiting_copies);
    tern_list_init(&lane->visitors);
    pthread_mutex_init(&lane->visitors_lock, NULL);
}

int tern_ofi_lane_open(struct tern_ofi_lane *lane)
{
    if (lane->open)
        return 0;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++) {
        if (tern_ofi_rail_is_dead(i))
            continue;
        int rc = tern_ofi_port_open(&lane->ports[i]);
        if (rc && !tern_ofi_rail_leave_out(i, tern_error_text(rc))) {
            tern_ofi_lane_close(lane);
            return rc;
        }
    }
    lane->open = true;
    return 0;
}

static void close_clock(struct tern_ofi_lane *lane)
{
    if (lane->clock_fd < 0)
        return;
    tern_doorbell_unwatch(lane->clock_fd);
    close(lane->clock_fd);
    lane->clock_fd = -1;
}

void tern_ofi_lane_close(struct tern_ofi_lane *lane)
{
    close_clock(lane);
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        tern_ofi_port_close(&lane->ports[i]);
    lane->open = false;
}

void tern_ofi_lane_tell(const struct tern_ofi_lane *lane, struct tern_ofi_rails *ret_rails)
{
    *ret_rails = (struct tern_ofi_rails){.count = tern_ofi_fabric.rail_count};
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++) {
        if (lane->ports[i].endpoint)
            ret_rails->rail[i].name = lane->ports[i].name;
        snprintf(ret_rails->rail[i].fabric, sizeof ret_rails->rail[i].fabric, "%s",
                 tern_ofi_fabric_name(i));
    }
}

int tern_ofi_lane_sends(const struct tern_ofi_lane *lane)
{
    int sum = 0;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        sum += lane->ports[i].sends_under_way;
    return sum;
}

/* ---- sleep ---- */

bool tern_ofi_lane_buffers_idle(const struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (lane->ports[i].endpoint && lane->ports[i].idle_buffers)
            return true;
    return false;
}

bool tern_ofi_lane_sleeps(const struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (lane->ports[i].endpoint && !lane->ports[i].sleeps)
            return false;
    return true;
}

bool tern_ofi_lane_arm(struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (lane->ports[i].endpoint && !tern_ofi_port_arm(&lane->ports[i]))
            return false;
    lane->armed = true;
    return true;
}

/* Ends the next sleep after `us` microseconds. Returns false if that is not possible. */
static bool set_clock(struct tern_ofi_lane *lane, uint32_t us)
{
    struct itimerspec soon = {.it_value = {us / 1000000, us % 1000000 * 1000}};
    if (lane->clock_fd < 0) {
        lane->clock_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
        if (lane->clock_fd >= 0 && tern_doorbell_watch(lane->clock_fd)) {
            close(lane->clock_fd);
            lane->clock_fd = -1;
        }
    }
    lane->clock_runs = true;
    return lane->clock_fd >= 0 && timerfd_settime(lane->clock_fd, 0, &soon, NULL) == 0;
}

/* Returns true if peers may copy to and from our memory. Where the provider needs our polls for
 * that, nothing completes here by which we could tell that a peer waits. */
static bool exposes(const struct tern_ofi_lane *lane)
{
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (!tern_list_empty(&lane->ports[i].exposed))
            return true;
    return false;
}

bool tern_ofi_lane_nap(struct tern_ofi_lane *lane)
{
    uint32_t most = exposes(lane) ? NAP_US : NAP_MOST_US;
    lane->nap_us = lane->nap_us ? 2 * lane->nap_us : NAP_US;
    if (lane->nap_us > most)
        lane->nap_us = most;
    return set_clock(lane, lane->nap_us);
}

bool tern_ofi_lane_rest(struct tern_ofi_lane *lane)
{
    struct itimerspec never = {0};
    if (tern_ofi_fabric.rail_count > 1)
        return set_clock(lane, TERN_OFI_LOOK_MS * 1000);
    if (lane->clock_runs && lane->clock_fd >= 0)
        timerfd_settime(lane->clock_fd, 0, &never, NULL); /* an end that was not read goes, too */
    lane->clock_runs = false;
    return true;
}

/* ---- completions ---- */

int tern_ofi_lane_poll(struct tern_ofi_lane *lane)
{
    int count = 0;
    for (uint32_t i = 0; i < tern_ofi_fabric.rail_count; i++)
        if (lane->ports[i].endpoint)
            count += tern_ofi_port_poll(&lane->ports[i]);
    return count;
}
