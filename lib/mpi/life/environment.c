/* SPDX-License-Identifier: BSD-3-Clause */

/* The environment (MPI-4.1 chapter 9): names, versions, memory, time, abort. */

#include "config.h"

#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/info.h"
#include "lib/node/free_memory.h"
#include "lib/node/shared_block.h"
#include "lib/rte/hardware.h"
#include "lib/rte/rte.h"
#include "lib/util/base/error.h"
#include "lib/settings/param.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

int tern_mpi_get_processor_name(char *name, int *resultlen)
{
    /* The launcher may know the host by another name. Programs compare the result with their own
     * gethostname. */
    char own[MPI_MAX_PROCESSOR_NAME] = "";
    const char *host = gethostname(own, sizeof own - 1) == 0 ? own : tern_rte.host;
    *resultlen = snprintf(name, MPI_MAX_PROCESSOR_NAME, "%s", host);
    return 0;
}

int tern_mpi_get_version(int *version, int *subversion)
{
    *version = MPI_VERSION;
    *subversion = MPI_SUBVERSION;
    return 0;
}

/* Returns the version text. Programs look for "Open MPI" in it to learn which binary interface the
 * library has. */
int tern_mpi_get_library_version(char *version, int *resultlen)
{
    *resultlen =
        snprintf(version, MPI_MAX_LIBRARY_VERSION_STRING,
                 "Tern MPI %s, with the binary interface of Open MPI v%d.%d.%d", PACKAGE_VERSION,
                 OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION);
    return 0;
}

int tern_mpi_abort(struct tern_comm *comm, int errorcode)
{
    char message[128 + MPI_MAX_OBJECT_NAME];
    snprintf(message, sizeof message, "MPI_Abort was called on %s with error code %d",
             comm->name[0] ? comm->name : "a communicator", errorcode);
    tern_rte_abort(errorcode, message);
}

/* Lists each kind of hardware of this node, and whether this process is bound to one of that kind
 * now. */
int tern_mpi_get_hw_resource_info(struct tern_info **ret_hw_info)
{
    int32_t parts[TERN_HW_KINDS];
    bool exists[TERN_HW_KINDS];
    struct tern_info *info;
    int error = tern_mpi_info_create(&info);

    if (error)
        return error;
    tern_rte_hw_places("", parts, exists);
    for (int kind = 0; kind < TERN_HW_KINDS && !error; kind++)
        if (exists[kind])
            error = tern_info_put(info, tern_rte_hw_name((enum tern_hw_kind)kind),
                                  parts[kind] == TERN_HW_NOT_BOUND ? "false" : "true");
    if (error) {
        tern_info_release(info);
        return error;
    }
    *ret_hw_info = info;
    return 0;
}

/* Small blocks would waste a page each. */
static void *take_block(MPI_Aint size, size_t alignment)
{
    static struct tern_param_kept least;
    int64_t from = tern_param_keep(&least, "rma_alloc_mem_from");
    void *base;
    return from && size >= from && !tern_shared_block_take((size_t)size, alignment, false, &base)
               ? base
               : NULL;
}

int tern_mpi_alloc_mem(MPI_Aint size, struct tern_info *info, void *baseptr)
{
    size_t alignment = tern_info_alignment(info);
    void *memory = take_block(size, alignment);

    if (!memory && posix_memalign(&memory, alignment, size > 0 ? (size_t)size : 1) != 0)
        return tern_free_memory_unmapped("the block", (uint64_t)size, true);
    memcpy(baseptr, &memory, sizeof memory);
    return 0;
}

int tern_mpi_free_mem(void *base)
{
    if (!tern_shared_block_give(base))
        free(base);
    return 0;
}

double tern_mpi_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the step of the clock, or the step of a double as large as the time now, whichever is
 * coarser. */
double tern_mpi_wtick(void)
{
    struct timespec tick;
    clock_getres(CLOCK_MONOTONIC, &tick);
    double now = tern_mpi_wtime(), next, clock = (double)tick.tv_sec + 1e-9 * (double)tick.tv_nsec;
    uint64_t bits;
    memcpy(&bits, &now, sizeof bits);
    bits++; /* the next larger number, if the number is positive */
    memcpy(&next, &bits, sizeof next);
    return next - now > clock ? next - now : clock;
}

int tern_mpi_pcontrol(const int level)
{
    (void)level; /* there is no profiling library */
    return 0;
}
