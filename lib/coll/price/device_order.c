/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Looks for the ring whose worst steps are fewest, then for the fewest of the next kind, and so on.
 * On a bus, which is a tree, such a ring enters and leaves each part of the tree once. Up to
 * EXACT_MOST GPUs all rings are compared (Held and Karp 1962); among more each step goes to the
 * nearest one that is left, which is as good on a tree.
 */
#include "lib/coll/price/device_order.h"

#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

enum { EXACT_MOST = 10, RANKS_MOST = 1024, COUNT_BITS = 10 };

/* What is known of the ranks. */
struct view {
    int32_t size;
    const uint8_t *reach;
    int32_t count;   /* of GPUs */
    int32_t *first;  /* the lowest rank of each GPU */
    int32_t *gpu_of; /* of each rank */
};

static enum tern_gpu_reach reach_of(const struct view *view, int32_t a, int32_t b)
{
    return (enum tern_gpu_reach)view->reach[(int64_t)view->size * a + b];
}

/* Returns the price of a step: more than all steps of better kinds together. */
static uint64_t price(enum tern_gpu_reach reach)
{
    return reach == TERN_GPU_SAME ? 0 : 1ull << COUNT_BITS * (reach - 1);
}

static uint64_t gpu_price(const struct view *view, int a, int b)
{
    return price(reach_of(view, view->first[a], view->first[b]));
}

static void find_gpus(struct view *view)
{
    for (int32_t r = 0; r < view->size; r++) {
        int32_t gpu = 0;
        while (gpu < view->count && reach_of(view, view->first[gpu], r) != TERN_GPU_SAME)
            gpu++;
        if (gpu == view->count)
            view->first[view->count++] = r;
        view->gpu_of[r] = gpu;
    }
}

static void go_to_nearest(const struct view *view, int32_t *order)
{
    for (int i = 0; i < view->count; i++)
        order[i] = i;
    for (int i = 1; i < view->count; i++) {
        int best = i;
        for (int k = i + 1; k < view->count; k++) {
            uint64_t this = gpu_price(view, order[i - 1], order[k]),
                     least = gpu_price(view, order[i - 1], order[best]);
            if (this < least || (this == least && order[k] < order[best]))
                best = k;
        }
        int32_t swap = order[i];
        order[i] = order[best];
        order[best] = swap;
    }
}

/* The best way from GPU 0 through the GPUs of a set (a bit for each but GPU 0) that ends at one of
 * them. */
struct best {
    uint64_t price;
    int32_t before;
};

/* Sets `order` to the cheapest ring. Returns 0 or TERN_ERR_NO_MEM. */
static int compare_all(const struct view *view, int32_t *order)
{
    int n = view->count - 1; /* GPU 0 begins */
    struct best(*table)[EXACT_MOST] = calloc((size_t)1 << n, sizeof *table);
    if (!table)
        return TERN_ERR_NO_MEM;
    for (int set = 1; set < 1 << n; set++)
        for (int last = 0; last < n; last++) {
            int rest = set & ~(1 << last);
            struct best best = {gpu_price(view, 0, last + 1), -1};
            if (rest == set)
                continue;
            for (int k = 0; k < n; k++) {
                uint64_t way = rest >> k & 1
                                   ? table[rest][k].price + gpu_price(view, k + 1, last + 1)
                                   : 0;
                if (rest >> k & 1 && (best.before < 0 || way < best.price))
                    best = (struct best){way, k};
            }
            table[set][last] = best;
        }
    int set = (1 << n) - 1, last = 0;
    for (int k = 1; k < n; k++)
        if (table[set][k].price + gpu_price(view, k + 1, 0) <
            table[set][last].price + gpu_price(view, last + 1, 0))
            last = k;
    order[0] = 0;
    for (int i = n; i > 0; i--) {
        int before = table[set][last].before;
        order[i] = last + 1;
        set &= ~(1 << last);
        last = before;
    }
    free(table);
    return 0;
}

static uint64_t price_of_ring(const struct view *view, const int32_t *rank_at)
{
    uint64_t sum = 0;
    for (int32_t i = 0; i < view->size; i++) {
        int32_t next = i + 1 < view->size ? i + 1 : 0;
        sum += price(reach_of(view, rank_at ? rank_at[i] : i, rank_at ? rank_at[next] : next));
    }
    return sum;
}

/* Places the ranks of each GPU side by side. Forgets the order if that of the ranks is as good. */
static void place_ranks(const struct view *view, const int32_t *gpus,
                        struct tern_device_order *order)
{
    int32_t place = 0;
    for (int i = 0; i < view->count; i++)
        for (int32_t r = 0; r < view->size; r++)
            if (view->gpu_of[r] == gpus[i]) {
                order->rank_at[place] = r;
                order->place_of[r] = place++;
            }
    if (price_of_ring(view, order->rank_at) < price_of_ring(view, NULL))
        return;
    free(order->rank_at);
    free(order->place_of);
    order->rank_at = order->place_of = NULL;
}

/* Finds the groups: of ranks that are joined by better ways than the worst one that there is. */
static void find_groups(const struct view *view, struct tern_device_order *order)
{
    enum tern_gpu_reach far = TERN_GPU_SAME, near = TERN_GPU_SAME;
    int32_t *group = view->first; /* which nobody needs any more */
    for (int32_t a = 0; a < view->size; a++)
        for (int32_t b = 0; b < a; b++)
            far = reach_of(view, a, b) > far ? reach_of(view, a, b) : far;
    order->group = order->size;
    order->near = order->far = (uint8_t)far;
    if (far == TERN_GPU_SAME)
        return;
    for (int32_t r = 0; r < view->size; r++)
        group[r] = r;
    for (int32_t a = 0; a < view->size; a++)
        for (int32_t b = 0; b < a; b++) {
            int32_t from = group[a], to = group[b];
            if (from == to || reach_of(view, a, b) == far)
                continue;
            for (int32_t r = 0; r < view->size; r++)
                group[r] = group[r] == from ? to : group[r];
        }
    int32_t largest = 0;
    for (int32_t a = 0; a < view->size; a++) {
        int32_t count = 0;
        for (int32_t b = 0; b < view->size; b++) {
            count += group[a] == group[b];
            if (group[a] == group[b] && reach_of(view, a, b) > near)
                near = reach_of(view, a, b);
        }
        largest = count > largest ? count : largest;
    }
    if (largest == 1) /* all ways are alike */
        return;
    order->group = largest;
    order->near = (uint8_t)near;
}

static int make(struct view *view, struct tern_device_order *order)
{
    int32_t *gpus = malloc((size_t)view->size * sizeof *gpus);
    if (!gpus)
        return TERN_ERR_NO_MEM;
    find_gpus(view);
    int rc = 0;
    if (view->count > EXACT_MOST || view->count < 3)
        go_to_nearest(view, gpus);
    else
        rc = compare_all(view, gpus);
    if (!rc) {
        place_ranks(view, gpus, order);
        find_groups(view, order);
    }
    free(gpus);
    return rc;
}

int tern_device_order_make(int32_t size, const uint8_t *reach,
                           struct tern_device_order **ret_order)
{
    struct view view = {.size = size, .reach = reach};
    struct tern_device_order *order = calloc(1, sizeof *order);
    size_t bytes = (size_t)size * sizeof(int32_t);
    int rc = TERN_ERR_NO_MEM;
    if (!order)
        return rc;
    *order = (struct tern_device_order){
        .size = size, .group = size, .rank_at = malloc(bytes), .place_of = malloc(bytes)};
    view.first = malloc(bytes);
    view.gpu_of = malloc(bytes);
    if (order->rank_at && order->place_of && view.first && view.gpu_of && size <= RANKS_MOST)
        rc = make(&view, order);
    free(view.first);
    free(view.gpu_of);
    if (rc)
        tern_device_order_free(order);
    else
        *ret_order = order;
    return rc;
}

void tern_device_order_free(struct tern_device_order *order)
{
    if (!order)
        return;
    free(order->rank_at);
    free(order->place_of);
    free(order);
}
