// SPDX-License-Identifier: BSD-3-Clause

/*
 * Attributes with callbacks of the C++ bindings. Each of the two functions of a keyval may be a C
 * or a C++ function. Both are kept in a record, which is the keyval's extra state as libmpi sees
 * it.
 *
 * The record must live as long as the keyval. A keyval lives until the user has freed it and no
 * object has its attribute any more, and MPI does not report when that happens. But only then can
 * libmpi give the number to another keyval. So records are kept by number, and the next keyval of
 * that number frees the old record.
 */

#include "lib/cxx/callbacks.h"

#include <cstdlib>
#include <map>
#include <mutex>

using namespace MPI;

static std::mutex lock; /* guards the map in keep() */

/* Stores what the new keyval owns, and frees what the previous keyval of this number owned. */
static void keep(int keyval, void *owned)
{
    /* Never destroyed: MPI_Finalize may come after the destructors of static objects. */
    static auto &owned_by = *new std::map<int, void *>;
    std::lock_guard<std::mutex> guard(lock);
    void *&slot = owned_by[keyval];
    std::free(slot);
    slot = owned;
}

int ompi_cxx_attr_create_keyval_comm(MPI_Comm_copy_attr_function *copy,
                                     MPI_Comm_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int, void *owned)
{
    int error = MPI_Comm_create_keyval(copy, delete_fn, keyval, extra);
    if (error == MPI_SUCCESS)
        keep(*keyval, owned);
    return error;
}

int ompi_cxx_attr_create_keyval_type(MPI_Type_copy_attr_function *copy,
                                     MPI_Type_delete_attr_function *delete_fn, int *keyval,
                                     void *extra, int, void *owned)
{
    int error = MPI_Type_create_keyval(copy, delete_fn, keyval, extra);
    if (error == MPI_SUCCESS)
        keep(*keyval, owned);
    return error;
}

int ompi_cxx_attr_create_keyval_win(MPI_Win_copy_attr_function *copy,
                                    MPI_Win_delete_attr_function *delete_fn, int *keyval,
                                    void *extra, int, void *owned)
{
    int error = MPI_Win_create_keyval(copy, delete_fn, keyval, extra);
    if (error == MPI_SUCCESS)
        keep(*keyval, owned);
    return error;
}

int ompi_cxx_comm_get_type(MPI_Comm comm)
{
    int inter = 0, topology = MPI_UNDEFINED;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter)
        return 2;
    PMPI_Topo_test(comm, &topology);
    return topology == MPI_CART ? 3 : topology == MPI_GRAPH ? 4 : 1;
}

namespace {

/* The functions that a keyval calls. The order is Open MPI's. */
template <typename Class, typename C_copy, typename C_delete> struct keyval_record {
    C_copy *c_copy;
    C_delete *c_delete;
    typename Class::Copy_attr_function *copy;
    typename Class::Delete_attr_function *remove;
    void *extra_state;

    /* Makes a record by malloc. Returns NULL, after calling the error handler, if there is no
     * memory. */
    static keyval_record *create(const keyval_record &of)
    {
        void *memory = std::malloc(sizeof of);
        if (!memory)
            PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_NO_MEM);
        return memory ? new (memory) keyval_record(of) : nullptr;
    }

    int copy_from(const Class &object, int keyval, void *value, void *ret_value,
                  int *ret_copies) const
    {
        bool copies = false;
        int code = copy ? copy(object, keyval, extra_state, value, ret_value, copies) : MPI_SUCCESS;
        *ret_copies = copies;
        return code;
    }

    int remove_from(Class &object, int keyval, void *value) const
    {
        return remove ? remove(object, keyval, value, extra_state) : MPI_SUCCESS;
    }
};

typedef keyval_record<Comm, MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function> comm_record;
typedef keyval_record<Datatype, MPI_Type_copy_attr_function, MPI_Type_delete_attr_function>
    type_record;
typedef keyval_record<Win, MPI_Win_copy_attr_function, MPI_Win_delete_attr_function> win_record;

/* Calls `use` with an object of the class that fits the communicator. */
template <typename Use> int with_object_of(MPI_Comm comm, Use use)
{
    switch (ompi_cxx_comm_get_type(comm)) {
    case 2: {
        Intercomm object(comm);
        return use(object);
    }
    case 3: {
        Cartcomm object(comm);
        return use(object);
    }
    case 4: {
        Graphcomm object(comm);
        return use(object);
    }
    default: {
        Intracomm object(comm);
        return use(object);
    }
    }
}

} // namespace

int ompi_mpi_cxx_comm_copy_attr_intercept(MPI_Comm from, int keyval, void *extra, void *value,
                                          void *ret_value, int *ret_copies, MPI_Comm)
{
    const comm_record *record = static_cast<comm_record *>(extra);
    if (record->c_copy)
        return record->c_copy(from, keyval, record->extra_state, value, ret_value, ret_copies);
    return with_object_of(from, [=](const Comm &object) {
        return record->copy_from(object, keyval, value, ret_value, ret_copies);
    });
}

int ompi_mpi_cxx_comm_delete_attr_intercept(MPI_Comm comm, int keyval, void *value, void *extra)
{
    const comm_record *record = static_cast<comm_record *>(extra);
    if (record->c_delete)
        return record->c_delete(comm, keyval, value, record->extra_state);
    return with_object_of(
        comm, [=](Comm &object) { return record->remove_from(object, keyval, value); });
}

int ompi_mpi_cxx_type_copy_attr_intercept(MPI_Datatype from, int keyval, void *extra, void *value,
                                          void *ret_value, int *ret_copies)
{
    const type_record *record = static_cast<type_record *>(extra);
    if (record->c_copy)
        return record->c_copy(from, keyval, record->extra_state, value, ret_value, ret_copies);
    return record->copy_from(Datatype(from), keyval, value, ret_value, ret_copies);
}

int ompi_mpi_cxx_type_delete_attr_intercept(MPI_Datatype type, int keyval, void *value, void *extra)
{
    const type_record *record = static_cast<type_record *>(extra);
    if (record->c_delete)
        return record->c_delete(type, keyval, value, record->extra_state);
    Datatype object(type);
    return record->remove_from(object, keyval, value);
}

int ompi_mpi_cxx_win_copy_attr_intercept(MPI_Win from, int keyval, void *extra, void *value,
                                         void *ret_value, int *ret_copies)
{
    const win_record *record = static_cast<win_record *>(extra);
    if (record->c_copy)
        return record->c_copy(from, keyval, record->extra_state, value, ret_value, ret_copies);
    return record->copy_from(Win(from), keyval, value, ret_value, ret_copies);
}

int ompi_mpi_cxx_win_delete_attr_intercept(MPI_Win win, int keyval, void *value, void *extra)
{
    const win_record *record = static_cast<win_record *>(extra);
    if (record->c_delete)
        return record->c_delete(win, keyval, value, record->extra_state);
    Win object(win);
    return record->remove_from(object, keyval, value);
}

/* The callback as C declares it, without the last argument, which is not used. */
static int copy_comm_attribute(MPI_Comm from, int keyval, void *extra, void *value, void *ret_value,
                               int *ret_copies)
{
    return ompi_mpi_cxx_comm_copy_attr_intercept(from, keyval, extra, value, ret_value, ret_copies,
                                                 MPI_COMM_NULL);
}

namespace MPI {

int Comm::do_create_keyval(MPI_Comm_copy_attr_function *c_copy,
                           MPI_Comm_delete_attr_function *c_delete, Copy_attr_function *cxx_copy,
                           Delete_attr_function *cxx_delete, void *extra_state, int &keyval)
{
    auto *record = comm_record::create({c_copy, c_delete, cxx_copy, cxx_delete, extra_state});
    if (!record)
        return MPI_ERR_NO_MEM;
    int error = ompi_cxx_attr_create_keyval_comm(
        copy_comm_attribute, ompi_mpi_cxx_comm_delete_attr_intercept, &keyval, record, 0, record);
    if (error != MPI_SUCCESS)
        std::free(record);
    return error;
}

int Datatype::do_create_keyval(MPI_Type_copy_attr_function *c_copy,
                               MPI_Type_delete_attr_function *c_delete,
                               Copy_attr_function *cxx_copy, Delete_attr_function *cxx_delete,
                               void *extra_state, int &keyval)
{
    auto *record = type_record::create({c_copy, c_delete, cxx_copy, cxx_delete, extra_state});
    if (!record)
        return MPI_ERR_NO_MEM;
    int error = ompi_cxx_attr_create_keyval_type(ompi_mpi_cxx_type_copy_attr_intercept,
                                                 ompi_mpi_cxx_type_delete_attr_intercept, &keyval,
                                                 record, 0, record);
    if (error != MPI_SUCCESS)
        std::free(record);
    return error;
}

int Win::do_create_keyval(MPI_Win_copy_attr_function *c_copy,
                          MPI_Win_delete_attr_function *c_delete, Copy_attr_function *cxx_copy,
                          Delete_attr_function *cxx_delete, void *extra_state, int &keyval)
{
    auto *record = win_record::create({c_copy, c_delete, cxx_copy, cxx_delete, extra_state});
    if (!record)
        return MPI_ERR_NO_MEM;
    int error = ompi_cxx_attr_create_keyval_win(ompi_mpi_cxx_win_copy_attr_intercept,
                                                ompi_mpi_cxx_win_delete_attr_intercept, &keyval,
                                                record, 0, record);
    if (error != MPI_SUCCESS)
        std::free(record);
    return error;
}

} // namespace MPI
