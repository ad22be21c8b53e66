/* SPDX-License-Identifier: BSD-3-Clause */

/* tern_copy_pages copies the given number of bytes and touches no others, at any address and alignment, whichever way it goes. */

#include "require.h"

#include "lib/util/machine/copy_pages.h"

#include <string.h>

static void check_all(void)
{
    enum { PAGE = 4096, AROUND = 128, MOST = 17 * PAGE };
    static unsigned char source[MOST + AROUND], target[MOST + 2 * AROUND], wanted[sizeof target];
    for (size_t i = 0; i < sizeof source; i++)
        source[i] = (unsigned char)(1 + i % 251); /* a prime number: each page has other bytes */
    for (size_t pages = 0; pages <= MOST / PAGE; pages++)
        for (int more = -1; more <= 1; more++)
            for (size_t from = 0; from < AROUND; from += 31)
                for (size_t to = 0; to < AROUND; to += 31) {
                    size_t n = pages * PAGE;
                    if (more < 0 ? n == 0 : n + (size_t)more > MOST)
                        continue;
                    n += (size_t)more;
                    memset(target, 0, sizeof target);
                    memset(wanted, 0, sizeof wanted);
                    memcpy(wanted + to, source + from, n);
                    tern_copy_pages(target + to, source + from, n);
                    REQUIRE(memcmp(target, wanted, sizeof target) == 0, "%zu bytes from %zu to %zu", n, from, to);
                }
}

int main(void)
{
    REQUIRE(!tern_copy_pages_gains(), "in turn before anything was measured");
    check_all();
    tern_copy_pages_use(true);
    REQUIRE(tern_copy_pages_gains(), "not in turn");
    check_all();
    return 0;
}
