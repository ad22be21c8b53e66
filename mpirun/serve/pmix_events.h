/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_MPIRUN_SERVE_PMIX_EVENTS_H
#define TERN_MPIRUN_SERVE_PMIX_EVENTS_H

/* What goes on in PMIx's threads, on its way to mpirun's loop: a queue of events, and a descriptor
 * that is readable while the queue is not empty. Everything a rank did before it ended is in the
 * queue when its end is known. */

#include <pmix_server.h>
#include <stddef.h>

#include "mpirun/serve/clients.h"

/* Requests that need an answer, beside what clients have done (enum tern_client_act). */
enum tern_pmix_event_kind {
    TERN_PMIX_FENCE = TERN_CLIENT_REMARKED + 1,
    TERN_PMIX_MODEX,
    TERN_PMIX_PUBLISH,
    TERN_PMIX_LOOKUP,
    TERN_PMIX_UNPUBLISH,
    TERN_PMIX_QUERY,
    TERN_PMIX_EVENT,
    TERN_PMIX_FETCHED,
};

/* Pointers are PMIx's and live until the answer, if no comment says that the event owns them. */
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
    pmix_info_t *own_infos; /* a copy that the handler frees */
    size_t info_count;
    union {
        pmix_op_cbfunc_t done;
        pmix_modex_cbfunc_t modex;
        pmix_lookup_cbfunc_t lookup;
        pmix_info_cbfunc_t info;
        void (*fetched)(void *context, int status, const char *data, size_t size);
    } answer;
    void *answer_data;
    struct tern_pmix_event *next;
};

/* Opens the queue. 0 or TERN_ERR_OTHER. */
int tern_pmix_events_open(void);
/* The descriptor; -1 before the queue is open. */
int tern_pmix_events_fd(void);

/* Makes an event about `proc`, which may be NULL. Returns NULL if there is no memory. On any
 * thread. */
struct tern_pmix_event *tern_pmix_event_new(int kind, const pmix_proc_t *proc);
/* Appends the event, which the queue owns from now on. On any thread. */
void tern_pmix_event_post(struct tern_pmix_event *event);

/* Takes all events out, linked by `next`, oldest first; NULL if there are none. On the loop. */
struct tern_pmix_event *tern_pmix_events_take(void);
void tern_pmix_event_free(struct tern_pmix_event *event);

#endif
