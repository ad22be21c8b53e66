/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/type/basic.h"

#include "lib/type/type_program.h"

const struct tern_type tern_type_bytes = {
    .size = 1,
    .extent = 1,
    .true_extent = 1,
    .elements = 1,
    .alignment = 1,
    .basic = TERN_BASIC_BYTE,
    .gapless = true,
    .contiguous = true,
    .committed = true,
};

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
    .longest = sizeof(int),
};
