/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/request/request_followers.h"

#include <stdlib.h>

struct tern_request_follower {
    struct tern_request_follower *next;
    const struct tern_request *request;
    tern_request_follow_fn *follow;
    void *argument;
};
struct tern_request_follower *tern_request_followers;

bool tern_fortran_follow(MPI_Request handle, tern_request_follow_fn *follow, void *argument)
{
    struct tern_request *request = tern_request_of(handle);
    struct tern_request_follower *follower = request->held ? malloc(sizeof *follower) : NULL;

    if (!follower)
        return false;
    tern_lock();
    *follower = (struct tern_request_follower){tern_request_followers, request, follow, argument};
    __atomic_store_n(&tern_request_followers, follower, __ATOMIC_RELAXED);
    tern_unlock();
    return true;
}

/* Takes the first follower of the request out of the list. Returns NULL if it has none. */
static struct tern_request_follower *take_follower(const struct tern_request *request)
{
    struct tern_request_follower *follower = NULL;

    tern_lock();
    for (struct tern_request_follower **link = &tern_request_followers; *link;
         link = &(*link)->next)
        if ((*link)->request == request) {
            follower = *link;
            __atomic_store_n(link, follower->next, __ATOMIC_RELAXED);
            break;
        }
    tern_unlock();
    return follower;
}

/* Returns the follower of the request behind `after` in the list (NULL: the first), or NULL. */
static struct tern_request_follower *next_follower(const struct tern_request *request,
                                                   const struct tern_request_follower *after)
{
    tern_lock();
    struct tern_request_follower *follower = after ? after->next : tern_request_followers;
    while (follower && follower->request != request)
        follower = follower->next;
    tern_unlock();
    return follower;
}

void tern_request_tell_followers(const struct tern_request *request, enum tern_request_turn turn)
{
    struct tern_request_follower *follower = NULL;

    if (turn == TERN_REQUEST_FREED) {
        while ((follower = take_follower(request))) {
            follower->follow(follower->argument, turn);
            free(follower);
        }
        return;
    }
    /* Only the thread that frees the request, which is this one, takes its followers out. */
    while ((follower = next_follower(request, follower)))
        follower->follow(follower->argument, turn);
}
