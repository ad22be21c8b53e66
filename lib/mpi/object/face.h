/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef TERN_FACE_H
#define TERN_FACE_H

/*
 * A face: the conventions of one interface to MPI, by which the program's functions are called.
 *
 * The functions that a program passes to MPI get handles and error codes. A Fortran program expects
 * integers there, a program of another binary interface expects that interface's values. So what
 * keeps such a function (an operation, an error handler, a generalized request) also keeps the face
 * of the procedure that it came by. NULL is the face of C in Open MPI's interface.
 */

#include "lib/util/base/handle.h"

#include <mpi.h>

/* The language of attribute values. */
enum tern_language {
    TERN_LANGUAGE_C,
    TERN_LANGUAGE_FORTRAN,    /* attribute values have the size of an address */
    TERN_LANGUAGE_FORTRAN_77, /* attribute values are default integers: MPI-1's procedures */
};

/* Any function of the program. */
typedef void tern_face_function(void);

struct tern_face {
    enum tern_language language;
    size_t info_key, info_value; /* room for a key and a value of an info object; 0: as in C */
    /* Calls the function of an operation; it has no more parameters than those after `fn`. */
    void (*op)(tern_face_function *fn, void *in, void *inout, int *count, MPI_Datatype datatype);
    void (*op_c)(tern_face_function *fn, void *in, void *inout, MPI_Count *count,
                 MPI_Datatype datatype);
    /* Calls the function of an error handler. `handle`: of the object, which is of kind `magic`. */
    void (*errhandler)(tern_face_function *fn, enum tern_magic magic, void *handle, int code,
                       const char *text);
    /* Call the functions of a generalized request. Return what they return. */
    int (*query)(tern_face_function *fn, void *extra_state, MPI_Status *status);
    int (*free)(tern_face_function *fn, void *extra_state);
    int (*cancel)(tern_face_function *fn, void *extra_state, int complete);
};

/* Sets the face of the next MPI call of this thread. Set NULL after that call. */
__attribute__((visibility("default"))) void tern_face_calls(const struct tern_face *face);
/* Returns the face that tern_face_calls set, and sets NULL, because callbacks may call MPI from
 * C. */
const struct tern_face *tern_face_caller(void);

/* Return the room for a key and for a value of an info object, with the final 0, in the face of the
 * call under way. */
size_t tern_face_info_key(void);
size_t tern_face_info_value(void);

/* Fortran's. */
extern const struct tern_face tern_face_fortran, tern_face_fortran_77;

#endif
