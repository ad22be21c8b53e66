/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FILE_OPERATION_H
#define TERN_FILE_OPERATION_H

/*
 * An operation on a file: an access, or an agreement of the file's ranks.
 *
 * An operation is a series of steps. A step starts messages and at most one job, names the next
 * step, and returns. The next step runs when these are done, but for a job that goes on beside it.
 * So a blocking, a nonblocking and a split access are the same steps: a blocking one goes through
 * them in the calling thread; the others go on in rounds of progress, and the worker does their
 * jobs.
 */

#include "lib/io/access/access.h"
#include "lib/io/access/watch.h"
#include "lib/io/access/worker.h"
#include "lib/io/file.h"
#include "lib/pml/request.h"
#include "lib/util/base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct tern_exchange;

typedef void tern_step(struct tern_operation *op);

/* Messages that are waited for together. */
struct tern_messages {
    struct tern_message_of {
        struct tern_request *request;
        int64_t *length; /* where the length of what was received goes; NULL: nowhere */
    } *list;
    int count, room;
};

/* What ranks find out together: the error of the lowest rank that has failed, whether two numbers
 * are equal on all ranks, and whether something is so on any rank. */
struct tern_verdict {
    int32_t error, rank; /* error 0: nobody has failed */
    int64_t least[2], most[2];
    int64_t any;
    char text[488]; /* last member: not sent without an error */
};

/* What the messages of an operation are for. Each has a tag of its own. */
enum tern_io_message {
    TERN_IO_GATHER,
    TERN_IO_VERDICT,
    TERN_IO_HEAD,
    TERN_IO_RUNS,
    TERN_IO_DATA,
    TERN_IO_ASK,   /* to rank 0, of the common pointer and the lock (shared.c) */
    TERN_IO_VALUE, /* its answers */
    TERN_IO_LOCKED,
    TERN_IO_MESSAGES
};

/* An operation. */
struct tern_operation {
    struct tern_request request; /* first member; its status is the result */
    struct tern_list_node link;  /* in the list of operations under way */
    struct tern_file *file;      /* a reference */
    bool blocking;               /* the calling thread goes through the steps, and does the jobs */
    bool concluded;              /* the data are where they belong */
    uint32_t serial;             /* tells apart the messages of operations under way */
    int error;                   /* the first error, or 0 */
    char text[488];              /* its text */

    /* --- what the next step waits for --- */
    tern_step *step;            /* the next step; NULL: the operation ends */
    struct tern_messages coming; /* receives: the next step waits for them */
    struct tern_messages going;  /* sends: waited for if `await_sends`, and at the end */
    bool await_sends;
    bool working; /* the worker has `job` */
    bool await_work; /* the next step waits for it */
    struct tern_worker_job job;
    void (*work)(struct tern_operation *op); /* what the job does */
    /* Polled before the next step, which waits until this returns true. NULL: no wait. */
    bool (*ready)(struct tern_file *file);

    /* --- what ranks tell each other --- */
    struct {
        char *blocks;   /* the blocks of all ranks; afterwards in the order of ranks */
        int64_t bytes;  /* of a block */
        int distance;   /* blocks that this rank has so far */
        tern_step *after;
    } gather;
    struct {
        struct tern_verdict own, sent, received;
        bool any; /* what this rank says */
        int distance;
        tern_step *after;
    } agree;
    int64_t fetched; /* result of tern_shared_add */
    int64_t before;  /* etypes of the ranks before this one, in the order of ranks */
    int64_t asked[2]; /* what is asked of rank 0 */

    /* --- an access --- */
    bool collective;
    bool shared; /* at the common pointer */
    int where;   /* enum tern_access_begin_at, of a split collective */
    struct tern_access access;
    struct tern_datatype *datatype; /* of the memory; a reference */
    void *buf;
    int64_t count;
    char *file_form; /* converted data; NULL in the native representation */
    struct tern_exchange *exchange; /* of collective buffering; NULL: not used */
    void (*free_exchange)(struct tern_exchange *exchange); /* set with `exchange` */
    struct tern_file_watch watch;        /* collective: progress lines */
};

/* Makes an operation of a file. Returns 0 or TERN_ERR_NO_MEM. */
int tern_operation_new(struct tern_file *file, struct tern_operation **ret_op);
/* Frees an operation that is not under way. */
void tern_operation_free(struct tern_operation *op);

/* Go through the steps, beginning with op->step. tern_operation_run blocks until the end, and
 * returns the operation's error with its text recorded. tern_operation_start returns at once;
 * op->request is complete when the operation has ended. Returns 0 or TERN_ERR_INTERN. */
int tern_operation_run(struct tern_operation *op);
int tern_operation_start(struct tern_operation *op);

/* ---- for steps ---- */

/* Records the first error of an operation, with the text that was recorded for it. */
void tern_operation_fail(struct tern_operation *op, int error);
/* Send and receive bytes, which must stay until the message is complete. A message may be shorter
 * than `length`; the next step finds its length in *ret_length, which may be NULL. */
void tern_operation_send(struct tern_operation *op, const void *bytes, int64_t length, int rank,
                         enum tern_io_message kind);
void tern_operation_receive(struct tern_operation *op, void *bytes, int64_t length, int rank,
                            enum tern_io_message kind, int64_t *ret_length);
/* Does `work` in the calling thread or in the worker. The next step runs afterwards. */
void tern_operation_work(struct tern_operation *op, void (*work)(struct tern_operation *op));
/* Does `work` in the worker while steps go on. A later step sets op->await_work before it names the
 * step that waits for it; no other job may be given before. */
void tern_operation_work_beside(struct tern_operation *op, void (*work)(struct tern_operation *op));

/* Gathers `bytes` bytes of each rank at all ranks, in op->gather.blocks, which is the operation's.
 * Then goes on with `after`. */
void tern_operation_gather(struct tern_operation *op, const void *own, int64_t bytes,
                           tern_step *after);
/* Lets all ranks agree on the operation's error, which becomes the same on all of them, and on
 * two numbers that must be equal. `values` may be NULL. Then goes on with `after`. */
void tern_operation_agree(struct tern_operation *op, const int64_t values[2], tern_step *after);

/* ---- for what is asked of rank 0 (shared.c) ---- */

/* Adds `poll` to the rounds of progress of the file's lane, until tern_operation_unserve. `poll`
 * gets the file and returns the number of events. Returns 0 or TERN_ERR_*. */
int tern_operation_serve(struct tern_file *file, int (*poll)(struct tern_file *file));
void tern_operation_unserve(struct tern_file *file);
/* Returns the tag of messages of a kind. What is asked of rank 0, and the answers, have one tag
 * each, whatever `serial` is: they belong to the file. */
int tern_operation_tag(uint32_t serial, enum tern_io_message kind);

#endif
