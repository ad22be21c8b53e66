/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_ERRHANDLER_H
#define TERN_ERRHANDLER_H

/* Error handlers, and error codes (error_codes.c). See MPI-4.1 chapter 9. */

#include "lib/util/base/error.h"
#include "lib/util/base/handle.h"

#include <mpi.h>
#include <stdbool.h>

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

struct tern_face;

/* An error handler. */
struct tern_errhandler {
    struct tern_object obj;
    enum tern_errhandler_kind kind;
    const struct tern_face *face; /* how the function is called (face.h); NULL: from C */
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

/* Take or drop a reference; the first returns the handler. The user's handle and every object with
 * this handler hold one. Predefined handlers are never freed. */
struct tern_errhandler *tern_errhandler_retain(struct tern_errhandler *errhandler);
void tern_errhandler_release(struct tern_errhandler *errhandler);

/* Makes a user's handler with one reference. Its function is not set yet. Returns 0 or
 * TERN_ERR_NO_MEM. */
int tern_errhandler_new(enum tern_errhandler_kind kind, struct tern_errhandler **ret_errhandler);
/* Makes the handler that of an object, which holds a reference in *place, or NULL. Returns
 * TERN_ERR_ERRHANDLER if the handler is for other objects. */
int tern_errhandler_put(enum tern_errhandler_kind kind, struct tern_errhandler **place,
                        struct tern_errhandler *errhandler);
/* Returns 0 if the handler is predefined or of the wanted kind, else TERN_ERR_ERRHANDLER. */
int tern_errhandler_check_kind(const struct tern_errhandler *errhandler,
                               enum tern_errhandler_kind wanted);
/* Returns the handler that new communicators have, and that is called where no other handler
 * applies: the parameter mpi_initial_errhandler. Always a predefined handler. */
struct tern_errhandler *tern_errhandler_initial(void);

/* Returns what a procedure returns after a callback of the program's has returned `code`. An error
 * code passes through; a negative number, which is none, becomes TERN_ERR_OTHER. Unless `code` is
 * 0, records a text: `format`, as in "the copy callback of keyval 3", and what it returned. */
int tern_error_of_callback(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the name ("MPI_ERR_RANK") of a predefined error class, or "" if no class has this
 * number. */
const char *tern_error_class_name(int class);

/* Keeps the text of an error. Until the next one, MPI_Error_string says it for `class` in this
 * thread: where errors are returned, nobody else would say what was found. */
void tern_error_keep_text(int class, const char *text);

/* The highest error code used so far (MPI_LASTUSEDCODE). */
extern int tern_error_last_used;

#endif
