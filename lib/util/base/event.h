/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EVENT_H
#define TERN_EVENT_H

/*
 * Events: something happened that a tool may want to learn at once (MPI_T_event_*). The code that
 * raises an event knows nothing of tools, and first asks whether any tool listens:
 *
 *     if (tern_event_wanted(TERN_EVENT_X))
 *         tern_event_raise(TERN_EVENT_X, comm, (int64_t[]){...});
 *
 * lib/mpi/tool/tool_event.c defines the values of each type and registers the function that is
 * called.
 */

#include "lib/util/base/atomic.h"

#include <stdbool.h>
#include <stdint.h>

/* The types, and the values of each. */
enum tern_event {
    /* a message arrived before its receive: source, tag, 1 if part of a collective, bytes, queue
     * length */
    TERN_EVENT_UNEXPECTED,
    /* a message was announced: destination, tag, 1 if part of a collective, bytes */
    TERN_EVENT_RENDEZVOUS,
    TERN_EVENT_COLLECTIVE, /* a collective was started: number of the collective, algorithm */
    TERN_EVENT_PARAM,      /* a tool has changed a parameter: index */
    TERN_EVENTS
};

/* Bit i is set if a tool listens to type i. */
extern uint32_t tern_event_mask;

/* Returns true if a tool listens to `type`. */
static inline bool tern_event_wanted(enum tern_event type)
{
    /* acquire: a thread that sees a bit also sees tern_event_raise */
    return TERN_UNLIKELY(__atomic_load_n(&tern_event_mask, __ATOMIC_ACQUIRE) & 1u << type);
}

/* Calls the functions that tools have registered for `type`. `comm` is the struct tern_comm of the
 * event, or NULL. Call it only where the caller's own data are consistent. Locks: the caller may
 * hold any, because the tool's functions call nothing that needs them. */
extern void (*tern_event_raise)(enum tern_event type, const void *comm, const int64_t *values);

#endif
