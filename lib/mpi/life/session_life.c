/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Starts and ends sessions (MPI-4.1 section 11.3). Both are local: processes learn everything about
 * each other when they make a communicator (lib/mpi/comm/comm_from_group.c).
 */

#include "lib/mpi/message/buffer.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/info.h"
#include "lib/mpi/life/library.h"
#include "lib/mpi/procedures.h"
#include "lib/mpi/object/running.h"
#include "lib/mpi/object/session.h"
#include "lib/pml/pml.h"
#include "lib/util/base/error.h"
#include "lib/util/machine/memory_kinds.h"

#include <stdlib.h>

/*
 * Finds the thread level that `info` asks for. The default is MPI_THREAD_MULTIPLE, because
 * independent parts of a program use sessions without knowing of each other.
 */
static int wanted_level(const struct tern_info *info, int *ret_level)
{
    const char *name = tern_info_find(info, "thread_level");
    int level = name ? tern_thread_level_of(name) : MPI_THREAD_MULTIPLE;
    if (level < 0)
        return tern_error(TERN_ERR_INFO_VALUE,
                          "info has thread_level \"%s\"; expected MPI_THREAD_SINGLE, "
                          "MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE",
                          name);
    *ret_level = level;
    return 0;
}

/* Collects the hints of `info` that are known here, with the values in use. */
static int used_hints(int level, struct tern_info **ret_info)
{
    struct tern_info *info = tern_info_new();
    if (!info)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a session");
    int rc = tern_info_put(info, "thread_level", tern_thread_level_name(level));
    if (!rc)
        rc = tern_info_put(info, "mpi_memory_alloc_kinds", tern_memory_kinds);
    if (rc) {
        tern_info_release(info);
        return rc;
    }
    *ret_info = info;
    return 0;
}

int tern_mpi_session_init(struct tern_info *info, struct tern_errhandler *errhandler,
                          struct tern_session **ret_session)
{
    int level = MPI_THREAD_MULTIPLE;
    int rc = tern_errhandler_check_kind(errhandler, TERN_ERRHANDLER_SESSION);
    if (!rc)
        rc = wanted_level(info, &level);
    if (rc)
        return rc;
    struct tern_session *session = calloc(1, sizeof *session);
    if (!session)
        return tern_error(TERN_ERR_NO_MEM, "no memory for a session");
    rc = used_hints(level, &session->info);
    if (rc)
        goto free_session;
    rc = tern_library_retain(TERN_USER_SESSION, level);
    if (rc)
        goto release_info;
    tern_object_init(&session->obj, TERN_MAGIC_SESSION);
    tern_lock();
    tern_errhandler_retain(errhandler);
    tern_unlock();
    session->errhandler = errhandler;
    *ret_session = session;
    return 0;

release_info:
    tern_info_release(session->info);
free_session:
    free(session);
    return rc;
}

/* Ends a session. Communicators that are left belong to no session from now on. Their messages are
 * handed over when the last user of the library leaves. */
int tern_mpi_session_finalize(struct tern_session **session)
{
    struct tern_session *ended = *session;
    tern_lock();                      /* tern_wait releases it while it waits */
    tern_buffer_flush(ended->buffer); /* gives the memory back to the user */
    tern_buffer_abandon(&ended->buffer);
    tern_fortran_drop(&ended->obj);
    ended->obj.own.magic = TERN_MAGIC_FREED;
    tern_session_release(ended);
    tern_unlock();
    *session = NULL;
    tern_library_release(TERN_USER_SESSION);
    return 0;
}

int tern_mpi_session_get_info(struct tern_session *session, struct tern_info **ret_info_used)
{
    return tern_info_copy(session->info, ret_info_used);
}
