/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * The proofs of plans notice errors. First tiny plans written by hand, one for each fault that
 * symbolic.h and plan_check.h know. Then the real algorithms, spoilt: in every plan of every
 * algorithm at a few sizes each step in turn is left out, done twice, gets another range or another
 * block than it should, and the proof must fail; so no algorithm has a step that it does not need.
 */
#include "plan_check.h"
#include "proof.h"
#include "suite.h"

#include "lib/coll/algo/by_other_collectives.h"
#include "lib/coll/plan/build.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

/* --- by hand: two ranks, of which each has units 0 to 9 of its input in the send buffer --- */

static struct symbolic_rank two[2];

static void begin(int temporaries)
{
    sets_forget();
    memset(two, 0, sizeof two);
    for (int r = 0; r < 2; r++) {
        struct tern_plan *plan = two[r].plan = calloc(1, sizeof *plan);
        plan->window = TERN_PLAN_WINDOW;
        plan->refs = 1;
        set_temporaries(plan, temporaries, 10, false);
        content_put(&two[r].buffers[TERN_SEND_BUFFER], (struct piece){0, 10, 0, set_of(r, r + 1)});
    }
}

static void expect(bool ordered, const char *fault)
{
    const char *found = symbolic_run(two, 2, ordered);
    ck_assert_pstr_eq(found, fault);
    symbolic_release(&two[0]);
    symbolic_release(&two[1]);
}

static void expect_read(const char *fault)
{
    ck_assert_pstr_eq(plan_read(two[0].plan), fault);
    symbolic_release(&two[0]);
    symbolic_release(&two[1]);
}

/* The same with the board, of which they take so many turns. */
static void begin_turns(uint32_t turns)
{
    begin(0);
    two[0].plan->turns = two[1].plan->turns = turns;
}

static void add_post(struct tern_plan *plan, uint8_t flags, uint32_t at, int64_t whole)
{
    tern_plan_add(plan, (struct tern_step){TERN_STEP_POST, flags, -1, AFTER_ALL, in_send(at, 1),
                                           in_recv(0, whole), 0, at});
}

/* What the other has posted. */
static void add_take(struct tern_plan *plan, uint8_t flags, uint32_t at, struct tern_ref to)
{
    int peer = plan == two[0].plan;
    tern_plan_add(plan, (struct tern_step){TERN_STEP_TAKE, flags, peer, AFTER_ALL, in_recv(0, 0), to,
                                           0, at});
}

START_TEST(a_right_exchange_has_no_fault)
{
    begin(0);
    for (int r = 0; r < 2; r++) {
        add_send(two[r].plan, 1 - r, in_send(0, 10), 0);
        add_recv(two[r].plan, 1 - r, in_recv(5, 10), 0);
    }
    ck_assert_ptr_null(symbolic_run(two, 2, false));
    for (int r = 0; r < 2; r++)
        ck_assert(content_has(&two[r].buffers[TERN_RECV_BUFFER],
                              (struct piece){5, 15, -5, set_of(1 - r, 2 - r)}));
    symbolic_release(&two[0]);
    symbolic_release(&two[1]);
}
END_TEST

START_TEST(a_deadlock_is_noticed)
{
    begin(0);
    for (int r = 0; r < 2; r++) { /* both send first, and sends are synchronous */
        add_send(two[r].plan, 1 - r, in_send(0, 10), 0);
        add_recv(two[r].plan, 1 - r, in_recv(0, 10), AFTER_ALL);
    }
    expect(false, "ranks wait for each other for ever");
    begin(0);
    for (int r = 0; r < 2; r++) { /* or both receive first */
        add_recv(two[r].plan, 1 - r, in_recv(0, 10), 0);
        add_send(two[r].plan, 1 - r, in_send(0, 10), AFTER_ALL);
    }
    expect(false, "ranks wait for each other for ever");
    begin(0); /* the other never sends */
    add_recv(two[0].plan, 1, in_recv(0, 10), 0);
    expect(false, "ranks wait for each other for ever");
    begin_turns(1); /* nor posts */
    add_take(two[0].plan, 0, 0, in_recv(0, 1));
    expect(false, "ranks wait for each other for ever");
}
END_TEST

START_TEST(the_window_is_kept)
{
    begin(0);
    for (int r = 0; r < 2; r++) {
        two[r].plan->window = 1; /* as if each step named the one before */
        add_send(two[r].plan, 1 - r, in_send(0, 10), 0);
        add_recv(two[r].plan, 1 - r, in_recv(0, 10), 0);
    }
    expect(false, "ranks wait for each other for ever");
}
END_TEST

START_TEST(lengths_must_agree)
{
    begin(0);
    add_send(two[0].plan, 1, in_send(0, 10), 0);
    add_recv(two[1].plan, 0, in_recv(0, 9), 0);
    expect(false, "a message or copy has another length than its receiver expects");
    begin(0);
    add_copy(two[0].plan, in_send(0, 3), in_recv(0, 4), 0);
    expect(false, "a message or copy has another length than its receiver expects");
}
END_TEST

START_TEST(inputs_are_not_written_to)
{
    begin(0);
    add_send(two[0].plan, 1, in_send(0, 10), 0);
    add_recv(two[1].plan, 0, in_send(0, 10), 0);
    expect(false, "an input is written to");
    begin(0);
    add_copy(two[0].plan, in_send(0, 5), in_recv(0, 5), 0);
    add_reduce(two[0].plan, in_recv(0, 5), in_send(0, 5), AFTER_ALL);
    expect(false, "an input is written to");
    begin_turns(1);
    add_post(two[1].plan, TERN_STEP_DONE, 0, 1);
    add_take(two[0].plan, TERN_STEP_DONE, 0, in_send(0, 1));
    expect(false, "an input is written to");
}
END_TEST

/* The other's input comes to temporary 0, from its unit `from` on; what follows is joined with it.
 */
static void begin_joining(int64_t from)
{
    begin(2);
    add_send(two[1].plan, 0, in_send(from, 5), 0);
    add_recv(two[0].plan, 1, in_temp(0, 0, 5), 0);
}

START_TEST(joins_are_right)
{
    begin_joining(0);
    add_copy(two[0].plan, in_send(0, 5), in_temp(1, 0, 5), AFTER_ALL);
    add_reduce(two[0].plan, in_temp(0, 0, 5), in_temp(1, 0, 5), AFTER_ALL);
    expect(true, "contributions are joined out of order"); /* 1 before 0 */
    begin_joining(0);
    add_reduce(two[0].plan, in_send(0, 5), in_temp(0, 0, 5), AFTER_ALL);
    expect(true, NULL);
    begin_joining(0);
    add_reduce(two[0].plan, in_send(0, 5), in_temp(0, 0, 5), AFTER_ALL);
    add_reduce(two[0].plan, in_send(0, 5), in_temp(0, 0, 5), AFTER_ALL);
    expect(false, "a contribution is joined twice");
    begin_joining(1);
    add_reduce(two[0].plan, in_send(0, 5), in_temp(0, 0, 5), AFTER_ALL);
    expect(false, "units of different index are joined");
    begin_joining(0);
    add_reduce(two[0].plan, in_send(0, 6), in_temp(0, 0, 6), AFTER_ALL);
    expect(false, "something undefined is joined");
}
END_TEST

START_TEST(messages_do_not_stay)
{
    begin(0);
    add_send(two[0].plan, 1, in_send(0, 10), 0);
    add_send(two[0].plan, 1, in_send(0, 10), 0);
    add_recv(two[1].plan, 0, in_recv(0, 10), 0);
    expect(false, "ranks wait for each other for ever"); /* the sender, for a receiver */
}
END_TEST

START_TEST(a_rank_posts_once)
{
    begin_turns(1);
    for (int i = 0; i < 2; i++)
        add_post(two[0].plan, 0, 0, 1);
    expect(false, "a rank posts twice");
}
END_TEST

START_TEST(posts_are_as_long_as_they_say)
{
    begin_turns(1);
    add_post(two[0].plan, 0, 0, 2);
    expect(false, "a post has another length than it says");
    begin_turns(1);
    add_post(two[0].plan, TERN_STEP_MORE, 0, 3);
    add_post(two[0].plan, 0, 2, 3);
    expect(false, "a post has holes");
    begin_turns(1);
    add_post(two[1].plan, TERN_STEP_DONE, 0, 1);
    add_take(two[0].plan, TERN_STEP_DONE, 0, in_recv(0, 2));
    expect(false, "more is taken than was posted");
}
END_TEST

/* Rank 0 posts in `turns` turns, and then takes what rank 1 posts in the first. */
static void post_ahead(uint32_t turns)
{
    begin_turns(turns);
    for (int r = 0; r < 2; r++)
        for (uint32_t t = 0; t < turns; t++) {
            add_post(two[r].plan, r || t ? TERN_STEP_DONE : 0, 0, 1);
            two[r].plan->head[t].turn = t;
        }
    add_take(two[0].plan, TERN_STEP_DONE, 0, in_recv(0, 1));
}

START_TEST(posts_are_only_so_far_ahead)
{
    post_ahead(TERN_BOARD_LONG_SHEETS);
    expect(false, NULL);
    post_ahead(TERN_BOARD_LONG_SHEETS + 1);
    expect(false, "ranks wait for each other for ever");
}
END_TEST

START_TEST(turns_end_once)
{
    begin_turns(1);
    add_post(two[0].plan, TERN_STEP_DONE, 0, 1);
    add_take(two[0].plan, 0, 0, in_recv(0, 1));
    add_post(two[1].plan, TERN_STEP_DONE, 0, 1);
    expect(false, "a turn goes on after its end");
    begin_turns(1);
    add_post(two[0].plan, 0, 0, 1);
    add_post(two[1].plan, TERN_STEP_DONE, 0, 1);
    expect(false, "a turn is not ended");
    begin_turns(1);
    add_post(two[0].plan, TERN_STEP_DONE, 0, 1);
    tern_plan_add(two[1].plan, (struct tern_step){.kind = TERN_STEP_NONE, .flags = TERN_STEP_DONE});
    expect(false, "a rank neither posts nor takes in a turn");
    begin_turns(1);
    two[1].plan->turns = 2;
    expect(false, "ranks take different numbers of turns");
    begin_turns(1);
    add_post(two[0].plan, TERN_STEP_DONE, 0, 1);
    two[0].plan->head[0].turn = 1;
    expect(false, "a plan uses a turn that it does not take");
}
END_TEST

START_TEST(a_barrier_waits_for_everybody)
{
    begin(0); /* rank 1 does not wait for rank 0 */
    add_send(two[1].plan, 0, in_temp(0, 0, 0), 0);
    add_recv(two[0].plan, 1, in_temp(0, 0, 0), 0);
    ck_assert_ptr_null(symbolic_run_without(two, 2, 1));
    ck_assert_pstr_eq(symbolic_run_without(two, 2, 0), "a rank does not wait for another one");
    expect(false, NULL);
}
END_TEST

START_TEST(races_are_read)
{
    begin(2);
    add_recv(two[0].plan, 1, in_temp(0, 0, 5), 0);
    add_reduce(two[0].plan, in_temp(0, 0, 5), in_recv(0, 5), 0);
    expect_read("a step touches what another may still use");
    begin(2);
    add_recv(two[0].plan, 1, in_temp(0, 0, 5), 0);
    add_reduce(two[0].plan, in_temp(0, 0, 5), in_recv(0, 5), AFTER_ALL);
    expect_read(NULL);
    begin(2);
    add_send(two[0].plan, 1, in_temp(0, 3, 5), 0);
    add_recv(two[0].plan, 1, in_temp(0, 7, 2), 0); /* into what is being sent */
    expect_read("a step touches what another may still use");
    begin(2);
    add_recv(two[0].plan, 1, in_temp(1, 6, 5), 0);
    expect_read("a step goes beyond a temporary");
    begin(1);
    add_recv(two[0].plan, 1, in_temp(1, 0, 5), 0);
    expect_read("a step goes beyond a temporary");
    begin(1);
    add_reduce(two[0].plan, in_temp(0, 0, 5), in_recv(0, 4), 0);
    expect_read("operands of different length");
    begin(1);
    add_recv(two[0].plan, 1, in_temp(0, 0, 5), 0);
    two[0].plan->head[0].flags |= TERN_STEP_AWAITED;
    add_send(two[0].plan, 1, in_send(0, 5), 0);
    expect_read("a step is marked as awaited, and is not");
}
END_TEST

/* --- real plans, spoilt --- */

enum spoiling {
    DROP,       /* a step is left out */
    REPEAT,     /* a step is done twice */
    SHIFT_FROM, /* a range begins one unit further on */
    SHIFT_TO,
    SHIFT_AT,    /* of what was posted */
    SHORTEN,     /* both ranges of a step, or its only one, are a unit shorter */
    SWAP_BLOCKS, /* what this step sends and what its next send does */
    SWAP_PEERS,  /* to whom */
    SPOILINGS
};

static const char *const spoiling_names[] = {"left out",       "done twice", "shifted source",
                                             "shifted target", "shifted post", "shortened",  "swapped blocks",
                                             "swapped peers"};

struct spoiler {
    enum spoiling spoiling;
    int rank;
    int64_t step;
    uint8_t kind; /* of that step */
    bool empty;   /* it posts nothing */
};

static struct tern_step *next_send(struct tern_plan *plan, int64_t i)
{
    for (i++; i < plan->head_count; i++)
        if (plan->head[i].kind == TERN_STEP_SEND)
            return &plan->head[i];
    return NULL;
}

static bool same_ref(struct tern_ref a, struct tern_ref b)
{
    return a.buffer == b.buffer && a.offset == b.offset && a.count == b.count;
}

static bool swap_sends(struct tern_step *a, struct tern_step *b, bool peers)
{
    if (a->kind != TERN_STEP_SEND || !b || same_ref(a->from, b->from) || !a->from.count ||
        !b->from.count || (peers && a->peer == b->peer))
        return false;
    struct tern_step first = *a;
    if (peers) {
        a->peer = b->peer;
        b->peer = first.peer;
    } else {
        a->from = b->from;
        b->from = first.from;
    }
    return true;
}

/* Leaving a step out must not change whom the others wait for: something that does nothing takes
 * its place. */
static bool spoil_step(struct tern_plan *plan, int64_t i, enum spoiling spoiling)
{
    struct tern_step *step = &plan->head[i];
    bool message = step->kind == TERN_STEP_SEND || step->kind == TERN_STEP_RECV;
    bool reads = step->kind != TERN_STEP_RECV && step->kind != TERN_STEP_TAKE && step->from.count;
    bool writes = step->kind != TERN_STEP_SEND && step->kind != TERN_STEP_POST && step->to.count;
    if (step->kind == TERN_STEP_NONE)
        return false;
    switch (spoiling) {
    case DROP:
        if (!message && step->kind != TERN_STEP_POST && step->kind != TERN_STEP_TAKE && !reads)
            return false;
        step->kind = TERN_STEP_NONE;
        return true;
    case REPEAT: /* copying twice is no fault, nor taking twice */
        if (step->kind == TERN_STEP_COPY || step->kind == TERN_STEP_TAKE)
            return false;
        memmove(step + 1, step, (size_t)(plan->head_count - i) * sizeof *step);
        step[1].after = 1;
        plan->step_count = ++plan->head_count;
        return true;
    case SHIFT_FROM: /* where a join unpacks is all the same */
        step->from.offset++;
        return reads && step->kind != TERN_STEP_JOIN;
    case SHIFT_TO:
        step->to.offset++;
        return writes;
    case SHIFT_AT:
        step->at++;
        return step->kind >= TERN_STEP_POST && (reads || writes);
    case SHORTEN:
        step->from.count -= reads;
        step->to.count -= writes;
        return reads || writes;
    case SWAP_BLOCKS:
        return swap_sends(step, next_send(plan, i), false);
    default:
        return swap_sends(step, next_send(plan, i), true);
    }
}

/* Where an algorithm does more than it must, for the sake of fewer rounds or of all ranks' doing
 * the same. */
static bool does_too_much(const struct proof *proof, const struct spoiler *spoiler)
{
    enum spoiling spoiling = spoiler->spoiling;
    const char *name = proof->algorithm->name;
    bool scatters =
        proof->collective == TERN_REDUCE_SCATTER_BLOCK || proof->collective == TERN_REDUCE_SCATTER;
    bool board = !strcmp(name, "board") || !strcmp(name, "slices");
    if (spoiler->empty && proof->collective != TERN_BARRIER) /* for everybody does something in a turn */
        return true;
    if (proof_wants_nodes(proof->algorithm)) {
        if (proof->in_place) /* own blocks come once more with all others */
            return true;
        int span = proof->layout == 1 ? 2 : 0; /* blocks of two, or dealt to three */
        bool mates = span ? spoiler->rank / span == proof->root / span : spoiler->rank % 3 == proof->root % 3;
        if (proof->collective == TERN_BCAST) /* the root gets back what it has, also from its mates */
            return spoiler->kind == TERN_STEP_TAKE || spoiler->kind == TERN_STEP_COPY ||
                   (spoiler->kind == TERN_STEP_POST && mates);
        if (proof->collective == TERN_ALLTOALL) /* a single node's blocks need no sorting: there and back */
            return spoiler->kind == TERN_STEP_COPY;
        return proof->collective == TERN_EXSCAN && /* of the last rank, which nobody wants */
               (spoiler->kind == TERN_STEP_POST || spoiler->kind == TERN_STEP_REDUCE ||
                spoiler->kind == TERN_STEP_COPY);
    }
    /* what only one rank wants comes to all, or what a rank has comes once more */
    if (proof->algorithm->fits == tern_plan_fits_sequence || proof->algorithm->fits == tern_plan_fits_equal_parts)
        return true;
    if (board) /* the last rank takes its own block back; all post, also what nobody takes */
        return proof->in_place || proof->collective == TERN_EXSCAN;
    if (!strncmp(name, "scatter_", 8)) /* blocks handed on in the scatter come once more */
        return spoiling == SHIFT_TO || spoiling == SHIFT_FROM;
    return !strcmp(name, "recursive_doubling") &&
           scatters && /* all blocks, also when mine is empty */
           (spoiling == SHORTEN || proof->collective == TERN_REDUCE_SCATTER);
}

/* Spoils one step, if that can be done so that a difference must be seen, and puts the plan right again. */
static bool spoil(struct proof *proof, const struct spoiler *spoiler, struct tern_step *kept)
{
    struct tern_plan *plan = proof->ranks[spoiler->rank].plan;
    int64_t count = plan->step_count;
    memcpy(kept, plan->head, (size_t)count * sizeof *kept);
    bool applies = spoil_step(plan, spoiler->step, spoiler->spoiling);
    const char *fault = applies ? proof_fault_again(proof, spoiler->rank) : NULL;
    memcpy(plan->head, kept, (size_t)count * sizeof *kept);
    plan->step_count = plan->head_count = count;
    ck_assert_msg(!applies || fault || does_too_much(proof, spoiler),
                  "%s %s: step %ld of rank %d of %d is spoilt (%s), and nothing is noticed "
                  "(count %ld, root %d, layout %d%s, %s, %s)",
                  tern_plan_collective_name(proof->collective), proof->algorithm->name, (long)spoiler->step,
                  spoiler->rank, proof->n, spoiling_names[spoiler->spoiling], (long)proof->count, proof->root,
                  proof->layout, proof->without_board ? " without boards" : "",
                  proof->in_place ? "in place" : "not in place", proof->commutative ? "commutative" : "in order");
    return applies;
}

/* All steps of a rank in turn, in all ways; counts how many were spoilt. */
static void spoil_each(struct proof *proof, int rank, int64_t spoilt[SPOILINGS])
{
    struct tern_plan *plan = proof->ranks[rank].plan;
    plan_flatten(plan, 1); /* for a step that is done twice */
    struct tern_step *kept = malloc((size_t)(plan->step_count + 1) * sizeof *kept);
    for (int s = 0; s < SPOILINGS; s++)
        for (int64_t i = 0; i < plan->step_count; i++) {
            const struct tern_step *step = &plan->head[i];
            struct spoiler spoiler = {.spoiling = (enum spoiling)s, .rank = rank, .step = i, .kind = step->kind};
            spoiler.empty = step->kind == TERN_STEP_POST && !step->from.count;
            spoilt[s] += spoil(proof, &spoiler, kept);
        }
    free(kept);
}

/* The plans are right as they are. So of those with one that is spoilt only that one is read again. */
static void spoil_case(struct proof proof, int64_t spoilt[SPOILINGS])
{
    ck_assert_pstr_eq(proof_fault(proof), NULL);
    if (proof_begin(&proof))
        for (int rank = 0; rank < proof.n; rank++)
            spoil_each(&proof, rank, spoilt);
    proof_end(&proof);
}

/* What wants nodes in blocks of two and dealt to three of them, with boards and without. */
static void spoil_on_nodes(struct proof proof, int64_t spoilt[SPOILINGS])
{
    static const int layouts[] = {1, 6};
    bool nodes = proof_wants_nodes(proof.algorithm);
    for (int variant = 0; variant < (nodes ? 4 : 1); variant++) {
        proof.layout = nodes ? layouts[variant / 2] : 0;
        proof.without_board = variant % 2;
        spoil_case(proof, spoilt);
    }
}

START_TEST(each_step_of_each_algorithm_is_needed_as_it_is)
{
    static const struct {
        int n, count, root;
        bool in_place, commutative;
    } cases[] = {{2, 5, 1, false, true},
                 {4, 12, 0, false, false},
                 {5, 11, 3, true, true},
                 {8, 9, 0, false, true}};
    struct proof proof = {.collective = (enum tern_collective)_i};
    for (proof.algorithm = tern_plan_algorithms(proof.collective, false); proof.algorithm->name;
         proof.algorithm++) {
        int64_t spoilt[SPOILINGS] = {0};
        for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
            proof.n = cases[c].n;
            proof.count = cases[c].count;
            proof.root = proof_has_root(proof.collective) ? cases[c].root : 0;
            proof.in_place = cases[c].in_place && proof_has_in_place(proof.collective);
            proof.commutative = cases[c].commutative || !proof_reduces(proof.collective);
            spoil_on_nodes(proof, spoilt);
        }
        ck_assert_msg(spoilt[DROP] > 0, "%s %s: nothing was spoilt",
                      tern_plan_collective_name(proof.collective), proof.algorithm->name);
    }
}
END_TEST

/* Proofs leave out a plan that is the same as another one that was proven: it must be that, to the last field. */
START_TEST(plans_that_differ_in_anything_are_not_the_same)
{
    const struct tern_step exchange[] = {{TERN_STEP_POST, 0, 1, 2, in_send(3, 4), in_recv(5, 6), 7, 8},
                                         step_recv(1, in_recv(0, 10), AFTER_ALL)};
    for (int field = 0; field <= 14; field++) {
        begin(1);
        for (int r = 0; r < 2; r++)
            for (int i = 0; i < 2; i++)
                tern_plan_add(two[r].plan, exchange[i]);
        struct tern_plan *plan = two[1].plan;
        struct tern_step *step = &plan->head[0];
        switch (field) {
        case 1: step->kind = TERN_STEP_TAKE; break;
        case 2: step->flags = TERN_STEP_MORE; break;
        case 3: step->peer = 0; break;
        case 4: step->after = 1; break;
        case 5: step->from.offset++; break;
        case 6: step->from.buffer = TERN_TEMPORARY; break;
        case 7: step->to.count++; break;
        case 8: step->to.block = 0; break;
        case 9: step->turn++; break;
        case 10: step->at++; break;
        case 11: tern_plan_add(plan, *step); break;
        case 12: plan->window--; break;
        case 13: plan->temp_units++; break;
        case 14: plan->turns++;
        }
        ck_assert_msg(plan_same(two[0].plan, two[1].plan) == !field, "field %d", field);
        symbolic_release(&two[0]);
        symbolic_release(&two[1]);
    }
}
END_TEST

/* --- whole plans, spoilt --- */

static void wait_for_each_step(struct symbolic_rank *ranks, int n, void *how)
{
    (void)how;
    for (int r = 0; r < n; r++)
        ranks[r].plan->window = 1;
}

static void forget_dependencies(struct symbolic_rank *ranks, int n, void *how)
{
    (void)how;
    for (int r = 0; r < n; r++) {
        plan_flatten(ranks[r].plan, 0);
        for (int64_t i = 0; i < ranks[r].plan->head_count; i++) {
            ranks[r].plan->head[i].after = 0;
            ranks[r].plan->head[i].flags = 0;
        }
    }
}

static struct proof named(enum tern_collective collective, const char *name)
{
    struct proof proof = {.collective = collective, .n = 8, .count = 24, .commutative = true};
    for (proof.algorithm = tern_plan_algorithms(collective, false); proof.algorithm->name;
         proof.algorithm++)
        if (!strcmp(proof.algorithm->name, name))
            return proof;
    ck_abort_msg("there is no %s %s", tern_plan_collective_name(collective), name);
    return proof;
}

/* Rings and exchanges send and receive at the same time: one after the other they cannot. */
START_TEST(exchanges_that_are_done_in_turn_lock_up)
{
    static const struct {
        enum tern_collective collective;
        const char *name;
    } rows[] = {{TERN_ALLGATHER, "ring"},         {TERN_ALLGATHER, "bruck"},
                {TERN_ALLTOALL, "pairwise"},      {TERN_ALLREDUCE, "recursive_doubling"},
                {TERN_ALLREDUCE, "ring"},         {TERN_BARRIER, "dissemination"},
                {TERN_REDUCE_SCATTER, "pairwise"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct proof proof = named(rows[i].collective, rows[i].name);
        ck_assert_ptr_null(proof_fault(proof));
        proof.alter = wait_for_each_step;
        ck_assert_pstr_eq(proof_fault(proof), "ranks wait for each other for ever");
    }
}
END_TEST

START_TEST(plans_without_dependencies_are_races)
{
    static const struct {
        enum tern_collective collective;
        const char *name;
    } rows[] = {{TERN_BCAST, "binomial"},  {TERN_BCAST, "chain"},
                {TERN_ALLGATHER, "ring"},  {TERN_REDUCE, "ring"},
                {TERN_ALLREDUCE, "swing"}, {TERN_SCAN, "recursive_doubling"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct proof proof = named(rows[i].collective, rows[i].name);
        ck_assert_ptr_null(proof_fault(proof));
        proof.alter = forget_dependencies;
        ck_assert_pstr_eq(proof_fault(proof), "a step touches what another may still use");
    }
}
END_TEST

/* What only commutative operations can do is asked for another one. */
START_TEST(the_order_of_contributions_is_noticed)
{
    int tried = 0;
    for (int c = TERN_REDUCE; c <= TERN_EXSCAN; c++)
        for (const struct tern_algorithm *row =
                 tern_plan_algorithms((enum tern_collective)c, false);
             row->name; row++) {
            struct tern_algorithm anything = *row;
            struct tern_plan_args args = {.collective = (uint8_t)c, .size = 8, .sheet = 4096};
            if (!row->fits || row->fits(&args))
                continue;
            args.commutative = true;
            if (!row->fits(&args))
                continue;
            anything.fits = NULL;
            struct proof proof = named((enum tern_collective)c, row->name);
            proof.algorithm = &anything;
            proof.root = c == TERN_REDUCE ? 3 : 0;
            proof.commutative = false;
            ck_assert_pstr_eq(proof_fault(proof), "contributions are joined out of order");
            tried++;
        }
    ck_assert_int_ge(tried, 5);
}
END_TEST

int main(void)
{
    proof_keep_memory();
    Suite *suite = suite_create("proof");
    TCase *hand = suite_case(suite, "plans by hand"), *real = suite_case(suite, "spoilt plans");
    tcase_add_test(hand, a_right_exchange_has_no_fault);
    tcase_add_test(hand, a_deadlock_is_noticed);
    tcase_add_test(hand, the_window_is_kept);
    tcase_add_test(hand, lengths_must_agree);
    tcase_add_test(hand, inputs_are_not_written_to);
    tcase_add_test(hand, joins_are_right);
    tcase_add_test(hand, messages_do_not_stay);
    tcase_add_test(hand, a_rank_posts_once);
    tcase_add_test(hand, posts_are_as_long_as_they_say);
    tcase_add_test(hand, posts_are_only_so_far_ahead);
    tcase_add_test(hand, turns_end_once);
    tcase_add_test(hand, a_barrier_waits_for_everybody);
    tcase_add_test(hand, races_are_read);
    tcase_add_test(hand, plans_that_differ_in_anything_are_not_the_same);
    tcase_set_timeout(real, 600);
    tcase_add_loop_test(real, each_step_of_each_algorithm_is_needed_as_it_is, 0,
                        TERN_NEIGHBOR_ALLGATHER);
    tcase_add_test(real, exchanges_that_are_done_in_turn_lock_up);
    tcase_add_test(real, plans_without_dependencies_are_races);
    tcase_add_test(real, the_order_of_contributions_is_noticed);
    return suite_run(suite);
}
