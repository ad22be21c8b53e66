/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_GATE_H
#define TERN_CHECK_GATE_H

/*
 * The parameter check_level (docs/checking.md): which level is set, and what every call does at
 * level full. This header includes nothing of lib/mpi, so any file may ask for the level. check.h
 * declares what ranks compare.
 *
 * The levels none and basic cost nothing more than the checks of arguments. Each entry point tests
 * one word, tern_gate, which is set if MPI does not run or if the level is full. At level full
 * every call notes its name, checks handles before it reads them, and records the handles that it
 * makes.
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* The values of the parameter check_level. */
enum tern_check_level {
    TERN_CHECK_NONE,  /* checks each argument by itself */
    TERN_CHECK_BASIC, /* checks every element of arrays, too */
    TERN_CHECK_FULL,  /* does everything declared below, too */
};
/* The level. Read it with tern_check_level. */
extern TERN_OURS _Atomic int tern_checks;

/* Returns the level. Loads without memory order, because a thread that starts the library may set
 * the level at any time. */
static inline enum tern_check_level tern_check_level(void)
{
    return __atomic_load_n(&tern_checks, __ATOMIC_RELAXED);
}

/* Returns true at level full. */
static inline bool tern_check_full(void)
{
    return TERN_UNLIKELY(tern_check_level() == TERN_CHECK_FULL);
}

/* Nonzero if an entry point has more to do than to check its arguments: if MPI does not run, if
 * this process is a child made by fork, or if the level is full. */
extern TERN_OURS _Atomic int tern_gate;
/* Returns true if tern_gate is nonzero. */
static inline bool tern_gated(void)
{
    return TERN_UNLIKELY(__atomic_load_n(&tern_gate, __ATOMIC_RELAXED) != 0);
}
/* Computes tern_gate again. Call it after tern_running has changed. */
void tern_gate_update(void);

/* Reads the parameter check_level. Call it first when the library starts. */
void tern_check_init(void);
/* Lists the objects that the user never freed, and sets the level back to basic. */
void tern_check_finalize(void);

/* ---- every call (check_handles.c) ---- */

/* Begins a call: notes the procedure for this thread. An entry point calls this function first if
 * tern_gate is set. Ends the program if MPI does not run, unless `always_allowed` is true. */
void tern_check_enter(const char *procedure, bool always_allowed);
/* Begins a call that needs the process that started MPI: ends the job if this process is a child
 * made by fork. */
void tern_check_own_process(const char *procedure);
/* Return the procedure noted last in this thread, and in any thread. */
const char *tern_check_procedure(void), *tern_check_newest_procedure(void);

/* Returns true if the memory of the handle cannot be read, or if the user has freed the handle.
 * Returns false for NULL. */
bool tern_check_bad_handle(const void *handle);
/* Returns the index of the first bad handle of an array, or -1 if none is bad. */
int64_t tern_check_find_bad_handle(const void *handles, int64_t n);
/* Returns what is wrong with a handle, for messages: "a handle that was freed by MPI_Type_free". */
const char *tern_check_handle_fault(const void *handle);

/* Record that the procedure noted last gave a handle to the user, or took it back. Ignore
 * predefined and null handles. */
void tern_check_handle_made(const void *handle);
void tern_check_handle_gone(const void *handle);
/* Records that a callback receives a handle, which the user may have freed meanwhile. */
void tern_check_handle_lent(const void *handle);

/* Lists the handles that were never freed, by kind and by the procedure that made them. Then
 * forgets all handles. Leaves out those that may be freed after the library has ended. */
void tern_check_say_leaks(void);
/* Lists the handles that are left when this process exits: those that tern_check_say_leaks leaves
 * out, and all if a session is still open. Calling it again has no effect. */
void tern_check_watch_exit(void);

#endif
