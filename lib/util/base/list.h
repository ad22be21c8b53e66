/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_LIST_H
#define TERN_LIST_H

/* A circular doubly linked list. Each element contains its link. The list's head is a link too; an
 * empty list's head points to itself. Nothing is allocated. */

#include <stdbool.h>
#include <stddef.h>

/* An element's link, or a list's head. */
struct tern_list_node {
    struct tern_list_node *next, *prev;
};

/* Returns the element of `type` whose `member` is at `link`. */
#define TERN_CONTAINER(link, type, member) ((type *)((char *)(link) - offsetof(type, member)))

/* Makes an empty list. */
static inline void tern_list_init(struct tern_list_node *head)
{
    head->next = head->prev = head;
}

/* Returns true if the list is empty. */
static inline bool tern_list_empty(const struct tern_list_node *head)
{
    return head->next == head;
}

/* Appends `link` at the end of the list. */
static inline void tern_list_append(struct tern_list_node *head, struct tern_list_node *link)
{
    link->prev = head->prev;
    link->next = head;
    head->prev->next = link;
    head->prev = link;
}

/* Moves all elements of `from` to the list `to` and leaves `from` empty. `to` need not be
 * initialised. */
static inline void tern_list_move(struct tern_list_node *from, struct tern_list_node *to)
{
    tern_list_init(to);
    if (tern_list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    tern_list_init(from);
}

/* Puts `fresh` into the list in place of `link`. */
static inline void tern_list_replace(const struct tern_list_node *link,
                                     struct tern_list_node *fresh)
{
    *fresh = *link;
    fresh->prev->next = fresh->next->prev = fresh;
}

/* Takes `link` out of its list. */
static inline void tern_list_remove(struct tern_list_node *link)
{
    link->prev->next = link->next;
    link->next->prev = link->prev;
}

#endif
