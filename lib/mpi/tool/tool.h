/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_TOOL_H
#define TERN_TOOL_H

/*
 * The tool information interface (MPI-4.1 chapter 15, section 3): what its files share.
 *
 *   tool.c           start and end, strings, enumerations
 *   tool_cvar.c      control variables: the parameters (lib/util/param.h)
 *   tool_pvar.c      sessions and handles of performance variables; tool_variables.c lists them
 *   tool_category.c  categories: the rooms
 *   tool_event.c     event types, registrations, callbacks
 *
 * All of it works before MPI starts and after it has ended, and from any thread. One mutex guards
 * the objects of tools; generated entry points hold it (api/entry.py). It is always taken last: who
 * has it takes no other lock and calls nothing of a tool's.
 *
 * Procedures return MPI error codes, not internal ones, and never call an error handler.
 */

#include "lib/util/list.h"

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tern_comm;

/* 0 with the mutex taken, or MPI_T_ERR_NOT_INITIALIZED. */
int tern_tool_enter(void);
void tern_tool_leave(void);
/* The mutex alone, also while no tool is there. */
void tern_tool_lock(void);
void tern_tool_unlock(void);

/* The rooms below are there, after tern_pml_init: performance variables get their values from them.
 */
void tern_tool_begin(void);
/* A communicator is about to lose its contexts. */
void tern_tool_forget_comm(const struct tern_comm *comm);
/* Parts of that; the mutex is held. */
void tern_tool_pvar_forget_comm(const struct tern_comm *comm);
void tern_tool_event_forget_comm(const struct tern_comm *comm);
/* Frees all objects that tools have left; the mutex is held. */
void tern_tool_pvar_clear(void);
void tern_tool_cvar_clear(void);
void tern_tool_event_clear(void);

/* What MPI_T_enum points to. */
struct tern_tool_enum {
    const char *name;
    int count;
    const char *const *items; /* item i has value i */
};
extern const struct tern_tool_enum tern_tool_boolean, tern_tool_states, tern_tool_collectives;
/* Choices of parameter `index`; NULL: it has none, or no memory. Lives as long as the process. */
const struct tern_tool_enum *tern_tool_param_choices(int index);

/* Gives a string to a tool: at most *length - 1 characters and a zero; *length becomes the length
 * with the zero. NULL length: nothing; NULL buffer or length 0: only the length. */
void tern_tool_give_string(const char *string, char *buffer, int *length);

/* Stores a result that the tool may not want. */
static inline void tern_tool_give_int(int *ret_value, int value)
{
    if (ret_value)
        *ret_value = value;
}

/* The communicator that a handle or registration is bound to: `object` is the address of an
 * MPI_Comm. NULL: it is none, or not open (MPI_COMM_WORLD before MPI_Init). */
struct tern_comm *tern_tool_comm_of(const void *object);

/* For categories: how many there are, and the room of one. */
int tern_tool_variable_count(void);
const char *tern_tool_variable_room(int index);
int tern_tool_event_count(void);
const char *tern_tool_event_room(int index);

#endif
