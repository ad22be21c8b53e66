/* SPDX-License-Identifier: BSD-3-Clause */

/* Fills in tern_rte: from the roster and our launcher's reports, from PMIx (lib/rte/pmix_client.c),
 * or, without a launcher, as a job of one rank. */

#include "config.h"

#include "lib/rte/rte.h"

#include "lib/rte/node_memory.h"
#include "lib/rte/pmix_client.h"
#include "lib/rte/report.h"
#include "lib/util/base/error.h"
#include "lib/util/net/launcher.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"
#include "lib/util/net/roster.h"
#include "lib/util/debug/symbol.h"
#include "lib/util/base/system_calls.h"

#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct tern_rte tern_rte = {.node_memory_fd = -1};

/* A value that a job of one rank has put, for itself to get. */
struct put_value {
    struct put_value *next;
    size_t length;
    char *key;
    char bytes[];
};
static struct put_value *own_values;

static bool known;   /* tern_rte is filled in */
static bool reports; /* our launcher exchanges reports with us, without PMIx */

/* The roster that our launcher gives all ranks of the node. Mapped once and never unmapped. `job`
 * is NULL under another launcher. */
static struct tern_roster roster;

/* Nodes of the ranks under another launcher, which is asked on first use. Threads that ask at the
 * same time get equal answers. */
enum { NOT_ASKED = -2 };
static int32_t *nodes;

static int make_nodes(void)
{
    if (tern_rte.node_count < 2 || roster.job)
        return 0;
    nodes = malloc(tern_rte.size * sizeof *nodes);
    if (!nodes)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the nodes of %u ranks", tern_rte.size);
    for (uint32_t r = 0; r < tern_rte.size; r++)
        nodes[r] = NOT_ASKED;
    return 0;
}

int64_t tern_rte_node_of(uint32_t rank)
{
    if (tern_rte_local_rank(rank) >= 0)
        return tern_rte.node;
    if (roster.job && rank < roster.size)
        return roster.ranks[roster.begin[roster.host_of[rank]]];
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

/* Warns about launchers that do not use PMIx. They start as many jobs as ranks were wanted, and the
 * results may be silently wrong: srun without --mpi=pmix, and the mpiexec of MPICH. */
static void warn_of_bare_launcher(void)
{
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS"), *task = getenv("SLURM_PROCID");
    const char *processes = getenv("PMI_SIZE"), *process = getenv("PMI_RANK");
    if (getenv("SLURM_STEP_ID") && tasks && atoi(tasks) > 1 && task && strcmp(task, "0") == 0)
        tern_log("srun has started %s tasks, and each is an MPI job of one rank. For one job of %s "
                 "ranks, use srun --mpi=pmix or mpirun",
                 tasks, tasks);
    else if (!getenv("SLURM_STEP_ID") && processes && atoi(processes) > 1 && process &&
             strcmp(process, "0") == 0)
        tern_log("mpiexec has started %s processes, and each is an MPI job of one rank, because "
                 "this mpiexec does not support PMIx. Use Tern's mpirun",
                 processes);
}

static int become_singleton(void)
{
    warn_of_bare_launcher();
    snprintf(tern_rte.job, sizeof tern_rte.job, "singleton.%ld", (long)getpid());
    tern_rte.size = tern_rte.local_size = tern_rte.node_count = tern_rte.universe_size = 1;
    static const uint32_t none_but_us = 0;
    tern_rte.local_ranks = &none_but_us;
    return 0;
}

/* Checks the version of our launcher. Another version may behave differently; an error now is
 * better than a riddle later. */
static int check_version(void)
{
    const char *version = getenv("TERN_VERSION");
    if (version && strcmp(version, PACKAGE_VERSION) != 0)
        return tern_error(TERN_ERR_OTHER,
                          "mpirun is version %s, but this libmpi is version %s: use mpirun and "
                          "libmpi of one version (see PATH and LD_LIBRARY_PATH)",
                          version, PACKAGE_VERSION);
    return 0;
}

/* Adopts our launcher's memory, which all ranks of the node have, with the roster behind it. */
static void adopt_node_memory(void)
{
    size_t length = 0;
    if (!tern_rte_adopt_node_memory(getenv("TERN_NODE_MEMORY"), getenv("TERN_NODE_MEMORY_PATH"),
                                    &tern_rte.node_memory_fd, &tern_rte.node_memory_size, &length))
        return;
    void *bytes = mmap(NULL, length, PROT_READ, MAP_SHARED, tern_rte.node_memory_fd,
                       (off_t)tern_rte.node_memory_size);
    if (bytes != MAP_FAILED && tern_roster_read(bytes, length, &roster) &&
        strcmp(roster.job, getenv("PMIX_NAMESPACE")) == 0)
        return;
    /* not ours: it may belong to a job around ours */
    if (bytes != MAP_FAILED)
        munmap(bytes, length);
    roster.job = NULL;
    close(tern_rte.node_memory_fd);
    tern_rte.node_memory_fd = -1;
}

/* Checks that the memory was adopted. Under our launcher no other memory is made, because the other
 * ranks would not learn of it. */
static int check_node_memory(void)
{
    const char *text = getenv("TERN_NODE_MEMORY"), *path = getenv("TERN_NODE_MEMORY_PATH");
    if (!roster.job && tern_rte_gives_node_memory(tern_rte.job) && tern_rte.size > 1)
        return tern_error(TERN_ERR_OTHER,
                          "cannot reach the memory that mpirun made for the ranks of this node. "
                          "The program that starts this rank has closed its descriptor and hides "
                          "mpirun's (%s), or has changed TERN_NODE_MEMORY (now `%s`)",
                          path ? path : "TERN_NODE_MEMORY_PATH is not set", text ? text : "");
    return 0;
}

/* Fills in tern_rte from the roster. Returns true if the roster is our job's and the launcher
 * listens. */
static bool learn_from_roster(void)
{
    const char *session_dir = getenv("TERN_SESSION_DIR");
    unsigned long rank = strtoul(getenv("PMIX_RANK"), NULL, 10);
    if (!roster.job || rank >= roster.size || !session_dir || roster.host_of[rank] != roster.here ||
        !tern_report_learn(&tern_rte.appnum))
        return false;
    const uint32_t *begin = &roster.begin[roster.here];
    snprintf(tern_rte.job, sizeof tern_rte.job, "%s", roster.job);
    snprintf(tern_rte.host, sizeof tern_rte.host, "%s", tern_roster_name(&roster, roster.here));
    snprintf(tern_rte.session_dir, sizeof tern_rte.session_dir, "%s", session_dir);
    tern_rte.rank = (uint32_t)rank;
    tern_rte.size = roster.size;
    tern_rte.universe_size = roster.universe_size;
    tern_rte.local_ranks = roster.ranks + begin[0];
    tern_rte.local_size = begin[1] - begin[0];
    tern_rte.local_rank = (uint32_t)tern_rte_local_rank(tern_rte.rank);
    tern_rte.node_count = roster.host_count;
    tern_rte.node = roster.host_count > 1 ? tern_rte.local_ranks[0] : 0;
    return true;
}

/* Learns about the job. If our launcher exchanges reports, PMIx is started only when something is
 * needed that PMIx alone knows. */
static int learn(void)
{
    if (!tern_rte.managed)
        return become_singleton();
    adopt_node_memory();
    reports = learn_from_roster() && tern_report_open();
    return reports ? 0 : tern_pmix_start();
}

static int connect_again(void)
{
    if (!tern_rte.managed)
        return 0;
    return reports && tern_report_open() ? 0 : tern_pmix_connect();
}

static bool has_launcher(void)
{
    return getenv("PMIX_NAMESPACE") && getenv("PMIX_RANK");
}

/* Returns how many processes the part of the command line has to which `rank` belongs. Launchers
 * list the parts' numbers, such as "2 3"; ranks are counted in this order. */
static uint32_t processes_of_part(unsigned long rank)
{
    const char *counts = getenv("OMPI_APP_CTX_NUM_PROCS");
    char *end;
    for (unsigned long first = 0; counts; counts = end) {
        unsigned long count = strtoul(counts, &end, 10);
        if (end == counts)
            break;
        first += count;
        if (rank < first)
            return (uint32_t)count;
    }
    return 0;
}

uint32_t tern_rte_processes_alike(void)
{
    if (!has_launcher())
        return 1;
    uint32_t processes = processes_of_part(strtoul(getenv("PMIX_RANK"), NULL, 10));
    const char *tasks = getenv("SLURM_STEP_NUM_TASKS");
    if (processes || known)
        return processes ? processes : tern_rte.size;
    return tasks ? (uint32_t)strtoul(tasks, NULL, 10) : 0;
}

void tern_rte_own_host(char *name, size_t room)
{
    const char *told = known ? tern_rte.host : has_launcher() ? getenv("PMIX_HOSTNAME") : NULL;
    if (told)
        snprintf(name, room, "%s", told);
    else if (gethostname(name, room - 1) != 0)
        snprintf(name, room, "localhost");
    name[room - 1] = 0;
}

int tern_rte_init(void)
{
    char name[64 + sizeof tern_rte.host];

    if (known)
        return connect_again();
    tern_rte_own_host(tern_rte.host, sizeof tern_rte.host);
    tern_rte.managed = has_launcher();
    int error = tern_rte.managed ? check_version() : 0;
    if (!error && tern_rte.managed)
        error = tern_system_calls_try(TERN_CALLS_OF_RANK);
    if (!error)
        error = learn();
    if (error)
        return error;
    error = tern_rte.managed ? check_node_memory() : 0;
    if (!error)
        error = make_nodes();
    if (error)
        return error;
    tern_rte.cpus = tern_rte_cpus();
    tern_rte.quota = tern_rte_read_quota("");
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
    if (tern_report_is_open()) {
        tern_report_meet(notify);
        return 0;
    }
    return tern_rte.managed ? tern_pmix_fence_start(notify) : 0;
}

bool tern_rte_has_met(int *ret_error)
{
    *ret_error = 0;
    if (tern_report_is_open())
        return tern_report_has_met();
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
    /* in front of older values with this key, so that the newest is found first */
    own_values = entry;
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
    else if (roster.job && rank < roster.size)
        snprintf(name, room, "%s", tern_roster_name(&roster, roster.host_of[rank]));
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

/* ---- how to reach ranks ---- */

static const char program_key[] = "tern.program";
static uint32_t program; /* number of this program under another launcher; 0: not known yet */

/* Writes the key of this program's card. PMIx keeps what an earlier program in a rank's place has
 * published, and may give that again. So each program has its own key. */
static void name_card(char key[TERN_RTE_KEY])
{
    snprintf(key, TERN_RTE_KEY, "tern.card.%u", program);
}

static void count_programs(void)
{
    void *before;
    size_t length;
    if (program)
        return; /* this process has come back to MPI */
    if (tern_pmix_recall(program_key, &before, &length)) {
        if (length == sizeof program)
            memcpy(&program, before, length);
        free(before);
    }
    program++;
}

static int publish_by_pmix(const void *bytes, size_t length, uint64_t own)
{
    struct tern_card card = {.own = own};
    char key[TERN_RTE_KEY];
    if (tern_rte_gives_node_memory(tern_rte.job))
        return tern_error(TERN_ERR_OTHER,
                          "cannot reach mpirun, which tells ranks how to reach each other. The "
                          "program that starts this rank has closed its descriptor and hides its "
                          "socket, or has changed TERN_REPORTS (now `%s`)",
                          getenv(TERN_REPORTS) ? getenv(TERN_REPORTS) : "");
    count_programs();
    name_card(key);
    memcpy(card.bytes, bytes, length);
    int error = tern_pmix_put(key, &card, sizeof card.own + length);
    if (!error)
        error = tern_pmix_put(program_key, &program, sizeof program);
    return error ? error : tern_pmix_commit();
}

int tern_rte_publish(const void *bytes, size_t length, uint64_t own)
{
    if (length > TERN_CARD_MOST)
        return tern_error(TERN_ERR_OTHER, "a rank's addresses take %zu bytes, which is too "
                                          "much", length);
    if (!tern_report_is_open())
        return tern_rte.managed ? publish_by_pmix(bytes, length, own) : 0;
    tern_report_card(bytes, length, own);
    return 0;
}

uint32_t tern_rte_program(void)
{
    return tern_report_is_open() ? tern_report_program() : program;
}

int tern_rte_seek(uint32_t rank, bool anew, struct tern_rte_fetch *fetch)
{
    char key[TERN_RTE_KEY];
    if (tern_report_is_open()) {
        __atomic_store_n(&fetch->done, false, __ATOMIC_RELAXED);
        tern_report_seek(rank, fetch);
        return 0;
    }
    name_card(key);
    return tern_rte_fetch(rank, key, anew, fetch);
}

bool tern_rte_forget(struct tern_rte_fetch *fetch)
{
    if (!tern_report_is_open())
        return false;
    tern_report_forget(fetch);
    return true;
}

bool tern_rte_tell_unreached(uint32_t rank, enum tern_unreached how, uint32_t lanes,
                             const char *text)
{
    if (!tern_report_is_open())
        return false;
    tern_report_unreached(rank, how, lanes, text);
    return true;
}

void tern_rte_on_unreached(tern_unreached_taker *heard)
{
    tern_report_on_unreached(heard);
}

int tern_rte_fd(void)
{
    return tern_report_fd();
}

bool tern_rte_attend(void)
{
    return tern_report_attend();
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
    if (roster.job)
        snprintf(text, room, "%s", roster.secret);
    return roster.job;
}

/* Prints the calls that have led here, in the form of the block of a crash. */
static void print_stack(void)
{
    enum { MOST = 64, OURS = 1 }; /* leaves out this function itself */
    static struct tern_symbol frames[MOST];
    void *addresses[MOST];
    int count = backtrace(addresses, MOST);
    for (int i = 0; i < count; i++) /* the return address is behind the call */
        frames[i].address = (uintptr_t)addresses[i] - 1;
    tern_symbols_find(0, frames, count);
    for (int i = OURS; i < count; i++) {
        const struct tern_symbol *frame = &frames[i];
        char place[160], name[160];
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)frame->address);
        snprintf(place, sizeof place, frame->line ? " at %s:%u" : "", frame->file, frame->line);
        fprintf(stderr, "    %2d  %s%s (%s+0x%llx)\n", i - OURS,
                *frame->function ? frame->function : name, place, frame->module,
                (unsigned long long)frame->offset);
    }
}

static void say_last(const char *message)
{
    if (message)
        tern_log("%s", message);
    if (tern_param_bool("mpi_abort_print_stack"))
        print_stack();
}

/* Returns an exit code with eight bits, which is all that the kernel keeps. An abort must not look
 * like success. */
static int exit_code(int status)
{
    return status & 0xff ? status & 0xff : 1;
}

void tern_rte_remark(enum tern_remark remark, const char *text)
{
    static bool said[TERN_REMARKS];
    if (__atomic_exchange_n(&said[remark], true, __ATOMIC_RELAXED))
        return;
    if (!tern_report_remark(remark, text))
        tern_log("%s", text);
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
