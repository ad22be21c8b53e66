/* SPDX-License-Identifier: BSD-3-Clause */

/* Error handlers (MPI-4.1 section 9.3). errhandler_set.c sets those of objects; raise.c calls
 * them. */

#include "lib/mpi/object/errhandler.h"

#include "lib/mpi/object/fortran.h"
#include "lib/settings/param.h"

#include <stdlib.h>

#include "lib/mpi/procedures.h"

#define PREDEFINED(symbol, of_kind)                                                                \
    {                                                                                              \
        .obj = {.handle = (struct tern_handle *)&symbol, .refs = 1}, .kind = of_kind               \
    }
struct tern_errhandler tern_errhandler_errors_are_fatal =
    PREDEFINED(ompi_mpi_errors_are_fatal, TERN_ERRHANDLER_FATAL);
struct tern_errhandler tern_errhandler_errors_abort =
    PREDEFINED(ompi_mpi_errors_abort, TERN_ERRHANDLER_ABORT);
struct tern_errhandler tern_errhandler_errors_throw_exceptions =
    PREDEFINED(ompi_mpi_errors_throw_exceptions, TERN_ERRHANDLER_THROW);
struct tern_errhandler tern_errhandler_errors_return =
    PREDEFINED(ompi_mpi_errors_return, TERN_ERRHANDLER_RETURN);

struct tern_file_head tern_file_null = {
    .obj = {.handle = (struct tern_handle *)&ompi_mpi_file_null, .refs = 1},
    .errhandler = &tern_errhandler_errors_return};

static bool predefined(const struct tern_errhandler *errhandler)
{
    return errhandler->kind <= TERN_ERRHANDLER_RETURN;
}

struct tern_errhandler *tern_errhandler_retain(struct tern_errhandler *errhandler)
{
    if (!predefined(errhandler))
        tern_ref(&errhandler->obj.refs);
    return errhandler;
}

void tern_errhandler_release(struct tern_errhandler *errhandler)
{
    if (predefined(errhandler) || tern_unref(&errhandler->obj.refs) > 0)
        return;
    tern_fortran_drop(&errhandler->obj);
    tern_object_free(&errhandler->obj);
}

int tern_errhandler_check_kind(const struct tern_errhandler *errhandler,
                               enum tern_errhandler_kind wanted)
{
    static const char *const made_for[] = {
        [TERN_ERRHANDLER_COMM] = "communicators",
        [TERN_ERRHANDLER_WIN] = "windows",
        [TERN_ERRHANDLER_FILE] = "files",
        [TERN_ERRHANDLER_SESSION] = "sessions",
    };
    if (predefined(errhandler) || errhandler->kind == wanted)
        return 0;
    return tern_error(TERN_ERR_ERRHANDLER, "errhandler was made for %s; expected one for %s",
                      made_for[errhandler->kind], made_for[wanted]);
}

int tern_errhandler_put(enum tern_errhandler_kind kind, struct tern_errhandler **place,
                        struct tern_errhandler *errhandler)
{
    int rc = tern_errhandler_check_kind(errhandler, kind);
    if (rc)
        return rc;
    tern_errhandler_retain(errhandler);
    if (*place)
        tern_errhandler_release(*place);
    *place = errhandler;
    return 0;
}

int tern_errhandler_new(enum tern_errhandler_kind kind, struct tern_errhandler **ret_errhandler)
{
    struct tern_errhandler *errhandler = calloc(1, sizeof *errhandler);
    if (!errhandler)
        return tern_error(TERN_ERR_NO_MEM, "no memory for an error handler");
    tern_object_init(&errhandler->obj, TERN_MAGIC_ERRHANDLER);
    errhandler->kind = kind;
    errhandler->face = tern_face_caller();
    *ret_errhandler = errhandler;
    return 0;
}

int tern_mpi_errhandler_free(struct tern_errhandler **errhandler)
{
    tern_errhandler_release(*errhandler);
    *errhandler = NULL;
    return 0;
}

struct tern_errhandler *tern_errhandler_initial(void)
{
    static struct tern_errhandler *const choices[] = { /* in the order of the parameter's */
        &tern_errhandler_errors_are_fatal,
        &tern_errhandler_errors_abort,
        &tern_errhandler_errors_return,
    };
    int choice = tern_param_choice("mpi_initial_errhandler");
    return choices[choice < 0 ? 0 : choice]; /* -1: MPI_Init refuses the value */
}
