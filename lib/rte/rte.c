/* SPDX-License-Identifier: BSD-3-Clause */

/* Who am I: what the launcher says (lib/rte/pmix_client.c), or, without one, a job of one rank. */

#include "config.h"

#include "lib/rte/rte.h"

#include "lib/rte/node_memory.h"
#include "lib/rte/pmix_client.h"
#include "lib/rte/report.h"
#include "lib/util/error.h"
#include "lib/util/launcher.h"
#include "lib/util/log.h"
#include "lib/util/node_list.h"
#include "lib/util/param.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct tern_rte tern_rte = {.node_memory_fd = -1};

/* One value of a singleton, put and to be got again by itself. */
struct put_value {
    struct put_value *next;
    size_t length;
    char *key;
    char bytes[];
};
static struct put_value *own_values;

static bool known; /* tern_rte is filled in */

/* Nodes of the ranks, in a job of several. Another launcher than ours is asked when one is wanted; threads that ask at the same
 * time find the same. */
enum { NOT_ASKED = -2 };
static int32_t *nodes;

static int make_nodes(void)
{
    if (tern_rte.node_count < 2)
        return 0;
    nodes = malloc(tern_rte.size * sizeof *nodes);
    if (!nodes)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the nodes of %u ranks", tern_rte.size);
    char *list = tern_pmix_job_text(TERN_LAUNCHER_NODES); /* of our launcher */
    if (!list || !tern_node_list_read(list, tern_rte.size, nodes))
        for (uint32_t r = 0; r < tern_rte.size; r++)
            nodes[r] = NOT_ASKED;
    free(list);
    return 0;
}

int64_t tern_rte_node_of(uint32_t rank)
{
    if (tern_rte_local_rank(rank) >= 0)
        return tern_rte.node;
    if (!nodes || rank >= tern_rte.size)
        return -1;
    int32_t node = __atomic_load_n(&nodes[rank], __ATOMIC_RELAXED);
    uint32_t told;
    if (node == NOT_ASKED) {
        node = tern_pmix_node(rank, &told) ? (int32_t)told : -1;
        __atomic_store_n(&nodes[rank], node, __ATOMIC_RELAXED);
    }
    return node;
}

/* Whoever forgets --mpi=pmix gets as many jobs as ranks were wanted, and perhaps wrong results without a word. */
static void warn_of_bare_srun(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *task = getenv("SLURM_PROCID");
    if (getenv("SLURM_STEP_ID") && tasks && atoi(tasks) > 1 && task && strcmp(task, "0") == 0)
        tern_log("srun has started %s tasks, each of which is an MPI job of one rank by itself; "
                 "for one job of %s ranks say srun --mpi=pmix, or use mpirun",
                 tasks, tasks);
}

static int become_singleton(void)
{
    warn_of_bare_srun();
    snprintf(tern_rte.job, sizeof tern_rte.job, "singleton.%ld", (long)getpid());
    tern_rte.size = tern_rte.local_size = tern_rte.node_count = tern_rte.universe_size = 1;
    tern_rte.local_ranks = calloc(1, sizeof *tern_rte.local_ranks);
    return tern_rte.local_ranks
               ? 0
               : tern_error(TERN_ERR_NO_MEM, "no memory for the list of local ranks");
}

/* A launcher of another version than ours may do what we don't know; better said than met later as
 * a riddle. */
static int check_version(void)
{
    const char *version = getenv("TERN_VERSION");
    if (version && strcmp(version, PACKAGE_VERSION) != 0)
        return tern_error(TERN_ERR_OTHER,
                          "this mpirun is version %s, this libmpi is %s: use the ones that belong "
                          "together (look at PATH and "
                          "LD_LIBRARY_PATH)",
                          version, PACKAGE_VERSION);
    return 0;
}

/* Under our launcher all ranks of the node have the same memory, and make none of their own: the
 * others would not hear of it. */
static int find_node_memory(void)
{
    const char *text = getenv("TERN_NODE_MEMORY"), *path = getenv("TERN_NODE_MEMORY_PATH");

    if (!tern_rte_adopt_node_memory(text, path, &tern_rte.node_memory_fd,
                                    &tern_rte.node_memory_size) &&
        tern_rte_gives_node_memory(tern_rte.job) && tern_rte.local_size > 1)
        return tern_error(TERN_ERR_OTHER,
                          "the memory that mpirun made for the ranks of this node is out of reach: "
                          "whatever starts this program has closed its descriptor and hides "
                          "mpirun's (%s), or has changed TERN_NODE_MEMORY (now `%s`)",
                          path ? path : "TERN_NODE_MEMORY_PATH is not set", text ? text : "");
    return 0;
}

/* Where our launcher wants no more than reports, PMIx waits until somebody asks for what it knows. */
static int learn(void)
{
    if (!tern_rte.managed)
        return become_singleton();
    return tern_report_learn() && tern_report_open() ? 0 : tern_pmix_start();
}

static int connect_again(void)
{
    return !tern_rte.managed || tern_report_open() ? 0 : tern_pmix_connect();
}

int tern_rte_init(void)
{
    char name[64 + sizeof tern_rte.host];

    if (known)
        return connect_again();
    if (gethostname(tern_rte.host, sizeof tern_rte.host - 1) != 0)
        strcpy(tern_rte.host, "localhost");
    tern_rte.managed = getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
    int error = tern_rte.managed ? check_version() : 0;
    if (!error)
        error = learn();
    if (error)
        return error;
    error = tern_rte.managed ? find_node_memory() : 0;
    if (!error)
        error = make_nodes();
    if (error)
        return error;
    tern_rte.cpus = tern_rte_cpus();
    snprintf(name, sizeof name, "tern: rank %u on host %s", tern_rte.rank, tern_rte.host);
    tern_log_name(name);
    known = true;
    return 0;
}

static void forget_own_values(void)
{
    while (own_values) {
        struct put_value *next = own_values->next;
        free(own_values->key);
        free(own_values);
        own_values = next;
    }
}

void tern_rte_tell_world(void)
{
    if (tern_report_is_open())
        tern_report_world();
    else if (tern_rte.managed && tern_rte_gives_node_memory(tern_rte.job))
        tern_pmix_tell(TERN_LAUNCHER_WORLD);
}

int tern_rte_meet(void (*notify)(void))
{
    return tern_rte.managed ? tern_pmix_fence_start(notify) : 0;
}

bool tern_rte_has_met(int *ret_error)
{
    *ret_error = 0;
    return !tern_rte.managed || tern_pmix_fence_test(ret_error);
}

int tern_rte_finalize(void)
{
    forget_own_values();
    int error = tern_pmix_stop();
    tern_report_close();
    return error;
}

static int put_own_value(const char *key, const void *value, size_t length)
{
    struct put_value *entry = malloc(sizeof *entry + length);
    char *name = strdup(key);
    if (!entry || !name) {
        free(entry);
        free(name);
        return tern_error(TERN_ERR_NO_MEM, "no memory to publish %s", key);
    }
    *entry = (struct put_value){.next = own_values, .length = length, .key = name};
    memcpy(entry->bytes, value, length);
    own_values = entry; /* before older values of the same key: the newest is found first */
    return 0;
}

int64_t tern_rte_local_rank(uint32_t rank)
{
    uint32_t low = 0, high = tern_rte.local_size;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (tern_rte.local_ranks[middle] < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < tern_rte.local_size && tern_rte.local_ranks[low] == rank ? (int64_t)low : -1;
}

void tern_rte_host_of(uint32_t rank, char *name, size_t room)
{
    if (tern_rte_local_rank(rank) >= 0)
        snprintf(name, room, "%s", tern_rte.host);
    else if (!tern_rte.managed || !tern_pmix_host(rank, name, room))
        snprintf(name, room, "?");
}

int tern_rte_put(const char *key, const void *value, size_t length)
{
    return tern_rte.managed ? tern_pmix_put(key, value, length) : put_own_value(key, value, length);
}

int tern_rte_fence(bool collect)
{
    return tern_rte.managed ? tern_pmix_fence(collect) : 0;
}

int tern_rte_get(uint32_t rank, const char *key, void **ret_value, size_t *ret_length)
{
    if (tern_rte.managed)
        return tern_pmix_get(rank, key, ret_value, ret_length);
    for (struct put_value *entry = own_values; rank == 0 && entry; entry = entry->next) {
        if (strcmp(entry->key, key) != 0)
            continue;
        void *copy = malloc(entry->length ? entry->length : 1);
        if (!copy)
            return tern_error(TERN_ERR_NO_MEM, "no memory for the value of %s", key);
        memcpy(copy, entry->bytes, entry->length);
        *ret_value = copy;
        *ret_length = entry->length;
        return 0;
    }
    return tern_error(TERN_ERR_OTHER, "rank %u has not published %s", rank, key);
}

bool tern_rte_recall(const char *key, void **ret_value, size_t *ret_length)
{
    return tern_rte.managed && tern_pmix_recall(key, ret_value, ret_length);
}

int tern_rte_commit(void)
{
    return tern_rte.managed ? tern_pmix_commit() : 0;
}

int tern_rte_fetch(uint32_t rank, const char *key, bool anew, struct tern_rte_fetch *fetch)
{
    __atomic_store_n(&fetch->done, false, __ATOMIC_RELAXED);
    fetch->error = 0;
    if (tern_rte.managed)
        return tern_pmix_fetch(rank, key, anew, fetch);
    fetch->error = tern_rte_get(rank, key, &fetch->value, &fetch->length);
    fetch->done = true;
    return fetch->error;
}

bool tern_rte_secret(char *text, size_t room)
{
    return tern_rte.managed && tern_pmix_job_string(TERN_LAUNCHER_SECRET, text, room);
}

static void print_stack(void)
{
    void *frames[64];
    int count = backtrace(frames, sizeof frames / sizeof *frames);
    backtrace_symbols_fd(frames, count, STDERR_FILENO);
}

static void say_last(const char *message)
{
    if (message)
        tern_log("%s", message);
    if (tern_param_bool("mpi_abort_print_stack"))
        print_stack();
}

/* The kernel keeps eight bits; what gave up must not look as if it went well. */
static int exit_code(int status)
{
    return status & 0xff ? status & 0xff : 1;
}

void tern_rte_abort(int status, const char *message)
{
    say_last(message);
    tern_report_abort(exit_code(status));
    tern_pmix_abort(exit_code(status));
    _exit(exit_code(status));
}

void tern_rte_abort_self(int status, const char *message)
{
    say_last(message);
    _exit(exit_code(status));
}
