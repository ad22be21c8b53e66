/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_PLAN_RUN_H
#define TERN_PLAN_RUN_H

/*
 * A run: one execution of a plan by this rank. Private to lib/coll/run.
 *
 * set_up.c prepares a run, execute.c does its steps (and all of a blocking collective),
 * run_request.c is the request of a nonblocking or persistent one. Callers hold the lock of the
 * communicator's lane.
 */

#include "lib/coll/run/plan_transport.h"
#include "lib/coll/run/mismatch.h"
#include "lib/pml/lane.h"
#include "lib/util/base/event.h"
#include "lib/util/base/list.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a buffer of the plan is in this run. */
struct tern_run_place {
    char *base; /* address of unit 0 */
    /* bytes from one unit to the next */
    int64_t extent;
    const struct tern_type *type;
};

/* A run of a plan. */
struct tern_plan_run {
    struct tern_request request; /* unused in blocking runs */
    struct tern_list_node link; /* in the lane's list of runs */
    const struct tern_call *call;
    struct tern_plan *plan;
    struct tern_board *board; /* the communicator's board, or a persistent run's own */
    struct tern_run_place places[TERN_BUFFERS];
    char *memory; /* temporaries, or NULL */
    bool on_device; /* they are in device memory (tern_accel_spare_take); only if not NULL */
    struct tern_run_stage *stage; /* on_device.h; NULL: none */
    int tag, local_tag;
    tern_turn turn;     /* the plan's first turn of the board */
    int error;          /* the first error; 0: none */
    /* data that this rank must pass on is missing: from now on it passes on notices of failure */
    bool cut_off;
    bool permitted;     /* nothing must be awaited before the first step, or it has come */
    bool given_up;      /* `other` is in another collective: the steps left are skipped */
    uint32_t idle;      /* nonblocking: polls since the last progress */
    /* nonblocking and persistent runs only: the agreement on plans for devices (on_device.h) */
    enum {
        TERN_AGREEMENT_NONE,
        TERN_AGREEMENT_AWAITS_FIRST, /* the answer to the communicator's first question */
        TERN_AGREEMENT_WANTED,       /* this run's own question is to be asked */
        TERN_AGREEMENT_ASKED,
        TERN_AGREEMENT_OVER
    } agreement;
    bool asks_first;               /* it began the communicator's question */
    bool is_question;              /* it is a question itself */
    bool allowed;                  /* call->permit was given */
    struct tern_request *question; /* owned; NULL: none */
    struct tern_board_skip *skip;  /* owned: to give back turns of the board; NULL: not needed */
    struct tern_other other;
    int64_t next;       /* number of the next step to start */
    uint64_t in_flight; /* bit k: step next - 1 - k is in flight */
    struct tern_request
        /* request of step i at index i % TERN_PLAN_WINDOW, valid while the step is in flight */
        *pending[TERN_PLAN_WINDOW];
};

/* A nonblocking or persistent run, with its own copy of the call. */
struct tern_lasting_run {
    struct tern_plan_run run;
    struct tern_call call;
    struct tern_board board; /* a persistent run's own board, or none */
    int mine, all;           /* a question's answers: of this rank, of all */
};

/* Temporaries of at most TERN_RUN_SMALL_BYTES lie on the stack of a blocking call. */
enum { TERN_RUN_ALIGNMENT = 64, TERN_RUN_SMALL_BYTES = 2048 };

/* set_up.c */

/* Returns the bytes of memory for `units` units (1 or more) of a type. *ret_start: where unit 0
 * lies in it, for types that reach below their address. */
int64_t tern_run_span(const struct tern_type *unit, int64_t units, int64_t *ret_start);

/* Sets where the plan's buffers are. Temporaries lie in `small`, which has TERN_RUN_SMALL_BYTES. If
 * they do not fit or `small` is NULL, they are allocated. Returns 0 or TERN_ERR_NO_MEM. */
int tern_run_place_buffers(struct tern_plan_run *run, char *small);
/* Frees the memory that it took. */
void tern_run_free_memory(struct tern_plan_run *run);
/* Gets the plan of a blocking or nonblocking call. Before that, the ranks of a node may get a
 * board, or long sheets for it. Returns 0 or a negative code. */
int tern_run_get_plan(struct tern_call *call, struct tern_plan **ret_plan);
/* Gets the plan of a persistent call, which has a board of its own, because ranks may start several
 * persistent collectives in different orders (MPI-4.1 section 6.13). Returns 0 or a negative
 * code. */
int tern_run_get_lasting_plan(struct tern_call *call, uint32_t serial, struct tern_board *board,
                              struct tern_plan **ret_plan);
/* Gets the plan of a call whose buffers are in device memory on all ranks. */
int tern_run_get_device_plan(struct tern_call *call, struct tern_plan **ret_plan);
/* Gets a plan that does not use the board. */
int tern_run_get_plan_of_messages(struct tern_call *call, struct tern_plan **ret_plan);
/* Raises the event that a collective begins. */
void tern_run_tell_start(const struct tern_plan_run *run);

/* execute.c */

/* Does as many steps as possible. If `wait`, blocks until all are done. Returns true when all are
 * done. */
bool tern_run_advance(struct tern_plan_run *run, bool wait);
/* Ends a run that waits in vain because another rank is in another collective. Call
 * tern_run_skip_rest next. Returns false if there is no such rank. */
bool tern_run_give_up(struct tern_plan_run *run, bool blocking);
/* Ends a run in vain, with TERN_ERR_NOT_SAME. */
void tern_run_abandon(struct tern_plan_run *run);
/* Gives back the turns of a run that has done no step. */
void tern_run_skip_turns(struct tern_plan_run *run);
/* Skips the steps from number `from` on. Steps in flight keep their places in `pending`. */
void tern_run_skip_rest(struct tern_plan_run *run, int64_t from);
/* Records as this thread's error text which peer is lost, if the peer belongs to this communicator.
 * Otherwise the earlier text stays. */
void tern_run_explain_lost(const struct tern_coll *coll);

/* device_agreement.c, run_request.c */

/* Fills in an allreduce that asks all ranks: *all is the least of their *answer. */
void tern_run_fill_question(struct tern_call *question, struct tern_coll *coll, int *answer,
                            int *all);
/* Starts such a question under `tag`. Call with the lane's lock held. *ret_question is an active
 * request, maybe already complete. Returns 0 or TERN_ERR_*. */
int tern_run_ask(struct tern_coll *coll, int tag, int mine, struct tern_request **ret_question);

/* Returns the tag of the collective number `number` (lib/coll/run/mismatch.h). */
static inline int tern_run_tag(uint32_t number, const struct tern_call *call)
{
    return (int)(number << TERN_MARK_BITS & TERN_COLL_NUMBERS) | call->mark;
}

/* Returns the run's place among the collectives of its communicator, from 1 on. */
static inline uint32_t tern_run_number(const struct tern_plan_run *run)
{
    return (uint32_t)((run->tag & TERN_COLL_NUMBERS) >> TERN_MARK_BITS) + 1;
}

/* Takes the next numbers of the communicator for the run's tags. */
static inline void tern_run_take_tags(struct tern_plan_run *run)
{
    struct tern_coll *coll = run->call->coll;
    run->tag = tern_run_tag(coll->next_tag++, run->call);
    if (coll->local)
        run->local_tag = tern_run_tag(coll->local->next_tag++, run->call);
}

/* Prepares the run to start with step 0, and takes its turns of the board. */
static inline void tern_run_rewind(struct tern_plan_run *run)
{
    run->error = run->call->failed;
    run->cut_off = run->error != 0;
    run->permitted = true;
    run->given_up = false;
    run->next = 0;
    run->in_flight = 0;
    run->turn =
        (tern_turn)(uint32_t)run->tag << 32 | tern_board_enter(run->board, run->plan->turns);
}

/* Counts a run, and tells tools that it begins. */
static inline void tern_run_announce(struct tern_plan_run *run)
{
    struct tern_lane *lane = run->call->coll->context.lane;
    if (lane) /* NULL in tests that carry messages themselves */
        tern_count(&lane->counters.collectives[run->plan->args.collective], 1);
    if (tern_event_wanted(TERN_EVENT_COLLECTIVE))
        tern_run_tell_start(run);
}

/* Begins a run: blocking, nonblocking, or one start of a persistent one. */
static inline void tern_run_begin(struct tern_plan_run *run)
{
    tern_run_rewind(run);
    tern_run_announce(run);
}

/* Takes the tags of a persistent collective, which keeps them for all starts. Messages of one start
 * do not overtake those of the start before. */
static inline void tern_run_take_lasting_tags(struct tern_plan_run *run)
{
    struct tern_coll *coll = run->call->coll;
    run->tag = tern_run_tag(coll->next_lasting_tag++, run->call) | TERN_COLL_LASTING;
    if (coll->local)
        run->local_tag =
            tern_run_tag(coll->local->next_lasting_tag++, run->call) | TERN_COLL_LASTING;
}

#endif
