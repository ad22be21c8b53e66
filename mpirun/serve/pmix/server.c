/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, on mpirun's loop, the events that PMIx's threads have put into the queue
 * (pmix_callbacks.c).
 *
 * Who may connect: processes of the same user on this host (pmix_gate.c), which must name a
 * registered rank of a registered namespace. Nothing that PMIx tells them is secret.
 *
 * Requests that concern other hosts go through server_exchange.c. */
#include "mpirun/serve/pmix/server.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <pmix.h>
#include <pmix_server.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/util/base/error.h"
#include "lib/util/base/system_calls.h"
#include "mpirun/serve/pmix/pmix_callbacks.h"
#include "mpirun/serve/pmix/pmix_events.h"
#include "mpirun/serve/pmix/pmix_gate.h"
#include "mpirun/serve/pmix/server_data.h"
#include "mpirun/serve/pmix/server_exchange.h"

static struct {
    const struct tern_job *job;
    const struct tern_client_listener *listener;
    struct tern_infos infos; /* of the namespace */
    const char *host_name; /* of this host */
} server;

static void free_infos(void *data)
{
    struct tern_infos *infos = data;
    free(infos->items);
    free(infos);
}

static void answer_query(const struct tern_pmix_event *event)
{
    struct tern_infos *infos = tern_must_alloc(sizeof *infos);
    tern_infos_string(infos, PMIX_QUERY_NAMESPACES, server.job->nspace);
    event->answer.info(PMIX_SUCCESS, infos->items, infos->count, event->answer_data, free_infos,
                       infos);
}

static void handle(struct tern_pmix_event *event)
{
    switch (event->kind) {
    case TERN_PMIX_FENCE:
        tern_exchange_fence(event->procs, event->proc_count, event->data, event->size,
                            event->answer.modex, event->answer_data);
        event->data = NULL;
        break;
    case TERN_PMIX_MODEX:
        tern_exchange_modex(event->rank, event->answer.modex, event->answer_data);
        break;
    case TERN_PMIX_PUBLISH:
        tern_exchange_publish(&event->proc, event->infos, event->info_count, event->answer.done,
                              event->answer_data);
        break;
    case TERN_PMIX_LOOKUP:
        tern_exchange_lookup(event->keys, event->infos, event->info_count, event->answer.lookup,
                             event->answer_data);
        break;
    case TERN_PMIX_UNPUBLISH:
        tern_exchange_unpublish(&event->proc, event->keys, event->answer.done,
                                event->answer_data);
        break;
    case TERN_PMIX_QUERY:
        answer_query(event);
        break;
    case TERN_PMIX_EVENT:
        tern_exchange_event(event->value, &event->proc, event->range, event->own_infos,
                            event->info_count);
        if (event->own_infos)
            PMIX_INFO_FREE(event->own_infos, event->info_count);
        break;
    case TERN_PMIX_FETCHED:
        event->answer.fetched(event->answer_data, event->value, event->data, event->size);
        break;
    default:
        tern_client_tell(server.listener, event->kind, event->rank, event->value, event->text);
        break;
    }
}

int tern_server_fd(void)
{
    return tern_pmix_events_fd();
}

void tern_server_dispatch(void)
{
    struct tern_pmix_event *event = tern_pmix_events_take();
    while (event) {
        struct tern_pmix_event *next = event->next;
        handle(event);
        tern_pmix_event_free(event);
        event = next;
    }
}

static int failed(const char *what, pmix_status_t status)
{
    return tern_error(TERN_ERR_OTHER, "%s: %s (PMIx status %d)", what, PMIx_Error_string(status),
                      status);
}

/* Returns true if a loopback interface is up. A fresh network namespace has none. */
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
        return tern_error(
            TERN_ERR_OTHER,
            "the PMIx server does not start, because other users of this host could connect to it: "
            "libpmix would not call mpirun's accept(). Does LD_PRELOAD load a library that "
            "replaces accept()?");
    int error = tern_system_calls_try(TERN_CALLS_OF_SERVER);
    if (error)
        return error;
    /* The hash store is the one that keeps nothing in files. The server and the ranks must use the
     * same store. */
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
    pmix_status_t status = PMIx_server_init(tern_pmix_callbacks(job), infos.items, infos.count);
    free(infos.items);
    free(name);
    if (status == PMIX_SUCCESS)
        return 0;
    struct rlimit memory;
    if (getrlimit(RLIMIT_AS, &memory) == 0 && memory.rlim_cur != RLIM_INFINITY) {
        char *what = tern_must_format("the PMIx server cannot start; probably the limit of memory, "
                                      "%lu kB (ulimit -v), is too low",
                                      (unsigned long)(memory.rlim_cur / 1024));
        int rc = failed(what, status);
        free(what);
        return rc;
    }
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
    int error = tern_pmix_events_open();
    if (!error)
        error = init_server(job);
    if (!error)
        error = tern_server_describe_job(job, &server.infos);
    if (error)
        return error;
    pmix_status_t status =
        PMIx_server_register_nspace(job->nspace, tern_job_ranks_on(job, job->here),
                                    server.infos.items, server.infos.count, NULL, NULL);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED)
        return failed("PMIx_server_register_nspace", status);
    tern_pmix_watch_ranks();
    return register_ranks(job);
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
