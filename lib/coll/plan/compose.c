/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/coll/plan/compose.h"

#include <stdlib.h>

/* --- groups --- */

int32_t tern_leader_of(const struct tern_topology *topology, int32_t node, int32_t local_rank,
                       int32_t root)
{
    if (root >= 0 && tern_topology_node(topology, root) == node)
        return root;
    return tern_topology_rank(topology, node,
                              local_rank == TERN_LAST_LOCAL_RANK ? topology->node[node].size - 1
                                                                 : local_rank);
}

struct tern_subgroup tern_subgroup_in_node(const struct tern_plan_args *args)
{
    const struct tern_topology *topology = args->topology;
    int32_t node = tern_topology_node(topology, args->rank);
    return (struct tern_subgroup){TERN_LEVEL_NODE, 0, -1,
                                  tern_topology_local_rank(topology, args->rank),
                                  topology->node[node].size};
}

struct tern_subgroup tern_subgroup_among_leaders(const struct tern_plan_args *args,
                                                 int32_t local_rank, int32_t root)
{
    const struct tern_topology *topology = args->topology;
    int32_t node = tern_topology_node(topology, args->rank);
    bool leads = tern_leader_of(topology, node, local_rank, root) == args->rank;
    return (struct tern_subgroup){TERN_LEVEL_LEADERS, local_rank, root, leads ? node : -1,
                                  topology->nodes};
}

struct tern_subgroup tern_subgroup_local(const struct tern_plan_args *args)
{
    return (struct tern_subgroup){TERN_LEVEL_GROUP, 0, -1, args->rank, args->size};
}

struct tern_subgroup tern_subgroup_of_all(const struct tern_plan_args *args)
{
    return (struct tern_subgroup){TERN_LEVEL_ALL, 0, -1, args->rank, args->size};
}

static int32_t peer_of(const struct tern_plan *plan, const struct tern_phase *phase, int32_t peer)
{
    const struct tern_topology *topology = plan->args.topology;
    switch (phase->group.level) {
    case TERN_LEVEL_NODE:
        return tern_topology_rank(topology, tern_topology_node(topology, plan->args.rank), peer);
    case TERN_LEVEL_LEADERS:
        return tern_leader_of(topology, peer, phase->group.local_rank, phase->group.root);
    default:
        return peer;
    }
}

/* --- adding phases --- */

static bool reduces(const struct tern_plan_args *args)
{
    return args->collective >= TERN_REDUCE && args->collective <= TERN_EXSCAN;
}

void tern_plan_compose(struct tern_plan *plan, int64_t units)
{
    plan->phases = calloc(1, sizeof *plan->phases);
    if (!plan->phases)
        plan->failed = true;
    else
        plan->phases->kept = units;
    set_temporaries(plan, 1, units, reduces(&plan->args));
}

struct tern_phase *tern_plan_add_phase(struct tern_plan *plan, enum tern_collective collective,
                                       struct tern_subgroup group)
{
    const struct tern_plan_args *args = &plan->args;
    bool alone = group.size == 1 && (collective == TERN_BCAST || collective == TERN_BARRIER);
    if (plan->failed || group.rank < 0 || (alone && group.level != TERN_LEVEL_ALL))
        return NULL;
    struct tern_phase *phase = &plan->phases->phase[plan->phases->count++];
    phase->group = group;
    phase->lanes = 1;
    phase->args = (struct tern_plan_args){
        .collective = (uint8_t)collective,
        .commutative = args->commutative,
        .remote_size = group.level == TERN_LEVEL_ALL ? args->remote_size : 0,
        .rank = group.rank,
        .size = group.size,
        .send_bytes = true,
        .recv_bytes = true,
        .send_size = 1,
        .recv_size = 1,
        .segment_bytes = args->segment_bytes,
        .model = args->model,
        .topology = group.level == TERN_LEVEL_ALL ? args->topology : NULL,
        .node_sheet = args->node_sheet,
        /* where ranks are places already, they are so in all phases */
        .order = plan->placed || group.level == TERN_LEVEL_LEADERS ? NULL : args->order,
        .inner = true,
        .sheet = group.level == TERN_LEVEL_NODE || group.level == TERN_LEVEL_ALL ? args->sheet : 0,
    };
    phase->send = in_send(0, 0);
    phase->recv = in_recv(0, 0);
    return phase;
}

void tern_phase_send(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block)
{
    const struct tern_plan_args *args = &plan->args;
    phase->send = block;
    phase->args.send_count = block.count;
    if (block.buffer < TERN_TEMPORARY && !reduces(args)) {
        bool send = block.buffer == TERN_SEND_BUFFER;
        phase->args.send_bytes = send ? args->send_bytes : args->recv_bytes;
        phase->args.send_size = send ? args->send_size : args->recv_size;
    }
    if (reduces(&phase->args))
        phase->args.send_size = args->send_size;
}

void tern_phase_recv(const struct tern_plan *plan, struct tern_phase *phase, struct tern_ref block)
{
    const struct tern_plan_args *args = &plan->args;
    phase->recv = block;
    phase->args.recv_count = block.count;
    if (block.buffer < TERN_TEMPORARY && !reduces(args)) {
        bool recv = block.buffer == TERN_RECV_BUFFER;
        phase->args.recv_bytes = recv ? args->recv_bytes : args->send_bytes;
        phase->args.recv_size = recv ? args->recv_size : args->send_size;
    }
    if (reduces(&phase->args))
        phase->args.recv_size = args->recv_size;
}

int64_t *tern_phase_set_blocks(struct tern_plan *plan, struct tern_phase *phase, int count,
                               bool sends)
{
    int64_t *numbers = calloc(2 * (size_t)count, sizeof *numbers);
    if (!numbers) {
        plan->failed = true;
        return NULL;
    }
    struct tern_ints counts = {numbers, 8}, displs = {numbers + count, 8};
    phase->blocks.send_units = phase->blocks.recv_units = 1;
    if (sends) {
        phase->blocks.send_counts = counts;
        phase->blocks.send_displs = displs;
    } else {
        phase->blocks.recv_counts = counts;
        phase->blocks.recv_displs = displs;
    }
    phase->args.blocks = &phase->blocks;
    return phase->numbers[sends] = numbers;
}

void tern_blocks_lie_in_a_row(int64_t *numbers, int count)
{
    int64_t at = 0;
    for (int i = 0; numbers && i < count; i++) {
        numbers[count + i] = at;
        at += numbers[i];
    }
}

static void build_copy(struct tern_plan *plan)
{
    add_copy(plan, in_send(0, plan->args.send_count), in_recv(0, plan->args.recv_count), 0);
}

void tern_plan_add_copy_phase(struct tern_plan *plan, struct tern_ref from, struct tern_ref to)
{
    static const struct tern_algorithm copy = {"copy", build_copy, NULL, NULL};
    enum tern_collective collective = (enum tern_collective)plan->args.collective;
    struct tern_phase *phase =
        tern_plan_add_phase(plan, collective, tern_subgroup_of_all(&plan->args));
    if (!phase)
        return;
    phase->algorithm = &copy;
    tern_phase_send(plan, phase, from);
    tern_phase_recv(plan, phase, to);
}

/* --- steps of the whole plan --- */

static void map_ref(const struct tern_phase *phase, struct tern_ref *ref)
{
    if (ref->buffer >= TERN_TEMPORARY) {
        ref->offset +=
            phase->temporaries + (ref->buffer - TERN_TEMPORARY) * phase->plan->temp_units;
        ref->buffer = TERN_TEMPORARY;
        return;
    }
    const struct tern_ref *origin = ref->buffer == TERN_SEND_BUFFER ? &phase->send : &phase->recv;
    ref->offset += origin->offset;
    ref->buffer = origin->buffer;
}

/* Maps a step on the board: post lengths and places become real bytes. Ranks of a node keep their
 * numbers, which are those on the board. */
static void map_turn(const struct tern_phase *phase, struct tern_step *step)
{
    step->turn += phase->first_turn;
    step->at *= (uint32_t)phase->unit_bytes;
    if (step->kind == TERN_STEP_POST)
        step->to.count *= phase->unit_bytes;
}

/* Makes step i of the whole plan. A phase begins with a fence. Its window becomes dependencies of
 * its steps. */
static void phase_step(const struct tern_plan *plan, int64_t i, struct tern_step *ret_step)
{
    const struct tern_phase *phase = plan->phases->phase;
    while (i >= phase->first + 1 + phase->plan->step_count)
        phase++;
    const struct tern_plan *inner = phase->plan;
    if (i == phase->first) {
        *ret_step = step_none();
        ret_step->after = AFTER_ALL;
        return;
    }
    struct tern_step room;
    *ret_step = *tern_plan_step(inner, i - phase->first - 1, &room);
    ret_step->after |= ~0ull << (inner->window - 1);
    if (ret_step->kind == TERN_STEP_SEND || ret_step->kind == TERN_STEP_RECV)
        ret_step->peer = peer_of(plan, phase, ret_step->peer);
    if (phase->group.level == TERN_LEVEL_GROUP)
        ret_step->flags |= TERN_STEP_LOCAL;
    map_turn(phase, ret_step);
    if (ret_step->kind != TERN_STEP_NONE && ret_step->kind != TERN_STEP_RECV)
        map_ref(phase, &ret_step->from);
    if (ret_step->kind != TERN_STEP_NONE && ret_step->kind != TERN_STEP_SEND)
        map_ref(phase, &ret_step->to);
}

static void build_phase(struct tern_plan *plan, struct tern_phase *phase)
{
    const struct tern_plan_args *args = &plan->args;
    /* elements that are only moved count as bytes */
    bool elements = reduces(args) && !reduces(&phase->args);
    phase->unit_bytes = elements ? args->recv_size : 1;
    if (phase->unit_bytes > 1) {
        phase->args.sheet = (int32_t)(phase->args.sheet / phase->unit_bytes);
        phase->args.segment_bytes /= phase->unit_bytes;
        if (!phase->args.segment_bytes)
            phase->args.segment_bytes = 1;
    }
    if (!phase->algorithm) {
        struct tern_model model = args->model ? *args->model : tern_model_of_parameters(1);
        model = tern_model_of_level(&model, phase->group.level, phase->lanes, phase->unit_bytes);
        phase->algorithm = tern_plan_cheapest(&phase->args, &model);
    }
    phase->plan = tern_plan_build(phase->algorithm, &phase->args);
}

/* Most steps that are all made when the plan is built. If there are more, a tail makes them when
 * they are needed. */
enum { KEPT_STEPS = 1024 };

void tern_plan_finish(struct tern_plan *plan)
{
    struct tern_phases *phases = plan->phases;
    int64_t steps = 0, units = 0;
    for (int i = 0; !plan->failed && i < phases->count; i++) {
        struct tern_phase *phase = &phases->phase[i];
        build_phase(plan, phase);
        if (!phase->plan) {
            plan->failed = true;
            return;
        }
        phase->first = steps;
        phase->first_turn = plan->turns;
        plan->turns += phase->plan->turns;
        int64_t post_bytes = phase->plan->post_bytes * phase->unit_bytes;
        if (post_bytes > plan->post_bytes)
            plan->post_bytes = (int32_t)post_bytes;
        phase->temporaries = phases->kept;
        steps += 1 + phase->plan->step_count;
        int64_t own = phase->plan->temp_count * phase->plan->temp_units;
        units = own > units ? own : units;
    }
    if (plan->failed)
        return;
    plan->temp_units = phases->kept + units;
    if (steps > KEPT_STEPS) {
        set_tail(plan, steps, phase_step);
        return;
    }
    plan->head = malloc((size_t)steps * sizeof *plan->head);
    if (!plan->head && steps) {
        plan->failed = true;
        return;
    }
    plan->head_room = plan->head_count = plan->step_count = steps;
    for (int64_t i = 0; i < steps; i++)
        phase_step(plan, i, &plan->head[i]);
    tern_phases_free(phases);
    plan->phases = NULL;
}

void tern_phases_free(struct tern_phases *phases)
{
    if (!phases)
        return;
    for (int i = 0; i < phases->count; i++) {
        if (phases->phase[i].plan)
            tern_plan_release(phases->phase[i].plan);
        free(phases->phase[i].numbers[0]);
        free(phases->phase[i].numbers[1]);
    }
    free(phases);
}

/* --- prices --- */

static int64_t size_of(const struct tern_shape *shape, enum tern_level level)
{
    if (level == TERN_LEVEL_GROUP || level == TERN_LEVEL_ALL)
        return shape->size;
    return level == TERN_LEVEL_NODE ? shape->node_size : shape->nodes;
}

void tern_stages_add_level(struct tern_stages *stages, const struct tern_shape *shape,
                           void (*of)(const struct tern_shape *, struct tern_stages *),
                           enum tern_level level, int lanes, int64_t bytes)
{
    struct tern_shape inner = *shape;
    inner.size = size_of(shape, level);
    inner.bytes = bytes;
    int first = stages->count;
    of(&inner, stages);
    for (int i = first; i < stages->count; i++) {
        stages->stage[i].level = (uint8_t)level;
        stages->stage[i].lanes = lanes;
    }
}

void tern_stages_add_phase(struct tern_stages *stages, const struct tern_shape *shape,
                           enum tern_collective collective, enum tern_level level, int lanes,
                           int64_t bytes)
{
    struct tern_model model = tern_model_of_level(shape->model, level, lanes, 1);
    int64_t unit =
        collective >= TERN_REDUCE && shape->unit > 1 && bytes % shape->unit == 0 ? shape->unit : 1;
    struct tern_plan_args args = {
        .collective = (uint8_t)collective,
        .commutative = !shape->ordered,
        .size = (int32_t)size_of(shape, level),
        .send_bytes = true,
        .recv_bytes = true,
        .send_count = bytes / unit,
        .recv_count = bytes / unit,
        .send_size = unit,
        .recv_size = unit,
        .inner = true,
        .sheet = level == TERN_LEVEL_ALL    ? shape->sheet
                 : level == TERN_LEVEL_NODE ? shape->node_sheet
                                            : 0,
        .segment_bytes = shape->segment_bytes,
    };
    const struct tern_algorithm *algorithm = tern_plan_cheapest(&args, &model);
    int first = stages->count;
    if (algorithm->stages)
        tern_stages_add_level(stages, shape, algorithm->stages, level, lanes, bytes);
    for (int i = first; i < stages->count && level == TERN_LEVEL_ALL; i++)
        stages->stage[i].phase = (uint8_t)(first + 1);
}
