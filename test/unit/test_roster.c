/* SPDX-License-Identifier: BSD-3-Clause */
/* Who is in a job and where, as the launcher writes it for its ranks. */
#include <check.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "lib/util/net/roster.h"
#include "suite.h"

#define SECRET "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

START_TEST(what_was_written_is_read)
{
    enum { MOST = 3000 };
    srand(1);
    for (int round = 0; round < 300; round++) {
        uint32_t size = 1 + (uint32_t)rand() % (round % 10 ? 40 : MOST), hosts = 1 + (uint32_t)rand() % size;
        static uint32_t host_of[MOST];
        static char text[MOST][16];
        static const char *names[MOST];
        for (uint32_t rank = 0; rank < size; rank++) /* each host has one at least */
            host_of[rank] = rank < hosts ? rank : (uint32_t)rand() % hosts;
        for (uint32_t host = 0; host < hosts; host++) {
            snprintf(text[host], sizeof text[host], "n%u", host * 7);
            names[host] = text[host];
        }
        struct tern_roster roster = {.size = size,
                                     .host_count = hosts,
                                     .here = (uint32_t)rand() % hosts,
                                     .universe_size = size + 1,
                                     .job = "tern-0123456789abcdef",
                                     .secret = SECRET,
                                     .host_of = host_of},
                           back;
        size_t length;
        void *bytes = tern_roster_write(&roster, names, &length);
        ck_assert_uint_eq(length % 4096, 0);
        ck_assert(tern_roster_read(bytes, length, &back));
        ck_assert(back.size == size && back.host_count == hosts && back.here == roster.here &&
                  back.universe_size == size + 1);
        ck_assert_str_eq(back.job, roster.job);
        ck_assert_str_eq(back.secret, SECRET);
        ck_assert_mem_eq(back.host_of, host_of, size * sizeof *host_of);
        ck_assert(back.begin[0] == 0 && back.begin[hosts] == size);
        for (uint32_t host = 0; host < hosts; host++) {
            ck_assert_str_eq(tern_roster_name(&back, host), names[host]);
            for (uint32_t i = back.begin[host]; i < back.begin[host + 1]; i++) {
                ck_assert_uint_eq(host_of[back.ranks[i]], host);
                ck_assert(i == back.begin[host] || back.ranks[i] > back.ranks[i - 1]);
            }
        }
        free(bytes);
    }
}
END_TEST

START_TEST(anything_else_is_refused)
{
    uint32_t host_of[3] = {0, 1, 1};
    const char *names[2] = {"a", "b"};
    struct tern_roster roster = {.size = 3, .host_count = 2, .here = 1, .job = "j", .secret = SECRET, .host_of = host_of},
                       back;
    size_t length;
    char *bytes = tern_roster_write(&roster, names, &length);
    ck_assert(tern_roster_read(bytes, length, &back));
    ck_assert(!tern_roster_read(bytes, 100, &back)); /* cut off */
    ck_assert(!tern_roster_read(bytes, 0, &back));
    for (size_t i = 0; i < 24; i++) { /* the magic, the length, how many ranks and hosts: larger than they are */
        unsigned char *byte = (unsigned char *)bytes + i, before = *byte;
        *byte ^= 0xf0;
        ck_assert_msg(!tern_roster_read(bytes, length, &back), "byte %zu", i);
        *byte = before;
    }
    ck_assert(tern_roster_read(bytes, length, &back));
    char zeros[4096] = {0};
    ck_assert(!tern_roster_read(zeros, sizeof zeros, &back));
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("roster");
    TCase *tests = suite_case(suite, "roster");
    tcase_add_test(tests, what_was_written_is_read);
    tcase_add_test(tests, anything_else_is_refused);
    return suite_run(suite);
}
