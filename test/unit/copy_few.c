/* SPDX-License-Identifier: BSD-3-Clause */

/* tern_copy_few copies just so many bytes, wherever they lie. */

#include "require.h"

#include "lib/util/base/copy.h"

int main(void)
{
    enum { AROUND = 8, MOST = TERN_COPY_FEW };
    for (size_t n = 0; n <= MOST; n++)
        for (size_t from = 0; from < AROUND; from++)
            for (size_t to = 0; to < AROUND; to++) {
                unsigned char source[MOST + AROUND], target[MOST + 2 * AROUND];
                for (size_t i = 0; i < sizeof source; i++)
                    source[i] = (unsigned char)(i + 1);
                memset(target, 0, sizeof target);
                tern_copy_few(target + to, source + from, n);
                for (size_t i = 0; i < sizeof target; i++) {
                    unsigned char wanted = i >= to && i < to + n ? source[from + i - to] : 0;
                    REQUIRE(target[i] == wanted, "byte %zu of %zu from %zu to %zu is %d, expected %d", i, n, from, to, target[i],
                            wanted);
                }
            }
    return 0;
}
