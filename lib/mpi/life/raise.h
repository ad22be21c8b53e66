/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_RAISE_H
#define TERN_RAISE_H

/* How a nonzero result of an implementing function becomes an MPI error. See MPI-4.1 chapter 9. */

#include "lib/util/base/handle.h"

/*
 * Turns the result of a procedure into what the caller gets. `code` is TERN_ERR_* or a positive MPI
 * code, `procedure` a name ("MPI_Send"). Composes the message from tern_error_text, calls an error
 * handler and returns the MPI error code.
 *
 * `object` is a struct tern_comm, tern_session or tern_file, whose handler is called. It may also
 * be a struct tern_errhandler: the handler for an object that could not be made; the handler then
 * gets a null handle. If `object` is NULL, the error goes to the file or communicator named by
 * tern_raise_next_on_file or tern_raise_next_on, else to MPI_COMM_WORLD, or to MPI_COMM_SELF if the
 * parameter mpi_compat_mpi3 is 0. Before MPI_Init and after MPI_Finalize the initial error handler
 * is called.
 *
 * Call it last and hold no lock: the handler may longjmp, throw, or end the job.
 */
int tern_raise_on(struct tern_object *object, const char *procedure, int code);

/* Given to tern_raise_on as `object`: calls no handler and returns `code`, whose text stays
 * recorded. For wrong arguments of a call that other ranks wait for (`faults: told` in the table of
 * procedures): the call goes on, and fails on all ranks. */
extern struct tern_object tern_raise_later;

#endif
