/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_PMIX_EVENTS_H
#define TERN_MPIRUN_SERVE_PMIX_PMIX_EVENTS_H

/* A queue of events from PMIx's threads to mpirun's loop, with a descriptor that is readable while
 * the queue is not empty. When mpirun learns that a rank has ended, the queue already holds
 * everything that the rank did before. */

#include <pmix_server.h>
#include <stddef.h>

#include "mpirun/serve/clients.h"

/* Requests that need an answer. The numbers follow those of enum tern_client_act. */
enum tern_pmix_event_kind {
    TERN_PMIX_FENCE = TERN_CLIENT_ASKED + 1,
    TERN_PMIX_MODEX,
    TERN_PMIX_PUBLISH,
    TERN_PMIX_LOOKUP,
    TERN_PMIX_UNPUBLISH,
    TERN_PMIX_QUERY,
    TERN_PMIX_EVENT,
    TERN_PMIX_FETCHED,
};

/* Pointers belong to PMIx and live until the answer, unless a comment says that the event owns
 * them. */
struct tern_pmix_event {
    int kind; /* an enum tern_client_act or an enum tern_pmix_event_kind */
    pmix_proc_t proc;
    pmix_proc_t *procs; /* owned */
    size_t proc_count;
    pmix_data_range_t range;
    int rank, value;
    char *text; /* owned */
    char *data; /* owned */
    size_t size;
    char **keys;
    const pmix_info_t *infos;
    pmix_info_t *own_infos; /* owned: a copy that the handler frees */
    size_t info_count;
    union {
        pmix_op_cbfunc_t done;
        pmix_modex_cbfunc_t modex;
        pmix_lookup_cbfunc_t lookup;
        pmix_info_cbfunc_t info;
        /* the callback of tern_server_fetch */
        void (*fetched)(void *context, int status, const char *data, size_t size);
    } answer;
    void *answer_data; /* to pass to the callback */
    struct tern_pmix_event *next;
};

/* Opens the queue. 0 or TERN_ERR_OTHER. */
int tern_pmix_events_open(void);
/* Returns the descriptor, or -1 before the queue is open. */
int tern_pmix_events_fd(void);

/* Makes an event about `proc`, which may be NULL. Returns NULL if there is no memory. May be called
 * on any thread. */
struct tern_pmix_event *tern_pmix_event_new(int kind, const pmix_proc_t *proc);
/* Appends the event, which the queue owns from now on. May be called on any thread. Locks the
 * queue. */
void tern_pmix_event_post(struct tern_pmix_event *event);

/* Takes all events out, linked by `next`, oldest first. Returns NULL if there are none. Call it on
 * the loop. Locks the queue. */
struct tern_pmix_event *tern_pmix_events_take(void);
/* Frees the event, its text, data and procs. */
void tern_pmix_event_free(struct tern_pmix_event *event);

#endif
