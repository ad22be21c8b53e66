/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_H
#define TERN_ERRHANDLER_H

/* Error handlers, and how a nonzero result of an implementing function becomes an MPI error
 * (MPI-4.1 chapter 9). */

#include "lib/util/error.h"
#include "lib/util/handle.h"

#include <mpi.h>

struct tern_comm;
struct tern_request;

enum tern_errhandler_kind {
    TERN_ERRHANDLER_FATAL,  /* says the error, ends the job */
    TERN_ERRHANDLER_RETURN, /* the call returns the code */
    TERN_ERRHANDLER_COMM,   /* a user's function; for communicators */
    TERN_ERRHANDLER_WIN,
    TERN_ERRHANDLER_FILE,
};

struct tern_errhandler {
    struct tern_object obj;
    enum tern_errhandler_kind kind;
    union {
        MPI_Comm_errhandler_function *comm;
        MPI_Win_errhandler_function *win;
        MPI_File_errhandler_function *file;
    } function;
};

extern struct tern_errhandler tern_errhandler_errors_are_fatal, tern_errhandler_errors_return;
extern struct tern_errhandler tern_errhandler_errors_abort, tern_errhandler_errors_throw_exceptions;

static inline struct tern_errhandler *tern_errhandler_of(MPI_Errhandler errhandler)
{
    return ((struct tern_handle *)errhandler)->state;
}

/* A reference: the user's handle, and every object it is set on. Predefined ones are never freed.
 */
void tern_errhandler_retain(struct tern_errhandler *errhandler);
void tern_errhandler_release(struct tern_errhandler *errhandler);

/*
 * Turns `code` (TERN_ERR_*, or a positive MPI code), the result of `procedure` ("MPI_Send"), into
 * what the caller gets: composes the message from tern_error_text, calls the error handler of
 * `comm` and returns the MPI error code. Call it last and with no lock held: the handler may
 * longjmp, throw, or end the job. comm NULL: the communicator named by tern_raise_next_on, else
 * MPI_COMM_WORLD. Before MPI_Init and after MPI_Finalize errors are fatal.
 */
int tern_raise_comm(struct tern_comm *comm, const char *procedure, int code);

/* For calls without a communicator argument. */
static inline int tern_raise(const char *procedure, int code)
{
    return tern_raise_comm(NULL, procedure, code);
}

/* The next tern_raise of this thread goes to this communicator: wait and test know only inside
 * whose request failed. */
void tern_raise_next_on(struct tern_comm *comm);

/* Says that `procedure` was called before MPI_Init or after MPI_Finalize and ends the process with
 * status 1. */
_Noreturn void tern_raise_not_running(const char *procedure);

/* Name ("MPI_ERR_RANK") of a predefined error class; "" when there is none of this number. */
const char *tern_error_class_name(int class);

/* Highest code used so far (MPI_LASTUSEDCODE). */
extern int tern_error_last_used;

#endif
