/* SPDX-License-Identifier: BSD-3-Clause */
/* Pieces of the node's memory: a rank that is killed while it takes and gives them leaves nothing that stops or misleads the
 * others; pages go back to the system. */

#include "lib/node/pieces.h"
#include "lib/node/segment.h"
#include "suite.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, KILLS = 200 };
#define BYTES ((size_t)1 << 36) /* more than is ever there */

static int fd;
static uint32_t *turns; /* of the child */

static void open_memory(void)
{
    fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)BYTES), 0);
    tern_segment = (struct tern_segment){.local_size = 2};
    ck_assert_int_eq(tern_segment_open(fd, (struct tern_half){0, BYTES}), 0);
    turns = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
}

static void close_memory(void)
{
    munmap(tern_segment.base, tern_segment.size);
    munmap(turns, PAGE);
    close(fd);
    tern_segment = (struct tern_segment){.fd = -1};
}

static uint64_t pages_in_use(void)
{
    struct stat status;
    ck_assert_int_eq(fstat(fd, &status), 0);
    return (uint64_t)status.st_blocks / (PAGE / 512);
}

/* Takes and gives pieces of several sizes without end. */
static void take_and_give(void)
{
    for (unsigned turn = 0;; turn++) {
        uint64_t claim, piece;
        size_t size = (size_t)PAGE << turn % 10;
        if (tern_segment_claim(size, true, &claim) == 0) {
            tern_segment_fill(claim, size);
            if (tern_segment_take(size, &piece) == 0)
                tern_segment_give(piece, size);
            tern_segment_unclaim(claim, size);
        }
        __atomic_fetch_add(turns, 1, __ATOMIC_RELAXED);
    }
}

static void kill_a_child(unsigned after)
{
    *turns = 0;
    pid_t child = fork();
    if (child == 0) {
        tern_segment.local_rank = 1;
        take_and_give();
    }
    while (__atomic_load_n(turns, __ATOMIC_RELAXED) < 5)
        usleep(10);
    for (volatile unsigned i = 0; i < after; i++)
        ;
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}

static bool holds_only(uint64_t offset, size_t bytes, char value)
{
    const char *at = tern_segment.base + offset;
    return at[0] == value && memcmp(at, at + 1, bytes - 1) == 0;
}

START_TEST(a_killed_rank_stops_nobody)
{
    enum { MINE = 64 << 10 };
    uint64_t mine, other, piece;
    ck_assert_int_eq(tern_segment_claim(MINE, true, &mine), 0);
    memset(tern_segment.base + mine, 7, MINE);
    for (unsigned i = 0; i < KILLS; i++) {
        kill_a_child(i * 997 % 5000);
        ck_assert_int_eq(tern_segment_claim(MINE, true, &other), 0);
        ck_assert(other >= mine + MINE || other + MINE <= mine);
        ck_assert_int_eq(tern_segment_fill(other, MINE), 0);
        ck_assert_int_eq(tern_segment_take(PAGE, &piece), 0);
        ck_assert(holds_only(other, MINE, 0));
        tern_segment_give(piece, PAGE);
        tern_segment_unclaim(other, MINE);
    }
    ck_assert(holds_only(mine, MINE, 7));
}
END_TEST

START_TEST(pages_and_addresses_go_back)
{
    enum { PIECES = 50 };
    uint64_t offsets[PIECES], piece;
    size_t used = tern_segment_used();
    uint64_t pages = pages_in_use();
    for (int i = 0; i < PIECES; i++) {
        ck_assert_int_eq(tern_segment_claim((size_t)(i + 1) * PAGE, true, &offsets[i]), 0);
        ck_assert_int_eq(tern_segment_fill(offsets[i], (size_t)(i + 1) * PAGE), 0);
    }
    ck_assert_uint_ge(pages_in_use(), pages + PIECES * (PIECES + 1) / 2);
    for (int i = 0; i < PIECES; i++) {
        int at = i * 7 % PIECES; /* in another order */
        tern_segment_unclaim(offsets[at], (size_t)(at + 1) * PAGE);
    }
    ck_assert_uint_eq(tern_segment_used(), used);
    ck_assert_uint_le(pages_in_use(), pages + 8); /* of the list */
    ck_assert_int_eq(tern_segment_claim((size_t)PIECES << 20, true, &piece), 0);
    ck_assert_uint_eq(piece, offsets[0]); /* one stretch again */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pieces");
    TCase *test = suite_case(suite, "two ranks");
    tcase_set_timeout(test, 300);
    tcase_add_checked_fixture(test, open_memory, close_memory);
    tcase_add_test(test, a_killed_rank_stops_nobody);
    tcase_add_test(test, pages_and_addresses_go_back);
    return suite_run(suite);
}
