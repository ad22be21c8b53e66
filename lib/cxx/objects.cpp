// SPDX-License-Identifier: BSD-3-Clause

/* Groups, requests, statuses, operations, infos, windows, files. */

#include "lib/cxx/bindings.h"

#include "lib/cxx/callbacks.h"

namespace MPI {

/* ---- Group ---- */

int Group::Get_size() const
{
    int size = 0;
    MPI_Group_size(handle, &size);
    return size;
}

int Group::Get_rank() const
{
    int rank = MPI_UNDEFINED;
    MPI_Group_rank(handle, &rank);
    return rank;
}

Group Group::Incl(int n, const int ranks[]) const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group_incl(handle, n, ranks, &group);
    return group;
}

Group Group::Excl(int n, const int ranks[]) const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group_excl(handle, n, ranks, &group);
    return group;
}

Group Group::Range_incl(int n, const int ranges[][3]) const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group_range_incl(handle, n, const_cast<int(*)[3]>(ranges), &group);
    return group;
}

Group Group::Range_excl(int n, const int ranges[][3]) const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Group_range_excl(handle, n, const_cast<int(*)[3]>(ranges), &group);
    return group;
}

void Group::Free()
{
    MPI_Group_free(&handle);
}

/* ---- Request ---- */

void Request::Wait(Status &status)
{
    MPI_Wait(&handle, status.c());
}

void Request::Wait()
{
    MPI_Wait(&handle, MPI_STATUS_IGNORE);
}

bool Request::Test(Status &status)
{
    int flag = 0;
    MPI_Test(&handle, &flag, status.c());
    return flag;
}

bool Request::Test()
{
    int flag = 0;
    MPI_Test(&handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

void Request::Free()
{
    MPI_Request_free(&handle);
}

void Request::Cancel() const
{
    MPI_Request request = handle;
    MPI_Cancel(&request);
}

bool Request::Get_status(Status &status) const
{
    int flag = 0;
    MPI_Request_get_status(handle, &flag, status.c());
    return flag;
}

bool Request::Get_status() const
{
    int flag = 0;
    MPI_Request_get_status(handle, &flag, MPI_STATUS_IGNORE);
    return flag;
}

void Prequest::Start()
{
    MPI_Start(&handle);
}

void Grequest::Complete()
{
    MPI_Grequest_complete(handle);
}

/* ---- Status ---- */

int Status::Get_count(const Datatype &datatype) const
{
    int count = 0;
    MPI_Get_count(&status, datatype, &count);
    return count;
}

bool Status::Is_cancelled() const
{
    int flag = 0;
    MPI_Test_cancelled(&status, &flag);
    return flag;
}

int Status::Get_elements(const Datatype &datatype) const
{
    int count = 0;
    MPI_Get_elements(&status, datatype, &count);
    return count;
}

int Status::Get_source() const
{
    return status.MPI_SOURCE;
}

void Status::Set_source(int source)
{
    status.MPI_SOURCE = source;
}

int Status::Get_tag() const
{
    return status.MPI_TAG;
}

void Status::Set_tag(int tag)
{
    status.MPI_TAG = tag;
}

int Status::Get_error() const
{
    return status.MPI_ERROR;
}

void Status::Set_error(int error)
{
    status.MPI_ERROR = error;
}

void Status::Set_elements(const Datatype &datatype, int count)
{
    MPI_Status_set_elements(&status, datatype, count);
}

void Status::Set_cancelled(bool flag)
{
    MPI_Status_set_cancelled(&status, flag);
}

/* ---- Op ---- */

/* The user's function gets a Datatype object, so ompi_mpi_cxx_op_intercept calls it. libmpi passes
 * the user's function to ompi_mpi_cxx_op_intercept as a fifth argument (lib/mpi/datatype/op.h). */
void Op::Init(User_function *function, bool commute)
{
    if (MPI_Op_create(reinterpret_cast<MPI_User_function *>(ompi_mpi_cxx_op_intercept), commute,
                      &handle) == MPI_SUCCESS)
        ompi_op_set_cxx_callback(handle, reinterpret_cast<MPI_User_function *>(function));
}

void Op::Free()
{
    MPI_Op_free(&handle);
}

void Op::Reduce_local(const void *in, void *inout, int count, const Datatype &datatype) const
{
    MPI_Reduce_local(in, inout, count, datatype, handle);
}

bool Op::Is_commutative() const
{
    int flag = 0;
    MPI_Op_commutative(handle, &flag);
    return flag;
}

/* ---- Info, Errhandler ---- */

void Info::Delete(const char *key)
{
    MPI_Info_delete(handle, key);
}

Info Info::Dup() const
{
    MPI_Info copy = MPI_INFO_NULL;
    MPI_Info_dup(handle, &copy);
    return copy;
}

void Info::Free()
{
    MPI_Info_free(&handle);
}

bool Info::Get(const char *key, int valuelen, char *value) const
{
    int flag = 0;
    MPI_Info_get(handle, key, valuelen, value, &flag);
    return flag;
}

int Info::Get_nkeys() const
{
    int count = 0;
    MPI_Info_get_nkeys(handle, &count);
    return count;
}

void Info::Get_nthkey(int n, char *key) const
{
    MPI_Info_get_nthkey(handle, n, key);
}

bool Info::Get_valuelen(const char *key, int &valuelen) const
{
    int flag = 0;
    MPI_Info_get_valuelen(handle, key, &valuelen, &flag);
    return flag;
}

void Info::Set(const char *key, const char *value)
{
    MPI_Info_set(handle, key, value);
}

void Errhandler::Free()
{
    MPI_Errhandler_free(&handle);
}

/* ---- Win, File ---- */

void Win::Set_errhandler(const Errhandler &errhandler) const
{
    MPI_Win_set_errhandler(handle, errhandler);
}

Errhandler Win::Get_errhandler() const
{
    MPI_Errhandler errhandler = MPI_ERRHANDLER_NULL;
    MPI_Win_get_errhandler(handle, &errhandler);
    return errhandler;
}

void Win::Accumulate(const void *origin, int origin_count, const Datatype &origin_datatype,
                     int target, Aint displacement, int target_count,
                     const Datatype &target_datatype, const Op &op) const
{
    MPI_Accumulate(origin, origin_count, origin_datatype, target, displacement, target_count,
                   target_datatype, op, handle);
}

void Win::Complete() const
{
    MPI_Win_complete(handle);
}

void Win::Fence(int assertion) const
{
    MPI_Win_fence(assertion, handle);
}

void Win::Free()
{
    MPI_Win_free(&handle);
}

/* MPI-2.2 has `const` here, although the call writes to the origin. */
void Win::Get(const void *origin, int origin_count, const Datatype &origin_datatype, int target,
              Aint displacement, int target_count, const Datatype &target_datatype) const
{
    MPI_Get(const_cast<void *>(origin), origin_count, origin_datatype, target, displacement,
            target_count, target_datatype, handle);
}

Group Win::Get_group() const
{
    MPI_Group group = MPI_GROUP_NULL;
    MPI_Win_get_group(handle, &group);
    return group;
}

void Win::Lock(int lock_type, int rank, int assertion) const
{
    MPI_Win_lock(lock_type, rank, assertion, handle);
}

void Win::Post(const Group &group, int assertion) const
{
    MPI_Win_post(group, assertion, handle);
}

void Win::Put(const void *origin, int origin_count, const Datatype &origin_datatype, int target,
              Aint displacement, int target_count, const Datatype &target_datatype) const
{
    MPI_Put(origin, origin_count, origin_datatype, target, displacement, target_count,
            target_datatype, handle);
}

void Win::Start(const Group &group, int assertion) const
{
    MPI_Win_start(group, assertion, handle);
}

bool Win::Test() const
{
    int flag = 0;
    MPI_Win_test(handle, &flag);
    return flag;
}

void Win::Unlock(int rank) const
{
    MPI_Win_unlock(rank, handle);
}

void Win::Wait() const
{
    MPI_Win_wait(handle);
}

void Win::Call_errhandler(int errorcode) const
{
    MPI_Win_call_errhandler(handle, errorcode);
}

void Win::Delete_attr(int keyval)
{
    MPI_Win_delete_attr(handle, keyval);
}

void Win::Get_name(char *name, int &length) const
{
    MPI_Win_get_name(handle, name, &length);
}

void Win::Set_attr(int keyval, const void *value)
{
    MPI_Win_set_attr(handle, keyval, const_cast<void *>(value));
}

void Win::Set_name(const char *name)
{
    MPI_Win_set_name(handle, name);
}

void File::Close()
{
    MPI_File_close(&handle);
}

} // namespace MPI
