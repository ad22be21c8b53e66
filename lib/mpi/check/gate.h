/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_CHECK_GATE_H
#define TERN_CHECK_GATE_H

/*
 * The parameter check_level (docs/checking.md): which level is set, and what every call does at
 * level full. This header includes nothing of lib/mpi, so any file may ask. What ranks compare
 * stands in check.h.
 *
 * Entry points do more than look at their arguments only behind a branch that is never taken at the
 * levels none and basic: tern_gate, the same word that says whether MPI runs. So the level costs
 * nothing where it is not full. At level full every call notes its name, looks at handles before it
 * touches them, and records the handles it makes.
 */

#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum tern_check_level {
    TERN_CHECK_NONE,  /* arguments one by one */
    TERN_CHECK_BASIC, /* and every element of arrays */
    TERN_CHECK_FULL,  /* and everything below */
};
extern TERN_OURS _Atomic int tern_checks;

/* Read without order: another thread may set it that starts the library. */
static inline enum tern_check_level tern_check_level(void)
{
    return __atomic_load_n(&tern_checks, __ATOMIC_RELAXED);
}

static inline bool tern_check_full(void)
{
    return TERN_UNLIKELY(tern_check_level() == TERN_CHECK_FULL);
}

/* Nonzero: an entry point has more to do than look at its arguments, for MPI does not run or the
 * level is full. */
extern TERN_OURS _Atomic int tern_gate;
static inline bool tern_gated(void)
{
    return TERN_UNLIKELY(__atomic_load_n(&tern_gate, __ATOMIC_RELAXED) != 0);
}
/* Sets it again after tern_running has changed. */
void tern_gate_update(void);

/* Reads the level. Call it first when the library starts. */
void tern_check_init(void);
/* Lists the objects that the user never freed, and sets the level back. */
void tern_check_finalize(void);

/* ---- every call (check_handles.c) ---- */

/* Begins a call; an entry point calls this first when tern_gate is set. Notes the procedure. Ends
 * the program if MPI does not run, unless the procedure is always allowed. */
void tern_check_enter(const char *procedure, bool always_allowed);
/* Return the procedure noted last in this thread, and in any thread. */
const char *tern_check_procedure(void), *tern_check_newest_procedure(void);

/* Returns true if the handle has no readable memory, or if the user has freed it. False for NULL.
 * */
bool tern_check_bad_handle(const void *handle);
/* Returns the index of the first bad handle of an array, or -1. */
int64_t tern_check_find_bad_handle(const void *handles, int64_t n);
/* Returns what is wrong with a handle, for messages: "a handle that was freed by MPI_Type_free". */
const char *tern_check_handle_fault(const void *handle);

/* Record that the procedure noted last gave a handle to the user, or took it back. Predefined and
 * null handles are ignored. */
void tern_check_handle_made(const void *handle);
void tern_check_handle_gone(const void *handle);
/* Records that a callback gets a handle, which the user may have freed meanwhile. */
void tern_check_handle_lent(const void *handle);

/* Lists the handles that were never freed, by kind and by the procedure that made them. Forgets all
 * handles. */
void tern_check_say_leaks(void);

#endif
