/* SPDX-License-Identifier: BSD-3-Clause */

/* References to sessions, and the rule that objects of different sessions do not meet in one call
 * (MPI-4.1 section 11.3). */

#include "lib/mpi/object/session.h"

#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/info.h"
#include "lib/util/base/error.h"

#include <stdlib.h>

void tern_session_retain(struct tern_session *session)
{
    if (session)
        session->obj.refs++;
}

void tern_session_release(struct tern_session *session)
{
    if (!session || --session->obj.refs > 0)
        return;
    tern_errhandler_release(session->errhandler);
    tern_info_release(session->info);
    free(session);
}

int tern_session_check_same(const char *name_a, const struct tern_session *a, const char *name_b,
                            const struct tern_session *b)
{
    if (a == b)
        return 0;
    return tern_error(TERN_ERR_SESSION,
                      "%s comes from %s, %s from %s; expected objects of one session in one call",
                      name_a, a ? "a session" : "MPI_COMM_WORLD", name_b,
                      !b  ? "MPI_COMM_WORLD"
                      : a ? "another session"
                          : "a session");
}
