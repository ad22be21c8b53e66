/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What algorithms say about themselves to be priced is what their plans do: over all stages, repeat * messages * senders is about
 * as many messages as the plans of all ranks send, also where a vector has fewer elements than there are ranks. And phases
 * within nodes are priced with the board that the ranks of a node have.
 */
#include "lib/coll/run/coll.h"
#include "lib/coll/plan/plan.h"
#include "lib/coll/price/topology.h"
#include "suite.h"

#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double FACTOR = 2.5;

struct point {
    int collective, size;
    int64_t count, unit; /* of reductions */
};

static struct tern_plan_args args_of(struct point point, int rank)
{
    return (struct tern_plan_args){.collective = (uint8_t)point.collective,
                                   .commutative = true,
                                   .send_bytes = point.unit == 1,
                                   .recv_bytes = point.unit == 1,
                                   .rank = rank,
                                   .size = point.size,
                                   .send_count = point.count,
                                   .recv_count = point.count,
                                   .send_size = point.unit,
                                   .recv_size = point.unit,
                                   .segment_bytes = 64 << 10};
}

static double sent_by(const struct tern_algorithm *algorithm, const struct tern_plan_args *args)
{
    struct tern_plan *plan = tern_plan_build(algorithm, args);
    struct tern_step room;
    double sum = 0;
    ck_assert_ptr_nonnull(plan);
    for (int64_t i = 0; i < plan->step_count; i++)
        sum += tern_plan_step(plan, i, &room)->kind == TERN_STEP_SEND;
    tern_plan_release(plan);
    return sum;
}

static double sent(const struct tern_algorithm *algorithm, struct point point)
{
    double sum = 0;
    for (int rank = 0; rank < point.size; rank++) {
        struct tern_plan_args args = args_of(point, rank);
        sum += sent_by(algorithm, &args);
    }
    return sum;
}

static double told(const struct tern_algorithm *algorithm, const struct tern_model *model, struct point point)
{
    struct tern_shape shape = {.size = point.size,
                               .bytes = point.count * point.unit,
                               .unit = point.unit,
                               .segment_bytes = 64 << 10,
                               .nodes = 1,
                               .node_size = point.size,
                               .model = model};
    struct tern_stages stages = {.count = 0};
    double sum = 0;
    algorithm->stages(&shape, &stages);
    for (int i = 0; i < stages.count; i++)
        sum += stages.stage[i].repeat * (double)stages.stage[i].messages * (double)stages.stage[i].senders;
    return sum;
}

/* Not of messages, or of other algorithms, which are told for themselves. */
static bool is_plain(const struct tern_algorithm *algorithm)
{
    static const char *const others[] = {"board", "slices", "hierarchical", "multi_leader", "gather_bcast", "allgather", "bcast",
                                         "scatter_gather", "allreduce", "reduce_bcast", "scatter_allgather",
                                         "reduce_then_scatter"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (!strcmp(algorithm->name, others[i]))
            return false;
    return algorithm->stages;
}

static int check_algorithm(const struct tern_algorithm *algorithm, const struct tern_model *model, struct point point)
{
    struct tern_plan_args args = args_of(point, 0);
    if (!is_plain(algorithm) || (algorithm->fits && !algorithm->fits(&args)))
        return 0;
    double is = sent(algorithm, point), said = told(algorithm, model, point);
    if (is <= said * FACTOR && said <= is * FACTOR)
        return 0;
    printf("%s %s, %d ranks, %lld units: %.0f messages, %.0f are priced\n",
           tern_plan_collective_name((enum tern_collective)point.collective), algorithm->name, point.size, (long long)point.count,
           is, said);
    return 1;
}

START_TEST(stages_tell_as_many_messages_as_plans_send)
{
    static const int sizes[] = {2, 3, 4, 7, 8, 16, 24, 32, 64};
    static const int64_t counts[] = {1, 3, 8, 1000};
    struct tern_model model = tern_model_of_parameters(1 << 20);
    const struct tern_algorithm *row = tern_plan_algorithms((enum tern_collective)_i, false);
    int wrong = 0;
    for (; row->name; row++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                wrong += check_algorithm(row, &model, (struct point){_i, sizes[s], counts[c], _i >= TERN_REDUCE ? 8 : 1});
    fflush(stdout);
    ck_assert_int_eq(wrong, 0);
}
END_TEST

START_TEST(no_price_is_less_than_nothing)
{
    static const int64_t counts[] = {0, 1, 5, 1 << 20};
    struct tern_model model = tern_model_of_parameters(1 << 20);
    const struct tern_algorithm *row = tern_plan_algorithms((enum tern_collective)_i, false);
    for (; row->name; row++)
        for (int64_t size = 1; size <= 1 << 20; size *= 2)
            for (size_t c = 0; row->stages && c < sizeof counts / sizeof *counts; c++) {
                struct tern_shape shape = {.size = size, .bytes = 8 * counts[c], .unit = 8, .segment_bytes = 64 << 10,
                                           .nodes = 1, .node_size = size, .model = &model};
                ck_assert_double_ge(tern_plan_price_ns(row, &model, &shape), model.call_ns); /* nor no number */
            }
}
END_TEST

static double price_on_nodes(int collective, const char *name, int32_t node_sheet)
{
    enum { NODES = 4, EACH = 32 }; /* two cores each */
    struct tern_model model = tern_model_of_parameters(EACH);
    model.cores_per_node = model.cores_per_cache = model.cores_per_package = 2;
    struct tern_shape shape = {.size = NODES * EACH,
                               .bytes = 8,
                               .unit = 8,
                               .segment_bytes = 64 << 10,
                               .nodes = NODES,
                               .node_size = EACH,
                               .node_sheet = node_sheet,
                               .model = &model};
    for (const struct tern_algorithm *row = tern_plan_algorithms((enum tern_collective)collective, false); row->name; row++)
        if (!strcmp(row->name, name))
            return tern_plan_price_ns(row, &model, &shape);
    return NAN;
}

START_TEST(phases_within_nodes_are_priced_with_their_board)
{
    static const int collectives[] = {TERN_BCAST, TERN_REDUCE, TERN_ALLREDUCE, TERN_ALLGATHER, TERN_SCAN};
    int32_t sheet = tern_coll_sheet_for(32);
    ck_assert_int_gt(sheet, 0);
    double with = price_on_nodes(collectives[_i], "hierarchical", sheet);
    ck_assert_double_lt(with, price_on_nodes(collectives[_i], "hierarchical", 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("price");
    TCase *test = suite_case(suite, "stages");
    tcase_set_timeout(test, 600);
    tcase_add_loop_test(test, stages_tell_as_many_messages_as_plans_send, TERN_BCAST, TERN_BCAST + 1);
    static const int kinds[] = {TERN_GATHER,    TERN_SCATTER,       TERN_ALLGATHER,            TERN_ALLTOALL, TERN_REDUCE,
                                TERN_ALLREDUCE, TERN_REDUCE_SCATTER_BLOCK, TERN_SCAN, TERN_EXSCAN};
    tcase_add_loop_test(test, no_price_is_less_than_nothing, TERN_BARRIER, TERN_EXSCAN + 1);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        tcase_add_loop_test(test, stages_tell_as_many_messages_as_plans_send, kinds[i], kinds[i] + 1);
    tcase_add_loop_test(test, phases_within_nodes_are_priced_with_their_board, 0, 5);
    return suite_run(suite);
}
