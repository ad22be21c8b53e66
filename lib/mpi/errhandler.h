/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_H
#define TERN_ERRHANDLER_H

/* Error handlers (errhandler.c), how a nonzero result of an implementing function becomes an MPI
 * error (raise.c), and error codes (error_codes.c). See MPI-4.1 chapter 9. */

#include "lib/util/error.h"
#include "lib/util/handle.h"

#include <mpi.h>
#include <stdbool.h>

struct tern_comm;
struct tern_request;

/* What an error handler does. */
enum tern_errhandler_kind {
    TERN_ERRHANDLER_FATAL, /* reports the error, ends the job */
    TERN_ERRHANDLER_ABORT, /* reports the error, ends the processes of the communicator */
    /* calls the functions of libmpi_cxx (errhandler_throw.h); is FATAL if they are not set */
    TERN_ERRHANDLER_THROW,
    TERN_ERRHANDLER_RETURN,  /* the call returns the code */
    TERN_ERRHANDLER_COMM,    /* from here on: calls a user's function; this one for communicators */
    TERN_ERRHANDLER_WIN,     /* a user's function for windows */
    TERN_ERRHANDLER_FILE,    /* a user's function for files */
    TERN_ERRHANDLER_SESSION, /* a user's function for sessions */
};

/* A user's function; the kind of the handler tells which member is set. */
union tern_errhandler_function {
    MPI_Comm_errhandler_function *comm;
    MPI_Win_errhandler_function *win;
    MPI_File_errhandler_function *file;
    MPI_Session_errhandler_function *session;
};

/* An error handler. */
struct tern_errhandler {
    struct tern_object obj;
    enum tern_errhandler_kind kind;
    /* true if the function takes the object as an integer, and no arguments after the code */
    bool fortran;
    union tern_errhandler_function function;
};

/* What each struct tern_file (lib/io/file.h) begins with: all that lib/mpi knows of a file. */
struct tern_file_head {
    struct tern_object obj;
    struct tern_errhandler *errhandler; /* the error handler; a reference */
};
/* MPI_FILE_NULL. Its handler is the one that new files get, and that is called for errors of calls
 * that belong to no open file. */
extern struct tern_file_head tern_file_null;

/* The predefined handlers. */
extern struct tern_errhandler tern_errhandler_errors_are_fatal, tern_errhandler_errors_return;
extern struct tern_errhandler tern_errhandler_errors_abort, tern_errhandler_errors_throw_exceptions;

/* Returns the error handler of a valid handle. */
static inline struct tern_errhandler *tern_errhandler_of(MPI_Errhandler errhandler)
{
    return ((struct tern_handle *)errhandler)->state;
}

/* Take or drop a reference. The user's handle and every object with this handler hold one.
 * Predefined handlers are never freed. */
void tern_errhandler_retain(struct tern_errhandler *errhandler);
void tern_errhandler_release(struct tern_errhandler *errhandler);

/* Makes a user's handler with one reference. Its function is not set yet. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_errhandler_new(enum tern_errhandler_kind kind, struct tern_errhandler **ret_errhandler);
/* Returns 0 if the handler is predefined or of the wanted kind, else TERN_ERR_ERRHANDLER. */
int tern_errhandler_check_kind(const struct tern_errhandler *errhandler,
                               enum tern_errhandler_kind wanted);
/* Returns the handler that new communicators have, and that is called where no other handler
 * applies: the parameter mpi_initial_errhandler. Always a predefined handler. */
struct tern_errhandler *tern_errhandler_initial(void);

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

/* Names the communicator for the next tern_raise_on(NULL) of this thread. For wait and test, where
 * only the implementation knows which request failed. The name stays until that call. */
void tern_raise_next_on(struct tern_comm *comm);
/* Does what tern_raise_next_on does and takes over the caller's reference to `comm`. If that
 * reference is the last one, ignores the communicator. */
void tern_raise_next_on_held(struct tern_comm *comm);
/* Names a file for the next tern_raise_on(NULL) of this thread: its handler is called instead of a
 * communicator's. For wait and test of a file's request. Takes a reference to the handler. */
void tern_raise_next_on_file(struct tern_file_head *file);
/* Lets the next tern_raise_on of this thread return MPI_SUCCESS. For MPI_Comm_call_errhandler,
 * which succeeds by calling the handler. */
void tern_raise_next_succeeds(void);

/* Reports that `procedure` was called before MPI_Init or after MPI_Finalize, and ends the process
 * with status 1. */
_Noreturn void tern_raise_not_running(const char *procedure);
/* Ends the job, because a child made by fork called the procedure. */
_Noreturn void tern_raise_forked(const char *procedure);

/* Returns the name ("MPI_ERR_RANK") of a predefined error class, or "" if no class has this
 * number. */
const char *tern_error_class_name(int class);

/* Keeps the text of an error. Until the next one, MPI_Error_string says it for `class` in this
 * thread: where errors are returned, nobody else would say what was found. */
void tern_error_keep_text(int class, const char *text);

/* The highest error code used so far (MPI_LASTUSEDCODE). */
extern int tern_error_last_used;

#endif
