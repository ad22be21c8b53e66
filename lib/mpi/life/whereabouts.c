/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * There is one record per rank. If several threads wait, the program's first thread has the record,
 * else the one that has waited longest, as long as it sleeps again and again; when it has not slept
 * for a while, another may take over. So if another thread has the record, the first one does not
 * wait here, and the launcher looks what it does.
 */
#include "lib/mpi/life/whereabouts.h"

#include "lib/btl/unheard.h"
#include "lib/coll/run/coll.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/group.h"
#include "lib/mpi/message/partitioned.h"
#include "lib/node/wait_record.h"
#include "lib/pml/pml.h"
#include "lib/rte/jobs.h"
#include "lib/rte/rte.h"
#include "lib/util/base/now.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { LEAVE_S = 1, NOBODY = -2 };

static struct {
    pthread_mutex_t lock;
    const struct tern_waiter *waiter; /* whose record it is; only compared */
    pid_t thread; /* who waits or tests so; 0: others may take the record at once */
    uint64_t began_ms;
    uint32_t unheard_changes; /* tern_btl_unheard_changes when the record was written */
    time_t slept; /* when it last began or ended a sleep, in seconds */
} owner = {.lock = PTHREAD_MUTEX_INITIALIZER};

static time_t now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    return now.tv_sec;
}

/* Returns the id of this thread; that of the program's first one is the process id. */
static pid_t own_thread(void)
{
    return (pid_t)syscall(SYS_gettid);
}

/* ---- what is awaited ---- */

/* Returns the rank in MPI_COMM_WORLD of a rank that the context reaches, or -1, also if it
 * is of another job. */
static int world_rank(const struct tern_context *context, int rank)
{
    if (rank < 0 || rank >= context->size)
        return -1;
    struct tern_process process = tern_peers_process(context->peers, rank);
    return process.job ? -1 : (int)process.rank;
}

/* Writes as much of a text as there is room for. */
static void copy(char *to, size_t room, const char *text)
{
    size_t length = strnlen(text, room - 1);
    memcpy(to, text, length);
    to[length] = '\0';
}

static void name_comm(const struct tern_context *context, char *name, size_t room)
{
    const struct tern_comm *comm = context->comm;
    copy(name, room, comm ? comm->name : "");
}

static uint64_t mix(uint64_t hash, uint64_t number)
{
    return (hash ^ number) * UINT64_C(0x100000001b3);
}

static uint64_t hash_of(const struct tern_group *group)
{
    uint64_t hash = 0;
    for (int i = 0; i < group->run_count; i++) {
        const struct tern_run *run = &group->runs[i];
        hash = mix(mix(hash, run->first), (uint64_t)run->count);
        /* each rank has numbers of its own for other jobs */
        hash = mix(mix(hash, (uint64_t)run->stride), run->job != 0);
    }
    return hash;
}

/* Sets what tells communicators with one id apart. The two sides of an intercommunicator get the
 * same number. */
static void set_hash(struct tern_wait_record *record, const struct tern_comm *comm)
{
    if (comm && comm->group)
        record->members_hash = hash_of(comm->group);
    if (comm && comm->remote_group)
        record->members_hash += hash_of(comm->remote_group);
}

static void set_comm(struct tern_wait_record *record, const struct tern_context *context)
{
    record->comm_id = context->id & ~UINT64_C(1);
    record->comm_size = context->size;
    name_comm(context, record->comm, sizeof record->comm);
    set_hash(record, context->comm);
}

/* Returns the number of another job as people know it, or -1: it has none, or that of this job,
 * because a user has started both. */
static int32_t job_number(struct tern_process process)
{
    uint32_t number = tern_process_job_number(process.job, process.rank);
    return number && number != tern_process_job_number(0, 0) ? (int32_t)number : -1;
}

static void name_peer(struct tern_awaited *awaited, const struct tern_context *context, int rank)
{
    awaited->rank = rank;
    awaited->world = -1;
    if (rank < 0 || rank >= context->size)
        return;
    struct tern_process process = tern_peers_process(context->peers, rank);
    awaited->world = (int32_t)process.rank;
    awaited->job = process.job ? job_number(process) : 0;
}

/* Appends a rank that is awaited. Returns NULL if there is no room. */
static struct tern_awaited *new_awaited(struct tern_wait_record *record)
{
    if (record->awaited_count == TERN_AWAITED_SHOWN)
        return NULL;
    struct tern_awaited *awaited = &record->awaited[record->awaited_count++];
    *awaited = (struct tern_awaited){.rank = NOBODY, .world = -1};
    return awaited;
}

/* Appends the peer of a message. Returns NULL if there is no room. */
static struct tern_awaited *add_peer(struct tern_wait_record *record,
                                     const struct tern_context *context, bool sends, int rank,
                                     int tag)
{
    struct tern_awaited *awaited = new_awaited(record);
    if (!awaited)
        return NULL;
    awaited->kind = sends ? TERN_WAIT_SEND : TERN_WAIT_RECV;
    awaited->tag = tag;
    name_peer(awaited, context, rank);
    return awaited;
}

static void add_message(struct tern_wait_record *record, const struct tern_message_facts *facts)
{
    add_peer(record, facts->context, facts->sends, facts->rank, facts->tag);
}

static void add_partitioned(struct tern_wait_record *record,
                            const struct tern_partitioned_facts *facts)
{
    struct tern_awaited *awaited =
        add_peer(record, facts->context, facts->sends, facts->peer, facts->tag);
    if (!awaited)
        return;
    awaited->lacking = facts->lacking;
    awaited->partitions = facts->partitions;
}

/* Finds the rank that a collective waits for: the peer of `request`, a message of it or NULL, or
 * else the one that its present step names. Returns false if there is none. */
static bool find_peer(const struct tern_coll_facts *facts, const struct tern_request *request,
                      const struct tern_context **ret_context, int *ret_rank)
{
    struct tern_message_facts message;
    bool known = request && tern_pml_describe(request, &message);
    *ret_context = known ? message.context : &facts->coll->context;
    *ret_rank = known ? message.rank : facts->peer;
    return known || facts->peer >= 0;
}

static void add_members(struct tern_wait_record *record, const struct tern_group *group)
{
    for (int i = 0; i < group->run_count; i++) {
        const struct tern_run *run = &group->runs[i];
        if (!run->job && record->run_count < TERN_MEMBERS_SHOWN)
            record->members[record->run_count] = (struct tern_members){
                (int32_t)run->first, run->stride, run->count};
        record->run_count += !run->job;
    }
}

/* Adds the ranks of the communicator, of both sides if it has two. */
static void set_members(struct tern_wait_record *record, const struct tern_comm *comm)
{
    if (comm && comm->group)
        add_members(record, comm->group);
    if (comm && comm->remote_group)
        add_members(record, comm->remote_group);
}

/* Returns true if all ranks of a file call the procedure together. */
static bool is_of_all(const char *procedure)
{
    static const char *const names[] = {"open",       "close",     "set_size",    "preallocate",
                                        "set_view",   "sync",      "set_atomicity",
                                        "seek_shared"};
    const char *name = strncmp(procedure, "MPI_File_", 9) == 0 ? procedure + 9 : "";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strstr(name, "_all") || strstr(name, "_ordered");
}

static void describe_message(struct tern_wait_record *record,
                             const struct tern_message_facts *facts)
{
    record->kind = facts->sends ? TERN_WAIT_SEND : TERN_WAIT_RECV;
    set_comm(record, facts->context);
    add_message(record, facts);
    record->bytes = facts->bytes;
    if (tern_context_is_internal(facts->context))
        copy(record->procedure, sizeof record->procedure, "a procedure that makes a communicator");
}

static void describe_partitioned(struct tern_wait_record *record,
                                 const struct tern_partitioned_facts *facts)
{
    record->kind = facts->sends ? TERN_WAIT_SEND : TERN_WAIT_RECV;
    set_comm(record, facts->context);
    add_partitioned(record, facts);
}

static void describe_lock(struct tern_wait_record *record, const struct tern_probe *probe)
{
    uint64_t lock = __atomic_load_n(probe->lock, __ATOMIC_RELAXED);
    uint32_t taker = __atomic_load_n(probe->taker, __ATOMIC_RELAXED);
    record->kind = TERN_WAIT_LOCK;
    set_comm(record, probe->context);
    struct tern_awaited *awaited = new_awaited(record);
    name_peer(awaited, probe->context, (int)taker - 1);
    awaited->rank = probe->source;
    record->number = lock >> 63 ? 0 : lock ? (int64_t)lock : -1;
    record->exclusive = probe->exclusive;
}

/* Names the port by its host and number; the rest of its name is a secret. */
static void describe_port(struct tern_wait_record *record, const char *port)
{
    char host[64] = "", number[8] = "";
    record->kind = TERN_WAIT_PORT;
    if (sscanf(port, "%*[^/]/%63[^/]/%7[0-9]", host, number) == 2)
        snprintf(record->comm, sizeof record->comm, "port %s of host %.19s", number, host);
}

static void describe_collective(struct tern_wait_record *record, const struct tern_waiter *waiter,
                                const struct tern_coll_facts *facts)
{
    const struct tern_request *awaited = waiter->doubts ? waiter->request : NULL;
    const struct tern_context *context;
    int rank;
    record->kind = TERN_WAIT_COLLECTIVE;
    record->number = facts->number;
    set_comm(record, &facts->coll->context);
    record->comm_size =
        facts->coll->remote_size ? facts->coll->remote_size + facts->coll->size : facts->coll->size;
    copy(record->procedure, sizeof record->procedure, facts->procedure);
    set_members(record, facts->coll->context.comm);
    if (find_peer(facts, awaited ? awaited : facts->awaited, &context, &rank))
        name_peer(new_awaited(record), context, rank);
}

/* Returns true if no other thread makes progress with the request meanwhile. */
static bool is_held(const struct tern_waiter *waiter, const struct tern_request *request)
{
    return !tern_threads || request->lane == waiter->lane;
}

static void describe_request(struct tern_wait_record *record, const struct tern_waiter *waiter,
                             const struct tern_request *request)
{
    struct tern_message_facts message;
    struct tern_coll_facts collective;
    struct tern_partitioned_facts partitioned;
    if (tern_pml_describe(request, &message))
        describe_message(record, &message);
    else if (tern_partitioned_describe(request, &partitioned))
        describe_partitioned(record, &partitioned);
    else if (tern_coll_describe(request, is_held(waiter, request), &collective))
        describe_collective(record, waiter, &collective);
}

/* Adds the rank that a further request of the call waits for. */
static void add_request(struct tern_wait_record *record, const struct tern_waiter *waiter,
                        const struct tern_request *request)
{
    struct tern_message_facts message;
    struct tern_coll_facts collective;
    struct tern_partitioned_facts partitioned;
    if (tern_pml_describe(request, &message)) {
        add_message(record, &message);
    } else if (tern_partitioned_describe(request, &partitioned)) {
        add_partitioned(record, &partitioned);
    } else if (is_held(waiter, request) && tern_coll_describe(request, true, &collective)) {
        struct tern_awaited *awaited = new_awaited(record);
        const struct tern_context *context;
        int rank;
        if (!awaited)
            return;
        awaited->kind = TERN_WAIT_COLLECTIVE;
        if (find_peer(&collective, collective.awaited, &context, &rank))
            name_peer(awaited, context, rank);
    }
}

/* Describes the requests of the call that are not complete: the first one in full. Returns the
 * first one, or NULL. */
static const struct tern_request *describe_handles(struct tern_wait_record *record,
                                                   const struct tern_waiter *waiter)
{
    const struct tern_request *first = NULL;
    for (int64_t i = 0; i < waiter->handle_count; i++) {
        const struct tern_request *request = tern_request_of(waiter->handles[i]);
        if (!request || !request->active || request->complete)
            continue;
        if (record->requests++)
            add_request(record, waiter, request);
        else
            describe_request(record, waiter, first = request);
    }
    record->any = !waiter->request && record->requests > 1;
    return first;
}

static void add_unasked(const struct tern_context *context, int source, int tag, uint64_t bytes,
                        void *to)
{
    struct tern_wait_record *record = to;
    if (tag < MPI_ANY_TAG) /* the library's own, of a file or a window */
        return;
    uint32_t at = record->unasked_count++;
    if (at >= TERN_UNASKED_SHOWN)
        return;
    struct tern_unasked *unasked = &record->unasked[at];
    *unasked = (struct tern_unasked){.source = source,
                                     .world = world_rank(context, source),
                                     .tag = tag,
                                     .bytes = (int64_t)bytes};
    name_comm(context, unasked->comm, sizeof unasked->comm);
}

/* Names the procedure of the user, and before a collective's own name that of the procedure that
 * waits for its request. */
static void name_procedure(struct tern_wait_record *record, const struct tern_waiter *waiter)
{
    char own[sizeof record->procedure];
    const char *procedure = tern_wait_procedure ? tern_wait_procedure : waiter->procedure;
    if (tern_check_full())
        procedure = tern_check_procedure();
    if (!procedure || (waiter->doubts && !tern_check_full() && !tern_wait_procedure))
        return;
    memcpy(own, record->procedure, sizeof own);
    copy(record->procedure, sizeof record->procedure, procedure);
    if (record->kind != TERN_WAIT_COLLECTIVE || waiter->doubts || tern_wait_procedure)
        return;
    size_t used = strlen(record->procedure);
    snprintf(record->procedure + used, sizeof record->procedure - used, " of %.30s", own);
}

/* Adds the bytes that a silent host has not acknowledged. */
static void describe_unheard(struct tern_wait_record *record)
{
    owner.unheard_changes = tern_btl_unheard_changes();
    struct tern_unheard unheard = tern_btl_unheard();
    record->unheard_bytes = unheard.bytes;
    record->unheard_since_ms = unheard.since_ms;
    record->unheard_world = unheard.process.job ? -1 : (int32_t)unheard.process.rank;
}

static void describe(const struct tern_waiter *waiter, struct tern_wait_record *record)
{
    const struct tern_request *request = waiter->request;
    const struct tern_context *context = NULL;
    struct tern_message_facts facts;
    *record = (struct tern_wait_record){.bytes = -1, .awaited = {{.rank = NOBODY, .world = -1}}};
    record->began_ms = waiter->began_ms;
    record->thread = own_thread();
    record->messages = tern_pml_count_messages();
    describe_unheard(record);
    if (waiter->doubts) {
        struct tern_coll_facts collective;
        tern_coll_describe_run(TERN_CONTAINER(waiter, struct tern_doubter, waiter)->run,
                               &collective);
        describe_collective(record, waiter, &collective);
    } else if (waiter->probe) {
        const struct tern_probe *probe = waiter->probe;
        if (probe->lock)
            describe_lock(record, probe);
        else if (probe->port)
            describe_port(record, probe->port);
        else
            describe_message(record, &(struct tern_message_facts){.context = probe->context,
                                                              .rank = probe->source,
                                                              .tag = probe->tag,
                                                              .bytes = -1});
    } else if (waiter->handle_count) {
        request = describe_handles(record, waiter);
    } else if (request) {
        describe_request(record, waiter, request);
    }
    name_procedure(record, waiter);
    if (request && tern_pml_describe(request, &facts) && is_of_all(record->procedure))
        set_members(record, facts.context->comm);
    if (!tern_threads || waiter->lane) {
        if (request && tern_pml_describe(request, &facts) && !waiter->doubts)
            context = facts.context;
        else if (waiter->probe && !waiter->probe->lock)
            context = waiter->probe->context;
        tern_pml_walk_unasked(waiter->lane ? waiter->lane : tern_lanes, context, add_unasked,
                              record);
    }
}

/* ---- telling ---- */

/* Makes the record this waiter's, or that of tests: NULL. Returns false if another thread has it,
 * and this one does not go before that. Before tests of other threads than the first any wait
 * goes. */
static bool take_record(const struct tern_waiter *waiter)
{
    pid_t thread = tern_threads ? own_thread() : 0;
    bool first = thread == getpid();
    time_t now = now_s();
    if (owner.thread && owner.thread != thread && !first && now - owner.slept <= LEAVE_S)
        return false;
    owner.waiter = waiter;
    owner.thread = waiter || first ? thread : 0;
    owner.slept = now;
    return true;
}

/* Tells of tests in vain. */
static void tell_tests(const struct tern_waiter *test)
{
    struct tern_wait_record record;
    if (!take_record(NULL))
        return;
    describe(test, &record);
    record.tests = 1;
    record.tested_ms = tern_now_ms();
    tern_wait_record_write(&record);
}

static void tell(const struct tern_waiter *waiter, enum tern_wait_news news)
{
    struct tern_wait_record record;
    pthread_mutex_lock(&owner.lock);
    bool same = owner.waiter == waiter && waiter && owner.began_ms == waiter->began_ms &&
                owner.unheard_changes == tern_btl_unheard_changes();
    if (news == TERN_WAIT_TESTS) {
        tell_tests(waiter);
    } else if (news == TERN_WAIT_PAUSE) {
        if (owner.waiter == waiter)
            tern_wait_record_pause();
    } else if (take_record(waiter)) {
        if (news == TERN_WAIT_AGAIN && same) {
            tern_wait_record_again(tern_pml_count_messages());
        } else {
            owner.began_ms = waiter->began_ms;
            describe(waiter, &record);
            tern_wait_record_write(&record);
        }
    }
    pthread_mutex_unlock(&owner.lock);
}

void tern_whereabouts_begin(void)
{
    tern_wait_tell = tern_wait_record_wanted() ? tell : NULL;
}
