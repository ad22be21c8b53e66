/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * check_level full: no byte is written by two operations at a time, nor read by one while another
 * writes it; what is being sent is not changed.
 *
 * A buffer is looked at as the runs of memory that its types describe, so that two columns of one
 * matrix do not overlap. What has more than RUNS_MOST runs is passed over: to compare it would cost
 * more than it is likely to find.
 */

#include "lib/mpi/check.h"
#include "lib/mpi/request.h"
#include "lib/mpi/topo.h"
#include "lib/util/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_MOST = 1 << 16 };

/* Memory that a part of a call uses, in ascending order. */
struct runs {
    struct iovec *runs;
    int count, room;
    bool incomplete; /* too many, or no memory */
};

/* --- runs --- */

static struct iovec *next_room(struct runs *runs)
{
    if (runs->count == runs->room) {
        int room = runs->room ? 2 * runs->room : 4;
        struct iovec *more = room > RUNS_MOST ? NULL : realloc(runs->runs, (size_t)room * sizeof *more);
        if (!more) {
            runs->incomplete = true;
            return NULL;
        }
        runs->runs = more;
        runs->room = room;
    }
    return &runs->runs[runs->count];
}

static void add_block(struct runs *runs, const void *buffer, const struct tern_type *type, int64_t count)
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

/* Incomplete: none. */
static struct runs runs_of(const struct tern_check_part *part)
{
    struct runs runs = {0};
    if (!part->name || part->buffer == MPI_IN_PLACE || (!part->type && !part->types))
        return runs;
    int64_t next = 0; /* where a block without a displacement begins */
    for (int i = 0; i < part->blocks; i++) {
        const struct tern_datatype *type = tern_check_type_of(part, i);
        int64_t count = part->counts.values ? tern_ints_at(part->counts, i) : part->count;
        if (!type || count < 0)
            continue;
        int64_t unit = part->types ? 1 : type->type.extent;
        int64_t at = part->displs.values ? tern_ints_at(part->displs, i) * unit : next;
        add_block(&runs, (const char *)part->buffer + at, &type->type, count);
        next = at + count * unit;
    }
    if (runs.incomplete)
        drop(&runs);
    else
        qsort(runs.runs, (size_t)runs.count, sizeof *runs.runs, compare);
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

/* Sum of the bytes, eight at a time. */
static uint64_t sum_of(const struct runs *runs)
{
    uint64_t sum = 0xcbf29ce484222325u;
    for (int i = 0; i < runs->count; i++) {
        const char *at = runs->runs[i].iov_base, *end = end_of(&runs->runs[i]);
        for (; end - at >= 8; at += 8) {
            uint64_t word;
            memcpy(&word, at, sizeof word);
            sum = (sum ^ word) * 0x9e3779b97f4a7c15u;
            sum ^= sum >> 29;
        }
        for (; at < end; at++)
            sum = (sum ^ (unsigned char)*at) * 0x100000001b3u;
    }
    return sum;
}

/* --- what requests use --- */

struct use {
    const struct tern_request *request;
    const char *low, *high; /* all its memory lies between: most uses are passed over by that */
    const char *procedure, *name;
    bool output, active;
    int64_t exact; /* bytes that must come; -1: any number up to what there is room for */
    uint64_t sum; /* of what is sent, when it was started */
    struct runs runs;
};
static struct use *uses;
static int use_count, use_room;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* The use of an active request that forbids this one, or NULL. */
static const struct use *find_conflict(const struct runs *runs, bool output)
{
    if (runs->count == 0)
        return NULL;
    const char *low = runs->runs[0].iov_base, *high = end_of(&runs->runs[runs->count - 1]);
    for (int i = 0; i < use_count; i++)
        if (uses[i].low < high && low < uses[i].high && uses[i].active &&
            (output || uses[i].output) && overlap(runs, &uses[i].runs))
            return &uses[i];
    return NULL;
}

static int refuse(const char *name, const struct use *use)
{
    return tern_error(TERN_ERR_BUFFER,
                      "%s overlaps %s of the %s that is not complete yet; wait for its request first",
                      name, use->name, use->procedure);
}

int tern_check_buffers(const struct tern_check_part parts[TERN_CHECK_PARTS], const char *cure)
{
    struct runs runs[TERN_CHECK_PARTS] = {0};
    int rc = 0;
    if (!tern_check_full())
        return 0;
    for (int i = 0; i < TERN_CHECK_PARTS && !rc; i++) {
        runs[i] = runs_of(&parts[i]);
        if (parts[i].output && overlap_itself(&runs[i]))
            rc = tern_error(TERN_ERR_BUFFER, "%s: some bytes would be written twice, for blocks overlap",
                            parts[i].name);
        pthread_mutex_lock(&mutex);
        const struct use *use = rc ? NULL : find_conflict(&runs[i], parts[i].output);
        if (use)
            rc = refuse(parts[i].name, use);
        pthread_mutex_unlock(&mutex);
    }
    if (!rc && (parts[0].output || parts[1].output) && overlap(&runs[0], &runs[1]))
        rc = tern_error(TERN_ERR_BUFFER, "%s and %s overlap%s", parts[0].name, parts[1].name,
                        parts[0].buffer == parts[1].buffer ? cure : "");
    for (int i = 0; i < TERN_CHECK_PARTS; i++)
        drop(&runs[i]);
    return rc;
}

/* Point to point only: there, what requests receive has a status. */
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
                        .runs = runs_of(part)};
    if (use->runs.count) {
        use->low = use->runs.runs[0].iov_base;
        use->high = end_of(&use->runs.runs[use->runs.count - 1]);
    }
    if (!use->output && use->active)
        use->sum = sum_of(&use->runs);
}

void tern_check_request_made(struct tern_request *request,
                             const struct tern_check_part parts[TERN_CHECK_PARTS])
{
    if (!tern_check_full() || request->kind == &tern_request_static_kind)
        return;
    if (!request->held && request->comm) /* also a complete one: what is found out later goes to its handler */
        tern_request_hold_always(request, request->comm, NULL);
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < TERN_CHECK_PARTS; i++)
        if (parts[i].name)
            record_use(request, &parts[i]);
    pthread_mutex_unlock(&mutex);
}

int tern_check_request_started(struct tern_request *request)
{
    int rc = 0;
    if (!tern_check_full())
        return 0;
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < use_count && !rc; i++) {
        const struct use *conflict =
            uses[i].request == request ? find_conflict(&uses[i].runs, uses[i].output) : NULL;
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

int tern_check_request_done(struct tern_request *request, bool freed)
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
