/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/pml/ids.h"

void tern_ids_init(struct tern_ids *ids, uint32_t least, uint32_t limit,
                   bool (*in_use)(uint32_t number))
{
    *ids = (struct tern_ids){.next = least, .least = least, .limit = limit, .in_use = in_use};
    tern_list_init(&ids->ranges);
}

/* Returns the number after the first obstacle found in first .. first + count - 1, or 0 if all of
 * these numbers are free. */
static uint32_t behind_obstacle(const struct tern_ids *ids, uint32_t first, uint32_t count)
{
    for (const struct tern_list_node *link = ids->ranges.next; link != &ids->ranges;
         link = link->next) {
        const struct tern_id_range *range = TERN_CONTAINER(link, struct tern_id_range, link);
        if (first < range->first + range->count && range->first < first + count)
            return range->first + range->count;
    }
    for (uint32_t number = first; number < first + count; number++)
        if (ids->in_use(number))
            return number + 1;
    return 0;
}

/* Returns the first of `count` free numbers in a row. Returns 0 if two passes over all numbers have
 * found none: from `next` to the end, and from the begin to the end. */
static uint32_t find_free(struct tern_ids *ids, uint32_t count)
{
    uint32_t first = ids->next;
    for (int passes = 0; passes < 2;) {
        if (first > ids->limit - count) {
            passes++;
            ids->wrapped = true;
            first = ids->least;
        }
        uint32_t behind = ids->wrapped ? behind_obstacle(ids, first, count) : 0;
        if (!behind)
            return first;
        first = behind;
    }
    return 0;
}

uint32_t tern_ids_take(struct tern_ids *ids, uint32_t count, struct tern_id_range *range)
{
    uint32_t first = find_free(ids, count);
    if (!first)
        return 0;
    ids->next = first + count;
    if (range) {
        range->first = first;
        range->count = count;
        tern_list_append(&ids->ranges, &range->link);
    }
    return first;
}

void tern_ids_jump(struct tern_ids *ids, uint32_t next)
{
    ids->next = next;
    ids->wrapped = true;
}

void tern_ids_drop(struct tern_id_range *range)
{
    if (range->count)
        tern_list_remove(&range->link);
    range->count = 0;
}
