/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_VISITORS_H
#define TERN_VISITORS_H

/*
 * Which accepted connections (visitors) a listener closes if too many wait. Any process may
 * connect, so strangers must not keep out those that know the secret. All listeners follow one
 * rule:
 *
 * - A visitor is read once more before it is closed, for lack of room or of time. So bytes that
 *   have arrived count, however late the listener reads them.
 * - Those that have sent no whole hello leave first, the oldest before the others: whoever knows
 *   the secret sends its hello as soon as it is connected. Then leave those whose hello cannot be
 *   judged yet.
 * - One whose hello was answered is closed only when its time is up: it may be about to confirm,
 *   and takes no room from others. A stranger may have recorded that hello elsewhere, but each
 *   hello counts once at a time (tern_visitors_have_copy).
 *
 * A visitor that is closed without an answer has lost nothing: it connects again, with another
 * hello.
 */

#include "lib/util/net/handshake.h"
#include "lib/util/base/list.h"

/* How much a visitor has proved. */
enum tern_standing {
    TERN_VISITOR_SILENT,   /* it has sent no whole hello */
    TERN_VISITOR_WAITS,    /* its hello cannot be judged yet */
    TERN_VISITOR_ANSWERED, /* its hello was right, but may be a copy */
    TERN_VISITOR_KNOWN,    /* it has confirmed, or is no visitor: leave it alone */
};

/* How to handle the visitors of one listener. */
struct tern_visitors {
    struct tern_list_node *list; /* the oldest first */
    enum tern_standing (*standing)(const struct tern_list_node *visitor);
    /* Returns the hello of a visitor that has sent a whole one. */
    const struct tern_hello *(*hello)(const struct tern_list_node *visitor);
    /* Reads what the visitor has sent, and acts on it. Returns false if the visitor is freed. */
    bool (*hear)(struct tern_list_node *visitor);
    /* Closes and frees the visitor. */
    void (*close)(struct tern_list_node *visitor);
};

/* Returns the number of visitors whose hello was not answered. */
int tern_visitors_unanswered(const struct tern_visitors *visitors);
/* Closes one visitor, as the rule above says. Returns false if there is none that may be closed. */
bool tern_visitors_make_room(const struct tern_visitors *visitors);
/* Reads a visitor, and closes it unless it has proved more than before. Returns true if the visitor
 * is freed. Call when the visitor's time is up. */
bool tern_visitors_end(const struct tern_visitors *visitors, struct tern_list_node *visitor);
/* Returns true if another visitor that was answered has sent an identical hello: one of the two is
 * a copy. */
bool tern_visitors_have_copy(const struct tern_visitors *visitors,
                             const struct tern_list_node *visitor);

#endif
