/* SPDX-License-Identifier: BSD-3-Clause */

/* Frees communicators, and makes and frees MPI_COMM_WORLD and MPI_COMM_SELF. This file knows
 * everything that belongs to a communicator. So it is the top layer, and no file includes it. */

#include "lib/mpi/object/attr.h"
#include "lib/mpi/message/buffer.h"
#include "lib/mpi/check/check.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/comm/comm_ids.h"
#include "lib/mpi/dynamic/connected.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/message/partitioned.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/mpi/tool/tool.h"
#include "lib/mpi/object/topo_data.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdio.h>

/* Ids of the two communicators that exist from the start; tern_context_new_id never returns them.
 * MPI_COMM_SELF sends nothing to other processes, so one id serves all processes. */
enum { WORLD_ID = 0, SELF_ID = 2 };

static void drop_parts(struct tern_comm *comm)
{
    tern_partitioned_close(comm);
    tern_buffer_abandon(&comm->buffer);
    tern_coll_close(&comm->coll);
    tern_context_close(&comm->p2p);
    tern_comm_ids_drop(&comm->ids);
    if (comm->local)
        tern_comm_release(comm->local);
    if (comm->topo)
        tern_topo_release(comm->topo);
    if (comm->remote_group)
        tern_group_release(comm->remote_group);
    tern_group_release(comm->group);
    tern_errhandler_release(comm->errhandler);
    tern_session_release(comm->session);
}

void tern_comm_destroy(struct tern_comm *comm)
{
    tern_tool_forget_comm(comm);
    tern_lock();
    drop_parts(comm);
    tern_fortran_drop(&comm->obj);
    tern_object_free(&comm->obj);
    tern_unlock();
}

/* Fills a predefined communicator with `count` ranks from `first` on. */
static int open_predefined(struct tern_comm *comm, const char *name, uint64_t id, uint32_t first,
                           int count)
{
    const struct tern_run run = {.first = first, .stride = count > 1, .count = count};
    int rc = tern_group_from_runs(&run, 1, &comm->group);
    if (rc)
        return rc;
    comm->errhandler = tern_errhandler_initial();
    snprintf(comm->name, sizeof comm->name, "%s", name);
    rc = tern_comm_open_contexts(comm, id);
    if (rc) {
        tern_group_release(comm->group);
        return rc;
    }
    comm->obj.handle->state = comm;
    return 0;
}

int tern_comm_init(void)
{
    int rc = open_predefined(&tern_comm_world, "MPI_COMM_WORLD", WORLD_ID, 0, (int)tern_rte.size);
    if (rc)
        return rc;
    rc = open_predefined(&tern_comm_self, "MPI_COMM_SELF", SELF_ID, tern_rte.rank, 1);
    if (rc)
        drop_parts(&tern_comm_world);
    return rc;
}

int tern_comm_finalize_attributes(void)
{
    int rc = tern_attrs_delete_all(TERN_ATTR_COMM, &tern_comm_self.obj, &tern_comm_self.attrs);
    int world_rc = tern_attrs_delete_all(TERN_ATTR_COMM, &tern_comm_world.obj,
                                         &tern_comm_world.attrs);
    return rc ? rc : world_rc;
}

/* Closes the predefined communicators. If sessions go on, the handles then count as null
 * handles. */
void tern_comm_finalize(void)
{
    tern_tool_forget_comm(&tern_comm_self);
    tern_tool_forget_comm(&tern_comm_world);
    struct tern_comm *const both[] = {&tern_comm_self, &tern_comm_world};
    for (int i = 0; i < 2; i++) {
        both[i]->obj.handle->state = NULL;
        drop_parts(both[i]);
    }
}

static bool predefined(const struct tern_comm *comm)
{
    return comm == &tern_comm_world || comm == &tern_comm_self;
}

static int check_freeable(const struct tern_comm *comm, const char *verb)
{
    if (predefined(comm))
        return tern_error(TERN_ERR_COMM, "comm is %s, which cannot be %s", comm->name, verb);
    return 0;
}

/* Frees a communicator. Local: every process closes its side. Ids are never used again, so no
 * process waits for the others. */
int tern_mpi_comm_free(struct tern_comm **comm)
{
    int rc = check_freeable(*comm, "freed");
    if (rc)
        return rc;
    rc = tern_attrs_delete_all(TERN_ATTR_COMM, &(*comm)->obj, &(*comm)->attrs);
    if (rc)
        return rc;
    tern_check_say_unreceived(*comm);
    if (*comm == tern_connected_parent)
        tern_connected_parent = NULL;
    tern_comm_release(*comm);
    *comm = NULL;
    return 0;
}

/*
 * Disconnects a communicator. The user may call it only when everything on comm is matched and
 * complete. A send whose request was freed may still be on its way to this process; it holds its
 * own reference and completes by itself. Buffered sends are waited for, because their memory may
 * belong to comm. What is left to do: no process may return before all have called.
 */
int tern_mpi_comm_disconnect(struct tern_comm **comm)
{
    int rc = check_freeable(*comm, "disconnected");
    if (!rc)
        tern_buffer_flush_comm(*comm);
    if (!rc && tern_connected_has(*comm)) {
        rc = tern_connected_part(*comm);
        return rc ? rc : tern_mpi_comm_free(comm);
    }
    tern_wait_procedure = "MPI_Comm_disconnect";
    if (!rc)
        rc = tern_coll_barrier((*comm)->local ? &(*comm)->local->coll : &(*comm)->coll);
    tern_wait_procedure = NULL;
    if (!rc && tern_comm_inter(*comm)) {
        char here = 0, there;
        rc = tern_comm_exchange(*comm, &here, sizeof here, &there, sizeof there);
    }
    return rc ? rc : tern_mpi_comm_free(comm);
}
