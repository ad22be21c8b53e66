/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx calls us on its own thread, holding its own state: a callback here does nothing but put an
 * event into a queue and write to a descriptor that mpirun's loop watches. The loop takes it out,
 * acts, and answers through the callback that PMIx gave, which hands the answer over to PMIx's
 * thread. What needs no decision (connected, events) is answered by PMIX_OPERATION_SUCCEEDED at
 * once, so that 64 ranks in MPI_Init don't wait for two thread switches each.
 *
 * Who may connect: processes of our own user on this host (pmix_gate.c), which must name a registered
 * rank of a registered namespace. No secret is in what PMIx tells them.
 *
 * What other hosts must take part in or know goes through server_exchange.c.
 */
#include "mpirun/serve/server.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pmix.h>
#include <pmix_server.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "lib/util/error.h"
#include "lib/util/launcher.h"
#include "lib/util/system_calls.h"
#include "mpirun/serve/server_exchange.h"
#include "mpirun/serve/other_library.h"
#include "mpirun/serve/pmix_gate.h"
#include "mpirun/serve/server_data.h"

enum event_kind {
    CONNECTED = TERN_CLIENT_CONNECTED,
    WORLD = TERN_CLIENT_WORLD,
    FINALIZED = TERN_CLIENT_FINALIZED,
    LOST = TERN_CLIENT_LOST,
    ABORTED = TERN_CLIENT_ABORTED,
    CONTROL = TERN_CLIENT_SIGNALLED,
    REMARK = TERN_CLIENT_REMARKED,
    FENCE = TERN_CLIENT_REMARKED + 1,
    MODEX,
    PUBLISH,
    LOOKUP,
    UNPUBLISH,
    QUERY,
    EVENT,
    FETCHED
};

/* Pointers are PMIx's and live until the answer, where nothing else is said.
 * `text` and `data` are ours. */
struct event {
    enum event_kind kind;
    pmix_proc_t proc;
    pmix_proc_t *procs; /* ours */
    size_t proc_count;
    pmix_data_range_t range;
    int rank, value;
    char *text;
    char *data;
    size_t size;
    char **keys;
    const pmix_info_t *infos;
    pmix_info_t *own_infos; /* a copy, of an event */
    size_t info_count;
    union {
        pmix_op_cbfunc_t done;
        pmix_modex_cbfunc_t modex;
        pmix_lookup_cbfunc_t lookup;
        pmix_info_cbfunc_t info;
        void (*fetched)(void *context, int status, const char *data, size_t size);
    } answer;
    void *answer_data;
    struct event *next;
};

static struct {
    const struct tern_job *job;
    const struct tern_client_listener *listener;
    struct tern_infos infos; /* of the namespace */
    const char *host_name; /* ours */
    int event_fd;
    pthread_mutex_t lock; /* of the queue: PMIx's thread appends, mpirun's takes */
    struct event *first, **last;
} server = { .event_fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER, .last = &server.first };

/* ---- on PMIx's thread ---- */

static struct event *new_event(enum event_kind kind, const pmix_proc_t *proc)
{
    struct event *event = calloc(1, sizeof *event);
    if (event) {
        event->kind = kind;
        event->rank = -1;
        if (proc) {
            event->proc = *proc;
            event->rank = (int)proc->rank;
        }
    }
    return event;
}

static void post(struct event *event)
{
    pthread_mutex_lock(&server.lock);
    bool was_empty = !server.first;
    *server.last = event;
    server.last = &event->next;
    pthread_mutex_unlock(&server.lock);
    if (was_empty)
        eventfd_write(server.event_fd, 1);
}

static pmix_status_t client_connected2(const pmix_proc_t *proc, void *object, pmix_info_t infos[],
                                       size_t info_count, pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)infos, (void)info_count, (void)done, (void)data;
    struct event *event = new_event(CONNECTED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    post(event);
    char *warning = tern_foreign_connected((int)proc->rank);
    event = warning ? new_event(REMARK, proc) : NULL;
    if (event) {
        event->value = TERN_REMARK_LIBRARY;
        event->text = warning;
        post(event);
    } else {
        free(warning);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t client_finalized(const pmix_proc_t *proc, void *object, pmix_op_cbfunc_t done,
                                      void *data)
{
    (void)object, (void)done, (void)data;
    struct event *event = new_event(FINALIZED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    post(event);
    return PMIX_OPERATION_SUCCEEDED;
}

/* Not answered at once: the caller of MPI_Abort is to be stopped by us, not to run on meanwhile. */
static pmix_status_t client_aborts(const pmix_proc_t *proc, void *object, int status,
                                   const char message[], pmix_proc_t procs[], size_t proc_count,
                                   pmix_op_cbfunc_t done, void *data)
{
    (void)object, (void)procs, (void)proc_count;
    struct event *event = new_event(ABORTED, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->value = status;
    event->text = message ? strdup(message) : NULL;
    event->answer.done = done;
    event->answer_data = data;
    post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t fence(const pmix_proc_t procs[], size_t proc_count, const pmix_info_t infos[],
                           size_t info_count, char *data, size_t size, pmix_modex_cbfunc_t answer,
                           void *answer_data)
{
    (void)infos, (void)info_count;
    struct event *event = new_event(FENCE, NULL);
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
    post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t direct_modex(const pmix_proc_t *proc, const pmix_info_t infos[],
                                  size_t info_count, pmix_modex_cbfunc_t answer, void *answer_data)
{
    (void)infos, (void)info_count;
    struct event *event = new_event(MODEX, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->answer.modex = answer;
    event->answer_data = answer_data;
    post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t publish(const pmix_proc_t *proc, const pmix_info_t infos[], size_t info_count,
                             pmix_op_cbfunc_t done, void *data)
{
    struct event *event = new_event(PUBLISH, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->infos = infos;
    event->info_count = info_count;
    event->answer.done = done;
    event->answer_data = data;
    post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t lookup(const pmix_proc_t *proc, char **keys, const pmix_info_t infos[],
                            size_t info_count, pmix_lookup_cbfunc_t answer, void *data)
{
    struct event *event = new_event(LOOKUP, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->keys = keys;
    event->infos = infos;
    event->info_count = info_count;
    event->answer.lookup = answer;
    event->answer_data = data;
    post(event);
    return PMIX_SUCCESS;
}

static pmix_status_t unpublish(const pmix_proc_t *proc, char **keys, const pmix_info_t infos[],
                               size_t info_count, pmix_op_cbfunc_t done, void *data)
{
    (void)infos, (void)info_count;
    struct event *event = new_event(UNPUBLISH, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->keys = keys;
    event->answer.done = done;
    event->answer_data = data;
    post(event);
    return PMIX_SUCCESS;
}

/* Events of this host's ranks are spread among them by PMIx itself, and to other hosts by us. */
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
    bool world = code == TERN_LAUNCHER_WORLD;
    bool to_others = !world && server.job->host_count > 1 && range != PMIX_RANGE_LOCAL &&
                     range != PMIX_RANGE_PROC_LOCAL && range != PMIX_RANGE_RM;
    struct event *event = world || to_others ? new_event(world ? WORLD : EVENT, source) : NULL;
    (void)done, (void)data;
    if (!event)
        return PMIX_OPERATION_SUCCEEDED;
    event->value = code;
    event->range = range;
    /* these do not live until an answer */
    if (to_others && info_count) {
        PMIX_INFO_CREATE(event->own_infos, info_count);
        for (size_t i = 0; event->own_infos && i < info_count; i++)
            PMIX_INFO_XFER(&event->own_infos[i], &infos[i]);
        event->info_count = event->own_infos ? info_count : 0;
    }
    post(event);
    return PMIX_OPERATION_SUCCEEDED;
}

static void connection_lost(size_t handler, pmix_status_t code, const pmix_proc_t *source,
                            pmix_info_t infos[], size_t info_count, pmix_info_t *results,
                            size_t result_count, pmix_event_notification_cbfunc_fn_t done,
                            void *data)
{
    (void)handler, (void)code, (void)infos, (void)info_count, (void)results, (void)result_count;
    struct event *event = strcmp(source->nspace, server.job->nspace) ? NULL
                                                                     : new_event(LOST, source);
    if (event)
        post(event);
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, data);
}

/* Signal that a job control request asks for; 0: none we know. */
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
        struct event *event = new_event(CONTROL, all ? NULL : &targets[i]);
        if (!event)
            return PMIX_ERR_NOMEM;
        event->value = number;
        post(event);
    }
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t query(pmix_proc_t *proc, pmix_query_t *queries, size_t query_count,
                           pmix_info_cbfunc_t answer, void *data)
{
    if (query_count != 1 || !queries[0].keys || !queries[0].keys[0] ||
        strcmp(queries[0].keys[0], PMIX_QUERY_NAMESPACES))
        return PMIX_ERR_NOT_SUPPORTED;
    struct event *event = new_event(QUERY, proc);
    if (!event)
        return PMIX_ERR_NOMEM;
    event->answer.info = answer;
    event->answer_data = data;
    post(event);
    return PMIX_SUCCESS;
}

static pmix_server_module_t callbacks = {
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
    .query = query,
    .job_control = job_control,
};

/* ---- on mpirun's loop ---- */

static void free_infos(void *data)
{
    struct tern_infos *infos = data;
    free(infos->items);
    free(infos);
}

static void answer_query(const struct event *event)
{
    struct tern_infos *infos = tern_must_alloc(sizeof *infos);
    tern_infos_string(infos, PMIX_QUERY_NAMESPACES, server.job->nspace);
    event->answer.info(PMIX_SUCCESS, infos->items, infos->count, event->answer_data, free_infos,
                       infos);
}

static void handle(struct event *event)
{
    switch (event->kind) {
    case CONNECTED:
    case WORLD:
    case FINALIZED:
    case LOST:
    case ABORTED:
    case CONTROL:
    case REMARK:
        tern_client_tell(server.listener, event->kind, event->rank, event->value, event->text);
        break;
    case FENCE:
        tern_exchange_fence(event->procs, event->proc_count, event->data, event->size,
                            event->answer.modex, event->answer_data);
        event->data = NULL;
        break;
    case MODEX:
        tern_exchange_modex(event->rank, event->answer.modex, event->answer_data);
        break;
    case PUBLISH:
        tern_exchange_publish(&event->proc, event->infos, event->info_count, event->answer.done,
                              event->answer_data);
        break;
    case LOOKUP:
        tern_exchange_lookup(event->keys, event->infos, event->info_count, event->answer.lookup,
                             event->answer_data);
        break;
    case UNPUBLISH:
        tern_exchange_unpublish(&event->proc, event->keys, event->answer.done,
                                event->answer_data);
        break;
    case QUERY:
        answer_query(event);
        break;
    case EVENT:
        tern_exchange_event(event->value, &event->proc, event->range, event->own_infos,
                            event->info_count);
        if (event->own_infos)
            PMIX_INFO_FREE(event->own_infos, event->info_count);
        break;
    case FETCHED:
        event->answer.fetched(event->answer_data, event->value, event->data, event->size);
        break;
    }
}

int tern_server_fd(void)
{
    return server.event_fd;
}

void tern_server_dispatch(void)
{
    if (server.event_fd < 0)
        return;
    eventfd_t count;
    eventfd_read(server.event_fd, &count);
    pthread_mutex_lock(&server.lock);
    struct event *event = server.first;
    server.first = NULL;
    server.last = &server.first;
    pthread_mutex_unlock(&server.lock);
    while (event) {
        struct event *next = event->next;
        handle(event);
        free(event->text);
        free(event->data);
        free(event->procs);
        free(event);
        event = next;
    }
}

static int failed(const char *what, pmix_status_t status)
{
    return tern_error(TERN_ERR_OTHER, "%s: %s (PMIx status %d)", what, PMIx_Error_string(status),
                      status);
}

/* Missing in a fresh network namespace. */
static bool loopback_is_up(void)
{
    struct ifaddrs *list = NULL;
    bool up = false;
    getifaddrs(&list);
    for (const struct ifaddrs *entry = list; entry; entry = entry->ifa_next)
        up |= (entry->ifa_flags & (IFF_LOOPBACK | IFF_UP)) == (IFF_LOOPBACK | IFF_UP);
    freeifaddrs(list);
    return up;
}

static int init_server(const struct tern_job *job)
{
    if (!tern_pmix_gate_stands())
        return tern_error(TERN_ERR_OTHER,
                          "the PMIx server does not start, because other users of this host could talk to it: "
                          "accept() of this program is not the one that libpmix would call (is a library "
                          "preloaded that replaces it? LD_PRELOAD)");
    int error = tern_system_calls_try(TERN_CALLS_OF_SERVER);
    if (error)
        return error;
    /* The hash store is the one that keeps nothing in files. Both sides must agree on it. */
    setenv("PMIX_MCA_gds", "hash", 1);
    struct tern_infos infos = { 0 };
    pmix_topology_t topology = { .source = "hwloc", .topology = job->topology };
    char *name = tern_must_format("%s-server", job->nspace);
    tern_infos_string(&infos, PMIX_SERVER_TMPDIR, job->session_dir);
    tern_infos_string(&infos, PMIX_SYSTEM_TMPDIR, job->session_dir);
    tern_infos_string(&infos, PMIX_SERVER_NSPACE, name);
    tern_infos_string(&infos, PMIX_HOSTNAME, server.host_name);
    tern_infos_flag(&infos, PMIX_SERVER_TOOL_SUPPORT, false);
    tern_infos_flag(&infos, PMIX_SERVER_REMOTE_CONNECTIONS, false);
    tern_infos_pointer(&infos, PMIX_TOPOLOGY2, PMIX_TOPO, &topology);
    pmix_status_t status = PMIx_server_init(&callbacks, infos.items, infos.count);
    free(infos.items);
    free(name);
    if (status == PMIX_SUCCESS)
        return 0;
    return failed(loopback_is_up() ? "the PMIx server cannot start"
                                   : "the PMIx server cannot start without the loopback "
                                     "interface (ip link set lo up)",
                  status);
}

static int register_ranks(const struct tern_job *job)
{
    for (int rank = 0; rank < job->map->size; rank++) {
        if (job->map->places[rank].host != job->here)
            continue;
        pmix_proc_t proc = { .rank = rank };
        memcpy(proc.nspace, job->nspace, sizeof proc.nspace);
        pmix_status_t status =
            PMIx_server_register_client(&proc, geteuid(), getegid(), NULL, NULL, NULL);
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
            return failed("PMIx_server_register_client", status);
    }
    return 0;
}

int tern_server_start(const struct tern_job *job,
                      const struct tern_client_listener *listener)
{
    server.job = job;
    static char own_name[256];
    gethostname(own_name, sizeof own_name - 1);
    server.host_name = job->here >= 0 ? job->hosts[job->here].name : own_name;
    server.listener = listener;
    server.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (server.event_fd < 0)
        return tern_error(TERN_ERR_OTHER, "eventfd: %s", strerror(errno));
    int error = init_server(job);
    if (!error)
        error = tern_server_describe_job(job, &server.infos);
    if (error)
        return error;
    pmix_status_t status = PMIx_server_register_nspace(
        job->nspace, tern_job_ranks_on(job, job->here), server.infos.items, server.infos.count, NULL, NULL);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        return failed("PMIx_server_register_nspace", status);
    pmix_status_t lost = PMIX_ERR_LOST_CONNECTION;
    PMIx_Register_event_handler(&lost, 1, NULL, 0, connection_lost, NULL, NULL);
    return register_ranks(job);
}

/* On PMIx's thread. */
static void fetched(pmix_status_t status, char *data, size_t size, void *object)
{
    struct event *event = object;
    event->value = status;
    if (size && (event->data = malloc(size))) {
        memcpy(event->data, data, size);
        event->size = size;
    }
    post(event);
}

void tern_server_fetch(int rank,
                       void (*answer)(void *context, int status, const char *data, size_t size),
                       void *context)
{
    struct event *event = new_event(FETCHED, NULL);
    pmix_proc_t proc = { .rank = rank };
    memcpy(proc.nspace, server.job->nspace, sizeof proc.nspace);
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

int tern_server_add_environment(int rank, struct tern_strings *env)
{
    pmix_proc_t proc = { .rank = rank };
    memcpy(proc.nspace, server.job->nspace, sizeof proc.nspace);
    char **added = NULL;
    pmix_status_t status = PMIx_server_setup_fork(&proc, &added);
    if (status != PMIX_SUCCESS)
        return failed("PMIx_server_setup_fork", status);
    for (int i = 0; added && added[i]; i++)
        tern_strings_take(env, added[i]);
    free(added);
    return 0;
}
