/* SPDX-License-Identifier: BSD-3-Clause */

/* What ends in the tool interface when tools or communicators end. On top of the files of each kind
 * of handle; tool.c is below them. */

#include "lib/mpi/tool/tool.h"

#include "lib/mpi/procedures.h"

int tern_mpi_t_finalize(void)
{
    int rc = tern_tool_enter();
    if (rc)
        return rc;
    if (--tern_tool_started == 0) {
        tern_tool_cvar_clear();
        tern_tool_pvar_clear();
        tern_tool_event_clear();
    }
    tern_tool_leave();
    return MPI_SUCCESS;
}

void tern_tool_forget_comm(const struct tern_comm *comm)
{
    tern_tool_lock();
    tern_tool_pvar_forget_comm(comm);
    tern_tool_event_forget_comm(comm);
    tern_tool_unlock();
}
