// SPDX-License-Identifier: BSD-3-Clause

/* Datatypes. */

#include "lib/cxx/bindings.h"

#include <vector>

namespace MPI {

Datatype Datatype::Create_contiguous(int count) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(count, handle, &made);
    return made;
}

Datatype Datatype::Create_vector(int count, int blocklength, int stride) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_vector(count, blocklength, stride, handle, &made);
    return made;
}

Datatype Datatype::Create_indexed(int count, const int blocklengths[],
                                  const int displacements[]) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_indexed(count, blocklengths, displacements, handle, &made);
    return made;
}

Datatype Datatype::Create_hindexed(int count, const int blocklengths[],
                                   const Aint displacements[]) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(count, blocklengths, displacements, handle, &made);
    return made;
}

Datatype Datatype::Create_hvector(int count, int blocklength, Aint stride) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_hvector(count, blocklength, stride, handle, &made);
    return made;
}

Datatype Datatype::Create_indexed_block(int count, int blocklength, const int displacements[]) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(count, blocklength, displacements, handle, &made);
    return made;
}

Datatype Datatype::Create_resized(Aint lb, Aint extent) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(handle, lb, extent, &made);
    return made;
}

int Datatype::Get_size() const
{
    int size = 0;
    MPI_Type_size(handle, &size);
    return size;
}

void Datatype::Get_extent(Aint &lb, Aint &extent) const
{
    MPI_Type_get_extent(handle, &lb, &extent);
}

void Datatype::Get_true_extent(Aint &lb, Aint &extent) const
{
    MPI_Type_get_true_extent(handle, &lb, &extent);
}

void Datatype::Commit()
{
    MPI_Type_commit(&handle);
}

void Datatype::Free()
{
    MPI_Type_free(&handle);
}

void Datatype::Pack(const void *in, int count, void *out, int size, int &position,
                    const Comm &comm) const
{
    MPI_Pack(in, count, handle, out, size, &position, comm);
}

void Datatype::Unpack(const void *in, int size, void *out, int count, int &position,
                      const Comm &comm) const
{
    MPI_Unpack(in, size, &position, out, count, handle, comm);
}

int Datatype::Pack_size(int count, const Comm &comm) const
{
    int size = 0;
    MPI_Pack_size(count, handle, comm, &size);
    return size;
}

void Datatype::Pack_external(const char *datarep, const void *in, int count, void *out, Aint size,
                             Aint &position) const
{
    MPI_Pack_external(datarep, in, count, handle, out, size, &position);
}

Aint Datatype::Pack_external_size(const char *datarep, int count) const
{
    MPI_Aint size = 0;
    MPI_Pack_external_size(datarep, count, handle, &size);
    return size;
}

void Datatype::Unpack_external(const char *datarep, const void *in, Aint size, Aint &position,
                               void *out, int count) const
{
    MPI_Unpack_external(datarep, in, size, &position, out, count, handle);
}

Datatype Datatype::Create_subarray(int ndims, const int sizes[], const int subsizes[],
                                   const int starts[], int order) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_subarray(ndims, sizes, subsizes, starts, order, handle, &made);
    return made;
}

Datatype Datatype::Create_darray(int size, int rank, int ndims, const int gsizes[],
                                 const int distribs[], const int dargs[], const int psizes[],
                                 int order) const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_create_darray(size, rank, ndims, gsizes, distribs, dargs, psizes, order, handle,
                           &made);
    return made;
}

Datatype Datatype::Dup() const
{
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_dup(handle, &made);
    return made;
}

void Datatype::Delete_attr(int keyval)
{
    MPI_Type_delete_attr(handle, keyval);
}

bool Datatype::Get_attr(int keyval, void *ret_value) const
{
    int flag = 0;
    MPI_Type_get_attr(handle, keyval, ret_value, &flag);
    return flag;
}

void Datatype::Get_contents(int max_integers, int max_addresses, int max_datatypes, int integers[],
                            Aint addresses[], Datatype datatypes[]) const
{
    int count = max_datatypes > 0 ? max_datatypes : 0;
    std::vector<MPI_Datatype> handles(count, MPI_DATATYPE_NULL);
    MPI_Type_get_contents(handle, max_integers, max_addresses, max_datatypes, integers, addresses,
                          handles.data());
    for (int i = 0; i < count; i++)
        datatypes[i].handle = handles[i];
}

void Datatype::Get_envelope(int &integers, int &addresses, int &datatypes, int &combiner) const
{
    MPI_Type_get_envelope(handle, &integers, &addresses, &datatypes, &combiner);
}

void Datatype::Get_name(char *name, int &length) const
{
    MPI_Type_get_name(handle, name, &length);
}

void Datatype::Set_attr(int keyval, const void *value)
{
    MPI_Type_set_attr(handle, keyval, const_cast<void *>(value));
}

void Datatype::Set_name(const char *name)
{
    MPI_Type_set_name(handle, name);
}

} // namespace MPI
