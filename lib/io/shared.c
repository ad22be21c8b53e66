/* SPDX-License-Identifier: BSD-3-Clause */

/* What all ranks of a file share: the common pointer, and the lock of atomic mode. */

#include "lib/io/shared.h"

#include "lib/io/file_operation.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* What the ranks share. */
struct board {
    int64_t pointer; /* atomic; in etypes */
    int32_t locked;  /* atomic */
};

/* What a rank asks of rank 0: ADD an amount to the pointer, LOCK, UNLOCK. */
enum request_kind { ADD, LOCK, UNLOCK };
struct request {
    int64_t kind, amount;
};

/* An answer of rank 0 on its way. */
struct answer {
    int64_t value;
    struct tern_request *request;
    struct answer *next;
};

struct tern_shared {
    struct board *board; /* memory of the node; on rank 0 of several nodes its own memory */
    bool mapped;         /* the ranks share `board` */
    bool has_thread;     /* this rank answers also while its program computes */
    /* of rank 0, over several nodes; the lane's lock guards them */
    struct request request;        /* what arrives */
    struct tern_request *incoming; /* the receive for it; NULL: this rank does not answer */
    struct answer *answers;
    int *waiting; /* ranks that wait for the lock, in the order of their requests */
    int waiting_count, waiting_room;
};

/* ---- in the memory of the node ---- */

/* Where rank 0 has the memory. */
struct place {
    int64_t process, fd; /* fd < 0: rank 0 could not make it */
};

static int make_memory(void)
{
    int fd = memfd_create("tern-file", MFD_CLOEXEC);
    if (fd >= 0 && ftruncate(fd, sizeof(struct board))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

static void map_memory(struct tern_shared *shared, int fd)
{
    void *memory = mmap(NULL, sizeof(struct board), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory != MAP_FAILED) {
        shared->board = memory;
        shared->mapped = true;
    }
}

static void map_memory_of(struct tern_shared *shared, const struct place *place)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)place->process,
             (long long)place->fd);
    int fd = place->fd < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    map_memory(shared, fd);
    close(fd);
}

/* Shares the memory of the node, if all ranks of the file are on it. Returns true if all ranks have
 * it. */
static bool share_memory(struct tern_file *file, struct tern_shared *shared)
{
    struct tern_comm *comm = file->comm;
    struct place place = {0};
    int fd = -1;
    if (comm->coll.ranks_per_node != tern_file_size(file))
        return false;
    if (tern_file_rank(file) == 0) {
        fd = make_memory();
        place = (struct place){getpid(), fd};
        if (fd >= 0)
            map_memory(shared, fd);
    }
    int error = tern_comm_bcast_bytes(comm, &place, sizeof place, 0);
    if (!error && tern_file_rank(file) > 0)
        map_memory_of(shared, &place);
    const int64_t equal[2] = {0};
    error = tern_file_agree(file, shared->mapped ? 0 : TERN_ERR_UNSUPPORTED, equal, "");
    if (fd >= 0)
        close(fd);
    if (!error)
        return true;
    if (shared->mapped)
        munmap(shared->board, sizeof(struct board));
    shared->mapped = false;
    shared->board = NULL;
    return false;
}

static bool try_lock(struct tern_file *file)
{
    int32_t is_free = 0;
    /* acquire: we see what the last holder wrote */
    return __atomic_compare_exchange_n(&file->shared->board->locked, &is_free, 1, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/* ---- by messages ---- */

static int post_receive(struct tern_file *file)
{
    return tern_pml_irecv(&file->comm->p2p, &file->shared->request, sizeof(struct request),
                          &tern_type_bytes, MPI_ANY_SOURCE,
                          tern_operation_tag(0, TERN_IO_ASK), &file->shared->incoming);
}

static void answer(struct tern_file *file, int rank, enum tern_io_message kind, int64_t value)
{
    struct answer *made = malloc(sizeof *made);
    if (!made)
        return;
    made->value = value;
    if (tern_pml_isend(&file->comm->p2p, &made->value, sizeof made->value, &tern_type_bytes, rank,
                       tern_operation_tag(0, kind), TERN_SEND_STANDARD, &made->request)) {
        free(made);
        return;
    }
    made->next = file->shared->answers;
    file->shared->answers = made;
}

static void queue(struct tern_shared *shared, int rank)
{
    if (shared->waiting_count == shared->waiting_room) {
        int room = shared->waiting_room ? 2 * shared->waiting_room : 16;
        int *grown = realloc(shared->waiting, (size_t)room * sizeof *grown);
        if (!grown)
            return;
        shared->waiting = grown;
        shared->waiting_room = room;
    }
    shared->waiting[shared->waiting_count++] = rank;
}

/* Hands the lock to the first rank that waits for it. */
static void pass_lock_on(struct tern_file *file)
{
    struct tern_shared *shared = file->shared;
    if (shared->board->locked || shared->waiting_count == 0)
        return;
    int rank = shared->waiting[0];
    memmove(shared->waiting, shared->waiting + 1,
            (size_t)--shared->waiting_count * sizeof *shared->waiting);
    shared->board->locked = 1;
    answer(file, rank, TERN_IO_LOCKED, 0);
}

/* Moves the pointer on, unless it would stand for more than 2^63 - 1 bytes: an access there fails.
 * Returns where it stood. */
static int64_t move_pointer(struct tern_file *file, int64_t amount)
{
    int64_t each = file->view.etype_bytes, most = INT64_MAX / (each > 1 ? each : 1);
    int64_t *pointer = &file->shared->board->pointer;
    int64_t at = __atomic_load_n(pointer, __ATOMIC_SEQ_CST);
    while (amount <= most - at &&
           !__atomic_compare_exchange_n(pointer, &at, at + amount, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
        ;
    return at;
}

static void serve(struct tern_file *file, int rank)
{
    struct tern_shared *shared = file->shared;
    switch ((enum request_kind)shared->request.kind) {
    case ADD:
        answer(file, rank, TERN_IO_VALUE, move_pointer(file, shared->request.amount));
        break;
    case LOCK: queue(shared, rank); break;
    case UNLOCK: shared->board->locked = 0; break;
    }
    pass_lock_on(file);
}

static void reap_answers(struct tern_shared *shared, bool all)
{
    for (struct answer **at = &shared->answers, *one; (one = *at);) {
        if (all)
            tern_request_wait(one->request);
        if (!one->request->complete) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        one->request->kind->release(one->request);
        free(one);
    }
}

static int poll_requests(struct tern_file *file)
{
    struct tern_shared *shared = file->shared;
    int events = 0;
    while (shared->incoming && shared->incoming->complete) {
        struct tern_request *request = shared->incoming;
        int source = request->status.MPI_SOURCE, error = request->error;
        request->kind->release(request);
        shared->incoming = NULL;
        if (!error)
            serve(file, source);
        if (!error && post_receive(file))
            shared->incoming = NULL;
        events++;
    }
    reap_answers(shared, false);
    return events;
}

/* ---- for both ---- */

static int open_server(struct tern_file *file)
{
    struct tern_shared *shared = file->shared;
    if (tern_file_rank(file) > 0)
        return 0;
    shared->board = calloc(1, sizeof *shared->board);
    if (!shared->board)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a file");
    int error = post_receive(file);
    return error ? error : tern_operation_serve(file, poll_requests);
}

int tern_shared_open(struct tern_file *file)
{
    const int64_t equal[2] = {0};
    struct tern_shared *shared = calloc(1, sizeof *shared);
    int error = shared ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for a file");
    error = tern_file_agree(file, error, equal, "");
    if (error) {
        free(shared);
        return error;
    }
    file->shared = shared;
    if (tern_file_size(file) == 1) {
        shared->board = calloc(1, sizeof *shared->board);
        return shared->board ? 0 : tern_error(TERN_ERR_NO_MEM, "no memory for a file");
    }
    if (share_memory(file, shared))
        return 0;
    return tern_file_agree(file, open_server(file), equal, "");
}

static void stop_listening(struct tern_shared *shared)
{
    struct tern_request *incoming = shared->incoming;
    if (!incoming)
        return;
    incoming->kind->cancel(incoming);
    tern_request_wait(incoming);
    incoming->kind->release(incoming);
}

void tern_shared_close(struct tern_file *file)
{
    struct tern_shared *shared = file->shared;
    if (!shared)
        return;
    if (shared->has_thread)
        tern_progress_thread_release();
    if (shared->incoming) {
        tern_operation_unserve(file);
        reap_answers(shared, true);
        stop_listening(shared);
    }
    if (shared->mapped)
        munmap(shared->board, sizeof *shared->board);
    else
        free(shared->board);
    free(shared->waiting);
    free(shared);
    file->shared = NULL;
}

/* Returns true if this rank asks rank 0 by messages. */
static bool asks(const struct tern_file *file)
{
    return tern_file_size(file) > 1 && !file->shared->mapped;
}

int tern_shared_always(struct tern_file *file)
{
    if (!asks(file) || tern_file_rank(file) > 0)
        return 0;
    if (file->shared->has_thread)
        return 0;
    int error = tern_progress_thread_retain();
    file->shared->has_thread = !error;
    return error;
}

/* Sends a request to rank 0. */
static void ask(struct tern_operation *op, enum request_kind kind, int64_t amount)
{
    op->asked[0] = kind;
    op->asked[1] = amount;
    tern_operation_send(op, op->asked, sizeof op->asked, 0, TERN_IO_ASK);
    op->await_sends = true;
}

void tern_shared_add(struct tern_operation *op, int64_t amount)
{
    struct tern_file *file = op->file;
    if (!asks(file)) {
        op->fetched = move_pointer(file, amount);
        return;
    }
    tern_operation_receive(op, &op->fetched, sizeof op->fetched, 0, TERN_IO_VALUE, NULL);
    ask(op, ADD, amount);
}

void tern_shared_set(struct tern_file *file, int64_t value)
{
    __atomic_store_n(&file->shared->board->pointer, value, __ATOMIC_SEQ_CST);
}

void tern_shared_lock(struct tern_operation *op)
{
    if (!asks(op->file)) {
        op->ready = try_lock;
        return;
    }
    tern_operation_receive(op, &op->fetched, sizeof op->fetched, 0, TERN_IO_LOCKED, NULL);
    ask(op, LOCK, 0);
}

void tern_shared_unlock(struct tern_operation *op)
{
    if (asks(op->file))
        ask(op, UNLOCK, 0);
    else
        __atomic_store_n(&op->file->shared->board->locked, 0, __ATOMIC_RELEASE);
}
