/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: checks that no two operations write a byte at a time, that none reads a byte
 * while another writes it, and that the bytes of a send are not changed.
 *
 * A buffer is treated as the runs of memory that its types describe, so that two columns of one
 * matrix do not overlap. A buffer of more than RUNS_MOST runs is not checked: comparing it would
 * cost more than it is likely to find. The runs are made only if the span from a buffer's first to
 * its last byte does not settle the question. Whether elements of a datatype overlap each other is
 * computed once and kept with the datatype.
 */

#include "lib/accel/accel.h"
#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/datatype/datatype.h"
#include "lib/mpi/datatype/datatype_named.h"
#include "lib/mpi/request/request_object.h"
#include "lib/mpi/topo/topo.h"
#include "lib/util/base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 1 << 16 };

/* Runs of memory in ascending order. */
struct runs {
    struct iovec *runs;
    int count, room;
    bool incomplete; /* true if there are too many runs, or no memory */
};

/* --- runs --- */

static struct iovec *next_room(struct runs *runs)
{
    if (runs->count == runs->room) {
        int room = runs->room ? 2 * runs->room : 4;
        struct iovec *more =
            room > RUNS_MOST ? NULL : realloc(runs->runs, (size_t)room * sizeof *more);
        if (!more) {
            runs->incomplete = true;
            return NULL;
        }
        runs->runs = more;
        runs->room = room;
    }
    return &runs->runs[runs->count];
}

static void add_block(struct runs *runs, const void *buffer, const struct tern_type *type,
                      int64_t count)
{
    struct tern_cursor cursor;
    tern_cursor_init(&cursor, type, buffer, count);
    while (cursor.offset < cursor.length && !runs->incomplete) {
        struct iovec *run = next_room(runs);
        if (run)
            runs->count += tern_cursor_runs(&cursor, run, runs->room - runs->count,
                                            (size_t)(cursor.length - cursor.offset), NULL);
    }
}

static int compare(const void *a, const void *b)
{
    const struct iovec *x = a, *y = b;
    return x->iov_base < y->iov_base ? -1 : x->iov_base > y->iov_base;
}

static void drop(struct runs *runs)
{
    free(runs->runs);
    *runs = (struct runs){0};
}

const struct tern_datatype *tern_check_type_of(const struct tern_check_part *part, int block)
{
    const struct tern_handle *handle = part->types ? (const void *)part->types[block] : NULL;
    if (!part->types)
        return part->type;
    return handle && handle->magic == TERN_MAGIC_DATATYPE ? handle->state : NULL;
}

struct tern_check_part tern_check_packed(const char *name, const void *buffer, int64_t position,
                                         const struct tern_datatype *type, int64_t count,
                                         bool external, bool output)
{
    int64_t size = type->type.size - (external ? type->type.narrowed : 0);
    uintptr_t begin = (uintptr_t)buffer + (uintptr_t)position;
    return (struct tern_check_part){.name = name,
                                    .buffer = (const void *)begin,
                                    .blocks = 1,
                                    .count = count * size,
                                    .type = &tern_datatype_byte,
                                    .output = output};
}

static void sort(struct runs *runs)
{
    bool sorted = true;
    for (int i = 1; i < runs->count && sorted; i++)
        sorted = runs->runs[i - 1].iov_base <= runs->runs[i].iov_base;
    if (!sorted)
        qsort(runs->runs, (size_t)runs->count, sizeof *runs->runs, compare);
    if (runs->incomplete)
        drop(runs);
}

/* A block: `count` elements of a type. */
struct block {
    const struct tern_datatype *type;
    const char *at;
    int64_t count;
};

/* A walk through the blocks of a part. */
struct walk {
    const struct tern_check_part *part;
    int next;
    int64_t end; /* offset at which a block without a displacement begins */
};

/* Stores the next block that has data. Returns false if there is none, or if the part is not
 * significant. */
static bool next_block(struct walk *walk, struct block *ret_block)
{
    const struct tern_check_part *part = walk->part;
    if (!part->name || part->buffer == MPI_IN_PLACE || (!part->type && !part->types))
        return false;
    while (walk->next < part->blocks) {
        int i = walk->next++;
        const struct tern_datatype *type = tern_check_type_of(part, i);
        int64_t count = part->counts.values ? tern_ints_at(part->counts, i) : part->count;
        if (!type || count < 0)
            continue;
        int64_t unit = part->types ? 1 : type->type.extent;
        int64_t at = part->displs.values ? tern_ints_at(part->displs, i) * unit : walk->end;
        walk->end = at + count * unit;
        *ret_block = (struct block){type, (const char *)part->buffer + at, count};
        if (count > 0 && type->type.size > 0)
            return true;
    }
    return false;
}

/* Makes the runs of a part. Makes none if they would be incomplete. */
static struct runs runs_of(const struct tern_check_part *part)
{
    struct runs runs = {0};
    struct walk walk = {.part = part};
    struct block block;
    while (next_block(&walk, &block))
        add_block(&runs, block.at, &block.type->type, block.count);
    sort(&runs);
    return runs;
}

static const char *end_of(const struct iovec *run)
{
    return (const char *)run->iov_base + run->iov_len;
}

static bool overlap_itself(const struct runs *runs)
{
    for (int i = 1; i < runs->count; i++)
        if (end_of(&runs->runs[i - 1]) > (const char *)runs->runs[i].iov_base)
            return true;
    return false;
}

static bool overlap(const struct runs *a, const struct runs *b)
{
    for (int i = 0, k = 0; i < a->count && k < b->count;) {
        const struct iovec *x = &a->runs[i], *y = &b->runs[k];
        if (end_of(x) <= (const char *)y->iov_base)
            i++;
        else if (end_of(y) <= (const char *)x->iov_base)
            k++;
        else
            return true;
    }
    return false;
}

/* --- checks that need no runs --- */

/* The bytes from `low` to `high` - 1; empty if low == high. */
struct span {
    uintptr_t low, high;
};

static bool meet(struct span a, struct span b)
{
    return a.low < b.high && b.low < a.high;
}

static struct span span_of(const struct block *block)
{
    const struct tern_type *type = &block->type->type;
    int64_t last = (block->count - 1) * type->extent;
    uintptr_t begin = (uintptr_t)block->at + (uintptr_t)type->true_lb;
    return (struct span){begin + (uintptr_t)(last < 0 ? last : 0),
                         begin + (uintptr_t)((last > 0 ? last : 0) + type->true_extent)};
}

/* Compares the runs of `count` elements. Returns true if they do not overlap, and also if there are
 * too many of them. */
static bool find_disjoint(const struct tern_type *type, int64_t count)
{
    struct runs runs = {0};
    add_block(&runs, (const char *)(UINTPTR_MAX / 2), type, count);
    sort(&runs);
    bool disjoint = !overlap_itself(&runs);
    drop(&runs);
    return disjoint;
}

/* Returns true if no two of `count` elements share a byte. */
static bool elements_disjoint(const struct tern_datatype *datatype, int64_t count)
{
    const struct tern_type *type = &datatype->type;
    struct tern_findings *findings = (struct tern_findings *)&datatype->findings;
    if (type->contiguous || count <= __atomic_load_n(&findings->disjoint, __ATOMIC_RELAXED))
        return true;
    int64_t step = type->extent < 0 ? -type->extent : type->extent;
    bool apart = step >= type->true_extent; /* each element from the next */
    if (!find_disjoint(type, apart ? 1 : count))
        return false;
    __atomic_store_n(&findings->disjoint, apart ? INT64_MAX : count, __ATOMIC_RELAXED);
    return true;
}

/* Returns true if the blocks lie in ascending order, and no block has a byte twice. */
static bool blocks_disjoint(const struct tern_check_part *part)
{
    struct walk walk = {.part = part};
    struct block block;
    for (uintptr_t end = 0; next_block(&walk, &block);) {
        struct span span = span_of(&block);
        if (span.low < end || !elements_disjoint(block.type, block.count))
            return false;
        end = span.high;
    }
    return true;
}

/* The memory of a part: its span, and its runs once they are `known`. */
struct area {
    const struct tern_check_part *part;
    struct span span;
    bool known;
    struct runs runs;
};

static struct area area_of(const struct tern_check_part *part)
{
    struct area area = {.part = part};
    struct walk walk = {.part = part};
    struct block block;
    while (next_block(&walk, &block)) {
        struct span span = span_of(&block);
        bool first = area.span.low == area.span.high;
        area.span.low = first || span.low < area.span.low ? span.low : area.span.low;
        area.span.high = first || span.high > area.span.high ? span.high : area.span.high;
    }
    return area;
}

static const struct runs *runs_in(struct area *area)
{
    if (!area->known)
        area->runs = runs_of(area->part);
    area->known = true;
    return &area->runs;
}

/* Continues a checksum, eight bytes at a time. */
static uint64_t sum_bytes(uint64_t sum, const char *at, const char *end)
{
    for (; end - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
        sum ^= sum >> 29;
    }
    for (; at < end; at++)
        sum = (sum ^ (unsigned char)*at) * 0x100000001b3u;
    return sum;
}

/* The same for bytes in device memory, which are copied to the host. */
static uint64_t sum_device_bytes(uint64_t sum, const char *at, const char *end)
{
    enum { PIECE = 16 << 10 };
    char piece[PIECE];
    while (at < end) {
        size_t bytes = end - at < PIECE ? (size_t)(end - at) : PIECE;
        if (tern_accel_copy(piece, at, bytes))
            return sum; /* the call itself says what is wrong with the buffer */
        sum = sum_bytes(sum, piece, piece + bytes);
        at += bytes;
    }
    return sum;
}

/* Returns a checksum of the bytes. */
static uint64_t sum_of(const struct runs *runs)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = 0; i < runs->count; i++) {
        const char *at = runs->runs[i].iov_base, *end = end_of(&runs->runs[i]);
        sum = tern_accel_holds(at) ? sum_device_bytes(sum, at, end) : sum_bytes(sum, at, end);
    }
    return sum;
}

/* --- memory that requests use --- */

struct use {
    const struct tern_request *request;
    struct span span; /* rules out most conflicts without looking at the runs */
    const char *procedure, *name;
    bool output, active;
    /* bytes that the message must have; -1: any number up to the size of the buffer */
    int64_t exact;
    uint64_t sum; /* checksum of the bytes to send, taken at the start */
    struct runs runs;
};
static struct use *uses;
static int use_count, use_room;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Returns the use of an active request that conflicts with this area, or NULL. */
static const struct use *find_conflict(struct area *area, bool output)
{
    for (int i = 0; i < use_count; i++)
        if (uses[i].active && (output || uses[i].output) && meet(uses[i].span, area->span) &&
            overlap(runs_in(area), &uses[i].runs))
            return &uses[i];
    return NULL;
}

static int refuse(const char *name, const struct use *use)
{
    return tern_error(
        TERN_ERR_BUFFER,
        "%s overlaps %s of the %s that is not complete yet; wait for its request first", name,
        use->name, use->procedure);
}

int tern_check_buffers(const struct tern_check_part parts[TERN_CHECK_PARTS], const char *cure)
{
    struct area areas[TERN_CHECK_PARTS];
    int rc = 0;
    if (!tern_check_full())
        return 0;
    for (int i = 0; i < TERN_CHECK_PARTS; i++)
        areas[i] = area_of(&parts[i]);
    for (int i = 0; i < TERN_CHECK_PARTS && !rc; i++) {
        if (parts[i].output && !blocks_disjoint(&parts[i]) && overlap_itself(runs_in(&areas[i])))
            rc = tern_error(TERN_ERR_BUFFER,
                            "%s: blocks overlap, so some bytes would be written twice",
                            parts[i].name);
        pthread_mutex_lock(&mutex);
        const struct use *use = rc ? NULL : find_conflict(&areas[i], parts[i].output);
        if (use)
            rc = refuse(parts[i].name, use);
        pthread_mutex_unlock(&mutex);
    }
    if (!rc && (parts[0].output || parts[1].output) && meet(areas[0].span, areas[1].span) &&
        overlap(runs_in(&areas[0]), runs_in(&areas[1])))
        rc = tern_error(TERN_ERR_BUFFER, "%s and %s overlap%s", parts[0].name, parts[1].name,
                        parts[0].buffer == parts[1].buffer ? cure : "");
    for (int i = 0; i < TERN_CHECK_PARTS; i++)
        drop(&areas[i].runs);
    return rc;
}

/* Returns the length that the message must have, or -1. Only for point to point, where requests
 * that receive have a status. */
static int64_t exact_length(const struct tern_request *request, const struct tern_check_part *part)
{
    const struct tern_comm *comm = request->comm;
    bool asserted = comm && comm->hints & TERN_COMM_EXACT_LENGTH;
    return asserted && part->output && request->kind->receives && part->type
               ? (int64_t)part->count * part->type->type.size
               : -1;
}

static void record_use(struct tern_request *request, const struct tern_check_part *part)
{
    if (use_count == use_room) {
        int room = use_room ? 2 * use_room : 64;
        struct use *more = realloc(uses, (size_t)room * sizeof *more);
        if (!more)
            return;
        uses = more;
        use_room = room;
    }
    struct use *use = &uses[use_count++];
    *use = (struct use){.request = request,
                        .procedure = tern_check_procedure(),
                        .name = part->name,
                        .output = part->output,
                        .active = request->active,
                        .exact = exact_length(request, part),
                        .span = area_of(part).span,
                        .runs = runs_of(part)};
    if (!use->output && use->active)
        use->sum = sum_of(&use->runs);
}

void tern_check_request_made(struct tern_request *request,
                             const struct tern_check_part parts[TERN_CHECK_PARTS])
{
    if (!tern_check_full() || request->kind == &tern_request_static_kind)
        return;
    if (!request->held &&
        request->comm) /* also if complete: an error found later goes to its error handler */
        tern_request_hold_always(request, request->comm, NULL);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < TERN_CHECK_PARTS; i++)
        if (parts[i].name)
            record_use(request, &parts[i]);
    pthread_mutex_unlock(&mutex);
}

static int request_started(struct tern_request *request)
{
    int rc = 0;
    if (!tern_check_full())
        return 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < use_count && !rc; i++) {
        struct area area = {.span = uses[i].span, .known = true, .runs = uses[i].runs};
        const struct use *conflict =
            uses[i].request == request ? find_conflict(&area, uses[i].output) : NULL;
        if (conflict)
            rc = refuse(uses[i].name, conflict);
    }
    for (int i = 0; i < use_count && !rc; i++) {
        if (uses[i].request != request)
            continue;
        uses[i].active = true;
        if (!uses[i].output)
            uses[i].sum = sum_of(&uses[i].runs);
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}

static int request_done(struct tern_request *request, bool freed)
{
    int rc = 0;
    if (!tern_check_full())
        return 0;
    pthread_mutex_lock(&mutex);
    for (int i = use_count - 1; i >= 0; i--) {
        struct use *use = &uses[i];
        if (use->request != request)
            continue;
        if (!freed && use->active && !use->output && sum_of(&use->runs) != use->sum)
            rc = tern_error(TERN_ERR_BUFFER,
                            "%s of %s was changed before the request was complete", use->name,
                            use->procedure);
        if (!freed && !rc && use->active && use->exact >= 0 && !request->error)
            rc = tern_check_length(use->exact, &request->status);
        use->active = false;
        if (request->persistent && !freed)
            continue;
        drop(&use->runs);
        *use = uses[--use_count];
    }
    if (use_count == 0) {
        free(uses);
        uses = NULL;
        use_room = 0;
    }
    pthread_mutex_unlock(&mutex);
    return rc;
}

const struct tern_request_checks tern_check_of_requests = {.started = request_started,
                                                           .done = request_done};

/* --- blocks --- */

int tern_check_ranks(const struct tern_comm *comm)
{
    return comm->remote_group ? comm->remote_group->size : comm->group->size;
}

int tern_check_neighbors(const struct tern_comm *comm, bool output)
{
    struct tern_neighbors neighbors;
    if (tern_topo_neighbors(comm, &neighbors))
        return 0;
    return output ? neighbors.indegree : neighbors.outdegree;
}
