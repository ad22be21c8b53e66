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

void plan_flatten(struct tern_plan *plan, int64_t room)
{
    int64_t made = plan->head_count, wanted = plan->step_count + room;
    if (wanted > plan->head_room) {
        plan->head = realloc(plan->head, (size_t)wanted * sizeof *plan->head);
        plan->head_room = wanted;
    }
    for (int64_t i = made; i < plan->step_count; i++) {
        plan->tail(plan, i - made, &plan->head[i]);
        tern_plan_set_peer(plan, &plan->head[i]);
    }
    plan->tail = NULL;
    plan->head_count = plan->step_count;
}

static bool same_ref(const struct tern_ref *a, const struct tern_ref *b)
{
    return a->offset == b->offset && a->count == b->count && a->block == b->block && a->buffer == b->buffer;
}

bool plan_same(const struct tern_plan *a, const struct tern_plan *b)
{
    struct tern_step room_a, room_b;
    if (a->step_count != b->step_count || a->window != b->window || a->turns != b->turns ||
        a->temp_count != b->temp_count || a->temp_units != b->temp_units)
        return false;
    for (int64_t i = 0; i < a->step_count; i++) {
        const struct tern_step *x = tern_plan_step(a, i, &room_a), *y = tern_plan_step(b, i, &room_b);
        if (x->kind != y->kind || x->flags != y->flags || x->peer != y->peer || x->after != y->after ||
            x->turn != y->turn || x->at != y->at || !same_ref(&x->from, &y->from) || !same_ref(&x->to, &y->to))
            return false;
    }
    return true;
}

/* A range of a buffer, in numbers that are apart for different buffers. A block whose own type is meant is a range of
 * its own: it is not compared with others. */
struct use {
    int64_t begin, end;
    uint8_t buffer;
    bool writes;
};

/* What a step reads and writes, as far as it is anything. */
struct uses {
    struct use use[2];
    int count;
    bool write;
    bool beyond; /* a temporary's end */
};

static bool is_beyond(const struct tern_plan *plan, const struct tern_ref *ref)
{
    return ref->buffer >= TERN_TEMPORARY && (ref->buffer - TERN_TEMPORARY >= plan->temp_count || ref->offset < 0 ||
                                             ref->offset + ref->count > plan->temp_units);
}

static void add_use(struct uses *uses, const struct tern_plan *plan, const struct tern_ref *ref, bool writes)
{
    if (!ref->count)
        return;
    bool whole = ref->block >= 0;
    int64_t begin = ((int64_t)ref->buffer << 56) + (whole ? ((int64_t)1 << 54) + ref->block : ref->offset);
    uses->use[uses->count++] = (struct use){begin, begin + (whole ? 1 : ref->count), ref->buffer, writes};
    uses->write |= writes;
    uses->beyond |= is_beyond(plan, ref);
}

static void find_uses(const struct tern_plan *plan, const struct tern_step *step, struct uses *uses)
{
    uses->count = 0;
    uses->write = uses->beyond = false;
    switch (step->kind) {
    case TERN_STEP_TAKE:
    case TERN_STEP_RECV: add_use(uses, plan, &step->to, true); break;
    case TERN_STEP_POST:
    case TERN_STEP_SEND: add_use(uses, plan, &step->from, false); break;
    case TERN_STEP_JOIN: /* may unpack to the one, and joins to the other */
    case TERN_STEP_REDUCE:
    case TERN_STEP_COPY:
        add_use(uses, plan, &step->from, step->kind == TERN_STEP_JOIN);
        add_use(uses, plan, &step->to, true);
    }
}

static bool collide(const struct use *a, const struct use *b)
{
    return a->begin < b->end && b->begin < a->end && (a->writes || b->writes);
}

static bool any_collide(const struct uses *mine, const struct uses *others)
{
    for (int u = 0; u < mine->count; u++)
        for (int v = 0; v < others->count; v++)
            if (collide(&mine->use[u], &others->use[v]))
                return true;
    return false;
}

/* What the steps in flight have read and written of each buffer, and perhaps more, lies between these. Plans most often
 * go through a buffer in one direction, so that a look at them is enough. */
struct hull {
    int64_t begin, end;
};

struct hulls {
    struct hull of[TERN_BUFFERS][2]; /* read, written */
};

static void begin_hulls(struct hulls *hulls)
{
    for (int b = 0; b < TERN_BUFFERS; b++)
        for (int written = 0; written < 2; written++)
            hulls->of[b][written] = (struct hull){INT64_MAX, INT64_MIN};
}

static bool is_apart(const struct use *use, const struct hull *hull)
{
    return use->begin >= hull->end || use->end <= hull->begin;
}

static bool are_apart(const struct uses *uses, const struct hulls *hulls)
{
    for (int u = 0; u < uses->count; u++) {
        const struct use *use = &uses->use[u];
        const struct hull *hull = hulls->of[use->buffer];
        if (!is_apart(use, &hull[true]) || (use->writes && !is_apart(use, &hull[false])))
            return false;
    }
    return true;
}

static void widen(struct hulls *hulls, const struct uses *uses)
{
    for (int u = 0; u < uses->count; u++) {
        const struct use *use = &uses->use[u];
        struct hull *hull = &hulls->of[use->buffer][use->writes];
        if (use->begin < hull->begin)
            hull->begin = use->begin;
        if (use->end > hull->end)
            hull->end = use->end;
    }
}

const char *plan_read(const struct tern_plan *plan)
{
    struct tern_step room;
    struct uses uses[TERN_PLAN_WINDOW]; /* of the last steps */
    struct hulls hulls;
    /* Of the steps before the current one (bit k: k + 1 places before): those that may be in flight when it starts,
     * those that use anything, and those that write. */
    uint64_t open = 0, using = 0, writing = 0;
    const uint64_t too_old = ~0ull << (plan->window - 1);
    bool next_waits = false;
    for (int64_t i = 0; i < plan->step_count; i++) {
        const struct tern_step *step = tern_plan_step(plan, i, &room);
        struct uses *mine = &uses[(uint64_t)i % TERN_PLAN_WINDOW];
        open = (open << 1 | (i > 0)) & ~(step->after | too_old);
        if (next_waits && open & 1)
            return "a step is marked as awaited, and is not";
        next_waits = step->flags & TERN_STEP_AWAITED;
        find_uses(plan, step, mine);
        if (mine->beyond)
            return "a step goes beyond a temporary";
        if (!open)
            begin_hulls(&hulls);
        uint64_t others = are_apart(mine, &hulls) ? 0 : open & (mine->write ? using : writing);
        for (; others; others &= others - 1)
            if (any_collide(mine, &uses[(uint64_t)(i - 1 - __builtin_ctzll(others)) % TERN_PLAN_WINDOW]))
                return "a step touches what another may still use";
        widen(&hulls, mine);
        if (step->kind == TERN_STEP_REDUCE && step->from.count != step->to.count)
            return "operands of different length";
        using = using << 1 | (mine->count > 0);
        writing = writing << 1 | mine->write;
    }
    return NULL;
}
