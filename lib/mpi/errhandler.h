/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_H
#define TERN_ERRHANDLER_H

/* Error handlers (errhandler.c), how a nonzero result of an implementing function becomes an MPI
 * error (raise.c), and error codes (error_codes.c). MPI-4.1 chapter 9. */

#include "lib/util/error.h"
#include "lib/util/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_comm;
struct tern_request;

enum tern_errhandler_kind {
    TERN_ERRHANDLER_FATAL,  /* says the error, ends the job */
    TERN_ERRHANDLER_ABORT,  /* says the error, ends the processes of the communicator */
    /* libmpi_cxx's functions (errhandler_throw.h); FATAL where there are none */
    TERN_ERRHANDLER_THROW,
    TERN_ERRHANDLER_RETURN, /* the call returns the code */
    TERN_ERRHANDLER_COMM,   /* from here on: a user's function, for communicators */
    TERN_ERRHANDLER_WIN,
    TERN_ERRHANDLER_FILE,
    TERN_ERRHANDLER_SESSION,
};

union tern_errhandler_function {
    MPI_Comm_errhandler_function *comm;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
    MPI_Session_errhandler_function *session;
};

struct tern_errhandler {
    struct tern_object obj;
    enum tern_errhandler_kind kind;
    bool fortran; /* the function gets the object as an integer, and nothing behind the code */
    union tern_errhandler_function function;
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

/* A user's handler without its function, one reference. 0 or TERN_ERR_NO_MEM. */
int tern_errhandler_new(enum tern_errhandler_kind kind, struct tern_errhandler **ret_errhandler);
/* 0 if it is predefined or of the wanted kind, else TERN_ERR_ERRHANDLER. */
int tern_errhandler_check_kind(const struct tern_errhandler *errhandler,
                               enum tern_errhandler_kind wanted);
/* The one that communicators begin with, and that is called where there is none: parameter
 * mpi_initial_errhandler. Always a predefined one. */
struct tern_errhandler *tern_errhandler_initial(void);

/*
 * Turns `code` (TERN_ERR_*, or a positive MPI code), the result of `procedure` ("MPI_Send"), into
 * what the caller gets: composes the message from tern_error_text, calls the error handler of
 * `object` (of a struct tern_comm or tern_session; or a tern_errhandler itself, of an object that
 * could not be made, whose handle then is the null handle) and returns the MPI error code. Call it
 * last and with no lock held: the handler may longjmp, throw, or end the job. object NULL: the
 * communicator named by tern_raise_next_on, else *tern_raise_without_object; before MPI_Init and
 * after MPI_Finalize the initial error handler.
 */
int tern_raise_on(struct tern_object *object, const char *procedure, int code);

/* Where an error goes that belongs to no object: MPI_COMM_WORLD up to MPI-3.1, MPI_COMM_SELF from
 * MPI-4.0 on. */
extern struct tern_comm *tern_raise_without_object;

/* The next tern_raise_on(NULL) of this thread goes to this communicator: wait and test know only
 * inside whose request failed. It stays until then. */
void tern_raise_next_on(struct tern_comm *comm);
/* The same with a reference of the caller's, which is taken over; if it is the last one, as if the
 * communicator were not there. */
void tern_raise_next_on_held(struct tern_comm *comm);
/* The next tern_raise_on of this thread returns MPI_SUCCESS: to call the handler is what
 * MPI_Comm_call_errhandler is for. */
void tern_raise_next_succeeds(void);

/* Says that `procedure` was called before MPI_Init or after MPI_Finalize and ends the process with
 * status 1. */
_Noreturn void tern_raise_not_running(const char *procedure);

/* Name ("MPI_ERR_RANK") of a predefined error class; "" when there is none of this number. */
const char *tern_error_class_name(int class);

/* Highest code used so far (MPI_LASTUSEDCODE). */
extern int tern_error_last_used;

#endif
