/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LIST_H
#define TERN_LIST_H

/* Circular doubly linked list, links embedded in the element. A list head is a link of its own; an
 * empty list points to itself. Nothing allocates. */

#include <stdbool.h>
#include <stddef.h>

struct tern_list_node {
    struct tern_list_node *next, *prev;
};

#define TERN_CONTAINER(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))

static inline void tern_list_init(struct tern_list_node *head)
{
    head->next = head->prev = head;
}

static inline bool tern_list_empty(const struct tern_list_node *head)
{
    return head->next == head;
}

static inline void tern_list_append(struct tern_list_node *head, struct tern_list_node *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* All of `from` becomes the list `to`, which need not be initialised; `from` is empty then. */
static inline void tern_list_move(struct tern_list_node *from, struct tern_list_node *to)
{
    tern_list_init(to);
    if (tern_list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    tern_list_init(from);
}

/* `fresh` takes the place of `link`. */
static inline void tern_list_replace(const struct tern_list_node *link,
                                     struct tern_list_node *fresh)
{
    *fresh = *link;
    fresh->prev->next = fresh->next->prev = fresh;
}

static inline void tern_list_remove(struct tern_list_node *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

#endif
