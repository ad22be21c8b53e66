/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_EVENT_H
#define TERN_EVENT_H

/*
 * Events: something happened that a tool may want to hear of at once (MPI_T_event_*). Who raises
 * one knows nothing of tools, and asks first whether anybody listens:
 *
 *     if (tern_event_wanted(TERN_EVENT_X))
 *         tern_event_raise(TERN_EVENT_X, comm, (int64_t[]){...});
 *
 * lib/mpi/tool/tool_event.c says what the values of each type are and registers what is called.
 */

#include "lib/util/atomic.h"

#include <stdbool.h>
#include <stdint.h>

enum tern_event {
    /* a message came before its receive: source, tag, of a collective?, bytes, queue length */
    TERN_EVENT_UNEXPECTED,
    TERN_EVENT_RENDEZVOUS, /* a message was announced: destination, tag, of a collective?, bytes */
    TERN_EVENT_COLLECTIVE, /* a collective was started: which, algorithm */
    TERN_EVENT_PARAM,      /* a tool has changed a parameter: index */
    TERN_EVENTS
};

/* Bit i: somebody listens to type i. */
extern uint32_t tern_event_mask;

static inline bool tern_event_wanted(enum tern_event type)
{
    /* acquire: whoever sees a bit sees tern_event_raise */
    return TERN_UNLIKELY(__atomic_load_n(&tern_event_mask, __ATOMIC_ACQUIRE) & 1u << type);
}

/* `comm` is the struct tern_comm it concerns, or NULL. Calls what tools have registered: raise it
 * where the own state is in order. Any locks may be held; the tool's functions call nothing that
 * needs them. */
extern void (*tern_event_raise)(enum tern_event type, const void *comm, const int64_t *values);

#endif
