/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Intercommunicators. Two leaders exchange their groups, as runs, and an id each. The smaller id
 * becomes the new intercommunicator's. Ids are unique, so that rule also breaks ties (which group
 * comes first in a merge) without a special process. If not all processes are of one job, the
 * groups also introduce their processes to each other. A leader also tells its group about a
 * failure, so that no rank waits in vain.
 */

#include "lib/mpi/object/comm.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/comm/comm_ids.h"
#include "lib/mpi/object/group_far.h"
#include "lib/mpi/comm/introduce.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/context.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a leader sends about its group; the runs follow. */
struct offer {
    uint64_t id;
    int32_t run_count;
    int32_t error; /* 0, or TERN_ERR_* if the creation fails */
    struct tern_job_id job; /* the leader's */
    uint64_t own; /* 1 if the whole group is of this job */
};

static struct offer make_offer(const struct tern_group *group)
{
    return (struct offer){.id = tern_context_new_id(),
                          .run_count = group->run_count,
                          .job = tern_job_id_of(0),
                          .own = tern_group_is_own(group)};
}

/* Returns true if the processes of the two groups may not know each other. */
static bool are_strangers(const struct offer *mine, const struct offer *theirs)
{
    return !mine->own || !theirs->own || memcmp(&mine->job, &theirs->job, sizeof mine->job) != 0;
}

/* Exchanges offers and runs between the leaders. *ret_runs is malloc'ed; NULL for an empty
 * group. */
static int exchange_groups(struct tern_comm *peer_comm, int remote_leader, int tag,
                           const struct offer *mine, const struct tern_group *group,
                           struct offer *ret_theirs, struct tern_far_run **ret_runs)
{
    struct offer theirs;
    int rc = tern_comm_sendrecv(peer_comm, tag, mine, sizeof *mine, remote_leader, &theirs,
                                sizeof theirs, remote_leader);
    if (rc)
        return rc;
    if (mine->error || theirs.error)
        return mine->error ? mine->error : theirs.error;
    struct tern_far_run *runs = NULL, *own = tern_group_to_far(group);
    if (!own)
        return TERN_ERR_NO_MEM;
    if (theirs.run_count > 0 && !(runs = malloc((size_t)theirs.run_count * sizeof *runs))) {
        free(own);
        return tern_error(TERN_ERR_NO_MEM, "no memory for a group of %d runs", theirs.run_count);
    }
    rc = tern_comm_sendrecv(peer_comm, tag, own, group->run_count * (int64_t)sizeof *runs,
                            remote_leader, runs, theirs.run_count * (int64_t)sizeof *runs,
                            remote_leader);
    free(own);
    if (rc) {
        free(runs);
        return rc;
    }
    *ret_theirs = theirs;
    *ret_runs = runs;
    return 0;
}

/* Checks that no process is in both groups. */
static int check_disjoint(struct tern_group *group, struct tern_group *remote_group)
{
    for (int rank = 0; rank < group->size; rank++)
        if (tern_group_find(remote_group, tern_group_process(group, rank)) != MPI_UNDEFINED)
            return tern_error(
                TERN_ERR_COMM,
                "rank %d of local_comm is in the remote group too; expected disjoint groups", rank);
    return 0;
}

/* What a leader passes on to its group. */
struct answer {
    uint64_t id;
    int32_t run_count;
    int32_t error;
    uint64_t strangers; /* 1: the groups introduce themselves to each other */
};

/* Sends the leader's answer and the other group to every rank of the leader's group. */
static int spread_answer(struct tern_comm *local, int leader, struct answer *answer,
                         struct tern_far_run **runs, struct tern_group **ret_remote_group)
{
    int rc = tern_comm_bcast_bytes(local, answer, sizeof *answer, leader);
    if (rc)
        return rc;
    if (answer->error) {
        if (local->group->rank == leader)
            return answer->error; /* its error text is set already */
        return tern_error(
            answer->error,
            "the leader, rank %d of local_comm, could not reach agreement with the remote leader",
            leader);
    }
    if (!*runs && answer->run_count > 0 &&
        !(*runs = malloc((size_t)answer->run_count * sizeof **runs)))
        return tern_error(TERN_ERR_NO_MEM, "no memory for a group of %d runs", answer->run_count);
    rc = tern_comm_bcast_bytes(local, *runs, answer->run_count * (int64_t)sizeof **runs, leader);
    return rc ? rc : tern_group_from_far(*runs, answer->run_count, ret_remote_group);
}

static int check_leaders(struct tern_comm *local, int local_leader)
{
    if (tern_comm_inter(local))
        return tern_error(TERN_ERR_COMM,
                          "local_comm is an intercommunicator; expected an intracommunicator");
    if (local_leader < 0 || local_leader >= local->group->size)
        return tern_error_index(TERN_ERR_RANK, local->group->size, "local_leader is %d",
                                local_leader);
    return 0;
}

static int check_peer(struct tern_comm *peer_comm, int remote_leader)
{
    if (!peer_comm)
        return tern_error(TERN_ERR_COMM, "peer_comm is MPI_COMM_NULL at the local leader");
    int size = peer_comm->remote_group ? peer_comm->remote_group->size : peer_comm->group->size;
    if (remote_leader < 0 || remote_leader >= size)
        return tern_error_index(TERN_ERR_RANK, size, "remote_leader is %d", remote_leader);
    return 0;
}

/* Does the leader's part: talks to the other leader and fills in the answer. */
static void negotiate(struct tern_comm *local, struct tern_comm *peer_comm, int remote_leader,
                      int tag, const char *tag_text, int fault, struct answer *answer,
                      struct tern_far_run **runs)
{
    struct offer mine = make_offer(local->group), theirs;
    struct tern_group *remote_group;
    int rc = fault ? fault : check_peer(peer_comm, remote_leader);
    if (!rc)
        rc = tern_check_leaders(peer_comm, remote_leader, tag_text);
    if (!rc)
        rc = exchange_groups(peer_comm, remote_leader, tern_comm_user_tag(tag), &mine, local->group,
                             &theirs, runs);
    if (!rc)
        rc = tern_group_from_far(*runs, theirs.run_count, &remote_group);
    if (rc) {
        answer->error = rc;
        return;
    }
    answer->error = check_disjoint(local->group, remote_group);
    tern_group_release(remote_group);
    answer->id = mine.id < theirs.id ? mine.id : theirs.id;
    answer->run_count = theirs.run_count;
    answer->strangers = are_strangers(&mine, &theirs);
}

/* Introduces the processes of the two groups to each other. */
static int introduce(struct tern_comm *local, int leader, struct tern_comm *peer_comm,
                     int remote_leader, int tag)
{
    struct tern_introductions own, theirs = {0};
    int rc = tern_introductions_gather(local, &own);
    if (local->group->rank == leader) {
        int exchange_rc = tern_introductions_exchange(peer_comm, remote_leader,
                                                      tern_comm_user_tag(tag), &own, &theirs);
        rc = rc ? rc : exchange_rc;
    }
    rc = tern_introductions_spread(local, leader, rc, &theirs);
    free(own.bytes);
    free(theirs.bytes);
    return rc;
}

void tern_comm_refuse_join(struct tern_comm *peer_comm, int remote_leader, int tag)
{
    struct offer theirs;
    tern_comm_refuse(peer_comm, tern_comm_user_tag(tag), remote_leader, &theirs, sizeof theirs);
}

int tern_comm_join(struct tern_comm *local_comm, int local_leader, struct tern_comm *peer_comm,
                   int remote_leader, int tag, const char *tag_text, int fault,
                   struct tern_comm **ret_newintercomm)
{
    struct answer answer = {0};
    struct tern_far_run *runs = NULL;
    struct tern_group *remote_group;
    int rc = check_leaders(local_comm, local_leader);
    if (rc)
        return rc;
    /* Each group waits for its own processes; the leaders' exchange joins the two. */
    int meet_rc = tern_comm_meet(local_comm);
    fault = fault ? fault : meet_rc;
    if (local_comm->group->rank == local_leader)
        negotiate(local_comm, peer_comm, remote_leader, tag, tag_text, fault, &answer, &runs);
    rc = spread_answer(local_comm, local_leader, &answer, &runs, &remote_group);
    free(runs);
    if (rc)
        return rc;
    if (answer.strangers)
        rc = introduce(local_comm, local_leader, peer_comm, remote_leader, tag);
    if (!rc)
        rc = tern_comm_open_inter(local_comm, local_comm->group, remote_group, answer.id,
                              ret_newintercomm);
    tern_group_release(remote_group);
    return rc;
}

int tern_mpi_intercomm_create(struct tern_comm *local_comm, int local_leader,
                              struct tern_comm *peer_comm, int remote_leader, int tag,
                              struct tern_comm **ret_newintercomm)
{
    char text[24];
    int fault = 0;
    snprintf(text, sizeof text, "tag %d", tag);
    if (local_comm->group->rank == local_leader && peer_comm)
        fault = tern_session_check_same("local_comm", local_comm->session, "peer_comm",
                                        peer_comm->session);
    return tern_comm_join(local_comm, local_leader, peer_comm, remote_leader, tag, text, fault,
                          ret_newintercomm);
}

/* Does MPI_Comm_create on an intercommunicator. The group of each side's rank 0 is used; MPI
 * requires the others of that side to name an equal group. */
int tern_comm_create_inter(struct tern_comm *comm, struct tern_group *group,
                           struct tern_comm **ret_comm)
{
    struct answer answer = {0};
    struct tern_far_run *runs = NULL;
    struct tern_group *remote_group;
    int rc = tern_comm_meet(comm->local);
    if (comm->group->rank == 0) {
        struct offer mine = make_offer(group), theirs;
        mine.error = rc;
        answer.error = exchange_groups(comm, 0, TERN_TAG_EXCHANGE, &mine, group, &theirs, &runs);
        if (!answer.error)
            answer = (struct answer){.id = mine.id < theirs.id ? mine.id : theirs.id,
                                     .run_count = theirs.run_count};
    }
    rc = spread_answer(comm->local, 0, &answer, &runs, &remote_group);
    free(runs);
    if (rc)
        return rc;
    *ret_comm = NULL;
    if (group->rank != MPI_UNDEFINED && remote_group->size > 0)
        rc = tern_comm_open_inter(comm, group, remote_group, answer.id, ret_comm);
    tern_group_release(remote_group);
    return rc;
}

static int join_groups(struct tern_group *first, struct tern_group *second,
                       struct tern_group **ret_group)
{
    struct tern_group *const parts[] = {first, second};
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    for (int p = 0; p < 2; p++)
        for (const struct tern_run *run = parts[p]->runs;
             run < parts[p]->runs + parts[p]->run_count; run++)
            tern_group_builder_add_run(&builder, (struct tern_process){run->job, run->first},
                                       run->stride, run->count);
    return tern_group_builder_finish(&builder, ret_group);
}

int tern_mpi_intercomm_merge(struct tern_comm *intercomm, int high,
                             struct tern_comm **ret_newintracomm)
{
    struct {
        uint64_t id;
        int32_t high, unused;
    } mine = {0}, theirs;
    struct tern_group *group;
    if (!tern_comm_inter(intercomm))
        return tern_error(TERN_ERR_COMM,
                          "intercomm is an intracommunicator; expected an intercommunicator");
    if (intercomm->group->rank == 0) {
        mine.id = tern_context_new_id();
        mine.high = high != 0;
    }
    int rc = tern_comm_meet(intercomm->local);
    int bcast_rc = tern_comm_bcast_bytes(intercomm->local, &mine, sizeof mine, 0);
    rc = rc ? rc : bcast_rc;
    /* Also after a failure: the other group waits for this one. */
    int exchange_rc = tern_comm_exchange(intercomm, &mine, sizeof mine, &theirs, sizeof theirs);
    if (rc || exchange_rc)
        return rc ? rc : exchange_rc;
    bool we_first = mine.high != theirs.high ? !mine.high : mine.id < theirs.id;
    rc = we_first ? join_groups(intercomm->group, intercomm->remote_group, &group)
                  : join_groups(intercomm->remote_group, intercomm->group, &group);
    if (rc)
        return rc;
    rc = tern_comm_open(intercomm, group, mine.id < theirs.id ? mine.id : theirs.id,
                        ret_newintracomm);
    tern_group_release(group);
    return rc;
}
