/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Waits for requests and tests them (MPI-4.1 section 3.7).
 *
 * A complete request is *reported* once. Then its status goes to the user, its references to
 * communicator and datatype are dropped, and it becomes inactive. If it is not persistent it is
 * freed, and the user's handle becomes MPI_REQUEST_NULL. Null and inactive requests count as
 * complete with an empty status.
 *
 * The error of a request goes to the error handler of the request's communicator. The entry points
 * of this file have no communicator argument, so these functions name it with tern_raise_next_on.
 * Calls that complete several requests put the codes into the statuses and return
 * MPI_ERR_IN_STATUS. That error goes to the communicator of the first request that failed.
 *
 * A request that is freed while active (an orphan) is released after it completes. Progress notices
 * the completion but must not release the request: the last reference to a communicator closes a
 * context that progress may be using, and needs the library's lock. So progress puts the orphan in
 * a list. The next call that frees a request releases the orphans in the list.
 *
 * With threads, no function here is called with a lock held. A request is used by one thread of the
 * user only, except for `complete`. The lane guards the other members that progress changes.
 */

#include "lib/mpi/request/request_object.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/request/request_followers.h"
#include "lib/pml/lane.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

const struct tern_request_checks *tern_request_checks;

const MPI_Status tern_status_empty = {.MPI_SOURCE = MPI_ANY_SOURCE, .MPI_TAG = MPI_ANY_TAG};
const MPI_Status tern_status_proc_null = {.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG};

/* ---- requests that are complete from the start ---- */

struct tern_request tern_request_no_message = {
    .obj = {.handle = &tern_request_no_message.obj.own,
            .own = {.magic = TERN_MAGIC_REQUEST, .fortran = -1, .state = &tern_request_no_message},
            .refs = 1},
    .kind = &tern_request_static_kind,
    .lane = tern_lanes,
    .complete = true,
    .active = true,
    .status = {.MPI_SOURCE = MPI_PROC_NULL, .MPI_TAG = MPI_ANY_TAG},
};

static int start_idle(struct tern_request *request)
{
    request->complete = false;
    request->active = true;
    tern_request_complete(request, 0);
    return 0;
}

static void release_idle(struct tern_request *request)
{
    tern_object_free(&request->obj);
}

static const struct tern_request_kind idle_kind = {.name = "persistent request without a partner",
                                                   .start = start_idle,
                                                   .cancel = tern_request_refuse_cancel,
                                                   .release = release_idle};

int tern_request_new_idle(struct tern_comm *comm, const MPI_Status *status,
                          struct tern_request **ret_request)
{
    struct tern_request *request = malloc(sizeof *request);
    if (!request)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a request");
    tern_request_init(request, &idle_kind, comm);
    request->lane = comm->p2p.lane;
    tern_request_make_persistent(request);
    request->status = *status;
    tern_request_hold_always(request, comm, NULL);
    *ret_request = request;
    return 0;
}

/* ---- references ---- */

static int orphan_count;                  /* number of incomplete orphans; atomic */
static struct tern_request *done_orphans; /* complete orphans, linked by `owner`; atomic */

static inline void let_go(struct tern_request *request)
{
    struct tern_datatype *datatype = request->datatype;

    if (tern_request_any_followers())
        tern_request_tell_followers(request, TERN_REQUEST_FREED);
    request->held = false;
    request->datatype = NULL;
    if (datatype)
        tern_datatype_release(datatype);
    tern_comm_release(request->comm);
}

void tern_request_release_orphans(void)
{
    /* a delete callback may free requests meanwhile */
    struct tern_request *request = __atomic_exchange_n(&done_orphans, NULL, __ATOMIC_ACQUIRE);
    while (request) {
        struct tern_request *next = request->owner;
        if (request->held)
            let_go(request);
        if (request->kind->finish)
            request->kind->finish(request); /* its code cannot be reported */
        request->kind->release(request);
        request = next;
    }
}

/* Puts a complete orphan into the list; an on_complete function. */
static void orphan_completed(struct tern_request *request)
{
    struct tern_request *first = __atomic_load_n(&done_orphans, __ATOMIC_RELAXED);
    do
        request->owner = first;
    /* release: a thread that takes it sees it complete */
    while (!__atomic_compare_exchange_n(&done_orphans, &first, request, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED));
    __atomic_fetch_sub(&orphan_count, 1, __ATOMIC_RELAXED);
}

static inline void drop_index(struct tern_request *request)
{
    if (TERN_UNLIKELY(request->obj.handle->fortran >= 0) &&
        request->kind != &tern_request_static_kind)
        tern_fortran_drop(&request->obj);
}

int tern_mpi_request_free(struct tern_request **request)
{
    struct tern_request *freed = *request;
    int error = 0;

    tern_request_release_orphans();
    if (freed->active && !freed->complete && freed->kind->must_complete) {
        tern_raise_next_on(freed->comm);
        return tern_error(TERN_ERR_REQUEST,
                          "request is an active %s, which cannot be freed; complete it first",
                          freed->kind->name);
    }
    if (tern_check_full()) {
        tern_request_checks->done(freed, true);
        if (freed->kind->query) /* MPI_Grequest_complete is still to be called */
            tern_check_handle_lent(freed->obj.handle);
    }
    drop_index(freed);
    /* keeps the request from completing between the test and the store below */
    tern_lane_lock(freed->lane);
    bool under_way = freed->active && !freed->complete;
    if (under_way) {
        __atomic_fetch_add(&orphan_count, 1, __ATOMIC_RELAXED);
        freed->on_complete = orphan_completed;
    }
    tern_lane_unlock(freed->lane);
    if (!under_way) {
        if (freed->held)
            let_go(freed);
        if (freed->kind->finish)
            error = freed->kind->finish(freed);
        freed->kind->release(freed);
    }
    *request = NULL;
    return error;
}

void tern_request_finish_orphans(void)
{
    struct tern_waiter waiter = {.procedure = "MPI_Finalize or MPI_Session_finalize"};

    while (__atomic_load_n(&orphan_count, __ATOMIC_RELAXED) > 0)
        tern_wait(&waiter);
    tern_request_release_orphans();
}

/* ---- reporting ---- */

struct tern_lane *tern_requests_lane(int count, const MPI_Request requests[])
{
    struct tern_lane *lane = NULL;
    for (int i = 0; i < count && tern_lane_count > 1; i++) {
        const struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request) || request->complete)
            continue;
        if (lane && request->lane != lane)
            return NULL;
        lane = request->lane;
    }
    return lane;
}

/* The first failure among the requests of one call. */
struct fault {
    int error;
    struct tern_comm *comm; /* its communicator, with a reference; NULL if it has none */
};

/* Does the checks of check_level full: gives the request's buffers and its handle back. Returns the
 * error code. */
static __attribute__((cold, noinline)) int check_reported(struct tern_request *request,
                                                          MPI_Request handle, int error)
{
    int check_error = tern_request_checks->done(request, false);
    if (!request->persistent)
        tern_check_handle_gone(handle);
    return error ? error : check_error;
}

/* Does what is rarely needed when a request is reported: if it failed, if it has functions of its
 * own, or if everything is checked. Returns the error code. */
static __attribute__((noinline)) int report_fault(struct tern_request *request, MPI_Request handle,
                                                  struct fault *fault)
{
    int error = request->error;

    if (request->kind->query) {
        int query_error = request->kind->query(request);
        error = error ? error : query_error;
    }
    if (request->kind->finish) { /* MPI-4.1 section 13.2: the code of the last callback counts */
        int finish_error = request->kind->finish(request);
        error = finish_error ? finish_error : error;
    }
    if (error && !fault->error && request->kind->explain)
        request->kind->explain(request); /* only the first error of a call is explained */
    if (tern_check_full())
        error = check_reported(request, handle, error);
    if (error && !fault->error) {
        *fault = (struct fault){error, request->comm};
        if (fault->comm)
            tern_comm_retain(fault->comm);
    }
    return error;
}

/* Reports a complete active request. *handle becomes MPI_REQUEST_NULL unless the request is
 * persistent. Returns the error code. */
static inline int report(struct tern_request *request, MPI_Request *handle, MPI_Status *status,
                         struct fault *fault)
{
    const struct tern_request_kind *kind = request->kind;
    int error = 0;

    if (TERN_UNLIKELY(request->error || kind->query || tern_check_full()))
        error = report_fault(request, *handle, fault);
    tern_status_copy(status, &request->status);
    if (request->persistent) {
        if (tern_request_any_followers())
            tern_request_tell_followers(request, TERN_REQUEST_REPORTED);
        request->active = false;
        return error;
    }
    if (request->held)
        let_go(request);
    drop_index(request);
    *handle = MPI_REQUEST_NULL;
    kind->release(request);
    return error;
}

/* Reports the request of a procedure that takes one request. */
static int report_one(struct tern_request **request, MPI_Status *status)
{
    MPI_Request handle = (MPI_Request)(*request)->obj.handle;
    struct fault fault = {0};
    int error = report(*request, &handle, status, &fault);
    if (handle == MPI_REQUEST_NULL)
        *request = NULL;
    if (error)
        tern_raise_next_on_held(fault.comm);
    return error;
}

/* Returns the result of a call that reports several requests, whose statuses hold the codes. */
static int conclude(const struct fault *fault)
{
    if (!fault->error)
        return 0;
    tern_raise_next_on_held(fault->comm);
    return tern_error(TERN_ERR_IN_STATUS, "%s; the statuses contain the error codes of all "
                                          "requests",
                      fault->error < 0 ? tern_error_text(fault->error) : "a request failed");
}

int tern_mpi_wait(struct tern_request **request, MPI_Status *status)
{
    if (tern_request_inactive(*request)) {
        tern_status_copy(status, &tern_status_empty);
        return 0;
    }
    tern_request_wait_in(*request, "MPI_Wait");
    return report_one(request, status);
}

int tern_mpi_test(struct tern_request **request, int *flag, MPI_Status *status)
{
    *flag = 1;
    if (tern_request_inactive(*request)) {
        tern_status_copy(status, &tern_status_empty);
        return 0;
    }
    if (!(*request)->complete)
        tern_lane_poll((*request)->lane);
    if ((*request)->complete)
        return report_one(request, status);
    tern_test_note_request("MPI_Test", *request);
    *flag = 0;
    return 0;
}

/* Reports all requests, each of them complete or inactive. */
static int report_all(int count, MPI_Request requests[], MPI_Status statuses[])
{
    struct fault fault = {0};

    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];

        if (tern_request_inactive(request)) {
            if (status != MPI_STATUS_IGNORE)
                *status = tern_status_empty;
            continue;
        }
        int error = report(request, &requests[i], status, &fault);
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = tern_error_class(error);
    }
    return conclude(&fault);
}

int tern_mpi_waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    /* Waits for one after the other: progress moves all of them, whichever is waited for. */
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request) || request->complete)
            continue;
        struct tern_waiter waiter = {.lane = request->lane,
                                     .procedure = "MPI_Waitall",
                                     .request = request,
                                     .handles = requests,
                                     .handle_count = count};
        do
            tern_wait(&waiter);
        while (!request->complete);
    }
    return report_all(count, requests, statuses);
}

void tern_requests_tell_test(const char *procedure, int count, const MPI_Request requests[],
                             struct tern_request *all)
{
    if (TERN_UNLIKELY(tern_tests.due))
        tern_test_tell(&(struct tern_waiter){.lane = tern_requests_lane(count, requests),
                                             .procedure = procedure,
                                             .request = all,
                                             .handles = requests,
                                             .handle_count = count});
}

int tern_mpi_testall(int count, MPI_Request requests[], int *flag, MPI_Status statuses[])
{
    bool progressed = false;

    *flag = 0;
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request) || request->complete)
            continue;
        if (!progressed)
            tern_lane_poll(tern_requests_lane(count, requests));
        progressed = true;
        if (!request->complete) {
            tern_requests_tell_test("MPI_Testall", count, requests, request);
            return 0;
        }
    }
    *flag = 1;
    return report_all(count, requests, statuses);
}

/* Returns the index of the first complete active request, or -1. Sets *ret_active to true if any
 * request is active. */
static int find_complete(int count, MPI_Request requests[], bool *ret_active)
{
    *ret_active = false;
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request))
            continue;
        if (request->complete)
            return i;
        *ret_active = true;
    }
    return -1;
}

static int report_any(int i, MPI_Request requests[], int *index, MPI_Status *status)
{
    if (i < 0) {
        *index = MPI_UNDEFINED;
        tern_status_copy(status, &tern_status_empty);
        return 0;
    }
    struct fault fault = {0};
    *index = i;
    int error = report(tern_request_of(requests[i]), &requests[i], status, &fault);
    if (error)
        tern_raise_next_on_held(fault.comm);
    return error;
}

int tern_mpi_waitany(int count, MPI_Request requests[], int *index, MPI_Status *status)
{
    struct tern_waiter waiter = {.lane = tern_requests_lane(count, requests),
                                 .procedure = "MPI_Waitany",
                                 .handles = requests,
                                 .handle_count = count};

    for (;;) {
        bool active;
        int i = find_complete(count, requests, &active);
        if (i >= 0 || !active)
            return report_any(i, requests, index, status);
        tern_wait(&waiter);
    }
}

int tern_mpi_testany(int count, MPI_Request requests[], int *index, int *flag, MPI_Status *status)
{
    bool active;
    int i = find_complete(count, requests, &active);

    if (i < 0 && active) {
        tern_lane_poll(tern_requests_lane(count, requests));
        i = find_complete(count, requests, &active);
    }
    *flag = i >= 0 || !active;
    if (!*flag) {
        tern_requests_tell_test("MPI_Testany", count, requests, NULL);
        *index = MPI_UNDEFINED;
        return 0;
    }
    return report_any(i, requests, index, status);
}

/* Reports all complete requests in order. *outcount is MPI_UNDEFINED if none was active. */
static int report_some(int count, MPI_Request requests[], int *outcount, int indices[],
                       MPI_Status statuses[])
{
    struct fault fault = {0};
    bool active = false;
    int found = 0;

    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (tern_request_inactive(request))
            continue;
        active = true;
        if (!request->complete)
            continue;
        MPI_Status *status = statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[found];
        int error = report(request, &requests[i], status, &fault);
        if (status != MPI_STATUS_IGNORE)
            status->MPI_ERROR = tern_error_class(error);
        indices[found++] = i;
    }
    *outcount = active ? found : MPI_UNDEFINED;
    return conclude(&fault);
}

/* LOOK_NS: time to test one request that is in no cache */
enum { MANY_REQUESTS = 1024, LOOK_NS = 25 };

/* Progresses for about as long as the following walk over many requests will take. Messages may
 * arrive few at a time, because rings are short and the senders walk over as many requests. Then n
 * requests would be walked n times. */
static void gather_events(struct tern_lane *lane, int count)
{
    if (count < MANY_REQUESTS)
        return;
    uint64_t end = tern_ticks() + tern_ticks_of_us((uint64_t)count * LOOK_NS / 1000);
    do
        tern_lane_poll(lane);
    while (tern_ticks() < end);
}

int tern_mpi_waitsome(int count, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status statuses[])
{
    struct tern_waiter waiter = {.lane = tern_requests_lane(count, requests),
                                 .procedure = "MPI_Waitsome",
                                 .handles = requests,
                                 .handle_count = count};

    for (;;) {
        gather_events(waiter.lane, count);
        int error = report_some(count, requests, outcount, indices, statuses);
        if (error || *outcount != 0)
            return error;
        tern_wait(&waiter);
    }
}

int tern_mpi_testsome(int count, MPI_Request requests[], int *outcount, int indices[],
                      MPI_Status statuses[])
{
    struct tern_lane *lane = tern_requests_lane(count, requests);

    if (tern_lane_poll(lane) > 0)
        gather_events(lane, count);
    int error = report_some(count, requests, outcount, indices, statuses);
    if (*outcount == 0)
        tern_requests_tell_test("MPI_Testsome", count, requests, NULL);
    return error;
}

/* ---- starting and cancelling ---- */

int tern_mpi_start(struct tern_request **request)
{
    struct tern_request *started = *request;

    tern_raise_next_on(started->comm);
    if (!started->persistent)
        return tern_error(TERN_ERR_REQUEST,
                          "request is a %s that is not persistent; expected one of MPI_Send_init, "
                          "MPI_Recv_init, ...",
                          started->kind->name);
    if (started->active)
        return tern_error(
            TERN_ERR_REQUEST,
            "request (%s) is active already; complete it with MPI_Wait or MPI_Test first",
            started->kind->name);
    int error = tern_check_full() ? tern_request_checks->started(started) : 0;
    if (!error && tern_request_any_followers())
        tern_request_tell_followers(started, TERN_REQUEST_STARTS);
    if (!error)
        error = started->kind->start(started);
    if (!error)
        tern_raise_next_on(NULL);
    return error;
}

int tern_mpi_startall(int count, MPI_Request requests[])
{
    for (int i = 0; i < count; i++) {
        struct tern_request *request = tern_request_of(requests[i]);
        if (!request)
            return tern_error(TERN_ERR_REQUEST, "array_of_requests[%d] is MPI_REQUEST_NULL", i);
        int error = tern_mpi_start(&request);
        if (error)
            return error;
    }
    return 0;
}

int tern_mpi_cancel(struct tern_request *request)
{
    if (tern_request_inactive(request))
        return tern_error(TERN_ERR_REQUEST,
                          "request is not active; only a started request can be cancelled");
    if (!request->kind->cancel)
        return tern_error(TERN_ERR_REQUEST, "a %s cannot be cancelled", request->kind->name);
    return request->complete && !request->kind->query ? 0 : request->kind->cancel(request);
}
