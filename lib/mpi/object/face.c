/* SPDX-License-Identifier: BSD-3-Clause */
#include "lib/mpi/object/face.h"

#include "lib/mpi/object/fortran.h"

static __thread const struct tern_face *caller;

void tern_face_calls(const struct tern_face *face)
{
    caller = face;
}

const struct tern_face *tern_face_caller(void)
{
    const struct tern_face *face = caller;
    caller = NULL;
    return face;
}

size_t tern_face_info_key(void)
{
    return caller && caller->info_key ? caller->info_key : MPI_MAX_INFO_KEY;
}

size_t tern_face_info_value(void)
{
    return caller && caller->info_value ? caller->info_value : MPI_MAX_INFO_VAL;
}

void tern_fortran_calls(enum tern_language language)
{
    static const struct tern_face *const faces[] = {
        [TERN_LANGUAGE_C] = NULL,
        [TERN_LANGUAGE_FORTRAN] = &tern_face_fortran,
        [TERN_LANGUAGE_FORTRAN_77] = &tern_face_fortran_77,
    };
    caller = faces[language];
}

enum tern_language tern_fortran_caller(void)
{
    const struct tern_face *face = tern_face_caller();
    return face ? face->language : TERN_LANGUAGE_C;
}

/* ---- Fortran: handles are integers, and error codes come back in the last argument ---- */

typedef void fortran_op(void *in, void *inout, MPI_Fint *count, MPI_Fint *datatype);
typedef void fortran_op_c(void *in, void *inout, MPI_Count *count, MPI_Fint *datatype);
typedef void fortran_errhandler(MPI_Fint *handle, MPI_Fint *code);

static void op(tern_face_function *fn, void *in, void *inout, int *count, MPI_Datatype datatype)
{
    MPI_Fint index = tern_fortran_index((struct tern_handle *)datatype);
    ((fortran_op *)fn)(in, inout, count, &index);
}

static void op_c(tern_face_function *fn, void *in, void *inout, MPI_Count *count,
                 MPI_Datatype datatype)
{
    MPI_Fint index = tern_fortran_index((struct tern_handle *)datatype);
    ((fortran_op_c *)fn)(in, inout, count, &index);
}

/* A handler in Fortran has no arguments after the code. */
static void errhandler(tern_face_function *fn, enum tern_magic magic, void *handle, int code,
                       const char *text)
{
    (void)magic, (void)text;
    MPI_Fint index = tern_fortran_index(handle);
    ((fortran_errhandler *)fn)(&index, &code);
}

/* The functions of a generalized request get the variable that the program passed to
 * MPI_Grequest_start: they may write there, and see what was written since. */
typedef void fortran_query(MPI_Aint *extra_state, MPI_Status *status, MPI_Fint *ierror);
typedef void fortran_free(MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void fortran_cancel(MPI_Aint *extra_state, MPI_Fint *complete, MPI_Fint *ierror);

static int query(tern_face_function *fn, void *extra_state, MPI_Status *status)
{
    MPI_Fint ierror = MPI_SUCCESS;
    ((fortran_query *)fn)(extra_state, status, &ierror);
    return ierror;
}

static int free_request(tern_face_function *fn, void *extra_state)
{
    MPI_Fint ierror = MPI_SUCCESS;
    ((fortran_free *)fn)(extra_state, &ierror);
    return ierror;
}

static int cancel(tern_face_function *fn, void *extra_state, int complete)
{
    MPI_Fint ierror = MPI_SUCCESS;
    ((fortran_cancel *)fn)(extra_state, &complete, &ierror);
    return ierror;
}

#define FORTRAN(kind)                                                                              \
    {                                                                                              \
        .language = kind, .op = op, .op_c = op_c, .errhandler = errhandler, .query = query,        \
        .free = free_request, .cancel = cancel,                                                    \
    }
const struct tern_face tern_face_fortran = FORTRAN(TERN_LANGUAGE_FORTRAN);
const struct tern_face tern_face_fortran_77 = FORTRAN(TERN_LANGUAGE_FORTRAN_77);
