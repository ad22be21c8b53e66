/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Why reports: libpmix takes four milliseconds and a megabyte in every rank, and knows nearly
 * nothing that our launcher could not tell by itself. The launcher must learn which ranks are in
 * MPI, and also when a process leaves MPI without saying so: a rank may be a script, which goes on.
 * So each program passes the launcher one end of a socket pair and keeps the other.
 *
 * Together with it goes the far end of a lifeline. If the launcher and its guardian are killed
 * together, no process is left that could end this program, so the kernel ends it, whatever the
 * program is doing.
 *
 * Nothing here waits for a reply. Open questions are counted, so that there is always room for the
 * replies, and neither end ever waits for the other to read.
 *
 * A rank may also start without the inherited descriptor, because some program on the way has
 * closed it, or its number may belong to another file. Then the rank calls the launcher by the
 * socket's name. If that fails too, the rank uses PMIx, as it does for everything that only PMIx
 * knows.
 */

#include "lib/rte/report.h"

#include "lib/rte/rte.h"
#include "lib/util/base/ancestry.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/net/lifeline.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int common = -1; /* the socket that all ranks inherit; -1: none */
/* where the same socket has a name; empty: nowhere */
static char directory[PATH_MAX];
static int starter; /* the process that starts the ranks; 0: unknown */
static int own = -1;    /* our end of the pair; -1: not connected */
static int lifeline =
    -1; /* our end of the lifeline, as long as this process lives; -1: none */

static struct {
    pthread_mutex_t lock;
    struct tern_rte_fetch *first, **last; /* cards sought; those already asked for come first */
    int asked; /* questions without a reply */
    bool card_given; /* this process has published its card */
    uint32_t program; /* 0: not known yet */
    bool met; /* all ranks have met */
    void (*notify_met)(void);
    tern_unreached_taker *heard;
    /* the notice that has arrived, with its sender; `unheard` until it is passed on to `heard` */
    bool unheard;
    uint32_t notice_from;
    struct tern_card notice;
} dialogue = {.lock = PTHREAD_MUTEX_INITIALIZER, .last = &dialogue.first};

/* ---- finding the launcher ---- */

static bool is_common(int fd, unsigned long inode)
{
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_ino == inode;
}

/* Connects to the socket in the job's directory, if the launcher owns it. Returns a descriptor, or
 * -1. */
static int call(void)
{
    struct sockaddr_un address;
    struct ucred owner;
    socklen_t size = sizeof owner;
    int at = *directory == '/' ? open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    int fd = at < 0 ? -1 : socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    tern_directory_address(at, TERN_REPORTS_NAME, &address);
    bool reached = fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0;
    if (at >= 0)
        close(at);
    if (fd < 0)
        return -1;
    if (reached &&
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &owner, &size) == 0 && owner.uid == geteuid())
        return fd;
    close(fd);
    return -1;
}

bool tern_report_learn(uint32_t *ret_appnum)
{
    const char *text = getenv(TERN_REPORTS);
    unsigned long inode;
    int fd;
    if (!text || sscanf(text, "%d:%lu:%4095[^:]:%d:%u", &fd, &inode, directory, &starter,
                        ret_appnum) != 5) {
        directory[0] = 0;
        return false;
    }
    if (is_common(fd, inode)) {
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        common = fd;
        return true;
    }
    fd = call();
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* ---- sending reports ---- */

/* Sends a report with `passed_count` descriptors, at most two. */
static bool say_with(int fd, const struct iovec *parts, int part_count, const int *passed,
                     int passed_count)
{
    union {
        char bytes[CMSG_SPACE(2 * sizeof(int))];
        struct cmsghdr align;
    } control = {0};
    struct msghdr message = {.msg_iov = (struct iovec *)parts, .msg_iovlen = (size_t)part_count};
    if (passed_count) {
        size_t length = (size_t)passed_count * sizeof *passed;
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(length);
        struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(length);
        memcpy(CMSG_DATA(rights), passed, length);
    }
    ssize_t sent;
    while ((sent = sendmsg(fd, &message, MSG_NOSIGNAL)) < 0 &&
           (errno == EINTR || errno == ETOOMANYREFS)) {
        if (errno == ETOOMANYREFS) /* more descriptors in flight than files may be open */
            poll(NULL, 0, 1);
    }
    return sent >= 0;
}

static bool say_by(int fd, const struct iovec *parts, int part_count)
{
    return say_with(fd, parts, part_count, NULL, 0);
}

static bool say(enum tern_report_kind kind, int value)
{
    struct tern_report report = {kind, value};
    return own >= 0 && say_by(own, &(struct iovec){&report, sizeof report}, 1);
}

static bool say_text(enum tern_report_kind kind, int value, const char *text)
{
    struct tern_report report = {kind, value};
    struct iovec parts[] = {{&report, sizeof report},
                            {(void *)text, strnlen(text, TERN_CARD_MOST)}};
    return own >= 0 && say_by(own, parts, 2);
}

static bool open_pair(int ends[2])
{
    return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0;
}

/* Ties this process to a new lifeline. Returns the far end, which the caller closes, or -1. */
static int open_lifeline(void)
{
    int ends[2];
    if (!open_pair(ends))
        return -1;
    lifeline = ends[0];
    /* if the kernel cannot do this, only the guardian protects */
    tern_lifeline_tie(lifeline, getpid());
    return ends[1];
}

static void drop_lifeline(void)
{
    tern_lifeline_untie(lifeline);
    close(lifeline);
    lifeline = -1;
}

/* Passes the launcher, which `fd` reaches, its end of a new pair, and the first time the far end of
 * the lifeline. */
static bool connect_by(int fd)
{
    struct tern_report report = {TERN_REPORT_CONNECTED, (int32_t)tern_rte.rank};
    struct tern_ancestry line = tern_ancestry_below(starter);
    struct iovec parts[] = {{&report, sizeof report}, {&line, sizeof line}};
    int pair[2], far = lifeline < 0 ? open_lifeline() : -1;
    bool reached = open_pair(pair);
    if (reached) {
        reached = say_with(fd, parts, 2, (int[]){pair[1], far}, far < 0 ? 1 : 2);
        close(pair[1]);
        if (reached)
            own = pair[0];
        else
            close(pair[0]);
    }
    if (far >= 0 && !reached)
        drop_lifeline();
    if (far >= 0)
        close(far);
    return reached;
}

bool tern_report_open(void)
{
    int fd = common >= 0 ? common : call();
    if (fd < 0)
        return false;
    bool reached = connect_by(fd);
    if (fd != common)
        close(fd);
    return reached;
}

bool tern_report_is_open(void)
{
    return own >= 0;
}

void tern_report_world(void)
{
    say(TERN_REPORT_WORLD, 0);
}

void tern_report_card(const void *bytes, size_t length, uint64_t of_rank)
{
    struct tern_report report = {TERN_REPORT_CARD, dialogue.card_given};
    struct iovec parts[] = {
        {&report, sizeof report}, {&of_rank, sizeof of_rank}, {(void *)bytes, length}};
    dialogue.card_given = true;
    say_by(own, parts, 3);
}

void tern_report_joined(enum tern_joined how, const char *jobs)
{
    say_text(TERN_REPORT_JOINED, (int32_t)how, jobs);
}

bool tern_report_ask(const char *question)
{
    size_t left = strlen(question);
    bool said = own >= 0;
    while (said && left) {
        size_t part = left < TERN_CARD_MOST ? left : TERN_CARD_MOST;
        struct tern_report report = {TERN_REPORT_ASK, part == left};
        struct iovec parts[] = {{&report, sizeof report}, {(void *)question, part}};
        said = say_by(own, parts, 2);
        question += part;
        left -= part;
    }
    return said;
}

void tern_report_meet(void (*notify)(void))
{
    pthread_mutex_lock(&dialogue.lock);
    dialogue.met = false;
    dialogue.notify_met = notify;
    pthread_mutex_unlock(&dialogue.lock);
    say(TERN_REPORT_MEET, 0);
}

void tern_report_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes, const char *text)
{
    struct tern_report report = {TERN_REPORT_UNREACHED, (int32_t)rank};
    uint64_t how_and_lanes = (uint64_t)how << 32 | lanes;
    struct iovec parts[] = {{&report, sizeof report},
                            {&how_and_lanes, sizeof how_and_lanes},
                            {(void *)text, strnlen(text, TERN_CARD_MOST)}};
    say_by(own, parts, 3);
}

/* Passes on the notice that has arrived. The launcher then sends the next one. Locks: dialogue.lock
 * is held. */
static void hear(void)
{
    say(TERN_REPORT_HEARD, 0);
    dialogue.heard(dialogue.notice_from, (enum tern_unreached)(dialogue.notice.own >> 32),
                   (uint32_t)dialogue.notice.own, (const char *)dialogue.notice.bytes);
    dialogue.unheard = false;
}

void tern_report_on_unreached(tern_unreached_taker *heard)
{
    pthread_mutex_lock(&dialogue.lock);
    dialogue.heard = heard;
    if (heard && dialogue.unheard)
        hear();
    pthread_mutex_unlock(&dialogue.lock);
}

bool tern_report_remark(enum tern_remark remark, const char *text)
{
    return say_text(TERN_REPORT_REMARK, (int32_t)remark, text);
}

bool tern_report_crash(int number, const char *text, size_t length)
{
    struct tern_report report = {TERN_REPORT_CRASHED, number};
    struct iovec parts[] = {{&report, sizeof report}, {(void *)text, length}};
    return own >= 0 && say_by(own, parts, 2);
}

/* ---- asking ---- */

/* Sends as many questions as there is room for replies. Locks: dialogue.lock is held. */
static void ask(void)
{
    for (struct tern_rte_fetch *fetch = dialogue.first; fetch && dialogue.asked < TERN_SEEKS_MOST;
         fetch = fetch->next)
        if (!fetch->asked) {
            fetch->asked = true;
            dialogue.asked++;
            say(TERN_REPORT_SEEK, (int)fetch->rank);
        }
}

void tern_report_seek(uint32_t rank, struct tern_rte_fetch *fetch)
{
    pthread_mutex_lock(&dialogue.lock);
    fetch->rank = rank;
    fetch->asked = false;
    fetch->next = NULL;
    *dialogue.last = fetch;
    dialogue.last = &fetch->next;
    ask();
    pthread_mutex_unlock(&dialogue.lock);
}

/* Takes a fetch out of the list. Locks: dialogue.lock is held. */
static void take_out(struct tern_rte_fetch **link)
{
    struct tern_rte_fetch *fetch = *link;
    *link = fetch->next;
    if (!*link)
        dialogue.last = link;
}

/* A question that was sent still counts in dialogue.asked, because its reply may come. */
void tern_report_forget(struct tern_rte_fetch *fetch)
{
    pthread_mutex_lock(&dialogue.lock);
    for (struct tern_rte_fetch **link = &dialogue.first; *link; link = &(*link)->next)
        if (*link == fetch) {
            take_out(link);
            break;
        }
    pthread_mutex_unlock(&dialogue.lock);
}

static void finish(struct tern_rte_fetch *fetch, const void *bytes, size_t length)
{
    void (*notify)(void) = fetch->notify;
    fetch->value = malloc(length);
    fetch->length = length;
    fetch->error = fetch->value ? 0 : TERN_ERR_OTHER;
    if (fetch->value)
        memcpy(fetch->value, bytes, length);
    else
        snprintf(fetch->text, sizeof fetch->text, "no memory");
    __atomic_store_n(&fetch->done, true, __ATOMIC_RELEASE); /* from here on `fetch` may be gone */
    if (notify)
        notify();
}

/* Gives a card to the first fetch that waits for this rank: each question gets one reply. */
static void take_card(uint32_t rank, const void *bytes, size_t length)
{
    dialogue.asked -= dialogue.asked > 0;
    for (struct tern_rte_fetch **link = &dialogue.first; *link; link = &(*link)->next)
        if ((*link)->asked && (*link)->rank == rank) {
            struct tern_rte_fetch *fetch = *link;
            take_out(link);
            finish(fetch, bytes, length);
            break;
        }
    ask();
}

static void take_unreached(uint32_t rank, const struct tern_card *card, size_t length)
{
    dialogue.notice_from = rank;
    dialogue.notice = *card;
    dialogue.notice.bytes[length < TERN_CARD_MOST ? length : TERN_CARD_MOST - 1] = 0;
    dialogue.unheard = true;
    if (dialogue.heard)
        hear();
}

static void take(const struct tern_report *reply, const struct tern_card *card, size_t length)
{
    if (reply->kind == TERN_REPLY_UNREACHED && length >= sizeof card->own)
        take_unreached((uint32_t)reply->value, card, length - sizeof card->own);
    else if (reply->kind == TERN_REPLY_CARD && length >= sizeof card->own) {
        take_card((uint32_t)reply->value, card, length);
    } else if (reply->kind == TERN_REPLY_NUMBER) {
        __atomic_store_n(&dialogue.program, (uint32_t)reply->value, __ATOMIC_RELAXED);
    } else if (reply->kind == TERN_REPLY_MET) {
        dialogue.met = true;
        if (dialogue.notify_met)
            dialogue.notify_met();
    }
}

int tern_report_fd(void)
{
    return own;
}

bool tern_report_attend(void)
{
    struct tern_report reply;
    struct tern_card card;
    struct iovec parts[] = {{&reply, sizeof reply}, {&card, sizeof card}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    ssize_t got = -1;
    errno = EAGAIN;
    pthread_mutex_lock(&dialogue.lock);
    while (own >= 0 &&
           ((got = recvmsg(own, &message, MSG_DONTWAIT)) > 0 || (got < 0 && errno == EINTR)))
        if (got >= (ssize_t)sizeof reply)
            take(&reply, &card, (size_t)got - sizeof reply);
    bool goes_on = got < 0 && errno == EAGAIN;
    pthread_mutex_unlock(&dialogue.lock);
    return goes_on;
}

uint32_t tern_report_program(void)
{
    return __atomic_load_n(&dialogue.program, __ATOMIC_RELAXED);
}

bool tern_report_has_met(void)
{
    tern_report_attend();
    return __atomic_load_n(&dialogue.met, __ATOMIC_RELAXED);
}

/* ---- the end ---- */

void tern_report_close(void)
{
    if (own < 0)
        return;
    say(TERN_REPORT_FINALIZED, 0);
    pthread_mutex_lock(&dialogue.lock);
    close(own);
    own = -1;
    dialogue.asked = 0; /* no fetch is left */
    dialogue.unheard = false; /* the launcher sends it again when this process comes back */
    pthread_mutex_unlock(&dialogue.lock);
}

void tern_report_abort(int status)
{
    if (!say(TERN_REPORT_ABORTED, status))
        return;
    /* until the launcher's signals arrive, or the launcher has ended too */
    struct pollfd launcher_ends = {.fd = own};
    while (poll(&launcher_ends, 1, -1) < 0 && errno == EINTR)
        ;
}
