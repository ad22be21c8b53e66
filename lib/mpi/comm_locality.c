/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * MPI_Comm_split_type: who shares what with me. Everything that goes by nodes is known from the
 * start of the job; the parts of a node are lib/rte/hardware.c's. A process that is not bound to
 * one part shares nothing for certain and gets a communicator of its own.
 */

#include "lib/mpi/comm.h"
#include "lib/rte/hardware.h"
#include "lib/rte/rte.h"
#include "lib/util/error.h"

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

/* Two ranges of colours: those who are alone, and (node, part). */
static int color_of_part(enum tern_hw_kind kind)
{
    enum { PARTS_MAX = 8192 }; /* numbered by their lowest processor */
    int32_t parts[TERN_HW_KINDS];
    tern_rte_hw_places("", parts, NULL);
    return parts[kind] == TERN_HW_NOT_BOUND
               ? (int)tern_rte.rank
               : (int)(tern_rte.size + tern_rte.node * PARTS_MAX) + parts[kind];
}

int tern_comm_locality(int split_type, int *ret_color)
{
    switch (split_type) {
    case MPI_UNDEFINED:
        *ret_color = MPI_UNDEFINED;
        return 0;
    case MPI_COMM_TYPE_SHARED: /* OMPI_COMM_TYPE_NODE is the same number */
    case OMPI_COMM_TYPE_HOST:
    case OMPI_COMM_TYPE_BOARD:
        *ret_color = (int)tern_rte.node;
        return 0;
    case OMPI_COMM_TYPE_CLUSTER:
    case OMPI_COMM_TYPE_CU: /* nothing is known about cabinets: one cluster, one unit */
        *ret_color = 0;
        return 0;
    case OMPI_COMM_TYPE_HWTHREAD:
    case OMPI_COMM_TYPE_CORE:
    case OMPI_COMM_TYPE_L1CACHE:
    case OMPI_COMM_TYPE_L2CACHE:
    case OMPI_COMM_TYPE_L3CACHE:
    case OMPI_COMM_TYPE_SOCKET:
    case OMPI_COMM_TYPE_NUMA:
        *ret_color = color_of_part(kind_of_split(split_type));
        return 0;
    default:
        return tern_error(TERN_ERR_ARG,
                          "split_type is %d, which is none of MPI_COMM_TYPE_* and OMPI_COMM_TYPE_*",
                          split_type);
    }
}
