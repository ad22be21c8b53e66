/* SPDX-License-Identifier: BSD-3-Clause */

/* Recent plans of a communicator, found by the bytes of their arguments: a small table, the newer
 * plan wins. */
#include "lib/coll/plan.h"

#include "lib/util/param.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 32 };

struct tern_plan_cache {
    unsigned param_changes; /* when the plans were chosen */
    struct tern_model model;
    struct tern_plan *plans[SLOTS];
};

static void forget_plans(struct tern_plan_cache *cache)
{
    for (int i = 0; i < SLOTS; i++) {
        if (cache->plans[i])
            tern_plan_release(cache->plans[i]);
        cache->plans[i] = NULL;
    }
}

static unsigned slot_of(const struct tern_plan_args *args)
{
    uint64_t hash = args->collective + 64 * (uint64_t)args->in_place;
    hash = hash * 0x9e3779b97f4a7c15u + (uint32_t)args->root;
    hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)(args->send_count * args->send_size);
    hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)(args->recv_count * args->recv_size);
    return (unsigned)(hash * 0x9e3779b97f4a7c15u >> 59); /* 5 bits: SLOTS */
}

/* Parameters are as they were when the plans were chosen: else other algorithms may be wanted now. */
static struct tern_plan_cache *fresh_cache(struct tern_plan_cache **cache, int ranks_per_node)
{
    if (!*cache) {
        *cache = calloc(1, sizeof **cache);
        if (!*cache)
            return NULL;
        (*cache)->param_changes = tern_param_changes() + 1;
    }
    unsigned param_changes = tern_param_changes();
    if ((*cache)->param_changes != param_changes) {
        forget_plans(*cache);
        (*cache)->model = tern_model_of_parameters(ranks_per_node);
        (*cache)->param_changes = param_changes;
    }
    return *cache;
}

/* Its parts are chosen by the same model. */
static struct tern_plan *build(const struct tern_plan_cache *cache, struct tern_plan_args args)
{
    args.model = &cache->model;
    return tern_plan_build(tern_plan_choose(&args, &cache->model), &args);
}

struct tern_plan *tern_plan_get(struct tern_plan_cache **plans, const struct tern_plan_args *args)
{
    struct tern_plan_cache *cache = fresh_cache(plans, args->ranks_per_node);
    if (!cache)
        return NULL;
    if (args->blocks)
        return build(cache, *args);
    struct tern_plan **slot = &cache->plans[slot_of(args)];
    if (!*slot || memcmp(&(*slot)->args, args, TERN_PLAN_KEY_BYTES)) {
        struct tern_plan *plan = build(cache, *args);
        if (!plan)
            return NULL;
        if (*slot)
            tern_plan_release(*slot);
        *slot = plan;
    }
    (*slot)->refs++;
    return *slot;
}

void tern_plan_cache_free(struct tern_plan_cache *cache)
{
    if (!cache)
        return;
    forget_plans(cache);
    free(cache);
}
