/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TEST_REQUIRE_H
#define TERN_TEST_REQUIRE_H

/* For tests that are programs of their own, not of Check: says where and what was found, and ends with 1. */

#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(condition, ...)                                                                                        \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                                            \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fputc('\n', stderr);                                                                                       \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
