/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The first rank of the node makes a memory file and publishes where the others find it:
 * /proc/PID/fd/FD. This leaves nothing behind, whichever process is killed at whatever time. A rank
 * that cannot open the file there (because of its own pid namespace) reports that. Then all ranks
 * of the node take a file in /dev/shm, which has a name until the last rank has opened it. The
 * first rank chooses the name beforehand. So this second way needs no further fence, in which other
 * nodes would have to take part.
 */

#include "lib/node/share.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct offer {
    int32_t pid, fd;
    uint64_t size;
    uint64_t token[2]; /* first bytes of the memory; also the name of the file in /dev/shm */
};

/* Lies in the first 64 bytes, which a launcher's memory uses for its own. */
struct file_head {
    uint64_t token[2];
    uint32_t opened; /* number of ranks that have opened the file by its name */
};

static void name_of_file(const struct offer *offer, char path[80])
{
    snprintf(path, 80, "/dev/shm/tern-%016lx%016lx", (long)offer->token[0], (long)offer->token[1]);
}

/* Returns the size of the file: `size`, or the limit for files if that is less, because beyond it
 * the system would end this process by a signal (SIGXFSZ). */
static uint64_t offered_size(uint64_t size)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < size ? limit.rlim_cur & -4096ull
                                                                         : size;
}

static int give_size(int fd, const struct offer *offer)
{
    if (fd < 0 || ftruncate(fd, offer->size) ||
        pwrite(fd, offer->token, sizeof offer->token, 0) != sizeof offer->token)
        return tern_error(TERN_ERR_NO_MEM, "cannot make a shared file of %llu KiB: %s",
                          (unsigned long long)offer->size >> 10, strerror(errno));
    return 0;
}

/* Returns true if the descriptor holds the offered memory. Closes it if not. */
static bool is_offered(int fd, const struct offer *offer)
{
    uint64_t token[2];
    struct stat st;
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && (uint64_t)st.st_size == offer->size &&
        pread(fd, token, sizeof token, 0) == sizeof token &&
        memcmp(token, offer->token, sizeof token) == 0)
        return true;
    close(fd);
    return false;
}

/* The first rank's part before the fence: makes an offer, and the memory if a file without a name
 * is possible. */
static int make_offer(uint64_t least, uint64_t wanted, struct offer *ret_offer, int *ret_fd)
{
    struct offer offer = {.pid = getpid(), .size = offered_size(wanted)};
    if (getrandom(offer.token, sizeof offer.token, 0) != sizeof offer.token)
        return tern_error(TERN_ERR_OTHER, "no random numbers from the system: %s", strerror(errno));
    if (offer.size < least)
        return tern_error(TERN_ERR_NO_MEM,
                          "the limit of file sizes is less than the shared memory of %u ranks "
                          "(%llu KiB); raise it (ulimit -f)",
                          tern_rte.local_size, (unsigned long long)least >> 10);
    offer.fd = memfd_create("tern-node", MFD_CLOEXEC);
    if (offer.fd >= 0) {
        int rc = give_size(offer.fd, &offer);
        if (rc) {
            close(offer.fd);
            return rc;
        }
    }
    *ret_offer = offer;
    *ret_fd = offer.fd;
    return 0;
}

/* Returns the key of a value that concerns this node only. */
static const char *key(const char *what)
{
    static char name[64];
    snprintf(name, sizeof name, "tern.shm.%u.%s", tern_rte.node, what);
    return name;
}

/* Fetches a value of a rank, which must have exactly `size` bytes. */
static int get_exactly(uint32_t rank, const char *name, void *to, size_t size)
{
    void *value;
    size_t length;
    int rc = tern_rte_get(rank, name, &value, &length);
    if (rc)
        return rc;
    if (length == size)
        memcpy(to, value, size);
    else
        rc = tern_error(TERN_ERR_OTHER, "rank %u uses another version of this library; use one "
                                        "version for all ranks", rank);
    free(value);
    return rc;
}

/* Finds out whether all ranks of the node have opened the memory. */
static int ask_everybody(bool *ret_all)
{
    bool all = true;
    for (uint32_t i = 0; i < tern_rte.local_size && all; i++) {
        char opened;
        int rc = get_exactly(tern_rte.local_ranks[i], key("opened"), &opened, sizeof opened);
        if (rc)
            return rc;
        all = opened;
    }
    *ret_all = all;
    return 0;
}

static int make_named_file(const struct offer *offer, const char *path, int *ret_fd)
{
    char draft[88];
    snprintf(draft, sizeof draft, "%s.new", path);
    int fd = open(draft, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return tern_error(TERN_ERR_NO_MEM, "cannot make the shared file %s: %s", path,
                          strerror(errno));
    int rc = give_size(fd, offer);
    if (rc == 0 && rename(draft, path)) /* rename: others only see a complete file */
        rc =
            tern_error(TERN_ERR_OTHER, "cannot make the shared file %s: %s", path, strerror(errno));
    if (rc) {
        unlink(draft);
        close(fd);
        return rc;
    }
    *ret_fd = fd;
    return 0;
}

/* Waits until the file appears. If the first rank fails instead, the launcher ends this process. */
static int open_named_file(const struct offer *offer, const char *path, int *ret_fd)
{
    int fd;
    while ((fd = open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)) < 0 && errno == ENOENT)
        usleep(1000);
    if (fd < 0)
        return tern_error(TERN_ERR_OTHER, "cannot open the shared file %s: %s", path,
                          strerror(errno));
    if (!is_offered(fd, offer))
        return tern_error(TERN_ERR_OTHER, "the shared file %s is not the one rank %u made", path,
                          tern_rte.local_ranks[0]);
    *ret_fd = fd;
    return 0;
}

/* Shares a file in /dev/shm, on a node whose ranks cannot open each other's descriptors. The last
 * rank to open the file removes its name; the file itself holds the count, as long as it is
 * otherwise unused. */
static int share_named_file(const struct offer *offer, int *ret_fd)
{
    char path[80];
    name_of_file(offer, path);
    int fd = -1;
    int rc = tern_rte.local_rank == 0 ? make_named_file(offer, path, &fd)
                                      : open_named_file(offer, path, &fd);
    if (rc)
        return rc;
    struct file_head *head = mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (head == MAP_FAILED) {
        rc =
            tern_error(TERN_ERR_NO_MEM, "cannot map the shared file %s: %s", path, strerror(errno));
        unlink(path);
        close(fd);
        return rc;
    }
    if (__atomic_add_fetch(&head->opened, 1, __ATOMIC_RELAXED) == tern_rte.local_size)
        unlink(path);
    munmap(head, sizeof *head);
    *ret_fd = fd;
    return 0;
}

/* Exchanges the offer. *ret_fd is -1 if this rank cannot open the memory. */
static int exchange_offer(uint64_t least, uint64_t wanted, struct offer *ret_offer, int *ret_fd)
{
    char path[64];
    int fd = -1, rc = 0;
    if (tern_rte.local_rank == 0) {
        rc = make_offer(least, wanted, ret_offer, &fd);
        if (rc == 0)
            rc = tern_rte_put(key("offer"), ret_offer, sizeof *ret_offer);
    }
    if (rc == 0)
        rc = tern_rte_fence(true);
    if (rc == 0 && tern_rte.local_rank != 0) {
        rc = get_exactly(tern_rte.local_ranks[0], key("offer"), ret_offer, sizeof *ret_offer);
        if (rc == 0 && ret_offer->fd >= 0) {
            snprintf(path, sizeof path, "/proc/%d/fd/%d", ret_offer->pid, ret_offer->fd);
            fd = open(path, O_RDWR | O_CLOEXEC);
            fd = is_offered(fd, ret_offer) ? fd : -1;
        }
    }
    *ret_fd = fd;
    return rc;
}

int tern_share_memory(uint64_t least, uint64_t wanted, int *ret_fd, size_t *ret_size)
{
    struct offer offer;
    int fd;
    bool all = false;
    int rc = exchange_offer(least, wanted, &offer, &fd);
    if (rc == 0)
        rc = tern_rte_put(key("opened"), &(char){fd >= 0}, 1);
    if (rc == 0)
        rc = tern_rte_fence(true); /* the first rank keeps its descriptor open until this fence */
    if (rc == 0)
        rc = ask_everybody(&all);
    if (fd >= 0 && (rc || !all))
        close(fd);
    if (rc == 0 && !all)
        rc = share_named_file(&offer, &fd);
    if (rc)
        return rc;
    *ret_fd = fd;
    *ret_size = offer.size;
    return 0;
}

int tern_share_attend(void)
{
    int rc = tern_rte_fence(true);
    return rc ? rc : tern_rte_fence(true);
}
