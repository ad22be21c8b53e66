/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The byte mover for fabrics: InfiniBand, RoCE, EFA, Slingshot, Omni-Path and others, by libfabric.
 *
 * It needs of a provider: endpoints of type FI_EP_RDM, messages (FI_MSG) and reads of a peer's
 * memory (FI_RMA). Matching stays in lib/pml. Short messages are frames (ofi_frame.h), long ones
 * are read by the receiver (read.h). libfabric is loaded only if this host has hardware for it, or
 * if the user names a provider; where the fabric does not work, this rank says why and uses tcp.
 */

#include "lib/btl/btl.h"
#include "lib/btl/card.h"
#include "lib/btl/choice.h"
#include "lib/btl/ofi/fabric/device_choice.h"
#include "lib/btl/ofi/fabric/device_regions.h"
#include "lib/btl/ofi/fabric/fabric.h"
#include "lib/btl/ofi/fabric/libfabric.h"
#include "lib/btl/ofi/fabric/provider.h"
#include "lib/btl/ofi/fabric/region_cache.h"
#include "lib/btl/ofi/rails.h"
#include "lib/btl/ofi/transfer/exposed.h"
#include "lib/btl/ofi/transfer/keys.h"
#include "lib/btl/ofi/transfer/offer.h"
#include "lib/btl/ofi/transfer/read.h"
#include "lib/btl/ofi/transfer/write.h"
#include "lib/btl/ofi/wire/arrival.h"
#include "lib/btl/ofi/wire/failover.h"
#include "lib/btl/ofi/wire/ofi_greeting.h"
#include "lib/btl/ofi/wire/ofi_lane.h"
#include "lib/btl/ofi/wire/ofi_link.h"
#include "lib/btl/ofi/wire/routes.h"
#include "lib/btl/path.h"
#include "lib/btl/secret.h"
#include "lib/node/doorbell.h"
#include "lib/node/segment.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/net/fabric_devices.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    CREDIT_FACTOR = 8, /* as tcp has, to which a peer may be handed over */
    LOOK_US = 20,      /* between two looks at what needs a system call */
    KEPT_MOST = 16 << 20, /* bytes of frames to a peer of which it is not known that they arrived */
    INJECT_MOST = 512, /* bytes of a frame that is made on the stack */
    LONG_POLL_US = 10, /* a poll that lasts so long has copied bytes; an empty one lasts 1 */
    MOVING_US = 500,  /* after bytes have moved: until then others are likely to follow */
    BYE_MS = 1000,     /* for the last frames to leave */
    ANSWER_MS = 5000,  /* to a BYE, from a peer that leaves, too */
};

extern const struct tern_btl tern_btl_shm, tern_btl_ofi;

static bool announced;
static char why_not[500]; /* this rank does not use the fabric, although it tried */
static int launcher_fd = -1;

/* ---- sending ---- */

static bool ofi_reaches(uint32_t job, uint32_t rank)
{
    return job == 0 && rank != tern_rte.rank &&
           (tern_rte_local_rank(rank) < 0 || !tern_btl_active(&tern_btl_shm));
}

static int ofi_connect(struct tern_peer *peer)
{
    char path[TERN_PATH_MOST], devices[TERN_PATH_MOST / 2];
    peer->endpoint = tern_ofi_link_to(peer);
    if (!peer->endpoint)
        return TERN_ERR_NO_MEM;
    tern_ofi_devices(devices, sizeof devices);
    snprintf(path, sizeof path, "ofi %s %s", tern_ofi_fabric.info->fabric_attr->prov_name, devices);
    tern_path_set(&peer->path, path);
    peer->limits = (struct tern_limits){.packet_max = TERN_OFI_PACKET_MAX,
                                        .eager_max = TERN_OFI_PACKET_MAX,
                                        .eager_max_blocking = TERN_OFI_PACKET_MAX,
                                        .credit_factor = CREDIT_FACTOR};
    return 0;
}

/* The peer's transfers are ours if its packets are. */
static int ofi_connect_bulk(struct tern_peer *peer)
{
    return peer->btl && peer->btl != &tern_btl_ofi ? TERN_ERR_UNSUPPORTED : 0;
}

static __attribute__((noinline)) int not_open(struct tern_ofi_link *link)
{
    return tern_ofi_link_seek(&tern_ofi_lanes[link->peer->lane], link);
}

/* Handles a frame that was not sent. Returns what the caller of send gets. */
static __attribute__((noinline)) int not_sent(struct tern_ofi_link *link, int rc)
{
    if (rc != TERN_ERR_AGAIN)
        tern_ofi_route_failed(link, link->port, rc);
    return TERN_ERR_AGAIN;
}

static inline void set_head(const struct tern_ofi_link *link, const struct tern_packet *packet,
                            struct tern_ofi_packet *ret_frame)
{
    ret_frame->head = (struct tern_ofi_head){.slot = link->their_slot,
                                             .cookie = link->their_cookie,
                                             .number = link->next_out,
                                             .kind = TERN_OFI_PACKET,
                                             .order = TERN_OFI_ORDER};
    tern_packet_copy(&ret_frame->packet, packet);
}

/* A frame that is sent without a completion. */
struct short_frame {
    struct tern_ofi_packet frame;
    unsigned char payload[INJECT_MOST - sizeof(struct tern_ofi_packet)];
};

static int ofi_send(struct tern_peer *peer, const struct tern_packet *packet, const void *payload,
                    size_t length)
{
    struct tern_ofi_link *link = peer->endpoint;
    size_t total = sizeof(struct tern_ofi_packet) + length;
    int rc;
    if (TERN_UNLIKELY(link->state != TERN_OFI_OPEN))
        return not_open(link);
    if (TERN_UNLIKELY(link->failover.unseen.bytes > KEPT_MOST))
        return TERN_ERR_AGAIN;
    if (total <= tern_ofi_fabric.inject_max && total <= INJECT_MOST) {
        struct short_frame frame;
        set_head(link, packet, &frame.frame);
        if (length) /* payload may be NULL */
            memcpy(frame.payload, payload, length);
        rc = tern_ofi_inject(link, &frame, total);
        if (TERN_UNLIKELY(link->failover.keeps && !rc))
            tern_ofi_keep_frame(link, link->next_out, &frame, total);
    } else {
        struct tern_ofi_send *send = tern_ofi_take_send(link->port);
        if (!send)
            return TERN_ERR_AGAIN;
        set_head(link, packet, (struct tern_ofi_packet *)send->bytes);
        memcpy(send->bytes + sizeof(struct tern_ofi_packet), payload, length);
        rc = tern_ofi_post(link, send, total);
        if (TERN_UNLIKELY(link->failover.keeps && !rc))
            tern_ofi_keep_frame(link, link->next_out, send->bytes, total);
    }
    if (TERN_UNLIKELY(rc))
        return not_sent(link, rc);
    link->next_out++;
    return 0;
}

static int ofi_send_cursor(struct tern_peer *peer, const struct tern_packet *packet,
                           struct tern_cursor *cursor, size_t length)
{
    struct tern_ofi_link *link = peer->endpoint;
    struct tern_cursor next = *cursor;
    if (TERN_UNLIKELY(link->state != TERN_OFI_OPEN))
        return not_open(link);
    if (TERN_UNLIKELY(link->failover.unseen.bytes > KEPT_MOST))
        return TERN_ERR_AGAIN;
    struct tern_ofi_send *send = tern_ofi_take_send(link->port);
    if (!send)
        return TERN_ERR_AGAIN;
    set_head(link, packet, (struct tern_ofi_packet *)send->bytes);
    tern_cursor_pack(&next, send->bytes + sizeof(struct tern_ofi_packet), length);
    int rc = tern_ofi_post(link, send, sizeof(struct tern_ofi_packet) + length);
    if (TERN_UNLIKELY(rc))
        return not_sent(link, rc);
    if (TERN_UNLIKELY(link->failover.keeps))
        tern_ofi_keep_frame(link, link->next_out, send->bytes,
                            sizeof(struct tern_ofi_packet) + length);
    link->next_out++;
    *cursor = next;
    return 0;
}

/* ---- progress ---- */

/* Returns true if bytes of long messages are moving. Providers over sockets copy them in our polls
 * and report only the end of a read. If a rank yields its processor meanwhile, or sleeps, its peer
 * waits for a time slice of some other program. A network card that copies by itself makes no poll
 * long. Where ranks share processors, the peer may need ours. */
static __attribute__((noinline)) bool bytes_move(struct tern_ofi_lane *lane, uint64_t before,
                                                 uint64_t now)
{
    if (!lane->shares_known)
        lane->shares = tern_btl_sharing_ranks(&lane->shares_known) > tern_rte.cpus;
    if (now - before > tern_ticks_of_us(LONG_POLL_US))
        lane->moved_at = now;
    return !lane->shares && lane->moved_at && now - lane->moved_at < tern_ticks_of_us(MOVING_US);
}

static int ofi_progress(uint32_t index)
{
    struct tern_ofi_lane *lane = &tern_ofi_lanes[index];
    bool has_long = lane->reading_count || lane->offer_count;
    uint64_t before = TERN_UNLIKELY(has_long) ? tern_ticks() : 0;
    int count = 0;
    if (TERN_UNLIKELY(lane->armed)) { /* the last round before sleep */
        lane->armed = false;
        if (!__atomic_load_n(&lane->has_visitors, __ATOMIC_RELAXED))
            return 0;
    }
    if (TERN_LIKELY(lane->open))
        count = tern_ofi_lane_poll(lane);
    if (TERN_UNLIKELY(__atomic_load_n(&lane->has_visitors, __ATOMIC_RELAXED)))
        count += tern_ofi_take_visitors(lane);
    if (TERN_UNLIKELY(lane->reading_count))
        count += tern_ofi_read_on(lane);
    if (TERN_UNLIKELY(lane->copy_count))
        count += tern_ofi_copies_go_on(lane);
    if (TERN_UNLIKELY(lane->writing_count))
        count += tern_ofi_write_on(lane);
    uint64_t now = tern_ticks();
    if (TERN_UNLIKELY(has_long) && !count)
        count = bytes_move(lane, before, now);
    if (now - lane->looked_at > tern_ticks_of_us(LOOK_US)) {
        lane->looked_at = now;
        if (launcher_fd >= 0)
            tern_rte_attend();
        if (tern_ofi_fabric.rail_count > 1 && lane->open)
            count += tern_ofi_rails_look(lane);
        if (!tern_list_empty(&lane->busy))
            count += tern_ofi_links_go_on(lane);
    }
    return count;
}

static bool ofi_before_sleep(uint32_t index)
{
    struct tern_ofi_lane *lane = &tern_ofi_lanes[index];
    if (!lane->open)
        return true;
    if (tern_ofi_lane_buffers_idle(lane))
        return false;
    if (!tern_ofi_lane_sleeps(lane))
        return tern_ofi_lane_nap(lane);
    if (!tern_ofi_lane_arm(lane))
        return false;
    /* what waits for room or for a time is tried again soon, whether something completes or not */
    bool waits = lane->crowded || lane->reading_count || lane->copy_count ||
                 lane->writing_count ||
                 tern_ofi_lane_sends(lane) || !tern_list_empty(&lane->busy);
    lane->crowded = false;
    return waits ? tern_ofi_lane_nap(lane) : tern_ofi_lane_rest(lane);
}

/* ---- start and end ---- */

static void write_card(void)
{
    const struct fi_info *info = tern_ofi_fabric.info;
    tern_ofi_own_card = (struct tern_ofi_card){.lane_count = (uint8_t)tern_lane_count,
                                               .routes = tern_ofi_provider_routes(info),
                                               .protocol = info->ep_attr->protocol,
                                               .address_format = info->addr_format};
    tern_ofi_lane_tell(&tern_ofi_lanes[0], &tern_ofi_own_card.rails);
    snprintf(tern_ofi_own_card.provider, sizeof tern_ofi_own_card.provider, "%s",
             info->fabric_attr->prov_name);
}

/* Returns the number of descriptors that this process may still open, at most `enough`. */
static uint32_t free_descriptors(uint32_t enough)
{
    struct rlimit files;
    uint32_t count = 0;
    if (getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > INT_MAX)
        return enough;
    for (int fd = (int)files.rlim_cur - 1; fd >= 0 && count < enough; fd--)
        count += fcntl(fd, F_GETFD) < 0;
    return count;
}

/* Checks that a provider that makes a connection to each peer finds descriptors for them. If it
 * finds none, it reports no error: the peer just never answers. */
static int check_descriptors(void)
{
    enum { SPARE = 4 }; /* two peers may connect to each other at once */
    const char *provider = tern_ofi_fabric.info->fabric_attr->prov_name;
    uint32_t here = tern_btl_permitted("shm") ? tern_rte.local_size : 1;
    uint32_t needed = tern_rte.size - here + SPARE, found = free_descriptors(needed);
    bool connects = strncmp(provider, "net", 3) == 0 || strncmp(provider, "tcp", 3) == 0 ||
                    strncmp(provider, "sockets", 7) == 0;
    if (!connects || found >= needed)
        return 0;
    return tern_error(TERN_ERR_OTHER,
                      "libfabric's provider %s needs a file descriptor for each of %u peers and %d "
                      "more, and this process may open only %u more; raise its limit (ulimit -n)",
                      provider, tern_rte.size - here, SPARE, found);
}

static const struct tern_ofi_lane_user lane_user = {.arrived = tern_ofi_frame_arrived,
                                                    .send_failed = tern_ofi_route_failed};

/* Closes a lane, and frees what its users have left there. */
static void close_lane(struct tern_ofi_lane *lane)
{
    tern_ofi_lane_close(lane);
    tern_ofi_copies_free(lane);
    tern_ofi_keys_free(lane);
    tern_ofi_links_free(lane);
    tern_ofi_lane_prepare(lane, lane->index, &lane_user);
}

/* Opens the fabric, and the first lane. */
static int open_chosen(const struct tern_ofi_choice *choice)
{
    int rc = tern_ofi_fabric_open(choice);
    for (uint32_t i = 0; i < tern_lane_count; i++)
        tern_ofi_lane_prepare(&tern_ofi_lanes[i], i, &lane_user);
    if (!rc)
        rc = tern_ofi_lane_open(&tern_ofi_lanes[0]);
    if (!rc && (rc = check_descriptors()))
        close_lane(&tern_ofi_lanes[0]);
    if (rc)
        tern_ofi_fabric_close();
    return rc;
}

static int open_fabric(void)
{
    struct tern_ofi_choice choice, before = {0};
    int rc = tern_ofi_provider_choose(&choice);
    if (rc)
        return rc;
    bool devices = tern_ofi_choose_devices(&choice, &before);
    rc = open_chosen(&choice);
    if (!devices)
        return rc;
    if (!rc) {
        tern_ofi_choice_free(&before);
        return 0;
    }
    tern_ofi_devices_failed(tern_error_text(rc));
    return open_chosen(&before);
}

/* Returns true if peers may read this process's device memory. */
static bool ofi_offers_devices(void)
{
    return tern_ofi_fabric.devices && !tern_ofi_devices_are_refused();
}

/* Leaves the fabric out if messages shall be encrypted: libfabric sends them as they are. Returns
 * 0, or TERN_ERR_ARG with text if nothing else is permitted or the user asks for both. */
static int leave_out(void)
{
    snprintf(why_not, sizeof why_not,
             "btl_tcp_encrypt is 1, and libfabric does not encrypt messages");
    if (tern_btl_named("ofi") || !tern_btl_permitted("tcp"))
        return tern_error(TERN_ERR_ARG,
                          "%s, but the parameter btl is `%s`; give a list with tcp and without "
                          "ofi, or set btl_tcp_encrypt to 0",
                          why_not, tern_param_string("btl"));
    tern_rte_remark(TERN_REMARK_FABRIC, "the fabric is not used, because btl_tcp_encrypt is 1 and "
                                        "libfabric does not encrypt messages; tcp carries them");
    return 0;
}

/* Joins the fabric. If that fails the rank says why, and others learn from its card that it has not
 * joined. */
static int ofi_announce(void)
{
    unsigned char bytes[sizeof tern_ofi_own_card];
    if (!tern_btl_network_needed() || !tern_btl_ofi_possible())
        return 0;
    if (tern_param_bool("btl_tcp_encrypt"))
        return leave_out();
    tern_hmac_load(); /* now, while the process has descriptors */
    int rc = open_fabric();
    if (rc) {
        char text[700];
        snprintf(why_not, sizeof why_not, "%s", tern_error_text(rc));
        snprintf(text, sizeof text, "rank %u on host %.80s does not use the fabric: %s",
                 tern_rte.rank, tern_rte.host, why_not);
        tern_rte_remark(TERN_REMARK_FABRIC, text);
        return 0;
    }
    write_card();
    announced = true;
    rc = tern_secret_offer();
    return rc ? rc
              : tern_card_set("ofi", bytes, tern_ofi_card_write(&tern_ofi_own_card, bytes));
}

/* Lets the launcher's replies end sleeps, if tcp does not. */
static void watch_launcher(void)
{
    if (tern_btl_permitted("tcp"))
        return;
    launcher_fd = tern_rte_fd();
    if (launcher_fd >= 0 && tern_doorbell_watch(launcher_fd))
        launcher_fd = -1;
}

static void ofi_show(void)
{
    const struct fi_info *chosen = announced ? tern_ofi_fabric.info : NULL;
    char devices[400];
    tern_ofi_devices(devices, sizeof devices);
    tern_fabric_devices_show();
    if (tern_ofi_library_load()) {
        tern_log("fabric: %s", tern_error_text(TERN_ERR_OTHER));
    } else {
        uint32_t version = tern_ofi_library.version();
        tern_log("fabric: libfabric is %s, with interface version %u.%u", tern_ofi_library_file(),
                 FI_MAJOR(version), FI_MINOR(version));
        tern_ofi_provider_show(chosen, devices);
    }
    if (chosen)
        tern_log("fabric: used, by provider %s and device %s", chosen->fabric_attr->prov_name,
                 devices);
    if (chosen)
        tern_log("fabric: device memory %s%s",
                 tern_ofi_fabric.devices ? "is read and written by the network card (FI_HMEM)"
                                         : "goes through the host: ",
                 tern_ofi_fabric.devices ? "" : tern_ofi_devices_why_not());
    else
        tern_log("fabric: not used: %s",
                 !tern_btl_permitted("ofi")   ? "the parameter btl leaves out ofi"
                 : !tern_btl_network_needed() ? "shared memory reaches all ranks"
                 : !tern_btl_ofi_possible()   ? "this host has no such device, and the parameter "
                                                "btl_ofi_provider names no provider"
                                              : why_not);
}

static int ofi_init(void)
{
    if (!announced)
        return tern_error(TERN_ERR_UNSUPPORTED, "no fabric");
    watch_launcher();
    return tern_btl_active(&tern_btl_shm) ? 0 : tern_segment_attend(); /* shm would have done it */
}

static void ofi_finalize(void)
{
    for (uint32_t i = 0; i < tern_lane_count; i++)
        close_lane(&tern_ofi_lanes[i]);
    tern_ofi_cache_stop();
    tern_ofi_fabric_close();
    announced = false;
}

static struct tern_ofi_link *link_at(struct tern_list_node *in_lane)
{
    return TERN_CONTAINER(in_lane, struct tern_ofi_link, in_lane);
}

/* Begins to say goodbye by the link, if anything has passed since the last time: else the other end
 * knows. */
static void begin_bye(struct tern_ofi_lane *lane, struct tern_ofi_link *link)
{
    bool news = !link->told || link->next_out != link->told_out || link->next_in != link->told_in;
    if (link->state != TERN_OFI_OPEN || link->bye_sent || link->owes_bye || !news)
        return;
    link->owes_bye = true;
    tern_ofi_link_note_busy(lane, link);
}

/* Returns true if the other end has all that we have sent by the link and knows that we leave, or
 * has left MPI itself. Who ends before it has read the other's answer closes its connection with
 * bytes unread; then the system at the other end may drop what this end sent last. If the other end
 * left before our BYE came, it does not answer. */
static bool is_through(const struct tern_ofi_link *link)
{
    if (link->state != TERN_OFI_OPEN || link->failed_ms)
        return true;
    if (link->owes_bye || link->owes_bye_seen)
        return false;
    return !link->bye_sent || link->bye_answered ||
           (link->peer_bye &&
            (!link->bye_matters || tern_ofi_now_ms() - link->bye_ms > ANSWER_MS));
}

static bool all_through(void)
{
    bool all = true;
    for (uint32_t i = 0; i < tern_lane_count; i++) {
        struct tern_ofi_lane *lane = &tern_ofi_lanes[i];
        if (!lane->open)
            continue;
        tern_ofi_lane_poll(lane);
        tern_ofi_rails_look(lane);
        /* also those that have left and come back meanwhile */
        for (struct tern_list_node *at = lane->links.next; at != &lane->links; at = at->next)
            begin_bye(lane, link_at(at));
        tern_ofi_links_go_on(lane);
        for (struct tern_list_node *at = lane->links.next; at != &lane->links; at = at->next)
            all = is_through(link_at(at)) && all;
    }
    return all;
}

static bool all_sent(void)
{
    int under_way = 0;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        under_way += tern_ofi_lane_sends(&tern_ofi_lanes[i]);
    return under_way == 0;
}

/* Says goodbye on all links, and waits until the other ends have answered, however long they
 * compute: only then they have all frames, which libfabric may keep in this process. */
static void ofi_leave(void)
{
    enum { WAIT_US = 20, LONG_WAIT_US = 1000, SHORT_WAITS = 1000 };
    for (int64_t waits = 0; !all_through(); waits++)
        usleep(waits < SHORT_WAITS ? WAIT_US : LONG_WAIT_US);
    /* the last answers; a peer that has ended takes none */
    for (int i = 0; i < BYE_MS && !all_sent(); i++) {
        all_through();
        if (!all_sent())
            usleep(1000);
    }
    if (launcher_fd >= 0)
        tern_doorbell_unwatch(launcher_fd);
    launcher_fd = -1;
    tern_ofi_devices_forget(NULL);
}

static int ofi_come_back(void)
{
    unsigned char bytes[sizeof tern_ofi_own_card];
    for (uint32_t i = 0; i < tern_lane_count; i++)
        for (struct tern_list_node *at = tern_ofi_lanes[i].links.next;
             at != &tern_ofi_lanes[i].links; at = at->next)
            link_at(at)->bye_sent = link_at(at)->bye_answered = false;
    watch_launcher();
    return tern_card_set("ofi", bytes, tern_ofi_card_write(&tern_ofi_own_card, bytes));
}

const struct tern_btl tern_btl_ofi = {
    .name = "ofi",
    .announce = ofi_announce,
    .show = ofi_show,
    .init = ofi_init,
    .finalize = ofi_finalize,
    .leave = ofi_leave,
    .come_back = ofi_come_back,
    .reaches = ofi_reaches,
    .connect = ofi_connect,
    .connect_bulk = ofi_connect_bulk,
    .send = ofi_send,
    .send_batched = ofi_send,
    .send_cursor = ofi_send_cursor,
    .devices_too = true,
    .offers_devices = ofi_offers_devices,
    .register_memory = tern_ofi_register_memory,
    .register_copy = tern_ofi_register_copy,
    .deregister_memory = tern_ofi_deregister_memory,
    .get = tern_ofi_get,
    .put = tern_ofi_put,
    .expose = tern_ofi_expose,
    .conceal = tern_ofi_conceal,
    .copy_direct = tern_ofi_copy_direct,
    .progress = ofi_progress,
    .before_sleep = ofi_before_sleep,
};
