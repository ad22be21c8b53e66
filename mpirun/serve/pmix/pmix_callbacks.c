/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx holds its own state while it calls these functions, so they only put an event into a queue
 * (pmix_events.h). mpirun's loop takes the event out, acts, and answers through the callback that
 * PMIx gave; that callback hands the answer over to PMIx's thread. Requests that need no decision
 * (connected, events) are answered at once by PMIX_OPERATION_SUCCEEDED, so that 64 ranks in
 * MPI_Init do not wait for two thread switches each. */
#include "mpirun/serve/pmix/pmix_callbacks.h"

#include <pmix.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "lib/util/net/launcher.h"
#include "mpirun/base/strings.h"
#include "mpirun/serve/other_library.h"
#include "mpirun/serve/pmix/pmix_events.h"

static const struct tern_job *callbacks_of;

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *object, pmix_info_t infos[],
                                       size_t info_count, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)infos, (void)info_count, (void)done, (void)data;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_CLIENT_CONNECTED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    tern_pmix_event_post(event);
    char *warning = tern_foreign_connected((int)proc->rank);
    event = warning ? tern_pmix_event_new(TERN_CLIENT_REMARKED, proc) : NULL;
    if (event) {
        event->value = TERN_REMARK_LIBRARY;
        event->text = warning;
        tern_pmix_event_post(event);
    } else {
        free(warning);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                      void *data)
{
    (void)object, (void)done, (void)data;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_CLIENT_FINALIZED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    tern_pmix_event_post(event);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Not answered at once: mpirun stops the caller of MPI_Abort, which must not run on meanwhile. */
static pmix_status_t client_aborts(const pmix_proc_t *proc, void *object, int status,
                                   const char message[], pmix_proc_t procs[], size_t proc_count,
                                   pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)procs, (void)proc_count;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_CLIENT_ABORTED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->value = status;
    event->text = message ? strdup(message) : NULL;
    event->answer.done = done;
    event->answer_data = data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t infos[],
                           size_t info_count, char *data, size_t size, pmix_modex_cbfunc_t answer,
                           void *answer_data)
{
    (void)infos, (void)info_count;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_FENCE, NULL);
    if (event && ((size && !(event->data = malloc(size))) ||
                  !(event->procs = malloc(proc_count * sizeof *procs)))) {
        free(event->data);
        free(event);
        event = NULL;
    }
    if (!event)
        return PMIX_ERR_NOMEM;
    if (size)
        memcpy(event->data, data, size);
    memcpy(event->procs, procs, proc_count * sizeof *procs);
    event->proc_count = proc_count;
    event->size = size;
    event->answer.modex = answer;
    event->answer_data = answer_data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t infos[],
                                  size_t info_count, pmix_modex_cbfunc_t answer, void *answer_data)
{
    (void)infos, (void)info_count;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_MODEX, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->answer.modex = answer;
    event->answer_data = answer_data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t infos[], size_t info_count,
                             pmix_op_cbfunc_t done, void *data)
{
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_PUBLISH, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->infos = infos;
    event->info_count = info_count;
    event->answer.done = done;
    event->answer_data = data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t infos[],
                            size_t info_count, pmix_lookup_cbfunc_t answer, void *data)
{
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_LOOKUP, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->keys = keys;
    event->infos = infos;
    event->info_count = info_count;
    event->answer.lookup = answer;
    event->answer_data = data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t infos[],
                               size_t info_count, pmix_op_cbfunc_t done, void *data)
{
    (void)infos, (void)info_count;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_UNPUBLISH, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->keys = keys;
    event->answer.done = done;
    event->answer_data = data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

/* PMIx itself passes events on among this host's ranks; notify_event passes them to other hosts. */
static pmix_status_t register_events(pmix_status_t *codes, size_t code_count,
                                     const pmix_info_t infos[], size_t info_count,
                                     pmix_op_cbfunc_t done, void *data)
{
    (void)codes, (void)code_count, (void)infos, (void)info_count, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t deregister_events(pmix_status_t *codes, size_t code_count,
                                       pmix_op_cbfunc_t done, void *data)
{
    (void)codes, (void)code_count, (void)done, (void)data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t notify_event(pmix_status_t code, const pmix_proc_t *source,
                                  pmix_data_range_t range, pmix_info_t infos[], size_t info_count,
                                  pmix_op_cbfunc_t done, void *data)
{
    bool to_others = callbacks_of->host_count > 1 && code != TERN_LAUNCHER_WORLD &&
                     range != PMIX_RANGE_LOCAL && range != PMIX_RANGE_PROC_LOCAL &&
                     range != PMIX_RANGE_RM;
    struct tern_pmix_event *event =
        to_others ? tern_pmix_event_new(TERN_PMIX_EVENT, source) : NULL;
    (void)done, (void)data;
    if (!event)
        return PMIX_OPERATION_SUCCEEDED;
    event->value = code;
    event->range = range;
    /* PMIx does not keep these until the answer, so copy them */
    if (info_count) {
        PMIX_INFO_CREATE(event->own_infos, info_count);
        for (size_t i = 0; event->own_infos && i < info_count; i++)
            PMIX_INFO_XFER(&event->own_infos[i], &infos[i]);
        event->info_count = event->own_infos ? info_count : 0;
    }
    tern_pmix_event_post(event);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Called by PMIx: it has lost the connection of a rank, or the rank says that it is in MPI_Init. */
static void heard_of_rank(size_t handler, pmix_status_t code, const pmix_proc_t *source,
                          pmix_info_t infos[], size_t info_count, pmix_info_t *results,
                          size_t result_count, pmix_event_notification_cbfunc_fn_t done, void *data)
{
    (void)handler, (void)infos, (void)info_count, (void)results, (void)result_count;
    int kind = code == TERN_LAUNCHER_WORLD ? TERN_CLIENT_WORLD : TERN_CLIENT_LOST;
    struct tern_pmix_event *event = strcmp(source->nspace, callbacks_of->nspace)
                                        ? NULL
                                        : tern_pmix_event_new(kind, source);
    if (event)
        tern_pmix_event_post(event);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Returns the signal that a job control request asks for, or 0 if it asks for something else. */
static int requested_signal(const pmix_info_t directives[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *key = directives[i].key;
        if (strcmp(key, PMIX_JOB_CTRL_KILL) == 0)
            return SIGKILL;
        if (strcmp(key, PMIX_JOB_CTRL_TERMINATE) == 0)
            return SIGTERM;
        if (strcmp(key, PMIX_JOB_CTRL_PAUSE) == 0)
            return SIGSTOP;
        if (strcmp(key, PMIX_JOB_CTRL_RESUME) == 0)
            return SIGCONT;
        if (strcmp(key, PMIX_JOB_CTRL_SIGNAL) == 0 && directives[i].value.type == PMIX_INT)
            return directives[i].value.data.integer;
    }
    return 0;
}

static pmix_status_t job_control(const pmix_proc_t *requestor, const pmix_proc_t targets[],
                                 size_t target_count, const pmix_info_t directives[],
                                 size_t directive_count, pmix_info_cbfunc_t answer, void *data)
{
    (void)requestor, (void)answer, (void)data;
    int number = requested_signal(directives, directive_count);
    if (number <= 0 || number >= NSIG)
        return PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; i < (target_count ? target_count : 1); i++) {
        bool all = target_count == 0 || targets[i].rank == PMIX_RANK_WILDCARD;
        struct tern_pmix_event *event =
            tern_pmix_event_new(TERN_CLIENT_SIGNALLED, all ? NULL : &targets[i]);
        if (!event)
            return PMIX_ERR_NOMEM;
        event->value = number;
        tern_pmix_event_post(event);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

/* Tern's ranks ask in another way (lib/util/net/question.h). A rank that asks by PMIx has another
 * library, whose processes connect by calls that this server does not have. */
static pmix_status_t spawn(const pmix_proc_t *proc, const pmix_info_t job[], size_t job_count,
                           const pmix_app_t apps[], size_t app_count, pmix_spawn_cbfunc_t answer,
                           void *data)
{
    (void)job, (void)job_count, (void)apps, (void)app_count, (void)answer, (void)data;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_CLIENT_REMARKED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->value = TERN_REMARK_SPAWN;
    event->text = tern_must_copy("it asks by PMIx_Spawn for further processes and gets "
                                 "PMIX_ERR_NOT_SUPPORTED: this mpirun starts them only for "
                                 "programs that run on Tern's MPI library, by MPI_Comm_spawn");
    tern_pmix_event_post(event);
    return PMIX_ERR_NOT_SUPPORTED;
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t query_count,
                           pmix_info_cbfunc_t answer, void *data)
{
    if (query_count != 1 || !queries[0].keys || !queries[0].keys[0] ||
        strcmp(queries[0].keys[0], PMIX_QUERY_NAMESPACES))
        return PMIX_ERR_NOT_SUPPORTED;
    struct tern_pmix_event *event = tern_pmix_event_new(TERN_PMIX_QUERY, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->answer.info = answer;
    event->answer_data = data;
    tern_pmix_event_post(event);
    return PMIX_SUCCESS;
}

static pmix_server_module_t module = {
    .client_connected2 = client_connected2,
    .client_finalized = client_finalized,
    .abort = client_aborts,
    .fence_nb = fence,
    .direct_modex = direct_modex,
    .publish = publish,
    .lookup = lookup,
    .unpublish = unpublish,
    .register_events = register_events,
    .deregister_events = deregister_events,
    .notify_event = notify_event,
    .spawn = spawn,
    .query = query,
    .job_control = job_control,
};

pmix_server_module_t *tern_pmix_callbacks(const struct tern_job *job)
{
    callbacks_of = job;
    return &module;
}

/* PMIx 4.0 calls notify_event for no event of a rank; a handler is called in every version. Its
 * word for a lost connection is PMIX_ERR_UNREACH. */
void tern_pmix_watch_ranks(void)
{
    pmix_status_t codes[] = {PMIX_ERR_LOST_CONNECTION, PMIX_ERR_UNREACH, TERN_LAUNCHER_WORLD};
    PMIx_Register_event_handler(codes, 3, NULL, 0, heard_of_rank, NULL, NULL);
}
