// SPDX-License-Identifier: BSD-3-Clause

/* Callbacks of operations, generalized requests and data representations of files. */

#include "lib/cxx/callbacks.h"

#include <new>

using namespace MPI;

void ompi_mpi_cxx_op_intercept(void *in, void *inout, int *count, MPI_Datatype *datatype,
                               MPI_User_function *function)
{
    Datatype object(*datatype);
    reinterpret_cast<User_function *>(function)(in, inout, *count, object);
}

int ompi_mpi_cxx_grequest_query_fn_intercept(void *extra, MPI_Status *status)
{
    const Grequest::callbacks *callbacks = static_cast<Grequest::callbacks *>(extra);
    Status object(*status);
    int code = callbacks->query(callbacks->extra_state, object);
    *status = object;
    return code;
}

int ompi_mpi_cxx_grequest_free_fn_intercept(void *extra)
{
    Grequest::callbacks *callbacks = static_cast<Grequest::callbacks *>(extra);
    int code = callbacks->free(callbacks->extra_state);
    delete callbacks;
    return code;
}

int ompi_mpi_cxx_grequest_cancel_fn_intercept(void *extra, int complete)
{
    const Grequest::callbacks *callbacks = static_cast<Grequest::callbacks *>(extra);
    return callbacks->cancel(callbacks->extra_state, complete);
}

/* ---- data representations ---- */

/* Open MPI's record, followed by the user's C functions, which are also called from here, with the
 * user's extra_state. A data representation lives until MPI_Finalize; so does its record. */
namespace {
struct datarep : ompi_cxx_intercept_file_extra_state_t {
    MPI_Datarep_conversion_function *c_read, *c_write;
};
} // namespace

static int convert(Datarep_conversion_function *function, void *userbuf, MPI_Datatype type,
                   int count, void *filebuf, MPI_Offset position, void *extra_state)
{
    Datatype object(type);
    function(userbuf, object, count, filebuf, position, extra_state);
    return MPI_SUCCESS;
}

static int read_datarep(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                        MPI_Offset position, void *extra)
{
    const datarep *of = static_cast<datarep *>(extra);
    if (of->c_read)
        return of->c_read(userbuf, type, count, filebuf, position, of->extra_state);
    return convert(reinterpret_cast<Datarep_conversion_function *>(of->read), userbuf, type, count,
                   filebuf, position, of->extra_state);
}

static int write_datarep(void *userbuf, MPI_Datatype type, int count, void *filebuf,
                         MPI_Offset position, void *extra)
{
    const datarep *of = static_cast<datarep *>(extra);
    if (of->c_write)
        return of->c_write(userbuf, type, count, filebuf, position, of->extra_state);
    return convert(reinterpret_cast<Datarep_conversion_function *>(of->write), userbuf, type, count,
                   filebuf, position, of->extra_state);
}

static int extent_of_datarep(MPI_Datatype type, MPI_Aint *extent, void *extra)
{
    const datarep *of = static_cast<datarep *>(extra);
    Datatype object(type);
    reinterpret_cast<Datarep_extent_function *>(of->extent)(object, *extent, of->extra_state);
    return MPI_SUCCESS;
}

struct ompi_cxx_intercept_file_extra_state_t *
ompi_cxx_new_intercept_state(void *read, void *write, void *extent, void *extra_state)
{
    return new (std::nothrow) datarep{{read, write, extent, extra_state}, nullptr, nullptr};
}

/* Registers a data representation. Each conversion function is either C or C++. If neither is
 * given, there is no conversion, and MPI must know that. */
static void register_datarep(const char *name, Datarep_conversion_function *read,
                             MPI_Datarep_conversion_function *c_read,
                             Datarep_conversion_function *write,
                             MPI_Datarep_conversion_function *c_write,
                             Datarep_extent_function *extent, void *extra_state)
{
    datarep *made = static_cast<datarep *>(ompi_cxx_new_intercept_state(
        reinterpret_cast<void *>(read), reinterpret_cast<void *>(write),
        reinterpret_cast<void *>(extent), extra_state));
    if (!made) {
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return;
    }
    made->c_read = c_read;
    made->c_write = c_write;
    int error = MPI_Register_datarep(
        name, read || c_read ? read_datarep : MPI_CONVERSION_FN_NULL,
        write || c_write ? write_datarep : MPI_CONVERSION_FN_NULL, extent_of_datarep, made);
    if (error != MPI_SUCCESS)
        delete made;
}

namespace MPI {

void Register_datarep(const char *name, Datarep_conversion_function *read,
                      Datarep_conversion_function *write, Datarep_extent_function *extent,
                      void *extra_state)
{
    register_datarep(name, read, nullptr, write, nullptr, extent, extra_state);
}

void Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                      Datarep_conversion_function *write, Datarep_extent_function *extent,
                      void *extra_state)
{
    register_datarep(name, nullptr, read, write, nullptr, extent, extra_state);
}

void Register_datarep(const char *name, Datarep_conversion_function *read,
                      MPI_Datarep_conversion_function *write, Datarep_extent_function *extent,
                      void *extra_state)
{
    register_datarep(name, read, nullptr, nullptr, write, extent, extra_state);
}

void Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                      MPI_Datarep_conversion_function *write, Datarep_extent_function *extent,
                      void *extra_state)
{
    register_datarep(name, nullptr, read, nullptr, write, extent, extra_state);
}

} // namespace MPI
