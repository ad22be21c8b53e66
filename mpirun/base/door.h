/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_BASE_DOOR_H
#define TERN_MPIRUN_BASE_DOOR_H

/* A port of mpirun's at which any process may knock. Visitors that have not proved that they know a
 * secret have limited time and room, by the rule of lib/util/net/visitors.h. All functions run on
 * the loop. */

#include "lib/util/net/visitors.h"
#include "mpirun/base/loop.h"

/* A connection. The first member of the struct that the door's owner makes for it, zeroed. */
struct tern_visit {
    struct tern_list_node node;
    struct tern_watch watch; /* `fd` is the connection */
    struct tern_timer limit;
    struct tern_door *door;
};

/* What the owner of a door does with its visitors. */
struct tern_door_keeper {
    /* Makes the struct for a connection. Returns NULL if it is not to be let in; the door then
     * closes it. */
    struct tern_visit *(*receive)(int fd);
    enum tern_standing (*standing)(const struct tern_visit *visit);
    /* Returns the hello of a visitor that has sent a whole one. */
    const struct tern_hello *(*hello)(const struct tern_visit *visit);
    /* Reads what the visitor has sent, and acts on it. Returns false if it has ended the visit. */
    bool (*hear)(struct tern_visit *visit);
    /* Ends the visit: tern_visit_end, and frees the struct. */
    void (*close)(struct tern_visit *visit);
};

struct tern_door {
    const struct tern_door_keeper *keeper;
    int strangers; /* the number of visitors without an answer that have room */
    /* the rest belongs to door.c */
    struct tern_watch watch;
    struct tern_rest rest;
    struct tern_list_node visits; /* the oldest first */
    struct tern_visitors rule;
};

/* Accepts connections at the listening socket `fd`, which the door owns then. Each has a minute to
 * send its hello. Returns 0, or -1 with errno. */
int tern_door_open(struct tern_door *door, int fd);
/* Ends all visits, and closes the socket. */
void tern_door_close(struct tern_door *door);

/* Gives the visitor another minute: its hello was answered. */
void tern_visit_renew(struct tern_visit *visit);
/* Returns true if another visitor that was answered has sent an identical hello: one of the two is
 * a copy. */
bool tern_visit_has_copy(const struct tern_visit *visit);
/* Forgets the visit. Does not close the connection, nor free the struct. */
void tern_visit_end(struct tern_visit *visit);

#endif
