/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PML_H
#define TERN_PML_H

/*
 * Point to point: send, receive, probe, progress and waiting. This room knows contexts, peers, flat
 * types and bytes; no communicators and no collectives. Each call takes the lock of its lane itself
 * (lib/pml/lock.h). The caller may hold that lane's lock, or none.
 */

#include "lib/pml/context.h"
#include "lib/btl/peer.h"
#include "lib/pml/request.h"
#include "lib/type/type.h"

/* Modes of a send. A ready send works like a standard one, but is never copied for lack of
 * credit. */
enum tern_send_mode { TERN_SEND_STANDARD, TERN_SEND_SYNCHRONOUS, TERN_SEND_READY };

struct tern_lane;        /* lib/pml/lane.h */
struct tern_pml_request; /* lib/pml/pml_request.h */

/* Ranks are 0 .. context->size - 1. A source may be MPI_ANY_SOURCE, a tag MPI_ANY_TAG. The callers
 * handle MPI_PROC_NULL. Tags from -1000000 to -1 other than MPI_ANY_TAG are free for the library's
 * own use. Types must be committed. Buffers and types must stay valid until completion. */

/* Sends a message. Blocks until the buffer may be used again. Returns 0 or TERN_ERR_*. */
int tern_pml_send(struct tern_context *context, const void *buf, int64_t count,
                  const struct tern_type *type, int dest, int tag, enum tern_send_mode mode);
/* Receives a message. Blocks until the message is received. `status` may be MPI_STATUS_IGNORE.
 * Returns 0, TERN_ERR_TRUNCATE if the message is longer than the buffer, or another TERN_ERR_*. */
int tern_pml_recv(struct tern_context *context, void *buf, int64_t count,
                  const struct tern_type *type, int source, int tag, MPI_Status *status);

/*
 * Waits of collectives. If a wait takes long, the waiting thread calls tern_doubt to ask if the
 * wait can end at all. `run`: what the caller is running. `awaited`: the request it waits for; NULL
 * if it waits for something else. If the wait can never end, tern_doubt cancels `awaited`, records
 * the error and returns true. The pointer is NULL, or set once by lib/coll. Called with the lane's
 * lock held.
 *
 * tern_pml_recv_in_run and tern_request_wait_in_run receive and wait like tern_pml_recv and
 * tern_request_wait, and hand `run` to tern_doubt. *ret_bytes: how many bytes arrived.
 */
extern TERN_OURS bool (*tern_doubt)(void *run, struct tern_request *awaited);
int tern_pml_recv_in_run(struct tern_context *context, void *buf, int64_t count,
                         const struct tern_type *type, int source, int tag, void *run,
                         int64_t *ret_bytes);
void tern_request_wait_in_run(struct tern_request *request, void *run);
/* Looks for an unexpected message of the context whose tag differs from `tag` in at least one of
 * the bits `bits` and in no other bit. Returns true and sets the message's source and tag if there
 * is one. */
bool tern_pml_find_alike(struct tern_context *context, int tag, int bits, int *ret_source,
                         int *ret_tag);

/* Sends a notice in place of a message: the receive that matches the notice ends with
 * TERN_ERR_UNREACHABLE. For the library's own messages, if this rank lacks the data that other
 * ranks wait for. Does not block. */
void tern_pml_send_failure(struct tern_context *context, int dest, int tag);

/* Start a nonblocking send or receive. *ret_request is a fresh active request, maybe already
 * complete. Release it by its kind->release. Return 0 or TERN_ERR_*. */
int tern_pml_isend(struct tern_context *context, const void *buf, int64_t count,
                   const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                   struct tern_request **ret_request);
int tern_pml_irecv(struct tern_context *context, void *buf, int64_t count,
                   const struct tern_type *type, int source, int tag,
                   struct tern_request **ret_request);
/* Make a persistent send or receive. *ret_request is an inactive request; kind->start starts it.
 * Return 0 or TERN_ERR_NO_MEM. */
int tern_pml_send_init(struct tern_context *context, const void *buf, int64_t count,
                       const struct tern_type *type, int dest, int tag, enum tern_send_mode mode,
                       struct tern_request **ret_request);
int tern_pml_recv_init(struct tern_context *context, void *buf, int64_t count,
                       const struct tern_type *type, int source, int tag,
                       struct tern_request **ret_request);

/* Looks for a matching message and makes one round of progress if there is none. *ret_found: a
 * message was found; it stays in the queue. Returns 0 or the error of tern_pml_check_source. */
int tern_pml_iprobe(struct tern_context *context, int source, int tag, bool *ret_found,
                    MPI_Status *ret_status);
/* Like tern_pml_iprobe, but takes the message out of the queue. *ret_message is NULL if there is
 * none. tern_pml_imrecv receives it. */
struct tern_unexpected;
int tern_pml_improbe(struct tern_context *context, int source, int tag,
                     struct tern_unexpected **ret_message, MPI_Status *ret_status);
/* Takes a matching message out of the queue if one has arrived. Makes no progress, so functions
 * called by progress may call this. Returns true if there was one. */
bool tern_pml_take(struct tern_context *context, int source, int tag,
                   struct tern_unexpected **ret_message, MPI_Status *ret_status);
/* Returns the number of the user's messages that arrived and were not received. *ret_status: the
 * status of the first one, set only if there is one. */
uint64_t tern_pml_unreceived(struct tern_context *context, MPI_Status *ret_status);
/* Checks if `source`, which may be MPI_ANY_SOURCE, can still send. Returns 0, or
 * TERN_ERR_UNREACHABLE with text if the source, or one of all possible sources, is lost. */
int tern_pml_check_source(const struct tern_context *context, int source);
/* Receives a message that tern_pml_improbe or tern_pml_take took out of the queue. *ret_request is
 * a fresh active request. Returns 0 or TERN_ERR_NO_MEM. */
int tern_pml_imrecv(struct tern_unexpected *message, void *buf, int64_t count,
                    const struct tern_type *type, struct tern_request **ret_request);
/* Makes one round of progress in each lane that no other thread is using. Releases all locks
 * meanwhile. Returns the number of events. */
int tern_progress(void);

/* Makes a round of progress for a call that tests without waiting and is likely to be called in a
 * loop. If there was no event, lets other threads in, and yields the processor if ranks share
 * processors. `lane`: where the caller's condition comes true; NULL (tern_poll): in any lane.
 * Returns the number of events. */
int tern_lane_poll(struct tern_lane *lane);
static inline int tern_poll(void)
{
    return tern_lane_poll(NULL);
}

/* Adds `poll` to each round of the lane's progress, for things that need progress of their own
 * (nonblocking collectives, ...). `poll` returns the number of events. Returns 0, or
 * TERN_ERR_INTERN if the lane has no room for another. tern_progress_unregister removes it. */
int tern_progress_register(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));
void tern_progress_unregister(struct tern_lane *lane, int (*poll)(struct tern_lane *lane));

/* Waiting: `struct tern_waiter w = {0}; while (!condition) tern_wait(&w);` Each call makes a round
 * of progress. While there are no events it first spins, then yields, then sleeps until a doorbell
 * rings (docs/waiting.md). Releases all locks meanwhile. */
struct tern_waiter {
    struct tern_lane *lane; /* lane in which the condition comes true; NULL: any lane */
    /* For people, if the wait takes long (tern_wait_tell); may be missing. */
    const char *procedure; /* NULL: not known */
    struct tern_request *request; /* the request that is awaited; NULL: none */
    /* All from here on is 0 as a wait begins, in the order in which it is cleared. */
    unsigned idle;   /* rounds since the last event; fewer after a byte mover has refused a sleep */
    unsigned sleeps; /* attempts to sleep since the last event */
    uint64_t since; /* time of the last look at the clock, in ticks */
    uint64_t began_ms; /* set by tern_wait: when the waiter first slept, on CLOCK_MONOTONIC */
    uint32_t events; /* events of all lanes when the caller last looked at its condition */
    /* rank whose posts on a board bring the condition about, as tern_doorbell_arm wants; 0: none */
    uint32_t awaited;
    /* Returns true if the condition is true, for one that no lane brings about. Called again before
     * sleep, without locks: read other threads' words atomically. NULL: a lane brings it about. */
    bool (*came)(const void *what);
    /* argument of `came` */
    const void *what;
    /* For people, as `procedure`. */
    const struct tern_probe *probe; /* what is awaited without a request */
    const MPI_Request *handles; /* the requests of the user of which some are awaited */
    int64_t handle_count;
    bool doubts; /* the waiter is part of a struct tern_doubter */
    bool told;   /* set by tern_wait: tern_wait_tell was called since the last event */
};
/* What is awaited without a request: a message, the lock of a rank's part of a window, or another
 * job at a port. */
struct tern_probe {
    struct tern_context *context; /* NULL: a port */
    const char *port; /* name of the port (lib/util/net/port.h); NULL: no port */
    int source, tag; /* of the message; `source` also: the rank whose part it is */
    /* the lock: highest bit for an exclusive holder, or the number of shared ones; NULL: a
     * message */
    const uint64_t *lock;
    const uint32_t *taker; /* rank + 1 of who took the lock last; 0: not known */
    bool exclusive;        /* an exclusive lock is wanted */
};
/* What tern_wait_tell says. */
enum tern_wait_news {
    TERN_WAIT_ANEW,  /* this thread waits long, and sleeps now */
    TERN_WAIT_AGAIN, /* it sleeps again, in the same wait */
    TERN_WAIT_PAUSE, /* it has woken up, maybe only to sleep again */
    TERN_WAIT_TESTS, /* it does not wait: its tests or probes have found nothing for long */
};
/* Called when a thread has waited for a while without an event, around each further sleep. NULL, or
 * set once by lib/mpi. The waiter's lane is locked, unless the news are TERN_WAIT_PAUSE. */
extern TERN_OURS void (*tern_wait_tell)(const struct tern_waiter *waiter, enum tern_wait_news news);
/* Returns the number of messages that all threads have sent and received so far. */
uint64_t tern_pml_count_messages(void);
/* This thread's tests and probes, as tern_lane_poll sees them. */
struct tern_tests {
    uint64_t since;    /* ticks of the first test without an event since the last look; 0: none */
    bool due;          /* they have found nothing for a while: call tern_test_tell */
    bool told;         /* tern_wait_tell was called */
    uint64_t began_ms; /* when they were first found to be in vain; 0: they are not */
    uint64_t messages; /* sent and received, at the last look */
};
extern TERN_OURS __thread struct tern_tests tern_tests;
/* Call if tern_tests.due is set after a test or probe that has found nothing; `test` says what it
 * looked for, and is not waited on. Tells tern_wait_tell of it if no message has come or gone since
 * the last call. Call without locks. */
void tern_test_tell(const struct tern_waiter *test);
/* The same if it is due, for a test of one request, and for a probe. */
static inline void tern_test_note_request(const char *procedure, struct tern_request *request)
{
    if (TERN_UNLIKELY(tern_tests.due))
        tern_test_tell(&(struct tern_waiter){
            .lane = request->lane, .procedure = procedure, .request = request});
}
static inline void tern_test_note_probe(const char *procedure, struct tern_context *context,
                                        int source, int tag)
{
    if (TERN_UNLIKELY(tern_tests.due)) {
        struct tern_probe probe = {.context = context, .source = source, .tag = tag};
        tern_test_tell(&(struct tern_waiter){
            .lane = context->lane, .procedure = procedure, .probe = &probe});
    }
}
/* The MPI procedure in which this thread is, if it waits inside other procedures: messages to the
 * user name it instead of those. NULL if there is none. */
extern TERN_OURS __thread const char *tern_wait_procedure;
/* A waiter in a collective. tern_doubt gets `run` and the request that is awaited. */
struct tern_doubter {
    struct tern_waiter waiter;
    void *run;
};
/* Makes one round of progress or idling; see struct tern_waiter. */
void tern_wait(struct tern_waiter *waiter);
/* For a thread that does nothing but progress. tern_progress_or_sleep makes a round in all lanes
 * and sleeps if nothing arrived. It returns false if another thread has polled meanwhile.
 * tern_progress_await_silence waits until no thread has polled between two looks
 * (lib/util/base/pause.h). */
bool tern_progress_or_sleep(struct tern_waiter *waiter);
void tern_progress_await_silence(void);
/* Starts the thread of the parameter progress_thread, if the parameter is set and the thread does
 * not run yet. Returns 0 or TERN_ERR_OTHER. tern_progress_thread_stop ends the thread; call it
 * without locks. */
int tern_progress_thread_start(void);
/* Start the same thread for a user that needs it whatever the parameter says, and end it with its
 * last user. From the first call on calls take locks, as in MPI_THREAD_MULTIPLE. Call both with no
 * lane held. tern_progress_thread_retain returns 0 or TERN_ERR_OTHER. */
int tern_progress_thread_retain(void);
void tern_progress_thread_release(void);
void tern_progress_thread_stop(void);
/* Returns true if other ranks or programs want this processor, so that a waiting rank should not
 * spin. */
bool tern_wait_crowded(void);

/* Blocks until the request is complete. `procedure`: what people know this wait by, or NULL. */
static inline void tern_request_wait_in(struct tern_request *request, const char *procedure)
{
    if (request->complete)
        return;
    struct tern_waiter waiter;
    /* member by member: compilers clear so large a struct by a loop, which takes longer */
    _Static_assert(sizeof waiter == 104, "set a new member of struct tern_waiter below, too");
    waiter.lane = request->lane;
    waiter.procedure = procedure;
    waiter.request = request;
    waiter.idle = waiter.sleeps = 0;
    waiter.since = waiter.began_ms = 0;
    waiter.events = waiter.awaited = 0;
    waiter.came = NULL;
    waiter.what = NULL;
    waiter.probe = NULL;
    waiter.handles = NULL;
    waiter.handle_count = 0;
    waiter.doubts = waiter.told = false;
    do
        tern_wait(&waiter);
    while (!request->complete);
}
static inline void tern_request_wait(struct tern_request *request)
{
    tern_request_wait_in(request, NULL);
}

/* What a send or a receive waits for. */
struct tern_message_facts {
    struct tern_context *context;
    bool sends;
    int rank, tag; /* of the other end in the context; maybe wildcards */
    int64_t bytes; /* of the buffer */
};
/* Describes a request of point to point. Returns false if the request is of another kind. */
bool tern_pml_describe(const struct tern_request *request, struct tern_message_facts *ret_facts);
/* Calls `tell` for each message of users that has arrived in the lane and was not received: first
 * those of the context `first` (NULL: none). Call with the lane's lock held. */
void tern_pml_walk_unasked(struct tern_lane *lane, const struct tern_context *first,
                           void (*tell)(const struct tern_context *context, int source, int tag,
                                        uint64_t bytes, void *to),
                           void *to);

/* Prepares the doorbell. Call first, before this process has a second thread (PMIx starts one). */
void tern_wait_init(void);
/* Starts point to point. Call after tern_rte_init. Returns 0 or TERN_ERR_*. */
int tern_pml_init(void);
/* Blocks until nothing is left in the queues of what is to be sent. Answers to peers can outlive
 * the receives they belong to. */
void tern_pml_flush(void);
/* Blocks until the messages that were copied for lack of credit have been received. */
void tern_pml_finish_copies(void);

/* Suspends point to point when MPI has no user for a while. Call when no thread here sends or
 * receives any more. Nothing that peers send is lost. All state stays. */
void tern_pml_leave(void);
/* Resumes point to point after tern_pml_leave. Returns 0 or TERN_ERR_*. */
int tern_pml_return(void);

#endif
