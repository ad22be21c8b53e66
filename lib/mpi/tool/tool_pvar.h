/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOOL_PVAR_H
#define TERN_TOOL_PVAR_H

/* A performance variable: tool_variables.c describes each, tool_pvar.c reads them for tools. */

#include "lib/mpi/tool/tool.h"

struct tern_peer;

/* How the values of a variable are given to tools. */
enum tern_variable_kind {
    TERN_VARIABLE_COUNT,   /* MPI_UNSIGNED_LONG_LONG */
    TERN_VARIABLE_SECONDS, /* MPI_DOUBLE; read() gives nanoseconds */
    TERN_VARIABLE_PART,    /* MPI_DOUBLE, 0 to 1; read() gives millionths */
    TERN_VARIABLE_STATE,   /* MPI_INT with an enumeration */
    TERN_VARIABLE_PATHS,   /* MPI_CHAR; for each rank a text of TERN_PATH_MOST bytes; no read() */
};

/* A performance variable. */
struct tern_variable {
    const char *name, *room, *help; /* name, room it belongs to, and description */
    int class;                      /* MPI_T_PVAR_CLASS_* */
    enum tern_variable_kind kind;
    /* Reads the values now. Called only while the layers below run. `comm` is the communicator that
     * the handle is bound to. Takes no lock, because callbacks of events call it, too. */
    void (*read)(const struct tern_variable *variable, const struct tern_comm *comm,
                 uint64_t *ret_values);
    size_t offset;  /* for read(): offset of a counter in its struct */
    const void *of; /* for read(): the counted thing, for example a byte mover */
    int bind;       /* MPI_T_BIND_NO_OBJECT or MPI_T_BIND_MPI_COMM */
    bool per_rank;  /* true: one value for each rank that the communicator can send to */
    /* the enumeration of a TERN_VARIABLE_STATE */
    const struct tern_tool_enum *items;
    /* For watermarks: sets the mark to the current level, which is the counter at level_offset. */
    void (*restart)(const struct tern_variable *variable);
    size_t level_offset; /* for restart(): offset of the level in its struct */
};

/* Returns the variable at `index` (from 0 on), or NULL if there are fewer. The first call makes the
 * list. */
struct tern_variable *tern_tool_variable(int index);

/* Returns true if the variable grows while it is started. Then each handle counts from its own
 * start. */
static inline bool tern_variable_counts(const struct tern_variable *variable)
{
    return variable->class == MPI_T_PVAR_CLASS_COUNTER ||
           variable->class == MPI_T_PVAR_CLASS_AGGREGATE ||
           variable->class == MPI_T_PVAR_CLASS_TIMER;
}

#endif
