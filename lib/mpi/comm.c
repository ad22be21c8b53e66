/* SPDX-License-Identifier: BSD-3-Clause */

/* Life of communicators, MPI_COMM_WORLD and MPI_COMM_SELF, and what can be asked of one without
 * talking to others. */

#include "lib/mpi/comm.h"

#include "lib/mpi/attr.h"
#include "lib/mpi/buffer.h"
#include "lib/mpi/check/check.h"
#include "lib/mpi/errhandler.h"
#include "lib/mpi/fortran.h"
#include "lib/mpi/partitioned.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/session.h"
#include "lib/mpi/tool/tool.h"
#include "lib/mpi/topo/topo.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Contexts of the two communicators that exist from the start; tern_context_new_id never returns
 * these. Nobody talks to others in MPI_COMM_SELF, so one id serves all processes. */
enum { WORLD_ID = 0, SELF_ID = 2 };

struct tern_comm tern_comm_world = {
    .obj = {.handle = (struct tern_handle *)MPI_COMM_WORLD, .refs = 1}};
struct tern_comm tern_comm_self = {
    .obj = {.handle = (struct tern_handle *)MPI_COMM_SELF, .refs = 1}};

/* Opens both contexts of a communicator whose groups are set. */
static const char *name_of(const void *comm)
{
    const char *name = ((const struct tern_comm *)comm)->name;
    return name[0] ? name : "a communicator without a name";
}

static int open_contexts(struct tern_comm *comm, uint64_t id)
{
    tern_coll_name_of = name_of;
    struct tern_group *reached = comm->remote_group ? comm->remote_group : comm->group;
    struct tern_peers *peers = tern_group_peers(reached, tern_lane_of(id));
    if (!peers)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a communicator of %d processes",
                          reached->size);
    int rc = tern_context_open(&comm->p2p, id, comm->group->rank, peers, comm);
    if (rc)
        return rc;
    rc = tern_coll_open(&comm->coll, id + 1, comm->group->rank, comm->group->size,
                        comm->remote_group ? comm->remote_group->size : 0, peers,
                        comm->local ? &comm->local->coll : NULL, comm);
    if (rc)
        tern_context_close(&comm->p2p);
    return rc;
}

static void close_contexts(struct tern_comm *comm)
{
    tern_coll_close(&comm->coll);
    tern_context_close(&comm->p2p);
}

/* The communicator and what can be got out of it belong to a session, or to none. */
static void come_from(struct tern_comm *comm, struct tern_session *session)
{
    struct tern_group *const groups[] = {comm->group, comm->remote_group};
    comm->session = session;
    tern_session_retain(session);
    for (int i = 0; i < 2; i++)
        if (groups[i] && !groups[i]->session && groups[i] != &tern_group_empty) {
            groups[i]->session = session;
            tern_session_retain(session);
        }
}

int tern_comm_new(struct tern_comm *parent, struct tern_group *group,
                  struct tern_group *remote_group, struct tern_comm **ret_comm)
{
    struct tern_comm *comm = calloc(1, sizeof *comm);
    if (!comm)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a communicator");
    tern_object_init(&comm->obj, TERN_MAGIC_COMM);
    comm->group = group;
    comm->remote_group = remote_group;
    tern_group_retain(group);
    if (remote_group)
        tern_group_retain(remote_group);
    comm->errhandler = parent->errhandler;
    tern_errhandler_retain(comm->errhandler);
    come_from(comm, parent->session);
    *ret_comm = comm;
    return 0;
}

int tern_comm_connect(struct tern_comm *comm, uint64_t id)
{
    int rc = 0;
    if (id == 0)
        return tern_error(TERN_ERR_NO_MEM, "no ids are left for communicators: all are in use");
    if (comm->remote_group)
        rc = tern_comm_open(comm, comm->group, tern_context_local_id(id), &comm->local);
    return rc ? rc : open_contexts(comm, id);
}

int tern_comm_open_inter(struct tern_comm *parent, struct tern_group *group,
                         struct tern_group *remote_group, uint64_t id,
                         struct tern_comm **ret_comm)
{
    struct tern_comm *comm;
    int rc = tern_comm_new(parent, group, remote_group, &comm);
    if (rc)
        return rc;
    rc = tern_comm_connect(comm, id);
    if (rc) {
        tern_comm_release(comm);
        return rc;
    }
    *ret_comm = comm;
    return 0;
}

int tern_comm_open(struct tern_comm *parent, struct tern_group *group, uint64_t id,
                   struct tern_comm **ret_comm)
{
    return tern_comm_open_inter(parent, group, NULL, id, ret_comm);
}

static void drop_parts(struct tern_comm *comm)
{
    tern_partitioned_close(comm);
    tern_buffer_abandon(&comm->buffer);
    close_contexts(comm);
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

/* Fills a predefined communicator of `count` ranks from `first` on. */
static int open_predefined(struct tern_comm *comm, const char *name, uint64_t id, uint32_t first,
                           int count)
{
    const struct tern_run run = {.first = first, .stride = count > 1, .count = count};
    int rc = tern_group_from_runs(&run, 1, &comm->group);
    if (rc)
        return rc;
    comm->errhandler = tern_errhandler_initial();
    snprintf(comm->name, sizeof comm->name, "%s", name);
    rc = open_contexts(comm, id);
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

/* Where only sessions go on their handles are as good as null. */
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

static int check_inter(const struct tern_comm *comm, const char *what)
{
    if (tern_comm_inter(comm))
        return 0;
    return tern_error(TERN_ERR_COMM,
                      "comm is the intracommunicator %s; only an intercommunicator has a %s",
                      comm->name[0] ? comm->name : "without a name", what);
}

/* Local: every process closes its side; ids are never used again, so nobody has to wait for the
 * others. */
int tern_mpi_comm_free(struct tern_comm **comm)
{
    int rc = check_freeable(*comm, "freed");
    if (rc)
        return rc;
    rc = tern_attrs_delete_all(TERN_ATTR_COMM, &(*comm)->obj, &(*comm)->attrs);
    if (rc)
        return rc;
    tern_check_say_unreceived(*comm);
    tern_comm_release(*comm);
    *comm = NULL;
    return 0;
}

/*
 * Everything on comm is matched and complete when this may be called. A send whose request was
 * freed may still be on its way here; it holds its own reference and ends by itself. Buffered ones
 * are waited for, as the memory they are in may be comm's own. What is left is that nobody returns
 * before all have called.
 */
int tern_mpi_comm_disconnect(struct tern_comm **comm)
{
    int rc = check_freeable(*comm, "disconnected");
    if (!rc)
        tern_buffer_flush_comm(*comm);
    if (!rc)
        rc = tern_coll_barrier((*comm)->local ? &(*comm)->local->coll : &(*comm)->coll);
    if (!rc && tern_comm_inter(*comm)) {
        char here = 0, there;
        rc = tern_comm_exchange(*comm, &here, sizeof here, &there, sizeof there);
    }
    return rc ? rc : tern_mpi_comm_free(comm);
}

int tern_mpi_comm_rank(struct tern_comm *comm, int *rank)
{
    *rank = comm->group->rank;
    return 0;
}

int tern_mpi_comm_size(struct tern_comm *comm, int *size)
{
    *size = comm->group->size;
    return 0;
}

int tern_mpi_comm_remote_size(struct tern_comm *comm, int *size)
{
    int rc = check_inter(comm, "remote group");
    if (rc)
        return rc;
    *size = comm->remote_group->size;
    return 0;
}

int tern_mpi_comm_test_inter(struct tern_comm *comm, int *flag)
{
    *flag = tern_comm_inter(comm);
    return 0;
}

int tern_mpi_comm_group(struct tern_comm *comm, struct tern_group **ret_group)
{
    tern_group_retain(comm->group);
    *ret_group = comm->group;
    return 0;
}

int tern_mpi_comm_remote_group(struct tern_comm *comm, struct tern_group **ret_group)
{
    int rc = check_inter(comm, "remote group");
    if (rc)
        return rc;
    tern_group_retain(comm->remote_group);
    *ret_group = comm->remote_group;
    return 0;
}

int tern_mpi_comm_compare(struct tern_comm *comm1, struct tern_comm *comm2, int *result)
{
    if (comm1 == comm2) {
        *result = MPI_IDENT;
        return 0;
    }
    int rc = tern_check_full()
                 ? tern_session_check_same("comm1", comm1->session, "comm2", comm2->session)
                 : 0;
    if (rc)
        return rc;
    int relation = MPI_UNEQUAL;
    if (tern_comm_inter(comm1) == tern_comm_inter(comm2)) {
        relation = tern_group_relation(comm1->group, comm2->group);
        if (tern_comm_inter(comm1) && relation != MPI_UNEQUAL) {
            int remote = tern_group_relation(comm1->remote_group, comm2->remote_group);
            if (remote != MPI_IDENT)
                relation = remote;
        }
    }
    *result = relation == MPI_IDENT ? MPI_CONGRUENT : relation;
    return 0;
}

int tern_mpi_comm_set_name(struct tern_comm *comm, const char *comm_name)
{
    snprintf(comm->name, sizeof comm->name, "%s", comm_name);
    return 0;
}

int tern_mpi_comm_get_name(struct tern_comm *comm, char *comm_name, int *resultlen)
{
    const char *name = comm ? comm->name : "MPI_COMM_NULL";
    *resultlen = (int)strlen(name);
    memcpy(comm_name, name, (size_t)*resultlen + 1);
    return 0;
}

/* Nobody starts processes but the launcher. */
int tern_mpi_comm_get_parent(struct tern_comm **ret_parent)
{
    *ret_parent = NULL;
    return 0;
}
