/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOOL_H
#define TERN_TOOL_H

/*
 * The tool information interface (MPI-4.1 section 15.3): what its files share.
 *
 *   tool.c           start and end, strings, enumerations
 *   tool_cvar.c      control variables: the parameters (lib/settings/param.h)
 *   tool_pvar.c      sessions and handles of performance variables; tool_variables.c lists them
 *   tool_category.c  categories: the rooms of the library
 *   tool_event.c     event types, registrations, callbacks
 *
 * The whole interface works before MPI starts and after MPI has ended, and from any thread. One
 * mutex guards the objects of tools. Generated entry points hold it (api/entry.py). The mutex is
 * always taken last: a thread that holds it takes no other lock and calls no function of a tool.
 *
 * Procedures return MPI error codes, not internal ones, and never call an error handler.
 */

#include "lib/util/base/list.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_comm;

/* Calls of MPI_T_init_thread without a matching MPI_T_finalize. Needs the mutex. */
extern int tern_tool_started;

/* Takes the mutex for a procedure. Returns 0, or MPI_T_ERR_NOT_INITIALIZED without the mutex. */
int tern_tool_enter(void);
/* Releases the mutex. */
void tern_tool_leave(void);
/* Take and release the mutex, also while no tool has called MPI_T_init_thread. */
void tern_tool_lock(void);
void tern_tool_unlock(void);

/* Tells that the layers below run: from now on performance variables read their values. Call it
 * after tern_pml_init. */
void tern_tool_begin(void);
/* Ends everything that is bound to a communicator. Call it before the communicator loses its
 * contexts. */
void tern_tool_forget_comm(const struct tern_comm *comm);
/* Do the part of tern_tool_forget_comm for variables and for events. Need the mutex. */
void tern_tool_pvar_forget_comm(const struct tern_comm *comm);
void tern_tool_event_forget_comm(const struct tern_comm *comm);
/* Free all objects that tools have left. Need the mutex. */
void tern_tool_pvar_clear(void);
void tern_tool_cvar_clear(void);
void tern_tool_event_clear(void);

/* The enumeration that an MPI_T_enum points to. */
struct tern_tool_enum {
    const char *name;
    int count;                /* number of items */
    const char *const *items; /* items[i] is the name of value i */
};
/* Enumerations of yes and no, of the states of MPI, and of the collectives. */
extern const struct tern_tool_enum tern_tool_boolean, tern_tool_states, tern_tool_collectives;
/* Returns the choices of parameter `index`. Returns NULL if it has none or if there is no memory.
 * They live as long as the process. */
const struct tern_tool_enum *tern_tool_param_choices(int index);

/* Copies a string to a tool: at most *length - 1 characters and a zero. Sets *length to the length
 * with the zero. Does nothing if `length` is NULL. Sets only the length if `buffer` is NULL or
 * *length is 0. */
void tern_tool_give_string(const char *string, char *buffer, int *length);

/* Stores a result, unless the tool passed NULL. */
static inline void tern_tool_give_int(int *ret_value, int value)
{
    if (ret_value)
        *ret_value = value;
}

/* Returns the communicator that a handle or registration is bound to. `object` is the address of an
 * MPI_Comm. Returns NULL if that is no communicator or is not open (MPI_COMM_WORLD before
 * MPI_Init). */
struct tern_comm *tern_tool_comm_of(const void *object);

/* Serve the categories: return the number of variables or events, and the room of each. */
int tern_tool_variable_count(void);
const char *tern_tool_variable_room(int index);
int tern_tool_event_count(void);
const char *tern_tool_event_room(int index);

#endif
