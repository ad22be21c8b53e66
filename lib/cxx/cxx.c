/* SPDX-License-Identifier: BSD-3-Clause */

/*
 * libmpi_cxx.so.40, as much of it as programs need that were built by Open MPI's mpicxx and speak C. Its mpi.h carried
 * the C++ bindings that MPI-3.0 removed: classes whose vtables every such program holds, and whose few functions that
 * were not inline it expects from here, whether it ever calls them or not. They are C++ in name and calling convention
 * only, so this is C, and a C++ run-time library is not needed.
 *
 * An object of such a class is a vtable pointer and a handle. The rest of the bindings (MPI::Init, MPI::COMM_WORLD,
 * ...) is not here.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

struct cxx_win {
    const void *vtable;
    MPI_Win handle;
};

struct cxx_datatype {
    const void *vtable;
    MPI_Datatype handle;
};

struct cxx_comm {
    const void *vtable;
    MPI_Comm handle;
};

/* Windows may be absent from libmpi; a program cannot have made one then. */
extern int MPI_Win_free(MPI_Win *win) __attribute__((weak));

/* MPI::Datatype's vtable: two words (offset to top, type) before the functions. The program holds it. */
extern const void *const datatype_vtable[] __asm__("_ZTVN3MPI8DatatypeE") __attribute__((weak));

/* void MPI::Win::Free() */
EXPORT void cxx_win_free(struct cxx_win *self) __asm__("_ZN3MPI3Win4FreeEv");

void cxx_win_free(struct cxx_win *self)
{
    if (!MPI_Win_free) {
        fputs("MPI::Win::Free: this libmpi.so.40 has no one-sided communication\n", stderr);
        abort();
    }
    MPI_Win_free(&self->handle);
}

/* void MPI::Datatype::Free() */
EXPORT void cxx_datatype_free(struct cxx_datatype *self) __asm__("_ZN3MPI8Datatype4FreeEv");

void cxx_datatype_free(struct cxx_datatype *self)
{
    MPI_Type_free(&self->handle);
}

/* MPI::Comm::Comm(), called by the constructors of the classes derived from it, which then set their own vtable. */
EXPORT void cxx_comm_construct(struct cxx_comm *self) __asm__("_ZN3MPI4CommC2Ev");

void cxx_comm_construct(struct cxx_comm *self)
{
    self->handle = MPI_COMM_NULL;
}

/* The function that MPI::Op::Init gives to MPI_Op_create, with the user's own, a C++ one, as the last argument:
 * void (const void *in, void *inout, int count, const MPI::Datatype &datatype). */
typedef void user_function(const void *in, void *inout, int count, const struct cxx_datatype *datatype);

EXPORT void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, MPI_Datatype *datatype, user_function *user);

void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, MPI_Datatype *datatype, user_function *user)
{
    struct cxx_datatype object = {datatype_vtable ? datatype_vtable + 2 : NULL, *datatype};
    user(in, inout, *count, &object);
}
