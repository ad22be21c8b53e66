/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: writes the facts that a collective call states to the other ranks
 * (check_record.h).
 *
 * tern_check_pattern tells which arguments must agree; entry points choose the pattern from the
 * table. On an intercommunicator data has a side: if both groups send, the side is the group that
 * sends.
 */

#include "lib/mpi/check/check.h"
#include "lib/mpi/check/check_record.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/op.h"
#include "lib/mpi/topo/topo.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/util/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes a record, which grows. */
struct writer {
    struct tern_record *record;
    int room;
    bool failed; /* true if there is no memory */
    bool wrong;  /* true if an argument will be refused later */
    int side;    /* of this process: 0 if it is in the judge's group */
};

static struct tern_fact *add(struct writer *writer, uint64_t key, uint64_t value)
{
    static struct tern_fact lost;
    if (writer->failed)
        return &lost;
    if (writer->record->fact_count == writer->room) {
        int room = 2 * writer->room;
        struct tern_record *more = realloc(writer->record, tern_record_size(room, 0));
        if (!more) {
            writer->failed = true;
            return &lost;
        }
        writer->record = more;
        writer->room = room;
    }
    struct tern_fact *fact = &writer->record->facts[writer->record->fact_count++];
    *fact = (struct tern_fact){.key = key, .value = value};
    return fact;
}

static int64_t count_of(const struct tern_check_part *part, int block)
{
    return part->counts.values ? tern_ints_at(part->counts, block) : part->count;
}

/* States count and type of a block. `block` -1 means the one count of all blocks. */
static struct tern_fact *state_block(struct writer *writer, const struct tern_check_part *part,
                                     int block, uint64_t key)
{
    const struct tern_datatype *type = tern_check_type_of(part, block < 0 ? 0 : block);
    int64_t count = count_of(part, block < 0 ? 0 : block);
    struct tern_fact *fact = add(writer, key, type ? tern_check_signature(type, count) : 1);
    char index[24] = "", bytes[26];
    const char *name = type ? type->name : "no datatype";
    if (block >= 0 && part->counts.values)
        snprintf(index, sizeof index, "[%d]", block);
    if (!name[0]) {
        snprintf(bytes, sizeof bytes, "%ld bytes", (long)type->type.size);
        name = bytes;
    }
    snprintf(fact->text, sizeof fact->text, "%.10s%.8s %ld of %.20s", part->count_name, index,
             (long)count, name);
    return fact;
}

static void state_data(struct writer *writer, const struct tern_check_part *part, int block,
                       int side, uint32_t from, uint32_t to)
{
    state_block(writer, part, block, tern_fact_key(TERN_FACT_DATA, side, from, to));
}

static bool significant(const struct tern_check_part *part)
{
    return part->count_name && (part->type || part->types) && part->buffer != MPI_IN_PLACE;
}

static void state_blocks(struct writer *writer, const struct tern_comm *comm,
                         const struct tern_check_part *part)
{
    int other = comm->remote_group ? !writer->side : writer->side;
    if (!part->counts.values) {
        state_data(writer, part, -1, writer->side, 0, (uint32_t)comm->group->rank);
        return;
    }
    for (int i = 0; i < tern_check_ranks(comm); i++)
        state_data(writer, part, i, other, 0, (uint32_t)i);
}

static void state_pairs(struct writer *writer, const struct tern_comm *comm,
                        const struct tern_check_part *part)
{
    int other = comm->remote_group ? !writer->side : writer->side;
    uint32_t me = (uint32_t)comm->group->rank;
    for (int i = 0; i < tern_check_ranks(comm); i++)
        if (part->output)
            state_data(writer, part, i, other, (uint32_t)i, me);
        else
            state_data(writer, part, i, writer->side, me, (uint32_t)i);
}

/* States the edges to neighbours. The order of several edges between two ranks tells them apart. It
 * is the order in which lib/coll/algo/neighbor.c sends and receives: in a grid, what was sent down
 * arrives from above. */
static void state_edges(struct writer *writer, const struct tern_comm *comm,
                        const struct tern_check_part *part)
{
    int me = comm->group->rank;
    struct tern_neighbors neighbors;
    if (!part->count_name || tern_topo_neighbors(comm, &neighbors))
        return; /* it is refused later */
    int edges = part->output ? neighbors.indegree : neighbors.outdegree;
    /* edges with each rank so far */
    int *before = calloc((size_t)comm->group->size, sizeof *before);
    writer->failed = writer->failed || !before;
    if ((part->counts.width && !part->counts.values) ||
        (part->displs.width && !part->displs.values) || (!part->type && !part->types))
        writer->wrong = writer->wrong || edges > 0;
    else if (!writer->failed)
        for (int i = 0; i < edges; i++) {
            int block = part->output && neighbors.grid ? i ^ 1 : i;
            int peer = (part->output ? neighbors.sources : neighbors.destinations)[block];
            if (peer < 0 || before[peer] >= TERN_FACT_SIDES)
                continue;
            struct tern_fact *fact = state_block(
                writer, part, part->counts.values || part->types ? block : -1,
                tern_fact_key(TERN_FACT_EDGE, before[peer]++, (uint32_t)(part->output ? peer : me),
                              (uint32_t)(part->output ? me : peer)));
            if (!tern_check_type_of(part, part->types ? block : 0) || count_of(part, block) < 0)
                writer->wrong = true;
            size_t length = strlen(fact->text);
            snprintf(fact->text + length, sizeof fact->text - length, " %s rank %d",
                     part->output ? "from" : "to", peer);
        }
    free(before);
}

static void state_parts(struct writer *writer, const struct tern_comm *comm,
                        const struct tern_check_call *call)
{
    for (int p = 0; p < TERN_CHECK_PARTS; p++) {
        const struct tern_check_part *part = &call->parts[p];
        bool data = part->count_name && (part->type || part->types);
        switch (call->pattern) {
        case TERN_CHECK_ONE_BLOCK:
            /* Between two groups each direction has its own facts, except for data of one root. */
            if (significant(part))
                state_data(writer, part, -1,
                           call->rooted || !comm->remote_group ? 0 : writer->side ^ part->output, 0,
                           0);
            break;
        case TERN_CHECK_OPERANDS:
            if (p == 0 && data)
                state_data(writer, part, -1, 0, 0, 0);
            break;
        case TERN_CHECK_BLOCKS:
            if (significant(part))
                state_blocks(writer, comm, part);
            break;
        case TERN_CHECK_PAIRS:
            if (significant(part))
                state_pairs(writer, comm, part);
            break;
        case TERN_CHECK_COUNTS:
            for (int i = 0; p == 0 && data && i < (part->counts.values ? comm->group->size : 1);
                 i++)
                state_data(writer, part, part->counts.values ? i : -1, writer->side, 0,
                           (uint32_t)i);
            break;
        case TERN_CHECK_NEIGHBORS: state_edges(writer, comm, part); break;
        case TERN_CHECK_NO_DATA: break;
        }
    }
}

/* States the root. On an intercommunicator the root is a pair (side, rank); the processes in the
 * root's group that are not root only know that it is one of their group. */
static void state_root(struct writer *writer, const struct tern_comm *comm, int root)
{
    struct tern_fact *fact;
    if (!comm->remote_group) {
        fact = add(writer, tern_fact_key(TERN_FACT_ROOT, 0, 0, 0), (uint64_t)root);
        snprintf(fact->text, sizeof fact->text, "root %d", root);
        return;
    }
    int side = root == MPI_ROOT || root == MPI_PROC_NULL ? writer->side : !writer->side;
    const char *said = root == MPI_ROOT        ? "MPI_ROOT"
                       : root == MPI_PROC_NULL ? "MPI_PROC_NULL"
                                               : "a rank";
    fact = add(writer, tern_fact_key(TERN_FACT_ROOT, 0, 0, 0), (uint64_t)side);
    snprintf(fact->text, sizeof fact->text, "%s as root", said);
    if (root == MPI_PROC_NULL)
        return;
    int rank = root == MPI_ROOT ? comm->group->rank : root;
    fact = add(writer, tern_fact_key(TERN_FACT_ROOT, 0, 1, 0), (uint64_t)rank);
    if (root == MPI_ROOT)
        snprintf(fact->text, sizeof fact->text, "root MPI_ROOT");
    else
        snprintf(fact->text, sizeof fact->text, "root %d", root);
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        h = (h ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
    return h;
}

/* States the operation. A function has another address in each process, so only whether a user's
 * operation is commutative is compared. */
static void state_op(struct writer *writer, const struct tern_op *op)
{
    bool user = !op->predefined;
    const char *name = user ? op->commutative ? "a commutative operation of MPI_Op_create"
                                              : "a non-commutative operation of MPI_Op_create"
                            : op->name;
    struct tern_fact *fact = add(writer, tern_fact_key(TERN_FACT_OP, 0, 0, 0),
                                 hash_bytes(0xcbf29ce484222325u, name, strlen(name)));
    snprintf(fact->text, sizeof fact->text, user ? "%s" : "op %s", name);
}

/* States an argument that must be equal: on an intercommunicator in the own group, elsewhere
 * everywhere. */
static void state_same(struct writer *writer, const struct tern_comm *comm,
                       const struct tern_check_same *same, uint32_t index)
{
    int n = same->n > 0 ? same->n : 0; /* wrong lengths are refused later */
    int side = comm->remote_group ? writer->side : 0;
    struct tern_fact *fact = add(writer, tern_fact_key(TERN_FACT_SAME, side, index, 0),
                                 hash_bytes(0xcbf29ce484222325u + (uint64_t)n, same->values,
                                            (size_t)n * (size_t)same->size));
    int length = snprintf(fact->text, sizeof fact->text, "%s", same->name);
    const char *before = " ";
    for (int i = 0; i < n && length < (int)sizeof fact->text; i++, before = ", ")
        length += snprintf(fact->text + length, sizeof fact->text - (size_t)length, "%s%d", before,
                           ((const int *)same->values)[i]);
}

static uint32_t world_rank(const struct tern_group *group, int rank)
{
    return tern_group_process(group, rank).rank;
}

/* Begins a record: fills in everything except the occasion and the facts. Returns false if there is
 * no memory. */
static bool begin_record(struct writer *writer, const struct tern_comm *comm)
{
    enum { ROOM = 8 };
    *writer = (struct writer){.record = calloc(1, tern_record_size(ROOM, 0)), .room = ROOM};
    if (!writer->record)
        return false;
    uint32_t judge = world_rank(comm->group, 0);
    int remote = 0;
    if (comm->remote_group) {
        uint32_t other = world_rank(comm->remote_group, 0);
        writer->side = other < judge;
        judge = other < judge ? other : judge;
        remote = comm->remote_group->size;
    }
    *writer->record = (struct tern_record){
        .occasion = {.comm = comm->coll.context.id},
        .sender = (int32_t)tern_rte.rank,
        .judge = (int32_t)judge,
        .members = comm->group->size + remote,
        .local = writer->side ? remote : comm->group->size,
        .place = comm->group->rank + (writer->side ? remote : 0),
        .threads = tern_threads != 0,
    };
    tern_text_copy(writer->record->comm_name, sizeof writer->record->comm_name,
                   comm->name[0] ? comm->name : "a communicator without a name");
    const char *name = tern_check_procedure();
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        length -= 2; /* MPI_Bcast and MPI_Bcast_c are one operation */
    size_t room = sizeof writer->record->procedure;
    tern_text_copy(writer->record->procedure, length < room ? length + 1 : room, name);
    return true;
}

/* Returns the record, which the caller owns, or NULL if there is no memory. */
static struct tern_record *end_record(const struct writer *writer)
{
    if (!writer->failed)
        return writer->record;
    free(writer->record);
    return NULL;
}

static bool strict(const struct tern_comm *comm)
{
    return comm->hints & TERN_COMM_STRICT_STARTS;
}

/* Writes the record of a call. Sets `*ret_wrong` if an argument will be refused on this rank, so
 * that there is nothing to compare. */
static struct tern_record *write_record(const struct tern_comm *comm,
                                        const struct tern_check_call *call, bool *ret_wrong)
{
    struct writer writer;
    *ret_wrong = false;
    if (!begin_record(&writer, comm))
        return NULL;
    if (call->rooted)
        state_root(&writer, comm, call->root);
    if (call->op)
        state_op(&writer, call->op);
    for (uint32_t i = 0; call->same[i].name; i++)
        state_same(&writer, comm, &call->same[i], i);
    if (call->way == TERN_CHECK_PERSISTENT) {
        struct tern_fact *fact =
            add(&writer, tern_fact_key(TERN_FACT_SAME, 2, 0, 0), (uint64_t)strict(comm));
        snprintf(fact->text, sizeof fact->text, "mpi_assert_strict_start_ordering %s",
                 strict(comm) ? "true" : "false");
    }
    state_parts(&writer, comm, call);
    *ret_wrong = writer.wrong;
    return end_record(&writer);
}

/* Writes the record for the starts of a persistent collective that is being prepared. */
static struct tern_record *write_start_record(struct tern_comm *comm)
{
    struct writer writer;
    char prepared[sizeof writer.record->procedure];
    if (!begin_record(&writer, comm))
        return NULL;
    struct tern_record *record = writer.record;
    uint32_t number = ++comm->check_prepared;
    tern_text_copy(prepared, sizeof prepared, record->procedure);
    if (strict(comm)) {
        record->occasion.series = TERN_SERIES_STARTS_IN_ORDER;
        struct tern_fact *fact = add(&writer, tern_fact_key(TERN_FACT_SAME, 0, 0, 0), number);
        snprintf(fact->text, sizeof fact->text, "request %u (%s)", number, prepared);
        tern_text_copy(record->procedure, sizeof record->procedure, "MPI_Start");
    } else {
        record->occasion.series = TERN_SERIES_STARTS | number;
        snprintf(record->procedure, sizeof record->procedure, "MPI_Start (%.35s)", prepared);
    }
    return end_record(&writer);
}

static __thread struct tern_permit *next_permit;

struct tern_permit *tern_check_take_permit(void)
{
    struct tern_permit *permit = next_permit;
    next_permit = NULL;
    return permit;
}

/* Returns false if the call cannot be compared: a single process has no other rank to differ from,
 * and there is no context yet that reaches processes of other jobs. */
static bool comparable(const struct tern_comm *comm)
{
    const struct tern_group *const groups[] = {comm->group, comm->remote_group};
    for (int g = 0; g < 2 && groups[g]; g++)
        for (int i = 0; i < groups[g]->run_count; i++)
            if (groups[g]->runs[i].job != 0)
                return false;
    return comm->group->size + (comm->remote_group ? comm->remote_group->size : 0) > 1;
}

static int no_memory(void)
{
    return tern_error(TERN_ERR_NO_MEM, "no memory to compare a collective with other ranks");
}

/* Waits for the verdict. Returns 0, or TERN_ERR_NOT_SAME with a text. Blocks. */
static int wait_for(struct tern_permit *permit)
{
    int rc = tern_permit_wait(permit);
    permit->release(permit);
    return rc;
}

static int exchange(struct tern_comm *comm, const struct tern_check_call *call)
{
    bool wrong;
    struct tern_record *record = write_record(comm, call, &wrong);
    if (record && wrong) {
        free(record);
        return 0;
    }
    struct tern_permit *permit =
        record ? tern_permit_new(record, comm, call->way == TERN_CHECK_DETACHED) : NULL;
    if (!permit)
        return no_memory();
    if (call->way == TERN_CHECK_NONBLOCKING) {
        next_permit = permit;
        return 0;
    }
    if (call->way == TERN_CHECK_DETACHED) {
        permit->begin(permit);
        return 0;
    }
    int rc = wait_for(permit);
    if (rc == TERN_ERR_NOT_SAME) {
        /* The call of another rank was nonblocking; it was refused as well, but had used up a
         * tag. */
        comm->coll.next_tag++;
        if (comm->coll.local)
            comm->coll.local->next_tag++;
    }
    if (rc || call->way != TERN_CHECK_PERSISTENT)
        return rc;
    record = write_start_record(comm);
    next_permit = record ? tern_permit_new(record, comm, false) : NULL;
    return next_permit ? 0 : no_memory();
}

/* Checks the operation. An error is found by this rank alone, before the other ranks are asked.
 * They will be told that they wait for this rank. */
static int check_op(const struct tern_check_call *call)
{
    for (int i = 0; call->op && i < TERN_CHECK_PARTS; i++)
        if (call->parts[i].type)
            return tern_op_check_table(call->op, call->parts[i].type);
    return 0;
}

int tern_check_collective(struct tern_comm *comm, const struct tern_check_call *call)
{
    if (!tern_check_full())
        return 0;
    if (next_permit) /* the call that the permit was for did not use it */
        next_permit->release(next_permit);
    next_permit = NULL;
    int rc = tern_check_buffers(call->parts, "; use MPI_IN_PLACE if this is intended");
    if (!rc)
        rc = check_op(call);
    if (rc || !comparable(comm))
        return rc;
    return exchange(comm, call);
}

/* ---- calls of part of a communicator ---- */

/* Ends a record: names the ranks that must call. The lowest of these processes is the judge. No
 * fact may be added after that. */
static void await(struct writer *writer, const int places[], const uint32_t world[], int count)
{
    struct tern_record *record = writer->record;
    struct tern_record *larger =
        writer->failed ? NULL : realloc(record, tern_record_size(record->fact_count, count));
    writer->failed = !larger;
    if (!larger)
        return;
    int32_t *awaited = (int32_t *)&larger->facts[larger->fact_count];
    uint64_t digest = 0;
    larger->judge = (int32_t)world[0];
    for (int i = 0; i < count; i++) {
        awaited[i] = places[i];
        if ((int32_t)world[i] < larger->judge)
            larger->judge = (int32_t)world[i];
    }
    for (int i = 0; i < larger->fact_count; i++)
        digest = (digest ^ larger->facts[i].value) * 0x9e3779b97f4a7c15u;
    larger->awaited = count;
    larger->occasion.series = TERN_SERIES_OF_GROUP | digest >> 1;
    writer->record = larger;
}

static uint64_t hash_text(const char *text)
{
    return hash_bytes(0xcbf29ce484222325u, text, strlen(text));
}

static void state_text(struct writer *writer, uint32_t index, uint64_t value, const char *text)
{
    struct tern_fact *fact = add(writer, tern_fact_key(TERN_FACT_SAME, 0, index, 0), value);
    snprintf(fact->text, sizeof fact->text, "%.63s", text);
}

static int exchange_in_part(struct tern_comm *comm, struct writer *writer)
{
    struct tern_record *record = end_record(writer);
    struct tern_permit *permit = record ? tern_permit_new(record, comm, false) : NULL;
    return permit ? wait_for(permit) : no_memory();
}

/* Writes "group 0, 2, 3": the ranks in the order of the group. */
static void name_group(const int ranks[], int count, char *text, size_t room)
{
    size_t length = (size_t)snprintf(text, room, "group");
    for (int i = 0; i < count && length < room - 16; i++)
        length += (size_t)snprintf(text + length, room - length, "%s %d", i ? "," : "", ranks[i]);
    if (length >= room - 16 && count > 1)
        snprintf(text + length, room - length, " ... (%d)", count);
}

int tern_check_group(struct tern_comm *comm, struct tern_group *group, const char *tag)
{
    struct writer writer;
    char text[64];
    int rc = 0, n = group->size;
    if (!tern_check_full() || n < 2 || !comparable(comm))
        return 0;
    int *ranks = malloc((size_t)n * sizeof *ranks);
    uint32_t *world = malloc((size_t)n * sizeof *world);
    if (!ranks || !world || !begin_record(&writer, comm)) {
        rc = no_memory();
        goto free_ranks;
    }
    for (int i = 0; i < n; i++) {
        ranks[i] = tern_group_find(comm->group, tern_group_process(group, i));
        world[i] = world_rank(group, i);
    }
    name_group(ranks, n, text, sizeof text);
    state_text(&writer, 0, hash_text(tag), tag);
    state_text(&writer, 1, hash_bytes((uint64_t)n, ranks, (size_t)n * sizeof *ranks), text);
    await(&writer, ranks, world, n);
    rc = exchange_in_part(comm, &writer);

free_ranks:
    free(ranks);
    free(world);
    return rc;
}

int tern_check_leaders(struct tern_comm *comm, int remote_leader, const char *tag)
{
    struct writer writer;
    char text[64];
    if (!tern_check_full() || !comparable(comm) ||
        (!comm->remote_group && remote_leader == comm->group->rank))
        return 0;
    if (!begin_record(&writer, comm))
        return no_memory();
    const struct tern_group *other = comm->remote_group ? comm->remote_group : comm->group;
    int shift = comm->remote_group && !writer.side ? comm->group->size : 0;
    const int places[] = {writer.record->place, remote_leader + shift};
    const uint32_t world[] = {world_rank(comm->group, comm->group->rank),
                              world_rank(other, remote_leader)};
    bool first = world[0] < world[1];
    const uint32_t both[] = {world[!first], world[first]};
    snprintf(text, sizeof text, "remote_leader %d", remote_leader);
    state_text(&writer, 0, hash_text(tag), tag);
    state_text(&writer, 1, hash_bytes(0, both, sizeof both), text);
    await(&writer, places, world, 2);
    return exchange_in_part(comm, &writer);
}
