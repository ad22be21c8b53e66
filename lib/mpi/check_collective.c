/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: what a collective call states to the other ranks (check_record.h).
 *
 * Which arguments must agree is said by tern_check_pattern; entry points choose it from the table.
 * In an intercommunicator data has a side: the group that sends it, where both send.
 */

#include "lib/mpi/check.h"
#include "lib/mpi/check_record.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The record being written; it grows. */
struct writer {
    struct tern_record *record;
    int room;
    bool failed; /* no memory */
    int side;    /* mine: 0 the judge's group */
};

static struct tern_fact *add(struct writer *writer, uint64_t key, uint64_t value)
{
    static struct tern_fact lost;
    if (writer->failed)
        return &lost;
    if (writer->record->fact_count == writer->room) {
        int room = 2 * writer->room;
        struct tern_record *more = realloc(writer->record, tern_record_size(room));
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

static const struct tern_datatype *type_of(const struct tern_check_part *part, int block)
{
    return part->types ? tern_datatype_of(part->types[block]) : part->type;
}

static int64_t count_of(const struct tern_check_part *part, int block)
{
    return part->counts.values ? tern_ints_at(part->counts, block) : part->count;
}

/* `block` -1: the one count of all blocks. */
static void state_data(struct writer *writer, const struct tern_check_part *part, int block, int side,
                       uint32_t from, uint32_t to)
{
    const struct tern_datatype *type = type_of(part, block < 0 ? 0 : block);
    int64_t count = count_of(part, block < 0 ? 0 : block);
    struct tern_fact *fact = add(writer, tern_fact_key(TERN_FACT_DATA, side, from, to),
                                 tern_check_signature(type, count));
    char index[24] = "", name[26];
    if (block >= 0 && part->counts.values)
        snprintf(index, sizeof index, "[%d]", block);
    if (type->name[0])
        snprintf(name, sizeof name, "%.24s", type->name);
    else
        snprintf(name, sizeof name, "%ld bytes", (long)type->type.size);
    snprintf(fact->text, sizeof fact->text, "%.10s%.8s %ld of %.20s", part->count_name, index,
             (long)count, name);
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

static void state_parts(struct writer *writer, const struct tern_comm *comm,
                        const struct tern_check_call *call)
{
    for (int p = 0; p < TERN_CHECK_PARTS; p++) {
        const struct tern_check_part *part = &call->parts[p];
        bool data = part->count_name && (part->type || part->types);
        switch (call->pattern) {
        case TERN_CHECK_ONE_BLOCK:
            /* Between two groups each direction is a matter of its own, but for what comes from one root. */
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
            for (int i = 0; p == 0 && data && i < (part->counts.values ? comm->group->size : 1); i++)
                state_data(writer, part, part->counts.values ? i : -1, writer->side, 0, (uint32_t)i);
            break;
        case TERN_CHECK_NO_DATA:
        case TERN_CHECK_NEIGHBORS: break;
        }
    }
}

/* Of an intercommunicator: who is root, as (side, rank). Those beside the root know no more than that
 * it is one of them. */
static void state_root(struct writer *writer, const struct tern_comm *comm, int root)
{
    struct tern_fact *fact;
    if (!comm->remote_group) {
        fact = add(writer, tern_fact_key(TERN_FACT_ROOT, 0, 0, 0), (uint64_t)root);
        snprintf(fact->text, sizeof fact->text, "root %d", root);
        return;
    }
    int side = root == MPI_ROOT || root == MPI_PROC_NULL ? writer->side : !writer->side;
    const char *said = root == MPI_ROOT ? "MPI_ROOT" : root == MPI_PROC_NULL ? "MPI_PROC_NULL" : "a rank";
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

/* Functions have other addresses in other processes: of a user's operation only the nature counts. */
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

static void state_same(struct writer *writer, const struct tern_check_same *same, uint32_t index)
{
    int n = same->n > 0 ? same->n : 0; /* lengths that are wrong are refused later */
    struct tern_fact *fact = add(
        writer, tern_fact_key(TERN_FACT_SAME, 0, index, 0),
        hash_bytes(0xcbf29ce484222325u + (uint64_t)n, same->values, (size_t)n * (size_t)same->size));
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

/* NULL: no memory. */
static struct tern_record *write_record(const struct tern_comm *comm,
                                        const struct tern_check_call *call)
{
    enum { ROOM = 8 };
    struct writer writer = {.record = malloc(tern_record_size(ROOM)), .room = ROOM};
    if (!writer.record)
        return NULL;
    uint32_t judge = world_rank(comm->group, 0);
    int remote = 0;
    if (comm->remote_group) {
        uint32_t other = world_rank(comm->remote_group, 0);
        writer.side = other < judge;
        judge = other < judge ? other : judge;
        remote = comm->remote_group->size;
    }
    memset(writer.record, 0, tern_record_size(0));
    *writer.record = (struct tern_record){
        .comm = comm->coll.context.id,
        .sender = (int32_t)tern_rte.rank,
        .judge = (int32_t)judge,
        .members = comm->group->size + remote,
        .local = writer.side ? remote : comm->group->size,
        .place = comm->group->rank + (writer.side ? remote : 0),
    };
    const char *name = tern_check_procedure();
    size_t length = strlen(name);
    if (length > 2 && strcmp(name + length - 2, "_c") == 0)
        length -= 2; /* MPI_Bcast and MPI_Bcast_c are one operation */
    snprintf(writer.record->procedure, sizeof writer.record->procedure, "%.*s", (int)length, name);
    snprintf(writer.record->comm_name, sizeof writer.record->comm_name, "%.47s",
             comm->name[0] ? comm->name : "a communicator without a name");
    if (call->rooted)
        state_root(&writer, comm, call->root);
    if (call->op)
        state_op(&writer, call->op);
    for (uint32_t i = 0; call->same[i].name; i++)
        state_same(&writer, &call->same[i], i);
    state_parts(&writer, comm, call);
    if (!writer.failed)
        return writer.record;
    free(writer.record);
    return NULL;
}

static __thread struct tern_permit *next_permit;

struct tern_permit *tern_check_take_permit(void)
{
    struct tern_permit *permit = next_permit;
    next_permit = NULL;
    return permit;
}

/* Alone there is nobody to differ from; with processes of other jobs there is no context yet. */
static bool comparable(const struct tern_comm *comm)
{
    const struct tern_group *const groups[] = {comm->group, comm->remote_group};
    for (int g = 0; g < 2 && groups[g]; g++)
        for (int i = 0; i < groups[g]->run_count; i++)
            if (groups[g]->runs[i].job != 0)
                return false;
    return comm->group->size + (comm->remote_group ? comm->remote_group->size : 0) > 1;
}

static int exchange(struct tern_comm *comm, const struct tern_check_call *call)
{
    struct tern_record *record = write_record(comm, call);
    struct tern_permit *permit =
        record ? tern_permit_new(record, comm, call->way == TERN_CHECK_DETACHED) : NULL;
    if (!permit)
        return tern_error(TERN_ERR_NO_MEM, "no memory to compare a collective with other ranks");
    if (call->way == TERN_CHECK_NONBLOCKING) {
        next_permit = permit;
        return 0;
    }
    if (call->way == TERN_CHECK_DETACHED) {
        permit->begin(permit);
        return 0;
    }
    int rc = tern_permit_wait(permit);
    if (rc == TERN_ERR_NOT_SAME) {
        /* Another rank's nonblocking call, refused as well, has used up a tag. */
        comm->coll.next_tag++;
        if (comm->coll.local)
            comm->coll.local->next_tag++;
    }
    permit->release(permit);
    return rc;
}

int tern_check_collective(struct tern_comm *comm, const struct tern_check_call *call)
{
    if (!tern_check_full())
        return 0;
    if (next_permit) /* the call it was for did not come to use it */
        next_permit->release(next_permit);
    next_permit = NULL;
    int rc = tern_check_buffers(call->parts);
    if (rc || !comparable(comm))
        return rc;
    return exchange(comm, call);
}
