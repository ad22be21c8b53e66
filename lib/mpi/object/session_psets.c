/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Process sets (MPI-4.1 section 11.3.2): mpi://WORLD, mpi://SELF, and the processes that share this
 * node's memory. Each set contains the calling process. A launcher could name other sets; mpirun
 * does not.
 */

#include "lib/mpi/object/group.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/object/session.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "lib/mpi/procedures.h"

static int world_group(struct tern_group **ret_group)
{
    const struct tern_run run = {.stride = tern_rte.size > 1, .count = (int32_t)tern_rte.size};
    return tern_group_from_runs(&run, 1, ret_group);
}

static int self_group(struct tern_group **ret_group)
{
    const struct tern_run run = {.first = tern_rte.rank, .count = 1};
    return tern_group_from_runs(&run, 1, ret_group);
}

static int node_group(struct tern_group **ret_group)
{
    struct tern_group_builder builder;
    tern_group_builder_init(&builder);
    for (uint32_t i = 0; i < tern_rte.local_size; i++)
        tern_group_builder_add(&builder, (struct tern_process){0, tern_rte.local_ranks[i]});
    return tern_group_builder_finish(&builder, ret_group);
}

static const struct pset {
    const char *name;
    int (*group)(struct tern_group **ret_group);
} psets[] = {
    {"mpi://WORLD", world_group},
    {"mpi://SELF", self_group},
    {"mpi://SHARED", node_group},
};
enum { PSETS = sizeof psets / sizeof *psets };

/* Finds a set. Upper and lower case are equal in names that begin with mpi://, because they look
 * like addresses. */
int tern_pset_group(const char *name, struct tern_group **ret_group)
{
    for (int i = 0; i < PSETS; i++)
        if (strcasecmp(name, psets[i].name) == 0)
            return psets[i].group(ret_group);
    return tern_error(TERN_ERR_ARG,
                      "pset_name is \"%s\", which is not a process set of this session; "
                      "MPI_Session_get_nth_pset returns their names",
                      name);
}

int tern_mpi_session_get_num_psets(struct tern_session *session, struct tern_info *info,
                                   int *npset_names)
{
    (void)session, (void)info;
    *npset_names = PSETS;
    return 0;
}

int tern_mpi_session_get_nth_pset(struct tern_session *session, struct tern_info *info, int n,
                                  int *pset_len, char *pset_name)
{
    (void)session, (void)info;
    if (n < 0 || n >= PSETS)
        return tern_error_index(TERN_ERR_ARG, PSETS, "n is %d", n);
    if (*pset_len < 0)
        return tern_error(TERN_ERR_ARG, "pset_len is %d; expected 0 or more", *pset_len);
    if (*pset_len > 0 && !pset_name)
        return tern_error(TERN_ERR_ARG, "pset_name is a NULL pointer and pset_len is %d",
                          *pset_len);
    if (*pset_len > 0)
        snprintf(pset_name, (size_t)*pset_len, "%s", psets[n].name);
    *pset_len = (int)strlen(psets[n].name) + 1;
    return 0;
}

int tern_mpi_session_get_pset_info(struct tern_session *session, const char *pset_name,
                                   struct tern_info **ret_info)
{
    (void)session;
    struct tern_group *group;
    char size[16];
    int rc = tern_pset_group(pset_name, &group);
    if (rc)
        return rc;
    snprintf(size, sizeof size, "%d", group->size);
    tern_group_release(group);
    struct tern_info *info = tern_info_new();
    if (!info)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an info object");
    rc = tern_info_put(info, MPI_INFO_KEY_SESSION_PSET_SIZE, size);
    if (rc) {
        tern_info_release(info);
        return rc;
    }
    *ret_info = info;
    return 0;
}

int tern_mpi_group_from_session_pset(struct tern_session *session, const char *pset_name,
                                     struct tern_group **ret_newgroup)
{
    struct tern_group *group;
    int rc = tern_pset_group(pset_name, &group);
    if (rc)
        return rc;
    tern_session_retain(session);
    group->session = session;
    *ret_newgroup = group;
    return 0;
}
