/* SPDX-License-Identifier: BSD-3-Clause */

/* Start and end of point to point: tells the byte movers what to call. */

#include "lib/pml/pml_request.h"

int tern_pml_init(void)
{
    int rc = tern_lanes_init();
    if (rc)
        return rc;
    tern_mailbox_opens = tern_pml_deliver;
    tern_btl_deliver = tern_lane_count > 1 ? tern_mailbox_deliver : tern_pml_deliver;
    tern_btl_place = tern_pml_place;
    tern_btl_placed = tern_pml_placed;
    tern_btl_lost = tern_pml_lost;
    tern_pending_init();
    tern_wait_look_anew();
    return tern_btl_init();
}

void tern_pml_flush(void)
{
    struct tern_waiter waiter = {.procedure = "MPI_Finalize or MPI_Session_finalize"};
    while (!tern_pending_empty())
        tern_wait(&waiter);
}

void tern_pml_leave(void)
{
    tern_pml_call_nobody();
    tern_btl_leave();
}

int tern_pml_return(void)
{
    tern_wait_look_anew();
    return tern_btl_return();
}
