/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_REQUEST_FOLLOWERS_H
#define TERN_REQUEST_FOLLOWERS_H

/*
 * Functions that are called at the turns of a request's life, for the array sections of Fortran:
 * data are copied out of the user's array when a request starts, and into it when the request is
 * reported complete. Few requests have followers, most programs have none.
 */

#include "lib/mpi/object/fortran.h"
#include "lib/pml/request.h"
#include "lib/util/base/atomic.h"

/* The list of all followers; NULL if there are none. Guarded by the library's lock, but for the
 * test whether it is empty. */
extern TERN_OURS struct tern_request_follower *tern_request_followers;

/* Returns true if any request has followers. */
static inline bool tern_request_any_followers(void)
{
    return TERN_UNLIKELY(__atomic_load_n(&tern_request_followers, __ATOMIC_RELAXED) != NULL);
}

/* Calls the followers of this request. After TERN_REQUEST_FREED the request has none. Call it
 * without a lock. */
void tern_request_tell_followers(const struct tern_request *request, enum tern_request_turn turn);

#endif
