/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PML_H
#define TERN_PML_H

/*
 * Point to point: send, receive, probe, progress and waiting. Knows contexts, peers, flat types and
 * bytes; no communicators, no collectives. Each call takes the lock of its lane itself
 * (lib/pml/lock.h); the caller may hold that lane, or none.
 */

#include "lib/pml/context.h"
#include "lib/btl/peer.h"
#include "lib/pml/request.h"
#include "lib/type/type.h"

enum tern_send_mode { TERN_SEND_STANDARD, TERN_SEND_SYNCHRONOUS, TERN_SEND_READY };

struct tern_lane;        /* lib/pml/lane.h */
struct tern_pml_request; /* lib/pml/pml_request.h */

/* Ranks are 0..context->size-1, sources may be MPI_ANY_SOURCE, tags MPI_ANY_TAG (MPI_PROC_NULL is
 * dealt with above). Negative tags >= -1000000 other than MPI_ANY_TAG are free for the library's
 * own use. Types are committed, buffers and types stay valid until completion. */

/* Blocking. 0 or TERN_ERR_*. */
int tern_pml_send(struct tern_context *context, const void *buf, int64_t count,
                  const struct tern_type *type, int dest, int tag, enum tern_send_mode mode);
/* Blocking; `status` may be MPI_STATUS_IGNORE; TERN_ERR_TRUNCATE when the message was longer. */
int tern_pml_recv(struct tern_context *context, void *buf, int64_t count,
                  const struct tern_type *type, int source, int tag, MPI_Status *status);

/*
 * For collectives. A wait that takes long asks tern_doubt whether it can end at all: `run` is what
 * the caller is doing, `awaited` the request it waits for, NULL if it waits for something else. If
 * it cannot, tern_doubt cancels `awaited`, says the fault and returns true. NULL, or set once by
 * lib/coll. Called with the lane's lock.
 */
extern TERN_OURS bool (*tern_doubt)(void *run, struct tern_request *awaited);
int tern_pml_recv_in_run(struct tern_context *context, void *buf, int64_t count,
                         const struct tern_type *type, int source, int tag, void *run);
void tern_request_wait_in_run(struct tern_request *request, void *run);
/* An unexpected message of the context whose tag differs from `tag` in some of these bits and in no
 * other: its source and tag. False: there is none. */
bool tern_pml_find_alike(struct tern_context *context, int tag, int bits, int *ret_source,
                         int *ret_tag);

/* Sends, in place of a message, that there is none: the receive that matches it ends with
 * TERN_ERR_UNREACHABLE. For the library's own messages, by a rank that others wait for and that
 * lacks what it has to send. Does not block. */
void tern_pml_send_failure(struct tern_context *context, int dest, int tag);

/* Nonblocking: *ret_request is a fresh active request (maybe complete already), to be released by
 * its kind->release. */
int tern_pml_isend(struct tern_context *context, const void *buf, int64_t count,
                   const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                   struct tern_request **ret_request);
int tern_pml_irecv(struct tern_context *context, void *buf, int64_t count,
                   const struct tern_type *type, int source, int tag,
                   struct tern_request **ret_request);
/* Persistent: the request comes back inactive; kind->start starts it. */
int tern_pml_send_init(struct tern_context *context, const void *buf, int64_t count,
                       const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                       struct tern_request **ret_request);
int tern_pml_recv_init(struct tern_context *context, void *buf, int64_t count,
                       const struct tern_type *type, int source, int tag,
                       struct tern_request **ret_request);

/* Is there a matching message? Does one round of progress. Message stays in the queue. */
int tern_pml_iprobe(struct tern_context *context, int source, int tag, bool *ret_found,
                    MPI_Status *ret_status);
/* Takes the matching message out of the queue; *ret_message is NULL when there is none. */
struct tern_unexpected;
int tern_pml_improbe(struct tern_context *context, int source, int tag,
                     struct tern_unexpected **ret_message, MPI_Status *ret_status);
/* Takes one that is there already, without progress: what is called by progress calls this. */
bool tern_pml_take(struct tern_context *context, int source, int tag,
                   struct tern_unexpected **ret_message, MPI_Status *ret_status);
/* How many messages wait that nobody has received, and the status of one of them. */
uint64_t tern_pml_unreceived(struct tern_context *context, MPI_Status *ret_status);
/* 0, or TERN_ERR_UNREACHABLE with text: what is to come from the source, which may be
 * MPI_ANY_SOURCE, may never come. */
int tern_pml_check_source(const struct tern_context *context, int source);
/* Receives a message taken out before. */
int tern_pml_imrecv(struct tern_unexpected *message, void *buf, int64_t count,
                    const struct tern_type *type, struct tern_request **ret_request);
/* One round of progress in all lanes that no other thread is busy in; gives up all locks meanwhile.
 * Returns the number of things that happened. */
int tern_progress(void);

/* The same for a call that looks for something without waiting, and will be called in a loop: if
 * nothing happened it lets other threads in, and yields where ranks share processors. `lane`: where
 * it is looked for; NULL, tern_poll: anywhere. */
int tern_lane_poll(struct tern_lane *lane);
static inline int tern_poll(void)
{
    return tern_lane_poll(NULL);
}

/* Something that needs progress of its own (generalized collectives, ...): called once per round of
 * the lane; returns events. */
int tern_progress_register(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));
void tern_progress_unregister(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));

/* Waiting: `struct tern_waiter w = {0}; while (!condition) tern_wait(&w);` Each call does a round
 * of progress; without events it spins, then yields, then sleeps until a doorbell rings
 * (docs/waiting.md). Gives up all locks meanwhile. */
struct tern_waiter {
    struct tern_lane *lane; /* where the condition comes true; NULL: anywhere */
    unsigned idle;  /* rounds without an event */
    uint64_t since; /* the one before, in ticks */
    uint32_t events; /* of all lanes, when the caller looked at the condition */
    /* Is the condition true? For one that no lane brings about; NULL: a lane does. Asked once more
     * before sleep. */
    bool (*came)(const void *what);
    const void *what;
    uint32_t awaited; /* whose posts on a board bring it about (tern_doorbell_arm); 0: nobody's */
    bool doubts;      /* it is part of a struct tern_doubter */
};
/* Who waits in a collective (tern_doubt). */
struct tern_doubter {
    struct tern_waiter waiter;
    void *run;
    struct tern_request *request;
};
void tern_wait(struct tern_waiter *waiter);
/* For a thread that does nothing else: a round of all lanes, and sleep if nothing came. False:
 * another thread has polled meanwhile. The other waits until no thread has polled between two looks
 * (lib/util/pause.h). */
bool tern_progress_or_sleep(struct tern_waiter *waiter);
void tern_progress_await_silence(void);
/* The thread of the parameter progress_thread, if that is set and it does not run yet. To be
 * stopped with no locks held. */
int tern_progress_thread_start(void);
void tern_progress_thread_stop(void);
/* Do others want this processor, so that whoever waits should not spin? */
bool tern_wait_crowded(void);

/* Waits until the request is complete. */
static inline void tern_request_wait(struct tern_request *request)
{
    if (request->complete)
        return;
    struct tern_waiter waiter = {.lane = request->lane};
    do
        tern_wait(&waiter);
    while (!request->complete);
}

/* First of all, before this process has a second thread (PMIx starts one). */
void tern_wait_init(void);
/* Start (after tern_rte_init) and end. */
int tern_pml_init(void);
/* Waits until nothing of ours waits to be sent: answers to peers outlive the receives they belong
 * to. */
void tern_pml_flush(void);
/* Waits until the messages that were copied for want of credit have been received. */
void tern_pml_finish_copies(void);

/* In between: nobody here sends or receives any more, and nothing that peers sent is missed. All
 * state stays. */
void tern_pml_leave(void);
/* Takes it up again. 0 or TERN_ERR_*. */
int tern_pml_return(void);

#endif
