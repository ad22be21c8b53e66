/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/compose.h"

#include <stdlib.h>

/* --- teams --- */

int32_t tern_leader_of(const struct tern_topology *topology, int32_t node, int32_t place,
                       int32_t root)
{
    if (root >= 0 && tern_topology_node(topology, root) == node)
        return root;
    return tern_topology_rank(topology, node,
                              place == TERN_LAST_PLACE ? topology->node[node].size - 1 : place);
}

struct tern_seat tern_seat_in_node(const struct tern_plan_args *args)
{
    const struct tern_topology *topology = args->topology;
    int32_t node = tern_topology_node(topology, args->rank);
    return (struct tern_seat){TERN_LEVEL_NODE, 0, -1, tern_topology_place(topology, args->rank),
                              topology->node[node].size};
}

struct tern_seat tern_seat_among_leaders(const struct tern_plan_args *args, int32_t place,
                                         int32_t root)
{
    const struct tern_topology *topology = args->topology;
    int32_t node = tern_topology_node(topology, args->rank);
    bool leads = tern_leader_of(topology, node, place, root) == args->rank;
    return (struct tern_seat){TERN_LEVEL_LEADERS, place, root, leads ? node : -1,
                              topology->nodes};
}

struct tern_seat tern_seat_of_all(const struct tern_plan_args *args)
{
    return (struct tern_seat){TERN_LEVEL_ALL, 0, -1, args->rank, args->size};
}

static int32_t peer_of(const struct tern_plan *plan, const struct tern_part *part, int32_t peer)
{
    const struct tern_topology *topology = plan->args.topology;
    switch (part->seat.level) {
    case TERN_LEVEL_NODE:
        return tern_topology_rank(topology, tern_topology_node(topology, plan->args.rank), peer);
    case TERN_LEVEL_LEADERS:
        return tern_leader_of(topology, peer, part->seat.place, part->seat.root);
    default: return peer;
    }
}

/* --- adding parts --- */

static bool reduces(const struct tern_plan_args *args)
{
    return args->collective >= TERN_REDUCE && args->collective <= TERN_EXSCAN;
}

void tern_plan_compose(struct tern_plan *plan, int64_t units)
{
    plan->parts = calloc(1, sizeof *plan->parts);
    if (!plan->parts)
        plan->failed = true;
    else
        plan->parts->kept = units;
    set_temporaries(plan, 1, units, reduces(&plan->args));
}

struct tern_part *tern_plan_add_part(struct tern_plan *plan, enum tern_collective collective,
                                     struct tern_seat seat)
{
    const struct tern_plan_args *args = &plan->args;
    if (plan->failed || seat.rank < 0)
        return NULL;
    struct tern_part *part = &plan->parts->part[plan->parts->count++];
    part->seat = seat;
    part->lanes = 1;
    part->args = (struct tern_plan_args){
        .collective = (uint8_t)collective,
        .commutative = args->commutative,
        .rank = seat.rank,
        .size = seat.size,
        .send_bytes = true,
        .recv_bytes = true,
        .send_size = 1,
        .recv_size = 1,
        .segment_bytes = args->segment_bytes,
        .model = args->model,
        .topology = seat.level == TERN_LEVEL_ALL ? args->topology : NULL,
    };
    part->send = in_send(0, 0);
    part->recv = in_recv(0, 0);
    return part;
}

void tern_part_send(const struct tern_plan *plan, struct tern_part *part, struct tern_ref block)
{
    const struct tern_plan_args *args = &plan->args;
    part->send = block;
    part->args.send_count = block.count;
    if (block.buffer < TERN_TEMPORARY && !reduces(args)) {
        bool send = block.buffer == TERN_SEND_BUFFER;
        part->args.send_bytes = send ? args->send_bytes : args->recv_bytes;
        part->args.send_size = send ? args->send_size : args->recv_size;
    }
    if (reduces(&part->args))
        part->args.send_size = args->send_size;
}

void tern_part_recv(const struct tern_plan *plan, struct tern_part *part, struct tern_ref block)
{
    const struct tern_plan_args *args = &plan->args;
    part->recv = block;
    part->args.recv_count = block.count;
    if (block.buffer < TERN_TEMPORARY && !reduces(args)) {
        bool recv = block.buffer == TERN_RECV_BUFFER;
        part->args.recv_bytes = recv ? args->recv_bytes : args->send_bytes;
        part->args.recv_size = recv ? args->recv_size : args->send_size;
    }
    if (reduces(&part->args))
        part->args.recv_size = args->recv_size;
}

int64_t *tern_part_set_blocks(struct tern_plan *plan, struct tern_part *part, bool sends)
{
    size_t size = (size_t)part->args.size;
    part->numbers = calloc(2 * size, sizeof *part->numbers);
    if (!part->numbers) {
        plan->failed = true;
        return NULL;
    }
    struct tern_ints counts = {part->numbers, 8}, displs = {part->numbers + size, 8};
    if (sends) {
        part->blocks.send_counts = counts;
        part->blocks.send_displs = displs;
    } else {
        part->blocks.recv_counts = counts;
        part->blocks.recv_displs = displs;
    }
    part->args.blocks = &part->blocks;
    return part->numbers;
}

/* --- the whole's steps --- */

static struct tern_ref map_ref(const struct tern_part *part, struct tern_ref ref)
{
    if (ref.buffer >= TERN_TEMPORARY) {
        ref.offset += part->temporaries + (ref.buffer - TERN_TEMPORARY) * part->plan->temp_units;
        ref.buffer = TERN_TEMPORARY;
        return ref;
    }
    struct tern_ref place = ref.buffer == TERN_SEND_BUFFER ? part->send : part->recv;
    ref.offset += place.offset;
    ref.buffer = place.buffer;
    return ref;
}

/* Step i of the whole. A part begins with a fence; its window becomes dependencies. */
static void part_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_part *part = plan->parts->part;
    while (i >= part->first + 1 + part->plan->step_count)
        part++;
    const struct tern_plan *inner = part->plan;
    if (i == part->first) {
        *ret_step = step_none();
        ret_step->after = AFTER_ALL;
        return;
    }
    struct tern_step room;
    *ret_step = *tern_plan_step(inner, i - part->first - 1, &room);
    ret_step->after |= ~0ull << (inner->window - 1);
    if (ret_step->kind == TERN_STEP_SEND || ret_step->kind == TERN_STEP_RECV)
        ret_step->peer = peer_of(plan, part, ret_step->peer);
    if (ret_step->kind != TERN_STEP_NONE && ret_step->kind != TERN_STEP_RECV)
        ret_step->from = map_ref(part, ret_step->from);
    if (ret_step->kind != TERN_STEP_NONE && ret_step->kind != TERN_STEP_SEND)
        ret_step->to = map_ref(part, ret_step->to);
}

static void build_part(struct tern_plan *plan, struct tern_part *part)
{
    const struct tern_plan_args *args = &plan->args;
    bool elements = reduces(args) && !reduces(&part->args); /* moved as if they were bytes */
    if (elements && args->recv_size) {
        part->args.segment_bytes /= args->recv_size;
        if (!part->args.segment_bytes)
            part->args.segment_bytes = 1;
    }
    if (!part->algorithm) {
        struct tern_model model = args->model ? *args->model : tern_model_of_parameters(1);
        model = tern_model_of_level(&model, part->seat.level, part->lanes,
                                    elements ? args->recv_size : 1);
        part->algorithm = tern_plan_cheapest(&part->args, &model);
    }
    part->plan = tern_plan_build(part->algorithm, &part->args);
}

/* The steps that there are room for at once are kept; more are made as they are wanted. */
enum { KEPT_STEPS = 1024 };

void tern_plan_finish(struct tern_plan *plan)
{
    struct tern_parts *parts = plan->parts;
    int64_t steps = 0, units = 0;
    for (int i = 0; !plan->failed && i < parts->count; i++) {
        struct tern_part *part = &parts->part[i];
        build_part(plan, part);
        if (!part->plan) {
            plan->failed = true;
            return;
        }
        part->first = steps;
        part->temporaries = parts->kept;
        steps += 1 + part->plan->step_count;
        int64_t own = part->plan->temp_count * part->plan->temp_units;
        units = own > units ? own : units;
    }
    if (plan->failed)
        return;
    plan->temp_units = parts->kept + units;
    if (steps > KEPT_STEPS) {
        set_tail(plan, steps, part_step);
        return;
    }
    for (int64_t i = 0; i < steps; i++) {
        struct tern_step step;
        part_step(plan, i, &step);
        tern_plan_add(plan, step);
    }
    tern_parts_free(parts);
    plan->parts = NULL;
}

void tern_parts_free(struct tern_parts *parts)
{
    if (!parts)
        return;
    for (int i = 0; i < parts->count; i++) {
        if (parts->part[i].plan)
            tern_plan_release(parts->part[i].plan);
        free(parts->part[i].numbers);
    }
    free(parts);
}

/* --- prices --- */

void tern_stages_add_level(struct tern_stages *stages, const struct tern_shape *shape,
                           void (*of)(const struct tern_shape *, struct tern_stages *),
                           enum tern_level level, int lanes, int64_t bytes)
{
    struct tern_shape inner = *shape;
    inner.size = level == TERN_LEVEL_NODE ? shape->node_size : shape->nodes;
    inner.bytes = bytes;
    int first = stages->count;
    of(&inner, stages);
    for (int i = first; i < stages->count; i++) {
        stages->stage[i].level = (uint8_t)level;
        stages->stage[i].lanes = lanes;
    }
}

void tern_stages_add_part(struct tern_stages *stages, const struct tern_shape *shape,
                          enum tern_collective collective, enum tern_level level, int lanes,
                          int64_t bytes)
{
    struct tern_model model = tern_model_of_level(shape->model, level, lanes, 1);
    struct tern_plan_args args = {
        .collective = (uint8_t)collective,
        .commutative = !shape->ordered,
        .size = (int32_t)(level == TERN_LEVEL_NODE ? shape->node_size : shape->nodes),
        .send_bytes = true,
        .recv_bytes = true,
        .send_count = bytes,
        .recv_count = bytes,
        .send_size = 1,
        .recv_size = 1,
        .segment_bytes = shape->segment_bytes,
    };
    const struct tern_algorithm *algorithm = tern_plan_cheapest(&args, &model);
    if (algorithm->stages)
        tern_stages_add_level(stages, shape, algorithm->stages, level, lanes, bytes);
}
