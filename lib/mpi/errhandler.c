/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Error handlers, and the way from an internal code to what the user sees.
 *
 * Only generated entry points come here, as the last thing they do and after the lock was given up:
 * a user's handler may leave by longjmp or a C++ exception (the library is compiled with
 * -fexceptions for that), or call MPI again. So no function in this file touches anything of the
 * communicator after the handler was called.
 */

#include "lib/mpi/errhandler.h"

#include "lib/mpi/comm.h"
#include "lib/mpi/fortran.h"
#include "lib/mpi/init.h"
#include "lib/rte/rte.h"
#include "lib/util/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/mpi/procedures.h"

#define PREDEFINED(symbol, of_kind)                                                                \
    {                                                                                              \
        .obj = {.handle = (struct tern_handle *)&symbol, .refs = 1}, .kind = of_kind               \
    }
struct tern_errhandler tern_errhandler_errors_are_fatal =
    PREDEFINED(ompi_mpi_errors_are_fatal, TERN_ERRHANDLER_FATAL);
struct tern_errhandler tern_errhandler_errors_abort =
    PREDEFINED(ompi_mpi_errors_abort, TERN_ERRHANDLER_FATAL);
/* Without Open MPI's C++ bindings there is nobody to throw. */
struct tern_errhandler tern_errhandler_errors_throw_exceptions =
    PREDEFINED(ompi_mpi_errors_throw_exceptions, TERN_ERRHANDLER_FATAL);
struct tern_errhandler tern_errhandler_errors_return =
    PREDEFINED(ompi_mpi_errors_return, TERN_ERRHANDLER_RETURN);

/* What the next tern_raise of this thread has to know beyond its arguments. */
static __thread struct {
    struct tern_comm *comm;
    bool succeed; /* MPI_Comm_call_errhandler: calling the handler is the success */
} next;

static bool predefined(const struct tern_errhandler *errhandler)
{
    return errhandler->kind == TERN_ERRHANDLER_FATAL || errhandler->kind == TERN_ERRHANDLER_RETURN;
}

void tern_errhandler_retain(struct tern_errhandler *errhandler)
{
    if (!predefined(errhandler))
        errhandler->obj.refs++;
}

void tern_errhandler_release(struct tern_errhandler *errhandler)
{
    if (predefined(errhandler) || --errhandler->obj.refs > 0)
        return;
    tern_fortran_drop(&errhandler->obj);
    errhandler->obj.own.magic = TERN_MAGIC_FREED;
    free(errhandler);
}

void tern_raise_next_on(struct tern_comm *comm)
{
    next.comm = comm;
}

void tern_raise_not_running(const char *procedure)
{
    if (tern_state == TERN_STATE_BEFORE || tern_state == TERN_STATE_STARTING)
        tern_log("%s was called before MPI_Init; call MPI_Init or MPI_Init_thread first",
                 procedure);
    else
        tern_log("%s was called after MPI_Finalize; call it before", procedure);
    if (tern_rte.size > 0 && tern_state != TERN_STATE_ENDED)
        tern_rte_abort(1, NULL);
    _exit(1);
}

static void compose(char *text, size_t room, const char *procedure, int code, int class)
{
    char meaning[MPI_MAX_ERROR_STRING];
    const char *name = tern_error_class_name(class);
    int length;

    if (code < 0)
        snprintf(text, room, "%s: %s%s%s%s", procedure, tern_error_text(code), *name ? " (" : "",
                 name, *name ? ")" : "");
    else if (tern_mpi_error_string(code, meaning, &length) == 0)
        snprintf(text, room, "%s: %s", procedure, meaning);
    else
        snprintf(text, room, "%s: error code %d", procedure, code);
}

int tern_raise_comm(struct tern_comm *comm, const char *procedure, int code)
{
    bool succeed = next.succeed;
    comm = comm ? comm : next.comm ? next.comm : &tern_comm_world;
    next.comm = NULL;
    next.succeed = false;

    int class = tern_error_class(code);
    char text[1024];
    compose(text, sizeof text, procedure, code, class);
    tern_error_clear();
    if (!tern_running()) /* one of the procedures that may be called at any time; there is no
                            communicator to ask */
        tern_rte_abort(class, text);
    struct tern_errhandler *errhandler =
        comm->errhandler ? comm->errhandler : &tern_errhandler_errors_are_fatal;
    if (errhandler->kind == TERN_ERRHANDLER_FATAL)
        tern_rte_abort(class, text);
    if (errhandler->kind == TERN_ERRHANDLER_COMM) {
        MPI_Comm handle = (MPI_Comm)comm->obj.handle;
        int given = class;
        errhandler->function.comm(&handle, &given, text, NULL);
    }
    return succeed ? MPI_SUCCESS : class;
}

int tern_mpi_comm_create_errhandler(MPI_Comm_errhandler_function *function,
                                    struct tern_errhandler **ret_errhandler)
{
    struct tern_errhandler *errhandler = malloc(sizeof *errhandler);
    if (!errhandler)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an error handler");
    tern_object_init(&errhandler->obj, TERN_MAGIC_ERRHANDLER);
    errhandler->kind = TERN_ERRHANDLER_COMM;
    errhandler->function.comm = function;
    *ret_errhandler = errhandler;
    return 0;
}

int tern_mpi_comm_set_errhandler(struct tern_comm *comm, struct tern_errhandler *errhandler)
{
    if (errhandler->kind == TERN_ERRHANDLER_WIN || errhandler->kind == TERN_ERRHANDLER_FILE)
        return tern_error(TERN_ERR_ERRHANDLER,
                          "errhandler was made for %s; make one with MPI_Comm_create_errhandler",
                          errhandler->kind == TERN_ERRHANDLER_WIN ? "windows" : "files");
    tern_errhandler_retain(errhandler);
    if (comm->errhandler)
        tern_errhandler_release(comm->errhandler);
    comm->errhandler = errhandler;
    return 0;
}

int tern_mpi_comm_get_errhandler(struct tern_comm *comm, struct tern_errhandler **ret_errhandler)
{
    struct tern_errhandler *errhandler =
        comm->errhandler ? comm->errhandler : &tern_errhandler_errors_are_fatal;
    tern_errhandler_retain(errhandler);
    *ret_errhandler = errhandler;
    return 0;
}

int tern_mpi_comm_call_errhandler(struct tern_comm *comm, int errorcode)
{
    char text[MPI_MAX_ERROR_STRING];
    int length;

    (void)comm; /* the entry point raises on it */
    int error = tern_mpi_error_string(errorcode, text, &length);
    if (error)
        return error;
    next.succeed = true;
    return errorcode;
}

int tern_mpi_errhandler_free(struct tern_errhandler **errhandler)
{
    tern_errhandler_release(*errhandler);
    *errhandler = NULL;
    return 0;
}
