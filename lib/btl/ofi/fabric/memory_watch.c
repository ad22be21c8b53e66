/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/btl/ofi/fabric/memory_watch.h"

#include "lib/util/base/atomic.h"
#include "lib/util/base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

enum { REPORTS = 16, LINE_MOST = 512 };

struct tern_memory_watch tern_memory_watches[TERN_MEMORY_WATCHES];

static int report_fd = -1, stop_fd = -1;
static bool refused; /* the system does not let us watch */
static pthread_t thread;
/* odd while the thread has read reports and not yet marked what they concern */
static uint32_t turns;
static pid_t owner; /* of report_fd; a child after fork watches nothing */

static uintptr_t page_bytes(void)
{
    return (uintptr_t)sysconf(_SC_PAGESIZE);
}

/* ---- the thread ---- */

static void mark(uintptr_t start, uintptr_t end)
{
    for (int i = 0; i < TERN_MEMORY_WATCHES; i++) {
        struct tern_memory_watch *watch = &tern_memory_watches[i];
        if (__atomic_load_n(&watch->start, __ATOMIC_ACQUIRE) < end &&
            __atomic_load_n(&watch->end, __ATOMIC_ACQUIRE) > start)
            __atomic_store_n(&watch->stale, true, __ATOMIC_RELEASE);
    }
}

static void heed(const struct uffd_msg *report)
{
    switch (report->event) {
    case UFFD_EVENT_REMAP:
        mark(report->arg.remap.from, report->arg.remap.from + report->arg.remap.len);
        mark(report->arg.remap.to, report->arg.remap.to + report->arg.remap.len);
        break;
    case UFFD_EVENT_REMOVE:
    case UFFD_EVENT_UNMAP:
        mark(report->arg.remove.start, report->arg.remove.end);
        break;
    default: /* not asked for: whatever it is, nothing can be trusted */
        mark(0, UINTPTR_MAX);
    }
}

static void *run(void *nothing)
{
    struct uffd_msg reports[REPORTS];
    struct pollfd fds[] = {{.fd = report_fd, .events = POLLIN}, {.fd = stop_fd, .events = POLLIN}};
    prctl(PR_SET_NAME, "tern-memory", 0, 0, 0);
    while (!fds[1].revents) {
        if (poll(fds, 2, -1) <= 0)
            continue;
        __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
        ssize_t bytes = read(report_fd, reports, sizeof reports);
        for (ssize_t i = 0; i < bytes / (ssize_t)sizeof *reports; i++)
            heed(&reports[i]);
        __atomic_fetch_add(&turns, 1, __ATOMIC_SEQ_CST);
    }
    return nothing;
}

/* ---- start and end ---- */

static int open_reports(void)
{
    struct uffdio_api api = {.api = UFFD_API,
                             .features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |
                                         UFFD_FEATURE_EVENT_REMOVE | UFFD_FEATURE_EVENT_REMAP};
    int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
    if (fd >= 0 && ioctl(fd, UFFDIO_API, &api)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void close_both(void)
{
    if (report_fd >= 0)
        close(report_fd);
    if (stop_fd >= 0)
        close(stop_fd);
    report_fd = stop_fd = -1;
}

static bool start_once(void)
{
    if (report_fd >= 0)
        return owner == getpid();
    if (refused)
        return false;
    report_fd = open_reports();
    stop_fd = eventfd(0, EFD_CLOEXEC);
    owner = getpid();
    if (report_fd >= 0 && stop_fd >= 0 && tern_thread_start(run, &thread) == 0)
        return true;
    close_both();
    refused = true;
    return false;
}

void tern_memory_watch_stop(void)
{
    if (report_fd < 0)
        return;
    if (owner == getpid() && write(stop_fd, &(uint64_t){1}, sizeof(uint64_t)) > 0)
        pthread_join(thread, NULL);
    close_both(); /* this ends all registrations */
    memset(tern_memory_watches, 0, sizeof tern_memory_watches);
}

/* ---- ranges ---- */

/* Returns true if a line of /proc/self/maps is about private anonymous memory, not a stack. */
static bool is_plain(const char *line, uintptr_t *ret_start, uintptr_t *ret_end)
{
    char permissions[5], name[16] = "";
    unsigned long long start, end, inode;
    int fields =
        sscanf(line, "%llx-%llx %4s %*s %*s %llu %15s", &start, &end, permissions, &inode, name);
    if (fields < 4)
        return false;
    *ret_start = (uintptr_t)start;
    *ret_end = (uintptr_t)end;
    return permissions[3] == 'p' && inode == 0 && strncmp(name, "[stack", 6) != 0;
}

/* Returns true if the whole range is private anonymous memory. Sets *ret_range to the mappings that
 * it is in, whole ones: the kernel would split a mapping of which only a part is watched, and
 * mremap of both parts would fail. */
static bool find_mappings(uintptr_t start, uintptr_t end, struct uffdio_range *ret_range)
{
    char line[LINE_MOST];
    uintptr_t from = 0, to = 0, first = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    bool good = maps != NULL;
    while (good && start < end && (good = fgets(line, sizeof line, maps) != NULL)) {
        bool plain = is_plain(line, &from, &to);
        if (from > start) /* a hole */
            good = false;
        else if (to > start) {
            good = plain;
            start = to;
            first = first ? first : from;
        }
    }
    if (maps)
        fclose(maps);
    *ret_range = (struct uffdio_range){.start = first, .len = to - first};
    return good;
}

bool tern_memory_watch_begin(struct tern_memory_watch *watch, const void *start, size_t length)
{
    uintptr_t page = page_bytes(), first = (uintptr_t)start & -page,
              end = ((uintptr_t)start + length + page - 1) & -page;
    struct uffdio_register mappings = {.mode = UFFDIO_REGISTER_MODE_WP};
    if (!start_once())
        return false;
    /* before the mappings are registered: no report may find nothing to mark */
    __atomic_store_n(&watch->stale, false, __ATOMIC_RELEASE);
    __atomic_store_n(&watch->end, end, __ATOMIC_RELEASE);
    __atomic_store_n(&watch->start, first, __ATOMIC_SEQ_CST);
    if (find_mappings(first, end, &mappings.range) &&
        ioctl(report_fd, UFFDIO_REGISTER, &mappings) == 0)
        return true;
    tern_memory_watch_end(watch);
    return false;
}

void tern_memory_watch_end(struct tern_memory_watch *watch)
{
    __atomic_store_n(&watch->start, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&watch->end, 0, __ATOMIC_RELEASE);
}

/* The kernel answers EAGAIN while a thread takes memory away and its report has not been read; a
 * request without an argument does nothing else. */
bool tern_memory_watch_is_quiet(void)
{
    if (report_fd < 0 || owner != getpid())
        return false;
    if (ioctl(report_fd, UFFDIO_WRITEPROTECT, NULL) == 0 || errno == EAGAIN)
        return false;
    while (__atomic_load_n(&turns, __ATOMIC_SEQ_CST) & 1)
        sched_yield();
    return true;
}

bool tern_memory_watch_is_stale(const struct tern_memory_watch *watch)
{
    return __atomic_load_n(&watch->stale, __ATOMIC_ACQUIRE);
}
