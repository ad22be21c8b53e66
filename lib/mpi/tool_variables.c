/* SPDX-License-Identifier: BSD-3-Clause */

/* The performance variables: a fixed list, and one for each collective. */

#include "lib/mpi/tool_pvar.h"

#include "lib/btl/shm/segment.h"
#include "lib/coll/execute.h"
#include "lib/coll/plan.h"
#include "lib/mpi/comm.h"
#include "lib/mpi/init.h"
#include "lib/pml/lane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how they are read ---- */

static void read_state(const struct tern_variable *variable, const struct tern_comm *comm,
                       uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = (uint64_t)tern_world;
}

static void read_posted(const struct tern_variable *variable, const struct tern_comm *comm,
                        uint64_t *ret_values)
{
    (void)variable, (void)comm;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        *ret_values += tern_lanes[i].posted.items;
}

static void read_unexpected(const struct tern_variable *variable, const struct tern_comm *comm,
                            uint64_t *ret_values)
{
    (void)variable, (void)comm;
    for (uint32_t i = 0; i < tern_lane_count; i++)
        *ret_values += tern_lanes[i].unexpected.items;
}

static void read_segment_size(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment.base ? tern_segment.size : 0;
}

static void read_segment_used(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment_used();
}

static void read_segment_part(const struct tern_variable *variable, const struct tern_comm *comm,
                              uint64_t *ret_values)
{
    (void)variable, (void)comm;
    *ret_values = tern_segment.size ? tern_segment_used() * 1000000 / tern_segment.size : 0;
}

static void read_collective(const struct tern_variable *variable, const struct tern_comm *comm,
                            uint64_t *ret_values)
{
    (void)comm;
    *ret_values = tern_coll_started[variable->offset];
}

/* ---- which there are ---- */

static const struct tern_variable fixed[] = {
    {.name = "mpi_state",
     .room = "mpi",
     .help = "Where the World Model is between MPI_Init and MPI_Finalize.",
     .class = MPI_T_PVAR_CLASS_STATE,
     .kind = TERN_VARIABLE_STATE,
     .items = &tern_tool_states,
     .read = read_state},
    {.name = "pml_posted_length",
     .room = "pml",
     .help = "Receives that are posted and have no message yet.",
     .class = MPI_T_PVAR_CLASS_LEVEL,
     .read = read_posted},
    {.name = "pml_unexpected_length",
     .room = "pml",
     .help = "Messages that have come and have no receive yet.",
     .class = MPI_T_PVAR_CLASS_LEVEL,
     .read = read_unexpected},
    {.name = "btl_shm_memory_size",
     .room = "btl_shm",
     .help = "Bytes of the node's shared memory, as address space.",
     .class = MPI_T_PVAR_CLASS_SIZE,
     .read = read_segment_size},
    {.name = "btl_shm_memory_used",
     .room = "btl_shm",
     .help = "Bytes of the node's shared memory that its ranks have taken.",
     .class = MPI_T_PVAR_CLASS_LEVEL,
     .read = read_segment_used},
    {.name = "btl_shm_memory_part",
     .room = "btl_shm",
     .help = "Part of the node's shared memory that its ranks have taken, from 0 to 1.",
     .class = MPI_T_PVAR_CLASS_PERCENTAGE,
     .kind = TERN_VARIABLE_PART,
     .read = read_segment_part},
};

enum {
    FIXED = sizeof fixed / sizeof *fixed,
    COUNT = FIXED + TERN_COLLECTIVES,
    TEXT_ROOM = 96,
};

static struct tern_variable variables[COUNT];
static char texts[TERN_COLLECTIVES][2][TEXT_ROOM]; /* names and help of the made ones */

static void make_collective(struct tern_variable *variable, enum tern_collective collective)
{
    char *name = texts[collective][0], *help = texts[collective][1];
    snprintf(name, TEXT_ROOM, "coll_%s_started", tern_plan_collective_name(collective));
    snprintf(help, TEXT_ROOM, "Times MPI_%s was started, in all its forms.",
             tern_plan_collective_name(collective));
    help[strlen("Times MPI_")] -= 'a' - 'A';
    *variable = (struct tern_variable){.name = name,
                                       .room = "coll",
                                       .help = help,
                                       .class = MPI_T_PVAR_CLASS_COUNTER,
                                       .read = read_collective,
                                       .offset = collective};
}

static void make_variables(void)
{
    memcpy(variables, fixed, sizeof fixed);
    for (int i = 0; i < TERN_COLLECTIVES; i++)
        make_collective(&variables[FIXED + i], (enum tern_collective)i);
}

struct tern_variable *tern_tool_variable(int index)
{
    if (!variables[0].name)
        make_variables();
    return index >= 0 && index < COUNT ? &variables[index] : NULL;
}
