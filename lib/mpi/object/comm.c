/* SPDX-License-Identifier: BSD-3-Clause */

/* Makes communicators from groups and ids, and answers questions about a communicator without
 * communication. comm_life.c frees communicators. */

#include "lib/mpi/object/comm.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tern_comm tern_comm_world = {
    .obj = {.handle = (struct tern_handle *)MPI_COMM_WORLD, .refs = 1}};
struct tern_comm tern_comm_self = {
    .obj = {.handle = (struct tern_handle *)MPI_COMM_SELF, .refs = 1}};

static const char *name_of(const void *comm)
{
    const char *name = ((const struct tern_comm *)comm)->name;
    return name[0] ? name : "a communicator without a name";
}

int tern_comm_open_contexts(struct tern_comm *comm, uint64_t id)
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

/* Sets the session that the communicator and its groups belong to; NULL for none. */
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
    comm->obj.name = comm->name;
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
        return tern_error(TERN_ERR_NO_MEM, "no more communicators can be created: all ids are in "
                                           "use; free communicators that are not needed");
    if (comm->remote_group)
        rc = tern_comm_open(comm, comm->group, tern_context_local_id(id), &comm->local);
    return rc ? rc : tern_comm_open_contexts(comm, id);
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

static int check_inter(const struct tern_comm *comm, const char *what)
{
    if (tern_comm_inter(comm))
        return 0;
    return tern_error(TERN_ERR_COMM,
                      "comm is the intracommunicator %s; only an intercommunicator has a %s",
                      comm->name[0] ? comm->name : "without a name", what);
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
