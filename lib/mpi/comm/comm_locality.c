/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Comm_split_type: groups processes by what they share (MPI-4.1 section 7.4.2). Nodes are known
 * from the start of the job; lib/rte/hardware.c knows the parts of a node and their names. A
 * process that is not bound to one part shares nothing for certain. The types of MPI-4 leave it
 * out; those of Open MPI give it a communicator of its own.
 *
 * A colour is (node, kind of part, part). Lower colours are single processes of the job.
 */

#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/group_far.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/session.h"
#include "lib/rte/hardware.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"

#include <stdlib.h>
#include <string.h>

static const char resource_key[] = "mpi_hw_resource_type", pset_key[] = "mpi_pset_name";

enum { PARTS_MAX = 8192 }; /* parts are numbered by their lowest processor */

static int64_t color_of_process(uint32_t rank)
{
    return rank;
}

static int64_t color_of_part(uint32_t node, enum tern_hw_kind kind, int32_t part)
{
    return ((int64_t)1 << 32) + ((int64_t)node * TERN_HW_KINDS + kind) * PARTS_MAX + part;
}

/* Finds the colour of the part of this kind that this process is bound to. Returns false if it is
 * not bound to one. */
static bool color_of_kind(enum tern_hw_kind kind, int64_t *ret_color)
{
    int32_t parts[TERN_HW_KINDS];
    tern_rte_hw_places("", parts, NULL);
    if (parts[kind] == TERN_HW_NOT_BOUND)
        return false;
    *ret_color = color_of_part(tern_rte.node, kind, parts[kind]);
    return true;
}

/* Returns the colour for the resource type that info names. Returns MPI_UNDEFINED, for no
 * communicator, if the type is unknown or missing here, or if this process is bound to more than
 * one part of it. */
static int64_t guided_by_hardware(const char *type)
{
    enum tern_hw_kind kind;
    int64_t color;
    if (type && strcmp(type, "mpi_shared_memory") == 0)
        return color_of_part(tern_rte.node, TERN_HW_MACHINE, 0);
    return type && tern_rte_hw_find(type, &kind) && color_of_kind(kind, &color) ? color
                                                                                : MPI_UNDEFINED;
}

/* Returns the colour for a process set. The first process of a set distinguishes sets with one
 * name, such as mpi://SELF. */
static int64_t guided_by_set(const char *name)
{
    struct tern_group *group;
    int64_t color = MPI_UNDEFINED;
    if (tern_pset_group(name, &group) != 0)
        return MPI_UNDEFINED;
    if (group->rank != MPI_UNDEFINED)
        color = color_of_process(tern_group_process(group, 0).rank);
    tern_group_release(group);
    return color;
}

static int guided_by_resource(const struct tern_info *info, int64_t *ret_color)
{
    const char *type = tern_info_find(info, resource_key), *set = tern_info_find(info, pset_key);
    if (type && set)
        return tern_error(TERN_ERR_INFO, "info has both keys %s and %s; expected one of them",
                          resource_key, pset_key);
    *ret_color = set ? guided_by_set(set) : guided_by_hardware(type);
    return 0;
}

/* ---- unguided ---- */

struct place {
    uint32_t node;
    int32_t parts[TERN_HW_KINDS];
};

/* Gathers the places of all processes of the communicator, of both groups. *ret_places is
 * malloc'ed. */
static int gather_places(struct tern_comm *comm, const struct place *mine,
                         struct place **ret_places, int *ret_count)
{
    struct tern_comm *own = comm->local ? comm->local : comm;
    int count = own->group->size, remote = comm->remote_group ? comm->remote_group->size : 0;
    struct place *places = malloc((size_t)(count + remote) * sizeof *places);
    if (!places)
        return tern_error(TERN_ERR_NO_MEM, "no memory for the places of %d processes",
                          count + remote);
    int rc = tern_comm_allgather_bytes(own, mine, places, sizeof *mine);
    if (!rc && remote)
        rc = tern_comm_allgather_bytes(comm, mine, places + count, sizeof *mine);
    if (rc) {
        free(places);
        return rc;
    }
    *ret_places = places;
    *ret_count = count + remote;
    return 0;
}

static bool share(const struct place *a, const struct place *b, int kind)
{
    return a->node == b->node && a->parts[kind] == b->parts[kind];
}

/* Finds the widest part that this process shares with some processes, but not with all. The
 * processes that share it find the same part, because they share all wider parts with all
 * processes, too. */
static int find_widest(struct tern_comm *comm, int64_t *ret_color, struct tern_info *info)
{
    struct place mine = {.node = tern_rte.node}, *places = NULL;
    int count = 0, widest = 0;
    tern_rte_hw_places("", mine.parts, NULL);
    int rc = gather_places(comm, &mine, &places, &count);
    if (rc)
        return rc;
    *ret_color = MPI_UNDEFINED;
    for (; widest < TERN_HW_KINDS; widest++) {
        int sharing = 0;
        if (mine.parts[widest] == TERN_HW_NOT_BOUND)
            continue;
        for (int i = 0; i < count; i++)
            sharing += share(&mine, &places[i], widest);
        if (sharing < count)
            break;
    }
    free(places);
    if (widest == TERN_HW_KINDS)
        return 0;
    *ret_color = color_of_part(mine.node, widest, mine.parts[widest]);
    return info ? tern_info_put(info, resource_key, tern_rte_hw_name(widest)) : 0;
}

/* ---- by type ---- */

static enum tern_hw_kind kind_of_split(int split_type)
{
    switch (split_type) {
    case OMPI_COMM_TYPE_HWTHREAD:
        return TERN_HW_PU;
    case OMPI_COMM_TYPE_CORE:
        return TERN_HW_CORE;
    case OMPI_COMM_TYPE_L1CACHE:
        return TERN_HW_L1;
    case OMPI_COMM_TYPE_L2CACHE:
        return TERN_HW_L2;
    case OMPI_COMM_TYPE_L3CACHE:
        return TERN_HW_L3;
    case OMPI_COMM_TYPE_NUMA:
        return TERN_HW_NUMA;
    default: /* OMPI_COMM_TYPE_SOCKET */
        return TERN_HW_PACKAGE;
    }
}

static int find_color(struct tern_comm *comm, int split_type, struct tern_info *info,
                      int64_t *ret_color)
{
    switch (split_type) {
    case MPI_UNDEFINED:
        *ret_color = MPI_UNDEFINED;
        return 0;
    case MPI_COMM_TYPE_SHARED: /* OMPI_COMM_TYPE_NODE is the same number */
    case OMPI_COMM_TYPE_HOST:
    case OMPI_COMM_TYPE_BOARD:
        *ret_color = color_of_part(tern_rte.node, TERN_HW_MACHINE, 0);
        return 0;
    case OMPI_COMM_TYPE_CLUSTER:
    case OMPI_COMM_TYPE_CU: /* cabinets are not known: one cluster, one unit */
        *ret_color = color_of_process(0);
        return 0;
    case OMPI_COMM_TYPE_HWTHREAD:
    case OMPI_COMM_TYPE_CORE:
    case OMPI_COMM_TYPE_L1CACHE:
    case OMPI_COMM_TYPE_L2CACHE:
    case OMPI_COMM_TYPE_L3CACHE:
    case OMPI_COMM_TYPE_SOCKET:
    case OMPI_COMM_TYPE_NUMA:
        if (!color_of_kind(kind_of_split(split_type), ret_color))
            *ret_color = color_of_process(tern_rte.rank);
        return 0;
    case MPI_COMM_TYPE_HW_UNGUIDED:
        return find_widest(comm, ret_color, info);
    case MPI_COMM_TYPE_HW_GUIDED:
        *ret_color = guided_by_hardware(tern_info_find(info, resource_key));
        return 0;
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
        return guided_by_resource(info, ret_color);
    default:
        return tern_error(TERN_ERR_ARG,
                          "split_type is %d, which is none of MPI_COMM_TYPE_* and OMPI_COMM_TYPE_*",
                          split_type);
    }
}

/* Returns the colour among processes of several jobs. What is shared is shared within a job: the
 * jobs number their nodes separately, and have no memory in common. */
static int64_t color_in_job(int64_t color)
{
    struct tern_job_id job = tern_job_id_of(0);
    uint64_t words[2];
    memcpy(words, job.bytes, sizeof words);
    uint64_t mixed = ((uint64_t)color ^ words[0] ^ words[1] << 1) * 0x9e3779b97f4a7c15u;
    return (int64_t)(mixed >> 1);
}

int tern_mpi_comm_split_type(struct tern_comm *comm, int split_type, int key,
                             struct tern_info *info, struct tern_comm **ret_newcomm)
{
    int64_t color = MPI_UNDEFINED;
    int rc = find_color(comm, split_type, info, &color);
    if (color != MPI_UNDEFINED && !tern_group_is_own(comm->group) &&
        split_type != OMPI_COMM_TYPE_CLUSTER && split_type != OMPI_COMM_TYPE_CU)
        color = color_in_job(color);
    return rc ? rc : tern_comm_split(comm, color, key, ret_newcomm);
}
