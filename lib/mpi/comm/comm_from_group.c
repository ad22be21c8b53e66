/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Communicators without a parent (MPI-4.1 sections 7.4.2 and 7.6.2). Their processes exchange
 * messages over a communicator of the library's own that reaches all processes of the job. It is
 * opened on first use and needs no agreement, because its id is fixed. The user's string becomes a
 * tag there, a number of 31 bits. The messages under the tag state exactly what they are for.
 */

#include "lib/mpi/object/comm.h"

#include "lib/mpi/check/check.h"
#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The id of that communicator, next to those of MPI_COMM_WORLD and MPI_COMM_SELF. */
enum { JOB_ID = 4 };

static struct tern_comm *job;

static int open_job(void)
{
    const struct tern_run run = {.stride = tern_rte.size > 1, .count = (int32_t)tern_rte.size};
    struct tern_comm nobody = {.errhandler = &tern_errhandler_errors_return};
    struct tern_group *group;
    if (job)
        return 0;
    int rc = tern_group_from_runs(&run, 1, &group);
    if (rc)
        return rc;
    rc = tern_comm_open(&nobody, group, JOB_ID, &job);
    if (!rc)
        snprintf(job->name, sizeof job->name, "the whole job");
    tern_group_release(group);
    return rc;
}

/* Returns 64 bits of a string (FNV-1a), for `purpose`. */
static uint64_t digest_of(char purpose, const char *text)
{
    uint64_t digest = 0xcbf29ce484222325u ^ (unsigned char)purpose;
    for (; *text; text++)
        digest = (digest ^ (unsigned char)*text) * 0x100000001b3u;
    return digest * 0x9e3779b97f4a7c15u;
}

static int tag_of(uint64_t digest)
{
    return (int)(digest >> 33);
}

static int check_arguments(const char *stringtag, const struct tern_errhandler *errhandler)
{
    if (strnlen(stringtag, MPI_MAX_STRINGTAG_LEN) == MPI_MAX_STRINGTAG_LEN)
        return tern_error(TERN_ERR_ARG, "stringtag is longer than %d characters",
                          MPI_MAX_STRINGTAG_LEN - 1);
    return tern_errhandler_check_kind(errhandler, TERN_ERRHANDLER_COMM);
}

enum { TAG_TEXT = 64 };

/* Returns the tag as check_level full names it. */
static const char *tag_text(const char *stringtag, char text[TAG_TEXT])
{
    snprintf(text, TAG_TEXT, "stringtag \"%.50s\"", stringtag);
    return text;
}

static int create(struct tern_group *group, char purpose, const char *stringtag,
                  struct tern_errhandler *errhandler, struct tern_comm **ret_comm)
{
    struct tern_comm parent = {.errhandler = errhandler, .session = group->session};
    uint64_t digest = digest_of(purpose, stringtag);
    char text[TAG_TEXT];
    int rc = open_job();
    if (!rc && tern_check_full())
        rc = tern_check_group(job, group, tag_text(stringtag, text));
    if (rc)
        return rc;
    return tern_comm_create_among(job, &parent, group, tag_of(digest), digest, ret_comm);
}

int tern_mpi_comm_create_from_group(struct tern_group *group, const char *stringtag,
                                    struct tern_info *info, struct tern_errhandler *errhandler,
                                    struct tern_comm **ret_newcomm)
{
    int rc = check_arguments(stringtag, errhandler);
    if (rc)
        return rc;
    if (group->size == 0) {
        *ret_newcomm = NULL;
        return 0;
    }
    if (group->rank == MPI_UNDEFINED)
        return tern_error(TERN_ERR_GROUP, "the calling process is not in group");
    rc = create(group, 'c', stringtag, errhandler, ret_newcomm);
    if (!rc)
        tern_comm_take_hints(*ret_newcomm, info);
    return rc;
}

/* Checks the arguments that are significant at the local leader only. */
static int check_remote(struct tern_group *local_group, struct tern_group *remote_group,
                        int remote_leader, int *ret_rank)
{
    if (remote_leader < 0 || remote_leader >= remote_group->size)
        return tern_error_index(TERN_ERR_RANK, remote_group->size, "remote_leader is %d",
                                remote_leader);
    *ret_rank = (int)tern_group_process(remote_group, remote_leader).rank;
    return tern_group_check_sessions("local_group", local_group, "remote_group", remote_group);
}

/* Checks that each of the two leaders names the other's group. */
static int check_met(struct tern_group *remote_group, struct tern_comm *inter)
{
    if (tern_group_equal(remote_group, inter->remote_group))
        return 0;
    return tern_error(TERN_ERR_GROUP, "remote_group is not the local_group of the other side");
}

int tern_mpi_intercomm_create_from_groups(struct tern_group *local_group, int local_leader,
                                          struct tern_group *remote_group, int remote_leader,
                                          const char *stringtag, struct tern_info *info,
                                          struct tern_errhandler *errhandler,
                                          struct tern_comm **ret_newintercomm)
{
    struct tern_comm *local;
    char text[TAG_TEXT];
    int remote_rank = -1, rc = check_arguments(stringtag, errhandler);
    if (rc)
        return rc;
    if (local_group->rank == MPI_UNDEFINED)
        return tern_error(TERN_ERR_GROUP, "the calling process is not in local_group");
    if (local_leader < 0 || local_leader >= local_group->size)
        return tern_error_index(TERN_ERR_RANK, local_group->size, "local_leader is %d",
                                local_leader);
    bool leads = local_group->rank == local_leader;
    /* The error of a leader is raised after the other ranks of its group have learnt that there is
     * one. */
    int fault = leads ? check_remote(local_group, remote_group, remote_leader, &remote_rank) : 0;
    rc = create(local_group, 'i', stringtag, errhandler, &local);
    if (rc) {
        if (leads && !fault && job)
            tern_comm_refuse_join(job, remote_rank, tag_of(digest_of('i', stringtag)));
        return rc;
    }
    rc = tern_comm_join(local, local_leader, job, remote_rank, tag_of(digest_of('i', stringtag)),
                        tag_text(stringtag, text), fault, ret_newintercomm);
    tern_comm_release(local);
    if (fault)
        return check_remote(local_group, remote_group, remote_leader, &remote_rank);
    if (!rc && leads && (rc = check_met(remote_group, *ret_newintercomm)) != 0) {
        tern_comm_release(*ret_newintercomm);
        *ret_newintercomm = NULL;
    }
    if (!rc)
        tern_comm_take_hints(*ret_newintercomm, info);
    return rc;
}
