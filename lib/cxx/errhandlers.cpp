// SPDX-License-Identifier: BSD-3-Clause

/*
 * Error handlers that are functions of the C++ bindings. libmpi calls one C function for all of
 * them. The C function asks the object for its error handler, and looks up the C++ function with
 * which that handler was made.
 *
 * An entry stays when the user frees the handler, because an object may still have the handler. If
 * a handler made later gets the same address, it replaces the entry.
 */

#include "lib/cxx/callbacks.h"
#include "lib/mpi/object/errhandler_throw.h"

#include <cstdarg>
#include <cstdio>
#include <map>
#include <mutex>

using namespace MPI;

static std::mutex lock; /* guards functions() */

static std::map<MPI_Errhandler, void (*)()> &functions()
{
    /* Never destroyed: an error may come after the destructors of static objects. */
    static auto &map = *new std::map<MPI_Errhandler, void (*)()>;
    return map;
}

/* Returns the function of a handler, or NULL if the handler was not made here. Drops the reference
 * `errhandler`. */
static void (*function_of(MPI_Errhandler errhandler))()
{
    std::lock_guard<std::mutex> guard(lock);
    auto found = functions().find(errhandler);
    if (errhandler != MPI_ERRHANDLER_NULL)
        PMPI_Errhandler_free(&errhandler);
    return found == functions().end() ? nullptr : found->second;
}

static MPI_Errhandler keep(MPI_Errhandler errhandler, void (*function)())
{
    std::lock_guard<std::mutex> guard(lock);
    functions()[errhandler] = function;
    return errhandler;
}

void ompi_mpi_cxx_comm_errhandler_invoke(MPI_Comm *comm, int *code, const char *message,
                                         void (*function)())
{
    auto *handler = reinterpret_cast<Comm::Errhandler_function *>(function);
    int inter = 0;
    if (*comm != MPI_COMM_NULL)
        PMPI_Comm_test_inter(*comm, &inter);
    if (inter) {
        Intercomm object(*comm);
        handler(object, code, message);
    } else {
        Intracomm object(*comm);
        handler(object, code, message);
    }
}

void ompi_mpi_cxx_win_errhandler_invoke(MPI_Win *win, int *code, const char *message,
                                        void (*function)())
{
    Win object(*win);
    reinterpret_cast<Win::Errhandler_function *>(function)(object, code, message);
}

void ompi_mpi_cxx_file_errhandler_invoke(MPI_File *file, int *code, const char *message,
                                         void (*function)())
{
    File object(*file);
    reinterpret_cast<File::Errhandler_function *>(function)(object, code, message);
}

/* Reads the message, the first of the further arguments that libmpi passes to an error handler. */
#define MESSAGE(last)                                                                              \
    va_list arguments;                                                                             \
    va_start(arguments, last);                                                                     \
    const char *message = va_arg(arguments, const char *);                                         \
    va_end(arguments)

static void comm_error(MPI_Comm *comm, int *code, ...)
{
    MESSAGE(code);
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    PMPI_Comm_get_errhandler(*comm, &errhandler);
    if (auto function = function_of(errhandler))
        ompi_mpi_cxx_comm_errhandler_invoke(comm, code, message, function);
}

static void win_error(MPI_Win *win, int *code, ...)
{
    MESSAGE(code);
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    MPI_Win_get_errhandler(*win, &errhandler);
    if (auto function = function_of(errhandler))
        ompi_mpi_cxx_win_errhandler_invoke(win, code, message, function);
}

static void file_error(MPI_File *file, int *code, ...)
{
    MESSAGE(code);
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    MPI_File_get_errhandler(*file, &errhandler);
    if (auto function = function_of(errhandler))
        ompi_mpi_cxx_file_errhandler_invoke(file, code, message, function);
}

MPI_Errhandler ompi_cxx_errhandler_create_comm(void (*function)())
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int error = MPI_Comm_create_errhandler(comm_error, &made);
    return error == MPI_SUCCESS ? keep(made, function) : MPI_ERRHANDLER_NULL;
}

MPI_Errhandler ompi_cxx_errhandler_create_win(void (*function)())
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int error = MPI_Win_create_errhandler(win_error, &made);
    return error == MPI_SUCCESS ? keep(made, function) : MPI_ERRHANDLER_NULL;
}

MPI_Errhandler ompi_cxx_errhandler_create_file(void (*function)())
{
    MPI_Errhandler made = MPI_ERRHANDLER_NULL;
    int error = MPI_File_create_errhandler(file_error, &made);
    return error == MPI_SUCCESS ? keep(made, function) : MPI_ERRHANDLER_NULL;
}

int ompi_cxx_errhandler_invoke_comm(MPI_Comm comm, int code, const char *)
{
    PMPI_Comm_call_errhandler(comm, code);
    return code;
}

int ompi_cxx_errhandler_invoke_file(MPI_File file, int code, const char *)
{
    MPI_File_call_errhandler(file, code);
    return code;
}

/* ---- ERRORS_THROW_EXCEPTIONS ---- */

static void throw_error(int code, const char *message)
{
    std::fprintf(stderr,
                 "%s\nMPI::ERRORS_THROW_EXCEPTIONS throws nothing here, as in Debian's Open MPI; "
                 "MPI::mpi_errno is %d\n",
                 message, code);
    mpi_errno = code;
}

void ompi_mpi_cxx_throw_exception(int *code)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;
    PMPI_Error_string(*code, text, &length);
    throw_error(*code, text);
}

void ompi_mpi_cxx_comm_throw_excptn_fctn(MPI_Comm *, int *code, ...)
{
    MESSAGE(code);
    throw_error(*code, message);
}

void ompi_mpi_cxx_win_throw_excptn_fctn(MPI_Win *, int *code, ...)
{
    MESSAGE(code);
    throw_error(*code, message);
}

void ompi_mpi_cxx_file_throw_excptn_fctn(MPI_File *, int *code, ...)
{
    MESSAGE(code);
    throw_error(*code, message);
}

void ompi_cxx_errhandler_set_callbacks(MPI_Errhandler errhandler,
                                       MPI_Comm_errhandler_function *comm,
                                       MPI_File_errhandler_function *file,
                                       MPI_Win_errhandler_function *win)
{
    struct tern_errhandler_throw *functions =
        reinterpret_cast<struct tern_errhandler_throw *>(errhandler);
    functions->comm = comm;
    functions->file = file;
    functions->win = win;
}

namespace MPI {

Errhandler Comm::Create_errhandler(Errhandler_function *function)
{
    return ompi_cxx_errhandler_create_comm(reinterpret_cast<void (*)()>(function));
}

Errhandler Win::Create_errhandler(Errhandler_function *function)
{
    return ompi_cxx_errhandler_create_win(reinterpret_cast<void (*)()>(function));
}

Errhandler File::Create_errhandler(Errhandler_function *function)
{
    return ompi_cxx_errhandler_create_file(reinterpret_cast<void (*)()>(function));
}

void InitializeIntercepts()
{
    ompi_cxx_errhandler_set_callbacks(
        &ompi_mpi_errors_throw_exceptions, ompi_mpi_cxx_comm_throw_excptn_fctn,
        ompi_mpi_cxx_file_throw_excptn_fctn, ompi_mpi_cxx_win_throw_excptn_fctn);
}

} // namespace MPI
