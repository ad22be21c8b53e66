/* SPDX-License-Identifier: BSD-3-Clause */

#include "lib/util/machine/memory_kinds.h"

#include <string.h>

const char tern_memory_kinds[] =
    "mpi,system,mpi:alloc_mem,mpi:win_allocate,mpi:win_allocate_shared,"
    "cuda,cuda:host,cuda:device,cuda:managed";

static bool supported(const char *kind, size_t length)
{
    for (const char *at = tern_memory_kinds; *at; at += strspn(at, ",")) {
        size_t known = strcspn(at, ",");
        if (known == length && strncmp(at, kind, length) == 0)
            return true;
        at += known;
    }
    return false;
}

bool tern_memory_kinds_supported(const char *list, const char **ret_unknown, size_t *ret_length)
{
    for (const char *at = list; *at; at += strspn(at, ",")) {
        size_t length = strcspn(at, ",");
        if (!supported(at, length)) {
            if (ret_unknown)
                *ret_unknown = at;
            if (ret_length)
                *ret_length = length;
            return false;
        }
        at += length;
    }
    return true;
}
