/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/util/net/visitors.h"

#include <string.h>

int tern_visitors_unanswered(const struct tern_visitors *visitors)
{
    int count = 0;
    for (const struct tern_list_node *at = visitors->list->next; at != visitors->list;
         at = at->next)
        count += visitors->standing(at) < TERN_VISITOR_ANSWERED;
    return count;
}

bool tern_visitors_end(const struct tern_visitors *visitors, struct tern_list_node *visitor)
{
    enum tern_standing before = visitors->standing(visitor);
    if (!visitors->hear(visitor))
        return true;
    if (visitors->standing(visitor) != before)
        return false;
    visitors->close(visitor);
    return true;
}

bool tern_visitors_make_room(const struct tern_visitors *visitors)
{
    struct tern_list_node *waits = NULL;
    for (struct tern_list_node *at = visitors->list->next; at != visitors->list; at = at->next) {
        if (visitors->standing(at) == TERN_VISITOR_SILENT && tern_visitors_end(visitors, at))
            return true;
        if (!waits && visitors->standing(at) == TERN_VISITOR_WAITS)
            waits = at;
    }
    if (waits)
        visitors->close(waits);
    return waits != NULL;
}

bool tern_visitors_have_copy(const struct tern_visitors *visitors,
                             const struct tern_list_node *visitor)
{
    const struct tern_hello *hello = visitors->hello(visitor);
    for (const struct tern_list_node *at = visitors->list->next; at != visitors->list;
         at = at->next)
        if (at != visitor && visitors->standing(at) == TERN_VISITOR_ANSWERED &&
            memcmp(visitors->hello(at), hello, sizeof *hello) == 0)
            return true;
    return false;
}
