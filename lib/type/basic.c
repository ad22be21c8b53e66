/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/basic.h"

#include "lib/type/program.h"

struct short_int {
    short value;
    int index;
};

static struct tern_entry short_int_list[] = {
    {0, offsetof(struct short_int, value), NULL},
    {sizeof(short), offsetof(struct short_int, index), NULL},
    {sizeof(short) + sizeof(int), 0, NULL},
};

struct tern_program tern_program_short_int = {
    .refs = 1,
    .kind = TERN_PROGRAM_LIST,
    .count = 2,
    .list = short_int_list,
};
