/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The steps of a data access.
 *
 *   pointer      at the common pointer: take the place, in the order of ranks if all make the call
 *   facts        collective only, if a view has gaps: which bytes each rank accesses. From them all
 *                ranks choose alike whether everybody accesses the file by itself, or all exchange
 *                data first
 *   access       by itself, with the lock in atomic mode, or with exchange (exchange.c)
 *   agreement    collective only: the error is the same on all ranks
 */
#include "lib/io/transfer.h"

#include "lib/io/access/datarep.h"
#include "lib/io/exchange.h"
#include "lib/io/file_operation.h"
#include "lib/io/shared.h"
#include "lib/mpi/request/request_object.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/base/log.h"

#include <stdlib.h>
#include <string.h>

#include "lib/mpi/procedures.h"

static int64_t etypes_of(const struct tern_operation *op)
{
    int64_t each = op->file->view.etype_bytes;
    return each > 0 ? op->access.memory.length / each : 0;
}

/* Sets the place in the stream: `at` etypes from the begin of the view. */
static int set_place(struct tern_operation *op, int64_t at)
{
    const struct tern_view *view = &op->file->view;
    int64_t end;
    if (__builtin_mul_overflow(at, view->etype_bytes, &op->access.position) ||
        __builtin_add_overflow(op->access.position, op->access.memory.length, &end) ||
        !tern_view_reaches(view, end))
        return tern_error(TERN_ERR_ARG, "an access of %lld etypes at offset %lld ends behind byte "
                                        "2^63 - 1 of the file; an etype has %lld bytes",
                          (long long)etypes_of(op), (long long)at, (long long)view->etype_bytes);
    return 0;
}

/* ---- the end ---- */

static void end(struct tern_operation *op)
{
    op->step = NULL;
}

static void settle(struct tern_operation *op)
{
    tern_file_watch_end(&op->watch);
    if (op->collective && tern_file_size(op->file) > 1)
        tern_operation_agree(op, NULL, end);
}

/* ---- access by itself ---- */

static void do_access(struct tern_operation *op)
{
    int error = tern_access_run(&op->access);
    if (error)
        tern_operation_fail(op, error);
}

/* In atomic mode: sees what the holders of the lock before have written, and shows what it writes
 * to those that come. */
static void do_access_in_turn(struct tern_operation *op)
{
    const struct tern_access *access = &op->access;
    if (access->revalidates && !access->writes)
        tern_system_revalidate(access->fd);
    do_access(op);
    int error = access->revalidates && access->writes ? tern_system_flush(access->fd, access->path)
                                                      : 0;
    if (error)
        tern_operation_fail(op, error);
}

static void give_lock(struct tern_operation *op)
{
    tern_shared_unlock(op);
    op->step = settle;
}

static void with_lock(struct tern_operation *op)
{
    op->step = give_lock;
    tern_operation_work(op, do_access_in_turn);
}

static void access_alone(struct tern_operation *op)
{
    if (op->error) {
        settle(op);
    } else if (op->file->atomic) {
        tern_shared_lock(op);
        op->step = with_lock;
    } else {
        op->step = settle;
        tern_operation_work(op, do_access);
    }
}

/* ---- the choice of a collective access ---- */

/* What a rank tells the others. */
struct facts {
    int64_t first, end; /* bytes of the file from the first to behind the last; equal: none */
    int64_t bytes, run_bytes;
    int64_t unordered; /* the access does not go through the file from front to back */
    int32_t failed, overlaps;
};

static struct facts facts_of(const struct tern_operation *op)
{
    const struct tern_access *access = &op->access;
    struct facts facts = {.failed = op->error != 0,
                          .overlaps = !access->writes && tern_exchange_should_overlap(op->file)};
    if (access->memory.length == 0 || op->error)
        return facts;
    facts.bytes = access->memory.length;
    facts.first = tern_view_offset(access->view, access->position);
    facts.end = tern_view_offset(access->view, access->position + facts.bytes - 1) + 1;
    facts.run_bytes = access->view->run_bytes;
    facts.unordered =
        !tern_view_rises(access->view, access->position, access->position + facts.bytes);
    return facts;
}

/* What follows from the facts of all ranks. */
struct summary {
    int64_t begin, end, bytes;
    int64_t run_bytes; /* of the rank with the shortest runs */
    bool interleaved;  /* ranges of ranks overlap */
    bool unordered;
    bool failed;
    bool overlap; /* all ranks want to read the next round while data are exchanged */
};

static int by_first(const void *a, const void *b)
{
    const struct facts *x = a, *y = b;
    return x->first < y->first ? -1 : x->first > y->first;
}

static struct summary summarize(struct facts *facts, int ranks)
{
    struct summary all = {.begin = INT64_MAX, .run_bytes = INT64_MAX, .overlap = true};
    qsort(facts, (size_t)ranks, sizeof *facts, by_first);
    for (int r = 0; r < ranks; r++) {
        all.failed |= facts[r].failed;
        all.overlap &= facts[r].overlaps;
        if (facts[r].bytes == 0)
            continue;
        all.interleaved |= facts[r].first < all.end;
        all.begin = facts[r].first < all.begin ? facts[r].first : all.begin;
        all.end = facts[r].end > all.end ? facts[r].end : all.end;
        all.bytes += facts[r].bytes;
        all.unordered |= facts[r].unordered;
        if (facts[r].run_bytes < all.run_bytes)
            all.run_bytes = facts[r].run_bytes;
    }
    return all;
}

/* Returns the length of runs that ranks access better by themselves. In a file system of the host's
 * own a run costs a system call, and an exchange copies twice more: two pages are enough. Over
 * servers a run costs a question, and blocks must not be shared by hosts. */
static int64_t long_run(const struct tern_file *file)
{
    enum { LONG_HERE = 1 << 13, LONG_ELSEWHERE = 1 << 18 };
    bool here = file->system.kind == TERN_FILE_SYSTEM_LOCAL && tern_file_nodes(file) == 1;
    return here ? LONG_HERE : LONG_ELSEWHERE;
}

/* Returns true if it is better to exchange data first. Every rank must find the same. */
static bool exchange_is_better(const struct tern_operation *op, const struct summary *all)
{
    enum { SPARSE = 8 };
    const struct tern_hints *hints = &op->file->hints;
    enum tern_hint_choice choice = op->access.writes ? hints->cb_write : hints->cb_read;
    if (all->bytes == 0 || all->unordered || choice == TERN_HINT_DISABLE)
        return false;
    if (choice == TERN_HINT_ENABLE)
        return true;
    return all->interleaved && all->run_bytes < long_run(op->file) &&
           (all->end - all->begin) / SPARSE <= all->bytes;
}

/* Shows on rank 0 how far an access of `bytes` bytes of all ranks is, if that is wanted. */
static void watch(struct tern_operation *op, int64_t bytes)
{
    if (tern_file_rank(op->file) > 0)
        return;
    tern_file_watch_begin(&op->watch, op->file->path, op->access.writes, bytes);
    op->access.watch = &op->watch;
}

static void choose(struct tern_operation *op)
{
    struct summary all =
        summarize((struct facts *)op->gather.blocks, tern_file_size(op->file));
    if (all.failed) {
        settle(op);
        return;
    }
    watch(op, all.bytes);
    if (!exchange_is_better(op, &all)) {
        access_alone(op);
        return;
    }
    int error = tern_exchange_begin(op, all.begin, all.end, all.overlap, settle);
    if (error) { /* the other ranks wait for this one's part: there is no way on */
        tern_log("%s (\"%s\")", tern_error_text(error), op->file->path);
        abort();
    }
}

/* Returns true if ranks must tell each other what they access, so that all choose alike. If the
 * view of every rank is one run, each access is one run, and an exchange would gain nothing: then
 * one meeting of all ranks is saved. */
static bool must_tell(const struct tern_operation *op)
{
    const struct tern_file *file = op->file;
    enum tern_hint_choice choice = op->access.writes ? file->hints.cb_write : file->hints.cb_read;
    return op->collective && tern_file_size(file) > 1 && !file->atomic &&
           (file->scattered || choice == TERN_HINT_ENABLE);
}

static void begin_access(struct tern_operation *op)
{
    if (must_tell(op)) {
        struct facts facts = facts_of(op);
        tern_operation_gather(op, &facts, sizeof facts, choose);
    } else {
        if (op->collective)
            watch(op, op->access.memory.length);
        access_alone(op);
    }
}

/* ---- the common pointer ---- */

static void at_fetched(struct tern_operation *op)
{
    int error = set_place(op, op->fetched);
    if (error)
        tern_operation_fail(op, error);
    begin_access(op);
}

/* Rank 0 has moved the pointer for all ranks: block 0 is where it stood. */
static void take_place(struct tern_operation *op)
{
    if (__builtin_add_overflow(((int64_t *)op->gather.blocks)[0], op->before, &op->fetched))
        op->fetched = INT64_MAX; /* set_place refuses it */
    at_fetched(op);
}

static void tell_place(struct tern_operation *op)
{
    tern_operation_gather(op, &op->fetched, sizeof op->fetched, take_place);
}

/* What a rank that has failed tells in place of a number of etypes. */
enum { FAILED = -1 };

/* Called with the number of etypes of each rank. If a rank has failed, the pointer stays. */
static void count_before(struct tern_operation *op)
{
    const int64_t *etypes = (int64_t *)op->gather.blocks;
    int64_t total = 0;
    for (int r = 0; r < tern_file_size(op->file); r++) {
        if (etypes[r] == FAILED) {
            settle(op);
            return;
        }
        if (r == tern_file_rank(op->file))
            op->before = total;
        if (__builtin_add_overflow(total, etypes[r], &total))
            total = INT64_MAX; /* the pointer cannot move so far */
    }
    op->step = tell_place;
    op->fetched = 0;
    if (tern_file_rank(op->file) == 0)
        tern_shared_add(op, total);
}

static void begin_transfer(struct tern_operation *op)
{
    int64_t etypes = op->error ? FAILED : etypes_of(op);
    if (op->shared && op->collective) {
        tern_operation_gather(op, &etypes, sizeof etypes, count_before);
    } else if (op->shared) {
        op->step = at_fetched;
        tern_shared_add(op, etypes);
    } else {
        begin_access(op);
    }
}

/* ---- from arguments to an operation ---- */

/* Checks whether the file's access mode permits the access. All ranks find the same, because the
 * mode is the same on all of them. */
static int check_mode(const struct tern_transfer_wish *wish)
{
    const struct tern_file *file = wish->file;
    if (wish->writes && file->amode & MPI_MODE_RDONLY)
        return tern_error(TERN_ERR_READ_ONLY, "\"%s\" was opened with MPI_MODE_RDONLY; writing "
                                              "needs MPI_MODE_WRONLY or MPI_MODE_RDWR",
                          file->path);
    if (!wish->writes && file->amode & MPI_MODE_WRONLY)
        return tern_error(TERN_ERR_ACCESS, "\"%s\" was opened with MPI_MODE_WRONLY; reading needs "
                                           "MPI_MODE_RDONLY or MPI_MODE_RDWR",
                          file->path);
    if (wish->where != TERN_SHARED && file->amode & MPI_MODE_SEQUENTIAL)
        return tern_error(TERN_ERR_UNSUPPORTED_OPERATION,
                          "\"%s\" was opened with MPI_MODE_SEQUENTIAL; only the procedures of the "
                          "common pointer (MPI_File_read_shared ...) may be used",
                          file->path);
    return 0;
}

/* Checks the rest of what the entry point cannot know. */
static int check(const struct tern_transfer_wish *wish)
{
    if (wish->fault)
        return wish->fault;
    if (wish->where == TERN_AT && wish->offset < 0)
        return tern_error(TERN_ERR_ARG, "offset is %lld; it may not be negative",
                          (long long)wish->offset);
    if (wish->collective && wish->file->split)
        return tern_error(TERN_ERR_OTHER, "a split collective has begun on \"%s\" and has not "
                                          "ended; end it first",
                          wish->file->path);
    return 0;
}

/* Describes the memory: the user's, or a buffer for the file's form of the data. */
static int find_memory(struct tern_operation *op, const struct tern_transfer_wish *wish)
{
    const struct tern_view *view = &op->file->view;
    struct tern_cursor *memory = &op->access.memory;
    tern_cursor_init(memory, &wish->datatype->type, wish->buf, wish->count);
    if (tern_datarep_converts(view->datarep, wish->writes)) {
        int64_t bytes = tern_datarep_bytes(view->datarep, wish->datatype, wish->count);
        if (bytes < 0)
            return (int)bytes;
        op->file_form = malloc((size_t)bytes + 1);
        if (!op->file_form)
            return tern_error(TERN_ERR_NO_MEM, "no memory to convert %lld bytes",
                              (long long)bytes);
        tern_cursor_init(memory, &tern_type_bytes, op->file_form, bytes);
        int error = wish->writes ? tern_datarep_write(view->datarep, wish->datatype, wish->buf,
                                                      wish->count, op->file_form)
                                 : 0;
        if (error)
            return error;
    }
    if (view->layout->type.size == 0 && memory->length > 0)
        return tern_error(TERN_ERR_ARG,
                          "the buffer has %lld bytes of data, but the view shows no byte of the "
                          "file: its filetype is empty",
                          (long long)memory->length);
    if (view->etype_bytes == 0 ? memory->length > 0 : memory->length % view->etype_bytes != 0)
        return tern_error(TERN_ERR_ARG,
                          "count is %lld, which makes %lld bytes: no multiple of the view's etype, "
                          "which has %lld",
                          (long long)wish->count, (long long)memory->length,
                          (long long)view->etype_bytes);
    return 0;
}

/* Finds the place in the stream. Moves the rank's own pointer if the access may begin. */
static int find_place(struct tern_operation *op, const struct tern_transfer_wish *wish)
{
    struct tern_file *file = op->file;
    if (wish->where == TERN_SHARED)
        return 0;
    if (wish->where == TERN_AT)
        return set_place(op, wish->offset);
    pthread_mutex_lock(&file->mutex);
    int error = set_place(op, file->position);
    if (!error)
        file->position += etypes_of(op);
    pthread_mutex_unlock(&file->mutex);
    return error;
}

/* Makes the operation. What all ranks find wrong ends the call on all of them. What this rank alone
 * has found ends a call of this rank alone; in a collective call it becomes the operation's error,
 * because the other ranks wait. */
static int make(const struct tern_transfer_wish *wish, struct tern_operation **ret_op)
{
    struct tern_operation *op;
    struct tern_file *file = wish->file;
    int error = check_mode(wish);
    if (error)
        return error;
    error = check(wish);
    if (error && !wish->collective)
        return error;
    int fatal = tern_operation_new(file, &op);
    if (fatal)
        return fatal;
    if (!wish->fault) {
        tern_datatype_retain(wish->datatype);
        op->datatype = wish->datatype;
    }
    op->buf = wish->buf;
    op->count = wish->count;
    op->collective = wish->collective;
    op->shared = wish->where == TERN_SHARED;
    op->access = (struct tern_access){.fd = file->fd,
                                      .path = file->path,
                                      .revalidates = file->incoherent,
                                      .writes = wish->writes,
                                      .view = &file->view,
                                      .hints = &file->hints};
    op->step = begin_transfer;
    if (!error)
        error = find_memory(op, wish);
    if (!error)
        error = find_place(op, wish);
    if (error && !wish->collective) {
        tern_operation_free(op);
        return error;
    }
    if (error) {
        tern_operation_fail(op, error);
        tern_cursor_init(&op->access.memory, &tern_type_bytes, NULL, 0);
    }
    if (wish->collective)
        op->serial = file->serial++;
    *ret_op = op;
    return 0;
}

/* Reports a complete operation, and frees it. */
static int report(struct tern_operation *op, MPI_Status *status)
{
    int error = op->request.kind->query(&op->request);
    tern_status_copy(status, &op->request.status);
    error = op->error ? op->error : error;
    if (op->error)
        tern_error(op->error, "%s", op->text);
    tern_operation_free(op);
    return error;
}

int tern_transfer_run(const struct tern_transfer_wish *wish, MPI_Status *status)
{
    struct tern_operation *op;
    int error = make(wish, &op);
    if (error)
        return error;
    tern_operation_run(op);
    return report(op, status);
}

/* Starts an operation that has failed on this rank, so that the other ranks hear of it. Here nobody
 * waits for its end. Returns its error. */
static int start_failed(struct tern_operation *op)
{
    struct tern_request *request = &op->request;
    int failure = op->error;
    char text[sizeof op->text];
    memcpy(text, op->text, sizeof text);
    int error = tern_operation_start(op);
    if (!error)
        error = tern_mpi_request_free(&request);
    return error ? error : tern_error(failure, "%s", text);
}

int tern_transfer_start(const struct tern_transfer_wish *wish, struct tern_request **ret_request)
{
    struct tern_operation *op;
    int error = make(wish, &op);
    if (error)
        return error;
    if (op->error)
        return start_failed(op);
    tern_request_hold_always(&op->request, op->file->comm, NULL);
    error = tern_operation_start(op);
    if (!error)
        *ret_request = &op->request;
    return error;
}

/* ---- split collectives ---- */

int tern_transfer_begin(const struct tern_transfer_wish *wish)
{
    struct tern_operation *op;
    int error = make(wish, &op);
    if (error)
        return error;
    if (op->error)
        return start_failed(op);
    op->where = wish->where;
    wish->file->split = op;
    return tern_operation_start(op);
}

int tern_transfer_end(const struct tern_transfer_wish *wish, MPI_Status *status)
{
    struct tern_file *file = wish->file;
    struct tern_operation *op = file->split;
    if (!op || op->access.writes != wish->writes || op->where != (int)wish->where)
        return tern_error(TERN_ERR_OTHER,
                          "no split collective of this kind has begun on \"%s\"; call the "
                          "procedure with _begin first",
                          file->path);
    tern_request_wait_in(&op->request, "the end of a split collective");
    file->split = NULL;
    return report(op, status);
}
