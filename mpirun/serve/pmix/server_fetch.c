/* SPDX-License-Identifier: BSD-3-Clause */
#include "mpirun/serve/pmix/server_fetch.h"

#include <pmix_server.h>
#include <stdlib.h>
#include <string.h>

#include "mpirun/serve/pmix/pmix_events.h"

/* Called on PMIx's thread. */
static void fetched(pmix_status_t status, char *data, size_t size, void *object)
{
    struct tern_pmix_event *event = object;
    event->value = status;
    if (size && (event->data = malloc(size))) {
        memcpy(event->data, data, size);
        event->size = size;
    }
    tern_pmix_event_post(event);
}

void tern_server_fetch(const char *nspace, int rank,
                       void (*answer)(void *context, int status, const char *data, size_t size),
                       void *context)
{
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_FETCHED, NULL);
    pmix_proc_t proc = { .rank = rank };
    strncpy(proc.nspace, nspace, PMIX_MAX_NSLEN);
    if (!event) {
        answer(context, PMIX_ERR_NOMEM, NULL, 0);
        return;
    }
    event->answer.fetched = answer;
    event->answer_data = context;
    pmix_status_t status = PMIx_server_dmodex_request(&proc, fetched, event);
    if (status != PMIX_SUCCESS) {
        answer(context, status, NULL, 0);
        free(event);
    }
}
