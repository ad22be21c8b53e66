/* SPDX-License-Identifier: BSD-3-Clause */

/* Recent plans of a communicator, found by the bytes of their arguments in a table of small sets.
 * In a set the newest plan replaces the oldest one.
 *
 * Plans of unequal blocks are kept with everything they were made of, counts and displacements, as
 * long as these are few numbers. The chosen algorithm is kept separately, for blocks that change
 * from call to call. The best algorithm may depend on the root (rank order), so each root has a
 * choice of its own, in its plan. */
#include "lib/coll/plan/plan.h"

#include "lib/settings/param.h"

#include <stdlib.h>
#include <string.h>

/* If every rank is the root of its own calls, there are as many plans as ranks. */
enum { SETS = 32, UNEQUAL_SETS = 4, WAYS = 4, CHOICES = 8, MOST_BLOCKS = 128 };

/* All that a choice for unequal blocks depends on, apart from the communicator. */
struct choice {
    int32_t collective, commutative, sheet;
    int64_t unit_bytes, total, longest; /* units of all blocks, and of the longest block */
    const struct tern_algorithm *algorithm; /* NULL: no choice yet */
};

/* A plan of unequal blocks, with the numbers that it depends on besides its arguments: counts,
 * displacements and sizes of types, one after the other. The arguments say which of these lists
 * there are. (A communicator's neighbourhood never changes.) */
struct unequal {
    struct tern_plan *plan; /* NULL: none */
    int64_t *numbers;
};

struct tern_plan_cache {
    unsigned param_changes; /* tern_param_changes() when the plans were chosen */
    struct tern_model model, device_model; /* for buffers in host memory, and on devices */
    struct tern_plan *plans[SETS][WAYS]; /* in each set the newest first */
    struct unequal unequal[UNEQUAL_SETS][WAYS]; /* in each set the newest first */
    struct choice choices[CHOICES];
};

static void forget_unequal(struct unequal *kept)
{
    if (kept->plan)
        tern_plan_release(kept->plan);
    free(kept->numbers);
    *kept = (struct unequal){NULL, NULL};
}

static void forget_plans(struct tern_plan_cache *cache)
{
    for (int i = 0; i < SETS * WAYS; i++) {
        struct tern_plan **slot = &cache->plans[i / WAYS][i % WAYS];
        if (*slot)
            tern_plan_release(*slot);
        *slot = NULL;
    }
    for (int i = 0; i < UNEQUAL_SETS * WAYS; i++)
        forget_unequal(&cache->unequal[i / WAYS][i % WAYS]);
    memset(cache->choices, 0, sizeof cache->choices);
}

static uint64_t hash_of(const struct tern_plan_args *args)
{
    uint64_t hash = args->collective + 64 * (uint64_t)args->in_place;
    hash = hash * 0x9e3779b97f4a7c15u + (uint32_t)args->root;
    hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)(args->send_count * args->send_size);
    hash = hash * 0x9e3779b97f4a7c15u + (uint64_t)(args->recv_count * args->recv_size);
    return hash * 0x9e3779b97f4a7c15u;
}

/* Returns the cache. Empties it first if a parameter has changed since the plans were chosen,
 * because other algorithms may be best now. */
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

/* Builds a plan. Its phases are chosen by the cache's model. */
static struct tern_plan *build(const struct tern_plan_cache *cache,
                               const struct tern_algorithm *algorithm, struct tern_plan_args args)
{
    args.model = args.on_device ? &cache->device_model : &cache->model;
    return tern_plan_build(algorithm, &args);
}

static bool same_choice(const struct choice *a, const struct choice *b)
{
    return a->collective == b->collective && a->commutative == b->commutative &&
           a->sheet == b->sheet && a->unit_bytes == b->unit_bytes && a->total == b->total &&
           a->longest == b->longest;
}

/* Returns the algorithm for unequal blocks. Choices are kept because computing prices takes longer
 * than a short call. */
static const struct tern_algorithm *choose_for_blocks(struct tern_plan_cache *cache,
                                                      const struct tern_plan_args *args)
{
    bool priced = args->collective == TERN_ALLGATHERV || args->collective == TERN_REDUCE_SCATTER;
    if (!priced || args->remote_size)
        return tern_plan_choose(args, &cache->model);
    struct choice wanted = {
        args->collective, args->commutative, args->sheet, args->recv_size, 0, 0, NULL};
    for (int r = 0; r < args->size; r++) {
        int64_t count = tern_recv_count(args, r);
        wanted.total += count;
        wanted.longest = count > wanted.longest ? count : wanted.longest;
    }
    uint64_t hash =
        (uint64_t)(wanted.total * wanted.unit_bytes + args->collective) * 0x9e3779b97f4a7c15u;
    struct choice *choice = &cache->choices[hash >> 61]; /* 3 bits: CHOICES */
    if (!choice->algorithm || !same_choice(choice, &wanted)) {
        wanted.algorithm = tern_plan_choose(args, &cache->model);
        *choice = wanted;
    }
    return choice->algorithm;
}

/* --- unequal blocks --- */

/* Returns the number of blocks that are sent; `size` blocks are received. */
static int blocks_out(const struct tern_plan_args *args)
{
    return args->collective < TERN_NEIGHBOR_ALLGATHER ? args->size : args->remote_size;
}

/* Visits the next number of the key: stores it (`keeps`) or compares it with the stored one.
 * Returns false if they differ. */
static inline bool visit(int64_t **at, int64_t number, bool keeps)
{
    if (keeps)
        **at = number;
    return *(*at)++ == number;
}

static inline bool visit_ints(int64_t **at, struct tern_ints ints, int count, int64_t units,
                              bool keeps)
{
    for (int i = 0; ints.values && i < count; i++)
        if (!visit(at, units * tern_ints_at(ints, i), keeps))
            return false;
    return true;
}

/* Visits the sizes of types. Nothing else of the types matters, because each run has its own types.
 * The type of a neighbour that does not exist is NULL. */
static inline bool visit_sizes(int64_t **at, const struct tern_type *const *types, int count,
                               bool keeps)
{
    for (int i = 0; types && i < count; i++)
        if (!visit(at, types[i] ? types[i]->size : 0, keeps))
            return false;
    return true;
}

__attribute__((always_inline)) static inline bool
visit_numbers(int64_t *at, const struct tern_plan_args *args, bool keeps)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    int in = args->size, out = blocks_out(args);
    return visit_ints(&at, blocks->send_counts, out, blocks->send_units, keeps) &&
           visit_ints(&at, blocks->send_displs, out, blocks->send_units, keeps) &&
           visit_ints(&at, blocks->recv_counts, in, blocks->recv_units, keeps) &&
           visit_ints(&at, blocks->recv_displs, in, blocks->recv_units, keeps) &&
           visit_sizes(&at, blocks->send_types, out, keeps) &&
           visit_sizes(&at, blocks->recv_types, in, keeps);
}

/* Returns the set for these arguments. The hash includes some of the numbers, so that calls with a
 * few arrays in turn do not all use one set. */
static struct unequal *unequal_set(struct tern_plan_cache *cache, const struct tern_plan_args *args)
{
    const struct tern_plan_blocks *blocks = args->blocks;
    int in = args->size, out = blocks_out(args);
    uint64_t hash = hash_of(args);
    if (blocks->send_counts.values && out)
        hash += (uint64_t)tern_ints_at(blocks->send_counts, out - 1) * 0x9e3779b97f4a7c15u;
    if (blocks->recv_counts.values && in)
        hash += (uint64_t)tern_ints_at(blocks->recv_counts, in - 1) * 0x9e3779b97f4a7c15u;
    return cache->unequal[hash >> 62]; /* 2 bits: UNEQUAL_SETS */
}

static void keep(struct unequal *set, struct tern_plan *plan)
{
    enum { LISTS = 3 }; /* for each direction: counts, displacements, sizes */
    size_t blocks = (size_t)plan->args.size + (size_t)blocks_out(&plan->args);
    int64_t *numbers = malloc((LISTS * blocks + 1) * sizeof *numbers);
    if (!numbers)
        return;
    visit_numbers(numbers, &plan->args, true);
    forget_unequal(&set[WAYS - 1]);
    memmove(set + 1, set, (WAYS - 1) * sizeof *set);
    set[0] = (struct unequal){plan, numbers};
    plan->refs++;
}

/* Returns a plan for unequal blocks. A plan reads the caller's arrays, also while it runs. So a
 * kept plan gets the arrays of this call, and is reused only while no other run uses it. Phases
 * hold the arrays in their own arguments, so composed plans are not kept. */
static struct tern_plan *get_unequal(struct tern_plan_cache *cache,
                                     const struct tern_plan_args *args)
{
    bool inter = args->remote_size && args->collective < TERN_NEIGHBOR_ALLGATHER;
    if (inter || args->size > MOST_BLOCKS || blocks_out(args) > MOST_BLOCKS)
        return build(cache, choose_for_blocks(cache, args), *args);
    struct unequal *set = unequal_set(cache, args);
    for (int i = 0; i < WAYS && set[i].plan; i++) {
        struct tern_plan *plan = set[i].plan;
        if (memcmp(&plan->args, args, TERN_PLAN_KEY_BYTES) || plan->refs > 1 ||
            !visit_numbers(set[i].numbers, args, false))
            continue;
        plan->args.blocks = args->blocks;
        plan->refs++;
        return plan;
    }
    struct tern_plan *plan = build(cache, choose_for_blocks(cache, args), *args);
    if (plan && !plan->phases)
        keep(set, plan);
    return plan;
}

static inline struct tern_plan *find(struct tern_plan *const *set,
                                     const struct tern_plan_args *args)
{
    for (int i = 0; i < WAYS && set[i]; i++)
        if (!memcmp(&set[i]->asked, args, TERN_PLAN_KEY_BYTES))
            return set[i];
    return NULL;
}

struct tern_plan *tern_plan_get(struct tern_plan_cache **plans, const struct tern_plan_args *args)
{
    struct tern_plan_cache *cache = fresh_cache(plans, args->ranks_per_node);
    if (!cache)
        return NULL;
    if (args->blocks)
        return get_unequal(cache, args);
    struct tern_plan **set = cache->plans[hash_of(args) >> 59]; /* 5 bits: SETS */
    struct tern_plan *plan = find(set, args);
    if (!plan) {
        if (args->on_device)
            cache->device_model =
                tern_model_of_devices(&cache->model, args->topology ? NULL : args->order);
        plan = build(cache,
                     tern_plan_choose(args,
                                      args->on_device ? &cache->device_model : &cache->model),
                     *args);
        if (!plan)
            return NULL;
        if (set[WAYS - 1])
            tern_plan_release(set[WAYS - 1]);
        memmove(set + 1, set, (WAYS - 1) * sizeof *set);
        set[0] = plan;
    }
    plan->refs++;
    return plan;
}

void tern_plan_cache_free(struct tern_plan_cache *cache)
{
    if (!cache)
        return;
    forget_plans(cache);
    free(cache);
}
