/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOOL_PVAR_H
#define TERN_TOOL_PVAR_H

/* A performance variable: what tool_variables.c says of each, and what tool_pvar.c does with it. */

#include "lib/mpi/tool/tool.h"

struct tern_peer;

enum tern_variable_kind {
    TERN_VARIABLE_COUNT,   /* MPI_UNSIGNED_LONG_LONG */
    TERN_VARIABLE_SECONDS, /* MPI_DOUBLE; read() gives nanoseconds */
    TERN_VARIABLE_PART,    /* MPI_DOUBLE, 0 to 1; read() gives millionths */
    TERN_VARIABLE_STATE,   /* MPI_INT with an enumeration */
};

struct tern_variable {
    const char *name, *room, *help;
    int class; /* MPI_T_PVAR_CLASS_* */
    enum tern_variable_kind kind;
    /* Values now, while the rooms below are there; `comm` is what the handle is bound to. Takes no
     * lock: it is called from callbacks of events, too. */
    void (*read)(const struct tern_variable *variable, const struct tern_comm *comm,
                 uint64_t *ret_values);
    size_t offset;    /* for read(): of a counter in its struct */
    const void *of;   /* for read(): what is counted, e.g. a byte mover */
    int bind;         /* MPI_T_BIND_NO_OBJECT or MPI_T_BIND_MPI_COMM */
    bool per_rank;    /* one value for each rank that the communicator can send to */
    const struct tern_tool_enum *items;
    /* Watermarks: begin anew at the level now, which is the counter at level_offset. */
    void (*restart)(const struct tern_variable *variable);
    size_t level_offset;
};

/* Index 0 ..; NULL: there are not that many. The list is made when first asked for. */
struct tern_variable *tern_tool_variable(int index);

/* Does it grow while it is started, so that each handle counts from its own beginning? */
static inline bool tern_variable_counts(const struct tern_variable *variable)
{
    return variable->class == MPI_T_PVAR_CLASS_COUNTER ||
           variable->class == MPI_T_PVAR_CLASS_AGGREGATE ||
           variable->class == MPI_T_PVAR_CLASS_TIMER;
}

#endif
