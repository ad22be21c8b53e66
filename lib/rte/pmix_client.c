/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The PMIx client. libpmix is loaded by dlopen, so that a program without a launcher neither needs
 * nor pays for it.
 *
 * Servers tell different things about a job: our mpirun, prterun, Open MPI's mpirun and slurmstepd
 * each leave something out. Only the job's size is indispensable; there is a sensible guess for
 * everything else. All questions about the job are answered from what the server gave at PMIx_Init
 * (PMIX_OPTIONAL). A key that the server does not know must not become a question to other nodes.
 *
 * If our launcher is reached by reports (report.c), PMIx is not started until a caller needs it:
 * every function that talks to the server first calls need().
 *
 * The loading macros of pmix_common.h call functions of libpmix, which cannot be linked here. So
 * the few structures needed are filled by hand.
 */

#include "lib/rte/pmix_client.h"

#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <pmix.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024 };

static struct {
    void *library;
    pmix_proc_t self;
    bool connected;
    bool dirty; /* a value was put since the last commit */
    __typeof__(PMIx_Init) *init;
    __typeof__(PMIx_Finalize) *finalize;
    __typeof__(PMIx_Get) *get;
    __typeof__(PMIx_Get_nb) *get_nb;
    __typeof__(PMIx_Put) *put;
    __typeof__(PMIx_Commit) *commit;
    __typeof__(PMIx_Fence) *fence;
    __typeof__(PMIx_Fence_nb) *fence_nb;
    __typeof__(PMIx_Abort) *abort;
    __typeof__(PMIx_Notify_event) *notify;
    __typeof__(PMIx_Error_string) *error_string;
} pmix;

static int open_library(void)
{
    static const struct {
        const char *name;
        void **slot;
    } symbols[] = {
        {"PMIx_Init", (void **)&pmix.init},
        {"PMIx_Finalize", (void **)&pmix.finalize},
        {"PMIx_Get", (void **)&pmix.get},
        {"PMIx_Get_nb", (void **)&pmix.get_nb},
        {"PMIx_Put", (void **)&pmix.put},
        {"PMIx_Commit", (void **)&pmix.commit},
        {"PMIx_Fence", (void **)&pmix.fence},
        {"PMIx_Fence_nb", (void **)&pmix.fence_nb},
        {"PMIx_Abort", (void **)&pmix.abort},
        {"PMIx_Notify_event", (void **)&pmix.notify},
        {"PMIx_Error_string", (void **)&pmix.error_string},
    };

    pmix.library = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!pmix.library)
        return tern_error(TERN_ERR_OTHER,
                          "a launcher started this program (PMIX_NAMESPACE is set), but the PMIx "
                          "library cannot be loaded: "
                          "%s; install it on this host (Debian: libpmix2), or put its directory in "
                          "LD_LIBRARY_PATH",
                          dlerror());
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        *symbols[i].slot = dlsym(pmix.library, symbols[i].name);
        if (!*symbols[i].slot) {
            dlclose(pmix.library);
            pmix.library = NULL;
            return tern_error(TERN_ERR_OTHER, "libpmix.so.2 has no %s; install PMIx 3 or newer",
                              symbols[i].name);
        }
    }
    return 0;
}

static int pmix_failed(const char *what, pmix_status_t status)
{
    return tern_error(TERN_ERR_OTHER, "%s: %s (PMIx status %d)", what, pmix.error_string(status),
                      status);
}

static int need(void);

static void fill_flag(pmix_info_t *info, const char *key)
{
    memset(info, 0, sizeof *info);
    strncpy(info->key, key, PMIX_MAX_KEYLEN);
    info->value.type = PMIX_BOOL;
    info->value.data.flag = true;
}

static void free_value(pmix_value_t *value)
{
    if (value->type == PMIX_STRING)
        free(value->data.string);
    else if (value->type == PMIX_BYTE_OBJECT)
        free(value->data.bo.bytes);
    free(value);
}

/* Returns what the server told about `rank` (or about the job, PMIX_RANK_WILDCARD) when we
 * connected; NULL: nothing. */
static pmix_value_t *ask(pmix_rank_t rank, const char *key)
{
    pmix_proc_t proc;
    pmix_info_t optional;
    pmix_value_t *value = NULL;

    if (need())
        return NULL;
    proc = pmix.self;
    proc.rank = rank;
    fill_flag(&optional, PMIX_OPTIONAL);
    return pmix.get(&proc, key, &optional, 1, &value) == PMIX_SUCCESS ? value : NULL;
}

static bool ask_number(pmix_rank_t rank, const char *key, uint32_t *ret_number)
{
    pmix_value_t *value = ask(rank, key);
    bool found = true;

    if (!value)
        return false;
    switch (value->type) {
    case PMIX_UINT16:
        *ret_number = value->data.uint16;
        break;
    case PMIX_UINT32:
        *ret_number = value->data.uint32;
        break;
    case PMIX_PROC_RANK:
        *ret_number = value->data.rank;
        break;
    case PMIX_INT:
        *ret_number = (uint32_t)value->data.integer;
        break;
    case PMIX_INT32:
        *ret_number = (uint32_t)value->data.int32;
        break;
    case PMIX_UINT64:
        *ret_number = (uint32_t)value->data.uint64;
        break;
    case PMIX_SIZE:
        *ret_number = (uint32_t)value->data.size;
        break;
    default:
        found = false;
    }
    free_value(value);
    return found;
}

static bool ask_string(pmix_rank_t rank, const char *key, char *text, size_t room)
{
    pmix_value_t *value = ask(rank, key);
    bool found = value && value->type == PMIX_STRING && value->data.string &&
                 strlen(value->data.string) < room;

    if (found)
        snprintf(text, room, "%s", value->data.string);
    if (value)
        free_value(value);
    return found;
}

static int compare_ranks(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Reads "0,1,5" into tern_rte.local_ranks. Returns false if it is no such list, or if this rank is
 * not in it. */
static bool parse_local_ranks(const char *list)
{
    size_t room = 1;
    uint32_t count = 0;
    bool found = false;

    for (const char *c = list; *c; c++)
        room += *c == ',';
    uint32_t *ranks = malloc(room * sizeof *ranks);
    if (!ranks)
        return false;
    for (const char *at = list; *at && count < room;) {
        char *end;
        unsigned long rank = strtoul(at, &end, 10);
        if (end == at || rank >= tern_rte.size || (*end && *end != ','))
            break;
        ranks[count++] = (uint32_t)rank;
        found |= rank == tern_rte.rank;
        at = *end ? end + 1 : end;
    }
    if (!found) {
        free(ranks);
        return false;
    }
    qsort(ranks, count, sizeof *ranks, compare_ranks);
    tern_rte.local_ranks = ranks;
    tern_rte.local_size = count;
    return true;
}

static int learn_neighbours(void)
{
    pmix_value_t *peers = ask(PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS);
    bool known = peers && peers->type == PMIX_STRING && peers->data.string &&
                 parse_local_ranks(peers->data.string);

    if (peers)
        free_value(peers);
    if (!known) { /* then we know no rank that shares memory with us */
        tern_rte.local_ranks = &tern_rte.rank;
        tern_rte.local_size = 1;
    }
    for (uint32_t i = 0; i < tern_rte.local_size; i++)
        if (tern_rte.local_ranks[i] == tern_rte.rank)
            tern_rte.local_rank = i;
    return 0;
}

static int learn_job(void)
{
    if (!ask_number(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, &tern_rte.size) ||
        tern_rte.rank >= tern_rte.size)
        return tern_error(TERN_ERR_OTHER,
                          "the launcher's PMIx server does not tell how many ranks job %s has. "
                          "Some servers forget this when the first MPI program of a rank ends",
                          tern_rte.job);
    if (!ask_number(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, &tern_rte.universe_size) ||
        tern_rte.universe_size < tern_rte.size)
        tern_rte.universe_size = tern_rte.size;
    ask_number(pmix.self.rank, PMIX_APPNUM, &tern_rte.appnum);
    ask_string(pmix.self.rank, PMIX_HOSTNAME, tern_rte.host, sizeof tern_rte.host);
    ask_string(PMIX_RANK_WILDCARD, PMIX_NSDIR, tern_rte.session_dir, sizeof tern_rte.session_dir);
    int error = learn_neighbours();
    if (error)
        return error;
    if (!ask_number(PMIX_RANK_WILDCARD, PMIX_NUM_NODES, &tern_rte.node_count) ||
        tern_rte.node_count == 0)
        tern_rte.node_count = tern_rte.local_size == tern_rte.size ? 1 : tern_rte.size;
    if (tern_rte.node_count > 1)
        tern_rte.node = tern_rte.local_ranks[0]; /* as tern_pmix_node does for other nodes */
    else
        ask_number(pmix.self.rank, PMIX_NODEID, &tern_rte.node);
    return 0;
}

/* Lists the open descriptors, at most `room`. Returns how many. */
static int list_descriptors(int *list, int room)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");

    if (!directory)
        return 0;
    for (struct dirent *entry; count < room && (entry = readdir(directory));)
        if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory))
            list[count++] = atoi(entry->d_name);
    closedir(directory);
    return count;
}

/* Sets close-on-exec on libpmix's descriptors. libpmix leaves its socket open in programs that we
 * start, and the launcher would then wait for those after we have ended. */
static void close_on_exec_but(const int *before, int before_count)
{
    int now[DESCRIPTORS], now_count = list_descriptors(now, DESCRIPTORS);

    for (int i = 0; i < now_count; i++) {
        int j = 0;
        while (j < before_count && before[j] != now[i])
            j++;
        if (j == before_count)
            fcntl(now[i], F_SETFD, FD_CLOEXEC);
    }
}

static int connect_to_server(void)
{
    int before[DESCRIPTORS];
    int before_count = list_descriptors(before, DESCRIPTORS);
    /* PMIx's own thread must not take the program's signals */
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &mask);
    pmix_status_t status = pmix.init(&pmix.self, NULL, 0);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (before_count < DESCRIPTORS)
        close_on_exec_but(before, before_count);
    if (status != PMIX_SUCCESS)
        return pmix_failed(status == PMIX_ERR_UNREACH
                               ? "cannot connect to the launcher's PMIx server. Does the launcher "
                                 "that set PMIX_NAMESPACE in the environment still run, and does "
                                 "it belong to the same user?"
                               : "the PMIx client cannot start (is the number of threads or open "
                                 "files limited? See ulimit -u and ulimit -n)",
                           status);
    pmix.connected = true;
    return 0;
}

int tern_pmix_connect(void)
{
    int error = pmix.library ? 0 : open_library();
    return error ? error : connect_to_server();
}

/* Starts PMIx if this rank has only used reports so far. Any thread may call. */
static int need(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&lock);
    int error = pmix.connected ? 0 : tern_pmix_connect();
    pthread_mutex_unlock(&lock);
    return error;
}

int tern_pmix_start(void)
{
    int error = tern_pmix_connect();
    if (error)
        return error;
    _Static_assert(sizeof tern_rte.job >= sizeof pmix.self.nspace, "a PMIx namespace fits");
    memcpy(tern_rte.job, pmix.self.nspace, sizeof pmix.self.nspace);
    tern_rte.rank = pmix.self.rank;
    return learn_job();
}

int tern_pmix_stop(void)
{
    if (!pmix.connected)
        return 0;
    pmix.connected = false;
    pmix_status_t status = pmix.finalize(NULL, 0);
    return status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Finalize", status);
}

/* Finds the lowest number of a list such as "4,5,6". */
static bool lowest_of(const char *list, uint32_t *ret_lowest)
{
    uint32_t lowest = UINT32_MAX;
    for (const char *at = list; *at >= '0' && *at <= '9'; at += *at == ',') {
        char *end;
        unsigned long rank = strtoul(at, &end, 10);
        lowest = rank < lowest ? (uint32_t)rank : lowest;
        at = end;
    }
    *ret_lowest = lowest;
    return lowest != UINT32_MAX;
}

/* The lowest rank of a node stands for the node: PMIx 4 does not tell the numbers of other nodes,
 * but it tells which ranks a named host has. */
bool tern_pmix_node(uint32_t rank, uint32_t *ret_node)
{
    char host[256];
    pmix_info_t infos[3];
    pmix_value_t *value = NULL;

    if (tern_rte.node_count <= 1) {
        *ret_node = tern_rte.node;
        return rank < tern_rte.size;
    }
    if (!ask_string(rank, PMIX_HOSTNAME, host, sizeof host))
        return false;
    fill_flag(&infos[0], PMIX_OPTIONAL);
    fill_flag(&infos[1], PMIX_NODE_INFO);
    fill_flag(&infos[2], PMIX_HOSTNAME);
    infos[2].value.type = PMIX_STRING;
    infos[2].value.data.string = host;
    pmix_proc_t proc = pmix.self;
    proc.rank = PMIX_RANK_WILDCARD;
    if (pmix.get(&proc, PMIX_LOCAL_PEERS, infos, 3, &value) != PMIX_SUCCESS || !value)
        return false;
    bool found = value->type == PMIX_STRING && value->data.string &&
                 lowest_of(value->data.string, ret_node);
    free_value(value);
    return found;
}

bool tern_pmix_place(uint32_t rank, uint32_t *ret_node, char *ret_locality, size_t room)
{
    if (!tern_pmix_node(rank, ret_node))
        return false;
    if (!ask_string(rank, PMIX_LOCALITY_STRING, ret_locality, room))
        ret_locality[0] = 0;
    return true;
}

int tern_pmix_put(const char *key, const void *value, size_t length)
{
    pmix_value_t wrapped;

    int error = need();
    if (error)
        return error;
    memset(&wrapped, 0, sizeof wrapped);
    wrapped.type = PMIX_BYTE_OBJECT;
    wrapped.data.bo.bytes = (char *)value; /* PMIx copies it */
    wrapped.data.bo.size = length;
    pmix_status_t status = pmix.put(PMIX_GLOBAL, key, &wrapped);
    if (status != PMIX_SUCCESS)
        return pmix_failed("PMIx_Put", status);
    pmix.dirty = true;
    return 0;
}

int tern_pmix_commit(void)
{
    pmix_status_t status = pmix.dirty ? pmix.commit() : PMIX_SUCCESS;
    pmix.dirty = pmix.dirty && status != PMIX_SUCCESS;
    return status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Commit", status);
}

int tern_pmix_fence(bool collect)
{
    pmix_info_t info;
    int error = need();
    if (!error)
        error = tern_pmix_commit();
    if (error)
        return error;
    pmix_proc_t everybody = pmix.self;
    everybody.rank = PMIX_RANK_WILDCARD;
    fill_flag(&info, PMIX_COLLECT_DATA);
    pmix_status_t status = pmix.fence(&everybody, 1, &info, collect ? 1 : 0);
    return status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Fence", status);
}

/* Result of the fence that tern_pmix_fence_start has begun, or FENCE_WAITS. PMIx's own thread
 * writes it. */
enum { FENCE_WAITS = 1 };
static int fence_status;
static void (*fence_notify)(void);

static void fence_done(pmix_status_t status, void *object)
{
    (void)object;
    __atomic_store_n(&fence_status, status, __ATOMIC_RELEASE);
    fence_notify();
}

int tern_pmix_fence_start(void (*notify)(void))
{
    int error = need();
    if (!error)
        error = tern_pmix_commit();
    if (error)
        return error;
    pmix_proc_t everybody = pmix.self;
    everybody.rank = PMIX_RANK_WILDCARD;
    fence_status = FENCE_WAITS;
    fence_notify = notify;
    pmix_status_t status = pmix.fence_nb(&everybody, 1, NULL, 0, fence_done, NULL);
    if (status == PMIX_OPERATION_SUCCEEDED)
        fence_status = status = PMIX_SUCCESS;
    return status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Fence_nb", status);
}

bool tern_pmix_fence_test(int *ret_error)
{
    int status = __atomic_load_n(&fence_status, __ATOMIC_ACQUIRE);
    if (status == FENCE_WAITS)
        return false;
    *ret_error = status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Fence_nb", status);
    return true;
}

int tern_pmix_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length)
{
    pmix_value_t *value = NULL;
    int error = need();
    if (error)
        return error;
    pmix_proc_t proc = pmix.self;
    proc.rank = rank;
    pmix_status_t status = pmix.get(&proc, key, NULL, 0, &value);
    if (status != PMIX_SUCCESS)
        return tern_error(TERN_ERR_OTHER, "rank %u has not published %s: %s", rank, key,
                          pmix.error_string(status));
    if (value->type != PMIX_BYTE_OBJECT) {
        free_value(value);
        return tern_error(TERN_ERR_OTHER, "rank %u has published %s as PMIx type %d, not as bytes",
                          rank, key, value->type);
    }
    *ret_value = value->data.bo.bytes;
    *ret_length = value->data.bo.size;
    free(value);
    return 0;
}

bool tern_pmix_recall(const char *key, void **ret_value, size_t *ret_length)
{
    pmix_info_t immediate;
    pmix_value_t *value = NULL;

    if (need())
        return false;
    fill_flag(&immediate, PMIX_IMMEDIATE);
    if (pmix.get(&pmix.self, key, &immediate, 1, &value) != PMIX_SUCCESS || !value)
        return false;
    bool found = value->type == PMIX_BYTE_OBJECT;
    if (!found) {
        free_value(value);
        return false;
    }
    *ret_value = value->data.bo.bytes;
    *ret_length = value->data.bo.size;
    free(value);
    return true;
}

/* Called by PMIx's thread when a fetch completes. PMIx owns `value`. */
static void fetched(pmix_status_t status, pmix_value_t *value, void *object)
{
    struct tern_rte_fetch *fetch = object;
    void (*notify)(void) = fetch->notify;
    fetch->error = TERN_ERR_OTHER;
    if (status != PMIX_SUCCESS || !value || value->type != PMIX_BYTE_OBJECT)
        snprintf(fetch->text, sizeof fetch->text, "%s",
                 status == PMIX_SUCCESS ? "the value has another type than "
                                          "bytes" : pmix.error_string(status));
    else if (!(fetch->value = malloc(value->data.bo.size + 1)))
        snprintf(fetch->text, sizeof fetch->text, "no memory");
    else {
        memcpy(fetch->value, value->data.bo.bytes, value->data.bo.size);
        fetch->length = value->data.bo.size;
        fetch->error = 0;
    }
    __atomic_store_n(&fetch->done, true, __ATOMIC_RELEASE); /* from here on `fetch` may be gone */
    if (notify)
        notify();
}

/* PMIx 5 reads the key and the directive until it calls fetched(): both must stay in place. PMIx 4
 * copies the key. */
int tern_pmix_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch)
{
    static const pmix_info_t refresh = {.key = PMIX_GET_REFRESH_CACHE,
                                        .value = {.type = PMIX_BOOL, .data.flag = true}};
    int error = need();
    if (error)
        return error;
    pmix_proc_t proc = pmix.self; /* every PMIx copies it */
    proc.rank = rank;
    snprintf(fetch->key, sizeof fetch->key, "%s", key);
    pmix_status_t status = pmix.get_nb(&proc, fetch->key, &refresh, anew, fetched, fetch);
    return status == PMIX_SUCCESS ? 0 : pmix_failed("PMIx_Get_nb", status);
}

bool tern_pmix_host(uint32_t rank, char *name, size_t room)
{
    return ask_string(rank, PMIX_HOSTNAME, name, room);
}

static void told(pmix_status_t status, void *object)
{
    (void)status, (void)object;
}

void tern_pmix_tell(int event)
{
    pmix.notify(event, &pmix.self, PMIX_RANGE_NAMESPACE, NULL, 0, told, NULL);
}

void tern_pmix_abort(int status)
{
    if (pmix.connected)
        pmix.abort(status, "", NULL, 0);
}
