/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank's port and its visitors: ranks of the job, strangers that send nothing or anything, and strangers that repeat what a rank has
 * sent. The input is the order of their actions, in pieces, while time passes and the rank itself calls others. A rank of the job, which
 * knows the secret, gets an answer, however many strangers there are, and a link once it has confirmed. A stranger gets no byte and no
 * link. A rank that is sought is called. In the end each visitor is a link or is gone.
 */
#include "fuzz.h"

#include "lib/node/doorbell.h"
#include "lib/btl/card.h"
#include "lib/btl/tcp/dial.h"
#include "lib/btl/tcp/congestion.h"
#include "lib/btl/tcp/listener.h"
#include "lib/btl/tcp/link.h"
#include "lib/btl/tcp/arrivals.h"
#include "lib/btl/tcp/connecting.h"
#include "lib/rte/rte.h"
#include "lib/util/net/launcher.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { OWN = 2, RANKS = 5, GUESTS = 24, CROWD = 300, LINKS = 64, STEPS = 200, PATIENCE_MS = 60 * 1000, IN_TIME_MS = 30 * 1000 };

static const unsigned char secret[TERN_SECRET_BYTES] = "the secret of the job of a test";

/* Who comes: its end of the connection. */
struct guest {
    int fd; /* -1: none */
    bool stranger;
    struct tern_hello hello;
    size_t said; /* bytes of the hello */
    uint64_t come_ms, answered_ms;
    bool answered, confirmed, cut;
    struct tern_answer answer;
};

static struct {
    struct guest guests[GUESTS];
    int crowd[CROWD];
    int crowd_count;
    struct tern_tcp_link *links[LINKS];
    int link_count, arrived;
    int confirmed, in_time; /* visitors that know the secret; those that the rank must have let in */
    int reached; /* by calls of the rank */
    uint64_t now_ms, sought_ms[RANKS];
    bool known; /* the secret, by the rank */
    struct tern_tcp_call *calls[RANKS];
    int call_ends[RANKS];
    struct tern_rte_fetch *fetches[RANKS];
    bool copied; /* hellos were said more than once */
} at;

/* ---- in place of the rest of the library ---- */

bool (*tern_btl_deliver)(struct tern_peer *, const struct tern_packet *, const void *, size_t);
void *(*tern_btl_place)(struct tern_peer *, const struct tern_packet *, size_t, struct tern_cursor *);
void (*tern_btl_placed)(struct tern_peer *, const struct tern_packet *, size_t, void *);
struct tern_rte tern_rte = { .job = "job", .rank = OWN, .size = RANKS, .local_size = 1, .host = "here" };
struct tern_tcp_door tern_tcp_door = { .fd = -1 };

uint64_t tern_tcp_now_ms(void) { return at.now_ms; }
const unsigned char *tern_secret(void) { return at.known ? secret : NULL; }
const char *tern_secret_failure(void) { return NULL; }
bool tern_secret_drops_visitors(void) { return false; }
int tern_tcp_door_open(void) { return 0; }
int tern_tcp_door_put(void) { return 0; }
int tern_tcp_rcvbuf(void) { return 0; }
void tern_tcp_describe_ends(int fd, char text[TERN_TCP_ENDS]) { snprintf(text, TERN_TCP_ENDS, "%d", fd); }
void tern_tcp_choose_congestion(void) {}
void tern_tcp_set_congestion(int fd, bool same_host) { (void)fd, (void)same_host; }
int tern_doorbell_watch(int fd) { return fd < 0; }
void tern_doorbell_unwatch(int fd) { (void)fd; }
void tern_doorbell_ring_self(void) {}
int64_t tern_rte_local_rank(uint32_t rank) { return (int64_t)rank * 0 - 1; }
void tern_rte_host_of(uint32_t rank, char *name, size_t room) { snprintf(name, room, "host%u", rank); }
uint32_t tern_rte_program(void) { return 1; }
bool tern_rte_forget(struct tern_rte_fetch *fetch) { return fetch->rank < RANKS; }
int tern_rte_fd(void) { return -1; }
bool tern_rte_attend(void) { return true; }
void tern_rte_remark(enum tern_remark remark, const char *text) { MUST(remark == TERN_REMARK_STRANGER && strlen(text) < 400); }

uint32_t tern_tcp_lanes_of(uint32_t index) { return 1u << index % 8; }
bool tern_rte_tell_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes, const char *text)
{
    MUST(rank < RANKS && how <= TERN_UNREACHED_GAVE_UP && lanes && *text);
    return rank & 1; /* as if a launcher passed on what some ranks are told */
}
void tern_tcp_lose(struct tern_process process, uint32_t lanes, const char *text)
{
    MUST(process.job == 0 && process.rank < RANKS && lanes && *text);
}

static const struct tern_tcp_address somewhere = { .family = 4, .port = 1, .bytes = { 10, 0, 0, 1 }, .interface = "eth0" };

int tern_rte_seek(uint32_t rank, bool anew, struct tern_rte_fetch *fetch)
{
    unsigned char record[200];
    size_t size = tern_tcp_record_write(&somewhere, 1, record, sizeof record);
    struct tern_card *card = malloc(sizeof *card + size);
    if (!card)
        abort();
    (void)anew;
    card->own = 1;
    size = tern_card_write(card->bytes, "tcp", record, size);
    fetch->value = card;
    fetch->length = sizeof card->own + size;
    fetch->error = 0;
    fetch->done = true;
    fetch->rank = rank;
    return 0;
}

void tern_tcp_arrive(struct tern_tcp_link *link)
{
    MUST(link->process.rank < RANKS && link->process.rank != OWN);
    if (at.link_count == LINKS)
        tern_tcp_link_free(link);
    else
        at.links[at.link_count++] = link;
    at.arrived++;
}

/* ---- calls of ours: one at a time to each ---- */

void tern_tcp_dial(struct tern_tcp_contact *contact, const struct tern_tcp_pair *pair, uint8_t index)
{
    struct tern_tcp_call *call = calloc(1, sizeof *call);
    int ends[2];
    if (!call || socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        abort();
    MUST(index == 0 && !at.calls[contact->process.rank]);
    call->fd = ends[0];
    call->contact = contact;
    call->pair = pair;
    call->step = TERN_TCP_CONNECTING;
    at.calls[contact->process.rank] = call;
    at.call_ends[contact->process.rank] = ends[1];
    at.sought_ms[contact->process.rank] = 0;
    MUST(tern_tcp_connecting_dial(call, EPOLLIN));
}

/* The other end has closed: as a visitor has brought a link, the search is over. */
static void forget_call(uint32_t rank)
{
    at.calls[rank] = NULL;
    close(at.call_ends[rank]);
}

void tern_tcp_dial_go_on(struct tern_tcp_call *call)
{
    (void)call;
    MUST(!"nothing comes");
}

void tern_tcp_dial_is_late(struct tern_tcp_call *call)
{
    (void)call;
    MUST(!"it has no deadline");
}

void tern_tcp_dial_is_the_last(struct tern_tcp_call *call) { MUST(call->contact->they_gave_up); }

/* ---- what happens ---- */

static int connect_to_door(void)
{
    struct sockaddr_un name;
    socklen_t size = sizeof name;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (fd < 0 || getsockname(tern_tcp_door.fd, (struct sockaddr *)&name, &size) ||
        connect(fd, (struct sockaddr *)&name, size))
        abort();
    return fd;
}

static struct guest *pick(struct fuzz_input *input)
{
    return &at.guests[fuzz_byte(input) % GUESTS];
}

static void come(struct fuzz_input *input)
{
    struct guest *guest = pick(input);
    unsigned who = fuzz_byte(input);
    if (guest->fd >= 0)
        return;
    *guest = (struct guest){ .fd = connect_to_door(), .stranger = who & 128, .come_ms = at.now_ms };
    struct tern_tcp_greeting greeting = { .lane = who >> 3 & 1, .link = who >> 4 & 1, .from = who % RANKS, .to = OWN, .program = 1 };
    unsigned char another[TERN_SECRET_BYTES] = { 1 };
    if (greeting.from == OWN)
        greeting.from = 0;
    tern_tcp_greet(&guest->hello, greeting, tern_rte.job);
    MUST(tern_hello_seal(&guest->hello, &tern_tcp_service, guest->stranger ? another : secret) == 0);
}

/* A stranger has the hello of a guest, if that was one of the job. */
static void record(struct fuzz_input *input)
{
    struct guest *guest = pick(input), *from = pick(input);
    if (guest->fd < 0 || !guest->stranger || guest->said || from->fd < 0 || from == guest)
        return;
    guest->hello = from->hello;
    at.copied = true;
}

static void say(struct fuzz_input *input)
{
    struct guest *guest = pick(input);
    size_t left = guest->fd < 0 ? 0 : sizeof guest->hello - guest->said, n = fuzz_byte(input);
    n = n < left ? n : left;
    if (!n || send(guest->fd, (char *)&guest->hello + guest->said, n, MSG_NOSIGNAL) != (ssize_t)n)
        return;
    guest->said += n;
}

static void talk(struct fuzz_input *input)
{
    struct guest *guest = pick(input);
    unsigned char bytes[64];
    size_t n = 1 + fuzz_byte(input) % sizeof bytes;
    if (guest->fd < 0 || !guest->stranger)
        return;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (unsigned char)fuzz_byte(input);
    (void)!send(guest->fd, bytes, n, MSG_NOSIGNAL);
    guest->said = sizeof guest->hello;
}

static void confirm(struct fuzz_input *input)
{
    struct guest *guest = pick(input);
    struct tern_confirm confirm = { { 0 } };
    if (guest->fd < 0 || !guest->answered || guest->confirmed || guest->answer.verdict != TERN_TCP_WELCOME)
        return;
    if (!guest->stranger)
        MUST(tern_confirm_seal(&confirm, &guest->hello, &guest->answer, secret) == 0);
    if (send(guest->fd, &confirm, sizeof confirm, MSG_NOSIGNAL) != sizeof confirm)
        return;
    guest->confirmed = true;
    at.confirmed += !guest->stranger;
    at.in_time += !guest->stranger && at.now_ms - guest->answered_ms <= IN_TIME_MS;
}

static void leave(struct guest *guest)
{
    if (guest->fd >= 0)
        close(guest->fd);
    guest->fd = -1;
}

static void crowd(void)
{
    while (at.crowd_count < CROWD)
        at.crowd[at.crowd_count++] = connect_to_door();
}

static void end_crowd(void)
{
    while (at.crowd_count)
        close(at.crowd[--at.crowd_count]);
}

/* A lane wants a link, or the other rank asks to be called. */
static void seek(struct fuzz_input *input, bool asked)
{
    uint32_t rank = fuzz_byte(input) % RANKS;
    if (rank == OWN)
        return;
    struct tern_tcp_contact *contact = tern_tcp_search_of((struct tern_process){0, rank}, 0);
    if (asked)
        tern_tcp_connecting_heed(rank, 0, fuzz_byte(input) & 1 ? TERN_UNREACHED_GAVE_UP : TERN_UNREACHED_CALL);
    else
        MUST(contact && tern_tcp_connecting_start((struct tern_process){0, rank}, 0) == 0);
    if (!(contact->links & 1) && !at.calls[rank] && !at.sought_ms[rank])
        at.sought_ms[rank] = at.now_ms;
}

/* A call of ours is answered and confirmed. */
static void reach(struct fuzz_input *input)
{
    uint32_t rank = fuzz_byte(input) % RANKS;
    struct tern_tcp_call *call = at.calls[rank];
    if (!call)
        return;
    at.reached++;
    tern_tcp_connecting_hand_over(call);
    forget_call(rank);
}

/* ---- what must have come of it ---- */

static bool still_sought(uint32_t rank)
{
    const struct tern_tcp_contact *contact = tern_tcp_search_of((struct tern_process){0, rank}, 0);
    return contact && !(contact->links & 1);
}

/* Visitors that became links have ended our calls. */
static void see_calls(void)
{
    for (uint32_t rank = 0; rank < RANKS; rank++) {
        struct tern_tcp_call *call = tern_tcp_connecting_dial_after(NULL);
        while (call && call != at.calls[rank])
            call = tern_tcp_connecting_dial_after(call);
        if (at.calls[rank] && !call)
            forget_call(rank);
        if (!still_sought(rank))
            at.sought_ms[rank] = 0;
        MUST(!at.sought_ms[rank] || !at.known || at.now_ms - at.sought_ms[rank] < 2000);
    }
}

static void see_guest(struct guest *guest)
{
    bool whole = guest->said == sizeof guest->hello && !guest->answered;
    ssize_t n = recv(guest->fd, &guest->answer, sizeof guest->answer, 0);
    bool silence = n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
    if (n > 0) { /* only to a hello that a rank has made */
        MUST(n == sizeof guest->answer && whole && at.known && tern_answer_holds(&guest->answer, &guest->hello, secret));
        MUST(guest->answer.verdict == TERN_TCP_WELCOME || guest->answer.verdict == TERN_TCP_CROSSED);
        guest->answered = true;
        guest->answered_ms = at.now_ms;
        return;
    }
    if (silence) {
        MUST(guest->stranger || !whole || !at.known);
        return;
    }
    bool late = !at.known && at.now_ms - guest->come_ms > PATIENCE_MS;
    MUST(guest->stranger || !whole || at.copied || late); /* else it would have had its answer */
    guest->cut = true;
}

static void settle(void)
{
    for (int i = 0; tern_tcp_connecting_progress() && (at.known || i < 50); i++) /* what follows a hello waits for the secret, too */
        MUST(i < 2000);
    tern_tcp_connecting_progress(); /* whoever waited for the secret */
    for (int i = 0; i < GUESTS; i++)
        if (at.guests[i].fd >= 0 && !at.guests[i].cut && !at.guests[i].confirmed)
            see_guest(&at.guests[i]);
    see_calls();
    MUST(at.arrived >= at.in_time + at.reached && at.arrived <= at.confirmed + at.reached);
}

static void wait_for(struct fuzz_input *input)
{
    static const unsigned steps[] = { 1, 40, 300, 600, 1100, 5000, 25000, 59000 };
    unsigned left = steps[fuzz_byte(input) % 8];
    while (left) {
        unsigned step = left < 500 ? left : 500;
        at.now_ms += step;
        left -= step;
        settle();
    }
}

static void step(struct fuzz_input *input)
{
    switch (fuzz_byte(input) % 14) {
    case 0: come(input); break;
    case 1: record(input); break;
    case 2: say(input); break;
    case 3: talk(input); break;
    case 4: confirm(input); break;
    case 5: leave(pick(input)); break;
    case 6: crowd(); break;
    case 7: end_crowd(); break;
    case 8: seek(input, false); break;
    case 9: reach(input); break;
    case 10: wait_for(input); break;
    case 11: at.known = true; break;
    case 12: seek(input, true); break;
    default: settle();
    }
}

static void open_door(void)
{
    struct sockaddr_un any = { .sun_family = AF_UNIX };
    tern_tcp_door.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    if (tern_tcp_door.fd < 0 || bind(tern_tcp_door.fd, (struct sockaddr *)&any, sizeof any.sun_family) ||
        listen(tern_tcp_door.fd, SOMAXCONN))
        abort();
    tern_tcp_door.own[0] = somewhere;
    tern_tcp_door.own_count = 1;
    MUST(tern_tcp_connecting_open() == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input input = { data, size };
    memset(&at, 0, sizeof at);
    at.now_ms = 1000000;
    for (int i = 0; i < GUESTS; i++)
        at.guests[i].fd = -1;
    open_door();
    at.known = fuzz_byte(&input) & 1;
    for (int i = 0; i < STEPS && input.left; i++)
        step(&input);
    /* all of the job that have confirmed are links; whoever has not is gone a minute later */
    at.known = true;
    settle();
    int links = at.arrived;
    for (int i = 0; i < 2; i++) { /* to say hello, and to confirm */
        at.now_ms += PATIENCE_MS + 1;
        settle();
    }
    MUST(at.arrived == links);
    for (struct tern_tcp_call *call = tern_tcp_connecting_dial_after(NULL); call; call = tern_tcp_connecting_dial_after(call))
        MUST(call->step < TERN_TCP_AWAITING_HELLO);
    for (uint32_t rank = 0; rank < RANKS; rank++)
        for (uint8_t lane = 0; lane < 2 && rank != OWN; lane++)
            MUST(tern_tcp_search_of((struct tern_process){0, rank}, lane)->arriving == 0);
    for (int i = 0; i < at.link_count; i++)
        tern_tcp_link_free(at.links[i]);
    for (int i = 0; i < GUESTS; i++)
        leave(&at.guests[i]);
    end_crowd();
    for (uint32_t rank = 0; rank < RANKS; rank++)
        if (at.calls[rank])
            close(at.call_ends[rank]);
    tern_tcp_connecting_close();
    close(tern_tcp_door.fd);
    return 0;
}
