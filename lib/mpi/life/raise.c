/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * Turns an internal error code into what the user sees (MPI-4.1 sections 9.3 and 11.2).
 *
 * Only generated entry points call these functions, as the last thing they do and after they have
 * released the lock. A user's handler may leave by longjmp or a C++ exception (the library is
 * compiled with -fexceptions for that), or call MPI again. So after the handler was called, no
 * function in this file touches the object or has a reference to drop. Another thread may set
 * another handler at that moment. So the function to call is copied under the library's lock.
 *
 * An error belongs to an object with a handler, usually a communicator. An error that belongs to no
 * object goes to MPI_COMM_WORLD, or to MPI_COMM_SELF if mpi_compat_mpi3 is 0. While that
 * communicator does not exist (before MPI_Init, after MPI_Finalize, or with sessions only), the
 * error goes to the initial error handler.
 */

#include "lib/mpi/life/raise.h"

#include "lib/mpi/object/gate.h"
#include "lib/mpi/object/comm.h"
#include "lib/mpi/object/errhandler.h"
#include "lib/mpi/object/errhandler_throw.h"
#include "lib/mpi/object/face.h"
#include "lib/mpi/object/fortran.h"
#include "lib/mpi/object/raise_next.h"
#include "lib/mpi/object/running.h"
#include "lib/mpi/object/session.h"
#include "lib/mpi/win/win.h"
#include "lib/pml/pml.h"
#include "lib/rte/rte.h"
#include "lib/util/base/log.h"
#include "lib/settings/param.h"

#include <stdio.h>
#include <string.h>

#include "lib/mpi/procedures.h"

struct tern_object tern_raise_later;

static void compose(char *text, size_t room, const char *procedure, int code, int class)
{
    char meaning[MPI_MAX_ERROR_STRING];
    const char *name = tern_error_class_name(class);
    bool found = tern_error_recorded(code); /* also a code that a callback returned */
    int length;

    if (code < 0 || (found && *name))
        snprintf(text, room, "%s: %s%s%s%s", procedure, tern_error_text(code), *name ? " (" : "",
                 name, *name ? ")" : "");
    else if (tern_mpi_error_string(code, meaning, &length) == 0)
        snprintf(text, room, "%s: %s%s%s%s", procedure, found ? tern_error_text(code) : "",
                 found ? " (" : "", meaning, found ? ")" : "");
    else
        snprintf(text, room, "%s: error code %d", procedure, code);
}

/* Ends the processes of a communicator. The launcher ends the others, too, unless it was told to
 * let them go on. So for a group of more than one process, ends the whole job. */
static _Noreturn void abort_comm(const struct tern_comm *comm, int status, const char *text)
{
    if (!comm || comm->group->size > 1 || comm->remote_group)
        tern_rte_abort(status, text);
    tern_rte_abort_self(status, text);
}

/* The function to call, and the handle to pass. */
struct raised_on {
    enum tern_errhandler_kind kind;
    const struct tern_face *face;
    union tern_errhandler_function function;
    struct tern_comm *comm;
    MPI_Comm comm_handle;
    MPI_Session session_handle;
    MPI_Win win_handle;
    MPI_File file_handle;
};

static void take_handler(struct raised_on *on, const struct tern_errhandler *errhandler)
{
    on->kind = errhandler->kind;
    on->face = errhandler->face;
    on->function = errhandler->function;
}

static void raise_on_comm(struct raised_on *on, struct tern_comm *comm)
{
    bool has = comm && comm->errhandler;
    take_handler(on, has ? comm->errhandler : tern_errhandler_initial());
    if (has && on->kind == TERN_ERRHANDLER_THROW) {
        on->function.comm =
            ((struct tern_errhandler_throw *)&ompi_mpi_errors_throw_exceptions)->comm;
        on->kind = on->function.comm ? TERN_ERRHANDLER_COMM : TERN_ERRHANDLER_FATAL;
    }
    on->comm = comm;
    if (comm)
        on->comm_handle = (MPI_Comm)comm->obj.handle;
}

/* Returns the communicator whose handler is called for errors that belong to no object. */
static struct tern_comm *without_object(void)
{
    return tern_param_bool("mpi_compat_mpi3") ? &tern_comm_world : &tern_comm_self;
}

/* Finds the handler to call. Needs the library's lock, which guards the handler of each object. */
static struct raised_on find_handler(struct tern_object *object, struct tern_comm *comm, bool held)
{
    struct raised_on on = {.comm_handle = MPI_COMM_NULL,
                           .session_handle = MPI_SESSION_NULL,
                           .file_handle = MPI_FILE_NULL};
    if (held && __atomic_load_n(&comm->obj.refs, __ATOMIC_RELAXED) == 1)
        comm = NULL; /* the user has freed it */
    if (!comm && tern_world == TERN_WORLD_RUNNING)
        comm = without_object();
    switch (object ? object->handle->magic : TERN_MAGIC_FREED) {
    case TERN_MAGIC_FREED: raise_on_comm(&on, comm); break;
    case TERN_MAGIC_SESSION:
        take_handler(&on, ((struct tern_session *)object)->errhandler);
        on.session_handle = (MPI_Session)object->handle;
        break;
    case TERN_MAGIC_WIN:
        take_handler(&on, ((struct tern_win *)object)->errhandler);
        on.comm = ((struct tern_win *)object)->comm;
        on.win_handle = (MPI_Win)object->handle;
        break;
    case TERN_MAGIC_FILE:
        take_handler(&on, ((struct tern_file_head *)object)->errhandler);
        on.file_handle = (MPI_File)object->handle;
        break;
    case TERN_MAGIC_ERRHANDLER: take_handler(&on, (struct tern_errhandler *)object); break;
    default: raise_on_comm(&on, (struct tern_comm *)object);
    }
    return on;
}

static void call_comm_handler(struct raised_on *on, int code, const char *text)
{
    tern_check_handle_lent(on->comm_handle);
    if (on->face)
        on->face->errhandler((tern_face_function *)on->function.comm, TERN_MAGIC_COMM,
                             on->comm_handle, code, text);
    else
        on->function.comm(&on->comm_handle, &code, text, NULL);
}

static void call_session_handler(struct raised_on *on, int code, const char *text)
{
    if (on->face)
        on->face->errhandler((tern_face_function *)on->function.session, TERN_MAGIC_SESSION,
                             on->session_handle, code, text);
    else
        on->function.session(&on->session_handle, &code, text, NULL);
}

static void call_win_handler(struct raised_on *on, int code, const char *text)
{
    if (on->face)
        on->face->errhandler((tern_face_function *)on->function.win, TERN_MAGIC_WIN,
                             on->win_handle, code, text);
    else
        on->function.win(&on->win_handle, &code, text, NULL);
}

static void call_file_handler(struct raised_on *on, int code, const char *text)
{
    tern_check_handle_lent(on->file_handle);
    if (on->face)
        on->face->errhandler((tern_face_function *)on->function.file, TERN_MAGIC_FILE,
                             on->file_handle, code, text);
    else
        on->function.file(&on->file_handle, &code, text, NULL);
}

int tern_raise_on(struct tern_object *object, const char *procedure, int code)
{
    if (object == &tern_raise_later)
        return code;
    struct tern_raise_next next = tern_raise_next_take();
    struct tern_errhandler *of_file = object ? NULL : next.of_file;

    int class = tern_error_class(code);
    char text[1280];
    compose(text, sizeof text, procedure, code, class);
    if (code < 0 || tern_error_recorded(code))
        tern_error_keep_text(class, tern_error_text(code));
    tern_error_clear();

    tern_lock();
    struct raised_on on = find_handler(of_file ? &of_file->obj : object, next.comm, next.held);
    if (of_file) {
        on.file_handle = (MPI_File)next.file;
        tern_errhandler_release(of_file);
    }
    tern_unlock();
    if (on.kind == TERN_ERRHANDLER_ABORT)
        abort_comm(on.comm, class, text);
    if (next.held)
        tern_comm_release(next.comm);
    switch (on.kind) {
    case TERN_ERRHANDLER_FATAL:
    case TERN_ERRHANDLER_THROW: tern_rte_abort(class, text);
    case TERN_ERRHANDLER_COMM: call_comm_handler(&on, class, text); break;
    case TERN_ERRHANDLER_WIN: call_win_handler(&on, class, text); break;
    case TERN_ERRHANDLER_SESSION: call_session_handler(&on, class, text); break;
    case TERN_ERRHANDLER_FILE: call_file_handler(&on, class, text); break;
    default: break;
    }
    return next.succeed ? MPI_SUCCESS : class;
}

int tern_fortran_refuse(MPI_Comm comm, const char *procedure, const char *what)
{
    const struct tern_handle *handle = (const struct tern_handle *)comm;
    bool usable = handle && handle->magic == TERN_MAGIC_COMM && handle->state;
    struct tern_comm *on = usable ? handle->state : NULL;

    return tern_raise_on(on ? &on->obj : NULL, procedure, tern_error(TERN_ERR_BUFFER, "%s", what));
}
