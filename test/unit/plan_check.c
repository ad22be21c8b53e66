/* SPDX-License-Identifier: BSD-3-Clause */
#include "plan_check.h"

#include "lib/type/layout.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

const struct tern_type u64_type = {
    .size = 8,
    .extent = 8,
    .true_extent = 8,
    .elements = 1,
    .alignment = 8,
    .basic = TERN_BASIC_UINT64,
    .gapless = true,
    .contiguous = true,
    .committed = true,
};

const struct tern_type gap_type = {
    .size = 1,
    .extent = 2,
    .true_extent = 1,
    .elements = 1,
    .alignment = 1,
    .basic = TERN_BASIC_BYTE,
    .committed = true,
};

struct tern_type gappy_type;

void make_gappy_type(void)
{
    struct tern_type two_words;
    ck_assert_int_eq(tern_type_make_vector(&u64_type, 2, 1, 16, &two_words), 0);
    ck_assert_int_eq(tern_type_make_resized(&two_words, -8, 32, &gappy_type), 0);
    gappy_type.committed = true;
    tern_type_drop(&two_words);
}

uint64_t value(int64_t from, int64_t to, int64_t i)
{
    uint64_t x = (uint64_t)(from + 1) * 0x9e3779b97f4a7c15u ^
                 (uint64_t)(to + 1) * 0xc2b2ae3d27d4eb4fu ^ (uint64_t)(i + 1) * 0x165667b19e3779f9u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return x ^ x >> 32;
}

char *new_elements(const struct tern_type *type, int64_t count)
{
    char *memory = malloc((size_t)(count + 1) * (size_t)type->extent + 64);
    memset(memory, 0x5a, (size_t)(count + 1) * (size_t)type->extent + 64);
    return memory;
}

void put(char *base, const struct tern_type *type, int64_t i, uint64_t x)
{
    memcpy(base + i * type->extent, &x, 8);
    if (type == &gappy_type) {
        x = ~x;
        memcpy(base + i * type->extent + 16, &x, 8);
    }
}

bool is(const char *base, const struct tern_type *type, int64_t i, uint64_t x)
{
    uint64_t first, second = ~x;
    memcpy(&first, base + i * type->extent, 8);
    if (type == &gappy_type)
        memcpy(&second, base + i * type->extent + 16, 8);
    return first == x && second == ~x;
}

struct use {
    struct tern_ref ref;
    bool writes;
};

static int uses_of(const struct tern_step *step, struct use uses[2])
{
    switch (step->kind) {
    case TERN_STEP_TAKE: uses[0] = (struct use){step->to, true}; return 1;
    case TERN_STEP_POST:
    case TERN_STEP_SEND: uses[0] = (struct use){step->from, false}; return 1;
    case TERN_STEP_RECV: uses[0] = (struct use){step->to, true}; return 1;
    case TERN_STEP_JOIN: /* may unpack to the one, and joins to the other */
    case TERN_STEP_REDUCE:
    case TERN_STEP_COPY:
        uses[0] = (struct use){step->from, step->kind == TERN_STEP_JOIN};
        uses[1] = (struct use){step->to, true};
        return 2;
    default: return 0;
    }
}

static bool collide(const struct use *a, const struct use *b)
{
    if ((!a->writes && !b->writes) || a->ref.buffer != b->ref.buffer || !a->ref.count ||
        !b->ref.count)
        return false;
    if (a->ref.block >= 0 || b->ref.block >= 0)
        return a->ref.block == b->ref.block;
    return a->ref.offset < b->ref.offset + b->ref.count &&
           b->ref.offset < a->ref.offset + a->ref.count;
}

const char *plan_read(const struct tern_plan *plan)
{
    struct tern_step room;
    struct use uses[TERN_PLAN_WINDOW][2]; /* of the last steps */
    int use_counts[TERN_PLAN_WINDOW];
    uint64_t complete =
        0; /* of the steps before the current one, those that must be complete when it starts */
    const uint64_t too_old = ~0ull << (plan->window - 1);
    bool next_waits = false;
    for (int64_t i = 0; i < plan->step_count; i++) {
        const struct tern_step *step = tern_plan_step(plan, i, &room);
        complete = complete << 1 | step->after | too_old;
        if (next_waits && !(complete & 1))
            return "a step is marked as awaited, and is not";
        next_waits = step->flags & TERN_STEP_AWAITED;
        struct use mine[2];
        int my_uses = uses_of(step, mine);
        for (int u = 0; u < my_uses; u++)
            if (mine[u].ref.buffer >= TERN_TEMPORARY &&
                (mine[u].ref.buffer - TERN_TEMPORARY >= plan->temp_count ||
                 mine[u].ref.offset < 0 ||
                 mine[u].ref.offset + mine[u].ref.count > plan->temp_units) &&
                mine[u].ref.count)
                return "a step goes beyond a temporary";
        for (uint64_t open = ~complete; open; open &= open - 1) {
            int64_t k = __builtin_ctzll(open);
            if (k >= i)
                break;
            int64_t other = (i - 1 - k) % TERN_PLAN_WINDOW;
            for (int u = 0; u < my_uses; u++)
                for (int v = 0; v < use_counts[other]; v++)
                    if (collide(&mine[u], &uses[other][v]))
                        return "a step touches what another may still use";
        }
        if (step->kind == TERN_STEP_REDUCE && step->from.count != step->to.count)
            return "operands of different length";
        use_counts[i % TERN_PLAN_WINDOW] = my_uses;
        memcpy(uses[i % TERN_PLAN_WINDOW], mine, sizeof mine);
    }
    return NULL;
}
